"""IRIs of classes and properties in, what people call them out: short names, namespaces and the prefixes of well-known ones."""

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote

from rdfspider.vocabulary.prefixes import KNOWN_AS, NAMESPACES

_NOT_A_NAME = re.compile(r"\W+", re.ASCII)
_MAX_NAME = 100


@lru_cache(maxsize=4096)
def split_iri(iri: str) -> tuple[str, str]:
    """Namespace and local name: the namespace ends with `#`, or with the last `/`, or else with the last `:`."""
    for end in "#/:":
        at = iri.rfind(end)
        # A last character that ends a namespace leaves no name: the one before it decides.
        if at == len(iri) - 1:
            at = iri.rfind(end, 0, at)
        if at > 0 and not (end == "/" and iri[at - 1] == "/"):
            return iri[: at + 1], iri[at + 1 :]
    return "", iri


@lru_cache(maxsize=4096)
def find_ontology(iri: str) -> str:
    """The namespace of a class or property: the ontology that it is of."""
    return split_iri(iri)[0] or iri


@lru_cache(maxsize=4096)
def find_short_name(iri: str) -> str:
    """What people call a class or property, in lower case."""
    return unquote(split_iri(iri)[1].rstrip("/#:")).lower()[:_MAX_NAME] or iri.lower()[:_MAX_NAME]


@lru_cache(maxsize=4096)
def find_field_name(iri: str) -> str:
    """A property's short name with letters, digits and `_` only: the path under `properties` in the text index."""
    return _NOT_A_NAME.sub("_", find_short_name(iri)).strip("_") or "_"


@lru_cache(maxsize=4096)
def list_prefixes(namespace: str) -> tuple[str, ...]:
    """The prefixes by which a namespace is known; none for most."""
    return KNOWN_AS.get(namespace, ())


def find_namespaces(prefix: str) -> tuple[str, ...]:
    """The namespaces that a person may mean by a prefix, the usual one first; none for most."""
    return NAMESPACES.get(prefix.lower(), ())


@lru_cache(maxsize=4096)
def shorten_iri(iri: str) -> str:
    """`schema:Person` where the namespace is well known; else the IRI as it is."""
    namespace, name = split_iri(iri)
    prefixes = list_prefixes(namespace)
    return f"{prefixes[0]}:{name}" if prefixes and name else iri


def put_known_first(iris: Iterable[str]) -> list[str]:
    """Those of well-known namespaces before the others, else in their order: what is cut off at the end tells people less."""
    return sorted(iris, key=lambda iri: not list_prefixes(find_ontology(iri)))
