"""The ledger, in SQLite: pages, what each contributes to which entity, and how often every name is used.

`writer.py` is written by the text view, `reader.py` serves any number of processes, and
`learned_classes.py` caches the subclasses that pages state. A page counts once, however often its outcome is read.
"""
