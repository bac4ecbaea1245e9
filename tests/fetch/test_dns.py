"""Names looked up at a real name server on loopback, which answers as a test says."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

import pytest

from loopback import run_loop
from rdfspider.config import FetchConfig
from rdfspider.errors import UsageError
from rdfspider.fetch import dns
from rdfspider.fetch.dns import Resolver, read_static_entry
from rdfspider.records import Addresses

NOW = 1_000_000.0
NO_ERROR, SERVER_FAILURE, NO_NAME = 0, 2, 3


@dataclass
class Clock:
    time: float = NOW

    def now(self) -> float:
        return self.time


@dataclass
class NameServer(asyncio.DatagramProtocol):
    """Records are (TTL, address or alias) by name; what is not there does not exist; an error code may stand for them."""

    names: dict[str, list[tuple[int, str]] | int]
    asked: list[tuple[str, int]] = field(default_factory=list)
    transport: Any = None
    is_silent: bool = False
    silent_names: tuple[str, ...] = ()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, source: Any) -> None:
        name, position = "", 12
        while data[position]:
            length = data[position]
            name += data[position + 1 : position + 1 + length].decode("ascii") + "."
            position += 1 + length
        kind = struct.unpack("!H", data[position + 1 : position + 3])[0]
        name = name.rstrip(".").lower()
        self.asked.append((name, kind))
        found = self.names.get(name, NO_NAME)
        code, records = (found, []) if isinstance(found, int) else (NO_ERROR, self.write(found, kind))
        header = data[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0)
        if not self.is_silent and name not in self.silent_names:
            self.transport.sendto(header + data[12 : position + 5] + b"".join(records), source)

    def write(self, found: list[tuple[int, str]], asked_kind: int) -> list[bytes]:
        """Aliases, and those addresses that are of the family; what follows an alias is about that."""
        owner, records = b"\xc0\x0c", []
        for ttl, value in found:
            if value[-1].isalpha():
                labels = b"".join(bytes([len(label)]) + label.encode() for label in value.split(".")) + b"\0"
                kind, content, next_owner = 5, labels, labels
            else:
                address = ip_address(value)
                kind, content, next_owner = 1 if address.version == 4 else 28, address.packed, owner
            if kind in (5, asked_kind):
                records.append(owner + struct.pack("!HHIH", kind, 1, ttl, len(content)) + content)
            owner = next_owner
        return records


@asynccontextmanager
async def resolving(
    names: dict[str, list[tuple[int, str]] | int], clock: Clock | None = None, **settings: Any
) -> AsyncIterator[tuple[Resolver, NameServer]]:
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(lambda: NameServer(names), ("127.0.0.1", 0))
    port = transport.get_extra_info("sockname")[1]
    resolver = Resolver(FetchConfig(**settings), clock or Clock(), (f"127.0.0.1:{port}",))
    try:
        yield resolver, server
    finally:
        await resolver.close()
        transport.close()


def resolve(host: str, names: dict[str, list[tuple[int, str]] | int], **settings: Any) -> Addresses:
    async def main() -> Addresses:
        async with resolving(names, **settings) as (resolver, _):
            return await resolver.resolve(host)

    return run_loop(main())


def test_a_name_is_found() -> None:
    answer = resolve("a.example", {"a.example": [(300, "8.8.8.8"), (200, "9.9.9.9")]})
    assert answer == Addresses(("8.8.8.8", "9.9.9.9"), NOW + 200)


def test_ipv6_is_asked_for_where_there_is_no_ipv4() -> None:
    answer = resolve("six.example", {"six.example": [(300, "2606:4700::1")]})
    assert answer == Addresses(("2606:4700::1",), NOW + 300)


def test_an_alias_can_expire_first() -> None:
    answer = resolve("www.example", {"www.example": [(100, "a.example"), (300, "8.8.8.8")]})
    assert answer == Addresses(("8.8.8.8",), NOW + 100)


@pytest.mark.parametrize(("ttl", "lifetime_s"), [(0, 60), (59, 60), (61, 61), (604_800, 86_400)])
def test_lifetimes_are_bounded(ttl: int, lifetime_s: int) -> None:
    assert resolve("a.example", {"a.example": [(ttl, "8.8.8.8")]}).expires == NOW + lifetime_s


def test_no_such_name() -> None:
    assert resolve("none.example", {}) == Addresses((), NOW + dns.NO_NAME_TTL_S, "nxdomain")


def test_a_name_without_addresses_is_none() -> None:
    assert resolve("empty.example", {"empty.example": []}).failure == "nxdomain"


def test_a_server_that_fails_is_an_error_to_retry() -> None:
    assert resolve("bad.example", {"bad.example": SERVER_FAILURE}) == Addresses((), NOW + dns.ERROR_TTL_S, "dns")


def test_a_silent_name_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "TRY_S", 0.05)

    async def main() -> None:
        async with resolving({}) as (resolver, server):
            server.is_silent = True
            answer = await resolver.resolve("a.example")
            assert answer == Addresses((), NOW + dns.ERROR_TTL_S, "dns")

    run_loop(main())


def test_name_servers_that_fall_silent_are_no_fault_of_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "TRY_S", 0.05)

    async def main() -> None:
        clock = Clock()
        async with resolving({}, clock) as (resolver, server):
            assert (await resolver.resolve("none.example")).failure == "nxdomain"
            server.is_silent = True
            names = [f"{name}.example" for name in "bcde"]
            told = [answer.failure for answer in await asyncio.gather(*map(resolver.resolve, names))]
            # One name, or two, may be at fault themselves; when none gets an answer, the servers are.
            assert sorted(told) == ["dns", "dns", "shortage", "shortage"]
            assert resolver.shortage == "the name servers do not answer"
            server.is_silent = False
            assert (await resolver.resolve(names[told.index("shortage")])).failure == "nxdomain"
            assert (await resolver.resolve(names[told.index("dns")])).failure == "dns"
            clock.time += dns.ERROR_TTL_S + 1
            assert (await resolver.resolve(names[told.index("dns")])).failure == "nxdomain"
            server.is_silent = True
            assert (await resolver.resolve("f.example")).failure == "dns"

    run_loop(main())


def test_names_that_never_get_an_answer_are_at_fault_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise whoever has a few such names could let a crawl wait for an hour."""
    monkeypatch.setattr(dns, "TRY_S", 0.05)

    async def main() -> None:
        async with resolving({}) as (resolver, server):
            assert (await resolver.resolve("none.example")).failure == "nxdomain"
            server.silent_names = tuple(f"{name}.example" for name in "abcde")
            answers = await asyncio.gather(*map(resolver.resolve, server.silent_names))
            assert [answer.failure for answer in answers] == ["dns"] * 5

    run_loop(main())


@pytest.mark.parametrize("name", ["a.example", "none.example", "bad.example"])
def test_answers_and_failures_are_remembered(name: str) -> None:
    async def main() -> None:
        clock = Clock()
        names: dict[str, list[tuple[int, str]] | int] = {"a.example": [(300, "8.8.8.8")], "bad.example": SERVER_FAILURE}
        async with resolving(names, clock) as (resolver, server):
            first = await resolver.resolve(name)
            asked = len(server.asked)
            clock.time = first.expires - 1
            assert await resolver.resolve(name) == first
            assert len(server.asked) == asked
            clock.time = first.expires
            assert (await resolver.resolve(name)).expires > first.expires
            clock.time -= 30 * 86_400
            assert (await resolver.resolve(name)).expires < first.expires, "the clock was set back"

    run_loop(main())


def test_one_question_for_all_who_wait() -> None:
    async def main() -> None:
        async with resolving({"a.example": [(300, "8.8.8.8")]}) as (resolver, server):
            asking = [asyncio.create_task(resolver.resolve("a.example")) for _ in range(10)]
            await asyncio.sleep(0)
            asking[0].cancel()
            answers = await asyncio.gather(*asking, return_exceptions=True)
            assert isinstance(answers[0], asyncio.CancelledError)
            assert {answer.addresses for answer in answers[1:] if isinstance(answer, Addresses)} == {("8.8.8.8",)}
            assert server.asked == [("a.example", 1)]

    run_loop(main())


def test_private_addresses_are_refused() -> None:
    names: dict[str, list[tuple[int, str]] | int] = {
        "private.example": [(300, "10.0.0.1"), (300, "::1")],
        "mixed.example": [(300, "127.0.0.1"), (300, "8.8.8.8")],
        "six.example": [(300, "192.168.0.1"), (300, "2606:4700::1")],
    }
    assert resolve("private.example", names) == Addresses((), NOW + 300, "private")
    assert resolve("mixed.example", names).addresses == ("8.8.8.8",)
    assert resolve("six.example", names).addresses == ("2606:4700::1",)
    assert resolve("private.example", names, allow_private=True).addresses == ("10.0.0.1",)


def test_ipv4_in_the_guise_of_ipv6_is_ipv4() -> None:
    assert resolve("a.example", {"a.example": [(300, "::ffff:8.8.8.8")]}).addresses == ("8.8.8.8",)


def test_names_of_the_hosts_file_are_private() -> None:
    assert resolve("localhost", {}).failure == "private"
    assert "127.0.0.1" in resolve("localhost", {}, allow_private=True).addresses


@pytest.mark.parametrize("host", ["bücher.example", "xn--bcher-kva.example", "BÜCHER.example."])
def test_names_of_other_scripts(host: str) -> None:
    assert resolve(host, {"xn--bcher-kva.example": [(300, "8.8.8.8")]}).addresses == ("8.8.8.8",)


@pytest.mark.parametrize(
    "host", ["", ".", "a..b", "x" * 64 + ".example", "a." * 150, "a b.example", "a/b", "\0", "ü" * 300]
)
def test_what_is_no_name_is_not_asked_for(host: str) -> None:
    async def main() -> None:
        async with resolving({}) as (resolver, server):
            assert (await resolver.resolve(host)).failure == "nxdomain"
            assert server.asked == []

    run_loop(main())


@pytest.mark.parametrize(
    ("host", "addresses", "failure"),
    [
        ("8.8.8.8", ("8.8.8.8",), ""),
        ("[2606:4700::1]", ("2606:4700::1",), ""),
        ("[::ffff:8.8.8.8]", ("8.8.8.8",), ""),
        ("127.0.0.1", (), "private"),
        ("[::1]", (), "private"),
        ("169.254.169.254", (), "private"),
    ],
)
def test_literal_addresses_need_no_lookup(host: str, addresses: tuple[str, ...], failure: str) -> None:
    async def main() -> None:
        async with resolving({}) as (resolver, server):
            answer = await resolver.resolve(host)
            assert (answer.addresses, answer.failure) == (addresses, failure)
            assert server.asked == []

    run_loop(main())


def test_search_domains_are_not_tried() -> None:
    async def main() -> None:
        async with resolving({}) as (resolver, server):
            await resolver.resolve("intranet")
            assert {name for name, _ in server.asked} == {"intranet"}

    run_loop(main())


def test_no_more_addresses_than_are_of_use() -> None:
    answer = resolve("a.example", {"a.example": [(300, f"8.8.8.{n}") for n in range(25)]})
    assert len(answer.addresses) == dns.MAX_ADDRESSES


def test_static_entries_come_first_and_count_as_vetted() -> None:
    async def main() -> None:
        entries = (
            "*.test=127.0.0.1:8085",
            "six.example=[::1]:81",
            "bare.example=::1",
            "10.0.0.*=127.0.0.2",
            "*=9.9.9.9",
        )
        async with resolving({}, resolve=entries) as (resolver, server):
            expected = {
                "a.test": ("127.0.0.1", 8085),
                "a.b.TEST.": ("127.0.0.1", 8085),
                "six.example": ("::1", 81),
                "bare.example": ("::1", None),
                "10.0.0.7": ("127.0.0.2", None),
                "test": ("9.9.9.9", None),
            }
            for host, (address, port) in expected.items():
                assert await resolver.resolve(host) == Addresses((address,), NOW + dns.MIN_TTL_S)
                assert resolver.static_port(host) == port
                assert resolver.is_static(host)
            assert server.asked == []

    run_loop(main())


def test_hosts_without_a_static_entry() -> None:
    async def main() -> None:
        async with resolving({"a.example": [(300, "8.8.8.8")]}, resolve=("*.test=127.0.0.1:8085",)) as (resolver, _):
            assert (await resolver.resolve("a.example")).addresses == ("8.8.8.8",)
            assert resolver.static_port("a.example") is None
            assert not resolver.is_static("a.example")

    run_loop(main())


@pytest.mark.parametrize(
    "entry",
    [
        *("", "a.test", "=127.0.0.1", "a.test=", "a.test=b.test", "a b=1.2.3.4"),
        *(
            "a.test=127.0.0.1:",
            "a.test=127.0.0.1:x",
            "a.test=1.2.3.4:0",
            "a.test=1.2.3.4:65536",
            "a.test=1.2.3.4:999999999999",
        ),
        *("a.test=[::1", "a.test=[::1]81", "a.test=[::1]:", "a.test=::1:x", "a.test=[::1]:0"),
    ],
)
def test_bad_static_entries_are_told(entry: str) -> None:
    with pytest.raises(UsageError, match="PATTERN=ADDRESS") as caught:
        read_static_entry(entry)
    assert "\n" not in str(caught.value)


def test_the_machine_s_own_name_servers_are_taken_by_default() -> None:
    async def main() -> None:
        resolver = Resolver(FetchConfig(), Clock())
        assert (await resolver.resolve("localhost")).failure == "private"
        await resolver.close()

    run_loop(main())


def test_families_are_both_asked_for() -> None:
    assert set(dns._find_families()) == {socket.AF_INET, socket.AF_INET6}
