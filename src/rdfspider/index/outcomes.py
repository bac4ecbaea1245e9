"""A record of the log, as the indexes take it: what became of a URL once, and what its page says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

from xxhash import xxh3_64

from rdfspider.archive.segments import Position
from rdfspider.records import Problem

REPLACE, TOUCH, REMOVE = "replace", "touch", "remove"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A metadata record and the conversions after it; or a page of an archive from elsewhere, as if it had been crawled."""

    url: str
    time: float
    """When it was asked for, in seconds since 1970: WARC-Date."""
    source: str
    """The log's file: a key of `views.Cursors`."""
    offset: int
    """Where its first record begins in that file."""
    end: int
    """Where the next outcome begins."""
    effect: str
    """replace: the page says this now. touch: what it says is as before (304, the same bytes, a failure that may pass).
    remove: it is no longer there (gone, 404, a redirect) or asks not to be indexed."""
    verdict: str = "done"
    reason: str = "fetched"
    status: int = 0
    error: str = ""
    media_type: str = ""
    charset: str = ""
    language: str = ""
    title: str = ""
    canonical: str = ""
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    body_bytes: int = 0
    digest: str = ""
    payload: Position | None = None
    """Where the archive holds the body; None where it does not."""
    redirected_from: tuple[str, ...] = ()
    duplicate: str = ""
    duplicate_of: str = ""
    problems: tuple[Problem, ...] = ()
    statements: Mapping[str, str] = field(default_factory=dict)
    """N-Quads by syntax, as in `Extraction.statements`; empty unless the effect is `replace`."""
    text: str = ""
    outlinks: tuple[str, ...] = ()
    due: float = 0.0
    """When the page is to be removed, because it asks for that, in seconds since 1970; 0 for never."""


class Stamp(NamedTuple):
    """Which of two outcomes of a URL counts: the newer one, and of the same moment always the same. Equal ones are the same."""

    time_us: int
    digest: str
    effect: str
    says: str
    """A digest of what the page says; empty unless the effect is `replace`."""

    def __str__(self) -> str:
        return f"{self.time_us} {self.effect} {self.says or '-'} {self.digest}"


NEVER = Stamp(-1, "", "", "")
"""Older than every outcome."""


def make_stamp(outcome: Outcome) -> Stamp:
    """When it was, then its digest, then what it says: the same capture may have been read twice, and not alike."""
    return Stamp(round_time(outcome.time), outcome.digest, outcome.effect, _digest_sayings(outcome))


def parse_stamp(text: str) -> Stamp:
    """The stamp that was written so."""
    time_us, effect, says, digest = text.split(" ", 3)
    return Stamp(int(time_us), digest, effect, says.strip("-"))


def round_time(time_s: float) -> int:
    """A time as stamps have it, in microseconds since 1970."""
    return max(round(time_s * 1e6), 0) if isfinite(time_s) else 0


def _digest_sayings(outcome: Outcome) -> str:
    if outcome.effect != REPLACE:
        return ""
    digest = xxh3_64()
    for part in (outcome.title, outcome.text, *(part for item in sorted(outcome.statements.items()) for part in item)):
        digest.update(part.encode("utf-8", "replace"))
        digest.update(b"\0")
    return digest.hexdigest()
