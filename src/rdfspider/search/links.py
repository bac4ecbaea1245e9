"""`Links`, who links to whom: URLs enter, links with their titles, kinds and words leave, and shortest paths between pages.

It joins the link graph and the ledger, which knows the titles of pages. Each answer is of one committed state of the graph, the
newest.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise

from rdfspider.errors import UnindexedError, UsageError
from rdfspider.index.graph.kinds import UNFOLLOWED, LinkKind
from rdfspider.index.graph.manifest import mark_manifest
from rdfspider.index.graph.reader import Anchors, GraphLink, GraphReader
from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger.reader import open_ledger
from rdfspider.results import MAX_RESULTS
from rdfspider.search.found_links import Direction, FoundLink, FoundLinks, LinkPath
from rdfspider.urls import normalise_url
from rdfspider.vocabulary.terms import replace_surrogates

MAX_STEPS = 10
"""How long a path is looked for, unless more or less is asked for."""
MOST_STEPS = 100
MAX_LIMIT = MAX_RESULTS
# A path is given up when so many pages were seen, or the links of so many were read: half a minute at most.
_SEEN_PAGES = 2_000_000
_READ_PAGES = 200_000
# Of more links than these to a page, it is not looked which ones are of pages that have changed.
_COUNTED_LINKS = 10_000
_CACHED_COUNTS = 100_000
# Links that are read at most to find those that are followed.
_READ_LINKS = 2 * MAX_RESULTS

_Reached = dict[int, int]
"""Pages by id, each with the one from which it was reached."""


class Links:
    """The links of one crawl's pages; for any number of threads.

    Methods raise UnindexedError if there is no graph yet, UnreadableError if it is damaged; UsageError for a page that it
    does not have.
    """

    def __init__(self, paths: IndexPaths) -> None:
        self._paths = paths
        self._lock = threading.Lock()
        self._reader: GraphReader | None = None
        self._mark = (0, 0)
        self._counter: tuple[GraphReader, Callable[[str], int]] | None = None

    def open_newest(self) -> GraphReader:
        """The newest state of the graph. It never changes, also while others ask for newer ones, so that its ids stay what they
        are; do not refresh or close it."""
        with self._lock:
            mark = mark_manifest(self._paths.graph)
            if self._reader is None or mark != self._mark:
                # What was opened is at least as new as the mark.
                self._reader, self._mark = GraphReader(self._paths), mark
            return self._reader

    def close(self) -> None:
        """Release the files once nobody uses them any more; the next call opens them again."""
        with self._lock:
            self._reader = self._counter = None

    def find(self, url: str) -> str | None:
        """A page as the graph calls it, by this spelling of its URL or the normal one; None if it has no links, in or out."""
        return _find_page(self.open_newest(), url)

    def count_in(self, url: str) -> int:
        """How many pages link to a page; 0 if it is not known, or if there is no graph yet."""
        reader = self._open_if_there()
        page = _find_page(reader, url) if reader else None
        return reader.count_in(page) if reader and page else 0

    def count_out(self, url: str) -> int:
        """How many pages a page links to; 0 if it is not known, or if there is no graph yet."""
        reader = self._open_if_there()
        page = _find_page(reader, url) if reader else None
        return reader.count_out(page) if reader and page else 0

    def open_counter(self) -> Callable[[str], int]:
        """A function that counts the pages that link to a page, by the newest state: as `count_in`, but for just this spelling,
        and fast also where there are very many. Search ranks with it; counts are kept while the state is the newest."""
        reader = self._open_if_there()
        if reader is None:
            return lambda url: 0
        with self._lock:
            if self._counter is None or self._counter[0] is not reader:
                counted = lru_cache(_CACHED_COUNTS)(partial(reader.count_in, exact_up_to=_COUNTED_LINKS))
                self._counter = (reader, counted)
            return self._counter[1]

    def list_out(self, url: str, limit: int = 20, offset: int = 0, *, nofollow: bool = True) -> FoundLinks:
        """Some of the links of a page, in the order of hosts and paths; without `nofollow` only those that are followed."""
        reader, page = self._find(url)
        total = reader.count_out(page)
        return self._list(Direction.OUT, page, reader.read_links, total, (limit, offset), nofollow)

    def list_in(self, url: str, limit: int = 20, offset: int = 0, *, nofollow: bool = True) -> FoundLinks:
        """Some of the links to a page, in the same way."""
        reader, page = self._find(url)
        total = reader.count_in(page)
        return self._list(Direction.IN, page, reader.read_backlinks, total, (limit, offset), nofollow)

    def read_anchors(self, url: str) -> Anchors:
        """The words that pages use for a page: those of other sites, with how many sites use them, and those of its own."""
        reader, page = self._find(url)
        return reader.read_anchors(page)

    def find_path(self, source: str, target: str, max_steps: int = MAX_STEPS) -> LinkPath:
        """A shortest path from one page to another by links of any kind; of several, always the same one."""
        if not 1 <= max_steps <= MOST_STEPS:
            raise UsageError(f"a path has 1 to {MOST_STEPS} steps, not {max_steps}")
        reader, first = self._find(source)
        last = _find_page(reader, target)
        if last is None:
            raise UsageError(_tell_unknown(reader, target))
        start, end = reader.find(first), reader.find(last)
        if start is None or end is None:
            raise UsageError(_tell_unknown(reader, first if start is None else last))
        pages, is_given_up = _search_path(reader, start, end, max_steps)
        urls = [reader.read_url(page) for page in pages]
        steps = [next(link for link in reader.read_links(one) if link.url == other) for one, other in pairwise(urls)]
        return LinkPath(first, last, tuple(self._make_links(steps)), bool(pages), is_given_up)

    def _open_if_there(self) -> GraphReader | None:
        try:
            return self.open_newest()
        except UnindexedError:
            return None

    def _find(self, url: str) -> tuple[GraphReader, str]:
        reader = self.open_newest()
        page = _find_page(reader, url)
        if page is None:
            raise UsageError(_tell_unknown(reader, url))
        return reader, page

    def _list(
        self,
        direction: Direction,
        page: str,
        read: Callable[[str, int | None, int], list[GraphLink]],
        total: int,
        window: tuple[int, int],
        nofollow: bool,
    ) -> FoundLinks:
        limit, offset = window
        if not 1 <= limit <= MAX_LIMIT:
            raise UsageError(f"1 to {MAX_LIMIT:,} links are given at once, not {limit:,}")
        if offset < 0 or offset + limit > MAX_RESULTS:
            raise UsageError(f"only the first {MAX_RESULTS:,} links can be listed; `rdfspider export --graph` has all")
        if nofollow:
            return FoundLinks(page, direction, tuple(self._make_links(read(page, limit, offset))), total, offset)
        wanted = offset + limit
        size = min(wanted, _READ_LINKS)
        while True:
            links = read(page, size, 0)
            followed = [link for link in links if not link.kind & UNFOLLOWED]
            if len(followed) >= wanted or len(links) < size or size == _READ_LINKS:
                break
            size = min(2 * size, _READ_LINKS)
        shown = self._make_links(followed[offset:wanted])
        return FoundLinks(page, direction, tuple(shown), total, offset, len(links) - len(followed))

    def _make_links(self, links: Iterable[GraphLink]) -> list[FoundLink]:
        """Links with the titles of their other ends."""
        with open_ledger(self._paths) as ledger:
            entries = [(link, ledger.find_page(link.url)) for link in links]
        return [
            FoundLink(
                link.url,
                entry.title if entry else "",
                name_kinds(link.kind),
                link.anchor,
                link.predicate,
                is_followed=not link.kind & UNFOLLOWED,
                is_indexed=entry is not None,
            )
            for link, entry in entries
        ]


def name_kinds(kind: LinkKind) -> tuple[str, ...]:
    """The kinds of a link in words."""
    return tuple(str(each.name).lower() for each in LinkKind if kind & each)


def _find_page(reader: GraphReader, url: str) -> str | None:
    plain = replace_surrogates(url.partition("#")[0]).strip()
    spellings = [plain, normalise_url(plain)]
    if "://" not in plain:
        spellings += [normalise_url(f"{scheme}://{plain}") for scheme in ("https", "http")]
    return next((each for each in dict.fromkeys(spellings) if each and reader.has_page(each)), None)


def _tell_unknown(reader: GraphReader, url: str) -> str:
    shown = url if len(url) <= 200 else f"{url[:200]}…"
    near = next((each for each in _list_near(url) if reader.has_page(each)), "")
    hint = f"is {near} meant?" if near and len(near) <= 200 else "find pages with `rdfspider search`"
    return f"no indexed page links to {shown!r}, and it has no links: {hint}"


def _list_near(url: str) -> Iterator[str]:
    """What may be meant by a URL: with or without the slash at its end, `www.` and the other scheme."""
    scheme, mark, rest = (normalise_url(url if "://" in url else f"https://{url}") or "").partition("://")
    if not mark:
        return
    ends = (rest, rest.removesuffix("/") if rest.endswith("/") else f"{rest}/")
    other = rest.removeprefix("www.") if rest.startswith("www.") else f"www.{rest}"
    for name in (*ends, other):
        for each in (scheme, "http" if scheme == "https" else "https"):
            yield f"{each}://{name}"


def _search_path(reader: GraphReader, start: int, end: int, max_steps: int) -> tuple[Sequence[int], bool]:
    """The ids of the pages of a shortest path, none if none was found; and whether the search was given up.

    It goes from both ends, from level to level, always where fewer pages wait: the first page that both sides have reached is on
    a shortest path."""
    if start == end:
        return [start], False
    sides: tuple[_Reached, _Reached] = ({start: start}, {end: end})
    levels = [[start], [end]]
    read_pages = 0
    for _ in range(max_steps):
        side = int(len(levels[1]) < len(levels[0]))
        list_next = reader.list_in if side else reader.list_out
        reached, others = sides[side], sides[1 - side]
        found: list[int] = []
        for page in levels[side]:
            read_pages += 1
            next_pages = list_next(page)
            if read_pages > _READ_PAGES or len(reached) + len(others) + len(next_pages) > _SEEN_PAGES:
                return [], True
            for other in next_pages.tolist():
                if other not in reached:
                    reached[other] = page
                    found.append(other)
                    if other in others:
                        return _join(sides, other), False
        if not found:
            return [], False
        levels[side] = found
    return [], True


def _join(sides: tuple[_Reached, _Reached], middle: int) -> list[int]:
    """The path through a page that both sides have reached."""
    halves = []
    for reached in sides:
        half = [middle]
        while reached[half[-1]] != half[-1]:
            half.append(reached[half[-1]])
        halves.append(half)
    return [*reversed(halves[0]), *halves[1][1:]]
