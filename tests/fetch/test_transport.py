import asyncio
import time

import pytest

from rdfspider.config import FetchConfig, FrontierConfig
from rdfspider.fetch.fetcher import TRANSPORTS, Fetcher
from rdfspider.fetch.transport import Request
from rdfspider.records import Capture, Failure, Lease
from rdfspider.urls import FETCHED_SCHEMES


class Gemini:
    """Another protocol."""

    open_connections = 2

    def __init__(self, *_: object) -> None:
        self.is_closed = False

    async def get(self, request: Request) -> Capture | Failure:
        return Failure(request.url, "reset", "by gemini", address=request.address)

    async def close(self) -> None:
        self.is_closed = True


class Clock:
    def now(self) -> float:
        return time.time()


def test_what_is_followed_is_what_can_be_fetched() -> None:
    assert set(TRANSPORTS) == set(FETCHED_SCHEMES)


def test_another_protocol_is_a_class_and_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lease = Lease("page", "a.test", 1, "gemini://a.test/page", 1, addresses=("127.0.0.1",))

    async def fetch() -> tuple[Capture | Failure, int]:
        fetcher = Fetcher(FetchConfig(), "rdfspider/1", Clock(), pace=FrontierConfig())
        exchange, connections = await fetcher.fetch_page(lease, "127.0.0.1"), fetcher.open_connections
        await fetcher.close()
        return exchange, connections

    unknown, connections = asyncio.run(fetch())
    assert isinstance(unknown, Failure)
    assert (unknown.code, connections) == ("unsupported", 0)
    monkeypatch.setitem(TRANSPORTS, "gemini", Gemini)  # type: ignore[arg-type]
    known, connections = asyncio.run(fetch())
    assert isinstance(known, Failure)
    assert (known.message, connections) == ("by gemini", 2)
