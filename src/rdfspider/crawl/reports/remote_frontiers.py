"""The frontier of a shard in another place: the questions of reports enter, what the place answers leaves."""

from typing import Any

import msgspec

from rdfspider.frontier.entries import HostEntry, UrlEntry
from rdfspider.places.client import AskFrontier, PlaceClient
from rdfspider.records import RobotsState

METHODS: dict[str, Any] = {
    "is_empty": bool,
    "find": UrlEntry | None,
    "get": UrlEntry | None,
    "find_place": tuple[int, int] | None,
    "find_robots": RobotsState | None,
    "find_trap": str,
    "find_host": HostEntry | None,
    "find_top_hosts": list[tuple[float, HostEntry]],
    "explain_page_limit": str,
    "get_meta": bytes | None,
}
"""What a place may be asked of a frontier, by the name in FrontierReader, and the types of the answers."""


class RemoteFrontier:
    """Answers as a FrontierReader does; an AwayError if the place does not answer."""

    def __init__(self, client: PlaceClient, shard: int) -> None:
        self._client = client
        self._shard = shard

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever committed."""
        return bool(self._ask("is_empty"))

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def find(self, url: str) -> UrlEntry | None:
        """The entry of a URL; None if it was never seen."""
        found: UrlEntry | None = self._ask("find", url)
        return found

    def get(self, url_id: int) -> UrlEntry | None:
        """The entry of a URL id of this shard; None if there is none."""
        found: UrlEntry | None = self._ask("get", url_id)
        return found

    def find_place(self, url_id: int) -> tuple[int, int] | None:
        """The priority of a scheduled URL, and about how many URLs of its host come before it."""
        found: tuple[int, int] | None = self._ask("find_place", url_id)
        return found

    def find_robots(self, url: str) -> RobotsState | None:
        """The state of the robots.txt for a URL; None before its first request."""
        found: RobotsState | None = self._ask("find_robots", url)
        return found

    def find_trap(self, url: str) -> str:
        """Why URLs like this one are hardly requested any more; empty if they are."""
        return str(self._ask("find_trap", url))

    def find_host(self, name: str) -> HostEntry | None:
        """The entry of a host; None if none of its URLs was ever seen."""
        found: HostEntry | None = self._ask("find_host", name)
        return found

    def find_top_hosts(self, order: str, limit: int) -> list[tuple[float, HostEntry]]:
        """The first hosts by a measure, with the amounts."""
        found: list[tuple[float, HostEntry]] = self._ask("find_top_hosts", order, limit)
        return found

    def explain_page_limit(self, host: str, subject: str) -> str:
        """The page limit that a host or its domain has reached, in words; empty if there is none."""
        return str(self._ask("explain_page_limit", host, subject))

    def get_meta(self, key: str) -> bytes | None:
        """A value that the frontier keeps for its caller; None if there is none."""
        found: bytes | None = self._ask("get_meta", key)
        return found

    def _ask(self, method: str, *arguments: str | int) -> Any:
        body = self._client.ask(AskFrontier(self._shard, method, arguments))
        return msgspec.msgpack.decode(body, type=METHODS[method])
