"""The indexer of a crawl, as the process that runs the crawl sees it: started, started again when it dies, and told to leave.

What it writes of itself is read every second; from that comes whether shards must slow down. Whatever becomes of it, the crawl
goes on: what was not indexed is indexed later.
"""

import asyncio
import logging
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from rdfspider.config import Config
from rdfspider.index.layout import IndexPaths
from rdfspider.index.status import IndexStatus, load_index_status, prolong_lag, read_index_status
from rdfspider.run.indexer_process import FINISH, USAGE_ERROR, IndexOrder, encode_order

_log = logging.getLogger(__name__)

# One that dies at once is started again after this time, and after twice that, and so on.
_FIRST_PAUSE_S = 1.0
_MAX_PAUSE_S = 30.0
# One that has lived for so long had recovered; one that has died so many times in a row never will.
_RECOVERED_S = 60.0
_MAX_LIVES = 8
# It commits and leaves within some seconds; one that does not is stuck, and loses nothing.
_PATIENCE_S = 60.0
# Shards go on when the index is this much nearer than where they began to wait, so that they do not stop and go.
_EASED = 0.8
# It writes every second how far it is: one that is silent for so long is behind by that, too, whatever it said last.
_SILENT_S = 5.0
# One that is silent for so long never speaks again.
_STUCK_S = 120.0


class IndexWatch:
    """The indexer's process, for as long as a crawl runs."""

    def __init__(self, folder: Path, config: Config) -> None:
        self._paths = IndexPaths(folder)
        self._config = config
        self._process: asyncio.subprocess.Process | None = None
        self._is_finishing = False
        self._is_leaving = False
        self._is_given_up = False
        self._slowed = ""
        self._last_word = (0, 0)
        """Of which process, and when that was."""
        self._heard_at = 0.0
        self._is_stuck = False
        self.error = ""
        """Why the index cannot be made; a person has to decide what becomes of it."""
        self.has_begun = False
        """Whether it was heard in this run."""
        self.status: IndexStatus | None = None
        """What it last said of itself."""

    async def run(self) -> None:
        """Keep it alive until it has left."""
        pause_s = _FIRST_PAUSE_S
        lives = 0
        while not self._is_leaving:
            started = time.monotonic()
            code = await self._run_process()
            if self._is_leaving or (code == 0 and self._is_finishing):
                return
            if code == USAGE_ERROR:
                self._is_given_up = True
                self.error = "the index cannot be made; --no-index crawls without it"
                return
            if time.monotonic() - started > _RECOVERED_S and not self._is_stuck:
                pause_s, lives = _FIRST_PAUSE_S, 0
            lives += 1
            if lives >= _MAX_LIVES:
                self._is_given_up = True
                _log.warning(
                    "the indexer has failed %d times in a row, and the crawl goes on without it; "
                    "try `rdfspider index --dir %s` later",
                    *(lives, self._paths.folder),
                )
                return
            _log.warning("the indexer has ended with code %d; it is started again in %g s", code, pause_s)
            await self._sleep(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)

    def look(self) -> None:
        """Read what it says of itself, and kill one that has stopped to do so, which loses nothing."""
        status, process = load_index_status(self._paths), self._process
        if status is None or process is None or process.pid != status.pid or self._is_leaving:
            self.status = read_index_status(self._paths) or self.status
            return
        self.has_begun = True
        silent_s = self._measure_silence(process.pid)
        self.status = prolong_lag(status, silent_s) if silent_s > _SILENT_S else status
        if silent_s > _STUCK_S:
            _log.warning("the indexer has not been heard for %g s; it is started again", _STUCK_S)
            self._is_stuck = True
            with suppress(ProcessLookupError):
                process.kill()

    def find_brake(self) -> str:
        """Why shards should begin nothing new; empty where they may. While an indexer is started again what was decided holds;
        one that is given up, or that cannot go on at the moment, is not helped by waiting."""
        status = self.status
        if self._is_given_up or self._is_finishing or self._is_leaving:
            self._slowed = ""
        elif status is not None and status.is_running:
            limit_s = self._config.index.max_lag_s * (_EASED if self._slowed else 1.0)
            is_slow = status.lag_s > limit_s and status.state != "suspended"
            self._slowed = f"the index is {status.lag_s:,.0f} s behind" if is_slow else ""
        return self._slowed

    def finish(self) -> None:
        """Let it leave when all is indexed."""
        self._is_finishing = True
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError, RuntimeError):  # It may have died in this moment.
                self._process.stdin.write(FINISH)

    async def leave(self) -> None:
        """Let it make durable what it has taken, and leave; one that does not is killed, which loses nothing either."""
        self._is_leaving = True
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self._process.wait(), _PATIENCE_S)
        except TimeoutError:
            self.kill()

    def kill(self) -> None:
        """End it at once."""
        self._is_leaving = True
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()

    def _measure_silence(self, pid: int) -> float:
        """How long ago it was heard, by this process's clock."""
        with suppress(OSError):
            word = (pid, self._paths.status.stat().st_mtime_ns)
            if word != self._last_word:
                self._last_word, self._heard_at = word, time.monotonic()
        return time.monotonic() - self._heard_at

    async def _run_process(self) -> int:
        # Ctrl-C reaches every process of a terminal, also one that has not yet come to the line where it turns that off: it
        # inherits what is blocked here, for a moment.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            # What lies in the current folder is no part of us (-P).
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "rdfspider.run.indexer_process"), stdin=asyncio.subprocess.PIPE
            )
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        self._process = process
        self._is_stuck = False
        assert process.stdin is not None
        order = IndexOrder(self._paths.folder, self._config, self._is_finishing)
        with suppress(OSError):
            # The pipe stays open: its end tells the indexer that this process is gone.
            process.stdin.write(encode_order(order))
            await process.stdin.drain()
        if self._is_finishing and not order.is_finishing:
            self.finish()
        if self._is_leaving:
            self.kill()
        code = await process.wait()
        process.stdin.close()
        self._process = None
        return code

    async def _sleep(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._is_leaving:
            await asyncio.sleep(min(0.1, seconds))
