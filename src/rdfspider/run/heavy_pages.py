"""Large pages enter, their Extractions leave, by way of a process that can be killed: no page stalls a shard or takes it down.
Queries of the user's over the data of pages are run there, too.

A page that takes too long, or that the process dies of, gives an Extraction with a Problem and nothing else.
"""

import asyncio
import logging
import os
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from rdfspider.config import ExtractConfig
from rdfspider.discover.data_links import run_query
from rdfspider.errors import RdfspiderError
from rdfspider.pipeline import extract_from
from rdfspider.processes.calls import CallError, KillableCalls
from rdfspider.records import Extraction, Page, Problem

_log = logging.getLogger(__name__)

LARGE_PAGE_BYTES = 1024 * 1024
"""Longer pages go to another process, so that none stalls a shard."""

# Characters of statements that a page may send back, as the shard has to hold them: 16 MB of usual Turtle give about this much.
_STATEMENT_CHARS = 64 * 1024**2


class LargePages:
    """The large pages of a shard; `extract` may be called for any number at once, and they take turns."""

    def __init__(self, timeout_s: float) -> None:
        self._calls = KillableCalls(timeout_s)
        # Talking to the process is waiting, which a thread may do and the loop may not.
        self._thread = ThreadPoolExecutor(1, "large-pages")
        self.waiting_bytes = 0
        """The bodies of the pages that the process has, or that wait for it."""

    async def extract(self, page: Page, config: ExtractConfig) -> Extraction:
        """All that a page says; its time begins when its turn comes."""
        found = await self._wait_for(page, extract_by, self._calls, page, config)
        assert isinstance(found, Extraction)
        return found

    async def query(self, query: str, page: Page, nquads: str) -> list[str] | Problem:
        """The addresses that a query finds in the data of a page, or what kept it from finding any."""
        try:
            found: list[str] = await self._wait_for(page, self._calls.call, run_query, query, page.url, nquads)
        except RdfspiderError as error:
            code = "query-timeout" if isinstance(error, CallError) and error.code == "too-slow" else "query-failed"
            return Problem(code, f"the query for links: {error}")
        return found

    def close(self) -> None:
        """End the process, whatever it does; pages that wait are not extracted."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._calls.close()
        self._thread.shutdown()

    async def _wait_for(self, page: Page, function: Callable[..., Any], *arguments: object) -> Any:
        job = asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)
        self.waiting_bytes += len(page.body)
        try:
            return await job
        finally:
            self.waiting_bytes -= len(page.body)


def extract_by(calls: KillableCalls, page: Page, config: ExtractConfig) -> Extraction:
    """All that a page says, as another process finds it; what keeps it from that is a Problem of the page."""
    try:
        found: Extraction = calls.call(extract_bounded, page, pickle.dumps(config))
        return found
    except CallError as error:
        return _give_up(page, error.code, str(error))


def extract_bounded(page: Page, config: bytes) -> Extraction:
    """All that a page says, in that process; not more than can be held."""
    return _cut_statements(extract_from(page, _load_config(config)))


@lru_cache(maxsize=1)
def _load_config(config: bytes) -> ExtractConfig:
    loaded: ExtractConfig = pickle.loads(config)
    return loaded


def _cut_statements(found: Extraction) -> Extraction:
    """What a syntax has left of the room is the next one's."""
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


# No crawl has more pages that kill; the oldest are forgotten, as they may be those that a person killed the shard at.
_MOST = 1_000
_LONGEST_URL_BYTES = 1 << 16


class PoisonPages:
    """The pages during whose extraction this shard has died before; they are extracted in another process from then on."""

    def __init__(self, folder: Path) -> None:
        known = folder / "suspects.txt"
        urls = known.read_bytes().splitlines() if known.exists() else []
        self._file = os.open(folder / "extracting", os.O_RDWR | os.O_CREAT, 0o644)
        url = os.pread(self._file, _LONGEST_URL_BYTES, 0).partition(b"\n")[0]
        if url and url not in urls:
            urls = [*urls, url][-_MOST:]
            known.write_bytes(b"".join(line + b"\n" for line in urls))
        self._urls = frozenset(urls)

    def has(self, url: str) -> bool:
        """Whether this process has died of a page before."""
        return bool(self._urls) and url.encode() in self._urls

    @contextmanager
    def watch(self, url: str) -> Iterator[None]:
        """If this process dies within this context, it is known at the next start that it was this page."""
        self._write(url.encode() + b"\n")
        yield
        self._write(b"\n")

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _write(self, line: bytes) -> None:
        # Without it, a page is only found out when there is room again.
        with suppress(OSError):
            os.pwrite(self._file, line, 0)
