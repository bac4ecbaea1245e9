"""Known URLs that are found again: a URL takes over the new way if it is better than the recorded one.

A seed is better than a link, as seeds widen the scope; a shorter redirect chain and a smaller depth are better, as both have
limits. A fetched URL is fetched again only if the old way kept something from being found, if a sitemap says that its page has
changed since, or if a page waits for it as a context.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from rdfspider.codes import PREREQUISITE_REASONS, Reason
from rdfspider.frontier.core import Core
from rdfspider.frontier.hosts.queues import Slot, find_read
from rdfspider.frontier.keys import pack_row
from rdfspider.frontier.url_rows import DISALLOWED, DONE, FAILED, SCHEDULED, UrlRow
from rdfspider.frontier.urls.revisits import VisitHistory, plan_visit
from rdfspider.frontier.urls.schedule import Schedule
from rdfspider.frontier.urls.sieve import Rediscovered
from rdfspider.records import Discovered
from rdfspider.ways import UNSCOPED_WAYS, Way

# The reasons of pages whose links count.
_WITH_LINKS = frozenset({Reason.FETCHED, Reason.UNCHANGED, Reason.REDIRECT, Reason.NOINDEX, Reason.SOFT_404})


class Rediscovery:
    """Updates the rows of URLs, and schedules URLs again."""

    def __init__(self, core: Core, schedule: Schedule, leased: dict[int, Slot]) -> None:
        self._url_rows = core.url_rows
        self._hosts = core.hosts
        self._config = core.config.crawl
        self._schedule = schedule
        self._leased = leased
        self._late: dict[int, list[Discovered]] = {}
        """Links to leased URLs, by URL id, until their leases end."""

    def meet(self, met: Iterable[Rediscovered]) -> None:
        """Stage what follows from links to known URLs."""
        for link, number, sequence, known in met:
            key = pack_row(number, sequence)
            row = self._url_rows.find_changed(key) or known
            if not self._is_better(link, row):
                continue
            url_id = self._url_rows.id_of(number, sequence)
            if url_id in self._leased:
                # Its request goes on with the old way, and its result comes first. The row is for the next process, if this one
                # ends before.
                self._late.setdefault(url_id, []).append(link)
                self._url_rows.put(key, _improve(replace(row), link), link.url)
                continue
            if row.state == SCHEDULED:
                slot = find_read(self._hosts.get(number), sequence)
                row = slot.row if slot else row
            self._take_over(link, number, sequence, row)

    def settle(self, url_id: int, slot: Slot) -> None:
        """Stage what follows from links that were found during the lease of their target."""
        for link in self._late.pop(url_id, ()):
            if self._is_better(link, slot.row):
                self._take_over(link, slot.host.number, slot.sequence, slot.row)

    def _take_over(self, link: Discovered, number: int, sequence: int, row: UrlRow) -> None:
        is_again, is_newer = self._needs_visit(link, row), self._is_newer(link, row)
        host = self._hosts.get(number)
        if _becomes_context(link, row) and row.state == SCHEDULED and self._schedule.take_out(host, sequence, row):
            is_again = True
        _improve(row, link)
        if row.found_as == Way.SEED and not host.record.is_seeded:
            host.record.is_seeded = True
            self._hosts.mark_changed(host)
        if is_again:
            # The request must be unconditional, as a 304 would bring no links.
            row.etag = row.last_modified = ""
        if is_again or is_newer:
            self._schedule.add_again(host, sequence, row, link.url)
        else:
            self._url_rows.put(pack_row(number, sequence), row, link.url)

    def _is_better(self, link: Discovered, row: UrlRow) -> bool:
        is_better = self._is_nearer(link, row) or _becomes_seed(link, row) or len(link.chain) < len(row.chain)
        return is_better or self._is_newer(link, row) or _becomes_context(link, row)

    def _is_nearer(self, link: Discovered, row: UrlRow) -> bool:
        """Whether the depth limit lets the new way find more."""
        return bool(self._config.depth) and link.depth < row.depth

    def _is_newer(self, link: Discovered, row: UrlRow) -> bool:
        """Whether the modification date in a sitemap makes a new visit due at once."""
        if not link.modified or row.state != DONE:
            return False
        next_visit = plan_visit(VisitHistory(row.decided, modified=link.modified), self._config)
        return 0 < next_visit <= row.decided

    def _needs_visit(self, link: Discovered, row: UrlRow) -> bool:
        """Whether the old way kept something from being found that the new one leads to."""
        if _becomes_context(link, row):
            return row.state != SCHEDULED
        becomes_seed = _becomes_seed(link, row)
        if row.state == DISALLOWED:
            return becomes_seed and row.reason in (Reason.FILTERED, Reason.TRAP)
        if row.state == FAILED:
            is_too_long = row.reason == Reason.TOO_MANY_REDIRECTS
            return len(link.chain) < len(row.chain) if is_too_long else becomes_seed
        if row.state == DONE and becomes_seed and (row.reason in PREREQUISITE_REASONS or row.found_as in UNSCOPED_WAYS):
            # It was fetched as a prerequisite of the crawl, not as a page.
            return True
        if row.state != DONE or row.reason not in _WITH_LINKS:
            return False
        is_wider = becomes_seed and (row.reason == Reason.REDIRECT or self._config.scope == "prefix")
        return is_wider or self._is_nearer(link, row)


def _becomes_seed(link: Discovered, row: UrlRow) -> bool:
    return link.found_as == Way.SEED and row.found_as != Way.SEED


def _becomes_context(link: Discovered, row: UrlRow) -> bool:
    """Whether a page waits for a URL as a context, under a name that is not in its row yet."""
    return link.found_as == Way.CONTEXT and (row.found_as != Way.CONTEXT or not set(link.chain) <= set(row.chain))


def _improve(row: UrlRow, link: Discovered) -> UrlRow:
    """Update a row with what is better about a link."""
    if _becomes_context(link, row):
        # URLs that redirect to a context are names of it, and pages may wait for each.
        names = row.chain if row.found_as == Way.CONTEXT and row.state == SCHEDULED else ()
        row.via, row.found_as, row.chain = link.via, Way.CONTEXT, tuple(dict.fromkeys((*names, *link.chain)))
    elif _becomes_seed(link, row) or len(link.chain) < len(row.chain):
        row.via, row.chain = link.via, link.chain
        row.found_as = link.found_as if row.found_as != Way.SEED else Way.SEED
    row.depth = min(row.depth, link.depth)
    return row
