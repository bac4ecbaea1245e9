"""Which URLs can be fetched: the scheme of a URL in, what fetches it out.

Another protocol is one module with a class that does what `Transport` says, one line in `TRANSPORTS`, and its name in
`urls.FETCHED_SCHEMES`, without which links to it are not followed.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from rdfspider.config import FetchConfig
from rdfspider.fetch.bodies import Flight
from rdfspider.fetch.http import HttpTransport
from rdfspider.records import Capture, Failure


class Transport(Protocol):
    """All connections of a shard by one protocol. It belongs to the loop in which it is first used."""

    def __init__(self, config: FetchConfig, user_agent: str, flight: Flight) -> None:
        """`flight` bounds the memory of all bodies under way, by whatever protocol."""

    async def get(
        self,
        url: str,
        address: str,
        port: int | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        max_body_bytes: int | None = None,
        keeps: Callable[[str], bool] | None = None,
        is_vetted: bool = False,
    ) -> Capture | Failure:
        """Ask the address for the URL; the parameters are explained in `HttpTransport.get`.

        Nothing that a server does is an exception, redirects are not followed, and a `Failure` has one of the codes that
        `fetch/http.py` lists.
        """

    @property
    def open_connections(self) -> int:
        """Sockets that are open now, idle ones included."""

    async def close(self) -> None:
        """End all exchanges and connections."""


TRANSPORTS: Mapping[str, type[Transport]] = {"http": HttpTransport, "https": HttpTransport}
"""Scheme → what fetches its URLs. Schemes with the same class share its connections."""
