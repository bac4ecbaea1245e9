"""Schema.org's properties, enumerations and superseded classes, from the tables that it publishes: a name enters, facts leave.

`classes.py` has the hierarchy of its classes. `suggest_name` finds the name that a misspelt one may mean.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from rdfspider.vocabulary.classes import find_superclasses, list_known_classes
from rdfspider.vocabulary.prefixes import SCHEMA

DATA_TYPES = frozenset(
    "Text URL Number Integer Float Boolean Date DateTime Time CssSelectorType PronounceableText XPathType DataType "
    "True False".split()
)
"""Classes of schema.org whose values are literals."""
_SHORTEST = 4
"""Shorter names are too much alike to be taken for each other."""


@dataclass(frozen=True, slots=True)
class PropertyFacts:
    """What schema.org says of a property, in short names."""

    domains: frozenset[str]
    """The classes that have it, without their subclasses; empty if it does not say."""
    ranges: frozenset[str]
    """The classes and data types of its values, without their subclasses."""
    superseded_by: tuple[str, ...]


@cache
def load_properties() -> Mapping[str, PropertyFacts]:
    """Return all properties by name."""
    return {
        name: PropertyFacts(frozenset(domains.split()), frozenset(ranges.split()), tuple(successors.split()))
        for name, (domains, ranges, _, successors) in _load_terms()["properties"].items()
    }


@cache
def load_members() -> Mapping[str, str]:
    """Return the enumeration of each member of one."""
    members: dict[str, str] = _load_terms()["members"]
    return members


@cache
def load_superseded_classes() -> Mapping[str, str]:
    """Return the successor of each superseded class."""
    superseded: dict[str, str] = _load_terms()["superseded"]
    return superseded


@lru_cache(maxsize=4096)
def find_lineage(name: str) -> frozenset[str]:
    """Return a class of schema.org and all its superclasses, by short names."""
    return frozenset((name, *(iri.removeprefix(SCHEMA) for iri in find_superclasses(SCHEMA + name))))


@cache
def load_properties_by_class() -> Mapping[str, frozenset[str]]:
    """Return the properties that each class itself has, without those of its superclasses; under "" those of all."""
    found: dict[str, set[str]] = {}
    for name, facts in load_properties().items():
        for domain in facts.domains or ("",):
            found.setdefault(domain, set()).add(name)
    return {domain: frozenset(names) for domain, names in found.items()}


@lru_cache(maxsize=4096)
def suggest_class(name: str) -> str:
    """Return the class that a misspelt name may mean; empty if there is none."""
    return _suggest(name, _load_class_spellings())


@lru_cache(maxsize=4096)
def suggest_property(name: str) -> str:
    """Return the property that a misspelt name may mean; empty if there is none."""
    return _suggest(name, _load_property_spellings())


@lru_cache(maxsize=4096)
def suggest_member(name: str, enumerations: frozenset[str]) -> str:
    """Return the member of one of the enumerations that a text may mean; empty if there is none."""
    return _suggest("".join(sign for sign in name if sign.isalnum()), _load_member_spellings(enumerations))


@lru_cache(maxsize=4096)
def suggest_term(name: str, terms: frozenset[str]) -> str:
    """Return the one of some terms that a misspelt name may mean; empty if there is none."""
    return _suggest(name, _load_term_spellings(terms))


def _suggest(name: str, spellings: "_Spellings") -> str:
    """Find a name that differs in case alone, or in one sign: added, missing, another, or in the wrong place."""
    word = name[:60].lower()
    if found := spellings.whole.get(word):
        return found
    if len(word) < _SHORTEST:
        return ""
    near = {found for each in (word, *_shorten(word)) for found in spellings.shortened.get(each, ())}
    return max(near, key=lambda each: (SequenceMatcher(None, word, each.lower()).ratio(), each), default="")


class _Spellings(NamedTuple):
    """Names by how they may be misspelt, in lower case."""

    whole: dict[str, str]
    shortened: dict[str, list[str]]
    """By the name itself, and without any one of its signs."""


def _spell(names: Iterable[str]) -> _Spellings:
    known = sorted(names)
    shortened: dict[str, list[str]] = {}
    for name in known:
        if len(name) >= _SHORTEST:
            for each in {name.lower(), *_shorten(name.lower())}:
                shortened.setdefault(each, []).append(name)
    return _Spellings({name.lower(): name for name in known}, shortened)


def _shorten(word: str) -> list[str]:
    return [word[:at] + word[at + 1 :] for at in range(len(word))]


@cache
def _load_class_spellings() -> _Spellings:
    return _spell(list_known_classes())


@cache
def _load_property_spellings() -> _Spellings:
    return _spell(load_properties())


@lru_cache(maxsize=256)
def _load_member_spellings(enumerations: frozenset[str]) -> _Spellings:
    return _spell(member for member, enumeration in load_members().items() if enumeration in enumerations)


@lru_cache(maxsize=256)
def _load_term_spellings(terms: frozenset[str]) -> _Spellings:
    return _spell(terms)


@cache
def _load_terms() -> dict[str, dict[str, Any]]:
    terms: dict[str, dict[str, Any]] = json.loads(
        files("rdfspider.vocabulary").joinpath("schemaorg_terms.json").read_bytes()
    )
    return terms
