"""Tables of properties that name, describe, show, date or identify an entity; a lower rank is preferred.

Also what makes a text of a page a label: visible characters, decoded references, one line.
"""

import re
from html import unescape
from html.entities import html5
from unicodedata import category

from rdfspider.vocabulary.prefixes import (
    DC,
    DCTERMS,
    FOAF,
    NAMESPACES,
    OG,
    OWL,
    PREFIXES,
    RDF,
    RDFS,
    SCHEMA,
    SKOS,
    VCARD,
)

_ARTICLE, _TWITTER, _RSS = (PREFIXES[name] for name in ("article", "twitter", "rss"))

RDF_TYPE = RDF + "type"
SUBCLASS_OF = RDFS + "subClassOf"

# White space, control characters, and combining marks; and blank characters that Unicode classes as letters or symbols.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Me"))
_REFERENCE = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def _rank(*groups: tuple[str, ...]) -> dict[str, int]:
    return {iri: rank for rank, group in enumerate(groups) for iri in group}


LABELS = _rank(
    (SCHEMA + "name", SKOS + "prefLabel", FOAF + "name", VCARD + "fn", PREFIXES["gr"] + "name"),
    (RDFS + "label", SCHEMA + "headline", DCTERMS + "title", DC + "title", _RSS + "title"),
    (OG + "title", SCHEMA + "title", PREFIXES["doap"] + "name"),
    (_TWITTER + "title", FOAF + "nick", SCHEMA + "legalName", VCARD + "organization-name"),
    (SCHEMA + "alternateName", SCHEMA + "alternativeHeadline", SKOS + "altLabel", SCHEMA + "caption"),
)
NO_LABEL_RANK = 9
"""The rank of a label that is only the end of the entity's IRI."""
DESCRIPTIONS = _rank(
    (SCHEMA + "description", DCTERMS + "description", DC + "description", _RSS + "description"),
    (OG + "description", SKOS + "definition", DCTERMS + "abstract", SCHEMA + "abstract"),
    (RDFS + "comment", VCARD + "note", _TWITTER + "description"),
    (SCHEMA + "text", SCHEMA + "articleBody", SCHEMA + "reviewBody"),
)
IMAGES = _rank(
    (SCHEMA + "image", FOAF + "depiction", FOAF + "img", VCARD + "hasPhoto"),
    (OG + "image", SCHEMA + "thumbnailUrl", SCHEMA + "logo", FOAF + "logo", VCARD + "hasLogo"),
    (_TWITTER + "image", SCHEMA + "photo"),
)
IMAGE_ADDRESSES = (SCHEMA + "contentUrl", SCHEMA + "url")
"""Properties with the address of an image that is a node of its own."""
ADDRESSES = _rank(
    (SCHEMA + "url", VCARD + "hasURL", FOAF + "homepage", OG + "url", _RSS + "link"),
    (SCHEMA + "mainEntityOfPage", FOAF + "page"),
)
SAME_AS = frozenset((SCHEMA + "sameAs", OWL + "sameAs"))
IDENTIFIERS = tuple(
    SCHEMA + name
    for name in ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "isbn", "productID", "sku", "mpn", "identifier")
)
"""Properties that identify a product within its site, the most reliable first."""
DATES = _rank(
    (SCHEMA + "datePublished", SCHEMA + "startDate", SCHEMA + "uploadDate", SCHEMA + "datePosted"),
    (_ARTICLE + "published_time", DCTERMS + "issued"),
    (DCTERMS + "date", DC + "date", SCHEMA + "dateCreated", DCTERMS + "created"),
    (SCHEMA + "dateModified", DCTERMS + "modified", OG + "updated_time", _ARTICLE + "modified_time"),
)
PARTS = frozenset(
    SCHEMA + name
    for name in (
        "ImageObject ListItem BreadcrumbList Rating AggregateRating Offer AggregateOffer PostalAddress "
        "GeoCoordinates ContactPoint SearchAction ReadAction CommentAction EntryPoint InteractionCounter "
        "QuantitativeValue PropertyValue PropertyValueSpecification HowToStep HowToSection "
        "NutritionInformation SiteNavigationElement WebPageElement WPHeader WPFooter WPSideBar WPAdBlock "
        "OpeningHoursSpecification MonetaryAmount PriceSpecification UnitPriceSpecification "
        "SpeakableSpecification ItemList MerchantReturnPolicy OfferShippingDetails ShippingDeliveryTime "
        "DefinedRegion Answer Comment "
    ).split()
) | {
    FOAF + "Image",
    *(namespace + "Breadcrumb" for namespace in NAMESPACES["dv"]),
    VCARD + "Address",
}
"""Classes of entities that are only part of another entity, or of a page's layout."""
LAYOUT = PARTS | {SCHEMA + name for name in ("WebPage", "WebSite", "CollectionPage", "ItemPage", "WebPageElement")}
"""Classes of entities that hold a page together and are hardly ever what it is about."""


def is_visible(text: str) -> bool:
    """Return whether a text has visible characters."""
    return any(category(sign) not in _UNSEEN and sign not in _BLANKS for sign in text)


def clean_label(text: str) -> str:
    """Return a label on one line, with character references decoded."""
    return " ".join(decode_references(text).split())


def decode_references(text: str) -> str:
    """Decode character references, because pages escape too much: `&#39;` is an apostrophe. Decodes once, and only references
    with a semicolon, because URLs have `&copy=`."""
    return _REFERENCE.sub(_decode_reference, text) if "&" in text and ";" in text else text


def _decode_reference(found: re.Match[str]) -> str:
    return unescape(found[0]) if found[1][0] == "#" else html5.get(f"{found[1]};", found[0])
