"""Runs the site: in this process until it ends, or in a process of its own beside a crawl.

The child process gets its settings on stdin, and a socket that is already listening, so an early browser waits instead of
failing. It ends when its stdin is closed, at the latest when the parent process is gone.
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
    """Everything that a process needs to serve a site."""

    folder: str
    descriptor: int
    """The file descriptor of the socket."""
    host: str
    port: int
    token: str
    is_public: bool = False
    query_timeout_s: float = QUERY_TIMEOUT_S
    query_rows: int = QUERY_ROWS
    allows_cors: bool = True
    names: tuple[str, ...] = ()
    """Further host names that are allowed."""


class SiteServer(uvicorn.Server):
    """A server that ends event streams and requests to other servers before it waits for pending requests: these would not
    end by themselves, or not soon."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down."""
        self._site.sampler.stop()
        self._site.end_visits()
        await super().shutdown(sockets)


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
        timeout_keep_alive=_KEPT_S,
        timeout_graceful_shutdown=_GRACE_S,
        lifespan="on",
        ws="none",
    )
    return SiteServer(config, site)


def run_site(settings: ServerSettings, listener: socket.socket, lifeline: IO[bytes] | None = None) -> None:
    """Serve until a signal arrives or the lifeline is closed."""
    crawl = Crawl.open(Path(settings.folder))
    access = make_access(
        settings.host, settings.is_public, token=settings.token, port=settings.port, names=settings.names
    )
    options = SiteOptions(settings.query_timeout_s, settings.query_rows, settings.allows_cors)
    server = make_server(Site(crawl, access, options))
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


if __name__ == "__main__":
    main()
