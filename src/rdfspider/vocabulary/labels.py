"""Tables of properties that name, describe, show, date or identify an entity; a lower rank is preferred.

Also what makes a text of a page a label: visible characters without markup, decoded references, one line.
"""

import re
from html import unescape
from html.entities import html5
from unicodedata import category

from rdfspider.vocabulary.prefixes import (
    DC,
    DCTERMS,
    FOAF,
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
MAX_TITLE = 140
"""Characters of a shown label."""
# Characters that only an icon font shows as something: the private use areas.
_GLYPHS = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|cite|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var|wbr)"
    r"(?:\s[^<>]{0,1000})?/?>",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"</?(?:article|aside|blockquote|body|br|button|center|dd|details|div|dl|dt|figcaption|figure|footer|form|h[1-6]|head|header|hr"
    r"|iframe|img|input|label|legend|li|main|nav|noscript|ol|option|p|picture|pre|script|section|select|source|style|summary|svg"
    r"|table|tbody|td|textarea|tfoot|th|thead|time|tr|ul|video)(?:\s[^<>]{0,1000})?/?>|<!--.{0,1000}?-->",
    re.IGNORECASE | re.DOTALL,
)
_CODE = re.compile(r"(?=(?:[^0-9]*[0-9]){10})[A-Za-z0-9_.:~-]{20,}|https?://\S+")
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
TITLE_RANK = 10
"""The rank of a page's title as a label of what the page is about."""
NO_LABEL_RANK = 11
"""The rank of a label that is only the end of the entity's IRI, or a code."""
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
    (SCHEMA + "datePublished", SCHEMA + "startDate", SCHEMA + "datePosted"),
    (_ARTICLE + "published_time", DCTERMS + "issued"),
    # A recipe with a video has that of the video too.
    (SCHEMA + "uploadDate",),
    (DCTERMS + "date", DC + "date", SCHEMA + "dateCreated", DCTERMS + "created"),
    (SCHEMA + "dateModified", DCTERMS + "modified", OG + "updated_time", _ARTICLE + "modified_time"),
)


def is_visible(text: str) -> bool:
    """Return whether a text has visible characters."""
    # Most texts begin with one.
    return ("!" <= text[:1] <= "~") or any(category(sign) not in _UNSEEN and sign not in _BLANKS for sign in text)


def is_code(label: str) -> bool:
    """Return whether a label is an identifier or an address rather than a name: some pages give these as names."""
    return len(label) >= 12 and " " not in label and _CODE.fullmatch(label) is not None


def clean_label(text: str) -> str:
    """Return a label on one line, without markup and the glyphs of icon fonts, and with character references decoded."""
    return flatten_label(clean_text(text))


def flatten_label(text: str) -> str:
    """Return a text without markup as a label: on one line, and without the glyphs of icon fonts."""
    return " ".join((text if text.isascii() else _GLYPHS.sub(" ", text)).split())


def clean_text(text: str) -> str:
    """Return a text without HTML's tags, and with character references decoded."""
    text = decode_references(text)
    return _TAG.sub(" ", _INLINE_TAG.sub("", text)) if "<" in text else text


def cut_label(label: str) -> str:
    """Return a label of the length of a title, cut after a word; some pages give whole articles as names."""
    if len(label) <= MAX_TITLE:
        return label
    head = label[: MAX_TITLE - 1]
    space = head.rfind(" ")
    return f"{(head[:space] if space > MAX_TITLE // 2 else head).rstrip(' ,;:.-–—')}…"


def normalise_label(label: str) -> str:
    """Return a label for comparison: case and spaces do not matter."""
    return " ".join(label.casefold().split())


def decode_references(text: str) -> str:
    """Decode character references, because pages escape too much: `&#39;` is an apostrophe. Decodes once, and only references
    with a semicolon, because URLs have `&copy=`."""
    return _REFERENCE.sub(_decode_reference, text) if "&" in text and ";" in text else text


def _decode_reference(found: re.Match[str]) -> str:
    return unescape(found[0]) if found[1][0] == "#" else html5.get(f"{found[1]};", found[0])
