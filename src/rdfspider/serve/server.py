"""The site as a server: in this process until it is ended, or in one of its own beside a crawl.

The other process gets its settings on stdin, and the socket, which is open before it starts: a browser that comes early waits.
It ends when its stdin does, which is at the latest when the process that has started it is gone.
"""

import errno
import logging
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import msgspec
import uvicorn
from msgspec import Struct

from rdfspider.api import Crawl
from rdfspider.errors import UsageError
from rdfspider.serve.access import make_access
from rdfspider.serve.app import make_app
from rdfspider.serve.connections import SiteProtocol
from rdfspider.serve.limits import QUERY_ROWS, QUERY_TIMEOUT_S
from rdfspider.serve.site import Site, SiteOptions

PORT = 8321
_PORTS_TRIED = 50
_KEPT_S = 15
_GRACE_S = 2
_SWITCH_S = 0.0005


class ServerSettings(Struct, frozen=True):
    """All that a process needs to know of the site that it serves."""

    folder: str
    descriptor: int
    """Of the socket."""
    host: str
    port: int
    token: str
    is_public: bool = False
    query_timeout_s: float = QUERY_TIMEOUT_S
    query_rows: int = QUERY_ROWS
    allows_cors: bool = True
    names: tuple[str, ...] = ()
    """Others by which it may be called."""


class SiteServer(uvicorn.Server):
    """A server that ends event streams, and requests to other servers, before it waits for requests under way: they do not end by
    themselves, or not soon."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        self._site.sampler.stop()
        self._site.end_visits()
        await super().shutdown(sockets)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket at an address; without a port at ours, or the next that is free."""
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
    """A server that has not started yet."""
    config = uvicorn.Config(
        make_app(site),
        http=SiteProtocol,
        # A client could write anything into them.
        proxy_headers=False,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=_KEPT_S,
        timeout_graceful_shutdown=_GRACE_S,
        lifespan="on",
        ws="none",
    )
    return SiteServer(config, site)


def run_site(settings: ServerSettings, listener: socket.socket, lifeline: IO[bytes] | None = None) -> None:
    """Serve until a signal, or the end of the lifeline."""
    crawl = Crawl.open(Path(settings.folder))
    access = make_access(
        settings.host, settings.is_public, token=settings.token, port=settings.port, names=settings.names
    )
    options = SiteOptions(settings.query_timeout_s, settings.query_rows, settings.allows_cors)
    server = make_server(Site(crawl, access, options))
    if lifeline is not None:
        threading.Thread(target=_wait_for_end, args=(lifeline, server), daemon=True).start()
    # Requests come in and answers go out by one thread; it waits so long at most for those that make pages.
    sys.setswitchinterval(_SWITCH_S)
    server.run([listener])


def start_site(settings: ServerSettings) -> subprocess.Popen[bytes]:
    """Have another process serve it; it is ended by closing its stdin. Ctrl-C does not reach it.

    It stays in the session of the crawl: Linux shares the processor between sessions first, whatever they do, and only within
    one does the crawl give way to it.
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
    """The other process."""
    logging.basicConfig(format="rdfspider: %(message)s", level=logging.WARNING)
    settings = msgspec.json.decode(sys.stdin.buffer.readline(), type=ServerSettings)
    listener = socket.socket(fileno=settings.descriptor)
    os.set_inheritable(settings.descriptor, False)
    run_site(settings, listener, sys.stdin.buffer)


def _wait_for_end(lifeline: IO[bytes], server: uvicorn.Server) -> None:
    lifeline.read()
    server.should_exit = True


if __name__ == "__main__":
    main()
