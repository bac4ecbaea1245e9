"""Contradictions within a page: its things by syntax enter; values in which two syntaxes differ leave, where there can be one.

Things of two syntaxes are the same if they have the same IRI; or related classes and the same name, which no other thing has, and
no address or number that would tell them apart. A post and the recipe in it may have one name, and are two things.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from rdfspider.validate.conflict_rules import find_meanings, find_sides, is_single
from rdfspider.validate.statements import SyntaxStatements, read_text
from rdfspider.validate.values import Verdict, quote_value

_PARTS = frozenset(("offers", "aggregateRating", "geo", "address"))
"""Properties whose nameless values count as part of the thing."""
_NAMES = frozenset(("name", "headline"))
_GENERAL = frozenset(("Thing", "CreativeWork", "WebPage", "WebPageElement", "Intangible", "MediaObject"))
"""Classes that do not make two things alike."""
_MARKS = frozenset(
    "url contentUrl embedUrl sku mpn productID gtin gtin8 gtin12 gtin13 gtin14 isbn identifier sameAs".split()
)
"""Properties that tell things apart, if both have one and no value is the same."""
_MAX_THINGS = 200
_MAX_VALUES = 100
"""The most values of a property, and of parts with it, that are compared."""

Conflict = tuple[SyntaxStatements, str, str, Verdict]
"""The syntax of one value, the thing, the path below it, and what is wrong."""


def find_page_conflicts(syntaxes: Sequence[SyntaxStatements]) -> Iterator[Conflict]:
    """Find what two syntaxes of the page state differently of one thing."""
    if len(syntaxes) < 2:
        return
    named = [_name_things(one) for one in syntaxes]
    for at, (one, things) in enumerate(zip(syntaxes, named, strict=True)):
        for key, thing in things.items():
            for other, others in zip(syntaxes[at + 1 :], named[at + 1 :], strict=True):
                same = others.get(key)
                if thing and same and _are_related(one, thing, other, same):
                    yield from _compare(one, thing, other, same)


def _name_things(one: SyntaxStatements) -> dict[str, str]:
    """Return things by IRI and by name; a name of several things stands for none, and maps to an empty text."""
    found: dict[str, str] = {}
    for thing, values in list(one.things.items())[:_MAX_THINGS]:
        if thing not in one.types:
            continue
        if thing[0] == "<":
            found[thing] = thing
            continue
        for name in {
            read_text(value).strip().casefold() for term, value in values if term.name in _NAMES and value[0] == '"'
        }:
            found[name] = "" if name in found or not name else thing
    return found


def _are_related(one: SyntaxStatements, thing: str, other: SyntaxStatements, same: str) -> bool:
    if thing == same:
        return True
    here, there = one.find_classes(thing), other.find_classes(same)
    alike = (here.lineage & {*there.names}) | (there.lineage & {*here.names})
    if alike <= _GENERAL:
        return False
    marks, others = _list_marks(one, thing), _list_marks(other, same)
    return all(marks[name] & others[name] for name in marks.keys() & others.keys())


def _list_marks(one: SyntaxStatements, thing: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for term, value in one.things.get(thing, ()):
        if term.name in _MARKS:
            text = read_text(value) if value[0] == '"' else value[1:-1]
            found.setdefault(term.name, set()).add(
                text.strip().removeprefix("https:").removeprefix("http:").rstrip("/")
            )
    return found


def _compare(one: SyntaxStatements, thing: str, other: SyntaxStatements, same: str) -> Iterator[Conflict]:
    here, there = _list_single(one, thing), _list_single(other, same)
    for path in here.keys() & there.keys():
        name = path.rpartition(".")[2].lower()
        texts = [*here[path], *there[path]]
        origins = [("", one.syntax)] * len(here[path]) + [("", other.syntax)] * len(there[path])
        stated = [(meaning, [origin]) for meaning, origin in zip(find_meanings(name, texts), origins, strict=True)]
        if find_sides(stated):
            message = f"{path} is {_write(here[path])} in {one.syntax}, and {_write(there[path])} in {other.syntax}"
            yield one, thing, path, Verdict("syntax-conflict", message)


def _write(texts: Iterable[str]) -> str:
    return " and ".join(quote_value(text) for text in [*texts][:3])


def _list_single(one: SyntaxStatements, thing: str) -> dict[str, list[str]]:
    """Return the values by path of the properties that have one value, also those of parts."""
    found: dict[str, list[str]] = {}
    parts: dict[str, str] = {}
    for term, value in one.things.get(thing, ()):
        if value[0] == '"':
            _add_single(found, term.name, "", value)
        elif value[0] == "_" and term.name in _PARTS and len(parts) < _MAX_VALUES:
            parts[value] = term.name
    for part, name in parts.items():
        for inner, text in islice(one.things.get(part, ()), _MAX_THINGS):
            if text[0] == '"':
                _add_single(found, inner.name, f"{name}.", text)
    return found


def _add_single(found: dict[str, list[str]], name: str, start: str, literal: str) -> None:
    if is_single(name):
        known = found.setdefault(f"{start}{name}", [])
        if len(known) < _MAX_VALUES:
            known.append(read_text(literal))
