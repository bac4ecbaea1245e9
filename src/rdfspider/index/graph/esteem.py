"""Which sites and pages the crawl should fetch sooner, and which hosts later: the ranks of a graph enter, a small table leaves.

Names are cheap: a site may have any number of hosts and pages that praise it. So only sites (registrable domains) have a vote,
one for each other site; those of farms have none, and nothing is held in esteem for which fewer than `MIN_VOTES` sites vote.
Sites are ordered by PageRank among sites that begins at those of the crawl's seeds, which a person chose: a vote weighs what its
voter weighs, and sites that praise each other gain little by it (TrustRank: Gyöngyi, Garcia-Molina and Pedersen, 2004). Those
whose rank comes from elsewhere, although many vote for them, come later, as hosts of farms do (spam mass: Gyöngyi and others,
2006).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rdfspider.index.graph.csr import Csr, HostGraph, Hosts, IntArray, make_csr, number_sites
from rdfspider.index.graph.fame import Farm
from rdfspider.index.graph.keys import read_key
from rdfspider.index.graph.mirrors import GroupReason
from rdfspider.index.graph.pagerank import rank_pages
from rdfspider.index.graph.state import State
from rdfspider.records import Esteem

MIN_VOTES = 3
"""Other sites that must link to a site or a page before that counts: two are easily had."""
MAX_SITES = 20_000
MAX_PAGES = 20_000
MAX_PAGE_CHARS = 500
"""Pages with longer URLs are not named: all of them go to the shards, perhaps each minute, and hardly any page has such a URL."""
MAX_LATE_HOSTS = 20_000
LATER = 2
"""By how many queues hosts of farms, all but one of the hosts of mirrors, and sites without trust come later."""
# The best sites come two queues sooner, others one: their shares of all sites to which any other links.
_BEST, _GOOD = 0.1, 0.3
# A site is without trust if its rank from the seeds is less than this share of that from all sites.
_TRUST = 0.3
# Pages that are named: at most this share of those that were fetched, as each has to be moved in its queue.
_PAGES_SHARE = 0.25
_CANDIDATES = 4


class _Sites(NamedTuple):
    names: list[str]
    of_host: NDArray[np.int64]


def find_esteem(
    state: State,
    links: Csr,
    scores: NDArray[np.float64],
    hosts: Hosts,
    host_graph: HostGraph,
    farms: Sequence[Farm],
    site_of: Callable[[str], str],
    seeds: Iterable[str],
) -> list[Esteem]:
    """Find what the crawl should know. `links` are those that pass rank on, `scores` what they give to pages; `host_graph` is
    made of them. `seeds` are the hosts of the crawl's seeds."""
    sites = _Sites(*number_sites(hosts.names, site_of))
    late = _list_late(farms, host_graph, scores, hosts)
    is_late = np.zeros(len(hosts.names), bool)
    is_late[[host for host, _ in late]] = True
    trusted = {site_of(seed) for seed in seeds}
    steps = _rate_sites(host_graph, sites, is_late, trusted)
    late_hosts: dict[int, dict[str, int]] = {}
    for host, step in late:
        late_hosts.setdefault(int(sites.of_host[host]), {})[hosts.names[host]] = step
    urls: dict[int, list[str]] = {}
    pages = _find_pages(state, links, scores, hosts, sites, is_late)
    for page, key in zip(pages, state.ids.read_all(pages), strict=True):
        if len(url := read_key(key)) <= MAX_PAGE_CHARS:
            urls.setdefault(int(sites.of_host[hosts.of_page[page]]), []).append(url)
    return [
        Esteem(sites.names[site], steps.get(site, 0), late_hosts.get(site, {}), tuple(urls.get(site, ())))
        for site in dict.fromkeys((*steps, *late_hosts, *urls))
    ]


def _list_late(
    farms: Sequence[Farm], host_graph: HostGraph, scores: NDArray[np.float64], hosts: Hosts
) -> list[tuple[int, int]]:
    """Hosts that come later, with their steps. Of a mirror, the host with the best page is taken for the original."""
    numbers = {name: number for number, name in enumerate(host_graph.names)}
    best = np.zeros(len(numbers))
    np.maximum.at(best, hosts.of_page, scores)
    late: dict[int, int] = {}
    for farm in farms:
        members = [numbers[name] for name in farm.hosts]
        if farm.reason == GroupReason.MIRROR:
            members.remove(max(members, key=lambda host: (best[host], -host)))
        late.update(dict.fromkeys(members, LATER))
        if len(late) >= MAX_LATE_HOSTS:
            break
    return list(late.items())[:MAX_LATE_HOSTS]


def _rate_sites(host_graph: HostGraph, sites: _Sites, is_late: NDArray[np.bool_], trusted: set[str]) -> dict[int, int]:
    """The steps of the sites that are held in esteem, and of those whose rank comes from elsewhere than from the seeds."""
    csr = host_graph.csr
    sources, targets = csr.list_sources(), csr.indices
    voters, elected = sites.of_host[sources], sites.of_host[targets]
    counts = (voters != elected) & ~is_late[sources]
    votes = make_csr(len(sites.names), [(voters[counts], elected[counts])])
    votes_in = np.bincount(votes.indices, minlength=votes.nodes)
    start = np.array([site in trusted for site in sites.names], np.float64)
    trust = rank_pages(votes, start=start / start.sum() if start.any() else None).scores
    order = np.argsort(-trust, kind="stable")
    linked = int((votes_in > 0).sum())
    best, good = int(_BEST * linked), min(int(_GOOD * linked), MAX_SITES)
    chosen = order[votes_in[order] >= MIN_VOTES][:good].tolist()
    steps = {site: -2 if place < best else -1 for place, site in enumerate(chosen)}
    if start.any():
        is_distrusted = (votes_in >= MIN_VOTES) & (trust < _TRUST * rank_pages(votes).scores)
        steps.update(dict.fromkeys(np.flatnonzero(is_distrusted)[:MAX_SITES].tolist(), LATER))
    return steps


def _find_pages(
    state: State,
    links: Csr,
    scores: NDArray[np.float64],
    hosts: Hosts,
    sites: _Sites,
    is_late: NDArray[np.bool_],
) -> list[int]:
    """The ids of pages that were not fetched, and for which several sites vote, ascending: the best by rank."""
    is_fetched = _find_fetched(state)
    limit = min(int(_PAGES_SHARE * is_fetched.sum()), MAX_PAGES)
    is_open = ~is_fetched & ~is_late[hosts.of_page]
    candidates = np.flatnonzero(is_open)
    if len(candidates) > _CANDIDATES * limit:
        candidates = candidates[np.argsort(-scores[candidates], kind="stable")[: _CANDIDATES * limit]]
        is_open[:] = False
        is_open[candidates] = True
    votes = _count_votes(links, is_open, hosts.of_page, sites.of_host, is_late)
    candidates = candidates[votes[candidates] >= MIN_VOTES]
    return sorted(candidates[np.argsort(-scores[candidates], kind="stable")[:limit]].tolist())


def _find_fetched(state: State) -> NDArray[np.bool_]:
    """Whether each page has a row. For a few that nobody links to any more, the next one is taken; that only costs its place."""
    is_fetched = np.zeros(state.ids.count + 1, bool)
    for part, ids in zip(state.parts, state.ids.maps, strict=True):
        rows = part.select_live(part.generation.list_sources())
        is_fetched[rows if ids is None else ids[rows]] = True
    return is_fetched[:-1]


def _count_votes(
    links: Csr, is_open: NDArray[np.bool_], of_page: IntArray, of_host: IntArray, is_late: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """How many other sites link to each of some pages."""
    wanted = np.flatnonzero(is_open[links.indices])
    targets = links.indices[wanted]
    sources = of_page[np.searchsorted(links.indptr, wanted, side="right") - 1]
    voters, own = of_host[sources], of_host[of_page[targets]]
    counts = (voters != own) & ~is_late[sources]
    votes = np.unique(targets[counts].astype(np.int64) << 32 | voters[counts])
    return np.bincount(votes >> 32, minlength=links.nodes)
