"""Links of archived pages, found again: Outcomes enter, the Discovered links that followed from them leave.

What a page linked to is in its outcome: its links, `Link` headers and data. The caller runs a `data_links` query, as it may
take any time. Where robots.txt files are known, the sitemaps that they name are found again, and what those list.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rdfspider.archive.log import read_outcomes
from rdfspider.archive.outcomes import Outcome
from rdfspider.archive.segments import SegmentKind, kind_of, read_committed
from rdfspider.archive.warc_file import Damage
from rdfspider.codes import PREREQUISITE_REASONS, DuplicateKind, LeaseKind, Reason
from rdfspider.config import CrawlConfig
from rdfspider.discover.finder import Finder, follow_redirect
from rdfspider.domains import Domains
from rdfspider.errors import UsageError
from rdfspider.records import Capture, Discovered, Extraction, Judgement, Lease, Link, Page, Robots
from rdfspider.urls import host_of
from rdfspider.ways import Way, is_unfollowed

_log = logging.getLogger(__name__)


class ArchivedLinks:
    """Follows the links of archived pages once more."""

    def __init__(
        self,
        crawl: CrawlConfig,
        domains: Domains,
        is_inside: Callable[[str], bool],
        list_sitemaps: Callable[[Lease], Sequence[str]] | None = None,
    ) -> None:
        """`is_inside` tells whether a URL is in scope, `list_sitemaps` returns the sitemaps in the robots.txt of a page's origin.
        Without that, sitemaps are only scheduled by their own outcomes, to be fetched again."""
        self._follows_sitemaps = list_sitemaps is not None
        if list_sitemaps is None:
            crawl = replace(crawl, ways=tuple(way for way in crawl.ways if way != "sitemaps"))
        named = list_sitemaps or (lambda lease: ())
        self._finder = Finder(crawl, domains, is_inside=is_inside, list_sitemaps=named)
        self.query = self._finder.query
        """The query over a page's data whose results are links; empty if there is none."""

    def find(self, outcome: Outcome, url_id: int, *, is_own: bool, queried: Iterable[str] = ()) -> list[Discovered]:
        """The links of an outcome. `url_id` is the id of its URL, or 0; `is_own` tells whether this shard fetched it; `queried`
        has the results of the query."""
        if outcome.reason in PREREQUISITE_REASONS:
            if outcome.reason != Reason.SITEMAP or not is_own:
                return []
            link = Discovered(outcome.url, outcome.depth or 0, Way.SITEMAP, 0, outcome.redirected_from)
            return [link, *(self._follow(outcome, url_id, ()) if self._follows_sitemaps else ())]
        if outcome.reason == Reason.REDIRECT:
            return follow_redirect(_make_lease(outcome, url_id), outcome.target or None)
        if not 200 <= outcome.status < 300 or outcome.found_as == Way.IMPORT:
            return []
        return self._follow(outcome, url_id, queried)

    def _follow(self, outcome: Outcome, url_id: int, queried: Iterable[str]) -> list[Discovered]:
        headers = (("link", outcome.link),) if outcome.link else ()
        capture = Capture(Page(outcome.url, b""), outcome.status, "", "", headers, (), "", outcome.time, 0.0, 0)
        robots = Robots(nofollow="nofollow" in outcome.directives)
        judgement = Judgement(duplicate=read_duplicate(outcome), robots=robots)
        lease = _make_lease(outcome, url_id)
        return self._finder.find(lease, capture, make_extraction(outcome), judgement, queried)


def make_extraction(outcome: Outcome) -> Extraction:
    """What an outcome says of the data and links of its page."""
    links = tuple(_make_link(outcome, target) for target in outcome.outlinks)
    is_sitemap = outcome.reason == Reason.SITEMAP
    return Extraction(
        outcome.url, outcome.media_type, statements=outcome.statements, links=links, is_sitemap=is_sitemap
    )


def read_segments(segments: Mapping[str, tuple[Path, int]]) -> Iterator[Outcome]:
    """Read the outcomes of segments, given by name with path and length; the segment's name is their source."""
    for name, (path, length) in segments.items():
        try:
            for outcome in read_outcomes(path, name, 0, length, now=0.0, has_prerequisites=True):
                if not isinstance(outcome, Damage):
                    yield outcome
        except UsageError as error:
            _log.warning("the links of a segment are left out: %s", error)


def list_facts(warc: Path) -> dict[str, tuple[Path, int]]:
    """The segments with outcomes in the archive of one shard, as published now."""
    lengths = sorted(read_committed(warc).items())
    return {name: (warc / name, length) for name, length in lengths if kind_of(name) == SegmentKind.FACTS}


def read_way(outcome: Outcome) -> Way:
    """How the URL of an outcome was found; an unknown way counts as a link."""
    try:
        return Way(outcome.found_as)
    except ValueError:
        return Way.LINK


def read_duplicate(outcome: Outcome) -> DuplicateKind:
    """How the page of an outcome repeats another one; an unknown way counts as none."""
    try:
        return DuplicateKind(outcome.duplicate)
    except ValueError:
        return DuplicateKind.NONE


def _make_lease(outcome: Outcome, url_id: int) -> Lease:
    return Lease(
        LeaseKind.PAGE,
        host_of(outcome.url),
        0,
        outcome.url,
        url_id,
        outcome.depth or 0,
        read_way(outcome),
        chain=outcome.redirected_from,
    )


def _make_link(outcome: Outcome, target: str) -> Link:
    relation = outcome.relations.get(target, "")
    return Link(target, relation, outcome.anchors.get(target, ""), is_unfollowed(relation))
