"""The site of a crawl, served for real at a port of this machine by a thread of the test, and a small client for it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from rdfspider import Crawl
from rdfspider.serve.access import Access, make_access
from rdfspider.serve.server import make_server
from rdfspider.serve.site import Site, SiteOptions
from waiting import PATIENCE_S, wait_until

TOKEN = "the-token-of-the-tests"


@dataclass(frozen=True)
class Reply:
    """What the server has answered."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Serving:
    """A server that runs."""

    site: Site
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def locate(self, path: str, /, **parameters: Any) -> str:
        """The whole address of a page."""
        query = urlencode(parameters, doseq=True)
        return f"{self.address}{path}{f'?{query}' if query else ''}"

    def get(self, path: str, headers: Mapping[str, str] | None = None, /, **parameters: Any) -> Reply:
        """Ask for a page; parameters may be lists."""
        query = urlencode(parameters, doseq=True)
        return self.ask("GET", f"{path}?{query}" if query else path, headers=headers)

    def post(
        self, path: str, headers: Mapping[str, str] | None = None, /, *, trusted: bool = False, **fields: Any
    ) -> Reply:
        """Send a form, as a program with the token where it is trusted."""
        sent = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        if trusted:
            sent["Authorization"] = f"Bearer {TOKEN}"
        return self.ask("POST", path, urlencode(fields, doseq=True).encode(), sent)

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            return Reply(
                response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
            )
        finally:
            connection.close()


@contextmanager
def serve(crawl: Crawl, access: Access | None = None, **options: Any) -> Iterator[Serving]:
    """Serve a crawl's site while the context lasts."""
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    access = access or make_access("127.0.0.1", False, token=TOKEN, port=port)
    site = Site(crawl, access, SiteOptions(**options))
    server = make_server(site)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive())
        assert server.started, "the server does not start"
        yield Serving(site, port)
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)
        listener.close()
