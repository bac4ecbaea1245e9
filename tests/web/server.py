"""A real HTTP/1.1 server on loopback addresses: requests in, the answers of a function out, and a log of every exchange.

It runs in a thread of the test, so that a test can change what it answers and read the log at any moment. The log errs on the
crawler's side only: an exchange starts when its head was read and ends before its last byte is written, so that the crawler,
which started earlier and ended later, cannot be blamed for what the wire took.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from waiting import PATIENCE_S, wait_until

MAX_HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server says to one request."""

    status: int = 200
    body: bytes = b""
    content_type: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    """Seconds before the first byte."""
    until: threading.Event | None = None
    """What has to happen before the first byte."""
    chunks: int = 1
    """Parts in which the body is written."""
    chunk_delay_s: float = 0.0
    """Seconds between two of them."""
    hangs_up: bool = False
    """Whether the connection is closed without a word instead."""
    closes: bool = False
    """Whether the connection is closed after what was written, also where more was announced."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request as the server saw it. Times are `time.monotonic()`."""

    started: float
    ended: float
    host: str
    """From the Host header, without the port."""
    address: str
    """The address that was asked."""
    path: str
    status: int
    """0 where the connection was closed without an answer."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The request's, their names in lower case."""
    retry_after_s: float = 0.0
    """What the answer's Retry-After asked for; 0 where it had none."""
    agent_left: bool = False
    """Whether the crawler was gone before the answer was written."""
    connection: int = 0
    """The number of its connection, from 1 in the order in which they were opened; 0 where nobody counted."""

    @property
    def url(self) -> str:
        """The URL as a crawler names it: the tests reach every port through a name."""
        return f"http://{self.host}{self.path}"


Answers = Callable[[str, str, Mapping[str, str]], Answer]
"""Host, path and request headers in, the answer out. Called in the server's thread."""


class Web:
    """The server, as a context manager. `answers` may be replaced while it runs."""

    def __init__(self, answers: Answers, addresses: Sequence[str] = ("127.0.0.1",), port: int = 0) -> None:
        """Without a port, it listens at a free one."""
        self.answers = answers
        self._port = port
        self.log: list[Exchange] = []
        """Every exchange that has ended, in order of their ends."""
        self.asked = 0
        """The requests that have come, also those that are not answered yet."""
        self.ports: dict[str, int] = dict.fromkeys(addresses, 0)
        self._connections = itertools.count(1)
        self._open: set[Any] = set()
        """The other ends of all connections."""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="loopback web", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(PATIENCE_S):
            raise RuntimeError("the loopback web did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)

    def resolve(self, placing: Mapping[str, str]) -> list[str]:
        """The flags that lead a crawl to this server: patterns of host names to addresses of it."""
        flags: list[str] = []
        for pattern, address in placing.items():
            literal = f"[{address}]" if ":" in address else address
            flags += ["--resolve", f"{pattern}={literal}:{self.ports[address]}"]
        return flags

    def requests_since(self, moment: float) -> int:
        """How many exchanges ended after a moment of `time.monotonic()`."""
        return sum(exchange.ended > moment for exchange in list(self.log))

    def wait_until_left(self) -> None:
        """Wait until all clients are gone, and all that they had asked for is in the log."""
        for address, port in self.ports.items():
            # Connections are accepted in the order in which they came: when this one is, the others are as well.
            with socket.create_connection((address, port), timeout=PATIENCE_S) as last:
                name = last.getsockname()
                wait_until(lambda name=name: name in self._open)  # type: ignore[misc]
        wait_until(lambda: not self._open)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        servers = [self._loop.run_until_complete(self._listen(address)) for address in self.ports]
        self._ready.set()
        try:
            self._loop.run_forever()
        finally:
            for server in servers:
                server.close()
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0.01))
            self._loop.close()

    async def _listen(self, address: str) -> asyncio.Server:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            client = writer.get_extra_info("peername")
            self._open.add(client)
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await self._serve(reader, writer, address)
            with contextlib.suppress(OSError, RuntimeError):
                writer.close()
            self._open.discard(client)

        server = await asyncio.start_server(serve, address, self._port, limit=MAX_HEAD_BYTES, backlog=1024)
        self.ports[address] = server.sockets[0].getsockname()[1]
        return server

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str) -> None:
        """All exchanges of one connection."""
        connection = next(self._connections)
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                return
            started = time.monotonic()
            self.asked += 1
            path, headers = _read_head(head)
            host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
            answer = self.answers(host, path, headers)
            ended, is_written = started, False
            try:
                if answer.delay_s:
                    await asyncio.sleep(answer.delay_s)
                while answer.until and not answer.until.is_set():
                    await asyncio.sleep(0.01)
                for part in _write_parts(answer):
                    # Before the last write: what comes after it is the crawler's time, not the server's.
                    ended = time.monotonic()
                    if part:
                        writer.write(part)
                        await writer.drain()
                    else:
                        await asyncio.sleep(answer.chunk_delay_s)
                is_written = not reader.at_eof()
            finally:
                status = 0 if answer.hangs_up else answer.status
                wait_s = float(answer.headers.get("Retry-After", 0))
                left = not is_written
                self.log.append(
                    Exchange(
                        started, max(ended, started), host, address, path, status, headers, wait_s, left, connection
                    )
                )
            if answer.hangs_up or answer.closes:
                return


def _read_head(head: bytes) -> tuple[str, dict[str, str]]:
    first, *lines = head.decode("iso-8859-1").split("\r\n")
    fields = (line.partition(":") for line in lines if line)
    parts = first.split(" ")
    return parts[1] if len(parts) > 1 else "", {name.lower(): value.strip() for name, _, value in fields}


def _write_parts(answer: Answer) -> Iterator[bytes]:
    """The bytes to write one after the other; an empty one is a pause."""
    if answer.hangs_up:
        return
    fields = {"Content-Type": answer.content_type, "Content-Length": str(len(answer.body)), **answer.headers}
    head = f"HTTP/1.1 {answer.status} Answer\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    has_body = answer.status not in (204, 304)
    body = answer.body if has_body else b""
    size = -(-len(body) // answer.chunks) or 1
    yield (head + "\r\n").encode("iso-8859-1") + body[:size]
    for start in range(size, len(body), size):
        yield b""
        yield body[start : start + size]
