"""A SPARQL query enters, its answer leaves: a worker process runs it on the newest snapshot of the quad store, within limits.

Some workers are kept ready, so that neither a query nor the end of one that exceeded its limits delays the next. Any thread may
send queries; this process parses nothing of them.
"""

import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from rdfspider.errors import RdfspiderError, UnansweredError, UnfitError, UnindexedError, UnreadableError, UsageError
from rdfspider.index.layout import IndexPaths, check_index
from rdfspider.index.quads.sparql.messages import Job, Reply, ReplyCode
from rdfspider.processes.child import Child, DiedError, Wait, make_command
from rdfspider.results import Graphs, QueryAnswer, QueryLimits
from rdfspider.vocabulary.prefixes import QUERY_PREFIXES
from rdfspider.vocabulary.terms import replace_surrogates

Find = Callable[[str, int], Sequence[tuple[str, float]]]
"""Takes words and a limit, and returns at most that many IRIs with their scores, the best first."""

MAX_QUERY_CHARS = 1_000_000

_START_S = 30.0
_MAX_TIMEOUT_S = 86_400.0
# Errors whose message goes to the caller unchanged.
_MISTAKES = {
    ReplyCode.USAGE: UsageError,
    ReplyCode.UNFIT: UnfitError,
    ReplyCode.UNINDEXED: UnindexedError,
    ReplyCode.UNREADABLE: UnreadableError,
}
# How soon a cancelled query is noticed.
_LOOK_S = 0.1
# How Rust, C++ and Python report that memory is exhausted.
_NO_MEMORY = ("memory allocation", "bad_alloc", "MemoryError", "Cannot allocate memory")


class Sparql:
    """Queries the quads of one crawl's folder. For any number of threads; close it when it is no longer needed."""

    def __init__(
        self,
        folder: Path,
        find: Find | None = None,
        *,
        workers: int | None = None,
        has_spare: bool = True,
        most_by_client: int | None = None,
    ) -> None:
        """`find` answers the text service. `workers` queries run at once, by default one per core, of which one client may have
        `most_by_client`, by default all; with `has_spare`, one more worker is kept ready."""
        self._paths = IndexPaths(folder)
        self._find = find
        count = workers or os.cpu_count() or 1
        self._spares = int(has_spare)
        self._most_idle = count + self._spares
        self._queue = FairQueue(count, most_by_client or count)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._is_closed = False
        weakref.finalize(self, _end_workers, self._all, os.getpid())

    def ask(
        self,
        query: str,
        *,
        formats: Sequence[str] = ("json", "turtle"),
        limits: QueryLimits | None = None,
        graphs: Graphs | None = None,
        base: str = "",
        cancel: threading.Event | None = None,
        client: str = "",
    ) -> QueryAnswer:
        """Answer a query, in the first of the formats that can hold its result.

        `graphs` replace FROM and FROM NAMED, relative IRIs are resolved against `base`, and setting `cancel` ends the query's
        process at once. Among waiting queries, those of the `client` with the fewest running ones come first.

        Raise UsageError if this is no query or not allowed (UnfitError if no format fits), UnansweredError if it exceeds a
        limit.
        """
        cancel = cancel or threading.Event()
        limits = limits or QueryLimits()
        if not isinstance(query, str):
            raise UsageError(f"a query is text, not {query!r:.100}")
        check_index(self._paths)
        if limits.rows < 0 or not 0 < limits.timeout_s <= _MAX_TIMEOUT_S:
            raise UsageError(
                f"a query may give 0 rows or more, and take up to {_MAX_TIMEOUT_S:,.0f} s, but more than 0"
            )
        if len(query) > MAX_QUERY_CHARS:
            raise UsageError(f"the query has {len(query):,} characters; at most {MAX_QUERY_CHARS:,} are read")
        job = Job(
            replace_surrogates(query),
            tuple(formats),
            QUERY_PREFIXES,
            limits.rows,
            limits.output_bytes,
            limits.timeout_s,
            limits.memory_bytes,
            graphs,
            base,
        )
        started = time.perf_counter()
        self._wait_for_turn(client, limits.timeout_s, cancel)
        try:
            reply, body = self._ask_worker(job, cancel)
        finally:
            self._queue.give_back(client)
        return QueryAnswer(reply.kind, reply.format, body, reply.is_truncated, time.perf_counter() - started)

    def close(self) -> None:
        """End all workers for good; a query that is running raises UnansweredError."""
        with self._lock:
            self._is_closed = True
            while self._idle:
                self._discard(self._idle.pop())
            # The threads that wait for these workers discard them.
            for worker in self._all:
                worker.kill()

    def __enter__(self) -> "Sparql":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _wait_for_turn(self, client: str, timeout_s: float, cancel: threading.Event) -> None:
        try:
            self._queue.take(client, _Patience(time.monotonic() + timeout_s, cancel).find_step_s)
        except TimeoutError:
            raise UnansweredError(f"other questions have taken all of the {timeout_s:g} s: try again later") from None

    def _ask_worker(self, job: Job, cancel: threading.Event) -> tuple[Reply, bytes]:
        worker = self._take()
        is_sound = False
        try:
            reply, body = worker.ask(job, self._find, cancel)
            is_sound = not reply.is_last
        except DiedError as error:
            raise _tell_closed() if self._is_closed else _explain_death(error, job) from None
        except TimeoutError:
            raise UnansweredError(
                f"the query was ended after {job.timeout_s:g} s: ask for less, or allow it more time"
            ) from None
        finally:
            self._put_back(worker, is_sound)
        if kind := _MISTAKES.get(reply.code):
            raise kind(reply.message)
        if reply.code == ReplyCode.MEMORY:
            raise _tell_memory(job)
        if reply.code == ReplyCode.FAILED:
            raise UnansweredError(f"the query could not be answered: {reply.message}")
        return reply, body

    def _take(self) -> "_Worker":
        """A ready worker if there is one, else a new one; also starts a spare if none is left."""
        with self._lock:
            if self._is_closed:
                raise _tell_closed()
            worker = None
            while self._idle and worker is None:
                worker = self._idle.pop()
                if not worker.is_alive():
                    self._discard(worker)
                    worker = None
            worker = worker or self._start()
            self._keep_spare()
            return worker

    def _put_back(self, worker: "_Worker", is_sound: bool) -> None:
        with self._lock:
            if self._is_closed:
                self._discard(worker)
            elif is_sound and len(self._idle) < self._most_idle:
                self._idle.append(worker)
            else:
                self._discard(worker)
                self._keep_spare()

    def _keep_spare(self) -> None:
        while len(self._idle) < self._spares:
            self._idle.insert(0, self._start())

    def _start(self) -> "_Worker":
        worker = _Worker(self._paths.snapshots)
        self._all.add(worker)
        return worker

    def _discard(self, worker: "_Worker") -> None:
        self._all.discard(worker)
        worker.end()


class FairQueue:
    """Decides which query runs next: a number of slots, with a limit per client, so that no client keeps the others waiting. For
    any number of threads."""

    def __init__(self, count: int, most_by_client: int) -> None:
        self._count = count
        self._most_by_client = most_by_client
        self._changed = threading.Condition()
        self._taken: Counter[str] = Counter()
        self._waiting: list[_Ticket] = []
        """In the order of arrival."""

    def take(self, client: str, find_step_s: Callable[[], float]) -> None:
        """Wait for a slot; `find_step_s` returns how long to wait until the next check, and raises to give up."""
        ticket = _Ticket(client)
        with self._changed:
            self._waiting.append(ticket)
            try:
                while self._find_next() is not ticket:
                    self._changed.wait(find_step_s())
                self._taken[client] += 1
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()

    def give_back(self, client: str) -> None:
        """Free a slot."""
        with self._changed:
            self._taken -= Counter((client,))
            self._changed.notify_all()

    def _find_next(self) -> "_Ticket | None":
        """The first waiting ticket among those of the clients with the fewest slots."""
        if self._taken.total() >= self._count:
            return None
        fitting = [ticket for ticket in self._waiting if self._taken[ticket.client] < self._most_by_client]
        return min(fitting, key=lambda ticket: self._taken[ticket.client], default=None)


@dataclass(frozen=True, slots=True, eq=False)
class _Ticket:
    """One waiting query; a client may have several."""

    client: str


class _Patience(NamedTuple):
    """How long to wait for an answer."""

    deadline: float
    cancel: threading.Event

    def find_step_s(self) -> float:
        """How long to wait until the next check. Raise TimeoutError at the deadline, UnansweredError if it was cancelled."""
        if self.cancel.is_set():
            raise UnansweredError("the query was cancelled")
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        return min(left_s, _LOOK_S)


class _Worker(Child):
    """One process that answers queries."""

    def __init__(self, snapshots: Path) -> None:
        super().__init__(
            make_command("rdfspider.index.quads.sparql.worker", str(snapshots.absolute()), str(os.getpid())),
            keeps_errors=True,
            env=os.environ | {"RUST_BACKTRACE": "0"},
        )
        self._is_ready = False

    def ask(self, job: Job, find: Find | None, cancel: threading.Event) -> tuple[Reply, bytes]:
        """Run a job. Raise TimeoutError if its time is up, DiedError if the process dies."""
        if not self._is_ready:
            self.receive(_Patience(time.monotonic() + _START_S, cancel).find_step_s)
            self._is_ready = True
        patience = _Patience(time.monotonic() + job.timeout_s, cancel)
        wait = patience.find_step_s
        self.send(msgspec.msgpack.encode(job), wait)
        reply = self._receive_reply(wait)
        if reply.code == ReplyCode.WORDS:
            found = [_find_words(find, *asked, patience) for asked in reply.words]
            self.send(msgspec.msgpack.encode(found), wait)
            reply = self._receive_reply(wait)
        return reply, self.receive(wait) if reply.code == ReplyCode.DONE else b""

    def _receive_reply(self, wait: Wait) -> Reply:
        return msgspec.msgpack.decode(self.receive(wait), type=Reply)


def _end_workers(workers: set[_Worker], pid: int) -> None:
    # A forked child owns none of these processes.
    if os.getpid() == pid:
        while workers:
            workers.pop().end()


def _find_words(find: Find | None, words: str, limit: int, patience: _Patience) -> list[tuple[str, float]]:
    if find is None:
        raise UsageError("there is no text index to ask: SERVICE <urn:rdfspider:text> has no answer")
    # A search in the index cannot be interrupted, so do not begin one that is no longer wanted.
    patience.find_step_s()
    return [(iri, score) for iri, score in find(words, limit)]


def _explain_death(death: DiedError, job: Job) -> RdfspiderError:
    if any(sign in death.last_words for sign in _NO_MEMORY):
        return _tell_memory(job)
    if death.status < 0:
        return UnansweredError(
            "the query could not be answered: it is nested too deep, or Oxigraph fails at it "
            f"(its process ended by signal {-death.status})"
        )
    last = " ".join(death.last_words.split())[-300:] or f"exit status {death.status}"
    return RdfspiderError(f"the process for queries does not start, or has failed: {last}")


def _tell_closed() -> UnansweredError:
    return UnansweredError("the query was not answered: what it asks was closed meanwhile")


def _tell_memory(job: Job) -> UnansweredError:
    gibibytes = job.memory_bytes / (1 << 30)
    return UnansweredError(f"the query was ended when it needed more than {gibibytes:.3g} GiB of memory: ask for less")
