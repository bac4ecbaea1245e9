"""The priority of a URL: from its distance to a seed, the way it was found, and the yield of similar URLs.

0 is first: seeds, and URLs that serve the crawl itself. 7 is last: links of duplicates, and patterns that no longer give anything
new. In between, a pattern with much data comes up to two steps before others at its depth, and one without any up to two behind.
Unknown patterns are tried.
"""

from collections.abc import Sequence
from functools import lru_cache

from rdfspider.frontier.entries import LOWEST_PRIORITY, Counts
from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.learning.patterns import HostPatterns, Pattern, Patterns
from rdfspider.frontier.learning.url_patterns import find_pattern
from rdfspider.records import Discovered
from rdfspider.ways import WAYS, Way

SPENT = 8
"""The offset that puts a pattern whose budget is used up behind all others."""

# The step of a URL by its depth, if nothing else is known; the last applies to all greater depths.
_STEPS = (1, 2, 3, 4, 4, 4, 5)
# Ranks that override everything else.
_FIRST_RANK, _LAST_RANK = -8, 8
_BEST, _WORST = 1, LOWEST_PRIORITY - 1
# Quads per page, relative to the crawl's mean, from which a pattern comes two, one or no steps earlier; below, one later.
_RICH, _FAIR, _POOR = 1.5, 0.6, 0.15
_NOTHING = 0.01
# Pages without data after which a pattern or a host counts as barren.
_BARREN_VISITS = 5
# The number of a pattern's pages that its host's mean weighs as much as.
_HOST_VISITS = 2
# The share of its targets' yield that counts for a page, which has to be fetched too.
_LEAD_SHARE = 0.5


class Ratings:
    """Rates URLs by their patterns."""

    def __init__(self, patterns: Patterns, counts: Counts) -> None:
        self._patterns = patterns
        self._counts = counts

    def rate(self, host: Host, links: Sequence[Discovered]) -> list[int]:
        """The priorities of new links to one host, all found on one page."""
        known = self._patterns.of(host)
        page = self._patterns.page
        is_lead = page is not None and page.url_id == links[0].via
        if known is None:
            if page is not None and is_lead:
                page.leads = True
            return [_rate(link.depth, link.found_as, link.rank, 0) for link in links]
        known.passed = 0
        met: dict[str, Pattern | None] = {}
        offsets: dict[str, int] = {}
        rated = []
        has_trials = False
        for link in links:
            key = find_pattern(link.url)
            offset = offsets.get(key)
            if offset is None:
                pattern = met[key] = known.find(key)
                if pattern is not None:
                    offset = offsets[key] = self.rate_pattern(known, key, pattern)
                else:
                    offset = self._rate_unknown(known)
                    if known.try_out(key):
                        offset -= 1
                        has_trials = True
                    else:
                        offsets[key] = offset
            rated.append(_rate(link.depth, link.found_as, link.rank, offset))
        if page is not None and is_lead:
            page.leads = page.leads or has_trials
            page.lead_to(met)
        return rated

    def rate_pattern(self, known: HostPatterns, key: str, pattern: Pattern) -> int:
        """Steps before (below 0) or behind (above 0) a URL of which nothing is known."""
        if pattern.is_spent(key):
            return SPENT
        crawl = self._crawl_mean()
        if not crawl:
            return 0
        own = max(pattern.mean, _LEAD_SHARE * pattern.promise)
        if own < _NOTHING * crawl:
            return 2 if pattern.visits >= _BARREN_VISITS else 0
        share = (own * pattern.visits + known.total.mean * _HOST_VISITS) / (pattern.visits + _HOST_VISITS) / crawl
        return -2 if share >= _RICH else -1 if share >= _FAIR else 0 if share >= _POOR else 1

    def _rate_unknown(self, known: HostPatterns) -> int:
        crawl, total = self._crawl_mean(), known.total
        if total.mean < _NOTHING * crawl:
            return 1 if total.visits >= _BARREN_VISITS else 0
        return -1 if crawl and total.mean >= _FAIR * crawl else 0

    def _crawl_mean(self) -> float:
        return self._counts.quads / self._counts.pages if self._counts.pages else 0.0


def rate_again(depth: int, offset: int) -> int:
    """The priority of a queued URL whose pattern has turned out to be worse than expected."""
    return LOWEST_PRIORITY if offset >= SPENT else min(_find_step(depth) + offset, _WORST)


# The links of a page hardly differ in these, and every new link is rated.
@lru_cache(maxsize=1024)
def _rate(depth: int, found_as: Way, rank: int, offset: int) -> int:
    """The priority of a new URL, `offset` steps behind one of which nothing is known."""
    rank += WAYS[found_as].rank
    if found_as == Way.SEED or rank <= _FIRST_RANK:
        return 0
    if offset >= SPENT or rank >= _LAST_RANK:
        return LOWEST_PRIORITY
    return min(max(_find_step(depth) + offset + rank, _BEST), _WORST)


def _find_step(depth: int) -> int:
    return _STEPS[depth] if depth < len(_STEPS) else _STEPS[-1]
