"""What is linked to most: a state of the graph enters, the pages and hosts leave to which most other hosts link.

Each host has one vote, because a site links to its own pages from all others, and some to another site, too; only among equals
the number of pages decides. It reads all links once.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rdfspider.index.graph.keys import find_host, read_host, read_key
from rdfspider.index.graph.manifest import Part
from rdfspider.index.graph.state import State
from rdfspider.index.graph.varints import Flags, Numbers

_BATCH_ROWS = 16_384
_SPARE = 2
# What one vote counts: more than all pages that may link to a page.
_VOTE = 1 << 32
_NONE = np.empty(0, np.int64)


class LinkedPage(NamedTuple):
    """A page, and how much links to it."""

    url: str
    hosts: int
    """Other hosts with a page that links to it."""
    pages: int
    """Pages that link to it, those of its own host too."""


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
    names: dict[bytes, int] = {}
    hosts_of = [_number_hosts(part, names) for part in state.parts]
    ids = state.ids
    scores = np.zeros(ids.count, np.int64)
    pairs = _Pairs(len(names))
    for part, hosts, numbers in zip(state.parts, hosts_of, ids.maps, strict=True):
        for start, found in _score_pages(part, hosts, pairs):
            stop = start + len(found)
            if numbers is None:
                scores[start:stop] += found
            else:
                scored = np.flatnonzero(found)
                # Only what is linked to has a score, and so an id of its own.
                np.add.at(scores, numbers[start:stop][scored], found[scored])
    pages = _rank_pages(state, scores, hosts_of, count)
    scores[~_find_read(state)] = 0
    read_pages = _rank_pages(state, scores, hosts_of, count)
    return MostLinked(pages, _rank_hosts(list(names), pairs, count), read_pages)


def _find_read(state: State) -> Flags:
    """Which ids are of pages that have a row, and are not gone."""
    is_read = np.zeros(state.ids.count, np.bool_)
    for part, numbers in zip(state.parts, state.ids.maps, strict=True):
        sources = part.select_live(part.generation.list_sources()[~part.generation.list_removed()])
        is_read[sources if numbers is None else numbers[sources]] = True
    return is_read


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


def _number_hosts(part: Part, names: dict[bytes, int]) -> Numbers:
    """The number of the host of each key; `names` gets those that are new."""
    runs = [(find_host(key), length) for key, length in part.generation.dictionary.list_hosts()]
    hosts = [names.setdefault(host, len(names)) for host, _ in runs]
    return np.repeat(np.array(hosts, np.int64), np.array([length for _, length in runs], np.int64))


def _score_pages(part: Part, hosts: Numbers, pairs: _Pairs) -> Iterator[tuple[int, Numbers]]:
    """The score of each key, by hosts and pages that link to it, in pieces, each with the number of its first key."""
    for start, rows in part.generation.transposed.list_batches(_BATCH_ROWS):
        targets = np.repeat(np.arange(start, start + len(rows.counts)), rows.counts)
        is_live = part.are_live(rows.numbers)
        scores = np.bincount(targets[is_live] - start, minlength=len(rows.counts))
        own, other = hosts[targets], hosts[rows.numbers]
        is_kept = is_live & (own != other)
        targets, own, other = targets[is_kept], own[is_kept], other[is_kept]
        if not len(targets):
            yield start, scores
            continue
        pairs.add(other, own)
        # The pages of a host are neighbours, but for ports and odd URLs, which is near enough for a choice of candidates.
        is_next = (targets[1:] != targets[:-1]) | (other[1:] != other[:-1])
        voters = targets[np.concatenate(([True], is_next))]
        yield start, scores + _VOTE * np.bincount(voters - start, minlength=len(rows.counts))


def _rank_pages(state: State, scores: Numbers, hosts_of: list[Numbers], count: int) -> list[LinkedPage]:
    """The pages with the highest scores. A host may have a vote in each generation, so those near the top are counted again."""
    wanted = min(_SPARE * count if len(state.parts) > 1 else count, len(scores))
    if not wanted:
        return []
    chosen = np.argpartition(scores, len(scores) - wanted)[len(scores) - wanted :]
    found = []
    for page in np.sort(chosen).tolist():
        if scores[page]:
            key = state.ids.read(page)
            pages, hosts = _count_again(state, key, hosts_of)
            found.append(LinkedPage(read_key(key), hosts, pages))
    return sorted(found, key=lambda each: (-each.hosts, -each.pages, each.url))[:count]


def _count_again(state: State, key: bytes, hosts_of: list[Numbers]) -> tuple[int, int]:
    """How many pages and how many other hosts link to a page."""
    pages, voters, own = 0, [], -1
    for part, hosts in zip(state.parts, hosts_of, strict=True):
        number = part.generation.dictionary.find(key)
        if number is not None:
            sources = part.select_live(part.generation.transposed.read(number))
            own = int(hosts[number])
            pages += len(sources)
            voters.append(np.unique(hosts[sources]))
    found = np.unique(np.concatenate([_NONE, *voters]))
    return pages, len(found) - int(own in found)


def _rank_hosts(names: list[bytes], pairs: _Pairs, count: int) -> list[LinkedHost]:
    if not names:
        return []
    voters, links = pairs.count()
    order = np.lexsort((-links, -voters))[:count].tolist()
    return [LinkedHost(read_host(names[host]), int(voters[host]), int(links[host])) for host in order if voters[host]]
