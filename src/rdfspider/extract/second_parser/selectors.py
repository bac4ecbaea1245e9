"""The CSS selectors that extraction uses: a selector enters, a function that tells whether an element matches leaves.

Known are lists, the combinators of descendants and children, names, classes, attributes with their operators and the flag `i`,
and `:is` and `:not`. Selectors are written in this package, so one that is not understood is a bug and raises ValueError.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Protocol


class Selectable(Protocol):
    """What a selector asks of an element."""

    tag: str
    attrs: dict[str, str]
    parent: Any


Matches = Callable[[Selectable], bool]

_IDENT = r"(?:[\w\-]|\\.)+"
_PART = re.compile(
    rf"(?P<tag>{_IDENT})"
    rf"|\.(?P<class>{_IDENT})"
    rf'|\[(?P<name>{_IDENT})(?:(?P<operator>[~*^]?=)"(?P<value>[^"]*)"(?P<flag>\s+i)?)?\]'
    r"|:(?P<function>is|not)\("
)
_COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "=": str.__eq__,
    "~=": lambda value, word: word in value.split(),
    "^=": str.startswith,
    "*=": str.__contains__,
}
_SPACE = re.compile(r"\s*")
_COMBINATOR = re.compile(r"\s*([>,)])|\s+")


@lru_cache(maxsize=256)
def compile_selector(selector: str) -> Matches:
    """The function for a selector."""
    matches, end = _read_list(f"{selector})", 0)
    if end != len(selector) + 1:
        raise ValueError(f"not a selector that is known here: {selector}")
    return matches


def _read_list(text: str, place: int) -> tuple[Matches, int]:
    """Alternatives, up to a closing parenthesis, and where that ends."""
    alternatives: list[Matches] = []
    around: Matches | None = None
    while True:
        matches, place = _read_compound(text, place)
        if around is not None:
            matches = _both(matches, around)
        combinator = _COMBINATOR.match(text, place)
        if combinator is None:
            raise ValueError(f"not a selector that is known here: {text}")
        place = combinator.end()
        sign = combinator[1] or " "
        if sign in ",)":
            alternatives.append(matches)
        if sign == ")":
            return _any(alternatives), place
        around = {",": None, ">": _parent_is(matches), " ": _ancestor_is(matches)}[sign]


def _read_compound(text: str, place: int) -> tuple[Matches, int]:
    tests: list[Matches] = []
    place = _SPACE.match(text, place).end()  # type: ignore[union-attr]
    while part := _PART.match(text, place):
        place = part.end()
        if part["function"]:
            inner, place = _read_list(text, place)
            tests.append(inner if part["function"] == "is" else _not(inner))
        elif part["tag"]:
            tests.append(_tag_is(part["tag"]))
        elif part["class"]:
            tests.append(_attribute_is("class", "~=", part["class"], False))
        else:
            name = part["name"].replace("\\", "")
            tests.append(_attribute_is(name, part["operator"], part["value"] or "", bool(part["flag"])))
    if not tests:
        raise ValueError(f"not a selector that is known here: {text}")
    return (tests[0] if len(tests) == 1 else _all(tests)), place


def _tag_is(tag: str) -> Matches:
    return lambda element: element.tag == tag


def _attribute_is(name: str, operator: str | None, wanted: str, folds: bool) -> Matches:
    if operator is None:
        return lambda element: name in element.attrs
    # HTML lists attributes whose values any selector compares without regard to case; these two are used here.
    folds = folds or name in ("rel", "type")
    compare = _COMPARISONS[operator]
    wanted = wanted.lower() if folds else wanted

    def matches(element: Selectable) -> bool:
        value = element.attrs.get(name)
        return value is not None and compare(value.lower() if folds else value, wanted)

    return matches


def _all(tests: list[Matches]) -> Matches:
    return lambda element: all(test(element) for test in tests)


def _any(tests: list[Matches]) -> Matches:
    return tests[0] if len(tests) == 1 else lambda element: any(test(element) for test in tests)


def _both(first: Matches, second: Matches) -> Matches:
    return lambda element: first(element) and second(element)


def _not(test: Matches) -> Matches:
    return lambda element: not test(element)


def _parent_is(test: Matches) -> Matches:
    return lambda element: any(test(above) for above in islice(_above(element), 1))


def _ancestor_is(test: Matches) -> Matches:
    return lambda element: any(test(above) for above in _above(element))


def _above(element: Selectable) -> Iterator[Selectable]:
    """The elements around an element, from the inside out; the tree itself, at the end, has no name."""
    above = element.parent
    while above is not None and hasattr(above, "tag"):
        yield above
        above = above.parent
