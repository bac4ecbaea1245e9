"""The scheme of a URL enters, the transport that fetches it leaves.

A new protocol is one module with a class that implements `Transport`, one line in `TRANSPORTS`, and its name in
`urls.FETCHED_SCHEMES`, without which links to it are not followed.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from rdfspider.config import FetchConfig
from rdfspider.fetch.bodies import Flight
from rdfspider.fetch.http import HttpTransport
from rdfspider.records import Capture, Failure


class Transport(Protocol):
    """All connections of a shard by one protocol. It belongs to the event loop in which it is first used."""

    def __init__(self, config: FetchConfig, user_agent: str, flight: Flight) -> None:
        """`flight` bounds the memory of all bodies in flight, of all protocols."""

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
        """Request the URL from the address; `HttpTransport.get` explains the parameters.

        No server behaviour raises an exception, redirects are not followed, and a `Failure` has a `FailureCode`.
        """

    @property
    def open_connections(self) -> int:
        """The number of open sockets, including idle ones."""

    async def close(self) -> None:
        """End all exchanges and connections."""


TRANSPORTS: Mapping[str, type[Transport]] = {"http": HttpTransport, "https": HttpTransport}
"""Scheme → the transport of its URLs. Schemes with the same class share its connections."""
