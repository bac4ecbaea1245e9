"""Failures that are nobody's fault but this machine's: what is told, and what is not."""

import asyncio
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from loopback import ok, run_loop, serving, transporting
from rdfspider.config import FetchConfig, FrontierConfig
from rdfspider.fetch import shortages
from rdfspider.fetch.fetcher import Fetcher
from rdfspider.fetch.shortages import NO_DESCRIPTOR, NO_NAMES, NO_NETWORK, Shortages, has_descriptor
from rdfspider.fetch.transport import Request
from rdfspider.frontier.clock import Clock
from rdfspider.records import Capture, Failure, Lease
from waiting import ShiftedTime


@contextmanager
def leaving(count: int) -> Iterator[None]:
    """Let this process open so many more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(30)]
    # Descriptors are given out from the lowest on.
    resource.setrlimit(resource.RLIMIT_NOFILE, (held[-1] + 1, hard))
    for descriptor in held[:count]:
        os.close(descriptor)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in held[count:]:
            os.close(descriptor)


@pytest.mark.parametrize("count", [0, 1])
def test_no_descriptor_for_a_connection(count: int) -> None:
    """libcurl wants a duplicate, so one is not enough."""

    async def main() -> None:
        async with serving({"/": ok(b"x")}) as server, transporting() as transport:
            request = Request("http://a.test/", "127.0.0.1", server.port)
            with leaving(3):
                # What is opened once, such as the loop's own descriptors, is not counted.
                assert isinstance(await transport.get(request), Capture)
            await asyncio.sleep(0)
            with leaving(count):
                found = await transport.get(Request("http://b.test/", "127.0.0.1", server.port))
                assert has_descriptor() == bool(count)
            assert isinstance(found, Failure)
            assert (found.code, found.message) == ("shortage", NO_DESCRIPTOR)
            assert isinstance(await transport.get(Request("http://c.test/", "127.0.0.1", server.port)), Capture)

    run_loop(main())


def test_a_network_that_is_lost_and_comes_back() -> None:
    routes = [(True, False)]
    found = Shortages(lambda: routes[0])
    assert (found.find_of_connection(), found.find_of_name("a.example")) == ("", "")
    routes[0] = (False, False)
    assert (found.find_of_connection(), found.find_of_name("a.example")) == (NO_NETWORK, NO_NETWORK)
    routes[0] = (False, True)
    assert found.find_of_connection() == ""


def test_a_machine_that_never_had_a_network_has_not_lost_one() -> None:
    found = Shortages(lambda: (False, False))
    found.note_answer()
    assert (found.find_of_connection(), found.find_of_name("a.example")) == ("", "")


def test_names_are_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ShiftedTime()
    monkeypatch.setattr(shortages, "time", clock)
    found = Shortages(lambda: (True, True))
    assert [found.find_of_name(name) for name in "abcd"] == [""] * 4, "no name server has ever answered"
    found.note_answer()
    assert [found.find_of_name(name) for name in "aabcc"] == ["", "", "", NO_NAMES, NO_NAMES]
    clock.ahead_s = shortages.MAX_SILENCE_S + 1
    assert found.find_of_name("d") == ""


def test_a_host_without_a_way_is_not_our_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address to which there is no route, as one of IPv6 for many machines, is unreachable while there are other routes."""
    lease = Lease("page", "a.test", 1, "http://a.test/", 1, addresses=("127.0.0.1",))

    async def fetch() -> Capture | Failure:
        fetcher = Fetcher(FetchConfig(allow_private=True), "rdfspider/1", Clock(), pace=FrontierConfig())
        try:
            # Nobody can be reached at a broadcast address, whatever the network.
            return await fetcher.fetch_page(lease, "255.255.255.255")
        finally:
            await fetcher.close()

    ways = iter([(True, True), (True, True), (True, True), (False, False)])
    monkeypatch.setattr(shortages, "find_routes_out", lambda: next(ways))
    for code in ("unreachable", "shortage"):
        found = run_loop(fetch())
        assert isinstance(found, Failure)
        assert found.code == code, found
