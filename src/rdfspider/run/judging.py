"""A Capture and its Extraction enter, a Judgement leaves: the functions of `judge` decide, and what they must know of other pages
is asked here of the frontier and of other shards.

Who had a body first is known to one shard of the crawl; which pages have nearly the same text is known of each site alone.
"""

from collections.abc import Callable

from rdfspider.domains import Domains
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.origins import find_shared
from rdfspider.judge.judgement import (
    Duplicate,
    complete_judgement,
    digest_payload,
    has_comparable_body,
    is_comparable,
    judge_canonical,
    judge_directives,
    judge_similar,
    make_fingerprint,
)
from rdfspider.judge.soft404 import is_soft_404
from rdfspider.records import Capture, DuplicateKind, Extraction, Judgement, Lease
from rdfspider.run.peers.claims import Claims
from rdfspider.run.peers.messages import Repeated
from rdfspider.urls import host_of


class PageJudge:
    """Judges the pages of one shard, and lets others be compared with them."""

    def __init__(self, frontier: Frontier, claims: Claims, domains: Domains, drop: Callable[[str], str]) -> None:
        """`drop` takes parameters out of URLs, as it is done with links."""
        self._frontier = frontier
        self._claims = claims
        self._domains = domains
        self._drop = drop

    async def judge(self, lease: Lease, capture: Capture, extraction: Extraction) -> Judgement:
        """What the page asks, and how it duplicates others; from now on others can be duplicates of it."""
        judgement = judge_directives(capture, extraction, capture.started)
        judgement = judge_canonical(judgement, capture, extraction, self._domains, self._drop)
        digest = digest_payload(capture)
        found: Duplicate | None = None
        if is_comparable(lease, judgement):
            found = await self._find_duplicate(lease, capture, extraction, digest)
            if found.duplicate in (DuplicateKind.EXACT, DuplicateKind.NEAR):
                self._tell_owner(lease.url, found.original)
        return complete_judgement(judgement, extraction, digest, found)

    async def _find_duplicate(self, lease: Lease, capture: Capture, extraction: Extraction, digest: str) -> Duplicate:
        is_absent = is_soft_404(extraction)
        if not is_absent and has_comparable_body(capture, digest):
            first = await self._claims.claim(digest, lease.url)
            if first != lease.url:
                return Duplicate(duplicate=DuplicateKind.EXACT, original=first)
        fingerprint = make_fingerprint(extraction, is_soft_404=is_absent)
        if not fingerprint.simhash:
            return judge_similar(lease.url, extraction, fingerprint, ())
        return judge_similar(
            lease.url, extraction, fingerprint, self._frontier.contents.find_alike(lease, *fingerprint)
        )

    def _tell_owner(self, url: str, original: str) -> None:
        """The shard that has the other page counts too which of two sites is the mirror."""
        if shared := find_shared(url, original):
            origin, other = shared
            self._claims.tell(self._domains.shard(host_of(original)), Repeated(other, origin))
