"""TLS and HTTP/2 with a real nginx and certificates of a CA of the tests' own."""

import asyncio
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from loopback import run_loop, transporting
from ports import find_free_ports, wait_for_ports
from rdfspider.fetch.transport import Request
from rdfspider.records import Capture, Failure

CONFIG = """
daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log {folder}/access.log; gzip on; gzip_min_length 1; default_type text/html;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    ssl_certificate_key {folder}/key.pem;
    root {folder}/www; ssl_certificate {folder}/good.pem;
    server {{ listen 127.0.0.1:{good} ssl http2; listen [::1]:{good} ssl http2; }}
    server {{ listen 127.0.0.1:{plain} ssl; }}
    server {{ listen 127.0.0.1:{self_signed} ssl http2; ssl_certificate {folder}/self.pem; }}
}}
"""


@dataclass
class Nginx:
    good: int
    """HTTP/2 with a certificate for a.test and *.b.test."""
    plain: int
    """The same without HTTP/2."""
    self_signed: int
    ca: Path


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is missing: apt-get install nginx-light openssl")
    folder = tmp_path_factory.mktemp("nginx")
    make_certificates(folder)
    (folder / "www").mkdir()
    (folder / "www" / "index.html").write_text("<p>safe</p>" * 100)
    (folder / "www" / "large.html").write_text("x" * 1_000_000)
    server = Nginx(*find_free_ports(3), folder / "ca.pem")
    text = CONFIG.format(folder=folder, good=server.good, plain=server.plain, self_signed=server.self_signed)
    if not socket.has_dualstack_ipv6():
        text = text.replace(f"listen [::1]:{server.good} ssl http2;", "")
    (folder / "nginx.conf").write_text(text)
    process = subprocess.Popen([program, "-c", folder / "nginx.conf", "-e", folder / "error.log"])
    try:
        wait_for_ports(process, server.good)
        yield server
    finally:
        process.terminate()
        process.wait()


def make_certificates(folder: Path) -> None:
    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj")
    openssl("req", "-x509", *curve, "/CN=tests", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2")
    openssl("req", *curve, "/CN=a.test", "-keyout", "key.pem", "-out", "good.csr")
    (folder / "names").write_text("subjectAltName=DNS:a.test,DNS:*.b.test")
    signing = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
    openssl("x509", "-req", "-in", "good.csr", *signing, "-out", "good.pem")
    openssl(
        "x509", "-req", "-in", "good.csr", "-signkey", "key.pem", "-days", "2", "-extfile", "names", "-out", "self.pem"
    )


def test_http_2_with_a_trusted_certificate(nginx: Nginx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(nginx.ca))

    async def main() -> None:
        async with transporting() as transport:
            capture = await transport.get(Request("https://a.test/", "127.0.0.1", nginx.good))
            assert isinstance(capture, Capture), capture
            assert (capture.http_version, capture.status, capture.reason) == ("2", 200, "")
            assert capture.page.body == b"<p>safe</p>" * 100
            assert capture.page.content_type == "text/html"
            assert capture.header("Content-Encoding") == "gzip"
            assert 0 < capture.wire_bytes < 1100

    run_loop(main())


def test_http_2_shares_one_connection(nginx: Nginx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(nginx.ca))

    async def main() -> None:
        async with transporting() as transport:
            await transport.get(Request("https://a.test/", "127.0.0.1", nginx.good))
            asking = (
                transport.get(Request(f"https://a.test/large.html?{n}", "127.0.0.1", nginx.good)) for n in range(8)
            )
            captures = await asyncio.gather(*asking)
            assert [len(capture.page.body) for capture in captures if isinstance(capture, Capture)] == [1_000_000] * 8
            assert transport.open_connections == 1

    run_loop(main())


def test_a_cut_stream_does_not_cost_the_http_2_connection(nginx: Nginx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(nginx.ca))

    async def main() -> None:
        async with transporting() as transport:
            await transport.get(Request("https://a.test/", "127.0.0.1", nginx.good))
            before = set(transport.sockets.inodes.items())
            cut = await transport.get(
                Request("https://a.test/large.html", "127.0.0.1", nginx.good, max_body_bytes=1000)
            )
            assert isinstance(cut, Capture)
            assert (len(cut.page.body), cut.truncated) == (1000, "length")
            assert isinstance(await transport.get(Request("https://a.test/", "127.0.0.1", nginx.good)), Capture)
            assert set(transport.sockets.inodes.items()) == before

    run_loop(main())


def test_http_1_1_over_tls(nginx: Nginx, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(nginx.ca))

    async def main() -> None:
        async with transporting() as transport:
            capture = await transport.get(Request("https://www.b.test/", "127.0.0.1", nginx.plain))
            assert isinstance(capture, Capture), capture
            assert capture.http_version == "1.1"

    run_loop(main())


def test_tls_over_ipv6(nginx: Nginx, monkeypatch: pytest.MonkeyPatch) -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    monkeypatch.setenv("SSL_CERT_FILE", str(nginx.ca))

    async def main() -> None:
        async with transporting() as transport:
            capture = await transport.get(Request("https://a.test/", "::1", nginx.good))
            assert isinstance(capture, Capture), capture
            assert (capture.address, capture.http_version) == ("::1", "2")

    run_loop(main())


@pytest.mark.parametrize(
    ("url", "kind", "is_ca_known"),
    [
        ("https://a.test/", "good", False),  # a CA that nobody trusts
        ("https://other.test/", "good", True),  # another's name
        ("https://127.0.0.1/", "good", True),  # no name at all
        ("https://a.test/", "self_signed", True),
    ],
)
def test_bad_certificates_are_failures(
    nginx: Nginx, monkeypatch: pytest.MonkeyPatch, url: str, kind: str, is_ca_known: bool
) -> None:
    if is_ca_known:
        monkeypatch.setenv("SSL_CERT_FILE", str(nginx.ca))

    async def main() -> None:
        async with transporting() as transport:
            exchange = await transport.get(Request(url, "127.0.0.1", getattr(nginx, kind)))
            assert isinstance(exchange, Failure)
            assert exchange.code == "tls", exchange

    run_loop(main())


def test_a_plain_server_where_tls_is_expected(nginx: Nginx) -> None:
    async def main() -> None:
        async def speak_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(10)
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(speak_plainly, "127.0.0.1", 0)
        async with server, transporting() as transport:
            exchange = await transport.get(Request("https://a.test/", "127.0.0.1", server.sockets[0].getsockname()[1]))
            assert isinstance(exchange, Failure)
            assert exchange.code == "tls"

    run_loop(main())
