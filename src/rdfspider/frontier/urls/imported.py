"""Pages that were not fetched here but read from archives of others: they enter the ledger as done, and no queue."""

from rdfspider.errors import UsageError
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import Counts
from rdfspider.frontier.hosts.hosts import Hosts
from rdfspider.frontier.keys import MAX_SEQUENCE, pack_row
from rdfspider.frontier.url_rows import DISALLOWED, DONE, FAILED, SCHEDULED, Row, UrlRows
from rdfspider.frontier.urls.finishing import Finisher
from rdfspider.frontier.urls.sieve import Sieve
from rdfspider.records import Discovered, Verdict

FOUND_AS, _REASON = "import", "imported"


def is_imported(row: Row) -> bool:
    """Whether what is on record of a URL came from an archive of others; a page that asks not to be indexed is on record as
    that."""
    return row.reason == _REASON or (row.reason == "noindex" and row.found_as == FOUND_AS)


class Imports:
    """Stages rows of the ledger for pages that came from elsewhere."""

    def __init__(
        self, ledger: UrlRows, sieve: Sieve, hosts: Hosts, outcomes: Finisher, counts: Counts, clock: Clock
    ) -> None:
        self._ledger = ledger
        self._sieve = sieve
        self._hosts = hosts
        self._outcomes = outcomes
        self._counts = counts
        self._clock = clock

    def has_since(self, url: str, captured: float) -> bool:
        """Whether a capture of a URL is on record that is as new as this time, as far as is committed."""
        found = self._sieve.find(url)
        return found is not None and self._ledger.read(pack_row(*found))[0].captured >= captured

    def record(
        self,
        url: str,
        verdict: Verdict,
        *,
        digest: str,
        etag: str,
        last_modified: str,
        captured: float,
        body_bytes: int,
        quads: int,
        position: tuple[str, int],
    ) -> None:
        """Stage what is known of a page now; the arguments are those of `Frontier.record`. No URL may come twice between two
        commits."""
        found = self._sieve.find(url)
        row = self._ledger.read(pack_row(*found))[0] if found else Row(0, 0, FOUND_AS)
        row.etag, row.last_modified, row.digest, row.captured = etag, last_modified, digest, captured
        row.segment, row.offset = position
        number, sequence = found or self._add(url)
        if found and row.state == SCHEDULED:
            # It stays where it is: its queue counts on it, and a newer capture is what a crawl is for.
            self._ledger.put(pack_row(number, sequence), row, url)
            return
        counts = self._counts
        counts.failed -= row.state == FAILED
        if row.state == DISALLOWED:
            counts.count_refused(row.reason, -1)
        counts.done += row.state != DONE
        row.state, row.quads, row.decided = DONE, quads, self._clock.now()
        row.reason, row.status, row.error, row.rule = verdict.reason, verdict.status, "", verdict.rule
        self._ledger.put(pack_row(number, sequence), row, url)
        host = self._hosts.get(number)
        counts.quads += quads
        counts.body_bytes += body_bytes
        counts.imported_bytes += body_bytes
        self._outcomes.count_page(host, row, quads, is_imported=True)
        self._hosts.mark_changed(host)

    def _add(self, url: str) -> tuple[int, int]:
        """Host number and sequence of a URL that is new."""
        (new,) = self._sieve.sift([Discovered(url, found_as=FOUND_AS)], 0)[0]
        record = new.host.record
        if record.next_sequence >= MAX_SEQUENCE:
            raise UsageError(f"{record.name} has more URLs than a crawl can hold")
        self._sieve.put(new.keys, record.next_sequence)
        record.next_sequence += 1
        self._counts.known += 1
        return new.host.number, record.next_sequence - 1
