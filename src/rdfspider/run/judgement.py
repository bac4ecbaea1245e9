"""What is thought of a page that has come: a capture and its extraction in, a Judgement out; and what follows from it.

What a page asks of crawlers is in its `meta` elements and its header; whether it repeats another page is known to the frontiers
of this and of other shards.
"""

from dataclasses import replace

import msgspec

from rdfspider.archive.warc import compute_digest
from rdfspider.records import Capture, Extraction, Judgement, Lease, Verdict


class Judge:
    """Judges the pages of one shard."""

    async def judge(self, lease: Lease, capture: Capture, extraction: Extraction) -> Judgement:
        """What the page asks and repeats."""
        is_whole = capture.truncated in ("", "length")
        digest = compute_digest(capture.page.body) if is_whole and capture.page.body else ""
        return Judgement(digest=digest, robots=extraction.robots)


def apply_judgement(verdict: Verdict, extraction: Extraction, judgement: Judgement) -> tuple[Verdict, Extraction]:
    """The verdict and what is kept of the page: of one that asks not to be indexed, neither data nor words."""
    if judgement.robots.noindex:
        verdict = msgspec.structs.replace(verdict, reason="noindex", rule="; ".join(judgement.wishes))
        extraction = replace(extraction, statements={}, text="", title=None)
    return verdict, extraction
