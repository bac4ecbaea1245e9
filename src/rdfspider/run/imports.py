"""Imports of WARC files into a crawl: paths enter, a Status and the reports of all shards leave.

Each shard has an importer process (`run/importer.py`), which is supervised here; all reports together make the crawl's status.
"""

import asyncio
import pickle
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from rdfspider.config import Config
from rdfspider.crawl.folder import CONTROL
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.status import Status, end_shards, forget_run, leave_to_totals, read_status, sum_beats, write_status
from rdfspider.errors import USAGE_EXIT, RdfspiderError
from rdfspider.processes.module_process import ModuleProcess
from rdfspider.processes.signals import Signals, run_until_end
from rdfspider.processes.supervisor import Exit, Fate, RestartPolicy, Supervisor
from rdfspider.run.importer import ImportOrder, ImportReport
from rdfspider.run.runners.local import remove_old_sockets

# A page that crashes a native library is extracted in a separate process after the restart, which needs no pause. After more
# crashes than this, the cause is not such pages.
_RESTARTS = RestartPolicy(first_pause_s=0.0, max_pause_s=0.0, max_failures=20)

_REASONS = {int(signal.SIGINT): "interrupted", int(signal.SIGTERM): "terminated"}

Progress = Callable[[Status, Sequence[ImportReport]], None]


def run_import(
    folder: Path, config: Config, paths: Sequence[Path], on_progress: Progress
) -> tuple[Status, list[ImportReport]]:
    """Import all pages of the WARC files; the caller holds the folder's lock. An interrupted import is resumed."""
    remove_old_sockets(folder / CONTROL)
    running = _Import(folder, config, tuple(paths), on_progress)
    return run_until_end(running.run, running.signals)


class _Import:
    def __init__(self, folder: Path, config: Config, paths: tuple[Path, ...], on_progress: Progress) -> None:
        self._folder = folder
        self._config = config
        self._paths = paths
        self._on_progress = on_progress
        previous = read_status(folder)
        self._previous = {beat.shard: forget_run(beat) for beat in previous.shards}
        # The time of an import does not count towards the crawl's time limit.
        self._elapsed_s = previous.elapsed_s
        self._started = time.time()
        self._reports: dict[int, ImportReport] = {}
        self._supervisors: list[Supervisor] = []
        self.signals = Signals(self._stop)
        self._signal = 0
        self._error = ""

    @property
    def _is_over(self) -> bool:
        return bool(self._signal or self._error)

    async def run(self) -> tuple[Status, list[ImportReport]]:
        self.signals.listen()
        try:
            await asyncio.gather(*(self._keep_alive(number) for number in range(self._config.crawl.shards)))
        finally:
            # Also if the status could not be written.
            self._kill_all()
        reason = self._error or _REASONS.get(self._signal, "finished")
        status = end_shards(self._make_status(RunState.STOPPED if self._is_over else RunState.ENDED, reason))
        write_status(self._folder, status)
        if self._error:
            raise RdfspiderError(self._error)
        return status, [self._reports[number] for number in sorted(self._reports)]

    async def _keep_alive(self, number: int) -> None:
        def judge(end: Exit) -> Fate:
            report = self._reports.get(number)
            if self._is_over or (end.code == 0 and report is not None and report.is_done):
                return Fate.OVER
            if end.code == USAGE_EXIT:
                self._end_with("the import has ended early; what was imported is kept")
                return Fate.OVER
            return Fate.FAILED

        supervisor = Supervisor(f"the import of shard {number}", partial(self._start, number), judge, _RESTARTS)
        self._supervisors.append(supervisor)
        if not await supervisor.run():
            self._end_with(f"the import of shard {number} has failed {_RESTARTS.max_failures} times")

    async def _start(self, number: int) -> ModuleProcess:
        order = pickle.dumps(ImportOrder(number, self._folder, self._config, self._paths))
        return await ModuleProcess.start("rdfspider.run.importer", order, on_line=partial(self._take_report, number))

    def _take_report(self, number: int, line: bytes) -> None:
        self._reports[number] = msgspec.json.decode(line, type=ImportReport)
        status = self._make_status(RunState.RUNNING, "")
        write_status(self._folder, status)
        try:
            self._on_progress(status, list(self._reports.values()))
        except BaseException:
            self._kill_all()
            raise

    def _stop(self, number: int) -> None:
        """Kill all importers; what is not durable is imported by the next run of the same command."""
        self._signal = self._signal or number
        self._kill_all()

    def _end_with(self, error: str) -> None:
        """End the import with an error: without one shard, its share of the pages would be missing."""
        self._error = self._error or error
        self._kill_all()

    def _kill_all(self) -> None:
        for supervisor in self._supervisors:
            supervisor.kill()

    def _make_status(self, state: RunState, reason: str) -> Status:
        beats = self._previous | {number: report.beat for number, report in self._reports.items()}
        known = tuple(beats[number] for number in sorted(beats))
        run_s = time.time() - self._started
        return Status(
            state=state,
            reason=reason,
            started=self._started,
            updated=time.time(),
            run_s=run_s,
            elapsed_s=self._elapsed_s,
            totals=sum_beats(known),
            shards=tuple(map(leave_to_totals, known)),
        )
