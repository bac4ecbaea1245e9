"""The Finding: one thing that is wrong with the structured data of a page, with where it is; and the table of all rules.

A rule's severity can be changed by a profile (`profiles.py`); its code and its words are here alone.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace


class Severity(StrEnum):
    """How bad a finding is; the worst first."""

    ERROR = "error"
    """Data is lost, or readers cannot use it."""
    WARNING = "warning"
    """It is wrong, or readers may understand it differently."""
    HINT = "hint"
    """It could be better."""

    __repr__ = str.__repr__

    @property
    def rank(self) -> int:
        """Its place in the order, the worst first."""
        return _RANKS[self]


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}
ERROR, WARNING, HINT = Severity


class Rule(NamedTuple):
    """What a rule asks for, and how bad it is to break it."""

    severity: Severity
    meaning: str


RULES = {
    "unknown-class": Rule(ERROR, "A class that its vocabulary does not have."),
    "class-case": Rule(WARNING, "A class that is not written as its vocabulary writes it."),
    "unknown-property": Rule(WARNING, "A property that its vocabulary does not have."),
    "property-case": Rule(WARNING, "A property that is not written as its vocabulary writes it."),
    "property-of-class": Rule(WARNING, "A property that the class does not have."),
    "superseded": Rule(HINT, "A class or property that another one has superseded."),
    "value-class": Rule(WARNING, "A thing of another class than the property's values have."),
    "thing-for-text": Rule(WARNING, "A thing where the property has a text, a number or a date."),
    "text-for-thing": Rule(HINT, "A text where the property has a thing."),
    "url-for-text": Rule(WARNING, "A URL where the property has a text, a number or a date."),
    "empty-value": Rule(WARNING, "A value without any text."),
    "empty-thing": Rule(WARNING, "A thing that nothing is said about."),
    "date-form": Rule(ERROR, "A date or time that is not in the form of ISO 8601, such as 2026-05-01T19:30."),
    "date-style": Rule(WARNING, "A date that can be read, but is not in the form of ISO 8601."),
    "duration-form": Rule(ERROR, "A duration that is not in the form of ISO 8601, such as PT20M."),
    "number-form": Rule(ERROR, "A number with other signs than digits and a point."),
    "price-form": Rule(ERROR, "A price with other signs than digits and a point."),
    "currency-form": Rule(ERROR, "A currency that is not a code of three letters, such as EUR."),
    "boolean-form": Rule(WARNING, "Something else than true or false."),
    "url-form": Rule(WARNING, "An address that is not a whole URL."),
    "enumeration-value": Rule(ERROR, "Something that is no member of the enumeration."),
    "enumeration-form": Rule(HINT, "A member of an enumeration that is not written as its IRI."),
    "language-form": Rule(WARNING, "A language that is not a language tag, such as en or pt-BR."),
    "gtin-form": Rule(WARNING, "A product number of the wrong length, or with a wrong check digit."),
    "escaped-twice": Rule(WARNING, "A text with references such as &amp; where a character is meant."),
    "dangling-reference": Rule(WARNING, "A reference to something on the page that nothing describes."),
    "syntax-conflict": Rule(WARNING, "Two syntaxes of the page state different values where there can be one."),
    "missing-required": Rule(ERROR, "A property that the profile requires."),
    "missing-recommended": Rule(HINT, "A property that the profile recommends."),
    "markup": Rule(WARNING, "Markup that could not be read as it is."),
    "shape": Rule(ERROR, "Data that a SHACL shape does not allow."),
    "unknown-term": Rule(WARNING, "A term that a vocabulary other than schema.org does not have."),
}
"""By code. The severity of `markup` and `shape` is that of the fault, or of the shape."""


ABOUT_CLASSES = frozenset(("unknown-class", "class-case"))
"""Rules that are about the class of a thing, whatever property has it as a value."""


class Finding(Struct, frozen=True, gc=False):
    """One fault of one page; equal ones are counted."""

    severity: Severity
    rule: str
    """A code of `RULES`."""
    message: str
    page: str
    syntax: str = ""
    """Empty if it concerns no syntax alone."""
    path: str = ""
    """From the outermost thing on the page: `Product.offers.price`; empty for a fault of the page as a whole."""
    type: str = ""
    """The class of the thing itself, by short name; empty if it has none."""
    value: str = ""
    """The value that is wrong, cut if it is long; empty where something is missing."""
    node: str = ""
    """The term of the thing in the page's N-Quads: `<https://…>` or `_:…`."""
    line: int = 0
    """In the source of the page, from 1; 0 if unknown."""
    count: int = 1


def merge_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Count equal findings once, wherever they are on the page, and put the worst first."""
    merged: dict[tuple[str, ...], Finding] = {}
    for found in findings:
        key = (found.rule, found.message, found.syntax, found.path, found.value)
        known = merged.get(key)
        merged[key] = found if known is None else replace(known, count=known.count + found.count)
    return sorted(merged.values(), key=lambda found: found.severity.rank)


def group_alike(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group findings of one rule and path, which differ in the value, and what is recommended for one thing; the worst first."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for found in findings:
        where = found.node if found.rule == "missing-recommended" else found.path
        groups.setdefault((found.severity, found.rule, where, found.syntax), []).append(found)
    return sorted(groups.values(), key=lambda group: (group[0].severity.rank, group[0].rule, group[0].path))
