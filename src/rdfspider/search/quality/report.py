"""A site in, a report on its structured data out: which syntaxes, what is broken, what is missing, what is in conflict.

It is made from a bounded sample of the site's pages, spread over all of them, and says how many were looked at. There is no
score: each finding has a severity, a count and examples.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import Store

from rdfspider.index.ledger.reader import LedgerReader, PageEntry
from rdfspider.index.ledger.usage import SITE
from rdfspider.search.attributions import ReadStatements
from rdfspider.search.quality.conflicts import Conflict, find_conflicts
from rdfspider.search.quality.faults import HINT, SEVERITIES, WARNING, explain_code, rank_severity
from rdfspider.search.quality.gaps import Gap, find_gaps
from rdfspider.search.quality.recommendations import say_path
from rdfspider.search.quality.samples import MAX_PAGES, MAX_SECONDS, SampledPage, read_pages
from rdfspider.vocabulary.names import shorten_iri

BROKEN, MISSING, CONFLICTING, UNMARKED, REPEATED = (
    "broken markup",
    "missing property",
    "conflict",
    "no data",
    "repeated",
)
"""Kinds of findings."""
_EXAMPLES = 3
_PAGES_A_STEP = 50
# Beyond it takes too long to find a page by its number.
_REACH = 50_000
_NODES, _ENTITIES_A_PAGE = 20_000, 200
_PLAIN = frozenset(("page", "meta"))
"""What every page has some of: head and title. It is no structured data."""


@dataclass(frozen=True, slots=True)
class SyntaxUse:
    """How much of the sample is in a syntax."""

    syntax: str
    pages: int
    statements: int


@dataclass(frozen=True, slots=True)
class FaultCount:
    """How often something is broken, and on which pages."""

    code: str
    severity: str
    meaning: str
    advice: str
    count: int
    pages: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pages:
    """How many pages, and some of them."""

    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the report, whatever it is about."""

    severity: str
    kind: str
    subject: str
    message: str
    count: int
    of: int
    """Of how many pages or things; 0 where that means nothing."""
    examples: tuple[str, ...]
    """Pages."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found."""

    site: str
    pages: int
    """Of the site that are indexed."""
    pages_read: int
    statements_read: int
    seconds: float
    syntaxes: tuple[SyntaxUse, ...]
    faults: tuple[FaultCount, ...]
    gaps: tuple[Gap, ...]
    conflicts: tuple[Conflict, ...]
    conflict_count: int
    unmarked: Pages
    """Without structured data."""
    repeated: Pages
    """That repeat another page."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of it as lines, the worst first."""
        return tuple(sorted(_list_findings(self), key=lambda finding: rank_severity(finding.severity)))

    @property
    def severities(self) -> dict[str, int]:
        """How many lines there are of each severity."""
        counts = dict.fromkeys(SEVERITIES, 0)
        for finding in self.findings:
            counts[finding.severity] += 1
        return counts


def inspect_site(
    store: Store,
    ledger: LedgerReader,
    site: str,
    *,
    max_pages: int = MAX_PAGES,
    seconds: float = MAX_SECONDS,
    read_statements: ReadStatements = lambda url: None,
) -> Report | None:
    """The report; None where no page of the site is indexed. A few pages are read again to tell their syntaxes apart."""
    start = time.monotonic()
    count = ledger.find_name(SITE, site)
    if count is None:
        return None
    entries = choose_pages(ledger, site, count.pages, max_pages)
    pages = list(read_pages(store, entries, seconds))
    entities = _name_nodes(ledger, entries[: len(pages)])
    conflicts, conflict_count = find_conflicts(pages, entities, read_statements)
    return Report(
        site=site,
        pages=count.pages,
        pages_read=len(pages),
        statements_read=sum(sum(page.syntaxes.values()) for page in pages),
        seconds=time.monotonic() - start,
        syntaxes=_count_syntaxes(pages),
        faults=_count_faults(pages),
        gaps=find_gaps(pages, entities),
        conflicts=conflicts,
        conflict_count=conflict_count,
        unmarked=_collect([page.url for page in pages if page.syntaxes.keys() <= _PLAIN]),
        repeated=_collect([page.url for page in pages if page.duplicate_of]),
    )


def choose_pages(ledger: LedgerReader, site: str, pages: int, limit: int) -> list[PageEntry]:
    """All pages of a site, or some from everywhere: a site's oldest pages are often its first ones, and unlike the others."""
    if pages <= limit:
        return ledger.list_site_pages(site, limit)
    steps = max(1, limit // _PAGES_A_STEP)
    stride = min(pages, _REACH) / steps
    return [
        page for step in range(steps) for page in ledger.list_site_pages(site, limit // steps, round(step * stride))
    ]


def _name_nodes(ledger: LedgerReader, entries: Sequence[PageEntry]) -> dict[str, str]:
    """The ids of things by the nodes that speak of them; those that are called by their own IRI are left out."""
    names: dict[str, str] = {}
    for entry in entries:
        for entity, nodes in ledger.list_page_entities(entry, _ENTITIES_A_PAGE):
            names.update((node, entity) for node in nodes)
        if len(names) > _NODES:
            break
    return names


def _count_syntaxes(pages: Sequence[SampledPage]) -> tuple[SyntaxUse, ...]:
    counts: dict[str, list[int]] = {}
    for page in pages:
        for syntax, statements in page.syntaxes.items():
            sums = counts.setdefault(syntax, [0, 0])
            sums[0] += 1
            sums[1] += statements
    uses = (SyntaxUse(syntax, *sums) for syntax, sums in counts.items())
    return tuple(sorted(uses, key=lambda use: (-use.pages, -use.statements, use.syntax)))


def _count_faults(pages: Sequence[SampledPage]) -> tuple[FaultCount, ...]:
    counts: dict[str, int] = {}
    where: dict[str, list[str]] = {}
    for page in pages:
        for code, count in page.problems.items():
            counts[code] = counts.get(code, 0) + count
            where.setdefault(code, []).append(page.url)
    faults = (
        FaultCount(code, *explain_code(code), count, len(where[code]), tuple(where[code][:_EXAMPLES]))
        for code, count in counts.items()
    )
    return tuple(sorted(faults, key=lambda fault: (rank_severity(fault.severity), -fault.pages, fault.code)))


def _collect(urls: Sequence[str]) -> Pages:
    return Pages(len(urls), tuple(urls[:_EXAMPLES]))


def _list_findings(report: Report) -> Iterator[Finding]:
    for fault in report.faults:
        message = f"{fault.meaning} {fault.advice}"
        yield Finding(fault.severity, BROKEN, fault.code, message, fault.pages, report.pages_read, fault.examples)
    for gap in report.gaps:
        name = shorten_iri(gap.type)
        among = f" {gap.among}" if gap.among else ""
        message = f"{gap.missing:,} of {gap.things:,} of {name}{among} have no {say_path(gap.path)}."
        examples = tuple(dict.fromkeys(example.page for example in gap.examples))
        severity = WARNING if gap.is_needed else HINT
        yield Finding(severity, MISSING, f"{name} {gap.path}", message, gap.missing, gap.things, examples)
    for one in report.conflicts:
        values = " / ".join(claim.value[:100] for claim in one.claims)
        examples = tuple(dict.fromkeys(source.page for claim in one.claims for source in claim.sources))
        yield Finding(
            WARNING, CONFLICTING, f"{one.label or one.id} {one.path}", values, one.claim_count, 0, examples[:_EXAMPLES]
        )
    for pages, kind, message in (
        (report.unmarked, UNMARKED, "Pages without structured data."),
        (report.repeated, REPEATED, "Pages that repeat others."),
    ):
        if pages.count:
            yield Finding(HINT, kind, "", message, pages.count, report.pages_read, pages.examples)
