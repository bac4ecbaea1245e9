"""When pages are visited again: the policy, from a URL's history to its next visit, and the table of future visits.

For another policy, for example by how often a page changes, replace `plan_visit`.
"""

from typing import NamedTuple

from rdfspider.config import CrawlConfig
from rdfspider.frontier.keys import pack_visit, unpack_visit
from rdfspider.frontier.store import Store


class VisitHistory(NamedTuple):
    """The visits of a URL that was answered; times are seconds since 1970."""

    visited: float
    """The last visit."""
    previous_visit: float = 0.0
    """The visit before, answered or not; 0 if there was none or it is unknown."""
    is_changed: bool = True
    """Whether the content of the last visit differs from the one before."""
    modified: float = 0.0
    """The page's modification time according to a sitemap; 0 if unknown."""


def plan_visit(history: VisitHistory, config: CrawlConfig) -> float:
    """The time of the next visit, in seconds since 1970: 0 means never, a time not after the last visit means at once.

    The policy is a fixed interval, `crawl.revisit_s`; a sitemap that says that the page has changed since makes it due at once.
    """
    if not config.revisit_s:
        return 0.0
    if history.visited < history.modified:
        return history.visited
    return history.visited + config.revisit_s


class FutureVisits:
    """The future visits of all URLs, by time."""

    def __init__(self, store: Store) -> None:
        self._visits = store.tables["visits"]
        self._cursor = pack_visit(0, 0)
        self._taken: set[int] = set()
        """URL ids that were taken but not committed; a clock that is set back would bring them up again."""

    def put(self, due: float, url_id: int) -> None:
        """Stage a visit; the time is in seconds since 1970."""
        key = pack_visit(_to_ms(due), url_id)
        self._visits.put(key, b"")
        self._cursor = min(self._cursor, key)

    def take_due(self, now: float, limit: int) -> list[int]:
        """Take the ids of URLs that are due, and stage the deletion of their visits."""
        ids = []
        for key, _ in self._visits.scan(self._cursor, pack_visit(_to_ms(now) + 1, 0), limit):
            self._visits.delete(key)
            ids.append(unpack_visit(key)[1])
            self._cursor = key + b"\0"
        ids = [url_id for url_id in ids if url_id not in self._taken]
        self._taken.update(ids)
        return ids

    def has_due(self, now: float) -> bool:
        """Whether a visit is due that was not taken."""
        return bool(self._visits.scan(self._cursor, pack_visit(_to_ms(now) + 1, 0), 1))

    def settle(self) -> None:
        """After a commit, forget the taken visits, as the table no longer has them."""
        self._taken.clear()


def _to_ms(time: float) -> int:
    return max(int(time * 1000), 0)
