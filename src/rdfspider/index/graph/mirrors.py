"""Mirrors and farms: links between pages and their hosts enter, groups of hosts leave that repeat each other, with the reason.

Hosts of a *mirror* have nearly the same paths, and link to the same pages elsewhere. Hosts of a *farm* link to nearly the same
pages of other sites. What many others have, too, tells nothing: paths that a program gives all its sites, or links to pages that
everybody knows. So a group must share enough that hardly anybody else has.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from rdfspider.index.graph.csr import Csr, Hosts, IntArray, make_csr, number_sites, split_rows
from rdfspider.index.graph.resemblance import group_alike

MIN_SHARED = 24
"""Paths or pages that a group must share: less is common to hosts that have nothing to do with each other."""
MIN_FARM_HOSTS = 3
MAX_GROUPS = 10_000

# The share of all that one or the other has which is common to hosts of a group; candidates are taken from a little below.
_RESEMBLANCE = 0.8
_CANDIDATE_RESEMBLANCE = 0.7
# The share of hosts of a group that have what is its own, and their share among all that have it.
_CORE_HOSTS = 0.8
_OWN_HOSTS = 0.5
# The share of what a group has in common that must be its own.
_OWN_SHARE = 0.5
# The share of a mirror's links to other hosts that the others of its group have.
_COMMON_LINKS = 0.5
_LINKS_A_PART = 4_000_000
_EXAMPLES = 5


class GroupReason(StrEnum):
    """Why hosts are a group."""

    MIRROR = "mirror"
    """The same paths, and the same links to other hosts."""
    FARM = "farm"
    """Links to the same pages of other sites."""


@dataclass(frozen=True, slots=True)
class HostGroup:
    """Hosts that repeat each other."""

    reason: GroupReason
    hosts: tuple[str, ...]
    shared: int
    """How many paths, or pages of other sites, they share that hardly any other host has."""
    examples: tuple[int, ...]
    """The ids of a few of these pages; of a mirror, those of its first host."""


@dataclass(frozen=True, slots=True, eq=False)
class _Items:
    """What each host has."""

    of_host: Csr
    hosts_having: IntArray
    """How many hosts have an item, or know the host that it belongs to."""


def hash_paths(urls: Iterable[str]) -> NDArray[np.uint64]:
    """Hashes of what follows the host in URLs in id order."""
    hashes = (xxh3_64_intdigest(url.partition("://")[2].partition("/")[2].encode(errors="replace")) for url in urls)
    return np.fromiter(hashes, np.uint64)


def find_groups(
    csr: Csr, hosts: Hosts, paths: NDArray[np.uint64], site_of: Callable[[str], str] = lambda host: host
) -> list[HostGroup]:
    """Find mirrors, and among the other hosts farms; the largest groups come first, and at most `MAX_GROUPS` are returned.

    `paths` are `hash_paths` of the URLs. `site_of` gives the site of a host, its registrable domain: links within a site are
    no sign of a farm. Give the graph of plain links, without redirects, canonical and data links.
    """
    _, sites = number_sites(hosts.names, site_of)
    links = _collect_links(csr, hosts)
    outside = hosts.of_page[links.indices] != links.list_sources()
    elsewhere = make_csr(len(hosts.names), [(links.list_sources()[outside], links.indices[outside])])
    groups = _find_mirrors(csr, hosts, paths, links, elsewhere)
    used = np.zeros(len(hosts.names), bool)
    for members, _, _ in groups:
        used[members] = True
    found = [_describe(GroupReason.MIRROR, hosts, *group) for group in groups]
    other_site = sites[hosts.of_page[elsewhere.indices]] != sites[elsewhere.list_sources()]
    targets = make_csr(len(hosts.names), [(elsewhere.list_sources()[other_site], elsewhere.indices[other_site])])
    found += [_describe(GroupReason.FARM, hosts, *group) for group in _find_farms(hosts, targets, used)]
    return sorted(found, key=lambda group: (-len(group.hosts), group.hosts))[:MAX_GROUPS]


def _describe(
    reason: GroupReason, hosts: Hosts, members: NDArray[np.int64], shared: int, examples: IntArray
) -> HostGroup:
    return HostGroup(reason, tuple(hosts.names[host] for host in members), shared, tuple(examples[:_EXAMPLES].tolist()))


def _collect_links(csr: Csr, hosts: Hosts) -> Csr:
    """The pages to which each host links."""
    pieces: list[tuple[IntArray, IntArray]] = []
    for first, last in split_rows(csr.indptr, _LINKS_A_PART):
        sources = np.repeat(hosts.of_page[first:last], np.diff(csr.indptr[first : last + 1]))
        part = make_csr(len(hosts.names), [(sources, csr.indices[csr.indptr[first] : csr.indptr[last]])])
        pieces.append((part.list_sources(), part.indices))
    return make_csr(len(hosts.names), pieces)


_Group = tuple[NDArray[np.int64], int, IntArray]
"""The hosts, how much they share, and pages as examples."""


def _find_mirrors(csr: Csr, hosts: Hosts, paths: NDArray[np.uint64], links: Csr, elsewhere: Csr) -> list[_Group]:
    """Groups of hosts with the same paths: those of their pages that have links, or to which they themselves link."""
    is_own = np.flatnonzero(csr.count_out() > 0)
    inside = links.indices[hosts.of_page[links.indices] == links.list_sources()]
    pages = np.union1d(is_own, inside)
    distinct, path_numbers = np.unique(paths[pages], return_inverse=True)
    of_host = make_csr(len(hosts.names), [(hosts.of_page[pages], path_numbers)])
    items = _Items(of_host, np.bincount(of_host.indices, minlength=len(distinct)))
    groups = []
    for members in _find_candidates(items, np.ones(len(hosts.names), bool)):
        verified = _verify(items, members, 2)
        if verified is None:
            continue
        # Some hosts may have the same pages by name only.
        agreeing = _keep_agreeing(hosts, elsewhere, verified[0])
        verified = _verify(items, agreeing, 2) if len(agreeing) > 1 else None
        if verified is None:
            continue
        members, own = verified
        examples = pages[(hosts.of_page[pages] == members[0]) & np.isin(path_numbers, own)]
        groups.append((members, len(own), examples))
    return groups


def _find_farms(hosts: Hosts, targets: Csr, used: NDArray[np.bool_]) -> list[_Group]:
    """Groups of hosts that link to the same pages of other sites."""
    # A page belongs to everybody if its host does: how many hosts link to that.
    hosts_linked = make_csr(targets.nodes, [(targets.list_sources(), hosts.of_page[targets.indices])])
    known = np.bincount(hosts_linked.indices, minlength=targets.nodes)
    items = _Items(targets, known[hosts.of_page])
    verified = (_verify(items, members, MIN_FARM_HOSTS) for members in _find_candidates(items, ~used))
    return [(group[0], len(group[1]), group[1]) for group in verified if group is not None]


def _find_candidates(items: _Items, allowed: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Groups of hosts that may have nearly the same items. Most hosts have too few, or too many that are theirs alone."""
    of_host = items.of_host
    counts = of_host.count_out()
    is_shared = np.bincount(of_host.indices, minlength=len(items.hosts_having))[of_host.indices] > 1
    shared = np.bincount(of_host.list_sources(), is_shared, of_host.nodes)
    hosts = np.flatnonzero(allowed & (counts >= MIN_SHARED) & (shared >= _CANDIDATE_RESEMBLANCE * counts))
    return [np.array(group) for group in group_alike(of_host, hosts, _CANDIDATE_RESEMBLANCE)]


def _verify(items: _Items, members: NDArray[np.int64], min_hosts: int) -> tuple[NDArray[np.int64], IntArray] | None:
    """The hosts that have nearly what most of the group have, and the items that are its own; None if these are too few."""
    # Without those that do not belong to it, a group may have more in common.
    for _ in range(2):
        if len(members) < min_hosts:
            return None
        core, _ = _find_core(items.of_host, members)
        members = np.array([host for host in members if _compare(items.of_host.list_out(host), core) >= _RESEMBLANCE])
    if len(members) < min_hosts:
        return None
    core, counts = _find_core(items.of_host, members)
    own = core[counts >= _OWN_HOSTS * items.hosts_having[core]]
    if len(own) < MIN_SHARED or len(own) < _OWN_SHARE * len(core):
        return None
    return members, own


def _find_core(of_host: Csr, members: NDArray[np.int64]) -> tuple[IntArray, NDArray[np.int64]]:
    """The items that most of some hosts have, and how many of these have each."""
    found, counts = np.unique(np.concatenate([of_host.list_out(host) for host in members]), return_counts=True)
    is_core = counts >= _CORE_HOSTS * len(members)
    return found[is_core], counts[is_core]


def _compare(one: IntArray, other: IntArray) -> float:
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / max(len(one) + len(other) - common, 1)


def _keep_agreeing(hosts: Hosts, elsewhere: Csr, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """The hosts whose links to hosts outside the group are, at least half of them, those of another host of the group."""
    links = [elsewhere.list_out(host) for host in members]
    links = [row[~np.isin(hosts.of_page[row], members)] for row in links]
    found, counts = np.unique(np.concatenate(links), return_counts=True)
    common = found[counts > 1]
    shares = [np.isin(row, common).mean() if len(row) else 1.0 for row in links]
    return members[np.array(shares) >= _COMMON_LINKS]
