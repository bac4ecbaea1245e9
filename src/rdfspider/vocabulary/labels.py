"""Tables of properties that name, describe, show, date or identify an entity; a lower rank is preferred.

`is_visible` rejects labels without visible characters.
"""

from unicodedata import category

from rdfspider.vocabulary.prefixes import DC, DCTERMS, FOAF, PREFIXES, RDF, RDFS, SCHEMA, SKOS

_OG, _ARTICLE, _TWITTER, _RSS = (PREFIXES[name] for name in ("og", "article", "twitter", "rss"))
_VCARD, _OWL = PREFIXES["vcard"], PREFIXES["owl"]

RDF_TYPE = RDF + "type"
SUBCLASS_OF = RDFS + "subClassOf"

# White space, control characters, and combining marks; and blank characters that Unicode classes as letters or symbols.
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Me"))
_BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def is_visible(text: str) -> bool:
    """Return whether a text has visible characters."""
    return any(category(sign) not in _UNSEEN and sign not in _BLANKS for sign in text)


def _rank(*groups: tuple[str, ...]) -> dict[str, int]:
    return {iri: rank for rank, group in enumerate(groups) for iri in group}


LABELS = _rank(
    (SCHEMA + "name", SKOS + "prefLabel", FOAF + "name", _VCARD + "fn", "http://purl.org/goodrelations/v1#name"),
    (RDFS + "label", SCHEMA + "headline", DCTERMS + "title", DC + "title", _RSS + "title"),
    (_OG + "title", SCHEMA + "title", "http://usefulinc.com/ns/doap#name"),
    (_TWITTER + "title", FOAF + "nick", SCHEMA + "legalName", _VCARD + "organization-name"),
    (SCHEMA + "alternateName", SCHEMA + "alternativeHeadline", SKOS + "altLabel", SCHEMA + "caption"),
)
NO_LABEL_RANK = 9
"""The rank of a label that is only the end of the entity's IRI."""
DESCRIPTIONS = _rank(
    (SCHEMA + "description", DCTERMS + "description", DC + "description", _RSS + "description"),
    (_OG + "description", SKOS + "definition", DCTERMS + "abstract", SCHEMA + "abstract"),
    (RDFS + "comment", _VCARD + "note", _TWITTER + "description"),
    (SCHEMA + "text", SCHEMA + "articleBody", SCHEMA + "reviewBody"),
)
IMAGES = _rank(
    (SCHEMA + "image", FOAF + "depiction", FOAF + "img", _VCARD + "hasPhoto"),
    (_OG + "image", SCHEMA + "thumbnailUrl", SCHEMA + "logo", FOAF + "logo", _VCARD + "hasLogo"),
    (_TWITTER + "image", SCHEMA + "photo"),
)
IMAGE_ADDRESSES = (SCHEMA + "contentUrl", SCHEMA + "url")
"""Properties with the address of an image that is a node of its own."""
ADDRESSES = _rank(
    (SCHEMA + "url", _VCARD + "hasURL", FOAF + "homepage", _OG + "url", _RSS + "link"),
    (SCHEMA + "mainEntityOfPage", FOAF + "page"),
)
SAME_AS = frozenset((SCHEMA + "sameAs", _OWL + "sameAs"))
IDENTIFIERS = tuple(
    SCHEMA + name
    for name in ("gtin", "gtin13", "gtin14", "gtin12", "gtin8", "isbn", "productID", "sku", "mpn", "identifier")
)
"""Properties that identify a product within its site, the most reliable first."""
DATES = _rank(
    (SCHEMA + "datePublished", SCHEMA + "startDate", SCHEMA + "uploadDate", SCHEMA + "datePosted"),
    (_ARTICLE + "published_time", "article:published_time", DCTERMS + "issued"),
    (DCTERMS + "date", DC + "date", SCHEMA + "dateCreated", DCTERMS + "created"),
    (SCHEMA + "dateModified", DCTERMS + "modified", _OG + "updated_time", _ARTICLE + "modified_time"),
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
    "http://xmlns.com/foaf/0.1/Image",
    "http://data-vocabulary.org/Breadcrumb",
    "http://rdf.data-vocabulary.org/#Breadcrumb",
    "http://www.w3.org/2006/vcard/ns#Address",
}
"""Classes of entities that are only part of another entity, or of a page's layout."""
