"""Extraction from many files: paths and patterns enter, one document of all pages leaves, in the order of the pages.

`sources.py` splits files into parts, `workers.py` distributes these to processes, `counts.py` adds up the counts, and
`output.py` writes the document, which appears when it is complete.
"""
