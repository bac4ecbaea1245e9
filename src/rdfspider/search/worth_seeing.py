"""Which classes, properties and ontologies are worth showing first: counts enter, the same in the order of what they tell leaves.

Counts alone put forward what holds pages together: images, list items, breadcrumbs, names that nearly every page has.
"""

from collections.abc import Iterable
from math import log2

from rdfspider.results import NameCount, NameKind
from rdfspider.vocabulary.class_kinds import is_layout
from rdfspider.vocabulary.classes import find_superclasses
from rdfspider.vocabulary.names import find_ontology, find_short_name, list_prefixes
from rdfspider.vocabulary.prefixes import OG, OWL, PREFIXES, RDF, RDFS, SCHEMA, VCARD, XHV

# Too general to say what a thing is.
_ABSTRACT = frozenset(
    (
        *(
            SCHEMA + name
            for name in "Thing CreativeWork MediaObject Intangible StructuredValue DataFeed DataFeedItem".split()
        ),
        VCARD + "Kind",
    )
)
# Vocabularies of page mechanics, of RDF itself, and of tags for other sites' programs. Microformats have the classes of
# schema.org beside their own.
_PLUMBING = frozenset(
    (
        *(PREFIXES[name] for name in ("mf", "fb", "twitter", "article", "rdfa")),
        RDF,
        RDFS,
        OWL,
        XHV,
        OG,
        "https://ogp.me/ns#",
    )
)
# Properties that most things have, or that only hold a page together.
_PLAIN_PROPERTIES = frozenset(
    "name title headline label fn type url id uid identifier description text image logo thumbnailurl contenturl caption width "
    "height position item itemlistelement numberofitems mainentityofpage mainentity ispartof haspart breadcrumb potentialaction "
    "target urltemplate query-input actionplatform primaryimageofpage inlanguage sameas publisher role usesvocabulary entry "
    "encodingformat".split()
)


def rank_names(kind: NameKind, counts: Iterable[NameCount], sites: int) -> list[NameCount]:
    """Sort names by what they tell, and leave out those that tell nothing.

    The measure is a name's share of the entropy, -p·log2(p), where p is the share of sites that use it: what all sites use
    tells one from another as little as what hardly any uses. Sites count and not uses, because one site may list a thousand
    authors. Parts and page mechanics are left out by what they are: no measure of frequency tells a recipe from a breadcrumb.
    """
    told = [(count, _measure(count.sites, sites)) for count in counts if _is_telling(kind, count.name)]
    return [count for count, _ in sorted(told, key=lambda pair: (-pair[1], -pair[0].uses, pair[0].name))]


def choose_classes(counts: Iterable[NameCount], sites: int, most: int) -> list[str]:
    """Choose classes that differ: of Article and NewsArticle only the one that tells more."""
    chosen: list[str] = []
    for count in rank_names(NameKind.CLASS, counts, sites):
        kin = {count.name, *find_superclasses(count.name)}
        if not any(each in kin or count.name in find_superclasses(each) for each in chosen):
            chosen.append(count.name)
    return chosen[:most]


def _measure(sites: int, all_sites: int) -> float:
    # What all use is told last, and not left out: a crawl may have one site.
    share = sites / max(all_sites, 1)
    return -share * log2(share) if 0 < share < 1 else 0.0


def _is_telling(kind: NameKind, iri: str) -> bool:
    if kind == NameKind.ONTOLOGY:
        # Undeclared prefixes look like ontologies.
        return iri not in _PLUMBING and (iri.startswith(("http://", "https://")) or bool(list_prefixes(iri)))
    if find_ontology(iri) in _PLUMBING:
        return False
    if kind == NameKind.CLASS:
        return not is_layout(iri) and iri not in _ABSTRACT
    return find_short_name(iri) not in _PLAIN_PROPERTIES and iri.startswith(("http://", "https://"))
