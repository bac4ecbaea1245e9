"""The frontiers of all shards of a crawl, looked at from outside; each is opened when it is first asked for."""

import heapq
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Self

from rdfspider.config import Config
from rdfspider.crawl.folder import shard_folder
from rdfspider.errors import UsageError
from rdfspider.frontier.entries import HostEntry, UrlEntry
from rdfspider.frontier.keys import from_url_id
from rdfspider.frontier.reader import ORDERS, FrontierReader, open_reader


class Frontiers:
    """A context manager; what it gave is of no use afterwards."""

    def __init__(self, folder: Path, config: Config) -> None:
        self._folder = folder
        self.config = config
        self._readers: dict[int, FrontierReader | None] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let them go."""
        self._open.close()

    def of(self, shard: int) -> FrontierReader | None:
        """That of a shard; None where it was not begun yet."""
        if shard not in self._readers:
            reader = open_reader(shard_folder(self._folder, shard) / "frontier", self.config, shard)
            self._readers[shard] = self._open.enter_context(reader) if reader else None
        return self._readers[shard]

    def all(self) -> list[FrontierReader]:
        """Those of all shards that have begun theirs."""
        return [reader for shard in range(self.config.crawl.shards) if (reader := self.of(shard))]

    def get(self, url_id: int) -> UrlEntry | None:
        """What is known of a URL by its id, whichever shard has it; None where that does not know it."""
        reader = self.of(from_url_id(url_id)[0])
        return reader.get(url_id) if reader else None


SORTS = (*ORDERS, "wait")
"""What hosts can be sorted by."""
_HEADINGS = ("host", "pages", "structured", "quads", "errors", "queue", "wait", "")
_DAY_S, _HOUR_S, _MINUTE_S = 86_400, 3600, 60


def find_hosts(folder: Path, config: Config, sort: str, limit: int, opened: Frontiers | None = None) -> list[HostEntry]:
    """The first of a crawl's hosts in an order, over all shards; by frontiers that are open already, where some are."""
    if sort not in SORTS:
        raise UsageError(f"sort {sort}: not allowed; it may be one of {', '.join(SORTS)}")
    if limit < 1:
        raise UsageError(f"limit {limit}: not allowed; it may be a whole number of 1 or more")
    with nullcontext(opened) if opened else Frontiers(folder, config) as frontiers:
        found = [entry for reader in frontiers.all() for entry in reader.find_top_hosts(sort, limit)]
    return [host for _, host in heapq.nlargest(limit, found, key=lambda entry: entry[0])]


def write_hosts(hosts: Sequence[HostEntry]) -> list[str]:
    """A table, a line a host."""
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
    """Seconds, as people say them."""
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
