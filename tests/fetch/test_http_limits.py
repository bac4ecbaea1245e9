"""What hostile, broken and slow servers come to: bounded time, bounded memory, never an exception."""

import asyncio
import gzip
import socket
import struct
import time
import tracemalloc
import zlib
from math import inf

import pytest

from loopback import Answer, captured, failed, ok, run_loop, serving, transporting
from rdfspider import pace
from rdfspider.fetch import curl, http
from rdfspider.fetch.transport import Request
from rdfspider.records import Capture, Failure


def make_bomb(layers: int) -> bytes:
    """A gigabyte of zeros: one flushed block of a megabyte over and over."""
    packer = zlib.compressobj(9, wbits=31)
    head = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(1024 * 1024)) + packer.flush(zlib.Z_FULL_FLUSH)
    bomb = head + block * 1024
    for _ in range(layers - 1):
        bomb = gzip.compress(bomb)
    return bomb


@pytest.mark.parametrize("layers", [1, 2])
def test_a_bomb_is_cut_at_the_limit(layers: int) -> None:
    bomb = make_bomb(layers)
    encoding = ", ".join(["gzip"] * layers)
    before = time.process_time()
    capture = captured(ok(bomb, f"Content-Encoding: {encoding}"), settings={"max_body_bytes": 1_000_001})
    assert time.process_time() - before < 2
    assert (len(capture.page.body), capture.truncated) == (1_000_001, "length")


def test_a_body_in_tiny_pieces_takes_no_more_memory() -> None:
    tracemalloc.start()
    try:
        answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"2\r\nxy\r\n" * 300_000 + b"0\r\n\r\n"
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        assert len(captured(answer).page.body) == 600_000
        # What the server has to send is in memory as well.
        assert tracemalloc.get_traced_memory()[1] - before < 2 * len(answer) + 4_000_000
    finally:
        tracemalloc.stop()


def test_bodies_are_cut_at_the_limit_of_the_call() -> None:
    assert captured(ok(b"123456"), max_body_bytes=6).truncated == ""
    capture = captured(ok(b"1234567"), max_body_bytes=6)
    assert (capture.page.body, capture.truncated) == (b"123456", "length")


def test_all_bodies_in_flight_share_their_memory() -> None:
    async def main() -> None:
        async def stall(writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + b"x" * 6000)
            await freed.wait()
            writer.write(b"x" * 3000)

        freed = asyncio.Event()
        answers: dict[str, Answer] = {"/slow": stall, "/page": ok(b"y" * 5000)}
        async with serving(answers) as server, transporting(max_flight_bytes=10_000) as transport:
            slow = asyncio.create_task(transport.get(Request("http://a.test/slow", "127.0.0.1", server.port)))
            while transport.flight.body_bytes < 6000:
                await asyncio.sleep(0.01)
            busy = await transport.get(Request("http://b.test/page", "127.0.0.1", server.port))
            assert isinstance(busy, Failure)
            assert busy.code == "busy"
            freed.set()
            assert len((await slow).page.body) == 9000  # type: ignore[union-attr]
            assert transport.flight.body_bytes == 0
            later = await transport.get(Request("http://b.test/page", "127.0.0.1", server.port))
            assert isinstance(later, Capture)
            assert transport.flight.body_bytes == 0

    run_loop(main())


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nhalf\r\n",
    ],
)
def test_a_body_that_ends_early_is_kept_and_marked(answer: bytes) -> None:
    async def end(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()
        writer.close()

    capture = captured(end)
    assert (capture.page.body, capture.truncated) == (b"half", "disconnect")


def test_a_connection_that_ends_before_the_body_is_a_failure() -> None:
    async def end(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        await writer.drain()
        writer.close()

    assert failed(end) == "reset"


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nContent-Le"])
def test_a_reset_is_a_failure(start: bytes) -> None:
    async def reset(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await writer.drain()
        await asyncio.sleep(0.05)
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    assert failed(reset) == "reset"


def test_more_than_the_content_length_is_not_read() -> None:
    async def main() -> None:
        answers: dict[str, Answer] = {
            "/": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and much more",
            "/next": ok(b"2"),
        }
        async with serving(answers) as server, transporting() as transport:
            first = await transport.get(Request("http://a.test/", "127.0.0.1", server.port))
            second = await transport.get(Request("http://a.test/next", "127.0.0.1", server.port))
            assert isinstance(first, Capture)
            assert isinstance(second, Capture)
            assert (first.page.body, second.page.body) == (b"ok", b"2")

    run_loop(main())


def test_a_silent_server() -> None:
    async def be_silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(600)

    assert failed(be_silent, settings={"first_byte_timeout_s": 0.2}) == "first-byte-timeout"


def test_a_silent_server_while_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async def be_silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(600)

    monkeypatch.setattr(pace, "_SHORT_S", 0.1)
    settings = {"first_byte_timeout_s": 1.0}
    assert failed(be_silent, settings=settings, patience_s=lambda: 0.2) == "taken-back"
    assert failed(be_silent, settings=settings, patience_s=lambda: inf) == "first-byte-timeout"


def test_a_body_that_trickles_while_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x")
            await asyncio.sleep(0.05)

    monkeypatch.setattr(pace, "_SHORT_S", 0.1)
    assert failed(trickle, settings={"first_byte_timeout_s": 1.0}, patience_s=lambda: 0.2) == "taken-back"


def test_a_slow_start_within_the_limit_is_no_silence() -> None:
    async def hesitate(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.5)
        writer.write(b"HTTP/1.1 200 OK\r\n")
        await asyncio.sleep(2)
        writer.write(b"Content-Length: 2\r\n\r\nok")

    assert captured(hesitate, settings={"first_byte_timeout_s": 2}).page.body == b"ok"


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"])
def test_nobody_is_blamed_for_a_loop_that_stood_still(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stand_still(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await asyncio.sleep(0.3)
        time.sleep(2.5)
        # The watch is due, and what follows is not on its way yet.
        await asyncio.sleep(0.05)
        writer.write((b"" if start else b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n") + b"x" * 9999)

    monkeypatch.setattr(http, "LATE_S", 0.4)
    monkeypatch.setattr(curl, "SLOW_WINDOW_S", 2.0)
    assert len(captured(stand_still, settings={"first_byte_timeout_s": 2.0}).page.body) == 9999


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"])
def test_a_trickle(start: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        for _ in range(200):
            writer.write(b"x")
            await asyncio.sleep(0.05)

    monkeypatch.setattr(curl, "SLOW_WINDOW_S", 0.4)
    assert failed(trickle) == "slow"


def test_a_steady_stream_is_no_trickle(monkeypatch: pytest.MonkeyPatch) -> None:
    async def stream(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 15000\r\n\r\n")
        for _ in range(60):
            writer.write(b"x" * 250)
            await asyncio.sleep(0.05)

    # Where a busy machine makes a fiftieth of it, it is still faster than it has to be.
    monkeypatch.setattr(curl, "SLOW_WINDOW_S", 1.0)
    assert len(captured(stream).page.body) == 15_000


def test_the_whole_exchange_has_a_limit() -> None:
    async def stream(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n")
        for _ in range(200):
            writer.write(b"x" * 1000)
            await asyncio.sleep(0.05)

    capture = captured(stream, settings={"timeout_s": 4})
    assert capture.truncated == "time"
    assert len(capture.page.body) >= 1000


def test_a_head_without_end_within_the_limit() -> None:
    async def stream(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(200):
            writer.write(f"X-{number}: 1\r\n".encode())
            await asyncio.sleep(0.05)

    assert failed(stream, settings={"timeout_s": 0.5}) == "timeout"


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\n", b"X: " + b"a" * 1_000_000],
        [b"HTTP/1.1 200 OK\r\n", *[b"X: " + b"a" * 60_000 + b"\r\n"] * 20],
        [b"HTTP/1.1 200 OK\r\n", *[b"X: " + b"a" * 102_000 + b"\r\n"] * 20],
        [b"HTTP/1.1 200 OK\r\n", b"a:b\r\n" * 200_000],
        [b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000_000],
        [b"HTTP/1.1 103 Early\r\nX: " + b"a" * 10_000 + b"\r\n\r\n"] * 1000,
        [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n" * 1_000_000],
    ],
)
def test_heads_are_bounded(pieces: list[bytes]) -> None:
    async def bomb(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        await asyncio.sleep(5)

    before = time.process_time()
    assert failed(bomb) == "too-large"
    assert time.process_time() - before < 2


def test_types_that_are_not_kept_end_early() -> None:
    sent = 0

    async def stream(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 100000000\r\n\r\n")
        for _ in range(1000):
            writer.write(b"x" * 100_000)
            await writer.drain()
            sent += 1

    capture = captured(stream, keeps=lambda content_type: content_type != "video/mp4")
    assert (capture.page.body, capture.truncated, capture.status) == (b"", "unwanted", 200)
    assert sent < 500


@pytest.mark.parametrize("interim", [b"", b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"])
def test_types_that_are_not_kept_end_early_where_no_body_comes(interim: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    async def stall(writer: asyncio.StreamWriter) -> None:
        writer.write(interim)
        await asyncio.sleep(0.3)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 1000000\r\n\r\n")
        await asyncio.sleep(600)

    # Were it waited for, it would be found to be slow.
    monkeypatch.setattr(curl, "SLOW_WINDOW_S", 600.0)
    capture = captured(stall, settings={"first_byte_timeout_s": 4.0}, keeps=lambda kind: kind != "image/png")
    assert (capture.status, capture.page.body, capture.truncated) == (200, b"", "unwanted")


def test_a_short_body_that_is_not_kept_and_does_not_come_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    async def stall(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 1000\r\n\r\n")
        await asyncio.sleep(50)

    monkeypatch.setattr(curl, "SLOW_WINDOW_S", 0.4)
    assert captured(stall, keeps=lambda _: False).truncated == "unwanted"


def test_short_unwanted_bodies_do_not_cost_the_connection() -> None:
    async def main() -> None:
        answers: dict[str, Answer] = {"/": ok(b"x" * 5000, "Content-Type: image/png"), "/page": ok(b"1")}
        async with serving(answers) as server, transporting() as transport:
            for _ in range(2):
                image = await transport.get(Request("http://a.test/", "127.0.0.1", server.port, keeps=lambda _: False))
                assert isinstance(image, Capture)
                assert (image.page.body, image.truncated) == (b"", "unwanted")
            assert isinstance(await transport.get(Request("http://a.test/page", "127.0.0.1", server.port)), Capture)
            assert server.connections == 1

    run_loop(main())


def test_unwanted_bodies_without_a_length_end_early() -> None:
    async def stream(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"x" * 10_000)
            await writer.drain()
            await asyncio.sleep(0)

    assert captured(stream, keeps=lambda _: False).truncated == "unwanted"


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>HTTP/0.9 has no head</html>\n" * 100,
        b"HTTP/1.1 abc Nonsense\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 99999 Nonsense\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/7.7 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n",
        b"\0" * 100,
        b"\r\n\r\n",
    ],
)
def test_what_is_not_http_is_a_failure(answer: bytes) -> None:
    async def end(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()
        writer.close()

    assert failed(end) in ("protocol", "reset")


def test_nobody_listens() -> None:
    async def main() -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        async with transporting() as transport:
            exchange = await transport.get(Request("http://a.test/", "127.0.0.1", port))
            assert isinstance(exchange, Failure)
            assert exchange.code == "refused"

    run_loop(main())


def test_a_connection_that_is_not_answered() -> None:
    async def main() -> None:
        # A queue of one that is full: further connections get no answer.
        with socket.socket() as listener, socket.socket() as one, socket.socket() as two:
            listener.bind(("127.0.0.1", 0))
            listener.listen(0)
            for filler in (one, two):
                filler.setblocking(False)
                filler.connect_ex(listener.getsockname())
            async with transporting(connect_timeout_s=0.3) as transport:
                exchange = await transport.get(Request("http://a.test/", "127.0.0.1", listener.getsockname()[1]))
                assert isinstance(exchange, Failure)
                assert exchange.code == "connect-timeout"

    run_loop(main())


def test_tls_that_is_not_answered_is_a_connect_timeout() -> None:
    async def main() -> None:
        async with serving({}) as server, transporting(connect_timeout_s=0.3) as transport:
            exchange = await transport.get(Request("https://a.test/", "127.0.0.1", server.port))
            assert isinstance(exchange, Failure)
            assert exchange.code == "connect-timeout"

    run_loop(main())
