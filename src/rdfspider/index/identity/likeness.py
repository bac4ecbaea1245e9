"""Whether two things can be one: classes enter, their kinds leave; two labels enter, how far they agree leaves.

A kind is a set of bits. Things whose kinds have no bit in common are different things: a person is no organisation, a book no
film. A class that is not known here says nothing. Labels are compared by their words, without accents and case.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from unicodedata import combining, normalize

from rdfspider.vocabulary.classes import find_superclasses
from rdfspider.vocabulary.prefixes import FOAF, PREFIXES, SCHEMA, VCARD

_NAMES = (
    "person organisation place event product book film music article page site media recipe software dataset course review "
    "taxon medical action intangible work"
).split()
_BITS = {name: 1 << at for at, name in enumerate(_NAMES)}
ANY = (1 << len(_NAMES)) - 1
"""The kind of a thing of which no class is known."""
_WORKS = "book film music article page site media recipe software dataset course review work"
_KINDS = {
    "Person": "person",
    "Organization": "organisation",
    "LocalBusiness": "organisation place",
    "EducationalOrganization": "organisation place",
    "CivicStructure": "place organisation",
    "Place": "place",
    "Event": "event",
    "Product": "product book film music software",
    "Vehicle": "product",
    "Book": "book",
    "Movie": "film",
    "TVSeries": "film",
    "Episode": "film",
    "MusicRecording": "music",
    "MusicPlaylist": "music",
    "MusicComposition": "music",
    "MusicGroup": "organisation person",
    "Article": "article",
    "Blog": "site",
    "WebPage": "page",
    "WebSite": "site",
    "MediaObject": "media",
    "Recipe": "recipe",
    "SoftwareApplication": "software",
    "Dataset": "dataset",
    "DataCatalog": "dataset",
    "Course": "course",
    "Review": "review",
    "Taxon": "taxon",
    "MedicalEntity": "medical",
    "Action": "action",
    "Intangible": "intangible",
    "Service": "intangible product",
    "Brand": "organisation intangible",
    "CreativeWork": _WORKS,
}
"""The kinds of schema.org's classes; that of the nearest superclass counts."""
_DBO, _BIBO, _GR, _DCAT = (PREFIXES[name] for name in ("dbo", "bibo", "gr", "dcat"))
_OTHERS = {
    FOAF + "Person": "person",
    FOAF + "Organization": "organisation",
    FOAF + "Group": "organisation",
    FOAF + "Agent": "person organisation software",
    FOAF + "Document": _WORKS,
    FOAF + "Image": "media",
    VCARD + "Individual": "person",
    VCARD + "Organization": "organisation place",
    VCARD + "Location": "place organisation",
    _DBO + "Person": "person",
    _DBO + "Organisation": "organisation",
    _DBO + "Place": "place organisation",
    _DBO + "Work": _WORKS,
    _BIBO + "Book": "book",
    _BIBO + "Article": "article",
    _GR + "BusinessEntity": "organisation person",
    _GR + "ProductOrService": "product book film music software",
    _DCAT + "Dataset": "dataset",
}
_WORD = re.compile(r"\w+")
_BYLINE = re.compile(r"by\s+(?=\S)")
_MAX_LABEL = 300
_SHORTER_SHARED = 0.6
"""The share of the shorter label's words that alike labels have in common."""
_MAX_APART = 5
"""Words that are in one of two alike labels only: advertising can be added to a long name, too."""


def find_kind(types: Iterable[str]) -> int:
    """The kind of a thing of these classes."""
    found = 0
    for iri in types:
        found |= _find_kind(iri)
    return found or ANY


@lru_cache(maxsize=4096)
def _find_kind(iri: str) -> int:
    names = _OTHERS.get(iri, "")
    if iri.startswith(SCHEMA):
        above = (iri, *find_superclasses(iri))
        names = next((_KINDS[name] for each in above if (name := each.removeprefix(SCHEMA)) in _KINDS), "")
    return sum(_BITS[name] for name in names.split())


@lru_cache(maxsize=16_384)
def split_words(label: str) -> frozenset[str]:
    """The words of a label in the form that is compared."""
    folded = "".join(sign for sign in normalize("NFKD", label[:_MAX_LABEL]) if not combining(sign)).casefold()
    return frozenset(_WORD.findall(_BYLINE.sub("", folded, count=1) if folded.startswith("by") else folded))


def measure_likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of all words that are in both labels; 0 if most words of the shorter one are not, or many are in one only."""
    shared, most = len(one & other), len(one | other)
    if shared < _SHORTER_SHARED * min(len(one), len(other)) or most - shared > _MAX_APART:
        return 0.0
    return shared / most if most else 0.0


def share_word(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two labels have a word in common that is no mere number or letter."""
    return any(len(word) > 1 and not word.isdigit() for word in one & other)


def share_script(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two labels can be compared: both have words in Latin letters, or neither."""
    return _is_latin(one) == _is_latin(other)


def _is_latin(words: frozenset[str]) -> bool:
    return any("a" <= word[0] <= "z" for word in words)
