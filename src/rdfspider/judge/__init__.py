"""What is thought of a fetched page: a Capture, its Extraction and what is known of other pages enter, a Judgement leaves.

Three questions are answered, by pure functions without I/O: which robots directives a page has, in its `meta` elements and its
header (`judgement.py`); whether it duplicates another page, by its bytes, by its text (`simhash.py`) or because it says so; and
whether it is a soft 404 (`soft404.py`). `samples.py` takes samples by which the frontier learns which URLs lead to nothing new.

A shard asks its frontier and other shards what they know of equal and similar pages (`run/judging.py`); imports, and the index of
archives from elsewhere, use the same functions with what a page alone tells.
"""
