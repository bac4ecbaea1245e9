"""A loopback server that answers with whatever bytes a test gives it, and exchanges with it. For tests only."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import uvloop

from rdfspider.config import FetchConfig
from rdfspider.fetch.bodies import Flight
from rdfspider.fetch.http import HttpTransport
from rdfspider.fetch.transport import Request
from rdfspider.records import Capture, Failure
from waiting import PATIENCE_S

T = TypeVar("T")
Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    """Answers each request on any connection with the bytes of its path; what is not named is a 404."""

    answers: dict[str, Answer]
    port: int = 0
    connections: int = 0
    closed: int = 0
    requests: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                self.requests.append(request)
                path = request.split(b" ", 2)[1].decode()
                answer = self.answers.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                    if b"Content-Length" not in answer and b"chunked" not in answer and b" 304 " not in answer:
                        break
                else:
                    await answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.closed += 1
            writer.close()


@asynccontextmanager
async def serving(answers: dict[str, Answer], host: str = "127.0.0.1") -> AsyncIterator[Server]:
    server = Server(answers)
    listener = await asyncio.start_server(server.serve, host, 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()


@asynccontextmanager
async def transporting(**settings: Any) -> AsyncIterator[HttpTransport]:
    config = FetchConfig(**{"allow_private": True, **settings})
    transport = HttpTransport(config, "rdfspider/1 (+mailto:a@example.org)", Flight(config.max_flight_bytes))
    try:
        yield transport
    finally:
        await transport.close()


def fetch(
    answer: Answer, url: str = "http://a.test/page", *, settings: Any = None, **arguments: Any
) -> Capture | Failure:
    """One exchange for an answer."""

    async def run() -> Capture | Failure:
        path = "/" + url.split("/", 3)[3]
        async with serving({path: answer}) as server, transporting(**(settings or {})) as transport:
            return await transport.get(Request(url, "127.0.0.1", server.port, **arguments))

    return run_loop(run())


def captured(answer: Answer, **arguments: Any) -> Capture:
    exchange = fetch(answer, **arguments)
    assert isinstance(exchange, Capture), exchange
    return exchange


def failed(answer: Answer, **arguments: Any) -> str:
    exchange = fetch(answer, **arguments)
    assert isinstance(exchange, Failure), exchange
    return exchange.code


def ok(body: bytes, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n{lines}\r\n".encode() + body


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """In a loop as a shard has it, and not for ever."""
    return uvloop.run(asyncio.wait_for(main, 2 * PATIENCE_S))
