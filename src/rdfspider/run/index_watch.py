"""The indexer beside a running crawl, as its parent sees it: starts, watches, restarts and ends its process.

The indexer's status file enters every second; whether shards must slow down leaves, and from time to time what the link graph
says of their sites. If the indexer fails, the crawl continues: what was not indexed is indexed later. The process
(`run/indexer_process.py`) gets an IndexOrder on stdin, and its exit code says why it ended. It has the same priority as the
shards: with a lower one, it would never catch up where all cores are busy. Nothing here imports the index itself, which the
parent does not need.
"""

import logging
import math
import pickle
import time
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from rdfspider.config import Config
from rdfspider.domains import find_shard
from rdfspider.errors import USAGE_EXIT, UsageError
from rdfspider.index.graph.esteem_file import NO_ESTEEM, load_esteem, mark_esteem
from rdfspider.index.layout import IndexPaths, check_index, has_index
from rdfspider.index.status import (
    IndexState,
    IndexStatus,
    ViewStatus,
    load_index_status,
    prolong_lag,
    read_index_status,
)
from rdfspider.processes.module_process import ModuleProcess
from rdfspider.processes.supervisor import Exit, Fate, RestartPolicy, Supervisor
from rdfspider.records import Esteem

_log = logging.getLogger(__name__)

FINISH = b"."
"""The message that tells the indexer, after the crawl, to end when everything is indexed."""
LENGTH_BYTES = 8
"""The length of an order comes first, in this many bytes."""
_RESTARTS = RestartPolicy()
# Shards continue when the lag is below this fraction of the limit, so that they do not stop and start all the time.
_EASED = 0.8
# The indexer writes its status every second; after a silence of this length, the silence is added to its lag.
_SILENT_S = 5.0
# Shards are told again after this time what the link graph says, because a connection that breaks may lose it.
_TELL_AGAIN_S = 600.0


class IndexOrder(NamedTuple):
    """The task of the indexer."""

    folder: Path
    config: Config
    is_finishing: bool
    """Whether the crawl has ended already."""


def check_before_crawl(folder: Path, config: Config) -> None:
    """Raise UsageError, with a remedy, if a crawl cannot be indexed while it runs."""
    paths = IndexPaths(folder)
    if config.index.stores:
        # Imported here, because it is only needed for them.
        from rdfspider.run.reindexing import check_stores

        check_stores(config)
    if has_index(paths):
        try:
            check_index(paths)
        except UsageError as error:
            raise UsageError(f"{error}, or crawl with --no-index") from error


class IndexWatch:
    """The indexer's process while a crawl runs."""

    def __init__(self, folder: Path, config: Config) -> None:
        self._paths = IndexPaths(folder)
        self._config = config
        self._process: ModuleProcess | None = None
        self._supervisor = Supervisor("the indexer", self._start, self._judge_exit, _RESTARTS)
        self._is_finishing = False
        self._is_leaving = False
        self._is_given_up = False
        self._is_end_unknown = False
        """Whether the indexer could not write down with what it has ended, as on a full disk."""
        self._slowed = ""
        self._esteem_mark = NO_ESTEEM
        self._tell_again_at = math.inf
        self.error = ""
        """Why the crawl cannot be indexed; a user has to decide what to do."""
        self.has_begun = False
        """Whether the indexer has opened its views in this run."""
        self.status: IndexStatus | None = None
        """The indexer's last status."""

    async def run(self) -> None:
        """Keep the indexer alive until it is finished."""
        if not await self._supervisor.run():
            self._is_given_up = True
            _log.warning(
                "the indexer has failed %d times in a row, and the crawl goes on without it; "
                "try `rdfspider index --dir %s` later",
                *(_RESTARTS.max_failures, self._paths.folder),
            )

    def look(self) -> None:
        """Read the indexer's status; an indexer that has stopped writing it is killed, which loses nothing."""
        status = load_index_status(self._paths)
        if status is None or self._supervisor.pid != status.pid or self._is_leaving:
            self.status = read_index_status(self._paths) or self.status
            if self._is_end_unknown:
                self.status = _doubt(self.status or IndexStatus(IndexState.ENDED))
            return
        # The last status of an indexer that could not open its views says why; it has not begun.
        self.has_begun = self.has_begun or status.is_running
        silent_s = self._supervisor.watch(self._read_time())
        self.status = prolong_lag(status, silent_s) if silent_s > _SILENT_S else status

    def find_slow_reason(self) -> str:
        """Return why shards should start no new visits; empty if they may. During a restart of the indexer the last decision
        holds. Shards do not wait for an indexer that was given up or is suspended: that would not help it."""
        status = self.status
        if self._is_given_up or self._is_finishing or self._is_leaving:
            self._slowed = ""
        elif status is not None and status.is_running:
            limit_s = self._config.index.max_lag_s * (_EASED if self._slowed else 1.0)
            is_slow = status.lag_s > limit_s and status.state != IndexState.SUSPENDED
            self._slowed = f"the index is {status.lag_s:,.0f} s behind" if is_slow else ""
        return self._slowed

    def read_esteem(self) -> dict[int, list[Esteem]]:
        """Read what the link graph says of the sites of each shard, if that is new, or was last told long ago; nothing else."""
        mark, now = mark_esteem(self._paths.graph), time.monotonic()
        if mark == self._esteem_mark and now < self._tell_again_at:
            return {}
        self._esteem_mark, self._tell_again_at = mark, now + _TELL_AGAIN_S
        shards = self._config.crawl.shards
        tables: dict[int, list[Esteem]] = {shard: [] for shard in range(shards)}
        for each in load_esteem(self._paths.graph):
            tables[find_shard(each.site, shards)].append(each)
        return tables

    def finish(self) -> None:
        """Tell the indexer to end when everything is indexed."""
        self._is_finishing = True
        if self._process is not None:
            self._process.send(FINISH)

    async def leave(self, patience_s: float) -> None:
        """Tell the indexer to commit and end; if it does not in time, it is killed, which loses nothing either."""
        self._is_leaving = True
        await self._supervisor.terminate(patience_s)

    def kill(self) -> None:
        """Kill the indexer."""
        self._is_leaving = True
        self._supervisor.kill()

    def _judge_exit(self, ended: Exit) -> Fate:
        if ended.code == 0 and self._is_finishing:
            self._is_end_unknown = not (self._is_leaving or self._has_told_end())
            return Fate.OVER
        if ended.code == USAGE_EXIT and not self._is_leaving:
            self._is_given_up = True
            self.error = "the index cannot be made; --no-index crawls without it"
            return Fate.OVER
        return Fate.WORKED if ended.has_recovered else Fate.FAILED

    def _has_told_end(self) -> bool:
        """Whether the last status is that of the indexer's end, or of another one, which goes on."""
        last, now = load_index_status(self._paths), read_index_status(self._paths)
        if last is None or now is None or self._process is None:
            return False
        return now.is_running if last.pid != self._process.pid else not last.is_running

    async def _start(self) -> ModuleProcess:
        order = IndexOrder(self._paths.folder, self._config, self._is_finishing)
        # The pipe stays open: when it closes, the indexer knows that this process is gone.
        self._process = await ModuleProcess.start(
            "rdfspider.run.indexer_process", encode_order(order), keeps_stdin=True
        )
        if self._is_finishing and not order.is_finishing:
            self.finish()
        return self._process

    def _read_time(self) -> int | None:
        """Return when the status file was last written."""
        try:
            return self._paths.status.stat().st_mtime_ns
        except OSError:
            return None


def encode_order(order: IndexOrder) -> bytes:
    """Encode an order for the indexer's stdin: its length, then its bytes. The pipe stays open afterwards."""
    body = pickle.dumps(order)
    return len(body).to_bytes(LENGTH_BYTES) + body


def _doubt(status: IndexStatus) -> IndexStatus:
    """The last status that an indexer could write before it ended: what has come since may be missing in its views."""
    problem = "the indexer could not write its last status"
    views = status.views or (ViewStatus("index"),)
    return replace(status, views=tuple(replace(view, problem=view.problem or problem) for view in views))
