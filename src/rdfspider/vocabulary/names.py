"""Names of classes and properties: IRIs enter; short names, namespaces and well-known prefixes leave."""

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote

from rdfspider.vocabulary.prefixes import KNOWN_AS, NAMESPACES, PREFIXES

_NOT_A_NAME = re.compile(r"\W+", re.ASCII)
_MAX_NAME = 100
# Between the words of datePublished, hasGTINCode and published_time.
_SEAM = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_NAMING_SCHEMES = ("urn:", "tag:", "info:")
"""Schemes of namespaces that are no addresses."""
_SERVICES = frozenset(PREFIXES[name] for name in ("og", "fb", "twitter", "article", "product"))


@lru_cache(maxsize=4096)
def split_iri(iri: str) -> tuple[str, str]:
    """Split an IRI into namespace and local name: after the last `#`, or else the last `/`, or else the last `:`."""
    for end in "#/:":
        at = iri.rfind(end)
        # At the end of the IRI it would leave no name: the one before it decides.
        if at == len(iri) - 1:
            at = iri.rfind(end, 0, at)
        if at > 0 and not (end == "/" and iri[at - 1] == "/"):
            return iri[: at + 1], iri[at + 1 :]
    return "", iri


@lru_cache(maxsize=4096)
def find_ontology(iri: str) -> str:
    """Return the ontology of a class or property: its namespace. Empty for a name without one, such as `slick:group` of a prefix
    that the page does not declare, or the address of a host alone."""
    namespace = split_iri(iri)[0]
    return namespace if "://" in namespace or namespace.startswith(_NAMING_SCHEMES) else ""


@lru_cache(maxsize=4096)
def find_short_name(iri: str) -> str:
    """Return the short name of a class or property, in lower case."""
    return unquote(split_iri(iri)[1].rstrip("/#:")).lower()[:_MAX_NAME] or iri.lower()[:_MAX_NAME]


@lru_cache(maxsize=4096)
def find_local_name(iri: str) -> str:
    """Return the name of a class or property as people write it, like `Recipe`; the IRI if it has none."""
    return unquote(split_iri(iri)[1].rstrip("/#:"))[:_MAX_NAME] or iri


@lru_cache(maxsize=4096)
def find_readable_name(iri: str) -> str:
    """Return the name of a property in words, like `date published`; the IRI if it has none."""
    words = filter(None, _SEAM.split(find_local_name(iri)))
    # Abbreviations stay as they are.
    return " ".join(word if len(word) > 1 and word.isupper() else word.lower() for word in words) or iri


@lru_cache(maxsize=4096)
def find_field_name(iri: str) -> str:
    """Return a property's short name with only letters, digits and `_`: its path under `properties` in the text index."""
    return _NOT_A_NAME.sub("_", find_short_name(iri)).strip("_") or "_"


@lru_cache(maxsize=4096)
def list_prefixes(namespace: str) -> tuple[str, ...]:
    """Return the well-known prefixes of a namespace; most have none."""
    return KNOWN_AS.get(namespace, ())


def name_ontology(iri: str) -> str:
    """Return the preferred prefix of an ontology; most have none, and are named by their IRI."""
    return next(iter(list_prefixes(iri)), iri)


def find_namespaces(prefix: str) -> tuple[str, ...]:
    """Return the namespaces that a typed prefix may mean, the usual one first; most have none."""
    return NAMESPACES.get(prefix.lower(), ())


def expand_name(name: str) -> list[str]:
    """Return the IRIs that a prefixed name may mean, like `schema:Person`; empty if it has no well-known prefix."""
    prefix, colon, local = name.partition(":")
    return [namespace + local for namespace in find_namespaces(prefix)] if colon else []


@lru_cache(maxsize=4096)
def shorten_iri(iri: str) -> str:
    """Return the prefixed name, like `schema:Person`, if the namespace is well known; else the IRI."""
    namespace, name = split_iri(iri)
    prefixes = list_prefixes(namespace)
    return f"{prefixes[0]}:{name}" if prefixes and name else iri


def is_for_programs(iri: str) -> bool:
    """Return whether a property is of a vocabulary that pages use for the programs of one service, such as OpenGraph."""
    return split_iri(iri)[0] in _SERVICES


def put_known_first(iris: Iterable[str]) -> list[str]:
    """Sort IRIs of well-known namespaces before others, otherwise keeping their order: lists may be cut at the end."""
    return sorted(iris, key=lambda iri: not list_prefixes(find_ontology(iri)))
