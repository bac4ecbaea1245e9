"""Imports of WARC files into a crawl: paths enter; pages, as if the crawl had fetched them, a Status and reports leave.

`run_import`, in the parent process, supervises one importer for each shard, and adds up their reports. Each importer is a process
that reads all files and takes the pages of its own hosts, so shards need not communicate. It gets an ImportOrder on stdin, and
reports in lines of JSON on stdout. Pages are committed in groups as in a crawl, together with the position reached in each file,
where an import that was killed resumes.
"""

import asyncio
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from xxhash import xxh3_128_hexdigest

from rdfspider.archive.reader import Archived, read_captures
from rdfspider.archive.warc_file import Damage
from rdfspider.archive.writer import Written
from rdfspider.codes import LeaseKind, Reason, VerdictState
from rdfspider.config import Config
from rdfspider.crawl.budgets import SIGNAL_REASONS, EndReason
from rdfspider.crawl.folder import CONTROL, advise_doctor, frontier_folder, load_domains, shard_folder
from rdfspider.crawl.lives import open_frontier
from rdfspider.crawl.messages import Beat, RunState
from rdfspider.crawl.status import Status, end_shards, forget_run, read_status, strip_beat, sum_beats, write_status
from rdfspider.domains import Domains
from rdfspider.errors import USAGE_EXIT, RdfspiderError, UsageError
from rdfspider.frontier.store import is_damage, is_disk_error
from rdfspider.judge.judgement import apply_judgement, judge_directives
from rdfspider.places.records import list_away
from rdfspider.processes.module_process import ModuleProcess, calm_collector
from rdfspider.processes.signals import Signals, run_until_end
from rdfspider.processes.supervisor import Exit, Fate, RestartPolicy, Supervisor
from rdfspider.records import Capture, Finished, Lease, Verdict
from rdfspider.run.commits import ShardStore, check_disk, count_bytes, make_facts
from rdfspider.run.extraction import extract_page
from rdfspider.run.heartbeat import Condition, Meter, make_beat
from rdfspider.run.heavy_pages import TURN_FILE, LargePages, PoisonPages
from rdfspider.run.runners.local import remove_old_sockets
from rdfspider.urls import MAX_URL_CHARS, host_of, normalise_url
from rdfspider.ways import Way

# A page that crashes a native library is extracted in a separate process after the restart, which needs no pause. After more
# crashes than this, the cause is not such pages.
_RESTARTS = RestartPolicy(first_pause_s=0.0, max_pause_s=0.0, max_failures=20)
# A group is committed when its bodies, text and statements reach this size.
_GROUP_BYTES = 16 * 1024 * 1024
# How much of a file's beginning and of its end identifies it.
_MARK_BYTES = 64 * 1024
_TELL_S = 1.0
_MAX_DAMAGES = 100


class ImportOrder(NamedTuple):
    """The task of an importer."""

    number: int
    folder: Path
    config: Config
    paths: tuple[Path, ...]


class ImportReport(msgspec.Struct, frozen=True):
    """The progress of an import in one shard."""

    beat: Beat
    imported: int = 0
    """Pages that this run has added to the archive."""
    known: int = 0
    """Captures skipped or replaced because the crawl or this import has one of the same page that is as new or newer."""
    too_long: int = 0
    """Captures of pages whose URL is longer than a crawl allows."""
    damages: tuple[str, ...] = ()
    """The first records that could not be read, a line each; the same for every shard."""
    damage_count: int = 0
    read_bytes: int = 0
    """Bytes read, over all files."""
    is_done: bool = False


Progress = Callable[[Status, Sequence[ImportReport]], None]


def run_import(
    folder: Path, config: Config, paths: Sequence[Path], on_progress: Progress
) -> tuple[Status, list[ImportReport]]:
    """Import all pages of the WARC files; the caller holds the folder's lock. An interrupted import is resumed."""
    if list_away(folder):
        raise UsageError(f"{folder} has its shards in other places: import into a crawl of its own")
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
        self._signal: signal.Signals | None = None
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
        reason = self._error or (SIGNAL_REASONS[self._signal] if self._signal else EndReason.FINISHED).value
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
        return await ModuleProcess.start("rdfspider.run.imports", order, on_line=partial(self._take_report, number))

    def _take_report(self, number: int, line: bytes) -> None:
        self._reports[number] = msgspec.json.decode(line, type=ImportReport)
        status = self._make_status(RunState.RUNNING, "")
        write_status(self._folder, status)
        try:
            self._on_progress(status, list(self._reports.values()))
        except BaseException:
            self._kill_all()
            raise

    def _stop(self, number: signal.Signals) -> None:
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
            shards=tuple(map(strip_beat, known)),
        )


class Importer:
    """Imports the pages of one shard from WARC files."""

    def __init__(self, order: ImportOrder, domains: Domains) -> None:
        self._order = order
        self._config = order.config
        self._domains = domains
        self._folder = shard_folder(order.folder, order.number)
        check_disk(order.folder, order.number)
        self._meter = Meter()
        self._frontier = open_frontier(order.folder, order.number, order.config, domains)
        self._store = ShardStore(order.number, self._folder, order.config, self._frontier, self._meter)
        self._large_pages = LargePages(order.config.run.extract_timeout_s, self._folder.parent / TURN_FILE)
        self._poison_pages = PoisonPages(self._folder)
        self._group: dict[str, Finished] = {}
        self._group_bytes = 0
        self._imported = self._known = self._too_long = self._read_bytes = 0
        self._damages: list[str] = []
        self._damage_count = 0
        self._next_report = 0.0

    async def run(self) -> None:
        """Read all files, each from where an earlier import of it stopped."""
        for path in self._order.paths:
            await self._import(path)
        self._tell(is_done=True)
        self._large_pages.close()
        self._poison_pages.close()
        self._store.close()
        self._frontier.close()

    async def _import(self, path: Path) -> None:
        size = path.stat().st_size
        mark = make_mark(path, size)
        done = int(self._frontier.meta.get(mark) or 0)
        start_bytes, position = self._read_bytes, done
        if done < size:
            for found in self._read(path, done):
                position = found.position
                await self._take(found.capture)
                if len(self._group) >= self._config.run.group_pages or self._group_bytes >= _GROUP_BYTES:
                    # After a crash, the last page is read again and recognised as known.
                    await self._commit(mark, position)
                self._read_bytes = start_bytes + position
                self._tell()
        await self._commit(mark, size)
        self._read_bytes = start_bytes + size

    def _read(self, path: Path, start: int) -> Iterator[Archived]:
        for found in read_captures(path, start, limit=self._config.extract.max_body_bytes):
            if isinstance(found, Damage):
                self._damage_count += 1
                if len(self._damages) < _MAX_DAMAGES:
                    self._damages.append(f"{path}: the record at byte {found.offset} was passed over: {found.reason}")
            else:
                yield found

    async def _take(self, capture: Capture) -> None:
        """Extract a page, if its host belongs to this shard and the archive has no capture of it that is as new. Responses other
        than 2xx are only counted."""
        url = normalise_url(capture.page.url)
        if url is None or self._domains.shard(host := host_of(url)) != self._order.number:
            return
        if not 200 <= capture.status < 300:
            self._meter.statuses[str(capture.status) if capture.status else "protocol"] += 1
            return
        if len(url) > MAX_URL_CHARS:
            self._too_long += 1
            return
        if self._frontier.imports.has_since(url, capture.started):
            self._known += 1
            return
        if (earlier := self._group.get(url)) is not None:
            self._known += 1
            if earlier.exchange is not None and earlier.exchange.started >= capture.started:
                return
            self._group_bytes -= count_bytes(earlier)
        page = replace(capture.page, url=url)
        extraction = await extract_page(page, self._config.extract, self._large_pages, self._poison_pages, self._meter)
        judgement = judge_directives(capture, extraction, time.time())
        verdict = Verdict(VerdictState.DONE, Reason.IMPORTED, capture.status)
        verdict, extraction = apply_judgement(verdict, extraction, judgement)
        self._meter.count(host, verdict, capture)
        lease = Lease(LeaseKind.PAGE, host, 0, url, found_as=Way.IMPORT)
        taken = Finished(lease, verdict, replace(capture, page=page), extraction, judgement=judgement)
        self._group[url] = taken
        self._group_bytes += count_bytes(taken)

    async def _commit(self, mark: str, position: int) -> None:
        """Commit the group together with the position in the file."""
        if full := self._store.find_full():
            raise UsageError(f"{full}; make room and run the same command again")
        self._frontier.meta.put(mark, str(position).encode())
        await self._store.commit(tuple(self._group.values()), self._stage, stores_names=True)
        self._imported += len(self._group)
        self._group.clear()
        self._group_bytes = 0

    def _stage(self, item: Finished, written: Written | None) -> None:
        capture = item.exchange
        assert isinstance(capture, Capture)
        # Also for a noindex page, so that the next import recognises it as known.
        facts = msgspec.structs.replace(make_facts(item, written), captured=capture.started)
        self._frontier.imports.record(item.lease.url, item.verdict, facts)

    def _tell(self, *, is_done: bool = False) -> None:
        """Report to the parent, at most once a second, and at the end."""
        if not is_done and time.monotonic() < self._next_report:
            return
        self._next_report = time.monotonic() + _TELL_S
        store = self._store
        condition = Condition(
            RunState.RUNNING,
            is_idle=is_done,
            archive_bytes=store.archive_bytes,
            disk_free_bytes=store.free_bytes,
        )
        beat = make_beat(self._order.number, self._frontier, self._meter, store.data_counts, condition)
        report = ImportReport(
            beat,
            self._imported,
            self._known,
            self._too_long,
            tuple(self._damages),
            self._damage_count,
            self._read_bytes,
            is_done,
        )
        sys.stdout.buffer.write(msgspec.json.encode(report) + b"\n")
        sys.stdout.buffer.flush()


def make_mark(path: Path, size: int) -> str:
    """Return the key for the position in a file; file names do not suffice, as those of two crawls may be the same."""
    with path.open("rb") as file:
        ends = file.read(_MARK_BYTES)
        file.seek(max(size - _MARK_BYTES, 0))
        ends += file.read(_MARK_BYTES)
    return f"import/{xxh3_128_hexdigest(f'{path.name} {size} '.encode() + ends)}"


def main() -> None:
    """Run an importer."""
    order: ImportOrder = pickle.load(sys.stdin.buffer)
    domains = load_domains(order.folder, order.config.crawl.shards)
    try:
        importer = Importer(order, domains)
        calm_collector()
        asyncio.run(importer.run())
    except Exception as error:
        frontier = frontier_folder(order.folder, order.number)
        is_damaged = is_damage(error, frontier)
        if not is_damaged and not isinstance(error, UsageError) and not is_disk_error(error):
            raise
        told = f"{frontier} is damaged ({error}): {advise_doctor(order.folder)}" if is_damaged else str(error)
        sys.stderr.write(f"rdfspider: {told}\n")
        # Without clean-up: what is in memory would only fail again, and all that matters is on disk.
        sys.stderr.flush()
        os._exit(USAGE_EXIT)


if __name__ == "__main__":
    main()
