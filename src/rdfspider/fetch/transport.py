"""What a fetcher asks of a transport: a Request enters, a Capture or a Failure leaves.

A new protocol is one module with a class that does what `Transport` says, one line of `TRANSPORTS` in `fetcher.py`, and its
name in `urls.FETCHED_SCHEMES`, without which links to it are not followed.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from rdfspider.config import FetchConfig
from rdfspider.fetch.bodies import Flight
from rdfspider.records import Capture, Failure


class Request(NamedTuple):
    """One request, of which credentials in the URL go to its own host, as in a browser, and are not recorded."""

    url: str
    address: str
    port: int | None = None
    """The port to connect to; None means the URL's own."""
    headers: Mapping[str, str] = {"Accept": "*/*"}
    max_body_bytes: int | None = None
    """None means that of the settings."""
    keeps: Callable[[str], bool] | None = None
    """Judges the Content-Type; the body of a refused type is not read. None keeps all."""
    is_vetted: bool = False
    """Whether a person has configured the address, so that it may be private."""
    patience_s: Callable[[], float] | None = None
    """Returns for how long the exchange may yield little, as others wait for its connection; infinity if none does. None lets it
    take as long as the settings allow."""
    before_sending: Callable[[], None] | None = None
    """Called when the connection is open and the request is about to be sent."""


class Transport(Protocol):
    """All connections of a shard by one protocol. It belongs to the event loop in which it is first used."""

    def __init__(self, config: FetchConfig, user_agent: str, flight: Flight) -> None:
        """`flight` bounds the memory of all bodies in flight, of all protocols."""

    async def get(self, request: Request) -> Capture | Failure:
        """Send the request. No server behaviour raises an exception, and redirects are not followed."""

    @property
    def open_connections(self) -> int:
        """The number of open sockets, including idle ones."""

    async def close(self) -> None:
        """End all exchanges and connections."""
