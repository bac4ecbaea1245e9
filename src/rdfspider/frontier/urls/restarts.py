"""What enters the frontier other than by links: what a start brings back, and pages that were imported.

A start brings back hosts whose budget was raised, pages that the archive has lost, and seeds that had no answer. Imported pages
were read from WARC files: they are done at once, and in no queue.
"""

from collections.abc import Callable
from dataclasses import dataclass

from rdfspider.frontier.contents.contents import Contents
from rdfspider.frontier.core import Core
from rdfspider.frontier.hosts.front_queues import FrontQueues
from rdfspider.frontier.hosts.hosts import NORMAL, OVER_BUDGET
from rdfspider.frontier.hosts.outages import Outages
from rdfspider.frontier.keys import pack_row, unpack_row
from rdfspider.frontier.state import State
from rdfspider.frontier.url_rows import DISALLOWED, FAILED, SCHEDULED, Row, decode_row, decode_url
from rdfspider.frontier.urls.schedule import Schedule
from rdfspider.records import PREREQUISITE_REASONS, Reason

# Rows between two commits while a damaged archive's URLs are scheduled again.
_ROWS_A_COMMIT = 1000
# How long one step of a review may take, besides the commit of what comes back: filters may be slow, and URLs made for that.
_MAX_STEP_S = 0.02

_INDEX = b"filtered/"
_INDEX_END = b"filtered0"


@dataclass(frozen=True, slots=True)
class RestartParts:
    """Where what is scheduled again comes from, and where it goes."""

    front_queues: FrontQueues
    outages: Outages
    schedule: Schedule
    contents: Contents
    state: State
    commit: Callable[[], None]
    """Makes durable what is staged."""


class Restarts:
    """Schedules URLs again that were done, failed or refused."""

    def __init__(self, core: Core, parts: RestartParts) -> None:
        self._meta = core.store.tables["meta"]
        self._url_rows = core.url_rows
        self._hosts = core.hosts
        self._config = core.config.crawl
        self._clock = core.clock
        self._front_queues = parts.front_queues
        self._outages = parts.outages
        self._schedule = parts.schedule
        self._contents = parts.contents
        self._state = parts.state
        self._commit = parts.commit

    def apply_limits(self) -> None:
        """Where the budgets were changed since the last start, hosts over their budgets come in again to be judged anew. It
        commits by itself, and belongs to the opening of a frontier."""
        limits = (self._config.pages_per_host, self._config.pages_per_domain)
        if limits == self._state.limits:
            return
        self._state.limits = limits
        for number in self._front_queues.over_budget():
            host = self._hosts.get(number)
            self._hosts.set_status(host, NORMAL)
            self._front_queues.put_front(host)
        self._commit()

    def reschedule_after(self, segment: str, offset: int) -> int:
        """Schedule again what an archive has lost: URLs whose record was in that segment at that offset or beyond; how many
        there were. It reads all rows, and commits by itself: it is for the start, when nothing else is staged."""
        lost = 0
        for key, value in self._url_rows.table.iterate(b"", b"\xff" * 8):
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
                self._url_rows.put(key, row, url)
            else:
                self._schedule_lost(key, row, url)
            lost += 1
            if lost % _ROWS_A_COMMIT == 0:
                self._commit()
        self._commit()
        return lost

    def retry_seeds(self, limit: int) -> int:
        """Stage anew, for a start, at most so many of the seeds and hosts of seeds that gave no answer; how many there were, 0
        when none are left. They must be committed before the next are asked for."""
        found = self._outages.take_unanswered(limit)
        for number, sequence in found:
            host = self._hosts.get(number)
            self._outages.forget_addresses(host)
            if sequence is None:
                self._outages.end_silence(host)
                continue
            row, url = self._url_rows.read(pack_row(number, sequence))
            if row.state == FAILED:
                self._schedule.add_again(host, sequence, row, url)
        return len(found)

    def note_filtered(self, number: int, sequence: int) -> None:
        """Stage that a filter or the scope kept a URL from being fetched, for `review_refusals`."""
        self._meta.put(_INDEX + pack_row(number, sequence), b"")

    def review_refusals(self, after: bytes, limit: int, is_welcome: Callable[[str, str], bool]) -> bytes:
        """Stage anew those of the next so many URLs that a filter or the scope kept out which are welcome now, by how they were
        found and what they are. Where it takes long to judge them they are fewer. It gives where to go on, empty at the end;
        what it staged must be committed before that."""
        last = b""
        deadline = self._clock.monotonic() + _MAX_STEP_S
        for key, _ in self._meta.scan(after + b"\0" if after else _INDEX, _INDEX_END, limit):
            if last and self._clock.monotonic() > deadline:
                break
            last = key
            number, sequence = unpack_row(key[len(_INDEX) :])
            row, url = self._url_rows.read(pack_row(number, sequence))
            # It may have been scheduled for another reason meanwhile.
            is_refused = row.state == DISALLOWED and row.reason == Reason.FILTERED
            if is_refused and not is_welcome(row.found_as, url):
                continue
            self._meta.delete(key)
            if is_refused:
                self._schedule.add_again(self._hosts.get(number), sequence, row, url)
        return last

    def _schedule_lost(self, key: bytes, row: Row, url: str) -> None:
        number, sequence = unpack_row(key)
        host = self._hosts.get(number)
        self._state.counts.quads -= row.quads
        if 200 <= row.status < 300 and row.reason not in PREREQUISITE_REASONS:
            self._hosts.count_page(host, row.quads, -1, duplicate=row.duplicate, is_imported=row.is_imported)
        if host.record.status == OVER_BUDGET:
            self._hosts.set_status(host, NORMAL)
            self._front_queues.put_front(host)
        self._schedule.add_again(host, sequence, row, url)
