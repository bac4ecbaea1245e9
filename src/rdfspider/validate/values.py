"""The forms of literal values: a property of schema.org enters, a check leaves, which turns a text into a Verdict or None.

Schema.org is lenient, and so are these: a property that may have any text is checked only where schema.org itself prescribes
a form (prices, currencies, product numbers, languages).
"""

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

from rdfspider.vocabulary.dates import read_date
from rdfspider.vocabulary.schema_terms import (
    DATA_TYPES,
    PropertyFacts,
    find_lineage,
    load_members,
    suggest_member,
)


class Verdict(NamedTuple):
    """A rule that a value breaks, and how."""

    rule: str
    message: str


Check = Callable[[str], Verdict | None]

_TEXTS = frozenset("Text CssSelectorType PronounceableText XPathType Quantity Distance Energy Mass".split())
"""Ranges that allow any text. Quantities are texts with a unit, such as `7 ft`."""
_DATES, _NUMBERS = frozenset(("Date", "DateTime")), frozenset(("Number", "Integer", "Float"))
_OPEN_ENUMERATIONS = frozenset(("Enumeration", "QualitativeValue"))
"""Enumerations that people may add to."""
_PRICES = frozenset(("price", "lowPrice", "highPrice", "minPrice", "maxPrice"))
_CURRENCIES = frozenset(("priceCurrency", "currency"))
_GTINS = {"gtin": (8, 12, 13, 14), "gtin8": (8,), "gtin12": (12,), "gtin13": (13,), "gtin14": (14,)}

_CLOCK = r"(?:[01]\d|2[0-4])(?::?[0-5]\d(?::?[0-6]\d(?:[.,]\d+)?)?)?"
_ZONE = r"(?:Z|[+-]\d\d(?::?\d\d)?)"
_MONTH, _MONTHDAY = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_DAY = rf"[+-]?\d{{4,}}(?:-{_MONTH}(?:-{_MONTHDAY})?|-?W[0-5]\d(?:-?[1-7])?)?|\d{{4}}{_MONTH}{_MONTHDAY}"
_DATE = re.compile(rf"(?:(?:{_DAY})(?:T{_CLOCK}{_ZONE}?|{_ZONE})?|--\d\d(?:-?\d\d)?)")
_TIME = re.compile(rf"T?{_CLOCK}{_ZONE}?")
_PART = r"\d+(?:[.,]\d+)?"
_DURATION = re.compile(
    rf"[+-]?P(?=\d|T)(?:{_PART}Y)?(?:{_PART}M)?(?:{_PART}W)?(?:{_PART}D)?"
    rf"(?:T(?=\d)(?:{_PART}H)?(?:{_PART}M)?(?:{_PART}S)?)?"
)
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^\s]+")
_TERM = re.compile(r"https?://(?:www\.)?schema\.org/", re.IGNORECASE)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_CODE = re.compile(r"[A-Z]{3,5}")
_COMMA_NUMBER = re.compile(r"\d+,\d+")
_BOOLEANS = frozenset(("true", "false", "1", "0"))
_SHOWN_CHARS = 60


@lru_cache(maxsize=4096)
def find_check(name: str, facts: PropertyFacts) -> Check | None:
    """Return the check of a property's literals, without their quotes; None if any will do."""
    if name in _PRICES:
        return _check_price
    if name in _CURRENCIES:
        return _check_currency
    if name in _GTINS:
        return lambda text: _check_gtin(text, _GTINS[name])
    if name == "inLanguage":
        return _check_language
    if name in ("ratingValue", "bestRating", "worstRating"):
        return _check_rating
    ranges = facts.ranges
    if not ranges or ranges & _TEXTS or "DataType" in ranges:
        return None
    checks = _list_checks(ranges)
    classes = ranges - DATA_TYPES - {"Duration"}
    members = list_members(ranges)
    if members and classes == find_enumerations(ranges) and not classes & _OPEN_ENUMERATIONS:
        checks.append(lambda text: _check_member(text, find_enumerations(ranges)))
    elif classes:
        wanted = classes | (ranges & {"URL"})
        checks.append(lambda text: _check_thing(text, wanted))
    return checks[0] if len(checks) == 1 else lambda text: _check_any(text, checks)


@cache
def find_enumerations(ranges: frozenset[str]) -> frozenset[str]:
    """Return those of some classes that are enumerations."""
    return frozenset(name for name in ranges if "Enumeration" in find_lineage(name))


@cache
def list_members(ranges: frozenset[str]) -> frozenset[str]:
    """Return the members of those of some classes that are enumerations."""
    wanted = find_enumerations(ranges)
    return frozenset(
        name for name, enumeration in load_members().items() if not wanted.isdisjoint(find_lineage(enumeration))
    )


def check_member_iri(iri: str, ranges: frozenset[str]) -> Verdict | None:
    """Check an IRI that stands for the member of an enumeration; those of other vocabularies are not judged."""
    start = _TERM.match(iri)
    if start is None or iri[start.end() :] in list_members(ranges) or not list_members(ranges):
        return None
    return _refuse_member(iri, iri[start.end() :], find_enumerations(ranges))


def quote_value(text: str) -> str:
    """Write a value in a message: on one line, and not too long."""
    shown = " ".join(text[: 2 * _SHOWN_CHARS].split())
    return f'"{shown}"' if len(shown) <= _SHOWN_CHARS else f'"{shown[:_SHOWN_CHARS]}…"'


def _list_checks(ranges: frozenset[str]) -> list[Check]:
    checks: list[Check] = []
    if ranges & _DATES:
        checks.append(_check_date)
    if "Time" in ranges:
        checks.append(_check_time)
    if "Duration" in ranges:
        checks.append(_check_duration)
    if ranges & _NUMBERS:
        checks.append(_check_integer if not ranges & (_NUMBERS - {"Integer"}) else _check_number)
    if "Boolean" in ranges:
        checks.append(_check_boolean)
    if "URL" in ranges:
        checks.append(_check_url)
    return checks


def _check_any(text: str, checks: list[Check]) -> Verdict | None:
    """Accept what one of the checks accepts; the first verdict is that of the data type that people mean most likely."""
    verdicts: list[Verdict] = []
    for check in checks:
        verdict = check(text)
        if verdict is None:
            return None
        verdicts.append(verdict)
    # A property of a thing or its URL, such as `image`, may have any text, though a thing would be better.
    is_path = text.strip().startswith("/") and " " not in text.strip()
    return verdicts[-1] if verdicts[0].rule == "url-form" and not is_path else verdicts[0]


def _check_date(text: str) -> Verdict | None:
    text = text.strip()
    if _DATE.fullmatch(text):
        return None
    if read_date(text) is not None:
        return Verdict(
            "date-style", f"{quote_value(text)} is a date, but not in the form of ISO 8601, such as 2026-05-01T19:30"
        )
    return Verdict("date-form", f"{quote_value(text)} is no date in the form of ISO 8601, such as 2026-05-01T19:30")


def _check_time(text: str) -> Verdict | None:
    if _TIME.fullmatch(text.strip()):
        return None
    return Verdict("date-form", f"{quote_value(text)} is no time in the form of ISO 8601, such as 19:30")


def _check_duration(text: str) -> Verdict | None:
    if _DURATION.fullmatch(text.strip()):
        return None
    return Verdict("duration-form", f"{quote_value(text)} is no duration in the form of ISO 8601, such as PT20M")


def _check_number(text: str) -> Verdict | None:
    if _NUMBER.fullmatch(text.strip()):
        return None
    return Verdict("number-form", f"{quote_value(text)} is no number; it has digits and a point alone, such as 4.5")


def _check_integer(text: str) -> Verdict | None:
    text = text.strip()
    if not _NUMBER.fullmatch(text) or not float(text).is_integer():
        return Verdict("number-form", f"{quote_value(text)} is no whole number; it has digits alone, such as 12")
    return None


def _check_price(text: str) -> Verdict | None:
    if _NUMBER.fullmatch(text.strip()):
        return None
    return Verdict("price-form", f"{quote_value(text)} is no price; it has digits and a point alone, such as 12.50")


def _check_rating(text: str) -> Verdict | None:
    if _COMMA_NUMBER.fullmatch(text.strip()):
        return Verdict("number-form", f"{quote_value(text)} has a comma; a number has a point, such as 4.5")
    return None


def _check_currency(text: str) -> Verdict | None:
    # Schema.org also allows the symbols of cryptocurrencies and the like, of which there is no list.
    if _CODE.fullmatch(text.strip()):
        return None
    return Verdict("currency-form", f"{quote_value(text)} is no currency; write its code of three letters, such as EUR")


def _check_boolean(text: str) -> Verdict | None:
    if _TERM.sub("", text.strip()).lower() in _BOOLEANS:
        return None
    return Verdict("boolean-form", f"{quote_value(text)} is neither true nor false")


def _check_url(text: str) -> Verdict | None:
    if _URL.fullmatch(text.strip()):
        return None
    return Verdict("url-form", f"{quote_value(text)} is no whole URL, such as https://example.org/tea")


def _check_language(text: str) -> Verdict | None:
    if _LANGUAGE.fullmatch(text.strip()) or _URL.fullmatch(text.strip()):
        return None
    return Verdict("language-form", f"{quote_value(text)} is no language tag, such as en or pt-BR")


def _check_gtin(text: str, lengths: tuple[int, ...]) -> Verdict | None:
    digits = text.strip()
    if _URL.fullmatch(digits):
        return None
    if not (digits.isascii() and digits.isdigit()) or len(digits) not in lengths:
        wanted = " or ".join(map(str, lengths))
        return Verdict("gtin-form", f"{quote_value(text)} is no such product number, which has {wanted} digits")
    # GS1 General Specifications, 7.9: weights 3 and 1 from the right, without the last digit.
    total = sum(int(digit) * (3 if at % 2 == 0 else 1) for at, digit in enumerate(reversed(digits[:-1])))
    if (total + int(digits[-1])) % 10:
        return Verdict("gtin-form", f"{quote_value(text)} has a wrong check digit")
    return None


def _check_member(text: str, enumerations: frozenset[str]) -> Verdict | None:
    text = text.strip()
    start = _TERM.match(text)
    name = text[start.end() :] if start else text
    if name in list_members(enumerations):
        if start:
            return None
        return Verdict(
            "enumeration-form", f"{quote_value(text)} should be written as its IRI, https://schema.org/{name}"
        )
    if start is None and _URL.fullmatch(text):
        return None
    return _refuse_member(text, name, enumerations)


def _refuse_member(text: str, name: str, enumerations: frozenset[str]) -> Verdict:
    members = frozenset(load_members()[member] for member in list_members(enumerations))
    meant = suggest_member(name[:_SHOWN_CHARS], members)
    advice = (
        f"did you mean https://schema.org/{meant}?"
        if meant
        else f"such as https://schema.org/{min(list_members(enumerations))}"
    )
    return Verdict("enumeration-value", f"{quote_value(text)} is no {' or '.join(sorted(enumerations))}; {advice}")


def _check_thing(text: str, classes: frozenset[str]) -> Verdict | None:
    if text.strip() in list_members(classes):
        return _check_member(text, find_enumerations(classes))
    if _URL.fullmatch(text.strip()):
        return None
    return Verdict("text-for-thing", f"{quote_value(text)} is a text, where schema.org has {write_choice(classes)}")


def write_choice(names: frozenset[str]) -> str:
    """Write the names of classes in words, and not all of many."""
    known = sorted(names)
    return " or ".join(known) if len(known) <= 4 else f"{', '.join(known[:4])} or others"
