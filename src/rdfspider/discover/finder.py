"""What an exchange leads to: a lease and what came of it in, Discovered URLs out, each once."""

from rdfspider.discover.ways import WAYS
from rdfspider.records import Capture, Discovered, Extraction, Judgement, Lease

# Steps of priority that put links behind all others.
LAST = 8


class Finder:
    """Finds what pages lead to, by all the ways that are wanted."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth

    def find(self, lease: Lease, capture: Capture, extraction: Extraction, judgement: Judgement) -> list[Discovered]:
        """What a page leads to; nothing where the page asks that, or where it is deep enough."""
        depth = lease.depth + 1
        if judgement.robots.nofollow or (self._max_depth and depth > self._max_depth):
            return []
        rank = LAST if judgement.duplicate else 0
        targets = dict.fromkeys(link.target for link in extraction.links if not link.nofollow)
        return [Discovered(target, depth, "link", lease.url_id, rank=rank) for target in targets]


def follow_redirect(lease: Lease, target: str | None) -> list[Discovered]:
    """The target of a redirect, with the chain that led to it; a seed's is a seed, an errand's the same errand."""
    if target is None or target == lease.url:
        return []
    is_kept = lease.found_as == "seed" or not WAYS.get(lease.found_as, WAYS["link"]).is_scoped
    found_as = lease.found_as if is_kept else "redirect"
    return [Discovered(target, lease.depth, found_as, lease.url_id, (*lease.chain, lease.url))]
