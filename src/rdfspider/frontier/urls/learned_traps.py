"""Learned traps: the results of pages enter; refusals, probes and lower priorities for URLs of their patterns leave.

A pattern whose pages no longer give anything new uses up its budget: its queued URLs are refused without a request, except for
probes, which become rarer. A probe that gives something new restores the budget, and the refused URLs are scheduled again, in
small steps. Queued URLs of a barren pattern move behind others.
"""

from rdfspider.codes import DuplicateKind, Reason, VerdictState
from rdfspider.domains import Domains
from rdfspider.frontier.core import Core
from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.hosts.queues import Slot
from rdfspider.frontier.keys import pack_host, pack_row, unpack_row
from rdfspider.frontier.learning.patterns import RULE, HostPatterns, PageLeads, Pattern, Patterns
from rdfspider.frontier.learning.priority import SPENT, Ratings, rate_again
from rdfspider.frontier.learning.url_patterns import find_pattern
from rdfspider.frontier.url_rows import DISALLOWED, UrlRow, decode_row, decode_url, is_untouched
from rdfspider.frontier.urls.schedule import Schedule
from rdfspider.records import Judgement, Lease, Verdict
from rdfspider.urls import host_of
from rdfspider.ways import TRAP_EXEMPT_WAYS

# Rows that are read per step when refused URLs of a host are scheduled again.
_ROWS_A_STEP = 500
# URLs of a host that are demoted in a row, before it is assumed that it has no better ones.
_MAX_PASSED = 200
_UNJUDGED = Judgement()
_INDEX = b"restoring/"
_INDEX_END = b"restoring0"


class Traps:
    """Learns from pages, and keeps URLs that are not worth a request out of the runs of hosts."""

    def __init__(self, core: Core, domains: Domains, patterns: Patterns, ratings: Ratings, schedule: Schedule) -> None:
        self._url_rows = core.url_rows
        self._hosts = core.hosts
        self._queues = core.queues
        self._clock = core.clock
        self._counts = core.counts
        self._meta = core.store.tables["meta"]
        self._domain_of = domains.domain
        self._patterns = patterns
        self._ratings = ratings
        self._schedule = schedule
        self._active = core.active
        index = self._meta.scan(_INDEX, _INDEX_END)
        self.restoring = {int.from_bytes(key[len(_INDEX) :], "big"): 0 for key, _ in index}
        """Hosts with URLs to be scheduled again, and the next sequence; a new process starts from the first one."""

    def learn(self, lease: Lease, host: Host, verdict: Verdict, quads: int, judgement: Judgement) -> None:
        """Learn from a recorded page. One that was captured before says nothing about its neighbours; an unjudged one, from
        which nothing can be read, only counts as a visit."""
        self.settle()
        is_missing = verdict.state == VerdictState.DONE and 400 <= verdict.status < 500
        if not (verdict.is_page or is_missing) or lease.captured:
            return
        known = self._patterns.obtain(host)
        pattern = known.obtain(find_pattern(lease.url))
        pattern.count(quads)
        known.total.count(quads)
        if is_missing or judgement == _UNJUDGED:
            return
        if pattern.meet(judgement, self._repeats_itself(host, judgement)):
            self._restore(host, pattern)
        self._patterns.page = PageLeads(lease.url_id, host, pattern)

    def settle(self) -> None:
        """Stage what follows from the links of the last recorded page, which are all added now."""
        page, self._patterns.page = self._patterns.page, None
        if page is None:
            return
        page.pattern.count_lead(page.promise)
        if page.leads:
            self._restore(page.host, page.pattern)

    def sift(self, slots: list[Slot]) -> list[Slot]:
        """The URLs of a host's run that are worth a request; the others are staged as refused or demoted."""
        known = self._patterns.of(slots[0].host) if slots else None
        if known is None:
            return slots
        if known.passed >= _MAX_PASSED and self._active.wants_out():
            known.passed = 0
        offsets: dict[str, int] = {}
        wanted = [slot for slot in slots if self._is_wanted(slot, known, offsets)]
        if wanted and known.passed < _MAX_PASSED:
            known.passed = 0
        return wanted

    def restore_some(self) -> None:
        """Schedule some of the refused URLs whose patterns have their budgets back, staged."""
        number, start = next(iter(self.restoring.items()))
        host = self._hosts.get(number)
        known = self._patterns.of(host)
        rows = self._url_rows.table.scan(pack_row(number, start), pack_row(number + 1, 0), _ROWS_A_STEP)
        for key, value in rows:
            if is_untouched(value) and self._url_rows.find_changed(key) is None:
                continue
            row, url = self._url_rows.find_changed(key) or decode_row(value), decode_url(value)
            if _is_refused(row) and not _is_spent(known, url):
                self._counts.trapped -= 1
                row.reason = row.rule = ""
                self._schedule.add_again(host, unpack_row(key)[1], row, url)
        if len(rows) == _ROWS_A_STEP:
            self.restoring[number] = unpack_row(rows[-1][0])[1] + 1
        else:
            del self.restoring[number]
            self._meta.delete(_INDEX + pack_host(number))

    def _repeats_itself(self, host: Host, judgement: Judgement) -> bool:
        """Whether a page has the bytes of another page of its site, as in traps; those of another site make it a mirror."""
        if judgement.duplicate != DuplicateKind.EXACT:
            return False
        return self._domain_of(host_of(judgement.original)) == self._domain_of(host.record.name)

    def _restore(self, host: Host, pattern: Pattern) -> None:
        if pattern.restore():
            self.restoring[host.number] = 0
            self._meta.put(_INDEX + pack_host(host.number), b"")

    def _is_wanted(self, slot: Slot, known: HostPatterns, offsets: dict[str, int]) -> bool:
        row = slot.row
        if row.found_as in TRAP_EXEMPT_WAYS or row.captured or row.reason == Reason.LOST:
            return True
        key = find_pattern(slot.url)
        pattern = known.find(key)
        if pattern is None:
            return True
        offset = offsets.get(key)
        if offset is None:
            offset = offsets[key] = self._ratings.rate_pattern(known, key, pattern)
        if offset >= SPENT:
            self._patterns.obtain(slot.host).obtain(key)
            if pattern.take_probe():
                return True
            self._refuse(slot, known.explain_refusal(key))
            return False
        priority = rate_again(row.depth, offset)
        if offset <= 0 or priority <= slot.span.priority or known.passed >= _MAX_PASSED:
            return True
        known.passed += 1
        self._demote(slot, priority)
        return False

    def _refuse(self, slot: Slot, rule: str) -> None:
        row = slot.row
        row.state, row.reason, row.rule = DISALLOWED, Reason.TRAP, rule
        row.status, row.error = 0, ""
        row.decided = self._clock.now()
        self._hosts.count_scheduled(slot.host, -1)
        self._counts.count_refused(Reason.TRAP)
        self._leave_queue(slot)

    def _demote(self, slot: Slot, priority: int) -> None:
        slot.row.turn += 1
        self._queues.put(slot.host, priority, slot.sequence, turn=slot.row.turn)
        self._leave_queue(slot)

    def _leave_queue(self, slot: Slot) -> None:
        self._queues.remove(slot)
        self._url_rows.put(pack_row(slot.host.number, slot.sequence), slot.row, slot.url)
        self._hosts.mark_changed(slot.host)


def _is_refused(row: UrlRow) -> bool:
    """Whether a URL was refused by its pattern; other trap rules are final."""
    return row.state == DISALLOWED and row.reason == Reason.TRAP and row.rule.startswith(RULE)


def _is_spent(known: HostPatterns | None, url: str) -> bool:
    return known is not None and bool(known.explain_refusal(find_pattern(url)))
