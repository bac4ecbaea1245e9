"""The credit of hosts whose pages link to other sites: where their links led enters, how many more may come before last leaves.

A host knows best which pages it has, so its own links and sitemaps come before those of other sites. A link to another site that
is known already takes a credit of the linking host, and without any it comes last. A page at its end brings credit for more
links, a 404 costs some. Hosts begin with a little, and with nothing if those that led to them have lost theirs.

All of it is in memory and bounded; after a restart it is learned again.
"""

from typing import Any

from rdfspider.frontier.hosts.hosts import Host, Hosts
from rdfspider.frontier.keys import UrlIds
from rdfspider.records import Discovered

# Links that a host may have before the first result, how much credit it can have and owe, and what a page and a 404 change.
_FIRST, _MOST, _LEAST = 4.0, 256.0, -64.0
_FOR_PAGE, _FOR_MISSING = 2.0, -2.0
# What a domain owes when those that it introduced begin without credit.
_DISTRUSTED = -8.0
# URLs of a host that others may name before it has given a page: how else would it be found?
_KNOWN_URLS = 4
# Hosts and domains that are remembered; those met first are forgotten first.
_MAX_KNOWN = 8192


class Credits:
    """The credits of linking hosts, by host, and of the domains that led to them."""

    def __init__(self, hosts: Hosts, shard: int, ids: UrlIds) -> None:
        self._hosts = hosts
        self._ids = ids
        self._shard = shard
        self._by_host: dict[int, tuple[float, tuple[int, ...]]] = {}
        """Credit and line, by the id of the host."""
        self._by_domain: dict[int, float] = {}

    def spend(self, host: Host, links: list[Discovered]) -> list[bool]:
        """Whether each of the links of one page to a host comes last."""
        via = links[0].via
        if not via or self._is_own(host, via):
            return [False] * len(links)
        # A host that has given nothing yet is only known by others.
        free = 0 if host.record.pages else max(_KNOWN_URLS - host.record.urls, 0)
        source = self._host_of(via)
        credit, line = self._by_host.get(source) or self._begin(via, links[0].line)
        are_last = []
        for number in range(len(links)):
            is_last = number >= free and credit < 1.0
            if number >= free and not is_last:
                credit -= 1.0
            are_last.append(is_last)
        self._put(source, credit, line)
        return are_last

    def learn(self, host: Host, via: int, *, is_page: bool) -> None:
        """Count where a link of another site led."""
        known = self._by_host.get(self._host_of(via))
        if known is None or self._is_own(host, via):
            return
        change = _FOR_PAGE if is_page else _FOR_MISSING
        self._put(self._host_of(via), _change(known[0], change), known[1])
        for domain in known[1]:
            self._by_domain[domain] = _change(self._by_domain.get(domain, 0.0), change)
        _forget_first(self._by_domain)

    def _is_own(self, host: Host, via: int) -> bool:
        """Whether a page is of the same site; all hosts of a site are in one shard."""
        shard, number, _ = self._ids.unpack(via)
        return shard == self._shard and self._hosts.are_of_one_site(number, host)

    def _begin(self, via: int, line: tuple[int, ...]) -> tuple[float, tuple[int, ...]]:
        shard, number, _ = self._ids.unpack(via)
        if shard == self._shard:
            line = self._hosts.line_below(number)
        is_distrusted = any(self._by_domain.get(domain, 0.0) < _DISTRUSTED for domain in line)
        return 0.0 if is_distrusted else _FIRST, line

    def _host_of(self, url_id: int) -> int:
        """The id of a URL's host, over all shards: that of its first URL."""
        shard, number, _ = self._ids.unpack(url_id)
        return self._ids.pack(shard, number, 0)

    def _put(self, source: int, credit: float, line: tuple[int, ...]) -> None:
        self._by_host[source] = (credit, line)
        _forget_first(self._by_host)


def _change(credit: float, change: float) -> float:
    return min(max(credit + change, _LEAST), _MOST)


def _forget_first(known: dict[int, Any]) -> None:
    while len(known) > _MAX_KNOWN:
        del known[next(iter(known))]
