"""A record of the log, as the indexes take it: what became of a URL once, and what its page says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

from xxhash import xxh3_64

from rdfspider.archive.segments import Position
from rdfspider.archive.warc import MAX_URL_CHARS, Field, clean_value, make_fields_block
from rdfspider.records import Capture, Extraction, Failure, Judgement, Lease, Link, Problem, Verdict
from rdfspider.urls import resolve_links

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


_PAYLOAD_FIELD = "payload-at"
_MAX_MESSAGE_CHARS = 500
_MAX_RELATION_CHARS = 100
_FRAMES = frozenset({"iframe", "frame"})
_PLAIN = " L a/@href"
_LINE_END = "\r\n"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def describe_outcome(lease: Lease, verdict: Verdict, via: str) -> Iterator[Field]:
    """What became of the URL, and how the crawl came to it."""
    if len(lease.url) > MAX_URL_CHARS:
        yield "url", lease.url
    yield "verdict", verdict.state
    yield "reason", verdict.reason
    yield "rule", clean_value(verdict.rule[:_MAX_MESSAGE_CHARS])
    yield "status", str(verdict.status or "")
    yield "error", verdict.error
    yield "depth", str(lease.depth)
    yield "found-as", lease.found_as
    if via:
        yield "via", via
    elif lease.via:
        yield "via-id", str(lease.via)
    for url in lease.chain:
        yield "redirected-from", url
    if lease.attempts:
        yield "attempts", str(lease.attempts)


def describe_failure(failure: Failure) -> Iterator[Field]:
    """An exchange that gave no page."""
    yield "error-message", clean_value(failure.message[:_MAX_MESSAGE_CHARS])
    yield "fetchTimeMs", str(round(failure.duration_s * 1000))


def describe_capture(capture: Capture, digest: str, unchanged: str, payload: Position | None) -> Iterator[Field]:
    """The exchange, and where its page is in the archive."""
    yield "fetchTimeMs", str(round(capture.duration_s * 1000))
    yield "http-version", capture.http_version
    yield "content-type", capture.header("content-type")
    yield "etag", capture.header("etag")
    yield "last-modified", capture.header("last-modified")
    yield "x-robots-tag", ", ".join(value for name, value in capture.headers if name.lower() == "x-robots-tag")
    yield "body-bytes", str(len(capture.page.body))
    yield "wire-bytes", str(capture.wire_bytes)
    yield "truncated", capture.truncated
    yield "payload-digest", digest
    yield "unchanged", unchanged
    if payload is not None:
        yield _PAYLOAD_FIELD, f"{payload.segment} {payload.offset}"


def describe_extraction(extraction: Extraction) -> Iterator[Field]:
    """What was read from the page, but for its statements, text and links."""
    yield "media-type", extraction.media_type
    yield "charset", extraction.charset or ""
    yield "language", extraction.language or ""
    yield "title", extraction.title or ""
    yield "canonical", extraction.canonical or ""
    for syntax, nquads in extraction.statements.items():
        if nquads:
            yield "quads", f"{syntax} {nquads.count(chr(10))}"
    for problem in extraction.problems:
        yield (
            "problem",
            f"{problem.code} {problem.count} {problem.syntax or '-'} {problem.message[:_MAX_MESSAGE_CHARS]}",
        )


def describe_judgement(judgement: Judgement) -> Iterator[Field]:
    """What the page asks of crawlers, and what it repeats."""
    yield "robots", ", ".join(judgement.wishes)
    yield "duplicate", judgement.duplicate
    yield "duplicate-of", judgement.original


def write_links(links: Sequence[Link]) -> bytes:
    """Outlinks as Heritrix writes them, a line each: URL, hop (L link, E embedded), element and attribute; none twice.

    A link with a relation does not tell its element, so that is `*`, and the relation follows.
    """
    # Pages have hundreds of links, most of them without a relation: all of these are put together in one step.
    plain = dict.fromkeys([link.target for link in links if not link.relation])
    text = f"outlink: {f'{_PLAIN}{_LINE_END}outlink: '.join(plain)}{_PLAIN}{_LINE_END}" if plain else ""
    fields = [
        ("outlink", f"{link.target} E {link.relation}/@src")
        if link.relation in _FRAMES
        else ("outlink", f"{link.target} L */@href rel={link.relation[:_MAX_RELATION_CHARS]}")
        for link in links
        if link.relation
    ]
    if not text.isascii() or text.count("\n") != len(plain) or text.count("\r") != len(plain):
        # An address in normal form is ASCII without a line end; whoever made this one did not normalise it.
        fields, text = [("outlink", target + _PLAIN) for target in plain] + fields, ""
    return text.encode("utf-8", "replace") + make_fields_block(dict.fromkeys(fields))


def describe_redirect(capture: Capture) -> Iterator[Field]:
    """Where a redirect leads, as Heritrix writes it."""
    location = capture.location if capture.status in _REDIRECTS else ""
    target = resolve_links(capture.page.url, (location,))[location] if location else None
    if target:
        yield "outlink", f"{target} R Location:"


def read_payload_position(block: bytes) -> Position | None:
    """Where the archive holds the body that a metadata record speaks of; None where it holds none."""
    mark = f"\r\n{_PAYLOAD_FIELD}: ".encode()
    value = block.partition(mark)[2].partition(b"\r\n")[0].decode("utf-8", "replace")
    segment, _, offset = value.rpartition(" ")
    return Position(segment, int(offset)) if segment and offset.isdecimal() else None
