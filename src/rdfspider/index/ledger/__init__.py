"""The ledger, in SQLite: pages, what each contributes to which entity, and how often every name is used.

`writer.py` is the text view's half that counts; `reader.py` is for any number of processes; `usage.py` defines what is counted,
and `learned_classes.py` caches the subclasses that pages state. A page counts once, however often its outcome is read.
"""
