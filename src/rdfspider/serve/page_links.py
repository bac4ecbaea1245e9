"""The links of one page for the inspector: a URL enters; where it leads, what leads there, and how others call it leave.

All of it is text of the web. What is read for one request is bounded: a part of the links, and the words of some.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict, TypeVar

from rdfspider.errors import OtherVersionError, UnreadableError, UsageError
from rdfspider.results import MAX_RESULTS, Rank
from rdfspider.search.found_links import FoundLink, FoundLinks
from rdfspider.search.link_overview import WORDS_READ
from rdfspider.serve.replies import CsvTable, PageRequest

LINKS_SHOWN = 50
MAX_PAGE = MAX_RESULTS // LINKS_SHOWN
WORDS_SHOWN = 20
_WORDS_GIVEN = 200
KIND_WORDS = {
    "nofollow": "not followed",
    "ugc": "written by users",
    "sponsored": "paid for",
    "redirect": "redirect",
    "canonical": "canonical address",
    "frame": "in a frame",
    "data": "data",
}
"""The kinds of links in words; that a link is one needs none."""
_T = TypeVar("_T")
LINK_HEADS = ("url", "title", "kinds", "anchor", "predicate")


@dataclass(frozen=True, slots=True)
class ShownLinks:
    """Some of the links of a page in one direction."""

    total: int = 0
    links: tuple[FoundLink, ...] = ()
    page: int = 1
    pages: int = 1


@dataclass(frozen=True, slots=True)
class Called:
    """The words that pages use for a page, commonest first."""

    others: tuple[tuple[str, int], ...] = ()
    """Texts of other sites, each with the number of sites that prefer it."""
    own: tuple[tuple[str, int], ...] = ()
    """Texts of the page's own site, each with the number of links."""
    is_sample: bool = False
    """Whether only some of the links were read: then the numbers are the least."""


class LinksData(TypedDict):
    """Links of a page in one direction, for JSON: a part of them, as chosen by the parameters `out` and `in`."""

    total: int
    pages: list[FoundLink]


class SiteWords(TypedDict):
    """What other sites call a page, for JSON."""

    text: str
    sites: int


class OwnWords(TypedDict):
    """What a page's own site calls it, for JSON."""

    text: str
    links: int


class CalledData(TypedDict):
    """The words that pages use for a page, for JSON."""

    others: list[SiteWords]
    own: list[OwnWords]
    is_sample: bool


def read_out_links(request: PageRequest, url: str) -> ShownLinks:
    """Read where a page leads; the parameter `out` says which part."""
    return _read(request, url, "out", request.site.indexes.links.list_out)


def read_in_links(request: PageRequest, url: str) -> ShownLinks:
    """Read what leads to a page; the parameter `in` says which part."""
    return _read(request, url, "in", request.site.indexes.links.list_in)


def read_called(request: PageRequest, url: str, in_links: int) -> Called:
    """Read what pages call a page that has so many links to it."""
    if not in_links:
        return Called()
    found = _ask(lambda: request.site.indexes.links.read_anchors(url))
    if found is None:
        return Called()
    is_sample = in_links > WORDS_READ
    return Called(tuple(found.others[:_WORDS_GIVEN]), tuple(found.own[:_WORDS_GIVEN]), is_sample)


def read_rank(request: PageRequest, url: str) -> Rank | None:
    """Read the rank of a page; None if it has none."""
    return _ask(lambda: request.site.indexes.page_rank(url))


def describe_links(shown: ShownLinks) -> LinksData:
    """Links for JSON."""
    return {"total": shown.total, "pages": list(shown.links)}


def describe_called(called: Called) -> CalledData:
    """Words for JSON."""
    return {
        "others": [{"text": text, "sites": sites} for text, sites in called.others],
        "own": [{"text": text, "links": links} for text, links in called.own],
        "is_sample": called.is_sample,
    }


def make_links_table(shown: ShownLinks) -> CsvTable:
    """Links for CSV."""
    rows = [(link.url, link.title, " ".join(link.kinds), link.anchor, link.predicate) for link in shown.links]
    return CsvTable(LINK_HEADS, rows)


def make_called_table(called: Called) -> CsvTable:
    """Words for CSV."""
    rows = [("other sites", text, sites, "") for text, sites in called.others]
    return CsvTable(
        ("who", "text", "sites", "links"), [*rows, *(("its own site", text, "", links) for text, links in called.own)]
    )


def _read(request: PageRequest, url: str, name: str, find: Callable[[str, int, int], FoundLinks]) -> ShownLinks:
    page = request.get_number(name, 1, MAX_PAGE)
    found = _ask(lambda: find(url, LINKS_SHOWN, (page - 1) * LINKS_SHOWN))
    if found is None:
        return ShownLinks()
    return ShownLinks(found.total, found.links, page, min(max(-(-found.total // LINKS_SHOWN), 1), MAX_PAGE))


def _ask(find: Callable[[], _T]) -> _T | None:
    """What is found of a page; None if the graph does not have it."""
    try:
        return find()
    except OtherVersionError:
        # The lookup of the page itself has reported that.
        return None
    except UnreadableError:
        raise
    except UsageError:
        return None
