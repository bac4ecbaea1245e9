"""Reads one shard's frontier from outside: the records of URLs, hosts and robots.txt files.

It sees a snapshot, whether a crawl uses the frontier or not. It sends nothing to that crawl, takes no lock, and writes nothing
to its folder.
"""

import heapq
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Self

from rdfspider.codes import FailureCode, RobotsRule
from rdfspider.config import Config
from rdfspider.errors import UsageError
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import Counts, HostEntry, HostStatus, UrlEntry
from rdfspider.frontier.hosts.hosts import GIVEN_UP, OVER_BUDGET, HostRecord, decode_domain, decode_host
from rdfspider.frontier.hosts.origins import decode_robots
from rdfspider.frontier.hosts.queues import decode_entry
from rdfspider.frontier.keys import (
    GIVEN_UP_QUEUE,
    MAX_HOSTS,
    WAITING_QUEUE,
    UrlIds,
    origin_of,
    pack_host,
    pack_meta,
    pack_name,
    pack_outbox,
    pack_queue,
    pack_row,
    unpack_front_key,
    unpack_outbox,
    unpack_queue,
    unpack_row,
)
from rdfspider.frontier.learning.patterns import read_patterns
from rdfspider.frontier.learning.url_patterns import find_pattern
from rdfspider.frontier.outbox import freed_key, read_cursors, read_freed
from rdfspider.frontier.state import read_state
from rdfspider.frontier.store import StoreReader, has_store
from rdfspider.frontier.url_rows import SCHEDULED, decode_row, decode_url, to_entry
from rdfspider.frontier.urls.sieve import find_sequence
from rdfspider.pace import longest_wait_s
from rdfspider.records import RobotsState
from rdfspider.urls import host_of

_TABLES = ("urls", "ledger", "queue", "names", "hosts", "robots", "domains", "patterns", "meta")
# Back queue entries to scan for the position of a URL, which takes a fraction of a second.
_MAX_ENTRIES = 100_000
# Why a host has no address, in words.
_NO_ADDRESS: dict[str, str] = {
    FailureCode.NXDOMAIN: "there is no such name",
    FailureCode.PRIVATE: "its addresses are private",
}


def _count_errors(record: HostRecord) -> int:
    is_missing = record.addresses is not None and record.addresses.failure == FailureCode.NXDOMAIN
    return record.failed + is_missing


ORDERS: dict[str, Callable[[HostRecord], float]] = {
    "pages": lambda record: record.pages,
    "quads": lambda record: record.quads,
    "errors": _count_errors,
    "queue": lambda record: sum(record.queued.values()),
}
"""The measures to sort hosts by, except their wait, which needs a clock."""


class FrontierReader:
    """A snapshot of a frontier, taken when this object is created; a context manager."""

    def __init__(
        self,
        folder: Path,
        config: Config,
        shard: int,
        clock: Clock | None = None,
        *,
        tables: Sequence[str] = _TABLES,
        is_used: bool = True,
    ) -> None:
        """`is_used` tells whether a crawl may use the frontier at the same time; if none does, all damage to its files shows."""
        self._config = config
        self._shard = shard
        self.ids = UrlIds(config.crawl.shards)
        self._clock = clock or Clock()
        self._notes = tempfile.TemporaryDirectory(prefix="rdfspider-view-")
        try:
            self._store = StoreReader(folder, Path(self._notes.name), tables, is_used=is_used)
        except BaseException:
            self._notes.cleanup()
            raise
        self._tables = self._store.tables
        try:
            self._state = read_state(self._tables["meta"], self._clock)
        except UsageError as error:
            self.close()
            raise UsageError(f"{folder} {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._tables = {}
        self._store.close()
        self._notes.cleanup()

    def find(self, url: str) -> UrlEntry | None:
        """The entry of a URL; None if it was never seen."""
        number = self._number_of(host_of(url))
        if number is None or self._state is None:
            return None
        tables, salt = self._tables, self._state[0].salt
        sequence = find_sequence(tables["urls"], tables["ledger"], salt, number, url)
        return None if sequence is None else self.get(self.ids.pack(self._shard, number, sequence))

    def get(self, url_id: int) -> UrlEntry | None:
        """The entry of a URL id of this shard; None if there is none."""
        _, number, sequence = self.ids.unpack(url_id)
        value = self._tables["ledger"].get(pack_row(number, sequence))
        return to_entry(decode_row(value), decode_url(value), url_id) if value else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever committed."""
        return self._state is None

    @property
    def generation(self) -> tuple[int, int]:
        """The last epoch and the number of commits; zeros if nothing was ever committed."""
        return (self._state[1].epoch, self._state[0].commits) if self._state else (0, 0)

    def inbox_cursors(self) -> dict[int, tuple[int, int]]:
        """The last committed entry of each shard that has sent anything."""
        return read_cursors(self._tables["meta"])

    @property
    def counts(self) -> Counts:
        """The counts of the last commit."""
        return self._state[0].counts if self._state else Counts()

    def find_unsent(self, destination: int) -> tuple[int, int] | None:
        """Epoch and sequence of the first entry in the outbox for another shard; None if there is none. It needs the table
        `outbox`."""
        bounds = pack_outbox(destination, 0, 0), pack_outbox(destination + 1, 0, 0)
        for key, _ in self._tables["outbox"].iterate(*bounds):
            _, epoch, sequence = unpack_outbox(key)
            return epoch, sequence
        return None

    def find_freed(self, destination: int) -> tuple[int, int]:
        """The cursor up to which the outbox's entries for another shard are gone."""
        return read_freed(self._tables["meta"].get(freed_key(destination)))

    def iterate_urls(self) -> Iterator[UrlEntry]:
        """All URLs, host by host; reading them verifies every checksum of the table."""
        for key, value in self._tables["ledger"].iterate(b"", b"\xff" * 8):
            yield to_entry(decode_row(value), decode_url(value), self.ids.pack(self._shard, *unpack_row(key)))

    def has_seeds(self) -> bool:
        """Whether a person gave any of the URLs."""
        return any(record.is_seeded for _, record in self._iterate_hosts())

    def find_place(self, url_id: int) -> tuple[int, int] | None:
        """The priority of a scheduled URL, and about how many URLs of its host come before it; None if it is in no queue, or
        too far behind to be counted."""
        _, number, sequence = self.ids.unpack(url_id)
        value = self._tables["ledger"].get(pack_row(number, sequence))
        row = decode_row(value) if value else None
        if row is None or row.state != SCHEDULED:
            return None
        record = self._read_host(number)
        before, entries_left = 0, _MAX_ENTRIES
        for priority in sorted(record.queued):
            order, offset = record.heads[priority]
            lower, upper = pack_queue(number, priority, order), pack_queue(number, priority + 1, 0)
            for key, stored in self._tables["queue"].iterate(lower, upper):
                first, count, turn = decode_entry(stored)
                passed = offset if unpack_queue(key)[2] == order else 0
                if turn == row.turn and first <= sequence < first + count:
                    return priority, before + max(sequence - first - passed, 0)
                before += count - passed
                entries_left -= 1
                if not entries_left:
                    return None
        return None

    def find_robots(self, url: str) -> RobotsState | None:
        """The state of the robots.txt for a URL; None before its first request."""
        number = self._number_of(host_of(url))
        value = None if number is None else self._tables["robots"].get(pack_host(number) + origin_of(url).encode())
        return decode_robots(value) if value else None

    def find_trap(self, url: str) -> str:
        """Explain why URLs like this one, which gave nothing new, are hardly requested any more; empty if they are."""
        number = self._number_of(host_of(url))
        if number is None:
            return ""
        return read_patterns(self._tables["patterns"], number).explain_refusal(find_pattern(url))

    def find_host(self, name: str) -> HostEntry | None:
        """The entry of a host; None if none of its URLs was ever seen."""
        number = self._number_of(name)
        return None if number is None else self._describe(number, self._read_host(number))

    def find_top_hosts(self, order: str, limit: int) -> list[tuple[float, HostEntry]]:
        """The first `limit` hosts by a measure in `ORDERS`, or by their wait, with the amounts. Only these are in memory, however
        many hosts there are."""
        hosts = self._iterate_hosts()
        measure = ORDERS.get(order)
        if measure is None:
            measured = ((self._describe(number, record).wait_s, -number, record) for number, record in hosts)
        else:
            measured = ((measure(record), -number, record) for number, record in hosts)
        top = heapq.nlargest(limit, measured, key=lambda entry: entry[:2])
        return [(amount, self._describe(-number, record)) for amount, number, record in top]

    def explain_page_limit(self, host: str, subject: str) -> str:
        """The page limit that a host or its domain has reached, in words, with `subject` for the host; empty if there is none."""
        crawl, number = self._config.crawl, self._number_of(host)
        pages = 0 if number is None else self._read_host(number).fetched_pages
        if crawl.pages_per_host and pages >= crawl.pages_per_host:
            return f"{subject} has all its pages: {crawl.pages_per_host:,} (crawl.pages_per_host)"
        # One of the host and its parent names is a registrable domain, and only that one has recorded pages.
        labels = host.split(".")
        names = (".".join(labels[start:]) for start in range(len(labels)))
        most = crawl.pages_per_domain
        spent = next((name for name in names if most and self._count_domain_pages(name) >= most), "")
        return f"{spent} has all its pages: {most:,} (crawl.pages_per_domain)" if spent else ""

    def get_meta(self, key: str) -> bytes | None:
        """A value that the frontier keeps for its caller; None if there is none."""
        value: bytes | None = self._tables["meta"].get(pack_meta(key))
        return value

    def _number_of(self, name: str) -> int | None:
        found = self._tables["names"].get(pack_name(name))
        return int.from_bytes(found, "big") if found else None

    def _read_host(self, number: int) -> HostRecord:
        return decode_host(self._tables["hosts"].get(pack_host(number)))

    def _count_domain_pages(self, domain: str) -> int:
        return decode_domain(self._tables["domains"].get(domain.encode()))[1]

    def _iterate_hosts(self) -> Iterator[tuple[int, HostRecord]]:
        for key, value in self._tables["hosts"].iterate(pack_host(0), pack_host(MAX_HOSTS)):
            yield int.from_bytes(key, "big"), decode_host(value)

    def _left_s(self, record: HostRecord) -> float:
        """Seconds until the next request to a host, by its clock and its front queue."""
        pace = self._config.frontier
        calendar = self._state[1] if self._state else None
        left_s = calendar.wait_s(record.last_request, record.gap_s, pace.delay_s) if calendar else 0.0
        if record.front_key and record.front_key[0] in (WAITING_QUEUE, GIVEN_UP_QUEUE):
            longest_s = 2 * longest_wait_s(pace)
            left_s = max(left_s, self._clock.left_s(unpack_front_key(record.front_key)[1] / 1000, longest_s))
        return left_s

    def _describe(self, number: int, record: HostRecord) -> HostEntry:
        wait_s = self._left_s(record)
        failure = record.addresses.failure if record.addresses else ""
        status, reason = HostStatus.NONE, (record.wait_reason or "the usual delay") if wait_s else ""
        unreachable = self._find_unreachable(number) if record.errors or record.status == GIVEN_UP else None
        if unreachable:
            wait_s = max(wait_s, unreachable[0])
            reason = unreachable[1]
        if record.status == OVER_BUDGET and (budget := self.explain_page_limit(record.name, "it")):
            status, wait_s, reason = HostStatus.OVER_BUDGET, 0.0, f"{HostStatus.OVER_BUDGET}: {budget}"
        elif record.status == GIVEN_UP:
            status, reason = HostStatus.GIVEN_UP, f"{HostStatus.GIVEN_UP}: {reason or 'it does not answer'}"
        elif failure in _NO_ADDRESS:
            status, wait_s, reason = HostStatus.NO_ADDRESS, 0.0, _NO_ADDRESS[failure]
        elif not reason and record.queued and record.addresses is None:
            reason = "its address is not known yet"
        if record.mirror_of:
            reason = "; ".join(filter(None, (reason, f"mirror of {record.mirror_of}")))
        return HostEntry(
            record.name,
            record.pages,
            record.structured,
            record.quads,
            _count_errors(record),
            sum(record.queued.values()),
            round(wait_s, 3),
            reason,
            status,
        )

    def _find_unreachable(self, number: int) -> tuple[float, str] | None:
        """How long a host waits for a robots.txt, and why; None if at least one of its origins allows page requests."""
        found: list[tuple[float, str]] = []
        for key, value in self._tables["robots"].iterate(pack_host(number), pack_host(number + 1)):
            state = decode_robots(value)
            if state.rule != RobotsRule.UNREACHABLE:
                return None
            origin = key[len(pack_host(number)) :].decode()
            left_s = max(state.expires - self._clock.now(), 0.0)
            found.append((left_s, f"robots.txt of {origin} cannot be had ({state.reason})"))
        return min(found, default=None)


def read_generation(folder: Path) -> tuple[int, int]:
    """Return the last epoch of a frontier that no process uses, and the number of its commits."""
    with FrontierReader(folder, Config(), 0, tables=("meta",), is_used=False) as reader:
        return reader.generation


def open_reader(folder: Path, config: Config, shard: int, *, is_used: bool = True) -> FrontierReader | None:
    """Open a shard's frontier for reading; None if it does not exist yet."""
    return FrontierReader(folder, config, shard, is_used=is_used) if has_store(folder) else None
