"""A Capture, its Extraction and what is known of other pages enter, a Judgement leaves: what a page asks, and what it duplicates.

All of these are pure functions. Robots directives are in the `meta` elements and the header of a page, and it may name its
canonical URL itself; which pages have the same bytes or nearly the same text is asked of frontiers by `run/judging.py`, between
two of these functions. `docs/judgement.md` tells what each directive does, `docs/duplicates.md` what makes a duplicate.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

import msgspec

from rdfspider.archive.warc import compute_digest
from rdfspider.discover.link_headers import read_link_headers
from rdfspider.domains import Domains
from rdfspider.extract.robots_directives import read_directives
from rdfspider.judge.samples import sample_copy, sample_page
from rdfspider.judge.simhash import compute_simhash, digest_statements
from rdfspider.judge.soft404 import is_soft_404, names_thing
from rdfspider.records import (
    PREREQUISITE_REASONS,
    Capture,
    DuplicateKind,
    Extraction,
    Judgement,
    Lease,
    Reason,
    Robots,
    Truncation,
    Verdict,
)
from rdfspider.urls import host_of
from rdfspider.ways import Way

# Smaller bodies are the same by chance: an empty list, a word, a pixel.
_MIN_BODY_BYTES = 64
# Pages in folders of their own that are soft 404s, before one with nearly the same text is taken for one too.
_SOFT_404_FOLDERS = 3
_NO_DIRECTIVES = Robots()
_NOTHING_ASKED = Judgement()


class Duplicate(NamedTuple):
    """How a page duplicates another one; as in Judgement."""

    simhash: int = 0
    duplicate: DuplicateKind = DuplicateKind.NONE
    original: str = ""


class Fingerprint(NamedTuple):
    """What a page is compared with others by."""

    simhash: int
    """Of its text; 0 where that is too short for one."""
    statements: int
    """A digest of what it states; 0 where there is no simhash, as it is not compared then."""
    is_soft_404: bool


class SimilarPage(Protocol):
    """What is known of a page with nearly the same text."""

    @property
    def facts(self) -> int:
        """The digest of what it states."""

    @property
    def is_absence(self) -> bool:
        """Whether it is a soft 404."""


def judge_directives(capture: Capture, extraction: Extraction | None, now: float) -> Judgement:
    """The robots directives of a page and its header, the strictest of both; what was not read as a page has its header alone."""
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


def judge_canonical(
    judgement: Judgement, capture: Capture, extraction: Extraction, domains: Domains, drop: Callable[[str], str]
) -> Judgement:
    """The judgement, with the page that this one says to be a duplicate of, where that is another one of the same site: nobody
    decides what another site's pages are. `drop` takes parameters out of URLs as it is done with links, since only such URLs are
    ever fetched."""
    url, canonical = capture.page.url, extraction.canonical
    if canonical is None and (canonical := _find_canonical_header(capture)):
        directives = (*judgement.directives, f"canonical {canonical} (Link)")
        judgement = msgspec.structs.replace(judgement, directives=directives)
    # A seed may have parameters that links lose, and name itself.
    if not canonical or canonical == url or (canonical := drop(canonical)) == url:
        return judgement
    if domains.domain(host_of(canonical)) != domains.domain(host_of(url)):
        return judgement
    return msgspec.structs.replace(judgement, duplicate=DuplicateKind.CANONICAL, original=canonical)


def judge_alone(capture: Capture, extraction: Extraction, now: float) -> Judgement:
    """What a page asks, and whether it is a soft 404, where nothing is known of other pages."""
    judgement = judge_directives(capture, extraction, now)
    if not is_soft_404(extraction):
        return judgement
    return msgspec.structs.replace(judgement, duplicate=DuplicateKind.SOFT_404)


def digest_payload(capture: Capture) -> str:
    """The payload digest of a page; empty where no whole body came."""
    is_whole = capture.truncated in ("", Truncation.LENGTH)
    return compute_digest(capture.page.body) if is_whole and capture.page.body else ""


def is_comparable(lease: Lease, judgement: Judgement) -> bool:
    """Whether a page is compared with others, and others with it: not where it is a sitemap, says itself what it duplicates, or
    asks not to be indexed."""
    is_sitemap = lease.found_as == Way.SITEMAP and not lease.chain
    return not (is_sitemap or judgement.duplicate or judgement.robots.noindex)


def has_comparable_body(capture: Capture, digest: str) -> bool:
    """Whether a page with the same bytes is an exact duplicate, unless it is a soft 404."""
    return bool(digest) and len(capture.page.body) >= _MIN_BODY_BYTES


def make_fingerprint(extraction: Extraction, *, is_soft_404: bool) -> Fingerprint:
    """What a page is compared by with others of nearly the same text."""
    simhash = compute_simhash(extraction.text)
    return Fingerprint(simhash, digest_statements(extraction) if simhash else 0, is_soft_404)


def judge_similar(
    url: str, extraction: Extraction, fingerprint: Fingerprint, similar: Sequence[tuple[str, SimilarPage]]
) -> Duplicate:
    """How a page duplicates others of its site with nearly the same text, of which these are known, the newest first."""
    simhash = fingerprint.simhash
    absent = [other for other, known in similar if known.is_absence]
    if fingerprint.is_soft_404:
        return Duplicate(simhash, DuplicateKind.SOFT_404, absent[-1] if absent else "")
    folders = {each.rpartition("/")[0] for each in (url, *absent)}
    if len(folders) >= _SOFT_404_FOLDERS and not names_thing(extraction):
        return Duplicate(simhash, DuplicateKind.SOFT_404, absent[-1])
    same = [other for other, known in similar if known.facts == fingerprint.statements and not known.is_absence]
    return Duplicate(simhash, DuplicateKind.NEAR, same[-1]) if same else Duplicate(simhash)


def complete_judgement(judgement: Judgement, extraction: Extraction, digest: str, found: Duplicate | None) -> Judgement:
    """The judgement, with how the page duplicates others, where it was compared, and with samples of what it holds."""
    found = found or Duplicate(duplicate=judgement.duplicate, original=judgement.original)
    is_copy = found.duplicate == DuplicateKind.EXACT
    sample = sample_copy(extraction, digest) if is_copy else sample_page(extraction)
    return msgspec.structs.replace(judgement, digest=digest, **found._asdict(), **sample._asdict())


def apply_judgement(verdict: Verdict, extraction: Extraction, judgement: Judgement) -> tuple[Verdict, Extraction]:
    """The verdict and what is kept of the page: of one that asks not to be indexed, neither data nor words."""
    if judgement.robots.noindex:
        # What serves the crawl alone, such as a sitemap, is in no index anyway.
        if verdict.reason not in PREREQUISITE_REASONS:
            verdict = msgspec.structs.replace(verdict, reason=Reason.NOINDEX, rule="; ".join(judgement.directives))
        extraction = replace(extraction, statements={}, text="", title=None)
    elif judgement.duplicate == DuplicateKind.SOFT_404:
        verdict = msgspec.structs.replace(verdict, reason=Reason.SOFT_404)
    return verdict, extraction


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
