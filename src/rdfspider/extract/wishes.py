"""What pages ask of crawlers: the content of `meta` elements and `X-Robots-Tag` headers enters, Robots leave.

Both hold lists: `noindex, nofollow`, `unavailable_after: 25 Jun 2026 15:00:00 PST`. A header may also name whom it means, and
then all that follows is for that crawler alone, until the next name: `otherbot: noindex, rdfspider: nofollow`. Of wishes that
contradict each other the strictest counts. What is not known (`max-snippet` and the like) asks nothing of us.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from rdfspider.extract.feeds.dates import read_date
from rdfspider.records import Robots

NAME = "rdfspider"
"""By which pages and servers address this crawler."""

# Longer lists are cut; nobody has so much to ask.
_MAX_CHARS = 10_000
_EVERYBODY = frozenset({"robots", "*"})
_WITH_VALUES = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_CRAWLER = re.compile(r"[a-z*][a-z0-9_.\-/]*", re.ASCII)
_ZONE = re.compile(r"\s+[A-Za-z]+$")


def read_wishes(lists: Iterable[str]) -> Robots:
    """All that some lists ask of this crawler, together."""
    words: set[str] = set()
    until = 0.0
    for text in lists:
        more, moment = _read_list(text[:_MAX_CHARS])
        words |= more
        until = _choose_earlier(until, moment)
    is_none = "none" in words
    return Robots(is_none or "noindex" in words, is_none or "nofollow" in words, "noarchive" in words, until)


def _read_list(text: str) -> tuple[set[str], float]:
    """The words that are meant for us, and the moment of `unavailable_after`, 0 where there is none."""
    words: set[str] = set()
    until = 0.0
    is_for_us = True
    pieces = re.split("[,;]", text)
    for number, piece in enumerate(pieces):
        name, colon, value = _split(piece)
        if colon and name not in _WITH_VALUES and _CRAWLER.fullmatch(name):
            is_for_us = name in _EVERYBODY or name == NAME
            name, colon, value = _split(value)
        if not is_for_us:
            continue
        if name == "unavailable_after":
            # A date may have a comma of its own, after the day of the week.
            rest = ",".join((value, *pieces[number + 1 : number + 2]))
            until = _choose_earlier(until, _read_moment(value) or _read_moment(rest))
        elif name not in _WITH_VALUES:
            words.update(name.split())
    return words, until


def _split(piece: str) -> tuple[str, str, str]:
    name, colon, value = piece.partition(":")
    return name.strip().lower(), colon, value


def _choose_earlier(one: float, other: float) -> float:
    """The stricter of two moments; 0 is none."""
    return min(one, other) if one and other else one or other


def _read_moment(text: str) -> float:
    """Seconds since 1970 of a date by RFC 822, RFC 850 or ISO 8601; 0 where it is none. A day is meant to its end."""
    text = text.strip()
    found = read_date(text) or read_date(_ZONE.sub("", text))
    if found is None:
        return 0.0
    try:
        moment = datetime.fromisoformat(found[0])
        if "dateTime" not in found[1]:
            moment += timedelta(days=1)
        # A zone that is missing or unknown is taken for UTC.
        return max((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp(), 1.0)
    except (ValueError, OverflowError):
        return 0.0
