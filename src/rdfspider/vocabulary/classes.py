"""The class of a thing in, the classes above it out: schema.org's own hierarchy, from the table that it publishes.

What pages state of subclasses is learned while indexing (`ledger.py`) and used when a question is asked, since it may change.
"""

import json
from functools import cache, lru_cache
from importlib.resources import files

from rdfspider.vocabulary.names import find_short_name
from rdfspider.vocabulary.prefixes import SCHEMA


@lru_cache(maxsize=4096)
def find_superclasses(iri: str) -> tuple[str, ...]:
    """All classes above a class of schema.org, the nearest first; none for other classes."""
    if not iri.startswith(SCHEMA):
        return ()
    parents = _load_parents()
    found: dict[str, None] = {}
    rest = [fold_class(iri).removeprefix(SCHEMA)]
    for name in rest:
        for parent in parents.get(name, "").split():
            if parent not in found:
                found[parent] = None
                rest.append(parent)
    return tuple(SCHEMA + name for name in found)


def list_subclasses(iri: str) -> tuple[str, ...]:
    """The classes just below a class of schema.org, by the alphabet; none for other classes."""
    return _load_children().get(fold_class(iri), ())


def fold_class(iri: str) -> str:
    """The IRI of a class, in capital and small letters as schema.org writes it where it is one of its own."""
    name = _load_spellings().get(iri.removeprefix(SCHEMA).lower()) if iri.startswith(SCHEMA) else None
    return f"{SCHEMA}{name}" if name else iri


@lru_cache(maxsize=4096)
def list_facet_classes(iri: str) -> tuple[str, ...]:
    """A class and all above it: by which its members are counted. That they are things need not be said."""
    return tuple(each for each in (fold_class(iri), *find_superclasses(iri)) if each != f"{SCHEMA}Thing")


@lru_cache(maxsize=4096)
def list_class_names(iri: str) -> tuple[str, ...]:
    """IRI and short name, in lower case, of a class and of all above it: by which its members are found."""
    names: dict[str, None] = {}
    for each in (iri, *find_superclasses(iri)):
        names[each.lower()] = None
        names[find_short_name(each)] = None
    return tuple(names)


@cache
def _load_children() -> dict[str, tuple[str, ...]]:
    children: dict[str, list[str]] = {}
    for name, above in sorted(_load_parents().items()):
        for parent in above.split():
            children.setdefault(SCHEMA + parent, []).append(SCHEMA + name)
    return {parent: tuple(names) for parent, names in children.items()}


@cache
def _load_spellings() -> dict[str, str]:
    parents = _load_parents()
    return {name.lower(): name for above in parents.values() for name in above.split()} | {
        name.lower(): name for name in parents
    }


@cache
def _load_parents() -> dict[str, str]:
    parents: dict[str, str] = json.loads(files("rdfspider.vocabulary").joinpath("schemaorg_classes.json").read_bytes())
    return parents
