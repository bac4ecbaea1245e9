"""What links lead to most: pages, hosts and things; groups of hosts that repeat each other; and a path between two pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from rdfspider.errors import UnreadableError, UsageError
from rdfspider.run.page_requests import read_address
from rdfspider.search.found_links import FoundLink, LinkPath
from rdfspider.search.link_overview import HostGroup, LinkOverview, TopHost, TopPage, TopThing
from rdfspider.serve.page_links import KIND_WORDS, LINK_HEADS
from rdfspider.serve.rendering import clean_text, make_address
from rdfspider.serve.replies import CsvTable, PageReply, PageRequest, Parameter, SitePage
from rdfspider.urls import MAX_URL_CHARS

ROWS_SHOWN = 50
_MAX_PAGE = 100
_FARM_HOSTS_SHOWN = 12
_TITLES = {"pages": "Pages", "hosts": "Hosts", "things": "Things", "farms": "Mirrors and farms"}
_ABOUT = {
    "pages": "Pages by the number of other hosts with a page that links to them and vouches for it, then by the number of pages."
    " One without a place by rank redirects, names another as its canonical address, or is newer than the ranks.",
    "hosts": "Hosts by the number of other hosts that link to them and vouch for it.",
    "things": "Things inherit from the pages that are about them, and from data that names their address.",
    "farms": "Groups of hosts that repeat each other. The crawl visits them later, except the best host of each mirror.",
}
_REASONS = {
    "mirror": "mirror: the same paths, and the same links to other hosts",
    "farm": "farm: links to the same pages of other sites",
}


class LinksPageData(TypedDict):
    """What links lead to most, for JSON."""

    pages: int
    """Pages of the graph: those with links, and those to which links lead."""
    links: int
    is_counted: bool
    """Whether links were counted; if there are too many, the lists are those of the first by rank."""
    ranks_dated: float
    """When ranks were computed, in seconds since 1970; 0 if there are none."""
    top_pages: list[TopPage]
    top_hosts: list[TopHost]
    top_things: list[TopThing]
    farms: list[HostGroup]
    path: LinkPath | None
    """The path that was asked for by `from` and `to`."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The path that a request asks for."""

    source: str
    target: str
    path: LinkPath | None = None
    message: str = ""
    """Why there is no answer."""


def show_links(request: PageRequest) -> PageReply:
    """Show what links lead to most, and the path that is asked for."""
    overview = request.site.indexes.link_overview()
    asked = _find_path(request)
    chosen = request.get("list") if request.get("list") in _TITLES else "pages"
    rows = _list_rows(overview, chosen)
    page = request.get_number("page", 1, _MAX_PAGE)
    shown = rows[(page - 1) * ROWS_SHOWN : page * ROWS_SHOWN]
    hosts = [each.host for each in shown] if chosen == "hosts" else []
    context = {
        "overview": overview,
        "asked": asked,
        "chosen": chosen,
        "titles": _TITLES,
        "about": _ABOUT[chosen],
        "rows": shown,
        "start": (page - 1) * ROWS_SHOWN,
        "page": page,
        "pages": -(-len(rows) // ROWS_SHOWN),
        "sites": request.site.indexes.find_sites(hosts),
        "locate_host": _locate_host,
        "reasons": _REASONS,
        "most_hosts": _FARM_HOSTS_SHOWN,
        "kind_words": KIND_WORDS,
    }
    return PageReply(
        "links.html",
        context,
        data=lambda: _describe(overview, asked.path),
        table=lambda: _make_table(request, overview, asked.path),
    )


def _find_path(request: PageRequest) -> _Asked:
    source, target = (clean_text(request.get(name)[:MAX_URL_CHARS]) for name in ("from", "to"))
    asked = _Asked(source, target)
    if not (source and target):
        return asked
    try:
        links = request.site.indexes.links
        return _Asked(source, target, links.find_path(read_address(source), read_address(target)))
    except UsageError as error:
        if request.format != "html" or isinstance(error, UnreadableError):
            raise
        return _Asked(source, target, message=request.site.tell(error))


def _list_rows(overview: LinkOverview, name: str) -> Sequence[Any]:
    return {
        "pages": overview.top_pages,
        "hosts": overview.top_hosts,
        "things": overview.top_things,
        "farms": overview.farms,
    }[name]


def _locate_host(host: str, sites: dict[str, str]) -> str:
    """The page of a host's site, or else what is known of its home page."""
    return make_address("/site", name=sites[host]) if host in sites else make_address("/page", url=f"http://{host}/")


def _describe(overview: LinkOverview, path: LinkPath | None) -> LinksPageData:
    return {
        "pages": overview.pages,
        "links": overview.links,
        "is_counted": overview.is_counted,
        "ranks_dated": overview.ranks_dated,
        "top_pages": list(overview.top_pages),
        "top_hosts": list(overview.top_hosts),
        "top_things": list(overview.top_things),
        "farms": list(overview.farms),
        "path": path,
    }


def _make_table(request: PageRequest, overview: LinkOverview, path: LinkPath | None) -> CsvTable:
    name = request.get("list")
    if path and not name:
        return CsvTable(LINK_HEADS, [_make_step(link) for link in path.links])
    tables: dict[str, Callable[[], CsvTable]] = {
        "pages": lambda: CsvTable(
            ("url", "title", "hosts", "pages", "place"),
            [(one.url, one.title, *map(_write, (one.hosts, one.pages, one.place))) for one in overview.top_pages],
        ),
        "hosts": lambda: CsvTable(
            ("host", "hosts", "links", "place"),
            [(one.host, *map(_write, (one.hosts, one.links, one.place))) for one in overview.top_hosts],
        ),
        "things": lambda: CsvTable(
            ("id", "label", "hosts", "pages", "url"),
            [(one.id, one.label, one.hosts, one.pages, one.url) for one in overview.top_things],
        ),
        "farms": lambda: CsvTable(
            ("reason", "shared", "hosts"),
            [(one.reason, one.shared, " ".join(one.hosts)) for one in overview.farms],
        ),
    }
    if (name or "pages") not in tables:
        raise UsageError(f"list {name[:40]}: there is no such list; there are {', '.join(tables)}")
    return tables[name or "pages"]()


def _make_step(link: FoundLink) -> tuple[str, ...]:
    return link.url, link.title, " ".join(link.kinds), link.anchor, link.predicate


def _write(number: int | None) -> int | str:
    return "" if number is None else number


PAGES = (
    SitePage(
        "/links",
        show_links,
        "What links lead to most: pages, hosts and things; groups of hosts that repeat each other; a path between pages.",
        (
            Parameter("list", "pages, hosts, things or farms: which list is shown, or is the table of CSV."),
            Parameter("page", "Which page of the list, from 1 on.", kind="integer"),
            Parameter("from", "Find a path from this page."),
            Parameter("to", "Find a path to this page."),
        ),
        formats=("html", "json", "csv"),
        # All links are read, from time to time.
        is_heavy=True,
        answer=LinksPageData,
    ),
)
