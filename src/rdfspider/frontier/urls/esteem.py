"""What the link graph says of sites: tables enter from time to time, hosts and URLs in other queues leave.

Hosts stand in the front queue that their step gives them (`frontier/hosts/queues.py`). URLs that are named move up once, if they
are still queued, and near enough to the beginning of their host's queues to be found there. Both is done in small portions, and
only for what is new. A table is in memory only, and may be lost, late or wrong: it changes the order of what is fetched, and
nothing else.
"""

from collections import deque
from collections.abc import Iterator, Sequence

from rdfspider.frontier.core import Core
from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.keys import PRIORITIES, pack_row
from rdfspider.frontier.url_rows import SCHEDULED
from rdfspider.frontier.urls.sieve import Sieve
from rdfspider.records import Esteem

URL_STEP = 2
"""By how many queues a URL that is named comes sooner within its host."""
# Sites and URLs that are looked at in one step; each takes some ten microseconds, and fifty for a host or URL that is moved.
_SITES_AT_ONCE = 8
_URLS_AT_ONCE = 50
# Hosts of one site that are put into another queue at once; others go there after their next run.
_HOSTS_A_SITE = 200
_FIRST = 1
_FETCHED = ("http://", "https://")
_NOTHING = Esteem("")


class Esteems:
    """Applies tables to the queues."""

    def __init__(self, core: Core, sieve: Sieve) -> None:
        self._hosts = core.hosts
        self._queues = core.queues
        self._front_queues = core.front_queues
        self._url_rows = core.url_rows
        self._steps = core.steps
        self._sieve = sieve
        self._known: dict[str, Esteem] = {}
        self._pending: deque[tuple[str, list[str]]] = deque()
        """Sites whose hosts have not been moved yet, each as often as needed for the URLs of it that are to be moved."""
        self._moved: set[str] = set()
        """URLs that need not be looked at again, of those that are named."""

    @property
    def has_work(self) -> bool:
        """Whether there is anything to move."""
        return bool(self._pending)

    def take(self, table: Sequence[Esteem]) -> None:
        """Take a table in place of the one before."""
        self._steps.replace(table)
        before, self._known = self._known, {each.site: each for each in table}
        sites = self._known.keys() | before.keys()
        changed = sorted(site for site in sites if before.get(site, _NOTHING) != self._known.get(site, _NOTHING))
        self._moved.intersection_update(url for each in table for url in each.pages)
        # Sites that wait since an earlier table have changed since they were looked at, too.
        waiting = dict.fromkeys((*(site for site, _ in self._pending), *changed))
        self._pending = deque(part for site in waiting for part in self._split(site))

    def apply_some(self) -> None:
        """Stage what follows for some more sites."""
        looked_up = 0
        for _ in range(min(_SITES_AT_ONCE, len(self._pending))):
            site, urls = self._pending.popleft()
            self._apply(site, urls)
            looked_up += len(urls)
            if looked_up >= _URLS_AT_ONCE:
                return

    def _split(self, site: str) -> Iterator[tuple[str, list[str]]]:
        """A site with the URLs to move, in portions; at least one."""
        urls = [url for url in self._known.get(site, _NOTHING).pages if url not in self._moved]
        for start in range(0, max(len(urls), 1), _URLS_AT_ONCE):
            yield site, urls[start : start + _URLS_AT_ONCE]

    def _apply(self, site: str, urls: Sequence[str]) -> None:
        named: dict[int, dict[int, str]] = {}
        for url in urls:
            if url.startswith(_FETCHED) and (found := self._sieve.find(url)):
                named.setdefault(found[0], {})[found[1]] = url
        for number in dict.fromkeys((*named, *self._hosts.list_of_site(site, _HOSTS_A_SITE))):
            host = self._hosts.get(number)
            if number in named:
                self._move_up(host, named[number])
            self._put_in_place(host)

    def _put_in_place(self, host: Host) -> None:
        """Stage the move of an inactive host to the front queue where it belongs now."""
        record = host.record
        if host.is_active or not record.queued or not record.front_key or record.front_key[0] >= PRIORITIES:
            return
        if self._front_queues.choose(host) != record.front_key[0]:
            self._front_queues.put_front(host)
            self._hosts.mark_changed(host)

    def _move_up(self, host: Host, named: dict[int, str]) -> None:
        """Stage URLs of a host, given by their sequences, further ahead, if they are queued and not read yet."""
        rows = {sequence: self._url_rows.read(pack_row(host.number, sequence))[0] for sequence in named}
        turns = {sequence: row.turn for sequence, row in rows.items() if row.state == SCHEDULED}
        found = self._queues.find_unread(host, turns)
        self._moved.update(url for sequence, url in named.items() if sequence in found or sequence not in turns)
        for sequence, priority in found.items():
            better = max(priority - URL_STEP, _FIRST)
            if better < priority:
                row = rows[sequence]
                row.turn += 1
                self._queues.take_out(host, priority)
                self._queues.put(host, better, sequence, turn=row.turn)
                self._url_rows.put(pack_row(host.number, sequence), row, named[sequence])
                self._hosts.mark_changed(host)
