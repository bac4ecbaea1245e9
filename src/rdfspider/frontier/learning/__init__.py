"""The room of learning: which URLs are alike (`url_patterns.py`), what they have yielded (`patterns.py`), where the links of
other sites have led (`credits.py`), and how soon the next one is fetched (`priority.py`).

The number of patterns of a host is limited, and a pattern that is used up is still probed, so nothing is lost for ever.
"""
