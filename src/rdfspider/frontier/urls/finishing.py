"""What became of URLs: a verdict and what is known of the page enter, and all that follows is staged: the row, the queue, the
next visit, the counts, what was learned of contents and patterns.
"""

from typing import NamedTuple

from rdfspider.config import CrawlConfig
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.contents.contents import Contents
from rdfspider.frontier.entries import Counts
from rdfspider.frontier.hosts.back_queues import Queues, Slot
from rdfspider.frontier.hosts.hosts import Host, Hosts
from rdfspider.frontier.hosts.outages import Outages
from rdfspider.frontier.keys import pack_row
from rdfspider.frontier.url_rows import DISALLOWED, DONE, FAILED, Row, UrlRows
from rdfspider.frontier.urls.learned_traps import Traps
from rdfspider.frontier.urls.leases import Leases
from rdfspider.frontier.urls.rediscovery import Rediscovery
from rdfspider.frontier.urls.refusals import FILTERED, Refusals
from rdfspider.frontier.urls.revisits import Visits
from rdfspider.records import Judgement, Lease, Verdict


class PageFacts(NamedTuple):
    """What is known of a page that came."""

    digest: str = ""
    etag: str = ""
    last_modified: str = ""
    captured: float = 0.0
    body_bytes: int = 0
    quads: int = 0
    position: tuple[str, int] | None = None
    """Where the WARC tells of it."""


class Finisher:
    """Stages what follows from outcomes."""

    def __init__(
        self,
        ledger: UrlRows,
        hosts: Hosts,
        queues: Queues,
        visits: Visits,
        leases: Leases,
        encounters: Rediscovery,
        outages: Outages,
        refusals: Refusals,
        contents: Contents,
        traps: Traps | None,
        config: CrawlConfig,
        clock: Clock,
        counts: Counts,
    ) -> None:
        """Without traps, nothing is learned of patterns."""
        self._ledger = ledger
        self._hosts = hosts
        self._queues = queues
        self._visits = visits
        self._leases = leases
        self._encounters = encounters
        self._outages = outages
        self._refusals = refusals
        self._contents = contents
        self._traps = traps
        self._revisit_s = config.revisit_s
        self._clock = clock
        self._counts = counts

    def record(self, lease: Lease, verdict: Verdict, facts: PageFacts, judgement: Judgement) -> None:
        """Stage what became of a leased page."""
        slot = self._leases.slots[lease.url_id]
        host, row = slot.host, slot.row
        row.attempts += slot.is_attempt
        row.turned_away += slot.is_turned_away
        row.reason, row.status, row.error, row.rule = verdict.reason, verdict.status, verdict.error, verdict.rule
        row.decided = self._clock.now()
        self._queues.remove(slot)
        if verdict.is_final:
            if verdict.reason != "unchanged":
                self._contents.record(slot, lease.url_id, verdict, facts.digest, judgement)
                row.etag, row.last_modified = facts.etag, facts.last_modified
                row.digest, row.captured = facts.digest, facts.captured
                row.quads, row.likeness = facts.quads, judgement.likeness
                row.duplicate, row.original = judgement.duplicate, judgement.original
            row.segment, row.offset = facts.position or ("", 0)
            self._end(lease.url_id, slot, verdict, facts)
            if self._traps is not None:
                self._traps.learn(lease, host, verdict, facts.quads, judgement)
        else:
            row.turn += 1
            self._queues.put(host, slot.span.priority, slot.sequence, turn=row.turn)
        self._ledger.put(pack_row(host.number, slot.sequence), row, slot.url)
        self._hosts.mark_changed(host)
        self._leases.finish(slot)
        self._encounters.settle(lease.url_id, slot)

    def count_page(self, host: Host, row: Row, quads: int, pages: int = 1, *, is_imported: bool = False) -> None:
        """Take a page into the counts, or, with -1, out of them."""
        counts, record = self._counts, host.record
        is_structured = bool(quads) and row.duplicate != "soft-404"
        counts.pages += pages
        counts.imported_pages += pages * is_imported
        counts.structured += pages * is_structured
        counts.duplicates += pages * bool(row.duplicate)
        record.structured += pages * is_structured
        record.quads += pages * quads
        self._hosts.count_page(host, pages, is_imported=is_imported)

    def _end(self, url_id: int, slot: Slot, verdict: Verdict, facts: PageFacts) -> None:
        """A URL is no longer scheduled."""
        counts, row = self._counts, slot.row
        self._hosts.count_scheduled(slot.host, -1)
        if verdict.state == "done":
            row.state = DONE
            counts.done += 1
        elif slot.is_refused:
            row.state = DISALLOWED
            counts.count_refused(row.reason)
        else:
            row.state = FAILED
            counts.failed += 1
        counts.body_bytes += facts.body_bytes
        counts.quads += facts.quads
        if verdict.is_page:
            self.count_page(slot.host, row, facts.quads)
        if self._revisit_s and row.state == DONE:
            row.next_visit = row.decided + self._revisit_s
            self._visits.put(row.next_visit, url_id)
            counts.future_visits += 1
        if row.state == FAILED and row.found_as == "seed" and not row.status:
            self._outages.note_seed(slot.host.number, slot.sequence)
        if row.state == DISALLOWED and row.reason == FILTERED:
            self._refusals.note(slot.host.number, slot.sequence)
