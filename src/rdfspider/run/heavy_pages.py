"""Heavy pages enter, their Extractions leave, through a process that can be killed, so that no page stalls or crashes a shard.

It is nice to the shards; the user's queries over page data run in another one. A page that crashes the process is read once more
by the second parser. One that takes too long or crashes again gives an Extraction with a Problem and nothing else. Pages that
crashed a shard before are remembered, and go to that process as well. The process imports this module too, so it imports no more
than extraction needs.
"""

import asyncio
import fcntl
import logging
import os
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rdfspider.config import ExtractConfig
from rdfspider.detect.content import MAGIC
from rdfspider.discover.data_links import run_query
from rdfspider.disk import write_atomically
from rdfspider.errors import RdfspiderError
from rdfspider.pipeline import extract_from
from rdfspider.processes.calls import CallError, CallFailure, KillableCalls
from rdfspider.records import Extraction, Page, Problem
from rdfspider.second_reading import SecondReading

_log = logging.getLogger(__name__)

LARGE_PAGE_BYTES = 1024 * 1024
"""Larger pages are extracted in the other process."""

TURN_FILE = "extracting.lock"
"""In the folder of the shards: the file that they take turns with."""

# Limit of the N-Quads of one page, which the shard has to hold, in characters: 16 MB of ordinary Turtle give about this much.
_STATEMENT_CHARS = 64 * 1024**2
# Bodies that may wait for the process; more would take the memory that other pages need.
_WAITING_BYTES = 32 * 1024**2
# How often a shard checks whether it is its turn.
_TURN_POLL_S = 0.02
# No crawl has more crashing pages; the oldest are forgotten, as a user may have killed the shard during their extraction.
_MAX_POISON_PAGES = 1_000
_MAX_URL_BYTES = 1 << 16
# How nice the process is to the shards: where processors are busy, it has a tenth of the time that a shard has.
_NICENESS = 10
# A page may take so many times its processor time by the clock: shards come first, but a process that hangs uses none.
_WALL_FACTOR = 30.0
# For how long a page is tried again for which no process could be started, and the pause after each time.
_STARTING_S, _START_PAUSE_S = 600.0, 1.0


class LargePages:
    """Extracts the large pages of a shard; `extract` may be called concurrently, and pages take turns.

    The shards of a crawl on one machine take turns, too, so that only one of their processes needs much memory.
    """

    def __init__(self, cpu_s: float, turn_file: Path) -> None:
        """`cpu_s` is the processor time for one page; `turn_file` is the same for all shards: who extracts a page has a lock on
        it."""
        self._cpu_s = cpu_s
        self._calls = KillableCalls(_WALL_FACTOR * cpu_s, cpu_s=cpu_s, niceness=_NICENESS)
        self._second = SecondReading(_WALL_FACTOR * cpu_s, cpu_s=cpu_s, niceness=_NICENESS)
        self._turn_file = os.open(turn_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        # Queries are small, and of all pages, so they neither wait for large pages nor are nice.
        self._queries = KillableCalls(_WALL_FACTOR * cpu_s, cpu_s=cpu_s)
        # Calls to the processes block, so they run in threads and not in the event loop.
        self._thread = ThreadPoolExecutor(1, "large-pages")
        self._query_thread = ThreadPoolExecutor(1, "queries")
        self._is_closed = False
        self.waiting_bytes = 0
        """The bodies of the pages that are in a process or wait for one."""
        self._extracting_bytes = 0
        """Of them those to be extracted."""

    def has_room(self, page: Page) -> bool:
        """Whether another page may wait for the process."""
        return not self._extracting_bytes or self._extracting_bytes + len(page.body) <= _WAITING_BYTES

    async def extract(self, page: Page, config: ExtractConfig) -> tuple[Extraction, float]:
        """Extract a page, and tell how many seconds of processor time it took; its time limit starts when its turn comes. A
        machine that cannot start a process now may do so soon."""
        give_up_at = time.monotonic() + _STARTING_S
        while True:
            self._extracting_bytes += len(page.body)
            try:
                found: tuple[Extraction, float] = await self._wait_for(
                    self._thread, page, self._extract_in_turn, page, config
                )
            finally:
                self._extracting_bytes -= len(page.body)
            is_started = all(problem.code != CallFailure.NOT_STARTED for problem in found[0].problems)
            if is_started or self._is_closed or time.monotonic() > give_up_at:
                return found
            await asyncio.sleep(_START_PAUSE_S)

    async def query(self, query: str, page: Page, nquads: str) -> list[str] | Problem:
        """Return the URLs that a query finds in the data of a page, or the Problem if it fails."""
        try:
            found: list[str] = await self._wait_for(
                self._query_thread, page, self._queries.call, run_query, query, page.url, nquads
            )
        except RdfspiderError as error:
            code = (
                "query-timeout"
                if isinstance(error, CallError) and error.code == CallFailure.TOO_SLOW
                else "query-failed"
            )
            return Problem(code, f"the query for links: {error}")
        return found

    def close(self) -> None:
        """Kill the processes; waiting pages are not extracted."""
        self._is_closed = True
        for thread in (self._thread, self._query_thread):
            thread.shutdown(wait=False, cancel_futures=True)
        # First, or else the page whose process is killed now would be read again.
        self._second.close()
        self._calls.close()
        self._queries.close()
        for thread in (self._thread, self._query_thread):
            thread.shutdown()
        os.close(self._turn_file)

    def _extract_in_turn(self, page: Page, config: ExtractConfig) -> tuple[Extraction, float]:
        while not (self._is_closed or self._take_turn()):
            time.sleep(_TURN_POLL_S)
        try:
            extraction, seconds = extract_by(self._calls, self._second, page, config)
            # A process that could not be started is no fault of the page.
            is_ours = any(problem.code == CallFailure.NOT_STARTED for problem in extraction.problems)
            return extraction, 0.0 if is_ours else min(seconds, self._cpu_s)
        finally:
            fcntl.flock(self._turn_file, fcntl.LOCK_UN)

    def _take_turn(self) -> bool:
        try:
            fcntl.flock(self._turn_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    async def _wait_for(
        self, thread: ThreadPoolExecutor, page: Page, function: Callable[..., Any], *arguments: object
    ) -> Any:
        job = asyncio.get_running_loop().run_in_executor(thread, function, *arguments)
        self.waiting_bytes += len(page.body)
        try:
            return await job
        finally:
            self.waiting_bytes -= len(page.body)


def is_large(page: Page) -> bool:
    """Whether a page may need much time and memory; a compressed body may be much larger than it looks."""
    return len(page.body) > LARGE_PAGE_BYTES or page.body.startswith(MAGIC)


def extract_by(
    calls: KillableCalls, second: SecondReading, page: Page, config: ExtractConfig
) -> tuple[Extraction, float]:
    """Extract a page in another process, and again by the second parser if it crashes that; if both fail, the Extraction has
    only a Problem. Also return how many seconds of processor time it took, or by the clock if that is unknown."""
    started = time.monotonic()
    arguments = (page, pickle.dumps(config))
    try:
        found: tuple[Extraction, float] = calls.call(_extract_timed, *arguments)
        return found
    except CallError as error:
        if error.code != CallFailure.CRASHED:
            extraction = _give_up(page, error.code, str(error))
        else:
            try:
                extraction = second.read(extract_bounded, *arguments, died=str(error))
            except CallError as again:
                extraction = _give_up(page, error.code, f"{error}; read again by another parser: {again}")
    return extraction, time.monotonic() - started


def _extract_timed(page: Page, config: bytes) -> tuple[Extraction, float]:
    started_s = time.process_time()
    return extract_bounded(page, config), time.process_time() - started_s


def extract_bounded(page: Page, config: bytes) -> Extraction:
    """Extract a page, in that process, with a limit on the size of its statements."""
    return _cut_statements(extract_from(page, _load_config(config)))


@lru_cache(maxsize=1)
def _load_config(config: bytes) -> ExtractConfig:
    loaded: ExtractConfig = pickle.loads(config)
    return loaded


def _cut_statements(found: Extraction) -> Extraction:
    """Cut the statements to the limit, which all syntaxes share in order."""
    total = sum(map(len, found.statements.values()))
    if total <= _STATEMENT_CHARS:
        return found
    room, statements = _STATEMENT_CHARS, {}
    for syntax, nquads in found.statements.items():
        statements[syntax] = nquads if len(nquads) <= room else nquads[: nquads.rfind("\n", 0, room) + 1]
        room -= len(statements[syntax])
    problem = Problem("statements-cut", f"of {total} characters of N-Quads {_STATEMENT_CHARS - room} were kept")
    return replace(found, statements=statements, problems=(*found.problems, problem))


def _give_up(page: Page, code: str, message: str) -> Extraction:
    _log.info("%s: %s", page.url, message)
    media_type = (page.content_type or "").partition(";")[0].strip().lower()
    return Extraction(page.url, media_type, problems=(Problem(code, message),))


class PoisonPages:
    """The pages during whose extraction this shard has died before; from then on they are extracted in another process."""

    def __init__(self, folder: Path) -> None:
        known = folder / "suspects.txt"
        urls = known.read_bytes().splitlines() if known.exists() else []
        self._file = os.open(folder / "extracting", os.O_RDWR | os.O_CREAT, 0o644)
        url = os.pread(self._file, _MAX_URL_BYTES, 0).partition(b"\n")[0]
        if url and url not in urls:
            urls = [*urls, url][-_MAX_POISON_PAGES:]
            write_atomically(known, b"".join(line + b"\n" for line in urls), durable=False)
        self._urls = frozenset(urls)

    def has(self, url: str) -> bool:
        """Whether the shard has died during the extraction of a page before."""
        return bool(self._urls) and url.encode() in self._urls

    @contextmanager
    def watch(self, url: str) -> Iterator[None]:
        """Record the page during its extraction, so that it is known at the next start if the process dies meanwhile. An
        exception leaves the record: the process may end by it."""
        self._write(url.encode() + b"\n")
        yield
        self._write(b"\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _write(self, line: bytes) -> None:
        # On a full disk, a crashing page is only identified once there is room again.
        with suppress(OSError):
            os.pwrite(self._file, line, 0)
