"""Judges a fetched page: a Capture, its Extraction and what is known about other pages enter, a Judgement leaves.

Functions without I/O answer three questions: which robots directives a page has, in its `meta` elements and its header
(`judgement.py`); whether it duplicates another page, by its bytes, its text (`simhash.py`) or its canonical link; and whether it
is a soft 404 (`soft404.py`). From the samples of `bottom_k.py` the frontier learns which URLs lead to nothing new.

A shard gives its `PageJudge` the functions that ask the frontier and the other shards about equal and similar pages; imports, and
the index of external archives, judge each page alone.
"""
