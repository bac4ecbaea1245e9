"""Pages that were read from WARC files instead of being fetched: they are done at once, and in no queue."""

from rdfspider.errors import UsageError
from rdfspider.frontier.core import Core
from rdfspider.frontier.entries import PageFacts
from rdfspider.frontier.keys import MAX_SEQUENCE, pack_row
from rdfspider.frontier.url_rows import DISALLOWED, DONE, FAILED, SCHEDULED, UrlRow
from rdfspider.frontier.urls.sieve import Sieve
from rdfspider.records import Discovered, Verdict
from rdfspider.ways import Way


class Imports:
    """Stages rows of URLs for pages that came from elsewhere."""

    def __init__(self, core: Core, sieve: Sieve) -> None:
        self._url_rows = core.url_rows
        self._hosts = core.hosts
        self._counts = core.counts
        self._clock = core.clock
        self._sieve = sieve

    def has_since(self, url: str, captured: float) -> bool:
        """Whether a capture of a URL is on record that is as new as this time, as far as is committed."""
        found = self._sieve.find(url)
        return found is not None and self._url_rows.read(pack_row(*found))[0].captured >= captured

    def record(self, url: str, verdict: Verdict, facts: PageFacts) -> None:
        """Stage what is known of a page now, whose facts have a position. No URL may come twice between two commits."""
        found = self._sieve.find(url)
        row = self._url_rows.read(pack_row(*found))[0] if found else UrlRow(0, 0, Way.IMPORT)
        row.etag, row.last_modified = facts.etag, facts.last_modified
        row.digest, row.captured = facts.digest, facts.captured
        row.segment, row.offset = facts.position or ("", 0)
        number, sequence = found or self._add(url)
        if found and row.state == SCHEDULED:
            # It stays where it is: its queue counts on it, and a newer capture is what a crawl is for.
            self._url_rows.put(pack_row(number, sequence), row, url)
            return
        counts = self._counts
        counts.failed -= row.state == FAILED
        if row.state == DISALLOWED:
            counts.count_refused(row.reason, -1)
        counts.done += row.state != DONE
        row.state, row.quads, row.decided = DONE, facts.quads, self._clock.now()
        row.reason, row.status, row.error, row.rule = verdict.reason, verdict.status, "", verdict.rule
        self._url_rows.put(pack_row(number, sequence), row, url)
        host = self._hosts.get(number)
        counts.quads += facts.quads
        counts.body_bytes += facts.body_bytes
        counts.imported_bytes += facts.body_bytes
        self._hosts.count_page(host, facts.quads, duplicate=row.duplicate, is_imported=True)
        self._hosts.mark_changed(host)

    def _add(self, url: str) -> tuple[int, int]:
        """Host number and sequence of a URL that is new."""
        (new,) = self._sieve.sift([Discovered(url, found_as=Way.IMPORT)], 0)[0]
        record = new.host.record
        if record.next_sequence >= MAX_SEQUENCE:
            raise UsageError(f"{record.name} has more URLs than a crawl can hold")
        self._sieve.put(new.keys, record.next_sequence)
        record.next_sequence += 1
        self._counts.known += 1
        return new.host.number, record.next_sequence - 1
