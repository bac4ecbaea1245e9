"""Choose an entity's most informative facts from its contributions: up to three properties with their values.

Examples are a product's price, a book's author, an event's date. Facts are about the entity itself; only a few properties
of its nameless parts count: the price of its offer does, the date of a review does not. The order of the contributions does
not matter.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from rdfspider.index.entities.contributions import Contribution
from rdfspider.index.text.own_site import is_behind
from rdfspider.vocabulary.labels import ADDRESSES, DESCRIPTIONS, IMAGES, LABELS, SAME_AS
from rdfspider.vocabulary.names import find_short_name
from rdfspider.vocabulary.prefixes import PREFIXES, SCHEMA
from rdfspider.vocabulary.readable_values import write_price, write_value

Facts = tuple[tuple[str, str], ...]
MAX_FACTS, MAX_CHARS = 3, 120
_MAX_VALUES = 3
"""Per property."""
_SHORT_CHARS = 60
"""Longer values of properties outside `_GROUPS` are left out."""
_GROUPS = (
    "price lowPrice minPrice hasCurrencyValue priceRange",
    "author director byArtist creator composer maker",
    "jobTitle hasOccupation role",
    "hiringOrganization worksFor affiliation organization-name memberOf",
    "totalTime cookTime duration timeRequired",
    "startDate datePublished published_time issued dateCreated created uploadDate datePosted birthDate birth foundingDate date",
    "location address jobLocation addressLocality locality birthPlace homeLocation contentLocation based_near spatial",
    "brand manufacturer",
    "isbn isbn13 isbn10 issn",
    "publisher organizer provider performer actor",
    "ratingValue",
    "itemReviewed about",
    "telephone hasTelephone tel phone",
    "servesCuisine recipeCuisine genre category recipeCategory applicationCategory artMedium",
    "openingHours",
    "gtin gtin13 gtin12 sku mpn productID doi identifier",
    "recipeYield numberOfPages softwareVersion operatingSystem license",
    "dateModified modified",
)
"""Short names of properties, the most important group first; of each group the first property present is used. The properties
themselves show what kind of entity it is, so its class does not matter."""
_SINGLE = frozenset(
    at
    for at, group in enumerate(_GROUPS)
    if group.split()[0] in ("price", "totalTime", "startDate", "isbn", "ratingValue", "gtin", "dateModified")
)
"""Groups of which only one value is shown."""
_PRICES = "price lowPrice minPrice priceCurrency currency hasCurrencyValue hasCurrency"
_WITHIN = {
    outer: frozenset(names.lower().split())
    for outers, names in (
        ("offers offerdetails pricespecification haspricespecification", _PRICES),
        ("aggregaterating reviewrating", "ratingValue"),
        ("address adr hasaddress", "streetAddress street-address addressLocality locality addressCountry country-name"),
    )
    for outer in outers.split()
}
"""Properties of nameless parts that count as the entity's own, by the short name of the property that leads to the part."""
_ORDER = {name.lower(): at << 8 | place for at, group in enumerate(_GROUPS) for place, name in enumerate(group.split())}
_LAST, _NEVER = len(_GROUPS) << 8, -1
_SHOWN_ELSEWHERE = frozenset((*LABELS, *DESCRIPTIONS, *ADDRESSES, *IMAGES, *SAME_AS))
_DULL = frozenset(
    "width height position inLanguage priceCurrency currency salaryCurrency highPrice hasCurrency bestRating worstRating url "
    "lat long latitude longitude thumbnailUrl contentUrl embedUrl encodingFormat contentSize type usesVocabulary key uid size "
    "offers aggregateRating reviewRating potentialAction interactionStatistic interactionType interactionCount contactPoint "
    "contactType streetAddress postalCode addressRegion addressCountry target item itemListElement children query-input "
    "cssSelector xpath nextItem previousItem dataFeedElement creditText copyrightHolder content_tier opinion".lower().split()
)
"""Short names of properties that mean nothing on their own, or repeat others."""
_DULL_STARTS = (
    *(PREFIXES[name] for name in ("og", "fb", "twitter")),
    "fb:",
    "al:",
    "og:",
    "twitter:",
)
"""Metadata for other sites' programs."""
_CURRENCIES = (SCHEMA + "priceCurrency", SCHEMA + "currency", PREFIXES["gr"] + "hasCurrency")
_ADDRESS = ("street-address", "streetaddress", "locality", "addresslocality", "country-name", "addresscountry")
"""Parts of an address, in the order in which they are written on a letter."""
_DOUBLE = re.compile(r"\d\.\d{1,15}E\d{1,2}")
_TIMED = frozenset(("startdate", "enddate", "start", "end", "doortime"))
"""Short names of properties of which the hour matters, and not just the day."""


def choose_facts(contributions: Sequence[Contribution], labels: Collection[str]) -> Facts:
    """Choose the facts of an entity with these labels."""
    behind = [each for each in contributions if is_behind(each)] if len(contributions) > 1 else []
    stated = _gather_stated([each for each in contributions if each not in behind] if behind else contributions)
    if behind:
        stated = _gather_stated(behind) | stated
    if not stated:
        return ()
    facts: list[tuple[str, str]] = []
    last = -1
    for order, _, iri in sorted([(_find_order(iri), -len(each), iri) for iri, each in stated.items()]):
        is_known = order < _LAST
        if is_known and order >> 8 == last:
            continue
        limit = 1 if order >> 8 in _SINGLE else _MAX_VALUES
        value = _choose_value(stated[iri], find_short_name(iri), labels, limit)
        if value and order >> 8 == 0:
            value = _add_currency(value, contributions)
        if not value or not (is_known or len(value) <= _SHORT_CHARS) or value in [known for _, known in facts]:
            continue
        facts.append((iri, value if len(value) <= MAX_CHARS else f"{value[: MAX_CHARS - 1].rstrip()}…"))
        if len(facts) == MAX_FACTS:
            break
        last = order >> 8
    return tuple(facts)


def _gather_stated(contributions: Sequence[Contribution]) -> dict[str, list[tuple[str, ...]]]:
    """The values of each property that may be a fact."""
    stated: dict[str, list[tuple[str, ...]]] = {}
    for contribution in contributions:
        for iri, texts in contribution.values:
            if iri in stated:
                stated[iri].append(texts)
            elif _find_order(iri) >= 0:
                stated[iri] = [texts]
        if contribution.parts:
            for iri, texts in _read_parts(contribution):
                stated.setdefault(iri, []).append(texts)
    return stated


def _read_parts(contribution: Contribution) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield properties of nameless parts that count as the entity's own; an address becomes one line."""
    addresses: dict[str, dict[str, str]] = {}
    for path, texts in contribution.parts:
        outer, inner, name = _split_path(path)
        if name in _ADDRESS:
            addresses.setdefault(outer, {})[name] = texts[0]
        elif inner and _find_order(inner) >= 0:
            yield inner, texts
    for outer, lines in addresses.items():
        if _find_order(outer) >= 0:
            yield outer, (", ".join(lines[name] for name in _ADDRESS if name in lines),)


@lru_cache(maxsize=4096)
def _split_path(path: str) -> tuple[str, str, str]:
    """Split a path into the property that leads to a part, and the part's property with its short name.

    The latter two are empty unless the part's property counts as the entity's own."""
    outer, _, inner = path.partition(" ")
    name = find_short_name(inner) if inner else ""
    return (outer, inner, name) if name in _WITHIN.get(find_short_name(outer), ()) else (outer, "", "")


@lru_cache(maxsize=4096)
def _find_order(iri: str) -> int:
    """Return the rank of a property: its group, then its place in the group; negative if it is never shown."""
    name = find_short_name(iri)
    if iri in _SHOWN_ELSEWHERE or name in _DULL or iri.startswith(_DULL_STARTS):
        return _NEVER
    # A property without a web address has no known meaning.
    return _ORDER.get(name, _LAST if iri.startswith(("http://", "https://")) else _NEVER)


def _choose_value(stated: Sequence[tuple[str, ...]], name: str, labels: Collection[str], limit: int) -> str:
    """Return the most frequent value in readable form; empty if it only repeats a label."""
    if len(stated) == 1:
        return _join(stated[0], name, labels, limit)
    uses = Counter(value for texts in stated if (value := _join(texts, name, labels, limit)))
    return min(uses, key=lambda value: (-uses[value], len(value), value), default="")


def _join(texts: Iterable[str], name: str, labels: Collection[str], limit: int) -> str:
    """Join the first values of a property into one line; pages repeat some in another case, or after the property's name."""
    kept: list[str] = []
    seen: set[str] = set()
    for text in texts:
        if text in labels or text.startswith(("http://", "https://")):
            continue
        # Longer text is cut later anyway.
        shown = _write(" ".join(text[: 2 * MAX_CHARS].split()), name)
        start, _, end = shown.casefold().partition(": ")
        plain = end if end and start == name else shown.casefold()
        if plain in seen:
            continue
        seen.add(plain)
        kept.append(shown)
        if len(kept) == limit:
            break
    return ", ".join(kept)


def _write(text: str, name: str) -> str:
    """Write durations, dates and numbers as people do; return other text unchanged."""
    if text[:1] == "P" or text[:1].isdigit():
        if shown := write_value(text, name, has_time=name in _TIMED):
            return shown
        if _DOUBLE.fullmatch(text):
            return f"{float(text):.12g}"
    return text


def _add_currency(price: str, contributions: Sequence[Contribution]) -> str:
    """Append the currency to a price if all contributions agree on one."""
    found = {
        text
        for contribution in contributions
        for each in (contribution.values, contribution.parts)
        for iri, texts in each
        if iri in _CURRENCIES or _split_path(iri)[1] in _CURRENCIES
        for text in texts
    }
    (currency,) = found if len(found) == 1 else ("",)
    return write_price(price, currency) or price
