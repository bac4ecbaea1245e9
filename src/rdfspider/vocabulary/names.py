"""IRIs of classes and properties in, what people call them out: short names, namespaces and the prefixes of well-known ones."""

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote

from rdfspider.formats import PREFIXES

SCHEMA = PREFIXES["schema"]
_NAMES = {
    SCHEMA: ("schema", "schema.org"),
    "https://schema.org/": ("schema",),
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": ("rdf",),
    "http://www.w3.org/2000/01/rdf-schema#": ("rdfs",),
    "http://www.w3.org/2001/XMLSchema#": ("xsd",),
    "http://www.w3.org/2002/07/owl#": ("owl",),
    "http://www.w3.org/2004/02/skos/core#": ("skos",),
    "http://www.w3.org/2006/vcard/ns#": ("vcard",),
    "http://www.w3.org/ns/dcat#": ("dcat",),
    "http://www.w3.org/ns/prov#": ("prov",),
    "http://www.w3.org/ns/org#": ("org",),
    "http://www.w3.org/ns/rdfa#": ("rdfa",),
    "http://www.w3.org/ns/shacl#": ("sh",),
    "http://www.w3.org/1999/xhtml/vocab#": ("xhv",),
    "http://www.w3.org/2002/12/cal/icaltzd#": ("ical",),
    "http://www.w3.org/2003/01/geo/wgs84_pos#": ("geo",),
    "https://www.w3.org/ns/activitystreams#": ("as",),
    "http://www.opengis.net/ont/geosparql#": ("geosparql",),
    "http://xmlns.com/foaf/0.1/": ("foaf",),
    "http://purl.org/dc/elements/1.1/": ("dc", "dc11"),
    "http://purl.org/dc/terms/": ("dcterms", "dct", "dc"),
    "http://purl.org/dc/dcmitype/": ("dctype",),
    "http://purl.org/rss/1.0/": ("rss",),
    "http://purl.org/rss/1.0/modules/content/": ("content",),
    "http://purl.org/goodrelations/v1#": ("gr", "goodrelations"),
    "http://purl.org/ontology/bibo/": ("bibo",),
    "http://purl.org/ontology/mo/": ("mo",),
    "http://purl.org/vocab/bio/0.1/": ("bio",),
    "http://purl.org/vocab/frbr/core#": ("frbr",),
    "http://purl.org/stuff/rev#": ("rev",),
    "http://rdfs.org/sioc/ns#": ("sioc",),
    "http://rdfs.org/sioc/types#": ("sioct",),
    "http://rdfs.org/ns/void#": ("void",),
    "http://creativecommons.org/ns#": ("cc",),
    "http://ogp.me/ns#": ("og", "opengraph"),
    "https://ogp.me/ns#": ("og",),
    "http://ogp.me/ns/article#": ("article",),
    "http://ogp.me/ns/book#": ("book",),
    "http://ogp.me/ns/fb#": ("fb",),
    "http://ogp.me/ns/music#": ("music",),
    "http://ogp.me/ns/product#": ("product",),
    "http://ogp.me/ns/profile#": ("profile",),
    "http://ogp.me/ns/video#": ("video",),
    "https://dev.twitter.com/cards#": ("twitter",),
    "http://usefulinc.com/ns/doap#": ("doap",),
    "http://data-vocabulary.org/": ("dv",),
    "http://rdf.data-vocabulary.org/#": ("dv",),
    "http://dbpedia.org/ontology/": ("dbo", "dbpedia"),
    "http://www.cidoc-crm.org/cidoc-crm/": ("crm",),
    "http://www.wikidata.org/entity/": ("wd",),
    "http://www.wikidata.org/prop/direct/": ("wdt",),
    "http://microformats.org/wiki/": ("mf", "mf2", "microformats"),
}
_NAMESPACES: dict[str, tuple[str, ...]] = {}
for _namespace, _prefixes in _NAMES.items():
    for _prefix in _prefixes:
        _NAMESPACES[_prefix] = (*_NAMESPACES.get(_prefix, ()), _namespace)
WELL_KNOWN = {prefix: namespaces[0] for prefix, namespaces in _NAMESPACES.items() if "." not in prefix}
"""The namespace that each prefix means first of all."""
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
    return _NAMES.get(namespace, ())


def find_namespaces(prefix: str) -> tuple[str, ...]:
    """The namespaces that a prefix stands for; none for most, two for `dc`."""
    return _NAMESPACES.get(prefix.lower(), ())


@lru_cache(maxsize=4096)
def shorten_iri(iri: str) -> str:
    """`schema:Person` where the namespace is well known; else the IRI as it is."""
    namespace, name = split_iri(iri)
    prefixes = list_prefixes(namespace)
    return f"{prefixes[0]}:{name}" if prefixes and name else iri


def put_known_first(iris: Iterable[str]) -> list[str]:
    """Those of well-known namespaces before the others, else in their order: what is cut off at the end tells people less."""
    return sorted(iris, key=lambda iri: not list_prefixes(find_ontology(iri)))
