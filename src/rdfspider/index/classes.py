"""The class of a thing in, the classes above it out: schema.org's own hierarchy, from the table that it publishes.

What pages state of subclasses is learned while indexing (`ledger.py`) and used when a question is asked, since it may change.
"""

import json
from functools import cache, lru_cache
from importlib.resources import files

from rdfspider.index.names import SCHEMA, find_short_name


@lru_cache(maxsize=4096)
def find_superclasses(iri: str) -> tuple[str, ...]:
    """All classes above a class of schema.org, the nearest first; none for other classes."""
    if not iri.startswith(SCHEMA):
        return ()
    parents = _load_parents()
    found: dict[str, None] = {}
    rest = [iri.removeprefix(SCHEMA)]
    for name in rest:
        for parent in parents.get(name, "").split():
            if parent not in found:
                found[parent] = None
                rest.append(parent)
    return tuple(SCHEMA + name for name in found)


@lru_cache(maxsize=4096)
def list_class_names(iri: str) -> tuple[str, ...]:
    """IRI and short name, in lower case, of a class and of all above it: by which its members are found."""
    names: dict[str, None] = {}
    for each in (iri, *find_superclasses(iri)):
        names[each.lower()] = None
        names[find_short_name(each)] = None
    return tuple(names)


@cache
def _load_parents() -> dict[str, str]:
    parents: dict[str, str] = json.loads(files("rdfspider.index").joinpath("schemaorg_classes.json").read_bytes())
    return parents
