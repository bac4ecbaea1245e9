"""Stages the results of pages: of leased ones from verdict and facts, and of those that were imported from WARC files.

What is staged is the row, the queue, the next visit, the counts, and what contents and patterns learn from the page. Imported
pages are done at once, and in no queue.
"""

from dataclasses import dataclass

from rdfspider.codes import Reason, VerdictState
from rdfspider.frontier.contents import Contents
from rdfspider.frontier.core import Core
from rdfspider.frontier.entries import PageFacts
from rdfspider.frontier.hosts.queues import Slot
from rdfspider.frontier.hosts.shares import REQUEST_S, UNPRODUCTIVE
from rdfspider.frontier.keys import pack_row
from rdfspider.frontier.learning.credits import Credits
from rdfspider.frontier.url_rows import DISALLOWED, DONE, FAILED, SCHEDULED, UrlRow
from rdfspider.frontier.urls.learned_traps import Traps
from rdfspider.frontier.urls.leases import Leases
from rdfspider.frontier.urls.rediscovery import Rediscovery
from rdfspider.frontier.urls.restarts import Restarts
from rdfspider.frontier.urls.revisits import FutureVisits, VisitHistory, plan_visit
from rdfspider.frontier.urls.sieve import Sieve
from rdfspider.records import Discovered, Lease, Verdict
from rdfspider.ways import Way


@dataclass(frozen=True, slots=True)
class Finisher:
    """Stages the results of leased pages."""

    core: Core
    visits: FutureVisits
    leases: Leases
    rediscovery: Rediscovery
    restarts: Restarts
    contents: Contents
    credits: Credits
    traps: Traps | None
    """None if patterns are not learned."""

    def finish(self, lease: Lease, verdict: Verdict, facts: PageFacts) -> None:
        """Stage the result of a leased page."""
        core, judgement = self.core, facts.judgement
        slot = self.leases.slots[lease.url_id]
        host, row = slot.host, slot.row
        row.attempts += slot.is_attempt
        row.turned_away += slot.is_turned_away
        row.heavy += verdict.reason == Reason.HEAVY
        row.reason, row.status, row.error, row.rule = verdict.reason, verdict.status, verdict.error, verdict.rule
        now = core.clock.now()
        is_changed = verdict.reason != Reason.UNCHANGED and facts.digest != row.digest
        history = VisitHistory(now, row.decided, is_changed)
        row.decided = now
        core.queues.remove(slot)
        if verdict.is_final:
            if verdict.reason != Reason.UNCHANGED:
                self.contents.record(slot, lease.url_id, verdict, facts.digest, judgement)
                row.etag, row.last_modified = facts.etag, facts.last_modified
                row.digest, row.captured = facts.digest, facts.captured
                row.quads, row.simhash = facts.quads, judgement.simhash
                row.duplicate, row.original = judgement.duplicate, judgement.original
            row.segment, row.offset = facts.position or ("", 0)
            self._end(lease.url_id, slot, verdict, facts, history)
            is_page = verdict.is_page and not judgement.duplicate
            if verdict.status >= 400 or (verdict.is_page and not is_page):
                core.shares.charge(host, UNPRODUCTIVE * REQUEST_S)
            if row.via and (is_page or 400 <= verdict.status < 500):
                self.credits.learn(host, row.via, is_page=is_page)
            if self.traps is not None:
                self.traps.learn(lease, host, verdict, facts.quads, judgement)
        else:
            row.turn += 1
            core.queues.put(host, slot.span.priority, slot.sequence, turn=row.turn)
        core.url_rows.put(pack_row(host.number, slot.sequence), row, slot.url)
        core.hosts.mark_changed(host)
        self.leases.finish(slot)
        self.rediscovery.settle(lease.url_id, slot)

    def _end(self, url_id: int, slot: Slot, verdict: Verdict, facts: PageFacts, history: VisitHistory) -> None:
        """Stage the final state of a URL, which is no longer scheduled."""
        core, row = self.core, slot.row
        counts = core.counts
        core.hosts.count_scheduled(slot.host, -1)
        if verdict.state == VerdictState.DONE:
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
            core.hosts.count_page(slot.host, facts.quads, duplicate=row.duplicate)
        if row.state == DONE and (next_visit := plan_visit(history, core.config.crawl)):
            row.next_visit = next_visit
            self.visits.put(next_visit, url_id)
            counts.future_visits += 1
        if row.state == FAILED and row.found_as == Way.SEED and not row.status:
            core.outages.note_seed(slot.host.number, slot.sequence)
        if row.state == DISALLOWED and row.reason == Reason.FILTERED:
            self.restarts.note_filtered(slot.host.number, slot.sequence)


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
        number, sequence = found or self._sieve.add(Discovered(url, found_as=Way.IMPORT), self._counts)
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
