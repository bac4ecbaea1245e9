"""The hosts around a site: a site enters, the hosts that it links to and those that link to it leave, with the number of links.

The pages of a site are neighbours in each dictionary, so only their rows are read, and nothing of the rest of the graph. What is
read is bounded: of a site with very many pages or links the counts are those of a part, which `is_cut` says.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rdfspider.index.graph.keys import END, find_host, make_key, read_host
from rdfspider.index.graph.manifest import Part
from rdfspider.index.graph.rows import RowsReader
from rdfspider.index.graph.varints import Flags, Numbers

_ROWS_A_STEP = 4096
_MAX_LINKS = 4_000_000
_MAX_HOSTS = 5_000
_ODD = b"!"


class HostLinks(NamedTuple):
    """A host, and how many links there are between its pages and those of the site."""

    host: str
    links: int


class SiteLinks(NamedTuple):
    """The hosts around a site, those with most links first. Its own hosts are not among them."""

    outward: list[HostLinks]
    """Hosts that it links to."""
    inward: list[HostLinks]
    """Hosts that link to it."""
    is_cut: bool
    """Whether there is more than was read: all numbers are then the least."""


class _Reading:
    """What is counted, and how much may still be read."""

    def __init__(self) -> None:
        self.counts: Counter[bytes] = Counter()
        """Links by the beginning of the keys of a host."""
        self.left = _MAX_LINKS
        self.is_cut = False


def count_site_links(parts: Iterable[Part], site: str) -> SiteLinks:
    """Count the links of a site, a registrable domain or a host, by the hosts at their other ends."""
    start, stop = _find_bounds(site)
    outward, inward = _Reading(), _Reading()
    for part in parts:
        dictionary = part.generation.dictionary
        first, last = dictionary.count_before(start), dictionary.count_before(stop)
        if first < last:
            sources = part.generation.list_sources()
            rows = int(np.searchsorted(sources, first)), int(np.searchsorted(sources, last))
            _count(outward, part, part.generation.forward, rows, (first, last), sources)
            _count(inward, part, part.generation.transposed, (first, last), (first, last), None)
    return SiteLinks(_rank(outward), _rank(inward), outward.is_cut or inward.is_cut)


def _find_bounds(site: str) -> tuple[bytes, bytes]:
    """Where the keys of a site begin, and where they end: `org,example)` and `org,example,www)` come before `org,example-x)`."""
    key = make_key(f"http://{site.lower()}/")
    if key[:1] == _ODD:
        return _ODD, _ODD
    beginning = key[: key.find(END)]
    return beginning + END, beginning + b"-"


def _count(
    reading: _Reading,
    part: Part,
    reader: RowsReader,
    rows: tuple[int, int],
    own: tuple[int, int],
    sources: Numbers | None,
) -> None:
    """Count the other ends of the links in some rows; `sources` are the pages with rows, None for rows of links to pages."""
    pieces: list[Numbers] = []
    for start in range(*rows, _ROWS_A_STEP):
        if reading.left <= 0:
            reading.is_cut = True
            break
        counts, ends = reader.list_rows(start, min(start + _ROWS_A_STEP, rows[1]))
        is_kept: Flags = (ends < own[0]) | (ends >= own[1])
        if sources is None:
            is_kept &= part.are_live(ends)
        else:
            is_kept &= np.repeat(part.are_live(sources[start : start + len(counts)]), counts)
        reading.left -= len(ends)
        pieces.append(ends[is_kept])
    if pieces:
        numbers, links = np.unique(np.concatenate(pieces), return_counts=True)
        _add_hosts(reading, part, numbers, links)


def _add_hosts(reading: _Reading, part: Part, numbers: Numbers, links: Numbers) -> None:
    """Count links by host: the pages of a host are one run, of which the first is read and the end is searched."""
    dictionary = part.generation.dictionary
    before = np.concatenate(([0], np.cumsum(links)))
    place = 0
    while place < len(numbers):
        if len(reading.counts) >= _MAX_HOSTS:
            reading.is_cut = True
            return
        host = find_host(dictionary.read(int(numbers[place])))
        end = place + 1
        if host[:1] != _ODD and end < len(numbers):
            # What follows `)` in the order of bytes ends the host.
            end = int(np.searchsorted(numbers, dictionary.count_before(host[:-1] + b"*")))
        reading.counts[host] += int(before[end] - before[place])
        place = max(end, place + 1)


def _rank(reading: _Reading) -> list[HostLinks]:
    by_host: Counter[str] = Counter()
    for beginning, links in reading.counts.items():
        by_host[read_host(beginning)] += links
    return [HostLinks(host, links) for host, links in sorted(by_host.items(), key=lambda each: (-each[1], each[0]))]
