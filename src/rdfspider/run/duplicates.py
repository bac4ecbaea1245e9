"""Does a page repeat another one? Its body and its extraction enter; which page it repeats, and how, leave.

A page with the same bytes as one before it repeats that one, wherever both are; one with nearly the same text on the same site
does if it states the same too; one that says that it is not there repeats others that say so. `docs/duplicates.md` has the rules.
"""

from rdfspider.domains import Domains
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.mirrors import find_shared
from rdfspider.judge.judgement import Repetition
from rdfspider.judge.simhash import compute_likeness, digest_facts
from rdfspider.judge.soft404 import names_thing, says_absence
from rdfspider.records import Extraction, Lease
from rdfspider.run.peers.claims import Claims
from rdfspider.run.peers.messages import Repeated
from rdfspider.urls import host_of

# Smaller bodies are the same by chance: an empty list, a word, a pixel.
_MIN_BODY_BYTES = 64
# Pages in folders of their own that say that they are not there, before one with the same text is taken at their word.
_ABSENT_FOLDERS = 3


class Repetitions:
    """Compares the pages of one shard with all that were seen."""

    def __init__(self, frontier: Frontier, claims: Claims, domains: Domains) -> None:
        self._frontier = frontier
        self._claims = claims
        self._domains = domains

    async def find(self, lease: Lease, body: bytes, extraction: Extraction, digest: str) -> Repetition:
        """What the page repeats; from now on others can repeat it."""
        found = await self._find(lease, body, extraction, digest)
        if found.duplicate in ("exact", "near") and (shared := find_shared(lease.url, found.original)):
            # Whoever has the other page counts too which of two sites is the mirror.
            origin, other = shared
            self._claims.tell(self._domains.shard(host_of(found.original)), Repeated(other, origin))
        return found

    async def _find(self, lease: Lease, body: bytes, extraction: Extraction, digest: str) -> Repetition:
        is_absence = says_absence(extraction)
        if digest and len(body) >= _MIN_BODY_BYTES and not is_absence:
            first = await self._claims.claim(digest, lease.url)
            if first != lease.url:
                return Repetition(duplicate="exact", original=first)
        likeness = compute_likeness(extraction.text)
        if not likeness:
            return Repetition(duplicate="soft-404" if is_absence else "")
        return self._compare(lease, extraction, likeness, is_absence)

    def _compare(self, lease: Lease, extraction: Extraction, likeness: int, is_absence: bool) -> Repetition:
        """What the page repeats by its text."""
        facts = digest_facts(extraction)
        alike = self._frontier.contents.find_alike(lease, likeness, facts, is_absence)
        absent = [url for url, known in alike if known.is_absence]
        if is_absence:
            return Repetition(likeness, "soft-404", absent[-1] if absent else "")
        folders = {url.rpartition("/")[0] for url in (lease.url, *absent)}
        if len(folders) >= _ABSENT_FOLDERS and not names_thing(extraction):
            return Repetition(likeness, "soft-404", absent[-1])
        same = [url for url, known in alike if known.facts == facts and not known.is_absence]
        return Repetition(likeness, "near", same[-1]) if same else Repetition(likeness)
