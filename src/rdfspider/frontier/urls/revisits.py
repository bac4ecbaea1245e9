"""When pages are visited again: the policy, one function from a URL's history to its next visit, and the table of visits to come.

Another policy, such as one that follows how often a page changes, is another `plan_visit`.
"""

from typing import NamedTuple

from rdfspider.config import CrawlConfig
from rdfspider.frontier.keys import pack_visit, unpack_visit
from rdfspider.frontier.store import Store


class VisitHistory(NamedTuple):
    """What is known of a URL that has had an answer. Times are seconds since 1970."""

    visited: float
    """The last visit."""
    previous_visit: float = 0.0
    """The visit before that, with or without an answer; 0 where there was none, or it is not known."""
    is_changed: bool = True
    """Whether the last visit brought another content than the one before."""
    modified: float = 0.0
    """When a sitemap says that the page was last modified; 0 where none does."""


def plan_visit(history: VisitHistory, config: CrawlConfig) -> float:
    """When a URL is to be visited again, in seconds since 1970: never is 0, at once is a time that is not after the last visit.

    The policy is a fixed interval, `crawl.revisit_s`, which a sitemap cuts short by saying that the page has changed since.
    """
    if not config.revisit_s:
        return 0.0
    if history.visited < history.modified:
        return history.visited
    return history.visited + config.revisit_s


class Visits:
    """The visits to come of all URLs, by time."""

    def __init__(self, store: Store) -> None:
        self._visits = store.tables["visits"]
        self._cursor = pack_visit(0, 0)
        self._taken: set[int] = set()
        """Those that were taken and whose end is only staged; a clock that is set back would bring them up again."""

    def put(self, due: float, url_id: int) -> None:
        """Stage a visit; the time is in seconds since 1970."""
        key = pack_visit(_to_ms(due), url_id)
        self._visits.put(key, b"")
        self._cursor = min(self._cursor, key)

    def take_due(self, now: float, limit: int) -> list[int]:
        """Ids of URLs that are due, and stage that their visits are no longer to come."""
        ids = []
        for key, _ in self._visits.scan(self._cursor, pack_visit(_to_ms(now) + 1, 0), limit):
            self._visits.delete(key)
            ids.append(unpack_visit(key)[1])
            self._cursor = key + b"\0"
        ids = [url_id for url_id in ids if url_id not in self._taken]
        self._taken.update(ids)
        return ids

    def has_due(self, now: float) -> bool:
        """Whether some visit is due that was not taken."""
        return bool(self._visits.scan(self._cursor, pack_visit(_to_ms(now) + 1, 0), 1))

    def settle(self) -> None:
        """After a commit: what was taken is gone from the table."""
        self._taken.clear()


def _to_ms(time: float) -> int:
    return max(int(time * 1000), 0)
