"""Entities: the statements of one page enter, what the page contributes to each entity leaves.

`nodes.py` reads statements into nodes, bounded; `contributions.py` decides which nodes are entities of their own, which are one
entity, and what is kept of each. Both are functions of one page alone.
"""
