"""What is thought of a page that has come: a capture and its extraction in, a Judgement out; and what follows from it.

What a page asks of crawlers is in its `meta` elements and its header; whether it repeats another page it may say itself, or is
known to the frontiers of this and of other shards. `docs/judgement.md` tells what each wish does.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from rdfspider.archive.warc import compute_digest
from rdfspider.discover.link_headers import read_link_headers
from rdfspider.domains import Domains
from rdfspider.extract.robots_directives import read_directives
from rdfspider.judge.samples import sample_copy, sample_page
from rdfspider.records import PREREQUISITE_REASONS, Capture, Extraction, Judgement, Lease, Robots, Verdict
from rdfspider.urls import host_of

_NO_WISHES = Robots()
_NOTHING_ASKED = Judgement()
_HEADER = "x-robots-tag"


class Repetition(NamedTuple):
    """How a page repeats another one; as in Judgement."""

    likeness: int = 0
    duplicate: str = ""
    original: str = ""


FindRepetition = Callable[[Lease, bytes, Extraction, str], Awaitable[Repetition]]
"""The lease, body, extraction and digest of a page in, what it repeats out; from then on others can repeat it."""


class Judge:
    """Judges the pages of one shard."""

    def __init__(self, domains: Domains, find_repetition: FindRepetition, drop: Callable[[str], str]) -> None:
        """What drops parameters is what links are made shorter by: only such addresses are ever asked for."""
        self._domains = domains
        self._find_repetition = find_repetition
        self._drop = drop

    async def judge(self, lease: Lease, capture: Capture, extraction: Extraction) -> Judgement:
        """What the page asks and repeats."""
        asked = self._judge_canonical(judge_wishes(capture, extraction, capture.started), capture, extraction)
        is_whole = capture.truncated in ("", "length")
        digest = compute_digest(capture.page.body) if is_whole and capture.page.body else ""
        found = Repetition(duplicate=asked.duplicate, original=asked.original)
        is_stand_in = lease.found_as == "sitemap" and not lease.chain
        if not (is_stand_in or asked.duplicate or asked.robots.noindex):
            # None of these may be what another page is taken to repeat.
            found = await self._find_repetition(lease, capture.page.body, extraction, digest)
        sample = sample_copy(extraction, digest) if found.duplicate == "exact" else sample_page(extraction)
        return msgspec.structs.replace(asked, digest=digest, **found._asdict(), **sample._asdict())

    def _judge_canonical(self, asked: Judgement, capture: Capture, extraction: Extraction) -> Judgement:
        """What the page says its address is. It is the page that it repeats, where that is another one of the same site: nobody
        decides what another site's pages are, and a page that names a stranger's is taken for itself."""
        url, canonical = capture.page.url, extraction.canonical
        if canonical is None and (canonical := _find_canonical_header(capture)):
            asked = msgspec.structs.replace(asked, wishes=(*asked.wishes, f"canonical {canonical} (Link)"))
        # A seed may have parameters that links lose, and name itself.
        if not canonical or canonical == url or (canonical := self._drop(canonical)) == url:
            return asked
        if self._domains.domain(host_of(canonical)) != self._domains.domain(host_of(url)):
            return asked
        return msgspec.structs.replace(asked, duplicate="canonical", original=canonical)


def judge_wishes(capture: Capture, extraction: Extraction | None, now: float) -> Judgement:
    """What a page and its server ask, the strictest of both; what was not read as a page has its header alone."""
    lists = _read_headers(capture, _HEADER)
    in_page = extraction.robots if extraction is not None else _NO_WISHES
    if not lists and in_page == _NO_WISHES:
        return _NOTHING_ASKED
    in_header = read_directives(lists, may_name=True)
    both = (in_header, in_page)
    moments = [robots.unavailable_after for robots in both if robots.unavailable_after]
    until = min(moments, default=0.0)
    robots = Robots(
        in_header.noindex or in_page.noindex or 0 < until <= now,
        in_header.nofollow or in_page.nofollow,
        in_header.noarchive or in_page.noarchive,
        until,
    )
    wishes = (*_name_wishes(in_header, "X-Robots-Tag"), *_name_wishes(in_page, "meta robots"))
    return Judgement(wishes=wishes, robots=robots)


def apply_judgement(verdict: Verdict, extraction: Extraction, judgement: Judgement) -> tuple[Verdict, Extraction]:
    """The verdict and what is kept of the page: of one that asks not to be indexed, neither data nor words."""
    if judgement.robots.noindex:
        # What serves the crawl alone, such as a sitemap, is in no index anyway.
        if verdict.reason not in PREREQUISITE_REASONS:
            verdict = msgspec.structs.replace(verdict, reason="noindex", rule="; ".join(judgement.wishes))
        extraction = replace(extraction, statements={}, text="", title=None)
    elif judgement.duplicate == "soft-404":
        verdict = msgspec.structs.replace(verdict, reason="soft-404")
    return verdict, extraction


def _find_canonical_header(capture: Capture) -> str:
    if not any("canonical" in value.lower() for value in _read_headers(capture, "link")):
        return ""
    links = read_link_headers(capture.headers, capture.page.url)
    return next((link.target for link in links if "canonical" in link.relation.lower().split()), "")


def _read_headers(capture: Capture, wanted: str) -> list[str]:
    size = len(wanted)
    return [value for name, value in capture.headers if len(name) == size and name.lower() == wanted]


def _name_wishes(robots: Robots, source: str) -> Iterator[str]:
    for name in ("noindex", "nofollow", "noarchive"):
        if getattr(robots, name):
            yield f"{name} ({source})"
    if robots.unavailable_after:
        try:
            moment = datetime.fromtimestamp(robots.unavailable_after, UTC)
        except (ValueError, OverflowError):
            return
        yield f"unavailable_after {moment:%Y-%m-%dT%H:%M:%SZ} ({source})"
