"""Schedules URLs that are new, or again: because a visit is due, the page was lost, a seed had no answer, a refusal was lifted,
or the URL was found in a better way."""

from collections.abc import Iterable, Iterator
from itertools import compress

from rdfspider.frontier.core import Core
from rdfspider.frontier.entries import LOWEST_PRIORITY, Priority
from rdfspider.frontier.hosts.hosts import GIVEN_UP, Host
from rdfspider.frontier.hosts.origins import is_mirrored
from rdfspider.frontier.keys import pack_row
from rdfspider.frontier.learning.credits import Credits
from rdfspider.frontier.learning.priority import Ratings
from rdfspider.frontier.url_rows import DISALLOWED, DONE, FAILED, SCHEDULED, UrlRow, encode_fresh
from rdfspider.frontier.urls.revisits import FutureVisits
from rdfspider.frontier.urls.sieve import NewLinks, Sieve
from rdfspider.records import Discovered
from rdfspider.ways import TRAP_EXEMPT_WAYS, Way

# Looked up once: an attribute of an enumeration takes longer than to compare with it.
_SEED = Way.SEED

# How often visits that are due are looked for, and how many become scheduled at once.
_VISITS_EVERY_S = 1.0
_VISITS_AT_ONCE = 500


class Schedule:
    """Stages rows of URLs and entries of back queues."""

    def __init__(
        self,
        core: Core,
        sieve: Sieve,
        visits: FutureVisits,
        ratings: Ratings,
        credits: Credits,
        priority: Priority | None,
    ) -> None:
        self._url_rows = core.url_rows
        self._hosts = core.hosts
        self._queues = core.queues
        self._clock = core.clock
        self._counts = core.counts
        self._sieve = sieve
        self._visits = visits
        self._outages = core.outages
        self._ratings = ratings
        self._credits = credits
        self._priority = priority
        self._next_visits = 0.0

    def add(self, groups: Iterable[NewLinks]) -> None:
        """Stage links whose URLs were never seen."""
        for new in groups:
            priorities = self._rate(new.host, new.links)
            if new.host.record.mirror_of:
                priorities = [_put_mirrored_last(new.host, *pair) for pair in zip(new.links, priorities, strict=True)]
            if self._priority is None:
                are_last = self._credits.spend(new.host, new.links)
                priorities = [_put_last(*each) for each in zip(new.links, priorities, are_last, strict=True)]
            for priority in dict.fromkeys(priorities):
                are_chosen = [other == priority for other in priorities]
                keys, chosen = list(compress(new.keys, are_chosen)), list(compress(new.links, are_chosen))
                self._add_new(new.host, priority, keys, chosen)
            if new.host.record.status == GIVEN_UP:
                self._outages.reconsider(new.host, new.links)

    def add_again(self, host: Host, sequence: int, row: UrlRow, url: str) -> None:
        """Stage a known URL that is not scheduled at the tail of its queue."""
        counts = self._counts
        counts.done -= row.state == DONE
        counts.failed -= row.state == FAILED
        if row.state == DISALLOWED:
            counts.count_refused(row.reason, -1)
        counts.future_visits -= row.next_visit > 0
        row.state, row.turn = SCHEDULED, row.turn + 1
        row.attempts = row.turned_away = row.heavy = 0
        row.next_visit = 0.0
        link = Discovered(url, row.depth, row.found_as, row.via, row.chain)
        self._queues.put(host, self._rate(host, [link])[0], sequence, turn=row.turn)
        self._hosts.count_scheduled(host, 1)
        self._url_rows.put(pack_row(host.number, sequence), row, url)
        self._hosts.mark_changed(host)

    def take_out(self, host: Host, sequence: int, row: UrlRow) -> bool:
        """Stage the removal of a URL from its queue, for `add_again`; False if it was read already or is too far behind."""
        is_out = self._queues.withdraw(host, sequence, row.turn)
        if is_out:
            self._hosts.count_scheduled(host, -1)
        return is_out

    def add_due_visits(self) -> None:
        """Stage URLs whose next visit is due."""
        if self._clock.monotonic() < self._next_visits:
            return
        due = self._visits.take_due(self._clock.now(), _VISITS_AT_ONCE)
        if len(due) < _VISITS_AT_ONCE:
            self._next_visits = self._clock.monotonic() + _VISITS_EVERY_S
        for url_id in due:
            _, number, sequence = self._url_rows.ids.unpack(url_id)
            row, url = self._url_rows.read(pack_row(number, sequence))
            # A visit is stale if its URL was scheduled for another reason meanwhile, and may have a new visit by now.
            if row.state == DONE and 0 < row.next_visit < self._clock.now() + 0.001:
                self.add_again(self._hosts.get(number), sequence, row, url)

    def has_due_visits(self) -> bool:
        """Whether `add_due_visits` would find any."""
        is_time = bool(self._counts.future_visits) and self._clock.monotonic() >= self._next_visits
        return is_time and self._visits.has_due(self._clock.now())

    def _rate(self, host: Host, links: list[Discovered]) -> list[int]:
        if self._priority is None:
            return self._ratings.rate(host, links)
        return [min(max(self._priority(link), 0), LOWEST_PRIORITY) for link in links]

    def _add_new(self, host: Host, priority: int, keys: list[bytes], links: list[Discovered]) -> None:
        """Give new URLs of one host and priority consecutive sequences and one queue entry."""
        record = host.record
        first = self._hosts.find_sequence(host)
        room = max(self._url_rows.ids.max_sequence - first, 0)
        keys, links = keys[:room], links[:room]
        if not links:
            return
        self._sieve.put(keys, first)
        self._url_rows.table.put_many(_write_rows(host.number, first, links))
        record.next_sequence += len(links)
        self._counts.known += len(links)
        # The links of one page, or of a list of seeds, were all found in one way.
        record.is_seeded = record.is_seeded or links[0].found_as == _SEED
        self._queues.put(host, priority, first, len(links))
        self._hosts.count_scheduled(host, len(links))
        self._hosts.mark_changed(host)


def _write_rows(number: int, first: int, links: list[Discovered]) -> Iterator[tuple[bytes, bytes]]:
    """Keys and rows for the table of URLs; the facts that links of one page share are encoded once."""
    last_facts, encoded = None, b""
    for sequence, link in enumerate(links, first):
        facts = (link.via, link.depth, link.found_as, link.chain)
        if facts != last_facts:
            last_facts, encoded = facts, encode_fresh(link)
        yield pack_row(number, sequence), encoded + link.url.encode()


def _put_last(link: Discovered, priority: int, is_last: bool) -> int:
    """What others say of a site can wait, but for what a person asked for or the crawl itself needs."""
    return LOWEST_PRIORITY if is_last and link.found_as not in TRAP_EXEMPT_WAYS else priority


def _put_mirrored_last(host: Host, link: Discovered, priority: int) -> int:
    """What a mirror has can wait, but for what a person asked for."""
    is_last = link.found_as != _SEED and is_mirrored(host.record.repeats, link.url)
    return LOWEST_PRIORITY if is_last else priority
