"""Identity: what pages state about things enters, which things are one thing leaves, with the reasons.

`evidence.py` takes from a page's contributions what may join things: `sameAs` (`addresses.py` says which targets join nothing)
and identifiers (`identifiers.py` says which are valid). `likeness.py` says which things cannot be one: different kinds, different
labels. `components.py` joins, the surest evidence first. `splits.py` has the rules by which people keep things apart.
"""
