"""Writes a shard's archive: a Finished lease enters, WARC records leave.

Every final outcome has a metadata record. A kept page has a request record and a response record (or a revisit record, if the
archive already has its payload); what was extracted has a conversion record per syntax, and one for the text.
"""

import time
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from rdfspider.archive.metadata import write_metadata
from rdfspider.archive.outcomes import Outcome, make_outcome
from rdfspider.archive.recovery import recover_segments
from rdfspider.archive.segments import CommittedList, Position, SegmentKind, SegmentName, Series, find_newest, kind_of
from rdfspider.archive.volumes import Volumes
from rdfspider.archive.warc import (
    Field,
    clean_url,
    clean_value,
    compute_digest,
    format_date,
    make_fields_block,
    make_id,
    make_record,
    make_request,
    make_response_head,
    pack_record,
)
from rdfspider.codes import Truncation
from rdfspider.config import ArchiveConfig
from rdfspider.records import Capture, Finished
from rdfspider.vocabulary.mechanics import has_data

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
_STANDARD = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
# The reasons for a cut block in WARC 1.1, 5.13; an unwanted type is not among them.
_TRUNCATIONS = frozenset({"", Truncation.LENGTH, Truncation.TIME, Truncation.DISCONNECT})


class RevisitProfile(StrEnum):
    """How it is known that the archive already has the body of a response (WARC 1.1, 6.7)."""

    SAME_PAYLOAD = "identical-payload-digest"
    NOT_MODIFIED = "server-not-modified"


class Written(NamedTuple):
    """What the frontier stores about a written outcome."""

    position: Position
    """Where its metadata record begins."""
    digest: str
    """The payload digest, for `Lease.digest`; empty if the body is incomplete, or the page must be fetched in full again."""
    captured: float
    """For `Lease.captured`: when the archived payload was fetched; 0 if there is none."""


class ArchiveWriter:
    """The archive of a shard, open for writing: bodies go to `pages` segments, everything else to `facts` segments.

    The order of a commit: `write_outcome` for each outcome, `flush`, `sync` (in a thread), the frontier's commit with
    `positions()`, its sync, `publish`.
    """

    def __init__(
        self,
        folder: Path,
        config: ArchiveConfig,
        *,
        prefix: str,
        info: Mapping[str, str],
        committed: Mapping[str, int] | None,
        name: str = "",
        first_number: int = 1,
    ) -> None:
        """`info` describes the crawl in the first record of each segment; `committed` is the frontier's last `positions()`;
        `name` begins the name of the shard's folder on a volume. Segments with numbers below `first_number` grow no more."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._keep = config.keep
        self._info = dict(info)
        self._volumes = Volumes(folder, config.volumes, name)
        lengths, lost = recover_segments(self._volumes, prefix, committed or {})
        self.lost = lost
        """After damage: URLs with a position in one of these segments, at or after its offset, must be fetched again."""
        self._pages, self._facts = (
            Series(
                self._volumes,
                _choose_last(self._volumes, SegmentName(prefix, kind, first_number), committed or {}, lengths),
                {name: length for name, length in lengths.items() if kind_of(name) == kind},
                config.segment_bytes,
                self._make_info,
            )
            for kind in (SegmentKind.PAGES, SegmentKind.FACTS)
        )
        self._flushed = self._synced = self._pages.open_lengths() | self._facts.open_lengths()
        self._committed = CommittedList(folder)
        self.publish()

    def write_outcome(self, finished: Finished, via: str = "") -> Written:
        """Append all records of one outcome; `via` is the URL of `lease.via`. The body of a page with `noarchive` or `noindex` is
        left out."""
        exchange, extraction, judgement = finished.exchange, finished.extraction, finished.judgement
        payload = self._write_payload(finished, exchange) if isinstance(exchange, Capture) else _Payload()
        outcome = make_outcome(
            finished, via=via, digest=payload.digest, unchanged=payload.unchanged or "", payload=payload.position
        )
        about = _About(clean_url(outcome.url), format_date(outcome.time), exchange.address if exchange else "")
        identity = make_id()
        block = write_metadata(outcome, extraction.links if extraction is not None else ())
        members = [_make_metadata(about, identity, payload.identity, block)]
        if not payload.unchanged:
            members += _make_conversions(about, payload.identity or identity, outcome)
        position = self._facts.append(members)[0]
        if judgement.robots.noindex or (isinstance(exchange, Capture) and exchange.status >= 400):
            # The page leaves the indexes, so the next response must not count as unchanged, but bring the content again.
            return Written(position, "", 0.0)
        return Written(position, payload.digest, payload.captured)

    def flush(self) -> None:
        """Write what was appended to the files; raise OSError if the disk refuses, after which it may be called again."""
        self._pages.flush()
        self._facts.flush()
        self._flushed = self._pages.open_lengths() | self._facts.open_lengths()

    def sync(self) -> None:
        """Make what was flushed durable; it may run in a thread while outcomes are written, but not during a flush."""
        flushed = self._flushed
        self._pages.sync()
        self._facts.sync()
        self._synced = flushed

    def find_full(self, least_bytes: int) -> list[str]:
        """List all volumes if each has less free space than this, so that writing should stop; else none, and segments on a disk
        with less space stop growing."""
        full = self._volumes.find_full(least_bytes)
        if not full:
            self._pages.leave_full_disk(least_bytes)
            self._facts.leave_full_disk(least_bytes)
        return full

    @property
    def free_bytes(self) -> int:
        """The free space for new segments."""
        return self._volumes.free_bytes

    def positions(self) -> dict[str, int]:
        """Return the length of each segment at the last flush, to be stored with the frontier's commit."""
        return {**self._pages.closed, **self._facts.closed, **self._flushed}

    def growing_positions(self) -> dict[str, int]:
        """Return those of segments that may still grow."""
        return dict(self._flushed)

    def closed_positions(self) -> dict[str, int]:
        """Return those of segments that grow no more."""
        return {**self._pages.closed, **self._facts.closed}

    @property
    def closed_segments(self) -> int:
        """How many segments grow no more."""
        return len(self._pages.closed) + len(self._facts.closed)

    def publish(self) -> None:
        """Publish to readers what the last sync made durable; the frontier's commit must already be durable."""
        self._committed.write((self._pages.closed, self._facts.closed), self._synced)

    def close(self) -> None:
        """Close the files; records that were not flushed are dropped."""
        self._pages.close()
        self._facts.close()

    def _write_payload(self, finished: Finished, capture: Capture) -> "_Payload":
        """Append the records of a page if it is kept; return what its metadata says about the body."""
        lease, extraction, judgement = finished.lease, finished.extraction, finished.judgement
        is_wanted = not (judgement.robots.noarchive or judgement.robots.noindex)
        is_whole = capture.truncated in ("", Truncation.LENGTH)
        body = capture.page.body
        if capture.status == 304:
            digest = lease.digest
            unchanged: RevisitProfile | None = RevisitProfile.NOT_MODIFIED
            keeps = bool(lease.captured) and self._keep != "none"
        else:
            digest = judgement.digest or (compute_digest(body) if is_whole and body else "")
            keeps = is_wanted and (
                self._keep == "all"
                or (self._keep == "structured" and extraction is not None and has_data(extraction.statements))
            )
            # A page that newly forbids a copy counts as changed, so that its latest outcome no longer refers to the old copy.
            is_known = bool(lease.captured) if keeps else is_wanted or not lease.captured
            is_same = bool(digest) and digest == lease.digest and is_known
            unchanged = RevisitProfile.SAME_PAYLOAD if is_same else None
        if not keeps:
            return _Payload(digest, unchanged, captured=lease.captured if unchanged else 0.0)
        about = _About(clean_url(lease.url), format_date(capture.started), capture.address)
        identity = make_id()
        request = _make_request_record(about, identity, capture)
        if unchanged:
            member = _make_revisit(about, identity, capture, digest, unchanged, lease.captured)
            captured = lease.captured
        else:
            media_type = extraction.media_type if extraction is not None else ""
            member = _make_response(about, identity, capture, digest or compute_digest(body), media_type)
            captured = capture.started
        return _Payload(digest, unchanged, identity, self._pages.append((member, request))[0], captured)

    def _make_info(self, name: str) -> bytes:
        """Make the first record of a segment."""
        block = make_fields_block([*self._info.items(), ("format", "WARC File Format 1.1"), ("conformsTo", _STANDARD)])
        fields = [
            ("WARC-Record-ID", make_id()),
            ("WARC-Date", format_date(time.time())),
            ("WARC-Filename", name),
            ("Content-Type", "application/warc-fields"),
        ]
        return make_record("warcinfo", fields, block)


class _Payload(NamedTuple):
    """How a page's body was archived."""

    digest: str = ""
    unchanged: RevisitProfile | None = None
    """How it is known that the body is the last capture's; None if it differs."""
    identity: str = ""
    """The id of the response or revisit record; empty if the body is not kept."""
    position: Position | None = None
    captured: float = 0.0


class _About(NamedTuple):
    """The header fields that all records of an outcome share."""

    url: str
    date: str
    address: str

    def fields(self, identity: str, content_type: str) -> Iterator[Field]:
        yield "WARC-Record-ID", identity
        yield "WARC-Date", self.date
        yield "WARC-Target-URI", self.url
        yield "Content-Type", content_type


def _choose_last(
    volumes: Volumes, first: SegmentName, committed: Mapping[str, int], lengths: Mapping[str, int]
) -> SegmentName:
    """Choose the segment to continue: the newest if it has its committed length and is where new ones go, else a new one, at
    least the `first`.

    A segment that was cut back never grows again: after another crash it could have the committed length, but other content.
    """
    newest = find_newest(committed, first.kind)
    if newest is None or newest.number < first.number:
        return first
    is_whole = lengths.get(str(newest)) == committed[str(newest)]
    may_grow = is_whole and volumes.takes(volumes.home / str(newest))
    return newest if may_grow else newest._replace(number=newest.number + 1)


def _make_request_record(about: _About, response: str, capture: Capture) -> bytes:
    fields = [
        *about.fields(make_id(), "application/http; msgtype=request"),
        ("WARC-Concurrent-To", response),
        ("WARC-IP-Address", about.address),
    ]
    return make_record("request", fields, make_request(capture))


def _make_response(about: _About, identity: str, capture: Capture, digest: str, media_type: str) -> bytes:
    fields = [
        *about.fields(identity, "application/http; msgtype=response"),
        ("WARC-IP-Address", about.address),
        ("WARC-Payload-Digest", digest),
        ("WARC-Identified-Payload-Type", clean_value(media_type)),
        ("WARC-Truncated", capture.truncated if capture.truncated in _TRUNCATIONS else "unspecified"),
    ]
    # The payload digest is enough: a block digest would read every body a second time.
    return pack_record("response", fields, make_response_head(capture), capture.page.body)


def _make_revisit(
    about: _About, identity: str, capture: Capture, digest: str, profile: RevisitProfile, captured: float
) -> bytes:
    """Make a revisit record (WARC 1.1, 6.7): the headers of a response whose payload is already in the archive."""
    fields = [
        *about.fields(identity, "application/http; msgtype=response"),
        ("WARC-IP-Address", about.address),
        ("WARC-Profile", _PROFILES + profile),
        ("WARC-Payload-Digest", digest),
        ("WARC-Refers-To-Target-URI", about.url),
        ("WARC-Refers-To-Date", format_date(captured)),
        ("WARC-Truncated", Truncation.LENGTH if profile == RevisitProfile.SAME_PAYLOAD else ""),
    ]
    return make_record("revisit", fields, make_response_head(capture))


def _make_metadata(about: _About, identity: str, payload: str, block: bytes) -> bytes:
    fields = [
        *about.fields(identity, "application/warc-fields"),
        ("WARC-Concurrent-To", payload),
        ("WARC-IP-Address", about.address),
    ]
    return make_record("metadata", fields, block)


def _make_conversions(about: _About, source: str, outcome: Outcome) -> Iterator[bytes]:
    """Make the conversion records of a page: its statements, one record per syntax, and its text."""
    for syntax, nquads in outcome.statements.items():
        if nquads:
            fields = [
                *about.fields(make_id(), "application/n-quads"),
                ("WARC-Refers-To", source),
                ("X-Crawler-Syntax", syntax),
            ]
            yield make_record("conversion", fields, nquads.encode("utf-8", "replace"))
    if outcome.text:
        fields = [*about.fields(make_id(), "text/plain; charset=utf-8"), ("WARC-Refers-To", source)]
        yield make_record("conversion", fields, outcome.text.encode("utf-8", "replace"))
