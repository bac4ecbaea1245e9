"""`rdfspider serve`: the folder of a crawl enters, its site at a local address leaves, until Ctrl-C; also beside a crawl."""

import os
import re
import secrets
import subprocess
import sys
import threading
import time
import webbrowser
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from rdfspider.api import Crawl
from rdfspider.commands import options
from rdfspider.commands.terminal import say, show_log
from rdfspider.errors import UsageError
from rdfspider.serve.limits import QUERY_ROWS, QUERY_TIMEOUT_S

if TYPE_CHECKING:
    from rdfspider.serve.server import ServerSettings
    from rdfspider.serve.site import SiteOptions

LOOPBACK = "127.0.0.1"
_ORIGIN = re.compile(r"https?://[^\s/?#@]+", re.IGNORECASE)
_END_S = 5.0
_LEAST_TOKEN_CHARS = 16
# How nice a crawl is to the site beside it. On an otherwise idle machine this changes nothing.
_NICENESS = 15


def serve(
    *,
    folder: options.Folder,
    port: options.SitePort = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The address to listen at; elsewhere others may reach it.")
    ] = LOOPBACK,
    public: Annotated[
        bool, typer.Option("--public", help="Allow control by the token also where others may reach it.")
    ] = False,
    query_timeout: options.QueryTimeout = None,
    query_rows: options.QueryRows = None,
    cors: options.Cors = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME", help="Another name by which it may be called: a proxy's. Repeatable."),
    ] = None,
    is_opened: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Show a crawl in the browser: search, explore, query, watch.

    It can be opened at any time, also while the crawl runs. It listens on this machine alone unless --host says otherwise. With
    the token that is printed at the start the crawl can be paused, stopped and changed from there; RDFSPIDER_TOKEN sets another
    one. Ctrl-C ends it.
    """
    from rdfspider.serve.access import make_access
    from rdfspider.serve.server import ServerSettings, listen, run_site

    Crawl.open(folder)
    token = _choose_token()
    if public and len(token) < _LEAST_TOKEN_CHARS:
        raise UsageError(
            f"RDFSPIDER_TOKEN is too easily guessed: with --public it has {_LEAST_TOKEN_CHARS} characters or more"
        )
    access = make_access(host, public, token=token, names=name or ())
    site_options = make_options(query_timeout, query_rows, cors)
    listener = listen(host, port)
    settings = ServerSettings(
        folder=str(folder),
        descriptor=listener.fileno(),
        host=host,
        port=listener.getsockname()[1],
        token=token,
        is_public=public,
        names=tuple(name or ()),
        options=site_options,
    )

    def announce() -> None:
        # Not before: an interrupt could get lost until the server hears it.
        _announce(settings, access.is_control_allowed)
        if is_opened:
            # Some browsers are waited for, and would wait for the site.
            threading.Thread(target=open_browser, args=(_locate(settings),), daemon=True).start()

    try:
        with show_log():
            run_site(settings, listener, on_start=announce)
    except KeyboardInterrupt:
        # This is the intended way to end it, as announced above.
        return


class SiteBeside:
    """The site of a crawl in a process beside it, from `start` until the context ends; its port is reserved earlier."""

    def __init__(self, folder: Path, port: int | None = None, options: "SiteOptions | None" = None) -> None:
        # Not at the top: a crawl without a site does not need it.
        from rdfspider.serve.server import ServerSettings, listen

        self._listener = listen(LOOPBACK, port)
        self._settings = ServerSettings(
            folder=str(folder),
            descriptor=self._listener.fileno(),
            host=LOOPBACK,
            port=self._listener.getsockname()[1],
            token=_choose_token(),
            options=options or make_options(),
        )
        self.address = _locate(self._settings)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def start(self) -> None:
        """Start the site and open it in the browser. This process, and those that it starts later, get a lower priority."""
        from rdfspider.serve.server import start_site

        self._process = start_site(self._settings)
        self._listener.close()
        _announce(self._settings, is_control_allowed=True)
        open_browser(self.address)
        # People wait for the site, but nobody waits for the next page.
        os.nice(_NICENESS)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        process = self._process
        if process is None or process.stdin is None:
            return
        process.stdin.close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def wait(self) -> None:
        """Keep the site running until Ctrl-C, which is the intended end."""
        try:
            say(f"the site stays at {self.address} until Ctrl-C")
            while self._process is not None and self._process.poll() is None:
                time.sleep(0.2)
        except KeyboardInterrupt:
            return


def make_options(
    timeout_s: float | None = None, rows: int | None = None, origins: list[str] | None = None
) -> "SiteOptions":
    """The site's options by the flags of a command; None means the default."""
    from rdfspider.serve.site import SiteOptions

    for origin in origins or ():
        if origin != "*" and not _ORIGIN.fullmatch(origin):
            raise UsageError(
                f"--cors {origin}: an origin is a scheme and a host, such as https://app.example.org, or * for every one"
            )
    return SiteOptions(
        timeout_s or QUERY_TIMEOUT_S, rows or QUERY_ROWS, tuple(origin.lower() for origin in origins or ())
    )


def open_browser(address: str) -> None:
    """Open a URL in the browser of this machine's user; does nothing without a screen or a terminal."""
    has_screen = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_screen and sys.stderr.isatty():
        webbrowser.open(address)


def _announce(settings: "ServerSettings", is_control_allowed: bool) -> None:
    address = _locate(settings)
    say(f"the site is at {address} until Ctrl-C")
    if is_control_allowed:
        say(f"to control the crawl from there, show this token at {address}login: {settings.token}")
    else:
        say("others may reach it, so it can only be read; with --public the token allows more")


def _locate(settings: "ServerSettings") -> str:
    name = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{name}:{settings.port}/"


def _choose_token() -> str:
    return os.environ.get("RDFSPIDER_TOKEN") or secrets.token_urlsafe(18)
