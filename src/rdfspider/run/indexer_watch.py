"""The parent's side of the indexer: starts it, restarts it when it dies, and ends it.

The indexer's status file enters every second; whether shards must slow down leaves. If the indexer fails, the crawl continues:
what was not indexed is indexed later.
"""

import logging
from pathlib import Path

from rdfspider.config import Config
from rdfspider.errors import USAGE_EXIT
from rdfspider.index.layout import IndexPaths
from rdfspider.index.status import IndexState, IndexStatus, load_index_status, prolong_lag, read_index_status
from rdfspider.processes.module_process import ModuleProcess
from rdfspider.processes.supervisor import Exit, Fate, RestartPolicy, Supervisor
from rdfspider.run.indexer_process import FINISH, IndexOrder, encode_order

_log = logging.getLogger(__name__)

_RESTARTS = RestartPolicy()
# The indexer commits and ends within seconds; one that does not is stuck, and can be killed without loss.
_PATIENCE_S = 60.0
# Shards continue when the lag is below this fraction of the limit, so that they do not stop and start all the time.
_EASED = 0.8
# The indexer writes its status every second; after a silence of this length, the silence is added to its lag.
_SILENT_S = 5.0


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
        self._slowed = ""
        self.error = ""
        """Why the crawl cannot be indexed; a user has to decide what to do."""
        self.has_begun = False
        """Whether the indexer has written a status in this run."""
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
            return
        self.has_begun = True
        silent_s = self._supervisor.watch(self._read_time())
        self.status = prolong_lag(status, silent_s) if silent_s > _SILENT_S else status

    def find_brake(self) -> str:
        """Return why shards should start no new visits; empty if they may. During a restart of the indexer the last decision
        holds. Shards do not wait for an indexer that was given up or is suspended: that would not help it."""
        status = self.status
        if self._is_given_up or self._is_finishing or self._is_leaving:
            self._slowed = ""
        elif status is not None and status.is_running:
            limit_s = self._config.index.max_lag_s * (_EASED if self._slowed else 1.0)
            is_slow = status.lag_s > limit_s and status.state is not IndexState.SUSPENDED
            self._slowed = f"the index is {status.lag_s:,.0f} s behind" if is_slow else ""
        return self._slowed

    def finish(self) -> None:
        """Tell the indexer to end when everything is indexed."""
        self._is_finishing = True
        if self._process is not None:
            self._process.send(FINISH)

    async def leave(self) -> None:
        """Tell the indexer to commit and end; if it does not in time, it is killed, which loses nothing either."""
        self._is_leaving = True
        await self._supervisor.terminate(_PATIENCE_S)

    def kill(self) -> None:
        """Kill the indexer."""
        self._is_leaving = True
        self._supervisor.kill()

    def _judge_exit(self, ended: Exit) -> Fate:
        if ended.code == 0 and self._is_finishing:
            return Fate.OVER
        if ended.code == USAGE_EXIT and not self._is_leaving:
            self._is_given_up = True
            self.error = "the index cannot be made; --no-index crawls without it"
            return Fate.OVER
        return Fate.WORKED if ended.has_recovered else Fate.FAILED

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
