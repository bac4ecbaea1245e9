"""The tables of microformats: classic names become those of microformats 2, and these become terms of RDF.

The parsing specification reads a classic root such as `vcard` as `h-card`, and inside it only classic property names
(`fn` as `p-name`). The first table has these names by root, including those that the formats define and the
specification's own list leaves out (hCard's `sound`, hNews). In RDF, people, organisations and places are described in
vCard, all else in schema.org; names that neither has are in the namespace of the microformats wiki.
`docs/microformats.md` shows the tables to users.
"""

from functools import lru_cache
from typing import NamedTuple

from rdfspider.vocabulary.prefixes import PREFIXES, SCHEMA

VCARD, FALLBACK = PREFIXES["vcard"], PREFIXES["mf"]

Names = dict[str, tuple[str, str]]
"""A classic class name, and its prefix and name in microformats 2."""

Rels = tuple[tuple[frozenset[str], str, str], ...]
"""Link relations that are all required, and the prefix and name of the property that they make."""

Terms = dict[str, tuple[str, str]]
"""By name of property: the predicate for literals, and the one for resources."""


class Rules(NamedTuple):
    """The property names and link relations inside a classic item."""

    names: Names
    rels: Rels = ()


class Mapping(NamedTuple):
    """The class of a type of microformat and the predicates of its properties, as terms."""

    type: str
    terms: Terms


def _names(*groups: str) -> Names:
    """The table of some groups of words: first a prefix, then `name` or `classic=new`."""
    names: Names = {}
    for group in groups:
        prefix, *words = group.split()
        for word in words:
            old, _, new = word.partition("=")
            names[old] = (prefix, new or old)
    return names


def _terms(namespace: str, words: str) -> Terms:
    """The table of some words: `name`, `name=term`, or `name=term/resource` where resources have a term of their own."""
    terms: Terms = {}
    for word in words.split():
        name, _, term = word.partition("=")
        literal, _, resource = (term or name).partition("/")
        terms[name] = (f"<{namespace}{literal}>", f"<{namespace}{resource or literal}>")
    return terms


_ADDRESS = "p post-office-box extended-address street-address locality region postal-code country-name"
_BOOKMARK = (frozenset({"bookmark"}), "u", "url")
_SELF_BOOKMARK = (frozenset({"self", "bookmark"}), "u", "url")
# The value of rel-tag is the last segment of the link's path, so it needs a prefix of its own.
_TAG = (frozenset({"tag"}), "tag", "category")

ROOTS: dict[str, str] = {
    "adr": "h-adr",
    "geo": "h-geo",
    "hentry": "h-entry",
    "hfeed": "h-feed",
    "hnews": "h-news",
    "hproduct": "h-product",
    "hrecipe": "h-recipe",
    "hresume": "h-resume",
    "hreview": "h-review",
    "hreview-aggregate": "h-review-aggregate",
    "vcard": "h-card",
    "vevent": "h-event",
}
"""Classic root class names and their types."""

ITEM = "item"
"""A class that is a root, of an `h-item`, only where it is a property of a classic review."""

_RULES: dict[str, Rules] = {
    "adr": Rules(_names(_ADDRESS)),
    "geo": Rules(_names("p latitude longitude")),
    "hentry": Rules(
        _names(
            "p entry-title=name entry-summary=summary author category geo",
            "e entry-content=content",
            "dt published updated",
        ),
        (_BOOKMARK, _TAG),
    ),
    "hfeed": Rules(_names("p site-title=name site-description=summary author category", "u url photo"), (_TAG,)),
    "hnews": Rules(
        _names("p entry dateline geo source-org"),
        ((frozenset({"principles"}), "u", "principles"),),
    ),
    "hproduct": Rules(_names("p fn=name brand category description price review", "u photo url identifier")),
    "hrecipe": Rules(
        _names(
            "p fn=name ingredient yield summary author nutrition category review",
            "e instructions",
            "dt duration published",
            "u photo",
        ),
        (_TAG,),
    ),
    "hresume": Rules(_names("p summary contact education experience skill affiliation")),
    "hreview": Rules(
        _names(
            "p summary=name item reviewer=author rating best worst category",
            "e description=content",
            "dt dtreviewed=published",
        ),
        (_SELF_BOOKMARK, _TAG),
    ),
    "hreview-aggregate": Rules(
        _names("p summary=name item rating best worst average count votes category", "e description=content")
    ),
    "vcard": Rules(
        _names(
            _ADDRESS,
            "p fn=name honorific-prefix given-name additional-name family-name honorific-suffix nickname sort-string",
            "p org organization-name organization-unit title=job-title role category note adr label geo latitude",
            "p longitude tel tz mailer agent class key",
            "u email logo photo sound url uid",
            "dt bday rev",
        )
    ),
    "vevent": Rules(
        _names(
            "p summary=name description category location attendee contact organizer status",
            "p geo=location",
            "dt dtstart=start dtend=end duration",
            "u url uid",
        )
    ),
    ITEM: Rules(_names("p fn=name", "u photo url")),
}

_VCARD_TERMS = _terms(
    VCARD,
    "name=fn honorific-prefix given-name additional-name family-name honorific-suffix sort-string nickname "
    "email=email/hasEmail tel=tel/hasTelephone impp=hasInstantMessage url=hasURL uid=uid/hasUID "
    "logo=hasLogo photo=hasPhoto sound=hasSound key=key/hasKey "
    "adr=adr/hasAddress label post-office-box extended-address street-address locality region postal-code country-name "
    "geo=geo/hasGeo latitude longitude altitude tz "
    "org=organization-name/org organization-name organization-unit job-title=title title role "
    "category=category/hasCategory note=note/hasNote bday anniversary rev mailer agent class",
) | {"altitude": (f"<{PREFIXES['geo']}alt>",) * 2}

GENERIC = _terms(
    SCHEMA,
    "name url uid=identifier photo=image featured=image logo video audio author summary=description description "
    "content=text published=datePublished updated=dateModified category=keywords location syndication=sameAs "
    "comment start=startDate end=endDate duration rating=ratingValue best=bestRating worst=worstRating price review geo=location",
)
"""The terms of names that many formats share, where a format has no term of its own."""

_ENTRY = _terms(SCHEMA, "location=contentLocation geo=contentLocation") | {
    "in-reply-to": (f"<{PREFIXES['as']}inReplyTo>",) * 2
}
_RATING = "rating=ratingValue average=ratingValue best=bestRating worst=worstRating count=reviewCount votes=ratingCount"


def _schema(kind: str, words: str = "") -> Mapping:
    return Mapping(f"<{SCHEMA}{kind}>", GENERIC | _terms(SCHEMA, words))


MAPPINGS: dict[str, Mapping] = {
    "h-card": Mapping(f"<{VCARD}Kind>", _VCARD_TERMS),
    "h-adr": Mapping(f"<{VCARD}Address>", _VCARD_TERMS),
    "h-geo": Mapping(f"<{VCARD}Location>", _VCARD_TERMS),
    "h-entry": Mapping(f"<{SCHEMA}CreativeWork>", GENERIC | _ENTRY),
    "h-cite": Mapping(f"<{SCHEMA}CreativeWork>", GENERIC | _ENTRY),
    "h-feed": _schema("DataFeed"),
    "h-news": _schema(
        "NewsArticle",
        "entry=hasPart dateline=dateline/contentLocation location=contentLocation geo=contentLocation "
        "source-org=sourceOrganization principles=publishingPrinciples",
    ),
    "h-event": _schema(
        "Event",
        "attendee organizer performer speaker=performer status=eventStatus content=description",
    ),
    "h-item": _schema("Thing"),
    "h-product": _schema("Product", "brand category identifier content=description"),
    "h-recipe": _schema(
        "Recipe",
        "ingredient=recipeIngredient yield=recipeYield instructions=recipeInstructions duration=totalTime nutrition "
        "category=recipeCategory",
    ),
    "h-resume": _schema("CreativeWork", "contact=about"),
    "h-review": _schema(
        "Review",
        "item=itemReviewed reviewer=author reviewed=datePublished rating=reviewRating content=reviewBody "
        "description=reviewBody",
    ),
    "h-review-aggregate": _schema("AggregateRating", f"item=itemReviewed {_RATING}"),
    "h-app": _schema("SoftwareApplication", "photo=screenshot"),
    "h-x-app": _schema("SoftwareApplication", "photo=screenshot"),
}
"""The formats that have a mapping."""

ORGANISATION = f"<{VCARD}Organization>"
CHILD = f"<{FALLBACK}children>"
FEED_CHILD = f"<{SCHEMA}dataFeedElement>"

_OWN_NAMES = (
    "accessed affiliation bookmark-of checkin contact education experience follow-of gender-identity invitee item "
    "like-of listen-of person-tag pronoun pronouns publication quotation-of read-of read-status repost-of rsvp sex size "
    "skill tag-of translation-of watch-of weight"
)
DEFINED = frozenset(_OWN_NAMES.split()).union(*(mapping.terms for mapping in MAPPINGS.values()))
"""Names of properties that some format of the microformats wiki defines, with or without a mapping."""

IGNORED_CLASSES = frozenset(
    "h-full h-screen h-auto h-min h-max h-fit h-px h-svh h-lvh h-dvh h-inherit h-initial".split()
)
"""Heights in CSS frameworks such as Tailwind: they look like roots, are on very many pages, and are never meant as roots."""


@lru_cache(maxsize=256)
def rules_of(roots: tuple[str, ...]) -> Rules:
    """The rules of an element with these classic roots; of two roots with the same name the first counts."""
    names: Names = {}
    rels: Rels = ()
    for root in roots:
        names = _RULES[root].names | names
        rels += tuple(rule for rule in _RULES[root].rels if rule not in rels)
    return Rules(names, rels)


def class_terms(types: list[str]) -> list[str]:
    """The classes of an item: the mapped one of each type, and the type itself as the wiki names it."""
    terms = [MAPPINGS[kind].type for kind in types if kind in MAPPINGS]
    return [*dict.fromkeys(terms), *(f"<{FALLBACK}{kind}>" for kind in types)]


def predicate_terms(types: list[str], name: str) -> tuple[str, str]:
    """The predicates of a property: those of the first type that maps it, else the shared ones, else in the wiki's namespace."""
    for kind in types:
        mapping = MAPPINGS.get(kind)
        if mapping is not None and name in mapping.terms:
            return mapping.terms[name]
    return GENERIC.get(name) or (f"<{FALLBACK}{name}>",) * 2


def is_defined(name: str) -> bool:
    """Whether a name is that of a property: one that a format defines, or an experimental one (`p-x-…`).

    Utility classes of style sheets (`u-hidden`, `p-relative`, `e-con`) look like properties, and are far more common
    than undefined properties.
    """
    return name in DEFINED or name.startswith("x-")
