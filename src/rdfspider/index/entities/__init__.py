"""Entities: the statements of one page enter, what the page contributes to each entity leaves.

`nodes.py` reads statements into nodes, within limits; `main_thing.py` finds those that the page is about, `parts.py` those that
are only parts of others; `contributions.py` decides which nodes are entities, which nodes are the same entity, and what is kept
of each. All depend on one page alone.
"""
