"""What the link graph says of sites: tables enter from time to time, hosts and URLs in other queues leave.

Hosts stand in the front queue that their step gives them (`frontier/hosts/queues.py`). URLs that are named move up once, if they
are still queued. Both is done in small portions, and only for what is new. A table is in memory only, and may be lost, late or
wrong: it changes the order of what is fetched, and nothing else.
"""

from collections import deque
from collections.abc import Sequence

from rdfspider.frontier.core import Core
from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.keys import PRIORITIES, pack_row
from rdfspider.frontier.url_rows import SCHEDULED
from rdfspider.frontier.urls.sieve import Sieve
from rdfspider.records import Esteem

URL_STEP = 2
"""By how many queues a URL that is named comes sooner within its host."""
# Sites that are looked at in one step; each takes some ten microseconds, and fifty for a host or URL that is moved.
_SITES_AT_ONCE = 8
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
        self._pending: deque[str] = deque()
        """Sites whose hosts and URLs have not been moved yet."""
        self._moved: set[str] = set()
        """URLs that were looked at, of those that are named."""

    @property
    def has_work(self) -> bool:
        """Whether there is anything to move."""
        return bool(self._pending)

    def take(self, table: Sequence[Esteem]) -> None:
        """Take a table in place of the one before."""
        self._steps.replace(table)
        before, self._known = self._known, {each.site: each for each in table}
        sites = self._known.keys() | before.keys()
        self._pending = deque(
            sorted(site for site in sites if before.get(site, _NOTHING) != self._known.get(site, _NOTHING))
        )
        self._moved.intersection_update(url for each in table for url in each.pages)

    def apply_some(self) -> None:
        """Stage what follows for some more sites."""
        for _ in range(min(_SITES_AT_ONCE, len(self._pending))):
            self._apply(self._pending.popleft())

    def _apply(self, site: str) -> None:
        named: dict[int, dict[int, str]] = {}
        for url in self._known.get(site, _NOTHING).pages:
            if url not in self._moved and url.startswith(_FETCHED) and (found := self._sieve.find(url)):
                self._moved.add(url)
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
        for sequence, priority in self._queues.find_unread(host, turns).items():
            better = max(priority - URL_STEP, _FIRST)
            if better < priority:
                row = rows[sequence]
                row.turn += 1
                self._queues.take_out(host, priority)
                self._queues.put(host, better, sequence, turn=row.turn)
                self._url_rows.put(pack_row(host.number, sequence), row, named[sequence])
                self._hosts.mark_changed(host)
