"""Find contradictions: the values of a property with their sources enter; the rule by which they conflict leaves.

This does not decide which value is right, only which values to compare. The page of an entity and the report on a site use
it. `docs/entities.md` has the rules.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import combinations, pairwise
from typing import Any

from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.results import StatedValue, ValueKind
from rdfspider.urls import host_of
from rdfspider.vocabulary.dates import read_date
from rdfspider.vocabulary.labels import ADDRESSES, DESCRIPTIONS, IMAGES, RDF_TYPE, SAME_AS
from rdfspider.vocabulary.names import find_short_name
from rdfspider.vocabulary.prefixes import NAMESPACES, OWL, PREFIXES, RDFS, SCHEMA, XHV

Origin = tuple[str, str]
"""A source: a page, and the syntax of the statement; empty if unknown."""
SINGLE, SITES = "single", "sites"
"""The rules: an entity can have only one value; or several sites each state exactly one value, and they differ."""

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
"""Short names of properties, in lower case: vocabularies differ, but use the same words."""
_MANY = (
    {RDF_TYPE, *SAME_AS, *DESCRIPTIONS, *IMAGES, *ADDRESSES}
    | {
        SCHEMA + name
        for name in "about mentions keywords comment review knows knowsAbout isPartOf hasPart subjectOf".split()
    }
    | {SCHEMA + name for name in "mainEntity potentialAction dateModified offers aggregateRating isRelatedTo".split()}
)
"""Properties of which an entity may have several values, or each page its own."""
_MANY_VOCABULARIES = (RDFS, OWL, XHV, *NAMESPACES["og"], PREFIXES["twitter"])
_SCHEMA_TERM = re.compile(r"https?://(?:www\.)?schema\.org/", re.IGNORECASE)
_ISO_DATE = re.compile(r"-?\d{4,}(?:-\d\d(?:-\d\d)?)?(?=$|T)")
_DATES = frozenset("bday birthday validthrough issued created published_time".split())
_SIGNS = re.compile(r"[\W_]+")
_DAY_S = 86_400
# All earlier dates are read as this one.
_EARLIEST = read_date("-0001") or 0.0
# Sources with different values that are compared, each with each.
_SIDES = 50
# Values that a person would compare differ within this many characters.
_TEXT_CHARS = 1_000


def is_single(name: str) -> bool:
    """Return whether an entity can have only one value of the property with this short name."""
    return name.lower() in _SINGLE


def judge_values(predicate: str, values: Iterable[tuple[StatedValue, Iterable[Origin]]]) -> str:
    """Return the rule by which these values, each with its sources, contradict each other; empty if they do not."""
    name = find_short_name(predicate)
    if name not in _SINGLE and (predicate in _MANY or predicate.startswith(_MANY_VOCABULARIES)):
        return ""
    # Texts in different languages may all be right: each language is judged alone.
    by_language: dict[str, list[tuple[StatedValue, Iterable[Origin]]]] = {}
    for value, origins in values:
        if value.kind == ValueKind.BLANK and name not in _SINGLE:
            return ""
        by_language.setdefault(_find_language(value), []).append((value, origins))
    for stated in by_language.values():
        meanings = _find_value_meanings(name, [value for value, _ in stated])
        grouped = [(meaning, origins) for meaning, (_, origins) in zip(meanings, stated, strict=True)]
        if name in _SINGLE and find_sides(grouped):
            return SINGLE
        by_site = _group(grouped, lambda origin: _find_site(origin[0])) if name not in _SINGLE else {}
        if all(len(texts) == 1 for texts in by_site.values()) and len(set(by_site.values())) > 1:
            return SITES
    return ""


def find_sides(stated: Iterable[tuple[str, Iterable[Origin]]]) -> list[tuple[Origin, Origin]]:
    """Return pairs of sources without a common value.

    A source with several values does not conflict with one that has some of them: an entity may have two telephones."""
    by_origin = _group(stated, lambda origin: origin)
    # One source represents all with the same values.
    by_texts = {texts: origin for origin, texts in reversed(by_origin.items())}
    sides = list(by_texts.items())[-_SIDES:]
    return [(one, other) for (texts, one), (others, other) in combinations(sides, 2) if texts.isdisjoint(others)]


def group_values(predicate: str, values: Sequence[StatedValue]) -> list[list[StatedValue]]:
    """Group values with the same meaning, in the order of the first of each group."""
    groups: dict[str, list[StatedValue]] = {}
    for value, meaning in zip(values, _find_value_meanings(find_short_name(predicate), values), strict=True):
        groups.setdefault(meaning, []).append(value)
    return list(groups.values())


def find_meanings(name: str, texts: Sequence[str]) -> list[str]:
    """Return a key for each text, equal for the same meaning; `name` is the property's short name in lower case."""
    return _merge_dates(name, texts, [normalise_text(name, text) for text in texts])


def _find_language(value: StatedValue) -> str:
    """Return the language of a value; empty for dates and numbers, which inherit the page's language tag in HTML."""
    has_words = any(sign.isalpha() for sign in value.text[:_TEXT_CHARS]) and not _ISO_DATE.match(
        value.text.strip().upper()
    )
    return value.language.partition("-")[0] if has_words else ""


def _group(
    stated: Iterable[tuple[str, Iterable[Origin]]], key: Callable[[Origin], Hashable]
) -> dict[Any, frozenset[str]]:
    """Group the stated values by source or by site."""
    found: dict[Hashable, set[str]] = {}
    for text, origins in stated:
        for origin in origins:
            found.setdefault(key(origin), set()).add(text)
    return {name: frozenset(texts) for name, texts in found.items()}


def _find_value_meanings(name: str, values: Sequence[StatedValue]) -> list[str]:
    meanings = [_normalise_value(name, value) for value in values]
    return _merge_dates(name, [value.text for value in values], meanings)


def normalise_text(name: str, text: str) -> str:
    """Return a key that is equal for texts with the same meaning; `name` is the property's short name in lower case."""
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
        # For words, neither case nor punctuation matters.
        return "".join(sign for sign in text if sign.isalnum()) or text


def _normalise_value(name: str, value: StatedValue) -> str:
    if value.inside and name in _PLACES:
        inside = {find_short_name(each): values for each, values in value.inside.items()}
        degrees = [inside[each] for each in ("latitude", "lat", "longitude", "long") if each in inside]
        return " ".join(_normalise_degree(values[0].text) for values in degrees) or value.text
    if value.kind == ValueKind.IRI and not _SCHEMA_TERM.match(value.text):
        address = value.text[:_TEXT_CHARS].casefold()
        return address.removeprefix("https://").removeprefix("http://").removeprefix("www.").rstrip("/")
    return normalise_text(name, value.text)


def _normalise_degree(text: str) -> str:
    """Round a degree to three decimals, some hundred metres."""
    try:
        return f"{round(float(text[:40].replace(',', '.')), 3):.3f}"
    except ValueError:
        return text[:_TEXT_CHARS].strip()


def _merge_dates(name: str, texts: Sequence[str], meanings: Sequence[str]) -> list[str]:
    """Merge the keys of compatible dates.

    A year or a month that begins another date equals it. Times less than a day apart are equal, because clocks differ and a
    date without a time may mean any of them."""
    merged = {meaning: meaning for meaning in meanings}
    if "date" in name or name in _DATES:
        first, kept = float("-inf"), ""
        moments = ((read_date(text), meaning) for text, meaning in zip(texts, meanings, strict=True))
        known = [(moment, meaning) for moment, meaning in moments if moment is not None and moment > _EARLIEST]
        for moment, meaning in sorted(known):
            if moment - first >= _DAY_S:
                first, kept = moment, meaning
            merged[meaning] = kept
    dates = sorted({meaning for meaning in merged.values() if _ISO_DATE.fullmatch(meaning)})
    longer = {date: other for date, other in reversed([*pairwise(dates)]) if other.startswith(f"{date}-")}
    for meaning, kept in merged.items():
        while kept in longer:
            kept = longer[kept]
        merged[meaning] = kept
    return [merged[meaning] for meaning in meanings]


def _find_site(page: str) -> str:
    return _open_domains().domain(host_of(page))


@cache
def _open_domains() -> Domains:
    return Domains(bundled_suffix_list(), 1)
