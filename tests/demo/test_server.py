"""The demo's server, by real sockets."""

import gzip
import socket
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import pytest

from rdfspider.demo.server import PORT, DemoServer
from rdfspider.errors import UsageError


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with DemoServer() as serving:
        yield serving


def ask(
    server: DemoServer, path: str, method: str = "GET", host: str = "shop", **headers: str
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    fields = {
        "Host": f"{host}.localhost:{server.port}",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    connection.request(method, path, headers=fields)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def talk(server: DemoServer, text: bytes) -> bytes:
    """Everything that comes back until the server hangs up."""
    with socket.create_connection(("127.0.0.1", server.port), 60) as wire:
        wire.sendall(text)
        return b"".join(iter(lambda: wire.recv(65_536), b""))


def test_hosts_have_their_own_pages(server: DemoServer) -> None:
    shop, museum = ask(server, "/", host="shop"), ask(server, "/", host="museum")
    assert (shop[0].status, museum[0].status) == (200, 200)
    assert b"Marsh &amp; Mill" in shop[1]
    assert b"Museum of Small Things" in museum[1]
    assert ask(server, "/", host="casino")[0].status == 404


def test_a_page_says_what_it_is(server: DemoServer) -> None:
    response, body = ask(server, "/products/marsh-mint-tea")
    assert response.getheader("Content-Type") == "text/html; charset=utf-8"
    assert response.getheader("Content-Length") == str(len(body))
    assert response.getheader("Last-Modified")
    assert f".localhost:{server.port}/".encode() in ask(server, "/", host="www")[1]


def test_what_has_not_changed_is_not_sent_again(server: DemoServer) -> None:
    etag = ask(server, "/")[0].getheader("ETag") or ""
    response, body = ask(server, "/", If_None_Match=etag)
    assert (response.status, body) == (304, b"")
    assert ask(server, "/", If_None_Match='"other"')[0].status == 200


def test_gzip_where_it_is_asked_for(server: DemoServer) -> None:
    plain = ask(server, "/products")[1]
    response, packed = ask(server, "/products", Accept_Encoding="br, gzip")
    assert response.getheader("Content-Encoding") == "gzip"
    assert gzip.decompress(packed) == plain
    assert len(packed) < len(plain)


def test_a_head_has_no_body(server: DemoServer) -> None:
    response, body = ask(server, "/products", "HEAD")
    assert (response.status, body) == (200, b"")
    assert int(response.getheader("Content-Length") or 0) > 1000


def test_redirects_robots_and_what_is_not_there(server: DemoServer) -> None:
    assert ask(server, "/", host="old")[0].getheader("Location") == "/home"
    robots, rules = ask(server, "/robots.txt")
    assert robots.getheader("Content-Type") == "text/plain; charset=utf-8"
    assert b"Disallow: /cart" in rules
    assert ask(server, "/robots.txt", host="museum")[0].status == 404
    assert ask(server, "/nowhere")[0].status == 404


def test_a_connection_serves_several_requests(server: DemoServer) -> None:
    request = "GET {} HTTP/1.1\r\nHost: blog.localhost\r\n{}\r\n"
    reply = talk(server, (request.format("/", "") + request.format("/page/2", "Connection: close\r\n")).encode())
    assert reply.count(b"HTTP/1.1 200 OK") == 2
    assert reply.count(b"Connection: close") == 1


@pytest.mark.parametrize(
    ("request_line", "status"),
    [("POST / HTTP/1.1", 405), ("nonsense", 400), ("GET / HTTP/2", 400), ("GET http://x/ HTTP/1.1", 400)],
)
def test_other_requests_are_refused(server: DemoServer, request_line: str, status: int) -> None:
    assert talk(server, f"{request_line}\r\n\r\n".encode()).startswith(f"HTTP/1.1 {status} ".encode())


def test_a_head_without_end_is_hung_up_on(server: DemoServer) -> None:
    assert talk(server, b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000) == b""


def test_the_next_port_where_one_is_taken(server: DemoServer) -> None:
    with DemoServer() as second:
        assert server.port >= PORT
        assert second.port >= PORT and second.port != server.port
        assert ask(second, "/")[0].status == 200
    with pytest.raises(UsageError, match="--port"):
        DemoServer(server.port)


def test_it_ends_although_somebody_is_connected() -> None:
    with DemoServer() as short, socket.create_connection(("127.0.0.1", short.port), 60) as wire:
        wire.sendall(b"GET / HTTP/1.1\r\nHost: www.localhost\r\n\r\n")
        assert wire.recv(15) == b"HTTP/1.1 200 OK"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", short.port), 60)
