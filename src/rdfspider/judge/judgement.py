"""Robots directives and duplicates: a Capture, its Extraction and what is known about other pages enter, a Judgement leaves.

All functions are pure. The robots directives and the canonical URL come from the page's `meta` and `link` elements and its
headers; between two of these functions, `run/judging.py` asks the frontiers which pages have the same bytes or nearly the same
text. `docs/judgement.md` lists what each directive does, `docs/duplicates.md` what makes a duplicate.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

import msgspec

from rdfspider.archive.warc import compute_digest
from rdfspider.codes import PREREQUISITE_REASONS, DuplicateKind, Reason, Truncation
from rdfspider.discover.link_headers import read_link_headers
from rdfspider.domains import Domains
from rdfspider.extract.robots_directives import read_directives
from rdfspider.judge.samples import sample_copy, sample_page
from rdfspider.judge.simhash import compute_simhash, digest_statements
from rdfspider.judge.soft404 import is_soft_404, names_thing
from rdfspider.records import Capture, Extraction, Judgement, Lease, Robots, Verdict
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


class Fingerprint(NamedTuple):
    """What a page is compared by."""

    simhash: int
    """The simhash of its text; 0 if the text is too short for one."""
    statements: int
    """A digest of its statements; 0 without a simhash, since the page is not compared then."""
    is_soft_404: bool


class SimilarPage(Protocol):
    """What is known about a page with nearly the same text."""

    @property
    def facts(self) -> int:
        """The digest of its statements."""

    @property
    def is_absence(self) -> bool:
        """Whether it is a soft 404."""


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


def judge_canonical(
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


def judge_alone(capture: Capture, extraction: Extraction, now: float) -> Judgement:
    """Judge the directives of a page, and whether it is a soft 404, when nothing is known about other pages."""
    judgement = judge_directives(capture, extraction, now)
    if not is_soft_404(extraction):
        return judgement
    return msgspec.structs.replace(judgement, duplicate=DuplicateKind.SOFT_404)


def digest_payload(capture: Capture) -> str:
    """Return the payload digest of a page; empty if its body is missing or was cut short by anything but our size limit."""
    is_whole = capture.truncated in ("", Truncation.LENGTH)
    return compute_digest(capture.page.body) if is_whole and capture.page.body else ""


def is_comparable(lease: Lease, judgement: Judgement) -> bool:
    """Whether a page is compared with others, and they with it: not if it is a sitemap, a canonical duplicate, or `noindex`."""
    is_sitemap = lease.found_as == Way.SITEMAP and not lease.chain
    return not (is_sitemap or judgement.duplicate or judgement.robots.noindex)


def has_comparable_body(capture: Capture, digest: str) -> bool:
    """Whether the body is whole and long enough for equal bytes to mean an exact duplicate."""
    return bool(digest) and len(capture.page.body) >= _MIN_BODY_BYTES


def make_fingerprint(extraction: Extraction, *, is_soft_404: bool) -> Fingerprint:
    """Compute what the page is compared by with pages of nearly the same text."""
    simhash = compute_simhash(extraction.text)
    return Fingerprint(simhash, digest_statements(extraction) if simhash else 0, is_soft_404)


def judge_similar(
    url: str, extraction: Extraction, fingerprint: Fingerprint, similar: Sequence[tuple[str, SimilarPage]]
) -> Duplicate:
    """Judge how a page duplicates `similar`: the known pages of its site with nearly the same text, newest first."""
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
    """Add to the judgement how the page duplicates others, if it was compared, and samples of its content."""
    found = found or Duplicate(duplicate=judgement.duplicate, original=judgement.original)
    is_copy = found.duplicate == DuplicateKind.EXACT
    sample = sample_copy(extraction, digest) if is_copy else sample_page(extraction)
    return msgspec.structs.replace(judgement, digest=digest, **found._asdict(), **sample._asdict())


def apply_judgement(verdict: Verdict, extraction: Extraction, judgement: Judgement) -> tuple[Verdict, Extraction]:
    """Return the verdict and what is kept of the extraction: no statements, text or title of a page with `noindex`."""
    if judgement.robots.noindex:
        # A prerequisite, such as a sitemap, is never indexed anyway.
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
