"""The demo's web and its server: maps hosts to sites, and serves them by HTTP/1.1 on loopback, in its own thread.

It keeps connections open, answers GET and HEAD, compresses on request, and supports conditional requests. It is for this web
only: requests must not have a body, and every response is immediate.
"""

import asyncio
import contextlib
import errno
import gzip
import socket
import threading
from collections.abc import Mapping
from http import HTTPStatus
from typing import Self
from zlib import crc32

from rdfspider.demo.answers import DemoAddresses, DemoAnswer, DemoSite
from rdfspider.demo.sites.catalogues import make_directory, make_gazetteer, make_portal
from rdfspider.demo.sites.daily_life import make_cookbook, make_events, make_shop
from rdfspider.demo.sites.institutions import make_library, make_museum, make_university
from rdfspider.demo.sites.press import make_blog, make_newspaper, make_old_newspaper
from rdfspider.errors import UsageError

ADDRESS = "127.0.0.1"
PORT = 8585
"""The default port, so that URLs are the same each time; if it is taken, the next free one is used."""
_PORTS_TRIED = 20
_BACKLOG = 100
_MAX_HEAD_BYTES = 32 * 1024
_IDLE_S = 60.0
_MODIFIED = "Mon, 02 Feb 2026 08:00:00 GMT"
_MIN_PACKED_BYTES = 500
_MAKERS = {
    "www": make_directory,
    "shop": make_shop,
    "museum": make_museum,
    "university": make_university,
    "library": make_library,
    "blog": make_blog,
    "events": make_events,
    "recipes": make_cookbook,
    "data": make_gazetteer,
    "portal": make_portal,
    "town": make_newspaper,
    "mirror": make_museum,
    "old": make_old_newspaper,
}
_NO_HOST = DemoAnswer(b"No such site here.\n", "text/plain; charset=utf-8", 404)


class DemoWeb:
    """The sites at one port."""

    def __init__(self, port: int) -> None:
        self.at = DemoAddresses(port)
        self.sites: dict[str, DemoSite] = {name: make_site(self.at) for name, make_site in _MAKERS.items()}

    @property
    def start(self) -> str:
        """The page that links to all sites."""
        return self.at.url("www")

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> DemoAnswer:
        """Answer a request, given its Host, its path with the query, and its headers with lower-case names."""
        site = self.sites.get(host.partition(":")[0].lower().removesuffix(".localhost"))
        path, _, query = target.partition("?")
        return site.answer(path, query, headers) if site else _NO_HOST


class DemoServer:
    """The server, as a context manager; `web` is what it serves."""

    def __init__(self, port: int = 0) -> None:
        """Listen at this port; 0 means the default one or the next free one. Raises UsageError if none is free."""
        self._socket = _listen(port)
        self.port: int = self._socket.getsockname()[1]
        self.web = DemoWeb(self.port)
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="demo web", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _run(self) -> None:
        """Serve until the context ends; open connections end with the loop."""
        self._loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._serve, sock=self._socket, limit=_MAX_HEAD_BYTES)
        self._ready.set()
        await self._over.wait()
        server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer all requests of one connection in sequence."""
        # A connection ends when its client disconnects, is idle too long or sends an invalid request, or when the demo ends.
        left = (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError)
        with contextlib.suppress(*left):
            is_kept = True
            while is_kept:
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _IDLE_S)
                reply, is_kept = answer_request(self.web, head)
                writer.write(reply)
                await writer.drain()
        with contextlib.suppress(OSError, RuntimeError):
            writer.close()


def answer_request(web: DemoWeb, head: bytes) -> tuple[bytes, bool]:
    """The bytes of the response, and whether the connection is kept open."""
    first, *lines = head.decode("iso-8859-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip() for name, colon, value in (line.partition(":") for line in lines) if colon
    }
    method, _, rest = first.partition(" ")
    target, _, version = rest.rpartition(" ")
    if not target.startswith("/") or not version.startswith("HTTP/1."):
        return _write_reply(DemoAnswer(status=400), headers, is_kept=False), False
    if method not in ("GET", "HEAD"):
        return _write_reply(DemoAnswer(status=405, headers=(("Allow", "GET, HEAD"),)), headers, is_kept=False), False
    answer = web.answer(headers.get("host", ""), target, headers)
    is_kept = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
    return _write_reply(answer, headers, is_kept=is_kept, has_body=method == "GET"), is_kept


def _write_reply(answer: DemoAnswer, asked: Mapping[str, str], *, is_kept: bool, has_body: bool = True) -> bytes:
    body, status = answer.body, answer.status
    fields = [("Content-Type", answer.content_type), *answer.headers]
    if status == 200:
        etag = f'"{crc32(body):08x}"'
        fields += [("ETag", etag), ("Last-Modified", _MODIFIED)]
        if etag in asked.get("if-none-match", ""):
            body, status = b"", 304
    if len(body) >= _MIN_PACKED_BYTES and "gzip" in asked.get("accept-encoding", ""):
        body = gzip.compress(body, 6, mtime=0)
        fields += [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]
    if status != 304:
        fields.append(("Content-Length", str(len(body))))
    if not is_kept:
        fields.append(("Connection", "close"))
    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n" + "".join(
        f"{name}: {value}\r\n" for name, value in fields
    )
    return f"{head}\r\n".encode("iso-8859-1") + (body if has_body else b"")


def _listen(port: int) -> socket.socket:
    tried = [port] if port else list(range(PORT, PORT + _PORTS_TRIED))
    for number in tried:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        # A port in TIME_WAIT after a recent demo counts as free.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((ADDRESS, number))
            # Until it listens, another socket can bind the same port.
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
        else:
            return listener
    what = f"port {port} is taken" if port else f"no port from {tried[0]} to {tried[-1]} is free"
    raise UsageError(f"the demo cannot be served: {what}; give another by --port")
