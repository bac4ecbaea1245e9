"""Entities: the statements of one page enter, what the page contributes to each entity leaves.

`nodes.py` reads statements into nodes, within limits; `contributions.py` decides which nodes are entities, which nodes are the
same entity, and what is kept of each. Both depend on one page alone.
"""
