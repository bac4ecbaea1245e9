"""A Capture and its Extraction enter, a Judgement leaves.

The functions of `judge` decide; this module gets what they need to know about other pages from the frontier and other shards.
Exact duplicates are found across the whole crawl, as one shard owns each digest; near duplicates only within a site.
"""

from collections.abc import Callable

from rdfspider.codes import DuplicateKind
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
from rdfspider.records import Capture, Extraction, Judgement, Lease
from rdfspider.run.peers.claims import Claims
from rdfspider.run.peers.messages import Repeated
from rdfspider.urls import host_of


class PageJudge:
    """Judges the pages of one shard, and registers them for comparison with later pages."""

    def __init__(self, frontier: Frontier, claims: Claims, domains: Domains, drop: Callable[[str], str]) -> None:
        """`drop` removes parameters from URLs, as for links."""
        self._frontier = frontier
        self._claims = claims
        self._domains = domains
        self._drop = drop

    async def judge(self, lease: Lease, capture: Capture, extraction: Extraction) -> Judgement:
        """Find a page's robots directives and whether it is a duplicate; later pages can be duplicates of it."""
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
        """Tell the shard of the original, which also counts which of two sites mirrors the other."""
        if shared := find_shared(url, original):
            origin, other = shared
            self._claims.tell(self._domains.shard(host_of(original)), Repeated(other, origin))
