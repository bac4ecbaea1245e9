"""Spellings of vocabularies: the name of a class or property as pages write it enters, its usual IRI leaves.

Pages write http or https, with or without `www.`, `#` or `/` at the end of a namespace, names that a vocabulary has given up
(opengraphprotocol.org), and prefixes that they never declare, so that `article:author` itself becomes an IRI. The same fact in
two spellings is one fact in the indexes; extraction gives each as the page has it.
"""

from functools import lru_cache

from rdfspider.vocabulary.classes import fold_class
from rdfspider.vocabulary.names import split_iri
from rdfspider.vocabulary.prefixes import DCTERMS, KNOWN_AS, META_PREFIXES, OG, PREFIXES, SCHEMA

_FB = PREFIXES["fb"]
_OTHER_NAMES = {
    "http://opengraphprotocol.org/schema/": OG,
    "http://opengraphprotocol.org/": OG,
    "http://media.facebook.com/op#": PREFIXES["article"],
    "http://developers.facebook.com/schema/": _FB,
    "http://facebook.com/2008/fbml/": _FB,
    "http://dublincore.org/documents/dcmi-terms/": DCTERMS,
    "http://data-vocabulary.org/#": PREFIXES["dv"],
}
"""Namespaces that mean a known vocabulary under another name."""
_GLUED = {
    "http://www.facebook.com/2008/fbml": _FB,
    "https://www.facebook.com/2008/fbml": _FB,
    "http://ogp.me/ns#article:": PREFIXES["article"],
    "http://ogp.me/ns#book:": PREFIXES["book"],
    "http://ogp.me/ns#product:": PREFIXES["product"],
    "http://ogp.me/ns#profile:": PREFIXES["profile"],
}
"""Beginnings that the name follows without a separator, because the declared namespace has none, or a second prefix."""
_UNDECLARED = {name.lower(): namespace for name, namespace in (PREFIXES | META_PREFIXES).items()}
_HOST_ONLY = ("http://schema.org", "https://schema.org")


def _list_spellings(namespace: str) -> set[str]:
    """List a namespace with either scheme, with and without `www.`, and with `#`, `/` or both at the end."""
    rest = namespace.partition("://")[2].removeprefix("www.").rstrip("#/")
    return {
        f"{scheme}://{www}{rest}{end}"
        for scheme in ("http", "https")
        for www in ("", "www.")
        for end in ("#", "/", "/#")
    }


def _make_table() -> dict[str, str]:
    usual = {namespace: PREFIXES[prefixes[0]] for namespace, prefixes in KNOWN_AS.items()} | _OTHER_NAMES
    spelt: dict[str, str] = {}
    for namespace, meant in usual.items():
        for spelling in _list_spellings(namespace):
            spelt.setdefault(spelling, meant)
    # A namespace of the table never becomes another by a slip: only by its own row.
    return spelt | usual


_NAMESPACES = _make_table()


@lru_cache(maxsize=8192)
def fold_name(iri: str) -> str:
    """Return the usual IRI of a class or property; most have no other."""
    prefix, _, name = iri.partition(":")
    if not name.startswith("//"):
        namespace = _UNDECLARED.get(prefix.lower(), "")
        return f"{namespace}{name}" if namespace and name else iri
    for start, glued in _GLUED.items():
        if iri.startswith(start) and len(iri) > len(start):
            return glued + iri[len(start) :].lstrip("#/")
    namespace, name = split_iri(iri)
    if meant := _NAMESPACES.get(namespace):
        return meant + name
    for start in _HOST_ONLY:
        # `https://schema.orgProduct`, where a program has joined the two without a slash.
        if iri.startswith(start) and iri[len(start) :].isalpha() and iri[len(start)].isupper():
            return SCHEMA + iri[len(start) :]
    return iri


@lru_cache(maxsize=8192)
def fold_class_name(iri: str) -> str:
    """Return the usual IRI of a class, for schema.org's also in the usual case: `schema:product` is `schema:Product`."""
    return fold_class(fold_name(iri))


def fold_namespace(iri: str) -> str:
    """Return the usual IRI of an ontology."""
    return _NAMESPACES.get(iri, iri)
