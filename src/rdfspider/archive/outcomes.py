"""The Outcome: the result of one visit to a URL, and what its page says. A shard's archive writes it, and the indexes read it.

A Finished lease enters, a flat record leaves that `archive/metadata.py` writes to WARC files and reads from them. An OutcomeStamp
decides which of two outcomes of a URL counts.
"""

import time
from collections.abc import Mapping
from enum import StrEnum
from math import isfinite
from typing import NamedTuple

from msgspec import Struct, field
from xxhash import xxh3_64, xxh3_64_hexdigest

from rdfspider.archive.segments import Position
from rdfspider.codes import REFUSALS, Reason, VerdictState
from rdfspider.records import Capture, Extraction, Failure, Finished, Page, Problem


class Effect(StrEnum):
    """How an outcome changes what the indexes have of its page."""

    REPLACE = "replace"
    """The page has new content."""
    TOUCH = "touch"
    """The content stays: 304, the same bytes, a refusal, or a failure that may be temporary."""
    REMOVE = "remove"
    """The page no longer exists (404, 410, a soft 404, a redirect), or has `noindex`."""


class Outcome(Struct, frozen=True, gc=False):
    """What became of a URL once. Texts are empty where there is nothing to say; `docs/archive.md` explains the fields.

    No dataclass, unlike most records: the shard and each index make one for each page, and a dataclass takes six times as long.
    """

    url: str
    time: float
    """When it was requested, in seconds since 1970: WARC-Date."""
    source: str
    """The file of the log that it was read from: a key of `index.view.Cursors`; empty until it is written."""
    offset: int
    """Where its first record begins in that file."""
    end: int
    """Where the next outcome begins."""
    effect: Effect
    verdict: str = VerdictState.DONE
    reason: str = Reason.FETCHED
    rule: str = ""
    status: int = 0
    error: str = ""
    error_message: str = ""
    depth: int | None = None
    """None if the record has no depth, as in external archives."""
    found_as: str = ""
    via: str = ""
    via_id: int = 0
    redirected_from: tuple[str, ...] = ()
    attempts: int = 0
    fetch_ms: int | None = None
    """None if no request was made."""
    http_version: str = ""
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    x_robots_tag: str = ""
    link: str = ""
    """The `Link` headers, of which long ones are cut."""
    body_bytes: int | None = None
    """None if there was no response."""
    wire_bytes: int | None = None
    truncated: str = ""
    digest: str = ""
    """The payload digest."""
    unchanged: str = ""
    """The profile of a revisit record, if the body is that of an earlier visit."""
    payload: Position | None = None
    """Where the archive keeps the body; None if it does not."""
    target: str = ""
    """The target of a redirect."""
    directives: str = ""
    """The robots directives of the page and its header, each with its source."""
    duplicate: str = ""
    duplicate_of: str = ""
    media_type: str = ""
    charset: str = ""
    language: str = ""
    title: str = ""
    canonical: str = ""
    problems: tuple[Problem, ...] = ()
    statements: Mapping[str, str] = field(default_factory=dict)
    """N-Quads by syntax, as in `Extraction.statements`; when read from the log, empty unless the effect is REPLACE."""
    text: str = ""
    outlinks: tuple[str, ...] = ()
    """The targets of the page's links. A shard writes them from the extraction, which also has their relations."""
    relations: Mapping[str, str] = field(default_factory=dict)
    """The relations of those links that have one, by target, as read from the log: `rel`, or `iframe` or `frame`. A target has
    nofollow, ugc or sponsored if no link on the page to it is followed."""
    anchors: Mapping[str, str] = field(default_factory=dict)
    """The texts of those links that have one, by target, as read from the log: the first of each, with single spaces, at most
    `outlinks.MAX_ANCHOR_CHARS` characters."""
    due: float = 0.0
    """When the page is to be removed according to its `unavailable_after`, in seconds since 1970; 0 for never."""
    content: str = ""
    """`digest_content` of this outcome, where that was made for several who need its stamp."""


# Reasons that decide whatever the status: the page's own content, and refusals, for which no request was made.
_EFFECTS_BY_REASON: dict[str, Effect] = {
    Reason.NOINDEX: Effect.REMOVE,
    Reason.SOFT_404: Effect.REMOVE,
    **dict.fromkeys(REFUSALS, Effect.TOUCH),
}
# Statuses that differ from their hundreds: not modified, and temporary (too slow, wrong connection, too early, too often).
_EFFECTS_BY_STATUS = dict.fromkeys((304, 408, 421, 425, 429), Effect.TOUCH)
_EFFECTS_BY_HUNDRED = {2: Effect.REPLACE, 3: Effect.REMOVE, 4: Effect.REMOVE}


# Of `Link` headers; nearly all have less than a thousand characters.
_MAX_LINK_CHARS = 8192
# What stands for an exchange without a page, and for a page from which nothing was extracted.
_NO_CAPTURE = Capture(Page("", b""), 0, "", "", (), (), "", 0.0, 0.0, 0)
_NO_EXTRACTION = Extraction("", "")


def decide_effect(reason: str, status: int, unchanged: str = "") -> Effect:
    """Decide how an outcome changes what the indexes have of its page.

    A page that is no longer public, has moved, or is a soft 404 is removed. Any failure may be temporary, even that of a name
    lookup: only a response removes.
    """
    effect = _EFFECTS_BY_REASON.get(reason) or _EFFECTS_BY_STATUS.get(status)
    effect = effect or _EFFECTS_BY_HUNDRED.get(status // 100, Effect.TOUCH)
    return Effect.TOUCH if effect is Effect.REPLACE and unchanged else effect


def make_outcome(
    finished: Finished, *, via: str = "", digest: str = "", unchanged: str = "", payload: Position | None = None
) -> Outcome:
    """Make the outcome of a finished lease; `via` is the URL of `lease.via`, if known."""
    lease, verdict, exchange, extraction, _, judgement = finished
    capture = exchange if isinstance(exchange, Capture) else _NO_CAPTURE
    has_page = capture is not _NO_CAPTURE
    said = extraction or _NO_EXTRACTION
    effect = decide_effect(verdict.reason, verdict.status, unchanged)
    return Outcome(
        url=lease.url,
        time=(exchange.started if exchange is not None else 0.0) or time.time(),
        source="",
        offset=0,
        end=0,
        effect=effect,
        verdict=verdict.state,
        reason=verdict.reason,
        rule=verdict.rule,
        status=verdict.status,
        error=verdict.error,
        error_message=exchange.message if isinstance(exchange, Failure) else "",
        depth=lease.depth,
        found_as=lease.found_as,
        via=via,
        via_id=0 if via else lease.via,
        redirected_from=lease.chain,
        attempts=lease.attempts,
        fetch_ms=round(exchange.duration_s * 1000) if exchange is not None else None,
        http_version=capture.http_version,
        content_type=capture.header("content-type"),
        etag=capture.header("etag"),
        last_modified=capture.header("last-modified"),
        x_robots_tag=", ".join(capture.list_header("x-robots-tag")),
        link=", ".join(capture.list_header("link"))[:_MAX_LINK_CHARS],
        body_bytes=len(capture.page.body) if has_page else None,
        wire_bytes=capture.wire_bytes if has_page else None,
        truncated=capture.truncated,
        digest=digest,
        unchanged=unchanged,
        payload=payload,
        target=capture.redirect or "",
        directives=", ".join(judgement.directives),
        duplicate=judgement.duplicate,
        duplicate_of=judgement.original,
        media_type=said.media_type,
        charset=said.charset or "",
        language=said.language or "",
        title=said.title or "",
        canonical=said.canonical or "",
        problems=said.problems,
        statements=said.statements,
        text=said.text,
        due=judgement.robots.unavailable_after if effect is not Effect.REMOVE else 0.0,
    )


class OutcomeStamp(NamedTuple):
    """Orders outcomes of a URL: the greatest counts, so the newest, or at equal times always the same one. Equal stamps mean the
    same outcome."""

    time_us: int
    digest: str
    effect: str
    content: str
    """A digest of the page's content; empty unless the effect is REPLACE."""

    def __str__(self) -> str:
        return f"{self.time_us} {self.effect} {self.content or '-'} {self.digest}"


NEVER = OutcomeStamp(-1, "", "", "")
"""Older than every outcome."""


def make_stamp(outcome: Outcome) -> OutcomeStamp:
    """Make a stamp of time, digest, effect and content: a capture may have been extracted twice, with different results."""
    return OutcomeStamp(
        round_time(outcome.time), outcome.digest, outcome.effect, outcome.content or digest_content(outcome)
    )


def parse_stamp(text: str) -> OutcomeStamp:
    """Read a stamp that `str` wrote."""
    time_us, effect, content, digest = text.split(" ", 3)
    return OutcomeStamp(int(time_us), digest, effect, content.strip("-"))


def round_time(time_s: float) -> int:
    """Convert a time to the microseconds since 1970 of stamps."""
    return max(round(time_s * 1e6), 0) if isfinite(time_s) else 0


def digest_content(outcome: Outcome) -> str:
    """Make the digest of a page's content that its stamp has; of one that has moved, that of where. Dates of archives are in
    whole seconds, in which a page may have moved to two places."""
    if outcome.effect != Effect.REPLACE:
        return xxh3_64_hexdigest(outcome.target.encode("utf-8", "replace")) if outcome.target else ""
    digest = xxh3_64()
    for part in (outcome.title, outcome.text, *(part for item in sorted(outcome.statements.items()) for part in item)):
        digest.update(part.encode("utf-8", "replace"))
        digest.update(b"\0")
    return digest.hexdigest()
