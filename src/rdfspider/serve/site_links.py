"""The hosts around a site enter; a picture of those with most links, addresses and rows of them leave."""

from markupsafe import Markup

from rdfspider.search.site_neighbours import NeighbourHost, SiteNeighbours
from rdfspider.serve.neighbour_boxes import Box, draw_boxes
from rdfspider.serve.rendering import make_address, write_number

HOSTS_SHOWN = 10
"""In the picture, on each side."""


def draw_neighbours(site: str, neighbours: SiteNeighbours) -> Markup:
    """Draw the hosts with most links around the site; empty if there are none."""
    left = [_make_box(each, f"links to {site}") for each in neighbours.linked_from[:HOSTS_SHOWN]]
    right = [_make_box(each, f"is linked from {site}") for each in neighbours.links_to[:HOSTS_SHOWN]]
    return draw_boxes(site, left, right, "Hosts that link to it and hosts that it links to")


def locate_host(host: NeighbourHost) -> str:
    """The page of a host's site, or else what is known of its home page."""
    return make_address("/site", name=host.site) if host.site else make_address("/page", url=f"http://{host.host}/")


def list_neighbour_rows(neighbours: SiteNeighbours) -> list[tuple[str, str, int]]:
    """Rows for CSV, as the site's others: a kind, a name and a count."""
    rows = [("links to", each.host, each.links) for each in neighbours.links_to]
    return [*rows, *(("linked from", each.host, each.links) for each in neighbours.linked_from)]


def _make_box(host: NeighbourHost, what: str) -> Box:
    count = f"{write_number(host.links)} {'link' if host.links == 1 else 'links'}"
    return Box(locate_host(host), host.host, count, f"{host.host} {what} by {count}")
