"""Robots directives and duplicates: a Capture, its Extraction and what is known about other pages enter, a Judgement leaves.

The robots directives and the canonical URL come from the page's `meta` and `link` elements and its headers; which pages have the
same bytes or nearly the same text is asked through two functions that a `PageJudge` is given. Exact duplicates are found across
the whole crawl, near duplicates only within a site. `docs/judgement.md` lists what each directive does, `docs/duplicates.md` what
makes a duplicate.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from rdfspider.archive.warc import compute_digest
from rdfspider.codes import PREREQUISITE_REASONS, DuplicateKind, Reason, Truncation
from rdfspider.discover.link_headers import read_link_headers
from rdfspider.domains import Domains
from rdfspider.extract.robots_directives import read_directives
from rdfspider.judge.bottom_k import sample_copy, sample_page
from rdfspider.judge.simhash import compute_simhash, digest_statements
from rdfspider.judge.soft404 import describes_entity, is_soft_404
from rdfspider.records import Capture, Extraction, Fingerprint, Judgement, Lease, Robots, Verdict
from rdfspider.urls import host_of
from rdfspider.ways import Way

# Smaller bodies are often equal by chance: an empty list, a word, a pixel.
_MIN_BODY_BYTES = 64
# In how many different folders a text must occur, this page included, before a page like known soft 404s counts as one too.
_SOFT_404_FOLDERS = 3
_NO_DIRECTIVES = Robots()
_NOTHING_ASKED = Judgement()


class Duplicate(NamedTuple):
    """How a page duplicates another one; the fields are those of Judgement."""

    simhash: int = 0
    duplicate: DuplicateKind = DuplicateKind.NONE
    original: str = ""


class PageJudge:
    """Judges the pages of a shard; asking about other pages also registers a page for comparison with later ones."""

    def __init__(
        self,
        domains: Domains,
        drop: Callable[[str], str],
        claim: Callable[[str, str], Awaitable[str]],
        find_alike: Callable[[Lease, Fingerprint], list[tuple[str, Fingerprint]]],
    ) -> None:
        """`drop` removes parameters from URLs, as for links. `claim` takes the digest and the URL of a page, and returns the URL
        that had the digest first; `find_alike` returns the pages of the site with nearly the same text, newest first."""
        self._domains = domains
        self._drop = drop
        self._claim = claim
        self._find_alike = find_alike

    async def judge(self, lease: Lease, capture: Capture, extraction: Extraction) -> Judgement:
        """Find a page's robots directives, whether it duplicates another page, and samples of its content."""
        judgement = judge_directives(capture, extraction, capture.started)
        judgement = _add_canonical(judgement, capture, extraction, self._domains, self._drop)
        digest = _digest_payload(capture)
        found = Duplicate(duplicate=judgement.duplicate, original=judgement.original)
        if _is_comparable(lease, judgement):
            found = await self._find_duplicate(lease, capture, extraction, digest)
        is_copy = found.duplicate == DuplicateKind.EXACT
        sample = sample_copy(extraction, digest) if is_copy else sample_page(extraction)
        return msgspec.structs.replace(judgement, digest=digest, **found._asdict(), **sample._asdict())

    async def _find_duplicate(self, lease: Lease, capture: Capture, extraction: Extraction, digest: str) -> Duplicate:
        is_absent = is_soft_404(extraction)
        if digest and len(capture.page.body) >= _MIN_BODY_BYTES and not is_absent:
            first = await self._claim(digest, lease.url)
            if first != lease.url:
                return Duplicate(duplicate=DuplicateKind.EXACT, original=first)
        simhash = compute_simhash(extraction.text)
        fingerprint = Fingerprint(simhash, digest_statements(extraction) if simhash else 0, is_absent)
        similar = self._find_alike(lease, fingerprint) if simhash else ()
        return judge_similar(lease.url, extraction, fingerprint, similar)


def judge_directives(capture: Capture, extraction: Extraction | None, now: float) -> Judgement:
    """Combine the robots directives of a page and its header, the stricter winning; without an Extraction, the header's alone."""
    lists = capture.list_header("x-robots-tag")
    in_page = extraction.robots if extraction is not None else _NO_DIRECTIVES
    if not lists and in_page == _NO_DIRECTIVES:
        return _NOTHING_ASKED
    in_header = read_directives(lists, may_name=True)
    until = min((robots.unavailable_after for robots in (in_header, in_page) if robots.unavailable_after), default=0.0)
    robots = Robots(
        in_header.noindex or in_page.noindex or 0 < until <= now,
        in_header.nofollow or in_page.nofollow,
        in_header.noarchive or in_page.noarchive,
        until,
    )
    directives = (*_name_directives(in_header, "X-Robots-Tag"), *_name_directives(in_page, "meta robots"))
    return Judgement(directives=directives, robots=robots)


def judge_alone(capture: Capture, extraction: Extraction, now: float) -> Judgement:
    """Judge the directives of a page, and whether it is a soft 404, when nothing is known about other pages."""
    judgement = judge_directives(capture, extraction, now)
    if not is_soft_404(extraction):
        return judgement
    return msgspec.structs.replace(judgement, duplicate=DuplicateKind.SOFT_404)


def judge_similar(
    url: str, extraction: Extraction, fingerprint: Fingerprint, similar: Sequence[tuple[str, Fingerprint]]
) -> Duplicate:
    """Judge how a page duplicates `similar`: the known pages of its site with nearly the same text, newest first."""
    simhash = fingerprint.simhash
    absent = [other for other, known in similar if known.is_soft_404]
    if fingerprint.is_soft_404:
        return Duplicate(simhash, DuplicateKind.SOFT_404, absent[-1] if absent else "")
    folders = {each.rpartition("/")[0] for each in (url, *absent)}
    if len(folders) >= _SOFT_404_FOLDERS and not describes_entity(extraction):
        return Duplicate(simhash, DuplicateKind.SOFT_404, absent[-1])
    same = [other for other, known in similar if known.statements == fingerprint.statements and not known.is_soft_404]
    return Duplicate(simhash, DuplicateKind.NEAR, same[-1]) if same else Duplicate(simhash)


def apply_judgement(verdict: Verdict, extraction: Extraction, judgement: Judgement) -> tuple[Verdict, Extraction]:
    """Return the verdict and what is kept of the extraction: of a page with `noindex` no statements and no words."""
    if judgement.robots.noindex:
        # A prerequisite, such as a sitemap, is never indexed anyway.
        if verdict.reason not in PREREQUISITE_REASONS:
            verdict = msgspec.structs.replace(verdict, reason=Reason.NOINDEX, rule="; ".join(judgement.directives))
        links = tuple(msgspec.structs.replace(link, text="") for link in extraction.links)
        extraction = replace(extraction, statements={}, text="", title=None, links=links)
    elif judgement.duplicate == DuplicateKind.SOFT_404:
        verdict = msgspec.structs.replace(verdict, reason=Reason.SOFT_404)
    return verdict, extraction


def _digest_payload(capture: Capture) -> str:
    """Return the payload digest of a page; empty if its body is missing or was cut short by anything but our size limit."""
    is_whole = capture.truncated in ("", Truncation.LENGTH)
    return compute_digest(capture.page.body) if is_whole and capture.page.body else ""


def _is_comparable(lease: Lease, judgement: Judgement) -> bool:
    """Whether a page is compared with others, and they with it: not if it is a sitemap, a canonical duplicate, or `noindex`."""
    is_sitemap = lease.found_as == Way.SITEMAP and not lease.chain
    return not (is_sitemap or judgement.duplicate or judgement.robots.noindex)


def _add_canonical(
    judgement: Judgement, capture: Capture, extraction: Extraction, domains: Domains, drop: Callable[[str], str]
) -> Judgement:
    """Add the canonical URL that the page names to the judgement, if it is another URL of the same site: no page may decide about
    another site's pages. `drop` removes the same parameters as from links, since only such URLs are ever fetched."""
    url, canonical = capture.page.url, extraction.canonical
    if canonical is None and (canonical := _find_canonical_header(capture)):
        directives = (*judgement.directives, f"canonical {canonical} (Link)")
        judgement = msgspec.structs.replace(judgement, directives=directives)
    # A seed keeps parameters that links lose, and may name itself as canonical.
    if not canonical or canonical == url or (canonical := drop(canonical)) == url:
        return judgement
    if domains.domain(host_of(canonical)) != domains.domain(host_of(url)):
        return judgement
    return msgspec.structs.replace(judgement, duplicate=DuplicateKind.CANONICAL, original=canonical)


def _find_canonical_header(capture: Capture) -> str:
    if not any("canonical" in value.lower() for value in capture.list_header("link")):
        return ""
    links = read_link_headers(capture.headers, capture.page.url)
    return next((link.target for link in links if "canonical" in link.relation.lower().split()), "")


def _name_directives(robots: Robots, source: str) -> Iterator[str]:
    for name in ("noindex", "nofollow", "noarchive"):
        if getattr(robots, name):
            yield f"{name} ({source})"
    if robots.unavailable_after:
        try:
            moment = datetime.fromtimestamp(robots.unavailable_after, UTC)
        except (ValueError, OverflowError):
            return
        yield f"unavailable_after {moment:%Y-%m-%dT%H:%M:%SZ} ({source})"
