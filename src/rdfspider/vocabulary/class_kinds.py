"""What a class says about its members' place on a page: a class enters; whether they are what a page may be about, a document
that tells of it, or only a part of something leaves."""

from collections.abc import Iterable
from enum import IntEnum
from functools import lru_cache

from rdfspider.vocabulary.classes import find_superclasses, fold_class
from rdfspider.vocabulary.prefixes import FOAF, NAMESPACES, PREFIXES, SCHEMA, VCARD

_MF, _SIOC, _SIOCT, _RSS, _BIBO = (PREFIXES[name] for name in ("mf", "sioc", "sioct", "rss", "bibo"))

H_CARD = _MF + "h-card"


class ClassKind(IntEnum):
    """The kinds of classes, the most informative first: in this order the types of a thing are shown."""

    TOPIC = 0
    """A recipe, a product, an event; also every class that is not known here."""
    AGENT = 1
    """People, organizations, brands and places: pages name many, and few pages are about one."""
    ARTICLE = 2
    """Texts that tell of something."""
    MEDIA = 3
    """Videos and recordings."""
    VAGUE = 4
    """Classes that hardly say anything."""
    DOCUMENT = 5
    """Pages, sites and feeds as such."""
    PART = 6
    """Parts of other things, or of a page's layout."""


def _name(namespace: str, names: str) -> frozenset[str]:
    return frozenset(namespace + name for name in names.split())


_BY_SCHEMA = (
    # The first row that has a class or one of its superclasses decides.
    (
        ClassKind.PART,
        _name(
            SCHEMA,
            "ImageObject ListItem ItemList Rating Offer AggregateOffer Action EntryPoint StructuredValue Quantity DataType "
            "WebPageElement HowToSection HowToItem HowToDirection HowToTip SpeakableSpecification Comment Clip UserInteraction "
            "MerchantReturnPolicy VirtualLocation PropertyValueSpecification Schedule SizeSpecification ProductReturnPolicy "
            "Permit MediaSubscription Audience ActionAccessSpecification URL",
        ),
    ),
    (ClassKind.DOCUMENT, _name(SCHEMA, "WebPage WebSite Blog DataFeed WebContent")),
    (ClassKind.ARTICLE, _name(SCHEMA, "Article SocialMediaPosting DigitalDocument")),
    (ClassKind.MEDIA, _name(SCHEMA, "VideoObject AudioObject MediaObject")),
    (ClassKind.AGENT, _name(SCHEMA, "Person Organization Brand Place Country Language")),
)
_OTHERS = {
    # For schema.org a question is a comment.
    ClassKind.TOPIC: {SCHEMA + "Question"},
    ClassKind.PART: {FOAF + "Image", VCARD + "Address", *_name(_MF, "h-adr h-geo h-item h-cite"), _SIOCT + "Comment"}
    | {namespace + "Breadcrumb" for namespace in NAMESPACES["dv"]},
    ClassKind.DOCUMENT: {_MF + "h-feed", _RSS + "channel", *_name(_SIOC, "Site Container Forum")},
    ClassKind.ARTICLE: {
        FOAF + "Document",
        _RSS + "item",
        *_name(_MF, "h-entry h-news"),
        *_name(_SIOC, "Item Post"),
        *_name(_SIOCT, "BlogPost BoardPost"),
        *_name(_BIBO, "Article Document"),
    },
    ClassKind.AGENT: {
        H_CARD,
        *_name(FOAF, "Person Agent Organization Group OnlineAccount"),
        *_name(VCARD, "Kind Individual Organization Group VCard"),
        _SIOC + "UserAccount",
    },
    ClassKind.VAGUE: {SCHEMA + "CreativeWork", SCHEMA + "Thing", SCHEMA + "Intangible"},
}
_BY_CLASS = {iri: kind for kind, classes in _OTHERS.items() for iri in classes}
_MAIN = _name(
    SCHEMA,
    "Recipe Product ProductGroup Event JobPosting Movie Book TVSeries TVEpisode MusicAlbum MusicRecording "
    "SoftwareApplication Course LocalBusiness Vehicle HowTo Game Painting ScholarlyArticle Review Question Hotel Restaurant",
)
_REMARKS = _name(
    SCHEMA, "Review Comment Answer Question UserComments CriticReview UserReview EmployerReview ImageObject"
)
_COMMENTS = frozenset((_SIOCT + "Comment", SCHEMA + "Comment"))
_LISTS = _name(SCHEMA, "CollectionPage SearchResultsPage ItemList OfferCatalog")


@lru_cache(maxsize=4096)
def find_kind(iri: str) -> ClassKind:
    """Find the kind of a class."""
    kind = _BY_CLASS.get(iri)
    if kind is not None:
        return kind
    if iri.startswith(SCHEMA):
        known = {fold_class(iri), *find_superclasses(iri)}
        for kind, classes in _BY_SCHEMA:
            if not classes.isdisjoint(known):
                return kind
    return ClassKind.VAGUE if iri.startswith(_MF) else ClassKind.TOPIC


@lru_cache(maxsize=4096)
def is_main_class(iri: str) -> bool:
    """Return whether pages are made for members of a class, even where another thing has them."""
    return not _MAIN.isdisjoint((fold_class(iri), *find_superclasses(iri)))


@lru_cache(maxsize=4096)
def is_remark(iri: str) -> bool:
    """Return whether things of a class are only parts where others have them, as is whoever they name: reviews, comments."""
    return fold_class(iri) in _REMARKS or is_comment(iri)


def is_comment(iri: str) -> bool:
    """Return whether members of a class are comments, which are parts whatever else they are: SIOC's are posts, too."""
    return iri in _COMMENTS


@lru_cache(maxsize=4096)
def is_list(iri: str) -> bool:
    """Return whether a page of this class lists other things."""
    return fold_class(iri) in _LISTS


def is_layout(iri: str) -> bool:
    """Return whether members of a class hold a page together, and are hardly ever what it is about."""
    return find_kind(iri) >= ClassKind.DOCUMENT


def sort_types(types: Iterable[str]) -> list[str]:
    """Sort classes, the most informative first; otherwise their order stays."""
    return sorted(types, key=_rank)


@lru_cache(maxsize=4096)
def _rank(iri: str) -> int:
    return len(ClassKind) if iri.startswith(_MF) else find_kind(iri)
