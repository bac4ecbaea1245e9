"""What a start brings back: hosts whose budget was raised, pages that the archive has lost, seeds that had no answer."""

from collections.abc import Callable

from rdfspider.config import CrawlConfig
from rdfspider.frontier.contents.contents import Contents
from rdfspider.frontier.hosts.front_queues import FrontQueues
from rdfspider.frontier.hosts.hosts import NORMAL, OVER_BUDGET, Hosts
from rdfspider.frontier.hosts.outages import Outages
from rdfspider.frontier.keys import pack_row, unpack_row
from rdfspider.frontier.state import State
from rdfspider.frontier.store import Store
from rdfspider.frontier.url_rows import FAILED, SCHEDULED, Row, UrlRows, decode_row, decode_url
from rdfspider.frontier.urls.finishing import Finisher
from rdfspider.frontier.urls.imported import is_imported
from rdfspider.frontier.urls.schedule import Schedule
from rdfspider.records import PREREQUISITE_REASONS

# Rows between two commits while a damaged archive's URLs are scheduled again.
_ROWS_A_COMMIT = 1000


class Restarts:
    """Stages what is to be done anew."""

    def __init__(
        self,
        store: Store,
        ledger: UrlRows,
        hosts: Hosts,
        places: FrontQueues,
        outages: Outages,
        schedule: Schedule,
        outcomes: Finisher,
        contents: Contents,
        state: State,
    ) -> None:
        self._rows = store.tables["ledger"]
        self._ledger = ledger
        self._hosts = hosts
        self._places = places
        self._outages = outages
        self._schedule = schedule
        self._outcomes = outcomes
        self._contents = contents
        self._state = state

    def apply_limits(self, config: CrawlConfig) -> bool:
        """Where the budgets were changed since the last start, hosts that were put aside come in again to be judged anew."""
        limits = (config.pages_per_host, config.pages_per_domain)
        if limits == self._state.limits:
            return False
        self._state.limits = limits
        for number in self._places.over_budget():
            host = self._hosts.get(number)
            self._hosts.set_status(host, NORMAL)
            self._places.put_front(host)
        return True

    def reschedule_after(self, segment: str, offset: int, commit: Callable[[], None]) -> int:
        """Schedule again what an archive has lost, and commit now and then; how many there were."""
        lost = 0
        for key, value in self._rows.iterate(b"", b"\xff" * 8):
            row = decode_row(value)
            if row.segment != segment or row.offset < offset:
                continue
            # The page is no longer there to be unchanged from, nor for others to repeat: it is asked for without conditions, and
            # kept as it comes.
            url = decode_url(value)
            if row.digest:
                self._contents.forget(row.digest, url)
            row.etag = row.last_modified = row.digest = row.segment = ""
            row.captured, row.offset = 0.0, 0
            if row.state == SCHEDULED:
                # Its next visit is due anyway.
                self._ledger.put(key, row, url)
            else:
                self._schedule_lost(key, row, url)
            lost += 1
            if lost % _ROWS_A_COMMIT == 0:
                commit()
        commit()
        return lost

    def retry_seeds(self, limit: int) -> int:
        """Stage anew at most so many of the seeds and hosts of seeds that gave no answer; how many there were."""
        found = self._outages.take_unanswered(limit)
        for number, sequence in found:
            host = self._hosts.get(number)
            self._outages.forget_addresses(host)
            if sequence is None:
                self._outages.end_silence(host)
                continue
            row, url = self._ledger.read(pack_row(number, sequence))
            if row.state == FAILED:
                self._schedule.add_again(host, sequence, row, url)
        return len(found)

    def _schedule_lost(self, key: bytes, row: Row, url: str) -> None:
        number, sequence = unpack_row(key)
        host = self._hosts.get(number)
        self._state.counts.quads -= row.quads
        if 200 <= row.status < 300 and row.reason not in PREREQUISITE_REASONS:
            self._outcomes.count_page(host, row, row.quads, -1, is_imported=is_imported(row))
        if host.record.status == OVER_BUDGET:
            self._hosts.set_status(host, NORMAL)
            self._places.put_front(host)
        self._schedule.add_again(host, sequence, row, url)
