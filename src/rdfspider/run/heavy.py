"""Large pages enter, what they say leaves, by way of a process that can be killed: no page stalls a shard or takes it down. And
so it is with queries of the user's over the data of pages.

A shard has one such helper, started when it is first needed, and its pages take turns. A page that takes too long, or
that the helper dies of, gives an Extraction with a Problem and nothing else; the next page gets a new helper.
"""

import asyncio
import json
import logging
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any

import psutil

from rdfspider.config import ExtractConfig, RunConfig
from rdfspider.discover.data import run_query
from rdfspider.records import Extraction, Page, Problem
from rdfspider.run.pipeline import extract_from

_log = logging.getLogger(__name__)

LARGE_PAGE_BYTES = 1024 * 1024
"""Longer pages go to the helper, so that none stalls a shard."""

# Address space of a helper: 16 MB of the worst markup need about half of it.
_MEMORY_BYTES = 2 * 1024**3
# A helper that ever needed this much does not give it back; it ends, and the next page starts another.
_SPENT_BYTES = 384 * 1024**2
# Characters of statements that a page may send back, as the shard has to hold them: 16 MB of usual Turtle give about this much.
_STATEMENT_CHARS = 64 * 1024**2
_START_S = 30.0
# If the shard is killed, nobody is left to kill the helper: it does so itself, this much later than the shard would have.
_ALARM_MARGIN_S = 5.0

# Whatever the shard can import, so can its helper; the current folder is no part of that unless it is for the shard.
_SCRIPT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from rdfspider.run.heavy import serve_pages; serve_pages(float(sys.argv[2]))"
)


class LargePages:
    """The large pages of a shard; `extract` may be called for any number at once."""

    def __init__(self, config: RunConfig) -> None:
        self._timeout_s = config.extract_timeout_s
        # Talking to the helper is waiting, which a thread may do and the loop may not.
        self._thread = ThreadPoolExecutor(1, "large-pages")
        self._helper: _Helper | None = None
        self._is_closed = False
        self.waiting_bytes = 0
        """The bodies of the pages that are with the helper, or in line for it."""

    async def extract(self, page: Page, config: ExtractConfig) -> Extraction:
        """All that a page says; its time begins when its turn comes."""
        job = asyncio.get_running_loop().run_in_executor(self._thread, self._extract, page, config)
        self.waiting_bytes += len(page.body)
        try:
            return await job
        finally:
            self.waiting_bytes -= len(page.body)

    async def query(self, query: str, page: Page, nquads: str) -> list[str] | Problem:
        """The addresses that a query finds in the data of a page, or what kept it from finding any."""
        job = asyncio.get_running_loop().run_in_executor(self._thread, self._ask, (query, page.url, nquads))
        self.waiting_bytes += len(page.body)
        try:
            found = await job
        finally:
            self.waiting_bytes -= len(page.body)
        if isinstance(found, list):
            return found
        code, message = found
        if code == "too-slow":
            return Problem("query-timeout", f"the query for links was killed after {self._timeout_s:g} s")
        return Problem("query-failed", f"the query for links: {message}")

    async def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """What a function of ours, of a module's top level, makes of something of a page; a Problem where it did not end well."""
        found = await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, (function, *arguments))
        return Problem(*found) if isinstance(found, tuple) else found

    def close(self) -> None:
        """End the helper, whatever it does; pages that are in line are not extracted."""
        self._is_closed = True
        if (helper := self._helper) is not None:
            helper.process.kill()
        self._thread.shutdown(cancel_futures=True)
        self._stop_helper()

    def _extract(self, page: Page, config: ExtractConfig) -> Extraction:
        found = self._ask((pickle.dumps(config), page))
        return found if isinstance(found, Extraction) else _give_up(page, *found)

    def _ask(self, job: tuple[object, ...]) -> Any:
        """What the helper makes of a job; the code and the message of what kept it from that."""
        packed = pickle.dumps(job)
        try:
            helper = self._started_helper()
            helper.connection.send_bytes(packed)
            if not helper.connection.poll(self._timeout_s):
                self._stop_helper()
                return "too-slow", f"its extraction was killed after {self._timeout_s:g} s"
            answer = helper.connection.recv_bytes()
        except (OSError, EOFError) as error:
            return "crashed", f"the process that read it {self._stop_helper() or error}"
        except BaseException:
            self._stop_helper()
            raise
        found, is_spent = pickle.loads(answer)
        if is_spent:
            self._stop_helper()
        return found

    def _started_helper(self) -> "_Helper":
        """The helper, after it has said that it is ready."""
        if self._helper is not None and self._helper.process.poll() is None:
            return self._helper
        self._stop_helper()
        self._helper = helper = _Helper(self._timeout_s)
        # Closing says so first and then kills the helper that it sees: one of the two sides always notices the other.
        if self._is_closed:
            raise OSError("was not needed any more")
        if not helper.connection.poll(_START_S):
            raise OSError("did not start in time")
        helper.connection.recv_bytes()
        return helper

    def _stop_helper(self) -> str:
        """How the helper ended; empty where there was none."""
        helper, self._helper = self._helper, None
        return helper.stop() if helper is not None else ""


class _Helper:
    """A process, and the connection to it, on which it gets one job at a time."""

    def __init__(self, timeout_s: float) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.connection = Connection(ours.detach())
            try:
                self.process = subprocess.Popen(
                    [sys.executable, "-P", "-c", _SCRIPT, json.dumps(sys.path), str(timeout_s + _ALARM_MARGIN_S)],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except BaseException:
                self.connection.close()
                raise

    def stop(self) -> str:
        """End it and say how it ended: by itself, before this, or now."""
        self.connection.close()
        # It hears of that, and ends; but what hangs hears nothing. One that has crashed may take a moment to be gone.
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(0.05)
        self.process.kill()
        status = self.process.wait()
        return f"ended with exit status {status}" if status >= 0 else f"was killed by signal {-status}"


def serve_pages(alarm_s: float) -> None:
    """The helper's life: take a job from standard input, answer it there, until the other side hangs up."""
    connection = Connection(os.dup(0))
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(_MEMORY_BYTES, hard)
    with suppress(ValueError, OSError):  # where the system has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    connection.send_bytes(b"ready")
    with suppress(EOFError, OSError):
        while True:
            job = connection.recv_bytes()
            signal.setitimer(signal.ITIMER_REAL, alarm_s)
            answer = _answer(job)
            signal.setitimer(signal.ITIMER_REAL, 0)
            connection.send_bytes(answer)


def _answer(job: bytes) -> bytes:
    """What the job asks for, or the code and message of what kept it from being made; and whether this process should end."""
    try:
        found = _do(*pickle.loads(job))
        return pickle.dumps((found, psutil.Process().memory_info().rss > _SPENT_BYTES))
    except MemoryError:
        return pickle.dumps((("out-of-memory", f"it needed more than {_MEMORY_BYTES} bytes of memory"), True))
    except (
        Exception
    ) as error:  # a fault of ours, or settings that cannot be loaded here: the shard should know, and go on
        return pickle.dumps((("crashed", f"{type(error).__name__}: {error}"[:500]), False))


def _do(*job: Any) -> Any:
    """What a function makes of its arguments, a query over data, or the extraction of a page."""
    if callable(job[0]):
        return job[0](*job[1:])
    if len(job) == 3:
        return run_query(*job)
    config, page = job
    return _cut_statements(extract_from(page, _load_config(config)))


@lru_cache(maxsize=1)
def _load_config(config: bytes) -> ExtractConfig:
    loaded: ExtractConfig = pickle.loads(config)
    return loaded


def _cut_statements(found: Extraction) -> Extraction:
    """Not more than can be held; what a syntax has left of the room is the next one's."""
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
