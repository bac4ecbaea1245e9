"""Reads the frontiers of all shards from outside: a crawl's folder enters, its hosts and URLs leave."""

import heapq
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from rdfspider.archive.segments import COMMITTED_NAME
from rdfspider.config import Config
from rdfspider.crawl.folder import advise_doctor, frontier_folder, is_in_use, shard_folder
from rdfspider.crawl.reports.remote_frontiers import RemoteFrontier
from rdfspider.errors import UnreadableError, UsageError
from rdfspider.frontier.entries import HostEntry, UrlEntry
from rdfspider.frontier.keys import UrlIds
from rdfspider.frontier.reader import ORDERS, FrontierReader, open_reader, read_generation
from rdfspider.places.client import PlaceClient, open_client

SORTS = (*ORDERS, "wait")
"""The sort orders of hosts."""
_HEADINGS = ("host", "pages", "structured", "quads", "errors", "queue", "wait", "")
_DAY_S, _HOUR_S, _MINUTE_S = 86_400, 3600, 60


class Frontiers:
    """The frontiers of a crawl, each opened on first use; a context manager, after which its readers are closed."""

    def __init__(self, folder: Path, config: Config) -> None:
        self.folder = folder
        self.config = config
        self._readers: dict[int, FrontierReader | RemoteFrontier | None] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if isinstance(error, UnreadableError):
            raise UnreadableError(f"{error}; {advise_doctor(self.folder)}") from error

    def close(self) -> None:
        """Close all readers."""
        self._open.close()

    def of(self, shard: int) -> FrontierReader | RemoteFrontier | None:
        """Return the reader of a shard's frontier; None if the shard has none yet. AwayError if it is in another place, and
        that cannot be reached."""
        if shard not in self._readers:
            place = open_client(self.folder, shard, read_generation)
            if isinstance(place, PlaceClient):
                self._readers[shard] = remote = RemoteFrontier(place, shard)
                self._open.callback(remote.close)
                return remote
            is_used = place is None and is_in_use(self.folder)
            reader = open_reader(frontier_folder(place or self.folder, shard), self.config, shard, is_used=is_used)
            self._readers[shard] = self._open.enter_context(reader) if reader else None
            has_archive = (shard_folder(place or self.folder, shard) / "warc" / COMMITTED_NAME).exists()
            if reader and reader.is_empty and has_archive:
                # RocksDB takes a list of files that was cut off for that of a new database.
                raise UnreadableError(f"{frontier_folder(self.folder, shard)} has lost all its rows")
        return self._readers[shard]

    def all(self) -> list[FrontierReader | RemoteFrontier]:
        """Return the readers of all shards that have a frontier."""
        return [reader for shard in range(self.config.crawl.shards) if (reader := self.of(shard))]

    def get(self, url_id: int) -> UrlEntry | None:
        """Return the entry of a URL by its id, from the shard that owns it; None if unknown there."""
        reader = self.of(UrlIds(self.config.crawl.shards).unpack(url_id)[0])
        return reader.get(url_id) if reader else None


def find_hosts(frontiers: Frontiers, sort: str, limit: int) -> list[HostEntry]:
    """Return the top hosts of a crawl in an order, over all shards."""
    if sort not in SORTS:
        raise UsageError(f"sort {sort}: not allowed; it may be one of {', '.join(SORTS)}")
    if limit < 1:
        raise UsageError(f"limit {limit}: not allowed; it may be a whole number of 1 or more")
    found = [entry for reader in frontiers.all() for entry in reader.find_top_hosts(sort, limit)]
    return [host for _, host in heapq.nlargest(limit, found, key=lambda entry: entry[0])]


def write_hosts(hosts: Sequence[HostEntry]) -> list[str]:
    """Write a table with one line per host."""
    if not hosts:
        return ["no host is known yet"]
    rows = [_HEADINGS, *map(_write_row, hosts)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS) - 1)]
    return [
        "  ".join(
            (row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=False)))
        )
        + (f"  {row[-1]}" if row[-1] else "")
        for row in rows
    ]


def write_wait(wait_s: float) -> str:
    """Write seconds in a readable unit."""
    if wait_s < 2 * _MINUTE_S:
        return f"{wait_s:.1f} s"
    if wait_s < 2 * _HOUR_S:
        return f"{wait_s / _MINUTE_S:.0f} min"
    return f"{wait_s / _HOUR_S:.0f} h" if wait_s < 2 * _DAY_S else f"{wait_s / _DAY_S:.0f} days"


def _write_row(host: HostEntry) -> tuple[str, ...]:
    counts = (host.pages, host.structured, host.quads, host.failed, host.queued)
    return (
        host.host,
        *(f"{count:,}" for count in counts),
        write_wait(host.wait_s) if host.wait_s else "-",
        host.reason,
    )
