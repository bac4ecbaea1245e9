"""Extract in several processes: parts enter; PageResults leave in the order of the parts, however many processes there are.

Each worker reads its part itself and sends one PageResult per page, so that little data is sent and no common reader is a
bottleneck. Early results wait, within bounds. A page that kills its process (a fault in native code) is read once more by the
second parser, and if that fails too, only that page is lost.
"""

import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess

from rdfspider.archive.reader import Mark
from rdfspider.archive.warc_file import Damage
from rdfspider.batch.counts import PageCounts, count_statements
from rdfspider.batch.sources import ArchivePart, DamagedPart, FilesPart, PagePart, Part, read_part
from rdfspider.config import ExtractConfig
from rdfspider.detect.content import detect_content
from rdfspider.errors import RdfspiderError
from rdfspider.extract.page import extract_page
from rdfspider.formats import ExtractFormat, merge_nquads, page_fragment
from rdfspider.processes.calls import CallError
from rdfspider.records import Page, Problem
from rdfspider.second_reading import SecondReading
from rdfspider.validate.checks import Checks, check_page
from rdfspider.validate.findings import Finding

# Results of a part whose turn has not come are received up to this size; then its worker waits.
_EARLY_BYTES = 16 * 1024 * 1024
# How many parts per process may be started before the first of them is finished.
_PARTS_AHEAD = 3
# How long the second reading of a page may take; the largest pages take about twenty seconds.
_SECOND_READING_S = 60.0
_DIED = "the process that read this page died"


@dataclass(frozen=True, slots=True)
class Work:
    """What to do with every page."""

    config: ExtractConfig
    file_format: ExtractFormat | None = ExtractFormat.NQUADS
    """The format of the fragments; None for no fragments."""
    counts: bool = False
    """Whether types and properties are counted."""
    checks: Checks | None = None
    """What pages are checked for; None for no checks."""


@dataclass(frozen=True, slots=True)
class PageResult:
    """The result of one page, ready to be written."""

    url: str
    fragment: bytes = b""
    quads: dict[str, int] = field(default_factory=dict)
    """Their number by syntax."""
    problems: tuple[Problem, ...] = ()
    counts: PageCounts | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class PartEnd:
    """A part is finished, and so are all before it."""

    part_bytes: int


@dataclass(frozen=True, slots=True)
class _Assignment:
    """A part to work on, without the first `skip` items, whose results an earlier worker sent."""

    part: Part
    skip: int = 0
    fatal: bool = False
    """Whether the next item killed the earlier worker."""


def run_parts(parts: Sequence[Part], work: Work, jobs: int) -> Iterator[PageResult | Damage | PartEnd]:
    """Work on all parts. A single page is read in this process, which is faster than starting another."""
    if len(parts) == 1 and _is_one_page(parts[0]):
        yield from (item for item in _run_part(_Assignment(parts[0]), work) if not isinstance(item, Mark))
        yield PartEnd(parts[0].part_bytes)
    elif parts:
        pool = _Pool(parts, work, min(jobs, len(parts)))
        try:
            yield from pool.run()
        finally:
            pool.stop()


def _is_one_page(part: Part) -> bool:
    return isinstance(part, PagePart) or (isinstance(part, FilesPart) and len(part.files) == 1)


def _run_part(assignment: _Assignment, work: Work) -> Iterator[PageResult | Damage | Mark]:
    count = 0
    try:
        for item in read_part(assignment.part, work.config.max_body_bytes):
            if isinstance(item, Mark):
                yield item
                continue
            if count >= assignment.skip:
                fatal = assignment.fatal and count == assignment.skip
                if isinstance(item, Damage):
                    yield item
                else:
                    yield _run_again(item, work) if fatal else _run_page(item, work)
            count += 1
    except (RdfspiderError, OSError) as error:
        yield Damage(_name_of(assignment.part), 0, str(error))


def _run_page(page: Page, work: Work) -> PageResult:
    content = detect_content(page, work.config.max_body_bytes)
    found = extract_page(page, content, work.config)
    quads = {syntax: nquads.count("\n") for syntax, nquads in found.statements.items() if nquads}
    fragment = page_fragment(found.statements, work.file_format) if work.file_format else b""
    counts = count_statements(merge_nquads(found.statements.values())) if work.counts and quads else None
    findings: Sequence[Finding] = ()
    if work.checks is not None:
        findings = check_page(work.checks, page.url, found.statements, found.problems, content.text)
    return PageResult(page.url, fragment, quads, found.problems, counts, tuple(findings))


def _run_again(page: Page, work: Work) -> PageResult:
    """The result of a page that killed its process: by the second parser, or else only a Problem."""
    second = SecondReading(_SECOND_READING_S)
    try:
        return second.read(_run_page, page, work, died=_DIED)
    except CallError as error:
        problems = (Problem("process-died", f"{_DIED}; read again by another parser: {error}"),)
    finally:
        second.close()
    findings = check_page(work.checks, page.url, {}, problems) if work.checks else ()
    return PageResult(page.url, problems=problems, findings=tuple(findings))


def _name_of(part: Part) -> str:
    match part:
        case ArchivePart():
            return part.path
        case FilesPart():
            return part.files[0][0]
        case DamagedPart():
            return part.damage.path
    return part.page.url


def _serve(connection: Connection, work: Work) -> None:
    """Run a worker: receive an assignment, send its results and then None, until the other side closes the connection."""
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            for item in _run_part(connection.recv(), work):
                connection.send(item)
            connection.send(None)


def _start_context() -> ForkServerContext:
    """Start the process from which workers are forked: it has only imported this module, and has no threads or open output."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    if threading.current_thread() is not threading.main_thread():
        return context
    # Ctrl-C reaches every process of the terminal; only the main process handles it. Workers inherit that it is ignored.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        forkserver.ensure_running()
    finally:
        signal.signal(signal.SIGINT, before)
    return context


@dataclass(slots=True, eq=False)
class _BatchWorker:
    process: ForkServerProcess
    connection: Connection


@dataclass(slots=True, eq=False)
class _Task:
    """A part in progress, with results that were received but not yet passed on."""

    assignment: _Assignment
    worker: _BatchWorker | None = None
    items: deque[PageResult | Damage] = field(default_factory=deque)
    waiting_bytes: int = 0
    received: int = 0
    first: int | None = None
    """Where the first record of an archive's part begins."""
    end: int | None = None
    """Where the first record of the next part must begin."""
    done: bool = False


class _Pool:
    """Workers and their tasks; `tasks` is in order, and the results of the first are being passed on."""

    def __init__(self, parts: Sequence[Part], work: Work, jobs: int) -> None:
        self.work = work
        self.jobs = jobs
        self.parts = deque(parts)
        self.tasks: deque[_Task] = deque()
        self.idle: list[_BatchWorker] = []
        self.busy: dict[Connection, _Task] = {}
        self.context = _start_context()

    def run(self) -> Iterator[PageResult | Damage | PartEnd]:
        """Yield the results, one task after the other."""
        end: int | None = None
        while self.tasks or self.parts:
            self._begin_tasks()
            task = self.tasks[0]
            if not self._is_in_place(task, end):
                continue
            while task.items:
                item = task.items.popleft()
                task.waiting_bytes -= _size_of(item)
                yield item
            if task.done:
                self.tasks.popleft()
                end = task.end
                yield PartEnd(task.assignment.part.part_bytes)
            else:
                self._receive()

    def stop(self) -> None:
        """Kill all workers."""
        for worker in [*self.idle, *(task.worker for task in self.busy.values() if task.worker)]:
            worker.connection.close()
            worker.process.kill()
            worker.process.join()

    def _begin_tasks(self) -> None:
        while self.parts:
            has_room = len(self.busy) < self.jobs and len(self.tasks) < self.jobs * _PARTS_AHEAD
            if self.tasks and not has_room:
                return
            task = _Task(_Assignment(self.parts.popleft()))
            self.tasks.append(task)
            self._assign(task)

    def _assign(self, task: _Task) -> None:
        task.worker = worker = self.idle.pop() if self.idle else self._start_worker()
        self.busy[worker.connection] = task
        with suppress(BrokenPipeError, ConnectionResetError):
            worker.connection.send(task.assignment)

    def _start_worker(self) -> _BatchWorker:
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=_serve, args=(theirs, self.work), daemon=True)
        process.start()
        theirs.close()
        return _BatchWorker(process, ours)

    def _is_in_place(self, task: _Task, end: int | None) -> bool:
        """Return whether the first task's records follow those of the part before; if not, start it again where they end.

        A part's first record is searched for in the middle of an archive, and may be found inside another record's body.
        """
        part = task.assignment.part
        if not isinstance(part, ArchivePart) or part.exact or end is None:
            return True
        if task.first is None and not task.done:
            self._receive()
            return False
        if task.first == end:
            return True
        self.tasks[0] = anew = _Task(_Assignment(replace(part, start=min(end, part.stop), exact=True)), end=end)
        if end >= part.stop:
            anew.done = True
        else:
            self._assign(anew)
        return False

    def _receive(self) -> None:
        """Receive from workers, except those whose task is not the first and has too many results waiting."""
        first = self.tasks[0]
        listened = [
            connection
            for connection, task in self.busy.items()
            if task is first or task not in self.tasks or task.waiting_bytes < _EARLY_BYTES
        ]
        for connection in wait(listened):
            assert isinstance(connection, Connection)
            try:
                item = connection.recv()
            except (EOFError, OSError):
                self._replace_worker(connection)
                continue
            self._take(self.busy[connection], connection, item)

    def _take(self, task: _Task, connection: Connection, item: PageResult | Damage | Mark | None) -> None:
        match item:
            case None:
                task.done = True
                del self.busy[connection]
                assert task.worker is not None
                self.idle.append(task.worker)
            case Mark():
                task.first = item.position if not item.final else task.first
                task.end = item.position if item.final else None
            case _:
                task.received += 1
                task.items.append(item)
                task.waiting_bytes += _size_of(item)

    def _replace_worker(self, connection: Connection) -> None:
        """Replace a dead worker by one that skips the page that killed it; if that one dies there too, give up the part."""
        task = self.busy.pop(connection)
        connection.close()
        assert task.worker is not None
        task.worker.process.join()
        if task not in self.tasks:
            return
        before = task.assignment
        if before.fatal and task.received == before.skip:
            reason = "the process that read the rest of it died"
            task.items.append(Damage(_name_of(before.part), 0, reason))
            task.done = True
            return
        task.assignment = _Assignment(before.part, skip=task.received, fatal=True)
        self._assign(task)


def _size_of(item: PageResult | Damage) -> int:
    return len(item.fragment) + 1000 * (1 + len(item.findings)) if isinstance(item, PageResult) else 1000
