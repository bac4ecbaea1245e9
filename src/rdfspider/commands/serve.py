"""`rdfspider serve`: the folder of a crawl in, its site at an address of this machine out, until Ctrl-C."""

import socket
from typing import TYPE_CHECKING, Annotated

import typer

from rdfspider.commands import options
from rdfspider.commands.terminal import say
from rdfspider.errors import UsageError
from rdfspider.run.crawl import Crawl

if TYPE_CHECKING:
    from rdfspider.serve.access import Access

PORT = 8321
_PORTS_TRIED = 50

Port = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, max=65_535, help=f"The site's port; {PORT} or the next free one.", show_default=False
    ),
]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="The address to listen at; others may reach it then.")]
Public = Annotated[
    bool, typer.Option("--public", help="Allow more than reading, with the token, also where others reach it.")
]


def serve(
    *,
    folder: options.Folder,
    port: Port = None,
    host: Host = "127.0.0.1",
    public: Public = False,
    query_timeout: Annotated[
        float, typer.Option(metavar="S", min=0.1, max=3600, help="Seconds that a SPARQL query may take.")
    ] = 20.0,
    query_rows: Annotated[
        int, typer.Option(metavar="N", min=1, max=1_000_000, help="Rows that a SPARQL query may give.")
    ] = 10_000,
    token: Annotated[
        str,
        typer.Option(
            envvar="RDFSPIDER_TOKEN",
            metavar="TEXT",
            help="The token; by default a new one each time.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Show a crawl in the browser: search, explore, query, watch.

    It can be opened at any time, also while the crawl runs. It listens on this machine alone unless --host says otherwise. With
    the token that is printed at the start the crawl can be paused, stopped and changed from there. Ctrl-C ends it.
    """
    import uvicorn

    from rdfspider.serve.access import make_access
    from rdfspider.serve.app import make_app
    from rdfspider.serve.site import Options, Site

    crawl = Crawl.open(folder)
    listener = bind(host, port)
    chosen = Options(host, listener.getsockname()[1], query_timeout, query_rows)
    access = make_access(host, public, token=token)
    app = make_app(Site(crawl, access, chosen))
    _announce(chosen.address, access)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_keep_alive=15,
        timeout_graceful_shutdown=2, lifespan="on", ws="none",
    )  # fmt: skip
    uvicorn.Server(config).run([listener])


def bind(host: str, port: int | None) -> socket.socket:
    """Listen at an address; without a port at ours, or the next that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    tried = [PORT + step for step in range(_PORTS_TRIED)] if port is None else [port]
    for number in tried:
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, number))
            return listener
        except OSError as error:
            listener.close()
            reason = error.strerror or str(error)
            if number == tried[-1] or not isinstance(error, OSError) or error.errno not in (98, 48):
                raise UsageError(
                    f"{host}:{number} cannot be used ({reason}): name another by --port or --host"
                ) from error
    raise AssertionError


def _announce(address: str, access: "Access") -> None:
    say(f"the site is at {address} until Ctrl-C")
    if access.is_control_allowed:
        say(f"to control the crawl from there, show this token at {address}login: {access.token}")
    else:
        say("others can reach it, so it can only be read; --public allows more, with a token")
