"""Schema.org's class hierarchy, from the table that it publishes: a class enters, its super- or subclasses leave.

Subclasses that pages state are collected while indexing (`index/ledger/`) and used only in queries, since they may change.
"""

import json
from functools import cache, lru_cache
from importlib.resources import files

from rdfspider.vocabulary.names import find_short_name
from rdfspider.vocabulary.prefixes import SCHEMA


@lru_cache(maxsize=4096)
def find_superclasses(iri: str) -> tuple[str, ...]:
    """Return all superclasses of a class of schema.org, the nearest first; none for other classes."""
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
    """Return the direct subclasses of a class of schema.org, in alphabetical order; none for other classes."""
    return _load_children().get(fold_class(iri), ())


def fold_class(iri: str) -> str:
    """Return the IRI of a class; one of schema.org's in the case that schema.org uses."""
    name = _load_spellings().get(iri.removeprefix(SCHEMA).lower()) if iri.startswith(SCHEMA) else None
    return f"{SCHEMA}{name}" if name else iri


@lru_cache(maxsize=4096)
def list_facet_classes(iri: str) -> tuple[str, ...]:
    """List the classes under which facets count an entity: its class and all superclasses except Thing."""
    return tuple(each for each in (fold_class(iri), *find_superclasses(iri)) if each != f"{SCHEMA}Thing")


@lru_cache(maxsize=4096)
def list_class_names(iri: str) -> tuple[str, ...]:
    """List the names by which queries find an entity: IRI and short name, in lower case, of its class and superclasses."""
    names: dict[str, None] = {}
    for each in (iri, *find_superclasses(iri)):
        names[each.lower()] = None
        names[find_short_name(each)] = None
    return tuple(names)


def list_known_classes() -> frozenset[str]:
    """Return the short names of all classes of schema.org."""
    return frozenset(_load_spellings().values())


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
