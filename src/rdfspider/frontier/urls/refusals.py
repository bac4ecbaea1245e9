"""URLs that a filter, or the scope, kept from being fetched: an index of them, so that they can come back when those change."""

from collections.abc import Callable

from rdfspider.frontier.clock import Clock
from rdfspider.frontier.hosts.hosts import Hosts
from rdfspider.frontier.keys import pack_row, unpack_row
from rdfspider.frontier.store import Store
from rdfspider.frontier.url_rows import DISALLOWED, UrlRows
from rdfspider.frontier.urls.schedule import Schedule

FILTERED = "filtered"
"""The reason of verdicts on such URLs."""

# How long one step of a review may take, besides the commit of what comes back: filters may be slow, and URLs made for that.
_MAX_STEP_S = 0.02

_INDEX = b"filtered/"
_INDEX_END = b"filtered0"


class Refusals:
    """Keeps the index, and has URLs scheduled again."""

    def __init__(self, store: Store, ledger: UrlRows, hosts: Hosts, schedule: Schedule, clock: Clock) -> None:
        self._meta = store.tables["meta"]
        self._ledger = ledger
        self._hosts = hosts
        self._schedule = schedule
        self._clock = clock

    def note(self, number: int, sequence: int) -> None:
        """Stage that a URL was kept from being fetched."""
        self._meta.put(_INDEX + pack_row(number, sequence), b"")

    def review(self, after: bytes, limit: int, is_welcome: Callable[[str, str], bool]) -> bytes:
        """Stage anew those of the next so many, or fewer where these take long, that are welcome now, by how they were found and
        their URLs; where to go on, empty at the end."""
        last = b""
        deadline = self._clock.monotonic() + _MAX_STEP_S
        for key, _ in self._meta.scan(after + b"\0" if after else _INDEX, _INDEX_END, limit):
            if last and self._clock.monotonic() > deadline:
                break
            last = key
            number, sequence = unpack_row(key[len(_INDEX) :])
            row, url = self._ledger.read(pack_row(number, sequence))
            # It may have been scheduled for another reason meanwhile.
            is_refused = row.state == DISALLOWED and row.reason == FILTERED
            if is_refused and not is_welcome(row.found_as, url):
                continue
            self._meta.delete(key)
            if is_refused:
                self._schedule.add_again(self._hosts.get(number), sequence, row, url)
        return last
