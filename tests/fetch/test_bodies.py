"""Encoded bodies from a real server on loopback: cut ones are told, bombs are bounded, and the loop goes on meanwhile."""

import asyncio
import gzip
import time
import zlib
from collections.abc import Callable, Iterable, Iterator

import brotli
import pytest

from loopback import captured, fetch, ok, run_loop, serving, transporting
from rdfspider.config import FetchConfig, FrontierConfig
from rdfspider.fetch.fetcher import Fetcher
from rdfspider.fetch.transport import Request
from rdfspider.records import Capture, Failure, Lease, RobotsState

LINES = b"".join(b"Disallow: /%d/%x\n" % (number, number * 7919 % 65_521) for number in range(2000))
RULES = b"User-agent: *\n" + LINES + b"Disallow: /late\n"


def compress_bare(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACKERS = [
    pytest.param("gzip", gzip.compress, id="gzip"),
    pytest.param("deflate", zlib.compress, id="deflate"),
    pytest.param("deflate", compress_bare, id="bare deflate"),
    pytest.param("br", brotli.compress, id="br"),
    pytest.param("gzip, gzip", lambda body: gzip.compress(gzip.compress(body)), id="gzip twice"),
]


@pytest.mark.parametrize(("encoding", "pack"), PACKERS)
def test_a_page_whose_encoding_does_not_end_is_cut(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(RULES)
    half = captured(ok(packed[: len(packed) * 2 // 3], f"Content-Encoding: {encoding}"))
    assert half.truncated == "disconnect"
    assert RULES.startswith(half.page.body)
    assert len(half.page.body) > 1000
    whole = captured(ok(packed, f"Content-Encoding: {encoding}"))
    assert (whole.page.body, whole.truncated) == (RULES, "")


class Gate:
    """Lets everybody through."""

    async def acquire(self, address: str) -> None: ...

    def release(self, address: str) -> None: ...

    async def begin_side_request(self, host: str) -> float:
        return 0.0

    def end_side_request(self, host: str, exchange: Capture | Failure) -> None: ...


class Clock:
    def now(self) -> float:
        return time.time()


def fetch_robots(answer: bytes) -> RobotsState:
    async def main() -> RobotsState:
        async with serving({"/robots.txt": answer}) as server:
            config = FetchConfig(resolve=(f"*.test=127.0.0.1:{server.port}",))
            fetcher = Fetcher(config, "rdfspider/1 (+x)", Clock(), pace=FrontierConfig(delay_s=0.0))
            try:
                lease = Lease("robots", "a.test", 1, "http://a.test/robots.txt", addresses=("127.0.0.1",))
                return (await fetcher.fetch_robots(lease, "127.0.0.1", Gate()))[0]
            finally:
                await fetcher.close()

    return run_loop(main())


@pytest.mark.parametrize(("encoding", "pack"), PACKERS)
def test_half_a_robots_txt_is_not_believed(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(RULES)
    half = fetch_robots(ok(packed[: len(packed) * 2 // 3], f"Content-Encoding: {encoding}"))
    assert (half.rule, half.reason) == ("unreachable", "disconnect")
    whole = fetch_robots(ok(packed, f"Content-Encoding: {encoding}"))
    assert (whole.rule, whole.body) == ("rules", RULES)


def test_members_padding_and_lines_of_several_encodings() -> None:
    assert captured(ok(gzip.compress(b"a") + gzip.compress(b"b"), "Content-Encoding: gzip")).page.body == b"ab"
    padded = captured(ok(gzip.compress(b"a") + bytes(512), "Content-Encoding: gzip"))
    assert (padded.page.body, padded.truncated, padded.wire_bytes) == (b"a", "", len(gzip.compress(b"a")) + 512)
    twice = ok(brotli.compress(gzip.compress(b"a")), "Content-Encoding: gzip", "content-encoding: br")
    assert captured(twice).page.body == b"a"


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "gzip, gzip, gzip"])
def test_no_body_has_no_encoding(encoding: str) -> None:
    for status in ("200 OK", "304 Not Modified"):
        capture = captured(f"HTTP/1.1 {status}\r\nContent-Encoding: {encoding}\r\nContent-Length: 0\r\n\r\n".encode())
        assert (capture.page.body, capture.truncated) == (b"", "")


def test_a_body_that_comes_long_after_its_head_is_decoded() -> None:
    packed = gzip.compress(RULES)

    async def hesitate(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed))
        await asyncio.sleep(0.5)  # The watch has looked at the head by now.
        writer.write(packed)

    capture = captured(hesitate, settings={"first_byte_timeout_s": 1.6}, keeps=lambda _: True)
    assert (capture.page.body, capture.truncated) == (RULES, "")


def test_padding_without_end_is_cut() -> None:
    async def pad(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"hi"))
        while not writer.is_closing():
            writer.write(bytes(10_000))
            await writer.drain()
            await asyncio.sleep(0)

    capture = captured(pad, max_body_bytes=100_000)
    assert (capture.page.body, capture.truncated) == (b"hi", "length")
    assert 100_000 < capture.wire_bytes < 1_000_000


def test_a_decoded_body_without_room_is_busy_and_gives_its_memory_back() -> None:
    async def main() -> None:
        answer = ok(gzip.compress(bytes(500_000)), "Content-Encoding: gzip")
        async with (
            serving({"/": answer, "/next": ok(b"2")}) as server,
            transporting(max_flight_bytes=200_000) as transport,
        ):
            busy = await transport.get(Request("http://a.test/", "127.0.0.1", server.port))
            assert isinstance(busy, Failure)
            assert busy.code == "busy"
            assert transport.flight.body_bytes == 0
            assert isinstance(await transport.get(Request("http://a.test/next", "127.0.0.1", server.port)), Capture)

    run_loop(main())


def test_unwanted_bodies_are_not_decoded() -> None:
    capture = captured(ok(b"no gzip at all", "Content-Encoding: gzip"), keeps=lambda _: False)
    assert (capture.page.body, capture.truncated, capture.wire_bytes) == (b"", "unwanted", 14)


@pytest.mark.parametrize(("encoding", "words"), [("gzip", "no gzip"), ("zstd", "'zstd' is unknown")])
def test_a_failure_says_what_is_wrong_with_the_encoding(encoding: str, words: str) -> None:
    exchange = fetch(ok(b"<html>plain text all along</html>", f"Content-Encoding: {encoding}"))
    assert isinstance(exchange, Failure)
    assert exchange.code == "protocol"
    assert words in exchange.message


def pack_streaming(pieces: Iterable[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(1, wbits=31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def make_empty_blocks(count: int) -> Iterator[bytes]:
    """gzip that never ends and holds nothing."""
    yield b"\x1f\x8b\x08\0\0\0\0\0\0\3"
    for _ in range(count // 200_000):
        yield b"\0\0\0\xff\xff" * 200_000


@pytest.mark.parametrize("layers", [2, 3])
def test_bombs_within_bombs_do_not_stall_the_loop(layers: int) -> None:
    pieces = make_empty_blocks(200_000_000 if layers == 3 else 40_000_000)
    for _ in range(layers - 1):
        pieces = pack_streaming(pieces)
    encoding = ", ".join(["gzip"] * layers)
    answer = ok(b"".join(pieces), f"Content-Encoding: {encoding}")

    async def main() -> tuple[Capture | Failure, float]:
        async def beat() -> None:
            """Processor time of the loop's thread: a busy machine may let us wait, and others decode meanwhile."""
            nonlocal longest_s
            while True:
                before = time.thread_time()
                await asyncio.sleep(0.01)
                longest_s = max(longest_s, time.thread_time() - before)

        longest_s = 0.0
        async with serving({"/": answer}) as server, transporting() as transport:
            beating = asyncio.create_task(beat())
            await asyncio.sleep(0.05)
            exchange = await transport.get(Request("http://a.test/", "127.0.0.1", server.port))
            await asyncio.sleep(0.05)
            beating.cancel()
            return exchange, longest_s

    exchange, longest_s = run_loop(main())
    assert isinstance(exchange, Failure)
    assert exchange.code == "protocol"
    assert longest_s < 0.5
