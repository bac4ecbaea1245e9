"""Frequent reports on a running crawl: a URL or a sort order enters, a report from another process, seconds old at most, leaves.

Opening the frontiers of a busy crawl takes a good part of a second, in which RocksDB blocks all other Python threads. So another
process opens them, answers from them for a moment, and opens them again. Open frontiers keep deleted files on disk, so the
process ends when there has been no request for a while.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rdfspider.crawl.reports.explanations import Explanation
from rdfspider.crawl.reports.frontiers import Frontiers, find_hosts
from rdfspider.crawl.reports.why import explain_url
from rdfspider.crawl.settings import load_config
from rdfspider.errors import UnansweredError
from rdfspider.frontier.entries import HostEntry
from rdfspider.processes.calls import CallError, KillableCalls

_ANSWER_S, _TURN_S = 30.0, 10.0
_KEPT_S = 3.0
_IDLE_S = 30.0
_Report = TypeVar("_Report")


class LiveReports:
    """Reports on one crawl; thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._calls = KillableCalls(_ANSWER_S, _TURN_S)
        self._asked = 0.0

    def why(self, url: str) -> Explanation:
        """Like `Crawl.why`."""
        return self._ask(_report_url, url)

    def hosts(self, sort: str, limit: int) -> list[HostEntry]:
        """Like `Crawl.hosts`."""
        return self._ask(_report_hosts, sort, limit)

    def rest(self) -> None:
        """Close the frontiers if there has been no request for some seconds."""
        if time.monotonic() - self._asked > _IDLE_S:
            self._calls.rest()

    def close(self) -> None:
        """End the process."""
        self._calls.close()

    def _ask(self, report: Callable[..., _Report], *arguments: object) -> _Report:
        self._asked = time.monotonic()
        try:
            found: _Report = self._calls.call(report, self._folder, *arguments)
        except CallError as error:
            raise UnansweredError(f"the frontiers could not be looked at: {error}") from error
        return found


class _Kept:
    """The frontiers that the reporting process has open."""

    def __init__(self) -> None:
        self._frontiers: Frontiers | None = None
        self._opened = 0.0

    def open(self, folder: Path) -> Frontiers:
        """Return the frontiers of a crawl, opened at most a moment ago."""
        kept = self._frontiers
        if kept is None or kept.folder != folder or time.monotonic() - self._opened > _KEPT_S:
            if kept is not None:
                kept.close()
            self._frontiers = kept = Frontiers(folder, load_config(folder))
            self._opened = time.monotonic()
        return kept


_kept = _Kept()


def _report_url(folder: Path, url: str) -> Explanation:
    return explain_url(_kept.open(folder), url)


def _report_hosts(folder: Path, sort: str, limit: int) -> list[HostEntry]:
    return find_hosts(_kept.open(folder), sort, limit)
