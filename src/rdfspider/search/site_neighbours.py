"""The hosts around a site: its name enters; the hosts that it links to and those that link to it leave, with their sites."""

from collections.abc import Sequence
from dataclasses import dataclass

from rdfspider.index.graph.reader import GraphReader
from rdfspider.index.graph.site_links import HostLinks
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.results import NameKind
from rdfspider.search.profiles import find_count

HOSTS_LISTED = 200
"""In each direction."""


@dataclass(frozen=True, slots=True)
class NeighbourHost:
    """A host beside a site."""

    host: str
    links: int
    """Links between its pages and those of the site."""
    site: str
    """The site of the host, if pages of it are indexed; else empty."""


@dataclass(frozen=True, slots=True)
class SiteNeighbours:
    """The hosts around a site, those with most links first; its own are not among them."""

    links_to: tuple[NeighbourHost, ...] = ()
    links_to_total: int = 0
    """How many hosts it links to."""
    linked_from: tuple[NeighbourHost, ...] = ()
    linked_from_total: int = 0
    """How many hosts link to it."""
    is_cut: bool = False
    """Whether not all links were read: then all numbers are the least."""


def read_neighbours(reader: GraphReader, ledger: LedgerReader, site: str) -> SiteNeighbours:
    """Read the hosts around a site, a registrable domain or a host."""
    found = reader.count_site_links(site)
    return SiteNeighbours(
        _name_hosts(ledger, found.outward),
        len(found.outward),
        _name_hosts(ledger, found.inward),
        len(found.inward),
        found.is_cut,
    )


def _name_hosts(ledger: LedgerReader, hosts: Sequence[HostLinks]) -> tuple[NeighbourHost, ...]:
    counts = [(each, find_count(ledger, NameKind.SITE, each.host)) for each in hosts[:HOSTS_LISTED]]
    return tuple(NeighbourHost(each.host, each.links, count.name if count else "") for each, count in counts)
