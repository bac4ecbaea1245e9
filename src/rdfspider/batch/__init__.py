"""Extraction from many files: paths and patterns enter, one document of all pages leaves, in the order of the pages.

`sources.py` cuts files into pieces of work, `workers.py` spreads them over processes, `counts.py` adds up what was found,
`output.py` writes the document, which appears when it is complete.
"""
