"""The hosts around a site: its name enters; a picture and data of the hosts that it links to and that link to it leave."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rdfspider.errors import UnindexedError
from rdfspider.index.graph.site_links import HostLinks
from rdfspider.serve.neighbour_boxes import Box, draw_boxes
from rdfspider.serve.rendering import make_address, write_number
from rdfspider.serve.replies import PageRequest

HOSTS_SHOWN = 10
"""In the picture, on each side."""
_HOSTS_GIVEN = 200


@dataclass(frozen=True, slots=True)
class LinkedHostData:
    """A host beside a site."""

    host: str
    links: int
    """Links between its pages and those of the site."""
    site: str
    """The site of the host, if pages of it are indexed; else empty."""


@dataclass(frozen=True, slots=True)
class SiteNeighbours:
    """The hosts around a site, those with most links first; its own are not among them."""

    links_to: tuple[LinkedHostData, ...] = ()
    links_to_total: int = 0
    """How many hosts it links to."""
    linked_from: tuple[LinkedHostData, ...] = ()
    linked_from_total: int = 0
    """How many hosts link to it."""
    is_cut: bool = False
    """Whether not all links were read: then all numbers are the least."""


def read_neighbours(request: PageRequest, site: str) -> SiteNeighbours:
    """Read the hosts around a site; none if there is no graph yet."""
    indexes = request.site.indexes
    try:
        found = indexes.links.open_newest().count_site_links(site)
    except UnindexedError:
        return SiteNeighbours()
    shown = [*found.outward[:_HOSTS_GIVEN], *found.inward[:_HOSTS_GIVEN]]
    sites = indexes.find_sites(each.host for each in shown)
    return SiteNeighbours(
        _name_hosts(found.outward, sites),
        len(found.outward),
        _name_hosts(found.inward, sites),
        len(found.inward),
        found.is_cut,
    )


def draw_neighbours(site: str, neighbours: SiteNeighbours) -> Markup:
    """Draw the hosts with most links around the site; empty if there are none."""
    left = [_make_box(each, f"links to {site}") for each in neighbours.linked_from[:HOSTS_SHOWN]]
    right = [_make_box(each, f"is linked from {site}") for each in neighbours.links_to[:HOSTS_SHOWN]]
    return draw_boxes(site, left, right, "Hosts that link to it and hosts that it links to")


def locate_host(host: LinkedHostData) -> str:
    """The page of a host's site, or else what is known of its home page."""
    return make_address("/site", name=host.site) if host.site else make_address("/page", url=f"http://{host.host}/")


def list_neighbour_rows(neighbours: SiteNeighbours) -> list[tuple[str, str, int]]:
    """Rows for CSV, as the site's others: a kind, a name and a count."""
    rows = [("links to", each.host, each.links) for each in neighbours.links_to]
    return [*rows, *(("linked from", each.host, each.links) for each in neighbours.linked_from)]


def _name_hosts(hosts: Sequence[HostLinks], sites: dict[str, str]) -> tuple[LinkedHostData, ...]:
    return tuple(LinkedHostData(each.host, each.links, sites.get(each.host, "")) for each in hosts[:_HOSTS_GIVEN])


def _make_box(host: LinkedHostData, what: str) -> Box:
    count = f"{write_number(host.links)} {'link' if host.links == 1 else 'links'}"
    return Box(locate_host(host), host.host, count, f"{host.host} {what} by {count}")
