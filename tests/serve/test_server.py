"""Connections whose clients read nothing: they end, however little of an answer is left."""

import socket
from contextlib import closing
from pathlib import Path

import pytest

from rdfspider import Crawl
from rdfspider.serve import limits
from rdfspider.serve.server import SiteProtocol
from serving import serve
from waiting import PATIENCE_S, wait_until


def keep_connections(monkeypatch: pytest.MonkeyPatch) -> list[SiteProtocol]:
    """All connections that are made from now on."""
    made: list[SiteProtocol] = []
    take = SiteProtocol.connection_made

    def keep(self: SiteProtocol, transport: object) -> None:
        take(self, transport)  # type: ignore[arg-type]
        made.append(self)

    monkeypatch.setattr(SiteProtocol, "connection_made", keep)
    return made


def test_a_short_rest_that_nobody_reads_ends_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WRITE_S", 5.0)
    crawl = Crawl.create(tmp_path / "c", ["https://example.org/"])
    with serve(crawl) as serving, closing(socket.socket()) as client:
        made = keep_connections(monkeypatch)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        client.settimeout(PATIENCE_S)
        client.connect(("127.0.0.1", serving.port))
        connection = wait_until(lambda: made and made[0])
        # One answer after the other, until the system takes no more of them: what is left is less than an answer.
        for sent in range(1, 10_000):
            client.sendall(b"GET /static/site.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
            wait_until(lambda sent=sent: find_unsent(connection) or connection.server_state.total_requests >= sent)
            if unsent := find_unsent(connection):
                break
        assert 0 < unsent < 64 << 10
        wait_until(lambda: connection not in connection.connections)


def find_unsent(connection: SiteProtocol) -> int:
    return int(connection.transport.get_write_buffer_size())
