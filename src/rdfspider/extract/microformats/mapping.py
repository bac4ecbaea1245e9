"""Microformats as RDF: items enter, statements leave, by the tables here; `docs/microformats.md` shows them to users.

People, organisations and places are described in vCard, all else in schema.org; names that neither has are in the
namespace of the microformats wiki. Every item is a blank node, whatever URL it gives itself: a page does not speak for
other sites. URLs become IRIs, valid dates typed literals, markup its text. Classes that only look like microformats are
left out.
"""

import re
from typing import NamedTuple

from rdfspider.extract.datatypes import mend_xsd_date
from rdfspider.extract.microformats.items import Item, Items, PropertyElement
from rdfspider.extract.microformats.values import Markup, PropertyReader, Url
from rdfspider.extract.statements import Statements
from rdfspider.vocabulary.terms import RDF_TYPE

VCARD = "http://www.w3.org/2006/vcard/ns#"
SCHEMA = "http://schema.org/"
FALLBACK = "http://microformats.org/wiki/"

Terms = dict[str, tuple[str, str]]
"""By name of property: the predicate for literals, and the one for resources."""


class Mapping(NamedTuple):
    """The class of a type of microformat and the predicates of its properties, as terms."""

    type: str
    terms: Terms


def _terms(namespace: str, words: str) -> Terms:
    """The table of some words: `name`, `name=term`, or `name=term/resource` where resources have a term of their own."""
    terms: Terms = {}
    for word in words.split():
        name, _, term = word.partition("=")
        literal, _, resource = (term or name).partition("/")
        terms[name] = (f"<{namespace}{literal}>", f"<{namespace}{resource or literal}>")
    return terms


_VCARD_TERMS = _terms(
    VCARD,
    "name=fn honorific-prefix given-name additional-name family-name honorific-suffix sort-string nickname "
    "email=email/hasEmail tel=tel/hasTelephone impp=hasInstantMessage url=hasURL uid=uid/hasUID "
    "logo=hasLogo photo=hasPhoto sound=hasSound key=key/hasKey "
    "adr=adr/hasAddress label post-office-box extended-address street-address locality region postal-code country-name "
    "geo=geo/hasGeo latitude longitude altitude tz "
    "org=organization-name/org organization-name organization-unit job-title=title title role "
    "category=category/hasCategory note=note/hasNote bday anniversary rev mailer agent class",
) | {"altitude": ("<http://www.w3.org/2003/01/geo/wgs84_pos#alt>",) * 2}

GENERIC = _terms(
    SCHEMA,
    "name url uid=identifier photo=image featured=image logo video audio author summary=description description "
    "content=text published=datePublished updated=dateModified category=keywords location syndication=sameAs "
    "comment start=startDate end=endDate duration rating=ratingValue best=bestRating worst=worstRating price review geo=location",
)
"""The terms of names that many formats share, where a format has no term of its own."""

_ENTRY = _terms(SCHEMA, "location=contentLocation geo=contentLocation") | {
    "in-reply-to": ("<https://www.w3.org/ns/activitystreams#inReplyTo>",) * 2
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


_POSITION = re.compile(r"\s*(?P<latitude>[+-]?\d{1,3}(?:\.\d+)?)\s*[;,]\s*(?P<longitude>[+-]?\d{1,3}(?:\.\d+)?)\s*")


PredicateObject = tuple[str, "str | Item"]
"""A predicate, and the term or the item that is its object."""


def state_items(items: Items, reader: PropertyReader, out: Statements) -> None:
    """Add the statements of all items of a page that have any."""
    described: dict[Item, list[PredicateObject]] = {}
    # Items inside an item decide whether it has statements.
    for item in items.inside_out():
        if _may_be_described(item):
            description = _describe_item(item, described, reader, out)
            if description:
                described[item] = description
    nodes = {item: out.blank() for item in items.every if item in described}
    for item, node in nodes.items():
        for term in class_terms(item.types):
            out.add(node, RDF_TYPE, term)
        for predicate, thing in described[item]:
            out.add(node, predicate, nodes[thing] if isinstance(thing, Item) else thing)


def _may_be_described(item: Item) -> bool:
    """Whether an item is meant as a microformat: one of an unknown type must have a property that some format defines."""
    return any(kind in MAPPINGS for kind in item.types) or any(is_defined(found.name) for found in item.properties)


def _describe_item(
    item: Item, described: dict[Item, list[PredicateObject]], reader: PropertyReader, out: Statements
) -> list[PredicateObject]:
    description: list[PredicateObject] = []
    texts: dict[str, str] = {}
    for found, value in reader.read_item(item, is_defined):
        literal, resource = predicate_terms(item.types, found.name)
        if found.item is not None:
            if found.item in described:
                description.append((resource, found.item))
                continue
            # An item without statements is read as an element with text.
            value = reader.read(found.prefix, found.element)
        if isinstance(value, Url):
            iri = _url_term(found, value, reader, out)
            if iri is not None:
                description.append((resource, iri))
        elif value:
            text = _collapse(value.value if isinstance(value, Markup) else value)
            if text:
                texts.setdefault(found.name, text)
                description.append((literal, date_literal(text, out) if found.prefix == "dt" else out.literal(text)))
    if "h-card" in item.types and "org" in texts and texts["org"] == texts.get("name"):
        description.append((RDF_TYPE, ORGANISATION))
    if "h-geo" in item.types and "latitude" not in texts:
        description = _position(item, texts, reader, out) or description
    for child in item.children:
        if child in described:
            is_entry = "h-feed" in item.types and "h-entry" in child.types
            description.append((FEED_CHILD if is_entry else CHILD, child))
    return description


def _url_term(found: PropertyElement, value: Url, reader: PropertyReader, out: Statements) -> str | None:
    """The IRI of a URL; e-mail addresses get `mailto:`, and data: URLs are left out, since they name nothing."""
    if value.value[:5].lower() == "data:":
        return None
    if found.name == "email" and value.value[:7].lower() != "mailto:":
        text = reader.read("p", found.element)
        if isinstance(text, str) and "@" in text and ":" not in text:
            return out.iri(f"mailto:{text.strip()}")
    return out.resolve(value.value)


def _position(item: Item, texts: dict[str, str], reader: PropertyReader, out: Statements) -> list[PredicateObject]:
    """The position of a geo without properties, from its text: latitude, semicolon, longitude."""
    text = texts.get("name") if item.rules is None else None if item.properties else reader.read("p", item.element)
    match = _POSITION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return []
    names = ("latitude", "longitude")
    return [(predicate_terms(item.types, name)[0], out.literal(match[name])) for name in names]


def _collapse(text: str) -> str:
    """Text as a browser shows it: every run of white space is a space."""
    return " ".join(text.split())


def date_literal(text: str, out: Statements) -> str:
    """The term of a date, time or duration, normalised and typed where XML Schema has a datatype for it."""
    lexical, datatype = mend_xsd_date(text)
    return out.literal(lexical, datatype=datatype)
