"""Stages rows of URLs whose frontier was lost, by what the archive says of their last visits."""

from rdfspider.codes import REFUSALS, Reason, VerdictState
from rdfspider.frontier.core import Core
from rdfspider.frontier.entries import PageFacts
from rdfspider.frontier.keys import pack_row
from rdfspider.frontier.url_rows import DISALLOWED, DONE, FAILED, UrlRow
from rdfspider.frontier.urls.restarts import Restarts
from rdfspider.frontier.urls.revisits import FutureVisits, VisitHistory, plan_visit
from rdfspider.frontier.urls.sieve import Sieve
from rdfspider.records import Discovered, Verdict
from rdfspider.ways import Way


class Restoration:
    """Stages rows of URLs that were visited, in no queue."""

    def __init__(self, core: Core, sieve: Sieve, visits: FutureVisits, restarts: Restarts) -> None:
        self._core = core
        self._restarts = restarts
        self._sieve = sieve
        self._visits = visits

    def record(self, link: Discovered, verdict: Verdict, facts: PageFacts, visited: float) -> None:
        """Stage the outcome of a visit, after all earlier ones. No URL may come twice between two commits."""
        core, counts = self._core, self._core.counts
        found = self._sieve.find(link.url)
        number, sequence = found or self._sieve.add(link, counts)
        row = core.url_rows.read(pack_row(number, sequence))[0] if found else None
        if row is not None:
            self._uncount(row)
        else:
            row = UrlRow(link.via, link.depth, link.found_as, link.chain)
        history = VisitHistory(visited, row.decided, facts.digest != row.digest)
        row.reason, row.status, row.error, row.rule = verdict.reason, verdict.status, verdict.error, verdict.rule
        row.decided = visited
        row.segment, row.offset = facts.position or ("", 0)
        if verdict.reason != Reason.UNCHANGED:
            row.etag, row.last_modified = facts.etag, facts.last_modified
            row.digest, row.captured, row.quads = facts.digest, facts.captured, facts.quads
            row.duplicate, row.original = facts.judgement.duplicate, facts.judgement.original
        host = core.hosts.get(number)
        counts.body_bytes += facts.body_bytes
        counts.quads += facts.quads
        counts.imported_bytes += facts.body_bytes * row.is_imported
        if verdict.is_page:
            core.hosts.count_page(host, facts.quads, duplicate=row.duplicate, is_imported=row.is_imported)
        self._end(number, sequence, row, verdict, history)
        core.url_rows.put(pack_row(number, sequence), row, link.url)
        core.hosts.mark_changed(host)

    def _end(self, number: int, sequence: int, row: UrlRow, verdict: Verdict, history: VisitHistory) -> None:
        core, counts = self._core, self._core.counts
        row.next_visit = 0.0
        if verdict.state == VerdictState.DONE:
            row.state = DONE
            counts.done += 1
            if next_visit := plan_visit(history, core.config.crawl):
                row.next_visit = next_visit
                self._visits.put(next_visit, core.url_rows.id_of(number, sequence))
                counts.future_visits += 1
        elif verdict.reason in REFUSALS:
            row.state = DISALLOWED
            counts.count_refused(row.reason)
            if row.reason == Reason.FILTERED:
                self._restarts.note_filtered(number, sequence)
        else:
            row.state = FAILED
            counts.failed += 1
            if row.found_as == Way.SEED and not row.status:
                core.outages.note_seed(number, sequence)

    def _uncount(self, row: UrlRow) -> None:
        """Take back what the state of an earlier visit counted."""
        counts = self._core.counts
        counts.done -= row.state == DONE
        counts.failed -= row.state == FAILED
        if row.state == DISALLOWED:
            counts.count_refused(row.reason, -1)
        counts.future_visits -= row.next_visit > 0
