"""The ledger, in SQLite: pages, what each contributes to which entity, and how often every name is used.

The text view writes it through `writer.py`, `reader.py` serves any number of processes, and `learned_classes.py` caches the
subclasses that pages state. A page counts once, however often its outcome is read.
"""
