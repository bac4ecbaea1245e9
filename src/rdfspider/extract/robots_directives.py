"""Robots directives: the content of `meta` elements or of `X-Robots-Tag` headers enters, a `Robots` record leaves.

Both hold lists: `noindex, nofollow`, `unavailable_after: 25 Jun 2026 15:00:00 PST`. A header may also name a crawler;
the directives that follow are for that crawler alone, until the next name: `otherbot: noindex, rdfspider: nofollow`. Of
contradictory directives the strictest counts. Unknown ones, such as `max-snippet`, have no effect. In doubt, a word is
a directive for every crawler, not the name of one.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from rdfspider.extract.datatypes import to_xsd_date
from rdfspider.records import Robots

NAME = "rdfspider"
"""The name under which pages and servers address this crawler."""

# Characters read of all lists together; real ones have a few dozen.
_MAX_CHARS = 10_000
# Most lists have none of these directives: they allow what is allowed anyway, or concern snippets.
_MEANT = re.compile("no(?:index|follow|ne|archive)|unavailable_after")
_OUR_NAMES = frozenset({NAME, "robots", "*"})
_UNTIL = "unavailable_after"
# Directives that are known. Those with a value start with this, and the value is one word.
_WITH_VALUE = "max-"
_DIRECTIVES = frozenset(
    "all index follow archive noindex nofollow none noarchive nocache nosnippet noimageindex notranslate nopagereadaloud noodp "
    f"noydir noai noimageai nositelinkssearchbox indexifembedded {_UNTIL}".split()
)
# Words of a date, split at white space and colons.
_MAX_DATE_WORDS = 12


def read_directives(lists: Iterable[str], *, may_name: bool = False) -> Robots:
    """The directives of all lists that apply to this crawler. Lists in headers may name crawlers (`may_name`); a `meta`
    element names its crawler in its own name."""
    words: set[str] = set()
    until = 0.0
    room_chars = _MAX_CHARS
    for text in lists:
        text = text[:room_chars]
        room_chars -= len(text)
        if _MEANT.search(text.lower()):
            more, moment = _read_list(text, may_name)
            words |= more
            until = _choose_earlier(until, moment)
    is_none = "none" in words
    return Robots(is_none or "noindex" in words, is_none or "nofollow" in words, "noarchive" in words, until)


def _read_list(text: str, may_name: bool) -> tuple[set[str], float]:
    """The directives that apply to this crawler, and the time of `unavailable_after`; 0 where there is none."""
    found: set[str] = set()
    until = 0.0
    is_for_us = True
    pieces = [_split(piece) for piece in re.split("[,;]", text)]
    for number, words in enumerate(pieces):
        is_value = False
        for place, word in enumerate(words):
            name = word.lower().removesuffix(":")
            has_colon = word[-1] == ":"
            if may_name and has_colon and _is_name(name, words[place + 1 : place + 2]):
                is_for_us = name in _OUR_NAMES
            elif is_for_us and not is_value:
                found.add(name)
                if name == _UNTIL:
                    date = _join(words[place + 1 :])
                    # A date may have a comma of its own, after the day of the week.
                    rest = ", ".join((date, *map(_join, pieces[number + 1 : number + 2])))
                    until = _choose_earlier(until, _read_moment(date) or _read_moment(rest))
            is_value = has_colon and name.startswith(_WITH_VALUE)
    return found, until


def _split(piece: str) -> list[str]:
    """The words of a piece; a colon ends the word before it."""
    words = piece.split()
    return " ".join(words).replace(" :", ":").replace(":", ": ").split() if ":" in piece else words


def _join(words: list[str]) -> str:
    return " ".join(words[:_MAX_DATE_WORDS]).replace(": ", ":")


def _is_name(word: str, following: list[str]) -> bool:
    """Whether a word with a colon is the name of a crawler: a name of this one, or no directive, with a directive after it."""
    if word in _OUR_NAMES:
        return True
    return word[:1].isalpha() and not _is_directive(word) and any(map(_is_directive, following))


def _is_directive(word: str) -> bool:
    word = word.lower().removesuffix(":")
    return word in _DIRECTIVES or word.startswith(_WITH_VALUE)


def _choose_earlier(one: float, other: float) -> float:
    """The earlier of two times; 0 means none."""
    return min(one, other) if one and other else one or other


def _read_moment(text: str) -> float:
    """Seconds since 1970 of a date by RFC 822, RFC 850 or ISO 8601; 0 where it is none. A date alone means its end."""
    before, _, zone = text.rpartition(" ")
    found = to_xsd_date(text) or (to_xsd_date(before) if zone.isalpha() else None)
    if found is None:
        return 0.0
    try:
        moment = datetime.fromisoformat(found[0])
        if "dateTime" not in found[1]:
            moment += timedelta(days=1)
        # A missing or unknown time zone is read as UTC.
        return max((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), 1.0)
    except (ValueError, OverflowError):
        return 0.0
