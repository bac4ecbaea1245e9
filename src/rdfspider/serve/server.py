"""Runs the site: in this process until it ends, or in a process of its own beside a crawl; and limits its connections.

The child process gets its settings on stdin, and a socket that is already listening, so an early browser waits instead of
failing. It ends when its stdin is closed, at the latest when the parent process is gone.
"""

import asyncio
import errno
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

import h11
import msgspec
import uvicorn
from msgspec import Struct
from uvicorn.protocols.http.h11_impl import H11Protocol

from rdfspider.api import Crawl
from rdfspider.errors import UsageError
from rdfspider.serve import limits
from rdfspider.serve.access import make_access
from rdfspider.serve.app import make_app
from rdfspider.serve.site import Site, SiteOptions

PORT = 8321
_PORTS_TRIED = 50
_KEEP_ALIVE_S = 15
_GRACE_S = 2
_SWITCH_S = 0.0005
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class ServerSettings(Struct, frozen=True):
    """Everything that a process needs to serve a site."""

    folder: str
    descriptor: int
    """The file descriptor of the socket."""
    host: str
    port: int
    token: str
    is_public: bool = False
    names: tuple[str, ...] = ()
    """Further host names that are allowed."""
    options: SiteOptions = SiteOptions()


class SiteServer(uvicorn.Server):
    """A server that ends event streams and requests to other servers before it waits for pending requests: these would not
    end by themselves, or not soon."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site
        self.on_start: Callable[[], None] = lambda: None
        """Called once the site can be reached."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so: from now on requests are answered, and signals end the site."""
        await super().startup(sockets)
        if self.started:
            self.on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down."""
        self._site.sampler.stop()
        self._site.end_visits()
        await super().shutdown(sockets)


class SiteProtocol(H11Protocol):
    """HTTP/1.1 with limits that uvicorn lacks: a connection is closed if its client has too many, or sends or reads too slowly.
    The guard sees a request only when its headers are complete."""

    _is_refused = False
    _reading: asyncio.TimerHandle | None = None
    """Closes a connection whose request does not complete in time."""
    _writing: asyncio.TimerHandle | None = None
    """Closes a connection whose client does not read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept or refuse a connection."""
        super().connection_made(transport)
        others = (other for other in self.connections if isinstance(other, SiteProtocol))
        same = sum(_find_host(other) == _find_host(self) for other in others)
        if len(self.connections) > limits.MAX_CONNECTIONS or same > limits.MAX_CLIENT_CONNECTIONS:
            self._is_refused = True
            self.connections.discard(self)
            transport.write(_BUSY)
            transport.close()
            return
        # Watch any unsent data: a client that reads nothing of a short response would keep the connection for ever.
        transport.set_write_buffer_limits(high=0)
        self._watch_reading()

    def data_received(self, data: bytes) -> None:
        """Handle received data."""
        if not self._is_refused:
            super().data_received(data)
            self._watch_reading()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch_reading()

    def pause_writing(self) -> None:
        """Start the timer for a client that does not read."""
        super().pause_writing()
        if self._writing is None:
            self._writing = self.loop.call_later(limits.WRITE_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer: the client has read what was sent."""
        super().resume_writing()
        _stop(self._writing)
        self._writing = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        for timer in (self._reading, self._writing):
            _stop(timer)
        super().connection_lost(exc)

    def _watch_reading(self) -> None:
        """Run a timer from the start of a request to the end of its headers, and while an unneeded body is still being sent."""
        is_answered = self.cycle is not None and self.cycle.response_complete
        state = self.conn.their_state
        # Between requests, uvicorn has its own keep-alive timer.
        is_late = state is h11.IDLE and self.timeout_keep_alive_task is None
        if is_late or (state is h11.SEND_BODY and is_answered):
            if self._reading is None:
                self._reading = self.loop.call_later(limits.HEADERS_S, self.transport.abort)
        else:
            _stop(self._reading)
            self._reading = None


def listen(host: str, port: int | None) -> socket.socket:
    """Listen at an address; without a port, at the default one or the next free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = range(PORT, PORT + _PORTS_TRIED) if port is None else (port,)
    reason = ""
    for number in tried:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            listener.listen(1024)
            return listener
        except (OSError, UnicodeError) as error:
            listener.close()
            reason = getattr(error, "strerror", "") or str(error)
            is_of_host = isinstance(error, (socket.gaierror, UnicodeError)) or error.errno == errno.EADDRNOTAVAIL
            if is_of_host:
                raise UsageError(f"--host {host} cannot be used: it is no address of this machine") from error
    if port is not None:
        raise UsageError(f"port {port} of {host} cannot be used ({reason}): name another port")
    raise UsageError(f"ports {tried[0]} to {tried[-1]} of {host} cannot be used ({reason}): name another port")


def make_server(site: Site) -> SiteServer:
    """Make a server that is not started yet."""
    config = uvicorn.Config(
        make_app(site),
        http=SiteProtocol,
        # Any client could set them.
        proxy_headers=False,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        lifespan="on",
        ws="none",
    )
    return SiteServer(config, site)


def run_site(
    settings: ServerSettings,
    listener: socket.socket,
    lifeline: IO[bytes] | None = None,
    on_start: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal arrives or the lifeline is closed; `on_start` is called once the site can be reached."""
    crawl = Crawl.open(Path(settings.folder))
    access = make_access(
        settings.host, settings.is_public, token=settings.token, port=settings.port, names=settings.names
    )
    server = make_server(Site(crawl, access, settings.options))
    server.on_start = on_start
    if lifeline is not None:
        threading.Thread(target=_wait_for_end, args=(lifeline, server), daemon=True).start()
    # One thread does all I/O; this is the longest that it waits for the threads that make pages.
    sys.setswitchinterval(_SWITCH_S)
    server.run([listener])


def start_site(settings: ServerSettings) -> subprocess.Popen[bytes]:
    """Serve the site in a child process, which ends when its stdin is closed. Ctrl-C does not reach it.

    It stays in the crawl's session: Linux divides CPU time between sessions first, and only within one does the crawl give
    way to the site.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "rdfspider.serve.server"],
        stdin=subprocess.PIPE,
        pass_fds=[settings.descriptor],
        process_group=0,
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(settings) + b"\n")
    process.stdin.flush()
    return process


def main() -> None:
    """Run the child process."""
    logging.basicConfig(format="rdfspider: %(message)s", level=logging.WARNING)
    settings = msgspec.json.decode(sys.stdin.buffer.readline(), type=ServerSettings)
    listener = socket.socket(fileno=settings.descriptor)
    os.set_inheritable(settings.descriptor, False)
    run_site(settings, listener, sys.stdin.buffer)


def _wait_for_end(lifeline: IO[bytes], server: uvicorn.Server) -> None:
    lifeline.read()
    server.should_exit = True


def _find_host(connection: H11Protocol) -> str | None:
    return connection.client and connection.client[0]


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


if __name__ == "__main__":
    main()
