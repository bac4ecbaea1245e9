"""Exchanges with a real server on loopback: what is sent, what is kept, which connections."""

import asyncio
import gzip
import time
import zlib

import brotli
import pytest

from loopback import Answer, captured, failed, ok, run_loop, serving, transporting
from rdfspider.fetch import curl
from rdfspider.fetch.transport import Request
from rdfspider.records import Capture, Failure


def test_a_capture_tells_the_facts() -> None:
    before, started = time.time(), time.monotonic()
    capture = captured(ok(b"<p>hi", "content-TYPE: text/html; charset=x", "X-Twice: 1", "X-Twice: 2"))
    assert capture.page.url == "http://a.test/page"
    assert capture.page.body == b"<p>hi"
    assert capture.page.content_type == "text/html; charset=x"
    assert (capture.status, capture.reason, capture.http_version) == (200, "OK", "1.1")
    assert capture.headers == (
        ("Content-Length", "5"),
        ("content-TYPE", "text/html; charset=x"),
        ("X-Twice", "1"),
        ("X-Twice", "2"),
    )
    assert capture.address == "127.0.0.1"
    assert capture.wire_bytes == 5
    assert capture.truncated == ""
    assert before <= capture.started <= time.time()
    assert 0 < capture.duration_s <= time.monotonic() - started


def test_the_request_is_as_recorded() -> None:
    async def main() -> None:
        async with serving({"/a?b=c": ok(b"")}) as server, transporting() as transport:
            capture = await transport.get(
                Request(
                    "http://a.test:81/a?b=c",
                    "127.0.0.1",
                    server.port,
                    {"Accept": "text/html", "If-None-Match": '"é\r\nX: 1"'},
                )
            )
            assert isinstance(capture, Capture)
            lines = server.requests[0].decode("latin-1").split("\r\n")
            assert lines[0] == "GET /a?b=c HTTP/1.1"
            assert lines[-2:] == ["", ""]
            assert dict(line.split(": ", 1) for line in lines[1:-2]) == dict(capture.request_headers)
            assert dict(capture.request_headers) == {
                "Host": "a.test:81",
                "User-Agent": "rdfspider/1 (+mailto:a@example.org)",
                "Accept": "text/html",
                "If-None-Match": '"é  X: 1"',
                "Accept-Encoding": "gzip, deflate, br",
            }

    run_loop(main())


def test_a_kept_connection_that_breaks_is_not_asked_again_at_once() -> None:
    async def main() -> None:
        # An answer of no bytes: the server takes the request and hangs up.
        async with serving({"/": ok(b"x"), "/broken": b""}) as server, transporting() as transport:
            await transport.get(Request("http://a.test/", "127.0.0.1", server.port))
            exchange = await transport.get(Request("http://a.test/broken", "127.0.0.1", server.port))
            assert isinstance(exchange, Failure)
            assert exchange.code == "reset"
            assert len(server.requests) == 2
            assert isinstance(await transport.get(Request("http://a.test/", "127.0.0.1", server.port)), Capture)

    run_loop(main())


def test_connections_are_kept_and_reused_per_host() -> None:
    async def main() -> None:
        async with serving({"/": ok(b"x")}) as server, transporting() as transport:
            for host in ("a.test", "a.test", "b.test", "a.test", "b.test"):
                assert isinstance(await transport.get(Request(f"http://{host}/", "127.0.0.1", server.port)), Capture)
            assert server.connections == 2
            assert transport.open_connections == 2

    run_loop(main())


def test_another_address_is_another_connection() -> None:
    async def main() -> None:
        async with serving({"/": ok(b"x")}, "0.0.0.0") as server, transporting() as transport:
            for address in ("127.0.0.1", "127.0.0.2", "127.0.0.1"):
                capture = await transport.get(Request("http://a.test/", address, server.port))
                assert isinstance(capture, Capture)
                assert capture.address == address
            assert server.connections == 2

    run_loop(main())


def test_idle_connections_close_in_quiet_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curl, "IDLE_S", 1)

    async def main() -> None:
        async with serving({"/": ok(b"x")}) as server, transporting() as transport:
            await transport.get(Request("http://a.test/", "127.0.0.1", server.port))
            assert transport.open_connections == 1
            while not server.closed:
                await asyncio.sleep(0.05)
            assert transport.open_connections == 0

    run_loop(main())


def test_ipv6() -> None:
    async def main() -> None:
        try:
            listening = serving({"/": ok(b"six")}, "::1")
            async with listening as server, transporting() as transport:
                for url in ("http://a.test/", "http://[2001:db8::1]/"):
                    capture = await transport.get(Request(url, "::1", server.port))
                    assert isinstance(capture, Capture), capture
                    assert (capture.page.body, capture.address) == (b"six", "::1")
                assert b"Host: [2001:db8::1]\r\n" in server.requests[1]
        except OSError as error:
            pytest.skip(f"this machine has no IPv6: {error}")

    run_loop(main())


@pytest.mark.parametrize(
    ("encoding", "encoded"),
    [
        ("gzip", gzip.compress(b"hello " * 1000)),
        ("deflate", zlib.compress(b"hello " * 1000)),
        ("br", brotli.compress(b"hello " * 1000)),
        ("gzip, gzip", gzip.compress(gzip.compress(b"hello " * 1000))),
    ],
    ids=["gzip", "deflate", "br", "gzip twice"],
)
def test_encoded_bodies_are_decoded(encoding: str, encoded: bytes) -> None:
    capture = captured(ok(encoded, f"Content-Encoding: {encoding}"))
    assert capture.page.body == b"hello " * 1000
    assert capture.header("content-encoding") == encoding
    assert capture.wire_bytes == len(encoded)
    assert capture.truncated == ""


def test_bare_deflate_is_decoded() -> None:
    packer = zlib.compressobj(wbits=-15)
    assert captured(ok(packer.compress(b"hello") + packer.flush(), "Content-Encoding: deflate")).page.body == b"hello"


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "x-unknown"])
def test_bodies_that_are_not_encoded_as_they_say_fail(encoding: str) -> None:
    assert failed(ok(b"<html>plain text all along</html>", f"Content-Encoding: {encoding}")) == "protocol"


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_answers_without_a_body(status: str) -> None:
    async def main() -> None:
        answer = f"HTTP/1.1 {status}\r\nETag: x\r\nContent-Length: 0\r\n\r\n".encode()
        async with serving({"/": answer, "/next": ok(b"2")}) as server, transporting() as transport:
            first = await transport.get(Request("http://a.test/", "127.0.0.1", server.port))
            second = await transport.get(Request("http://a.test/next", "127.0.0.1", server.port))
            assert isinstance(first, Capture)
            assert isinstance(second, Capture)
            assert (first.status, first.page.body, first.truncated) == (int(status[:3]), b"", "")
            assert second.page.body == b"2"
            assert server.connections == 1

    run_loop(main())


def test_interim_answers_and_trailers_are_left_out() -> None:
    capture = captured(
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        b"HTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\nX: 1\r\n\r\n2\r\nok\r\n0\r\nX-Trailer: 1\r\n\r\n"
    )
    assert (capture.status, capture.reason, capture.page.body) == (200, "Fine", b"ok")
    assert capture.headers == (("Transfer-Encoding", "chunked"), ("X", "1"))


def test_redirects_are_not_followed() -> None:
    async def main() -> None:
        moved = b"HTTP/1.1 301 Moved\r\nLocation: /next\r\nContent-Length: 3\r\n\r\nbye"
        async with serving({"/": moved, "/next": ok(b"2")}) as server, transporting() as transport:
            capture = await transport.get(Request("http://a.test/", "127.0.0.1", server.port))
            assert isinstance(capture, Capture)
            assert (capture.status, capture.header("location"), capture.page.body) == (301, "/next", b"bye")
            assert len(server.requests) == 1

    run_loop(main())


def test_header_values_are_kept_as_sent() -> None:
    capture = captured(ok(b"", "Location: /\u00e9\u00a0x".encode("latin-1").decode("latin-1"), "X:", "Y:  a  b  "))
    assert capture.header("x") == ""
    assert capture.header("y") == "a  b"
    folded = captured(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: a\r\n  b\r\n\r\n")
    assert folded.header("x") == "a b"


def test_old_and_odd_status_lines_are_read() -> None:
    assert captured(b"HTTP/1.0 200 OK\r\n\r\nold").http_version == "1.0"
    assert captured(b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n").reason == ""
    assert captured(b"HTTP/1.1 999 Request denied\r\nContent-Length: 0\r\n\r\n").status == 999


def test_cookies_are_never_sent_back() -> None:
    async def main() -> None:
        async with serving({"/": ok(b"", "Set-Cookie: a=b; Path=/")}) as server, transporting() as transport:
            for _ in range(2):
                capture = await transport.get(Request("http://a.test/", "127.0.0.1", server.port))
                assert isinstance(capture, Capture)
                assert capture.header("set-cookie") == "a=b; Path=/"
            assert b"ookie" not in server.requests[1]

    run_loop(main())


def test_credentials_go_to_their_own_host_only() -> None:
    async def main() -> None:
        async with serving({"/": ok(b"")}) as server, transporting() as transport:
            first = await transport.get(Request("http://user:secret@a.test/", "127.0.0.1", server.port))
            for url in ("http://a.test/", "http://b.test/"):
                await transport.get(Request(url, "127.0.0.1", server.port))
            assert b"Authorization: Basic" in server.requests[0]
            assert b"Host: a.test\r\n" in server.requests[0]
            assert b"uthorization" not in server.requests[1] + server.requests[2]
            assert isinstance(first, Capture)
            assert dict(first.request_headers)["Host"] == "a.test"
            assert "secret" not in str(first.request_headers)

    run_loop(main())


def test_conditional_headers_do_not_stay_with_the_handle() -> None:
    async def main() -> None:
        async with serving({"/": ok(b"")}) as server, transporting() as transport:
            await transport.get(Request("http://a.test/", "127.0.0.1", server.port, {"If-None-Match": '"x"'}))
            await transport.get(Request("http://b.test/", "127.0.0.1", server.port))
            assert b"If-None-Match" in server.requests[0]
            assert b"If-None-Match" not in server.requests[1]

    run_loop(main())


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert captured(ok(b"direct")).page.body == b"direct"


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "169.254.169.254", "10.0.0.1"])
def test_no_socket_opens_to_a_private_address(address: str) -> None:
    async def main() -> None:
        async with serving({"/": ok(b"secret")}, "127.0.0.1") as server, transporting(allow_private=False) as transport:
            exchange = await transport.get(Request("http://a.test/", address, server.port))
            assert isinstance(exchange, Failure)
            assert (exchange.code, exchange.address) == ("private", address)
            assert server.connections == 0
            assert transport.open_connections == 0

    run_loop(main())


def test_a_private_address_that_a_person_named_is_let_through() -> None:
    assert captured(ok(b"mine"), settings={"allow_private": False}, is_vetted=True).page.body == b"mine"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.test/",
        "file:///etc/passwd",
        "gopher://a.test/",
        "HTTP",
        "",
        "http://a.test:25/",
        "http://a.test:6667/",
        "http://a.test:0/",
        "http://[::1/",
        "http://a b/",
        "http:///path",
        "http://a.test:999999/",
        "http://a.test/\0",
        "http://a.test/\r\nX: y",
        "http://a.test/\ud800",
    ],
)
def test_urls_that_are_not_for_a_crawler(url: str) -> None:
    async def main() -> None:
        async with transporting() as transport:
            exchange = await transport.get(Request(url, "127.0.0.1", 9))
            assert isinstance(exchange, Failure)
            assert exchange.code == "unsupported"

    run_loop(main())


def test_a_cancelled_exchange_leaves_its_handle_usable() -> None:
    async def main() -> None:
        async def be_silent(writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(10)

        async with serving({"/silent": be_silent, "/": ok(b"x")}) as server, transporting() as transport:
            task = asyncio.create_task(transport.get(Request("http://a.test/silent", "127.0.0.1", server.port)))
            while not server.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert isinstance(await transport.get(Request("http://a.test/", "127.0.0.1", server.port)), Capture)

    run_loop(main())


def test_many_exchanges_at_once() -> None:
    async def main() -> None:
        answers: dict[str, Answer] = {f"/{number}": ok(str(number).encode() * 1000) for number in range(200)}
        async with serving(answers) as server, transporting() as transport:

            async def ask(number: int) -> bool:
                url = f"http://{number % 7}.test/{number}"
                capture = await transport.get(Request(url, "127.0.0.1", server.port))
                return isinstance(capture, Capture) and capture.page.body == str(number).encode() * 1000

            assert all(await asyncio.gather(*map(ask, range(200))))

    run_loop(main())


def test_closing_ends_what_is_under_way() -> None:
    async def main() -> None:
        async def be_silent(writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(10)

        async with serving({"/": be_silent}) as server:
            async with transporting() as transport:
                task = asyncio.create_task(transport.get(Request("http://a.test/", "127.0.0.1", server.port)))
                while not server.requests:
                    await asyncio.sleep(0.01)
            with pytest.raises(asyncio.CancelledError):
                await task

    run_loop(main())
