"""An outcome in, the fields of its metadata record out (`docs/archive.md` lists them all).

Fields that other archives have too are named as there: `via`, `fetchTimeMs`, `outlink`.
"""

from collections.abc import Iterator, Sequence

from rdfspider.archive.segments import Position
from rdfspider.archive.warc import MAX_URL_CHARS, Field, clean_value, make_fields_block
from rdfspider.records import Capture, Extraction, Failure, Judgement, Lease, Link, Verdict
from rdfspider.urls import resolve_links

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
