"""Reports on a crawl that runs, for those who ask often: each look at the frontiers is one of another process, seconds old.

To open the frontiers of a busy crawl takes a good part of a second, in which RocksDB lets no other thread of Python's run. So a
helper process opens them, answers from them for a moment, and opens them again.
"""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from rdfspider.config import RunConfig
from rdfspider.errors import RdfspiderError, UnansweredError, UsageError
from rdfspider.frontier.reader import HostEntry
from rdfspider.records import Problem
from rdfspider.run.folder.settings import load_config
from rdfspider.run.heavy import LargePages
from rdfspider.run.reports.frontiers import Frontiers
from rdfspider.run.reports.hosts import find_hosts
from rdfspider.run.reports.why import Explanation, explain_url

_ANSWER_S = 30.0
_KEPT_S = 3.0


class Lookout:
    """One crawl's reports; for any number of threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._helper = LargePages(replace(RunConfig(), extract_timeout_s=_ANSWER_S))

    def why(self, url: str) -> Explanation:
        """As `Crawl.why`."""
        return cast(Explanation, self._ask(_report_url, url))

    def hosts(self, sort: str, limit: int) -> list[HostEntry]:
        """As `Crawl.hosts`."""
        return cast("list[HostEntry]", self._ask(_report_hosts, sort, limit))

    def close(self) -> None:
        """End the helper."""
        self._helper.close()

    def _ask(self, report: Any, *arguments: object) -> object:
        found = asyncio.run(self._helper.call(report, self._folder, *arguments))
        if isinstance(found, Problem):
            raise UnansweredError(f"the frontiers could not be looked at: {found.message}")
        if isinstance(found, RdfspiderError):
            raise found
        return found


class _Kept:
    """The frontiers that the helper has open."""

    def __init__(self) -> None:
        self._frontiers: Frontiers | None = None
        self._folder = Path()
        self._opened = 0.0

    def open(self, folder: Path) -> Frontiers:
        """Those of a crawl as they are, or were a moment ago."""
        if self._frontiers is None or folder != self._folder or time.monotonic() - self._opened > _KEPT_S:
            if self._frontiers is not None:
                self._frontiers.close()
            self._frontiers = Frontiers(folder, load_config(folder))
            self._folder, self._opened = folder, time.monotonic()
        return self._frontiers


_kept = _Kept()


def _report_url(folder: Path, url: str) -> Explanation | RdfspiderError:
    try:
        frontiers = _kept.open(folder)
        return explain_url(folder, frontiers.config, url, frontiers)
    except (RdfspiderError, OSError) as error:
        return error if isinstance(error, UsageError) else RdfspiderError(str(error))


def _report_hosts(folder: Path, sort: str, limit: int) -> list[HostEntry] | RdfspiderError:
    try:
        frontiers = _kept.open(folder)
        return find_hosts(folder, frontiers.config, sort, limit, frontiers)
    except (RdfspiderError, OSError) as error:
        return error if isinstance(error, UsageError) else RdfspiderError(str(error))
