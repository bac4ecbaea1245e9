"""The values of a property, and the pages that give each, in; whether they contradict each other out, and by which rule.

Nothing is decided for anybody: it only tells which values should be looked at side by side. `docs/entities.md` has the rules.
"""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import TYPE_CHECKING

from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.index.labels import ADDRESSES, DESCRIPTIONS, IMAGES, RDF_TYPE, SAME_AS
from rdfspider.index.names import SCHEMA, find_short_name
from rdfspider.urls import host_of

if TYPE_CHECKING:
    from rdfspider.search.values import Value

SINGLE, SITES = "single", "sites"
"""The rules: a thing has one of these by nature; or several sites each state exactly one value, and not the same."""

_NUMBERS = frozenset(
    "gtin gtin8 gtin12 gtin13 gtin14 isbn issn telephone faxnumber tel vatid taxid leicode duns postalcode serialnumber".split()
)
_PLACES = frozenset("latitude longitude lat long geo".split())
_SINGLE = (
    _NUMBERS
    | _PLACES
    | frozenset(
        "birthdate deathdate bday birthday birthplace deathplace gender foundingdate dissolutiondate datepublished datecreated "
        "dateposted uploaddate startdate enddate validthrough issued created published_time price lowprice highprice "
        "pricecurrency availability ratingvalue bestrating ratingcount reviewcount numberofpages duration totaltime preptime "
        "cooktime elevation sku mpn productid copyrightyear headline legalname streetaddress eventstatus".split()
    )
)
"""Short names of properties, in lower case: vocabularies differ, the words hardly do."""
_MANY = (
    {RDF_TYPE, *SAME_AS, *DESCRIPTIONS, *IMAGES, *ADDRESSES}
    | {
        SCHEMA + name
        for name in "about mentions keywords comment review knows knowsAbout isPartOf hasPart subjectOf".split()
    }
    | {SCHEMA + name for name in "mainEntity potentialAction dateModified offers aggregateRating isRelatedTo".split()}
)
"""Of these a thing may well have several, or each page its own."""
_MANY_VOCABULARIES = (
    "http://www.w3.org/2000/01/rdf-schema#",
    "http://www.w3.org/2002/07/owl#",
    "http://www.w3.org/1999/xhtml/vocab#",
    "http://ogp.me/ns#",
    "https://ogp.me/ns#",
    "https://dev.twitter.com/cards#",
)
_SCHEMA_TERM = re.compile(r"https?://(?:www\.)?schema\.org/", re.IGNORECASE)
_ISO_DATE = re.compile(r"-?\d{4,}(?:-\d\d(?:-\d\d)?)?(?=$|T)")
_SIGNS = re.compile(r"[\W_]+")
# More of a text tells no two values apart that a person would compare.
_TEXT_CHARS = 1_000


def is_single(name: str) -> bool:
    """Whether a thing has one value of a property by nature; by its short name."""
    return name.lower() in _SINGLE


def judge_values(predicate: str, values: Iterable[tuple["Value", Iterable[str]]]) -> str:
    """By which rule these values contradict each other; empty where they do not."""
    name = find_short_name(predicate)
    if name not in _SINGLE and (predicate in _MANY or predicate.startswith(_MANY_VOCABULARIES)):
        return ""
    # Texts in several languages may all be right: each language is judged alone.
    by_language: dict[str, list[tuple[str, Iterable[str]]]] = {}
    for value, pages in values:
        if value.kind == "blank" and name not in _SINGLE:
            return ""
        by_language.setdefault(_find_language(value), []).append((_normalise_value(name, value), pages))
    for stated in by_language.values():
        known = drop_shortened([text for text, _ in stated])
        kept = [(text, pages) for text, pages in stated if text in known]
        if len(known) < 2:
            continue
        if name in _SINGLE and _differ(_group(kept, str)):
            return SINGLE
        by_site = _group(kept, _find_site) if name not in _SINGLE else {}
        if len(by_site) > 1 and all(len(texts) == 1 for texts in by_site.values()) and _differ(by_site):
            return SITES
    return ""


def _find_language(value: "Value") -> str:
    """The language of words. Dates and numbers have none, though every text of a page in HTML is given that of the page."""
    has_words = any(sign.isalpha() for sign in value.text[:_TEXT_CHARS]) and not _ISO_DATE.match(
        value.text.strip().upper()
    )
    return value.language.partition("-")[0] if has_words else ""


def _group(stated: Iterable[tuple[str, Iterable[str]]], key: Callable[[str], str]) -> dict[str, frozenset[str]]:
    """What is stated, by page or by site."""
    found: dict[str, set[str]] = {}
    for text, pages in stated:
        for page in pages:
            found.setdefault(key(page), set()).add(text)
    return {name: frozenset(texts) for name, texts in found.items()}


def _differ(groups: dict[str, frozenset[str]]) -> bool:
    return len(set(groups.values())) > 1


def normalise_text(name: str, text: str) -> str:
    """A text that is the same for values of a property that mean the same; the property by its short name, in lower case."""
    text = " ".join(text[:_TEXT_CHARS].split()).casefold()
    if name in _PLACES:
        return _normalise_degree(text)
    if name in _NUMBERS:
        return _SIGNS.sub("", text.removeprefix("tel:")).lstrip("0")
    text = _SCHEMA_TERM.sub("", text)
    if date := _ISO_DATE.match(text.upper()):
        return date[0]
    try:
        return str(Decimal(text).normalize()) if len(text) < 40 else text
    except InvalidOperation:
        # Of words neither their case nor the signs between them matter.
        return "".join(sign for sign in text if sign.isalnum()) or text


def _normalise_value(name: str, value: "Value") -> str:
    if value.kind == "blank" and name in _PLACES:
        inside = {find_short_name(each): values for each, values in value.inside.items()}
        degrees = [inside[each] for each in ("latitude", "lat", "longitude", "long") if each in inside]
        return " ".join(_normalise_degree(values[0].text) for values in degrees) or value.text
    if value.kind == "iri" and not _SCHEMA_TERM.match(value.text):
        address = value.text[:_TEXT_CHARS].casefold()
        return address.removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")
    return normalise_text(name, value.text)


def _normalise_degree(text: str) -> str:
    """To three decimals, some hundred metres."""
    try:
        return f"{round(float(text[:40].replace(',', '.')), 3):.3f}"
    except ValueError:
        return text[:_TEXT_CHARS].strip()


def drop_shortened(texts: list[str]) -> set[str]:
    """Without years and months that are the beginning of another date: who says less does not contradict."""
    known = set(texts)
    dates = {text for text in known if _ISO_DATE.fullmatch(text)}
    return {text for text in known if text not in dates or not any(other.startswith(f"{text}-") for other in dates)}


def _find_site(page: str) -> str:
    return _open_domains().domain(host_of(page))


@cache
def _open_domains() -> Domains:
    return Domains(bundled_suffix_list(), 1)
