"""Terms of N-Quads as rules see them: the term of a predicate, or those of a thing's classes, enter; a record of facts leaves.

Pages use the same few hundred again and again, so the records are cached, and a page costs some dictionary lookups a statement.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rdfspider.validate.values import Check, find_check, list_members
from rdfspider.vocabulary.classes import list_known_classes
from rdfspider.vocabulary.prefixes import SCHEMA
from rdfspider.vocabulary.schema_terms import (
    DATA_TYPES,
    find_lineage,
    load_members,
    load_properties,
    load_properties_by_class,
    load_superseded_classes,
)
from rdfspider.vocabulary.terms import fold_iri

_MOST = 20_000
"""The most terms that are remembered; a page can invent any number of them."""
_ACTION_ENDS = ("-input", "-output")
"""Schema.org's actions: any property with such an end says how the property is to be filled."""
_OPEN_CLASSES = frozenset(("Role", "Enumeration"))
"""Classes whose things may have any property: a role has that which it stands for."""
_URL_KINDS = frozenset(("URL", "Text", "CssSelectorType", "XPathType"))


@dataclass(frozen=True, slots=True)
class PropertyTerm:
    """A property of schema.org, or of another vocabulary with a table."""

    name: str
    """Its short name."""
    is_known: bool
    ranges: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    """The ranges that are classes of things."""
    has_url: bool = True
    """Whether a URL is a value as good as any."""
    check: Check | None = None
    """The check of its literals; None if any will do."""
    is_enumeration: bool = False
    superseded_by: str = ""
    vocabulary: str = ""
    """The namespace, if it is not schema.org's."""


@dataclass(frozen=True, slots=True)
class ClassTerms:
    """All classes of a thing, taken together."""

    name: str
    """The short name of the first, for paths; empty if it has none."""
    names: tuple[str, ...]
    """The short names of those of schema.org."""
    lineage: frozenset[str]
    """The known classes of schema.org with their superclasses."""
    properties: frozenset[str] | None
    """All properties of schema.org that they have; None if the thing may have any."""
    is_extended: bool = False
    """Whether one is an extension of a class, such as `Person/Minister`, which may have properties of its own."""
    unknown: tuple[str, ...] = ()
    """The names in schema.org's namespace that are no classes."""
    superseded: tuple[str, ...] = ()


class PropertyTerms(dict[str, PropertyTerm | None]):
    """By the term of a predicate; None for those that no rule is about. `tables` has the terms of other vocabularies."""

    def __init__(self, tables: Mapping[str, frozenset[str]] = {}) -> None:
        super().__init__()
        self._tables = tables

    def __missing__(self, term: str) -> PropertyTerm | None:
        if len(self) >= _MOST:
            self.clear()
        found = self[term] = self._find(fold_iri(term[1:-1]))
        return found

    def _find(self, iri: str) -> PropertyTerm | None:
        if iri.startswith(SCHEMA):
            return _find_property(iri.removeprefix(SCHEMA))
        for namespace, names in self._tables.items():
            if iri.startswith(namespace):
                name = iri.removeprefix(namespace)
                return None if name in names else PropertyTerm(name, False, vocabulary=namespace)
        return None


@lru_cache(maxsize=4096)
def _find_property(name: str) -> PropertyTerm | None:
    for end in _ACTION_ENDS:
        if name.endswith(end):
            return None
    facts = load_properties().get(name)
    if facts is None:
        return PropertyTerm(name, False)
    ranges = facts.ranges
    return PropertyTerm(
        name,
        True,
        ranges,
        classes=ranges - DATA_TYPES,
        has_url="URL" in ranges or not ranges <= DATA_TYPES or "DataType" in ranges,
        check=find_check(name, facts),
        is_enumeration=bool(list_members(ranges)) and not ranges & _URL_KINDS,
        superseded_by=" or ".join(facts.superseded_by),
    )


@lru_cache(maxsize=4096)
def find_classes(terms: tuple[str, ...], /) -> ClassTerms:
    """Return the classes of a thing, from the terms of its types in their order."""
    names: list[str] = []
    unknown: list[str] = []
    is_open = is_extended = False
    lineage: set[str] = set()
    known, members = list_known_classes(), load_members()
    for term in terms:
        iri = fold_iri(term[1:-1])
        if not iri.startswith(SCHEMA):
            is_open = True
            continue
        name = iri.removeprefix(SCHEMA)
        names.append(name)
        base = name.partition("/")[0]
        if name in known or name in DATA_TYPES or name in members:
            lineage |= find_lineage(name)
            is_open |= name in DATA_TYPES or name in members
        elif base != name and base in known:
            # Schema.org's old way to extend a class.
            lineage |= find_lineage(base)
            is_open = is_extended = True
        else:
            unknown.append(name)
            is_open = True
    if is_open or lineage & _OPEN_CLASSES:
        properties = None
    else:
        by_class = load_properties_by_class()
        properties = frozenset().union(*(by_class.get(name, ()) for name in (*lineage, "Thing", "")))
    superseded = tuple(name for name in names if name in load_superseded_classes())
    first = names[0] if names else _shorten(terms[0]) if terms else ""
    return ClassTerms(first, tuple(names), frozenset(lineage), properties, is_extended, tuple(unknown), superseded)


def _shorten(term: str) -> str:
    return term[1:-1].rstrip("/#").rpartition("#")[2].rpartition("/")[2]
