"""What came of a lease enters, WARC records leave: all that is written to a shard's archive passes here.

Every final outcome has a metadata record. A page that is kept has a request and a response record (or a revisit record,
where the archive has its payload already), and what was extracted has a conversion record for each syntax and one for its text.
"""

import time
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from rdfspider.archive.metadata import write_metadata
from rdfspider.archive.outcomes import Outcome, make_outcome
from rdfspider.archive.recovery import recover_segments
from rdfspider.archive.segments import Position, SegmentKind, SegmentName, Series, find_newest, kind_of, write_committed
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
from rdfspider.config import ArchiveConfig
from rdfspider.records import Capture, Finished

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
_STANDARD = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
# WARC 1.1, 5.13 has words for why a block is cut; that a type was not wanted is not one of them.
_TRUNCATIONS = {"length": "length", "time": "time", "disconnect": "disconnect"}


class RevisitProfile(StrEnum):
    """How it is known that the body of an answer is the one that the archive has (WARC 1.1, 6.7)."""

    SAME_PAYLOAD = "identical-payload-digest"
    NOT_MODIFIED = "server-not-modified"


class Written(NamedTuple):
    """What the frontier keeps of an outcome that was written."""

    position: Position
    """Where its metadata record begins."""
    digest: str
    """The payload's, for `Lease.digest`; empty where no whole body came."""
    captured: float
    """For `Lease.captured`: when the payload came that the archive holds; 0 where it holds none."""


class ArchiveWriter:
    """The archive of a shard, open for writing: bodies in `pages` segments, all else in `facts` segments.

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
    ) -> None:
        """`info` is what the first record of a segment says of the crawl; `committed` the frontier's last `positions()`; by
        `name` people find the shard's folder on a volume."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._keep = config.keep
        self._info = dict(info)
        self._volumes = Volumes(folder, config.volumes, name)
        lengths, lost = recover_segments(self._volumes, prefix, committed or {})
        self.lost = lost
        """After damage: URLs with a position in such a segment, at or after such an offset, must be fetched again."""
        self._pages, self._facts = (
            Series(
                self._volumes,
                _choose_last(self._volumes, prefix, kind, committed or {}, lengths),
                {name: length for name, length in lengths.items() if kind_of(name) == kind},
                config.segment_bytes,
                self._make_info,
            )
            for kind in (SegmentKind.PAGES, SegmentKind.FACTS)
        )
        self._flushed = self._synced = lengths
        write_committed(folder, lengths)

    def write_outcome(self, finished: Finished, via: str = "") -> Written:
        """Append all records of one outcome; `via` is the URL of `lease.via`. The body of a page that asks not to be archived, or
        not to be indexed, is in none of them."""
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
            # What takes a page out of the indexes is nothing that it could be unchanged from: it must come as a whole again.
            return Written(position, "", 0.0)
        return Written(position, payload.digest, payload.captured)

    def flush(self) -> None:
        """Write what was appended to the files; raises OSError where the disk refuses, and may be called again then."""
        self._pages.flush()
        self._facts.flush()
        self._flushed = self._pages.lengths() | self._facts.lengths()

    def sync(self) -> None:
        """Make what was flushed durable; may run in a thread while outcomes are written, not while they are flushed."""
        flushed = self._flushed
        self._pages.sync()
        self._facts.sync()
        self._synced = flushed

    def find_full(self, least_bytes: int) -> list[str]:
        """The volumes, if each has less room than this, so that nothing more should be written; else none, and segments on a disk
        with less room do not grow on."""
        full = self._volumes.find_full(least_bytes)
        if not full:
            self._pages.leave_full_disk(least_bytes)
            self._facts.leave_full_disk(least_bytes)
        return full

    @property
    def free_bytes(self) -> int:
        """The room for new segments."""
        return self._volumes.free_bytes

    def positions(self) -> dict[str, int]:
        """The length of each segment as of the last flush, to be stored with the frontier's commit."""
        return dict(self._flushed)

    def publish(self) -> None:
        """Let readers have what the last sync made durable; the frontier's commit must be durable by now."""
        write_committed(self._folder, self._synced)

    def close(self) -> None:
        """Close the files; what was not flushed is dropped."""
        self._pages.close()
        self._facts.close()

    def _write_payload(self, finished: Finished, capture: Capture) -> "_Payload":
        """Append the records of a page that is kept; what is left to say of it."""
        lease, extraction, judgement = finished.lease, finished.extraction, finished.judgement
        is_wanted = not (judgement.robots.noarchive or judgement.robots.noindex)
        is_whole = capture.truncated in ("", "length")
        body = capture.page.body
        if capture.status == 304:
            digest = lease.digest
            unchanged: RevisitProfile | None = RevisitProfile.NOT_MODIFIED
            keeps = bool(lease.captured) and self._keep != "none"
        else:
            digest = judgement.digest or (compute_digest(body) if is_whole and body else "")
            keeps = is_wanted and (
                self._keep == "all"
                or (self._keep == "structured" and extraction is not None and any(extraction.statements.values()))
            )
            # What asks only now that no copy be kept is told anew, so that what is known of it leads to the old copy no more.
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
        """The first record of a segment."""
        block = make_fields_block([*self._info.items(), ("format", "WARC File Format 1.1"), ("conformsTo", _STANDARD)])
        fields = [
            ("WARC-Record-ID", make_id()),
            ("WARC-Date", format_date(time.time())),
            ("WARC-Filename", name),
            ("Content-Type", "application/warc-fields"),
        ]
        return make_record("warcinfo", fields, block)


class _Payload(NamedTuple):
    """What became of a page's body."""

    digest: str = ""
    unchanged: RevisitProfile | None = None
    """How it is known that the body is the last capture's; None where it is another."""
    identity: str = ""
    """The id of the record that holds or stands for it; empty where it is not kept."""
    position: Position | None = None
    captured: float = 0.0


class _About(NamedTuple):
    """What all records of an outcome say."""

    url: str
    date: str
    address: str

    def fields(self, identity: str, content_type: str) -> Iterator[Field]:
        yield "WARC-Record-ID", identity
        yield "WARC-Date", self.date
        yield "WARC-Target-URI", self.url
        yield "Content-Type", content_type


def _choose_last(
    volumes: Volumes, prefix: str, kind: SegmentKind, committed: Mapping[str, int], lengths: Mapping[str, int]
) -> SegmentName:
    """The segment to go on with: the newest if it is as it was committed and where new ones go, else a new one.

    A segment that was cut back does not grow again: after another crash it could be as long as committed, but different.
    """
    newest = find_newest(committed, kind)
    if newest is None:
        return SegmentName(prefix, kind, 1)
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
        ("WARC-Truncated", _TRUNCATIONS.get(capture.truncated, "unspecified") if capture.truncated else ""),
    ]
    # The digest of a body is enough: one of the block would read every body a second time.
    return pack_record("response", fields, make_response_head(capture), capture.page.body)


def _make_revisit(
    about: _About, identity: str, capture: Capture, digest: str, profile: RevisitProfile, captured: float
) -> bytes:
    """WARC 1.1, 6.7: the headers of an answer whose payload the archive has already."""
    fields = [
        *about.fields(identity, "application/http; msgtype=response"),
        ("WARC-IP-Address", about.address),
        ("WARC-Profile", _PROFILES + profile),
        ("WARC-Payload-Digest", digest),
        ("WARC-Refers-To-Target-URI", about.url),
        ("WARC-Refers-To-Date", format_date(captured)),
        ("WARC-Truncated", "length" if profile == RevisitProfile.SAME_PAYLOAD else ""),
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
    """What was read from a page: its statements, a record a syntax, and its text."""
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
