"""What is linked to most: a state of the graph enters, the pages and hosts leave to which most other hosts link.

Each host has one vote, because a site links to its own pages from all others, and some to another site, too; only among equals
the number of pages decides. Links for which nobody vouches have none (nofollow, ugc, sponsored), nor have frames, which are
mostly advertisements and counters, nor redirects. All links are read once, or twice if there are several generations.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rdfspider.index.graph.keys import find_host, read_host, read_key
from rdfspider.index.graph.kinds import UNFOLLOWED, LinkKind
from rdfspider.index.graph.state import State
from rdfspider.index.graph.varints import Numbers

_WANTED = int(LinkKind.LINK | LinkKind.DATA)
_UNWANTED = int(UNFOLLOWED)
_SPARE = 2
# What one vote counts: more than all pages that may link to a page.
_VOTE = 1 << 32
# The keys of odd URLs come before this.
_AFTER_ODD = b'"'
_NONE = np.empty(0, np.int64)


class LinkedPage(NamedTuple):
    """A page, and how much links to it."""

    url: str
    hosts: int
    """Other hosts with a page that links to it and vouches for it."""
    pages: int
    """Such pages, those of its own host too."""


class LinkedHost(NamedTuple):
    """A host, and how much links to it."""

    host: str
    hosts: int
    """Other hosts that link to it."""
    links: int
    """Links from their pages."""


class MostLinked(NamedTuple):
    """The most linked pages and hosts, the first one most."""

    pages: list[LinkedPage]
    hosts: list[LinkedHost]
    read_pages: list[LinkedPage]
    """Those of the pages whose own links are known."""


def list_most_linked(state: State, count: int) -> MostLinked:
    """List the most linked pages and hosts, up to so many of each."""
    names: dict[str, int] = {}
    host_of = _number_hosts(state, names)
    pairs = _Pairs(len(names))
    scores = _score_pages(state, host_of, pairs)
    read_scores = np.where(state.find_read(), scores, 0)
    chosen = np.union1d(_choose(scores, _SPARE * count), _choose(read_scores, _SPARE * count))
    if not _is_exact(state):
        scores[chosen] = _score_again(state, host_of, chosen)
    pages = _rank_pages(state, chosen, scores, count)
    read_pages = _rank_pages(state, chosen[read_scores[chosen] > 0], scores, count)
    return MostLinked(pages, _rank_hosts(list(names), pairs, count), read_pages)


class _Pairs:
    """Pairs of hosts with the number of links between their pages."""

    def __init__(self, hosts: int) -> None:
        self._hosts = max(hosts, 1)
        self._keys, self._links = _NONE, _NONE

    def add(self, sources: Numbers, targets: Numbers) -> None:
        """Count links between hosts."""
        keys, links = np.unique(sources * self._hosts + targets, return_counts=True)
        joined, places = np.unique(np.concatenate((self._keys, keys)), return_inverse=True)
        counts = np.concatenate((self._links, links))
        self._links = np.bincount(places, weights=counts, minlength=len(joined)).astype(np.int64)
        self._keys = joined

    def count(self) -> tuple[Numbers, Numbers]:
        """How many hosts link to each, and by how many links."""
        targets = self._keys % self._hosts
        links = np.bincount(targets, weights=self._links, minlength=self._hosts).astype(np.int64)
        return np.bincount(targets, minlength=self._hosts), links


def _number_hosts(state: State, names: dict[str, int]) -> Numbers:
    """The number of the host of each page by id; `names` gets the hosts."""
    ids = state.ids
    host_of = np.zeros(ids.count + 1, np.int64)
    for part, numbers in zip(state.parts, ids.maps, strict=True):
        runs = [(read_host(find_host(key)), length) for key, length in part.generation.dictionary.list_hosts()]
        hosts = [names.setdefault(host, len(names)) for host, _ in runs]
        of_number = np.repeat(np.array(hosts, np.int64), np.array([length for _, length in runs], np.int64))
        # Of several numbers with one id the last is meant, and the last is what stays.
        host_of[slice(0, ids.count) if numbers is None else numbers] = of_number
    return host_of


def _list_votes(state: State, host_of: Numbers) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """The targets of all links that count, with the hosts of their sources and their own, in pieces."""
    for sources, targets in state.list_link_ids(_WANTED, _UNWANTED):
        if len(targets):
            yield targets, host_of[sources], host_of[targets]


def _score_pages(state: State, host_of: Numbers, pairs: _Pairs) -> Numbers:
    """The score of each id, by hosts and pages that link to it. The pages of a host are neighbours in each generation: a host
    votes once in each for a page."""
    scores = np.zeros(state.ids.count, np.int64)
    last_voters = np.full(state.ids.count, -1, np.int64)
    for targets, voters, own in _list_votes(state, host_of):
        _add(scores, targets, 1)
        is_other = voters != own
        pairs.add(voters[is_other], own[is_other])
        found, by = _split_pairs(np.unique(_join_pairs(targets[is_other], voters[is_other])))
        is_new = last_voters[found] != by
        _add(scores, found[is_new], _VOTE)
        # Only the last host of a piece can go on in the next.
        is_last = by == voters[-1]
        last_voters[found[is_last]] = by[is_last]
    return scores


def _is_exact(state: State) -> bool:
    """Whether no host can have voted twice: in one generation only those of odd URLs, whose pages are no neighbours."""
    return len(state.parts) == 1 and not state.parts[0].generation.dictionary.count_before(_AFTER_ODD)


def _choose(scores: Numbers, count: int) -> Numbers:
    """The ids with the highest scores, in their order."""
    count = min(count, len(scores))
    if not count:
        return _NONE
    chosen = np.argpartition(scores, len(scores) - count)[len(scores) - count :]
    return np.sort(chosen[scores[chosen] > 0])


def _score_again(state: State, host_of: Numbers, chosen: Numbers) -> Numbers:
    """The scores of some ids, with one vote of each host."""
    is_chosen = np.zeros(state.ids.count, np.bool_)
    is_chosen[chosen] = True
    scores = np.zeros(state.ids.count, np.int64)
    votes = _NONE
    for targets, voters, own in _list_votes(state, host_of):
        is_meant = is_chosen[targets]
        _add(scores, targets[is_meant], 1)
        is_meant &= voters != own
        votes = np.union1d(votes, _join_pairs(targets[is_meant], voters[is_meant]))
    _add(scores, _split_pairs(votes)[0], _VOTE)
    return scores[chosen]


def _add(scores: Numbers, places: Numbers, points: int) -> None:
    found, counts = np.unique(places, return_counts=True)
    scores[found] += points * counts


def _join_pairs(pages: Numbers, hosts: Numbers) -> Numbers:
    return pages << 32 | hosts


def _split_pairs(pairs: Numbers) -> tuple[Numbers, Numbers]:
    return pairs >> 32, pairs & (1 << 32) - 1


def _rank_pages(state: State, chosen: Numbers, scores: Numbers, count: int) -> list[LinkedPage]:
    """The pages among some with the highest scores."""
    urls = map(read_key, state.ids.read_all(chosen.tolist()))
    found = [LinkedPage(url, *divmod(score, _VOTE)) for url, score in zip(urls, scores[chosen].tolist(), strict=True)]
    return sorted(found, key=lambda each: (-each.hosts, -each.pages, each.url))[:count]


def _rank_hosts(names: list[str], pairs: _Pairs, count: int) -> list[LinkedHost]:
    if not names:
        return []
    voters, links = pairs.count()
    order = np.lexsort((-links, -voters))[:count].tolist()
    return [LinkedHost(names[host], int(voters[host]), int(links[host])) for host in order if voters[host]]
