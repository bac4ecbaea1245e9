"""What a restart brings back: hosts whose budget was raised, pages that the archive has lost, seeds that had no answer, and URLs
that the filters no longer refuse."""

from collections.abc import Callable

from rdfspider.codes import PREREQUISITE_REASONS, Reason
from rdfspider.frontier.contents import Contents
from rdfspider.frontier.core import Core
from rdfspider.frontier.hosts.hosts import NORMAL, OVER_BUDGET
from rdfspider.frontier.keys import pack_row, unpack_row
from rdfspider.frontier.state import FrontierState
from rdfspider.frontier.url_rows import DISALLOWED, FAILED, SCHEDULED, UrlRow, decode_row, decode_url
from rdfspider.frontier.urls.schedule import Schedule

# Rows per commit while the URLs of a damaged archive are scheduled again.
_ROWS_A_COMMIT = 1000
# The time for one step of a review, without its commit: filters may be slow, and URLs may be made to slow them down.
_MAX_STEP_S = 0.02

_INDEX = b"filtered/"
_INDEX_END = b"filtered0"


class Restarts:
    """Schedules done, failed or refused URLs again."""

    def __init__(
        self, core: Core, schedule: Schedule, contents: Contents, state: FrontierState, commit: Callable[[], None]
    ) -> None:
        """`commit` commits what is staged."""
        self._meta = core.store.tables["meta"]
        self._url_rows = core.url_rows
        self._hosts = core.hosts
        self._front_queues = core.front_queues
        self._outages = core.outages
        self._config = core.config.crawl
        self._clock = core.clock
        self._schedule = schedule
        self._contents = contents
        self._state = state
        self._commit = commit

    def apply_limits(self) -> None:
        """Queue hosts over their budgets again if the budgets have changed since the last start. This is part of opening a
        frontier, and commits by itself."""
        limits = (self._config.pages_per_host, self._config.pages_per_domain)
        if limits == self._state.limits:
            return
        self._state.limits = limits
        for number in self._front_queues.over_budget():
            host = self._hosts.get(number)
            self._hosts.set_status(host, NORMAL)
            self._front_queues.put_front(host)
        self._commit()

    def reschedule_lost(self, is_lost: Callable[[str, int], bool]) -> int:
        """Schedule URLs again whose records the archive has lost, given their segments and offsets, and return their number. This
        reads all rows and commits by itself, so call it at the start, when nothing else is staged."""
        lost = 0
        for key, value in self._url_rows.table.iterate(b"", b"\xff" * 8):
            row = decode_row(value)
            if not row.segment or not is_lost(row.segment, row.offset):
                continue
            # Neither a conditional request nor a duplicate may refer to the lost page: it is requested without conditions.
            url = decode_url(value)
            if row.digest:
                self._contents.forget(row.digest, url)
            row.etag = row.last_modified = row.digest = row.segment = ""
            row.captured, row.offset = 0.0, 0
            if row.state == SCHEDULED:
                # It will be fetched anyway.
                self._url_rows.put(key, row, url)
            else:
                self._schedule_lost(key, row, url)
            lost += 1
            if lost % _ROWS_A_COMMIT == 0:
                self._commit()
        self._commit()
        return lost

    def retry_seeds(self, limit: int) -> int:
        """Schedule up to `limit` seeds and hosts of seeds that gave no answer again, and return their number, 0 at the end.
        They must be committed before the next call."""
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
        """Stage for `review_refusals` that a filter or the scope refused a URL."""
        self._meta.put(_INDEX + pack_row(number, sequence), b"")

    def review_refusals(self, after: bytes, limit: int, is_welcome: Callable[[str, str], bool]) -> bytes:
        """Review the next `limit` URLs, or fewer if it takes long, that a filter or the scope refused, and schedule those again
        that `is_welcome` accepts now, given their way and URL. Returns the key to continue after, empty at the end; commit
        before the next call."""
        last = b""
        deadline = self._clock.monotonic() + _MAX_STEP_S
        for key, _ in self._meta.scan(after + b"\0" if after else _INDEX, _INDEX_END, limit):
            if last and self._clock.monotonic() > deadline:
                break
            last = key
            number, sequence = unpack_row(key[len(_INDEX) :])
            row, url = self._url_rows.read(pack_row(number, sequence))
            # The URL may have been scheduled for another reason meanwhile.
            is_refused = row.state == DISALLOWED and row.reason == Reason.FILTERED
            if is_refused and not is_welcome(row.found_as, url):
                continue
            self._meta.delete(key)
            if is_refused:
                self._schedule.add_again(self._hosts.get(number), sequence, row, url)
        return last

    def _schedule_lost(self, key: bytes, row: UrlRow, url: str) -> None:
        number, sequence = unpack_row(key)
        host = self._hosts.get(number)
        self._state.counts.quads -= row.quads
        if 200 <= row.status < 300 and row.reason not in PREREQUISITE_REASONS:
            self._hosts.count_page(host, row.quads, -1, duplicate=row.duplicate, is_imported=row.is_imported)
        if host.record.status == OVER_BUDGET:
            self._hosts.set_status(host, NORMAL)
            self._front_queues.put_front(host)
        if row.state != DISALLOWED:
            # It was worth a request before, whatever similar URLs gave since.
            row.reason = Reason.LOST
        self._schedule.add_again(host, sequence, row, url)
