"""Rates a graph: its newest committed state enters, the file of `fame.py` leaves: ranks of pages and hosts, farms and mirrors,
and what other sites call pages; and for the crawl the table of `esteem.py`.

Rank follows links that their page recommends: not those marked nofollow, ugc or sponsored. A page that redirects, or names
another of its site as its canonical URL, stands for that one: what links to it counts for its target, and so does its own rank;
it has none itself. What a page of another site names so is linked to like its other targets: nobody gives away all of a site's
rank by a line in a page, and copies on other sites are pages of their own. The same graph gives the same file, except for its
date, however it is spread over generations.
"""

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.index.graph.anchor_votes import count_votes
from rdfspider.index.graph.centrality import rank_hosts
from rdfspider.index.graph.csr import Csr, Hosts, make_csr, make_host_graph, number_sites, select_links
from rdfspider.index.graph.esteem import find_esteem
from rdfspider.index.graph.esteem_file import NAME as ESTEEM
from rdfspider.index.graph.esteem_file import save_esteem
from rdfspider.index.graph.fame import NAME as FAME
from rdfspider.index.graph.fame import Fame, Farm, hash_page, list_top, write_fame
from rdfspider.index.graph.keys import END, find_host, read_host, read_key, read_keys
from rdfspider.index.graph.kinds import UNFOLLOWED, LinkKind
from rdfspider.index.graph.manifest import Manifest, load_manifest, open_newest
from rdfspider.index.graph.mirrors import find_groups
from rdfspider.index.graph.pagerank import rank_pages
from rdfspider.index.graph.state import State
from rdfspider.index.layout import IndexPaths
from rdfspider.urls import host_of

# Chains of aliases are followed for 2^6 steps.
_DOUBLINGS = 6
_KEYS_A_PART = 65_536
_MAX_SEEDS = 1_000_000


class _Pages(NamedTuple):
    """What is known of the pages of a state, in the order of their ids."""

    hashes: NDArray[np.uint64]
    paths: NDArray[np.uint64]
    """Hashes of what follows the host in their URLs; 0 for pages of hosts of which no page was read."""
    hosts: Hosts


def rate_graph(paths: IndexPaths) -> bool:
    """Rate the newest state and write the file; False if there is none yet, or pages were forgotten meanwhile. Raise
    UnreadableError if the graph is damaged."""
    newest = open_newest(paths.graph)
    if newest is None:
        return False
    manifest, parts = newest
    state = State(parts)
    pages = _read_pages(state)
    site_of = _load_domains(paths.folder).domain
    farms = _find_farms(state, pages, site_of)
    _, sites = number_sites(pages.hosts.names, site_of)
    graph, targets = make_followed_graph(state, sites[pages.hosts.of_page])
    is_alias = targets != np.arange(len(targets))
    scores = rank_pages(graph).scores
    scores[is_alias] = 0.0
    host_graph = make_host_graph(graph, pages.hosts)
    top = list_top(scores).tolist()
    fame = Fame(
        state=mark_state(manifest),
        made_us=time.time_ns() // 1000,
        links=state.links,
        hashes=pages.hashes,
        scores=scores,
        top_keys=state.ids.read_all(top),
        hosts=host_graph.names,
        centrality=rank_hosts(host_graph.csr).scores,
        farms=farms,
        anchors=count_votes(state, _number_voters(pages.hosts, site_of, farms), targets),
        read_urls=lambda ids: read_keys(state.ids.read_all(ids)),
    )
    esteem = find_esteem(state, graph, scores, pages.hosts, host_graph, farms, site_of, _list_seeds(paths))
    if _has_forgotten_since(paths, manifest):
        return False
    # Ranks come last: they say which state was rated.
    save_esteem(paths.graph, esteem)
    write_fame(paths.graph, fame)
    if _has_forgotten_since(paths, manifest):
        # What was written just now names them.
        remove_ratings(paths.graph)
        return False
    return True


def _has_forgotten_since(paths: IndexPaths, manifest: Manifest) -> bool:
    now, rules = load_manifest(paths.graph), paths.forgotten.name
    return now is None or now.cursors.get(rules) != manifest.cursors.get(rules)


def remove_ratings(folder: Path) -> None:
    """Remove the ranks of a graph's folder and what follows from them, as they name pages that are forgotten. They are made
    again."""
    for name in (FAME, ESTEEM):
        (folder / name).unlink(missing_ok=True)


def mark_state(manifest: Manifest) -> int:
    """A number that differs from one state to the next, but not where only the position in the log differs."""
    return xxh3_64_intdigest(msgspec.msgpack.encode(manifest.generations)) >> 1


def make_followed_graph(state: State, sites: NDArray[np.int64]) -> tuple[Csr, NDArray[np.int64]]:
    """The links that pass rank on: those to an alias lead to the page for which it stands, and an alias has that link alone; and
    for each page the one for which it stands. `sites` are the sites of pages, as numbers."""
    links = state.load_csr(int(LinkKind.LINK), int(UNFOLLOWED))
    redirects, canonical = (state.load_csr(int(kind), 0) for kind in (LinkKind.REDIRECT, LinkKind.CANONICAL))
    own = select_links(canonical, sites[canonical.list_sources()] == sites[canonical.indices])
    pairs = [(csr.list_sources(), csr.indices) for csr in (redirects, own)]
    targets = resolve_aliases(make_csr(links.nodes, pairs))
    is_alias = targets != np.arange(links.nodes)
    numbers = np.flatnonzero(is_alias)
    if not len(numbers):
        return links, targets
    sources, ends = links.list_sources(), targets[links.indices]
    kept = ~is_alias[sources] & (sources != ends)
    return make_csr(links.nodes, [(sources[kept], ends[kept]), (numbers, targets[numbers])]), targets


def resolve_aliases(aliases: Csr) -> NDArray[np.int64]:
    """For each page that for which it stands in the end, mostly itself, given the one link of each alias. Pages that stand for
    each other in a circle, or after very many steps, stand for themselves."""
    own = np.arange(aliases.nodes)
    targets = own.copy()
    has_link = aliases.count_out() > 0
    targets[has_link] = aliases.indices[aliases.indptr[:-1][has_link]]
    ends = targets
    for _ in range(_DOUBLINGS):
        ends = ends[ends]
    return np.where(targets[ends] == ends, ends, own)


def _find_farms(state: State, pages: _Pages, site_of: Callable[[str], str]) -> list[Farm]:
    if len(pages.hosts.names) < 2:
        return []
    groups = find_groups(state.load_csr(int(LinkKind.LINK), 0), pages.hosts, pages.paths, site_of)
    return [
        Farm(group.reason, group.hosts, group.shared, tuple(map(read_key, state.ids.read_all(group.examples))))
        for group in groups
    ]


def _number_voters(hosts: Hosts, site_of: Callable[[str], str], farms: Sequence[Farm]) -> NDArray[np.int64]:
    """A number for the site of each page; hosts of a farm or of mirrors are one."""
    first_of = {host: farm.hosts[0] for farm in farms for host in farm.hosts}
    _, of_host = number_sites([first_of.get(name, name) for name in hosts.names], site_of)
    return of_host[hosts.of_page]


@lru_cache(maxsize=1)
def _load_domains(folder: Path) -> Domains:
    """The registrable domains of a crawl, which never change."""
    suffixes = folder / "suffixes.dat"
    return Domains(suffixes.read_bytes() if suffixes.exists() else bundled_suffix_list(), shards=1)


def _list_seeds(paths: IndexPaths) -> set[str]:
    """The hosts of the seeds of a crawl; none if it has none, or they cannot be read."""
    try:
        with paths.seeds.open(encoding="utf-8", errors="replace") as lines:
            return {host_of(line.strip()) for line in islice(lines, _MAX_SEEDS)}
    except OSError:
        return set()


def _read_pages(state: State) -> _Pages:
    """Read all keys once."""
    count = state.ids.count
    is_read = state.find_read()
    hashes, paths = np.empty(count, np.uint64), np.zeros(count, np.uint64)
    numbers: dict[str, int] = {}
    starts: list[int] = []
    hosts: list[int] = []
    beginning = b"\0"
    keys = chain.from_iterable(state.ids.list_keys())
    for start in range(0, count, _KEYS_A_PART):
        part = list(islice(keys, _KEYS_A_PART))
        end = start + len(part)
        hashes[start:end] = np.fromiter(map(hash_page, part), np.uint64, len(part))
        runs = [start]
        for place, key in enumerate(part, start):
            if not key.startswith(beginning):
                beginning = find_host(key)
                starts.append(place)
                hosts.append(numbers.setdefault(read_host(beginning), len(numbers)))
                # A host behind `!` is no beginning of its keys.
                beginning = beginning if beginning.endswith(END) else b"\0"
                runs.append(place)
        for first, last in pairwise((*runs, end)):
            # What goes on in another part may be of a host with pages there.
            if first == start or last == end or is_read[first:last].any():
                paths[first:last] = _hash_paths(part[first - start : last - start])
    bounds = np.array([*starts, count], np.int64)
    lengths = bounds[1:] - bounds[:-1]
    return _Pages(hashes, paths, Hosts(list(numbers), np.repeat(np.array(hosts, np.int32), lengths)))


def _hash_paths(keys: Sequence[bytes]) -> list[int]:
    return [xxh3_64_intdigest(key[key.find(b"/", key.find(END)) + 1 :]) for key in keys]
