"""All shards of a crawl on this machine: a process each, one that indexes, and their coordinator in this one.

A shard that dies is started again while the others go on. Every second, and when it changes, the state of the whole is written
to the crawl's folder; the first Ctrl-C finishes what is under way, the second stops at once, and neither loses anything.
"""

import asyncio
import logging
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from rdfspider.config import Config
from rdfspider.crawl.edits import make_change
from rdfspider.crawl.folder import CONTROL, shard_folder
from rdfspider.crawl.history import Recorder
from rdfspider.crawl.messages import Answer, Command
from rdfspider.crawl.status import (
    Speed,
    Status,
    end_shards,
    forget_run,
    leave_to_totals,
    read_status,
    sum_beats,
    write_status,
)
from rdfspider.disk import write_atomically
from rdfspider.errors import UsageError
from rdfspider.processes.signals import Signals, run_until_end
from rdfspider.run.indexer_watch import IndexWatch
from rdfspider.run.peers.coordinator import Coordinator, CoordinatorHub, Letters
from rdfspider.run.peers.messages import Control
from rdfspider.run.peers.sockets import make_endpoint_folder, remove_endpoint_folder, remove_old_endpoints
from rdfspider.run.shard_process import DAMAGED, DISK_FAILED, Order

_log = logging.getLogger(__name__)

_TICK_S = 1.0
# A shard that dies at once is started again after this time, and after twice that, and so on.
_FIRST_PAUSE_S = 1.0
_MAX_PAUSE_S = 30.0
# One that has lived for so long had recovered.
_RECOVERED_S = 60.0
# One that has died so many times in a row before it was heard at all never will be.
_MAX_SILENT_LIVES = 8
# A shard beats every second, whatever it does; one that does not for so long never will.
_STUCK_S = 120.0
# How soon it is noticed that nobody wants to wait for the index any more.
_FINISH_POLL_S = 0.1
_USAGE_ERROR = 2
_REASONS = {
    "done": ("ended", "finished"),
    "pages": ("ended", "pages"),
    "bytes": ("ended", "bytes"),
    "time": ("ended", "time"),
    "stopped": ("stopped", "asked"),
}


def run_local(folder: Path, config: Config, on_progress: Callable[[Status], None] | None = None) -> Status:
    """Run a crawl until it ends; the caller holds the folder's lock. Returns how it ended, and tells that last of all."""
    on_progress = on_progress or (lambda status: None)
    local = _Local(folder, config, on_progress)
    status = run_until_end(local.run, local.signals)
    on_progress(status)
    return status


class _Local:
    def __init__(self, folder: Path, config: Config, on_progress: Callable[[Status], None]) -> None:
        self._folder = folder
        self._config = config
        self._on_progress = on_progress
        previous = read_status(folder)
        self._previous = tuple(map(forget_run, previous.shards))
        self._spent_s = previous.elapsed_s
        self._started = time.time()
        self._speed = Speed()
        self._history = Recorder(folder)
        known_bytes = {beat.shard: beat.fetched_bytes for beat in self._previous}
        self._coordinator = Coordinator(config.crawl.shards, config.crawl, self._spent_s, known_bytes)
        self._processes: set[asyncio.subprocess.Process] = set()
        self._index = IndexWatch(folder, config) if config.index.enabled else None
        self._is_finishing = False
        """Whether all shards have ended, and the index alone is waited for."""
        self.signals = Signals(self._take_signal)
        self._taken: list[signal.Signals] = []
        """The signals that came."""
        self._error = ""
        self._written_state = ""
        self._is_written = True
        """Whether the last status could be written."""

    async def run(self) -> Status:
        remove_old_endpoints(self._folder / CONTROL)
        endpoints = make_endpoint_folder()
        self._hub = CoordinatorHub(self._coordinator, endpoints, self._write_change, self._change)
        self._hub.open()
        ticks = asyncio.create_task(self._tick())
        ticks.add_done_callback(self._end_without_ticks)
        try:
            write_atomically(self._folder / CONTROL, f"{self._hub.endpoint}\n".encode(), durable=False)
            self.signals.listen()
            numbers = range(self._config.crawl.shards)
            indexing = asyncio.create_task(self._keep_index())
            await asyncio.gather(*(self._keep_alive(number, str(endpoints)) for number in numbers))
            await self._finish_index(indexing)
        finally:
            if self._index is not None:
                self._index.kill()
            ticks.cancel()
            self._hub.close()
            with suppress(OSError):
                (self._folder / CONTROL).unlink()
            remove_endpoint_folder(self._hub.endpoint)
        if self._index is not None:
            self._index.look()
        status = end_shards(self._make_status())
        self._write_status(status)
        self._history.write()
        if ticks.done():
            ticks.result()
        if self._error:
            raise UsageError(self._error)
        return status

    def _change(self, command: Command) -> tuple[Answer, Letters]:
        """Do what a person asks that is to be kept; this process holds the folder's lock."""
        try:
            count, self._config = make_change(self._folder, self._config, command)
        except (UsageError, OSError) as error:
            return Answer(False, str(error)), []
        crawl = self._config.crawl
        change = Control("filters", include=crawl.include, exclude=crawl.exclude)
        if command.command == "add-seeds":
            change = Control("seeds")
        return Answer(True, count=count), self._coordinator.announce(change) if count else []

    async def _keep_alive(self, number: int, endpoints: str) -> None:
        """Start a shard, and start it again whenever it dies before the end."""
        order = Order(number, self._folder, endpoints, self._config, os.getpid())
        pause_s = _FIRST_PAUSE_S
        silent_lives = 0
        while not self._coordinator.ended:
            started = time.monotonic()
            code = await self._run_process(order)
            order = order._replace(is_again=True)
            is_silent = number not in self._coordinator.present and code != DISK_FAILED
            silent_lives = silent_lives + 1 if is_silent else 0
            self._coordinator.lose(number)
            if self._coordinator.ended:
                return
            if error := self._find_error(number, code, silent_lives):
                self._end_with(error)
                return
            if time.monotonic() - started > _RECOVERED_S:
                pause_s = _FIRST_PAUSE_S
            if code != DISK_FAILED:
                _log.warning("shard %d has ended with code %d; it is started again in %g s", number, code, pause_s)
            await self._sleep(pause_s)
            pause_s = min(2 * pause_s, _MAX_PAUSE_S)

    async def _keep_index(self) -> None:
        """Have the crawl indexed, if it is to be. One that cannot be indexed at all is not begun; what fails later is told, and
        does not end it."""
        if self._index is None:
            return
        await self._index.run()
        if self._index.error and not self._index.has_begun:
            self._end_with(self._index.error)
        elif self._index.error:
            _log.warning("the crawl goes on without its index; bring it up to date later, with `rdfspider index`")

    async def _finish_index(self, indexing: asyncio.Task[None]) -> None:
        """Let the indexer take what the shards have left, after a crawl that has ended by itself; else let it leave."""
        if self._index is not None and not indexing.done():
            self._is_finishing = True
            if not self._is_cut_short():
                self._index.finish()
            while not indexing.done() and not self._is_cut_short():
                await asyncio.wait([indexing], timeout=_FINISH_POLL_S)
            await self._index.leave()
        await indexing

    def _is_cut_short(self) -> bool:
        """Whether a person or an error has ended the crawl."""
        coordinator = self._coordinator
        return bool(self._taken or self._error) or coordinator.is_told_to_stop or coordinator.ended == "halted"

    def _find_error(self, number: int, code: int, silent_lives: int) -> str:
        """What a person has to mend before a shard can go on; empty where it is worth another try."""
        if code == DAMAGED:
            # An older frontier alone would cut the archive back to its own age.
            return (
                f"{shard_folder(self._folder, number) / 'frontier'} is damaged: put a sound copy of all of {self._folder} in its "
                "place, or start a new crawl elsewhere; its WARC files can still be read"
            )
        if code == _USAGE_ERROR:
            return f"shard {number} cannot be opened"
        if silent_lives >= _MAX_SILENT_LIVES:
            return f"shard {number} cannot be started: it has failed {silent_lives} times in a row"
        return ""

    def _end_with(self, error: str) -> None:
        """Let the other shards finish what is under way; how the crawl ended is the first error."""
        self._error = self._error or error
        self._hub.send(self._coordinator.end("stopped"))

    async def _run_process(self, order: Order) -> int:
        # What lies in the current folder is no part of us (-P).
        # Ctrl-C reaches every process of a terminal, also one that has not yet come to the line where it turns that off: it
        # inherits what is blocked here, for a moment.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "rdfspider.run.shard_process"), stdin=asyncio.subprocess.PIPE
            )
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        self._processes.add(process)
        watch = asyncio.create_task(self._watch(process, order.number))
        try:
            await process.communicate(pickle.dumps(order))
        finally:
            watch.cancel()
            self._processes.discard(process)
        return process.returncode or 0

    async def _watch(self, process: asyncio.subprocess.Process, number: int) -> None:
        """Kill a shard that beats no more: a page, or a disk, has it stuck."""
        last, heard_at = None, time.monotonic()
        while last is None or time.monotonic() - heard_at < _STUCK_S:
            await asyncio.sleep(_TICK_S)
            beat = self._coordinator.beats.get(number)
            if beat is not None and beat.pid == process.pid and beat is not last:
                last, heard_at = beat, time.monotonic()
        _log.warning("shard %d has not been heard for %g s; it is started again", number, _STUCK_S)
        with suppress(ProcessLookupError):
            process.kill()

    async def _sleep(self, seconds: float) -> None:
        """Wait, but not beyond the end of the crawl."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._coordinator.ended:
            await asyncio.sleep(min(0.1, seconds))

    async def _tick(self) -> None:
        while True:
            self._hub.send(self._coordinator.tick())
            if self._index is not None:
                self._index.look()
                self._hub.send(self._coordinator.slow(self._index.find_brake()))
            status = self._write_present()
            self._history.record(status)
            self._on_progress(status)
            await asyncio.sleep(_TICK_S)

    def _end_without_ticks(self, ticks: asyncio.Task[None]) -> None:
        """Without them no limit of time would be kept, so what ends them, a watcher's error say, ends the crawl."""
        if not ticks.cancelled() and (error := ticks.exception()):
            self._end_with(f"what watched it failed: {str(error) or type(error).__name__}")

    def _write_change(self) -> None:
        """Who has paused a crawl, and asks for its status then, must not read what was true a second ago."""
        if self._coordinator.state != self._written_state:
            self._write_present()

    def _write_present(self) -> Status:
        """How it goes now; a crawl that is ending has not ended."""
        status = self._make_status()
        if self._coordinator.ended:
            status = msgspec.structs.replace(status, state=self._coordinator.state)
            if self._is_finishing and not self._is_cut_short():
                behind = status.index.behind_pages if status.index else 0
                what = f"indexing the last pages, about {behind:,}" if behind else "the index is brought up to date"
                status = msgspec.structs.replace(status, reason=what)
        self._write_status(status)
        return status

    def _write_status(self, status: Status) -> None:
        """A disk that is full or missing is no reason to stop: the crawl goes on when it is back, and so does this."""
        self._written_state = status.state
        try:
            write_status(self._folder, status)
        except OSError as error:
            if self._is_written:
                _log.warning("the status cannot be written: %s", error)
            self._is_written = False
        else:
            self._is_written = True

    def _make_status(self) -> Status:
        beats = self._coordinator.beats
        # Until a shard is heard, what was last known of it still holds.
        unheard = [beat for beat in self._previous if beat.shard not in beats]
        known = sorted((*beats.values(), *unheard), key=lambda beat: beat.shard)
        totals = sum_beats(known)
        pages_s, bytes_s = self._speed.measure(time.monotonic(), totals)
        state, reason = self._coordinator.state, ""
        if self._coordinator.ended:
            state, reason = _REASONS.get(self._coordinator.ended, ("stopped", self._coordinator.ended))
            if self._taken:
                state, reason = "stopped", "interrupted" if self._taken[0] == signal.SIGINT else "terminated"
            if self._error:
                state, reason = "stopped", self._error
        crawl = self._config.crawl
        limits = {name: float(getattr(crawl, name)) for name in ("pages", "bytes", "time_s", "depth")}
        return Status(
            state=state,
            reason=reason,
            started=self._started,
            updated=time.time(),
            run_s=self._coordinator.ran_s - self._spent_s,
            elapsed_s=self._coordinator.ran_s,
            pages_s=pages_s,
            bytes_s=bytes_s,
            limits={name: limit for name, limit in limits.items() if limit},
            totals=totals,
            shards=tuple(map(leave_to_totals, known)),
            index=self._index.status if self._index else None,
        )

    def _take_signal(self, number: signal.Signals) -> None:
        """The first one stops the crawl, the second at once."""
        self._taken.append(number)
        if len(self._taken) == 1:
            self._hub.send(self._coordinator.end("stopped"))
            return
        for process in self._processes:
            with suppress(ProcessLookupError):  # It may have ended in this moment.
                process.kill()
        if self._index is not None:
            self._index.kill()
