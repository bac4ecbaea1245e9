"""The report on a site's structured data: which syntaxes, what is broken, what is missing, what conflicts.

It is made from a bounded sample, spread over all pages of the site. The rules are those of `validate/`.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pyoxigraph import Store

from rdfspider.index.ledger.reader import LedgerReader, PageEntry
from rdfspider.results import NameKind
from rdfspider.search.attributions import ReadStatements
from rdfspider.search.quality.conflicts import Conflict, find_conflicts
from rdfspider.search.quality.gaps import Gap, find_gaps, say_path
from rdfspider.search.quality.samples import MAX_PAGES, MAX_SECONDS, SampledPage, read_pages
from rdfspider.validate.faults import explain_code
from rdfspider.validate.findings import HINT, WARNING, Severity
from rdfspider.validate.page import Validator
from rdfspider.validate.profiles import load_profile
from rdfspider.validate.totals import Total, Totals
from rdfspider.vocabulary.names import shorten_iri


class FindingKind(StrEnum):
    """What a finding is about."""

    BROKEN = "broken markup"
    WRONG = "wrong term or value"
    MISSING = "missing property"
    CONFLICTING = "conflict"
    UNMARKED = "no data"
    REPEATED = "repeated"

    __repr__ = str.__repr__


_EXAMPLES = 3
_PAGES_A_STEP = 50
# Beyond this it takes too long to find a page by its number.
_REACH = 50_000
_NODES, _ENTITIES_A_PAGE = 20_000, 200
_PLAIN = frozenset(("page", "meta"))
"""What every page has: head and title. These do not count as structured data."""


@dataclass(frozen=True, slots=True)
class SyntaxUse:
    """How much of the sample uses a syntax."""

    syntax: str
    pages: int
    statements: int


@dataclass(frozen=True, slots=True)
class FaultCount:
    """How often a fault occurs, and on which pages."""

    code: str
    severity: Severity
    meaning: str
    advice: str
    count: int
    pages: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pages:
    """A number of pages, and some of them."""

    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One line of the report."""

    severity: Severity
    kind: FindingKind
    subject: str
    message: str
    count: int
    of: int
    """Of how many pages or entities; 0 if not applicable."""
    examples: tuple[str, ...]
    """Pages."""


@dataclass(frozen=True, slots=True)
class Report:
    """The report on a site."""

    site: str
    pages: int
    """Indexed pages of the site."""
    pages_read: int
    statements_read: int
    seconds: float
    syntaxes: tuple[SyntaxUse, ...]
    faults: tuple[FaultCount, ...]
    wrong: tuple[Total, ...]
    """What breaks a rule of the vocabulary, by class and property; of the pages whose statements could be read again."""
    pages_checked: int
    gaps: tuple[Gap, ...]
    conflicts: tuple[Conflict, ...]
    conflict_count: int
    unmarked: Pages
    """Pages without structured data."""
    repeated: Pages
    """Duplicates of other pages."""

    @property
    def findings(self) -> tuple[ReportLine, ...]:
        """All findings, the worst first."""
        return tuple(sorted(_list_findings(self), key=lambda finding: finding.severity.rank))

    @property
    def severities(self) -> dict[str, int]:
        """The number of findings by severity."""
        counts: dict[str, int] = dict.fromkeys(Severity, 0)
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
    """Make the report; None if no page of the site is indexed. A few pages are read again to find the syntax of values."""
    start = time.monotonic()
    count = ledger.find_name(NameKind.SITE, site)
    if count is None:
        return None
    entries = choose_pages(ledger, site, count.pages, max_pages)
    pages = list(read_pages(store, entries, seconds))
    entities = _name_nodes(ledger, entries[: len(pages)])
    totals = _check_pages(pages, read_statements, seconds)
    conflicts, conflict_count = find_conflicts(pages, entities, read_statements)
    return Report(
        site=site,
        pages=count.pages,
        pages_read=len(pages),
        statements_read=sum(sum(page.syntaxes.values()) for page in pages),
        seconds=time.monotonic() - start,
        syntaxes=_count_syntaxes(pages),
        faults=_count_faults(pages),
        wrong=tuple(totals.list_rows()),
        pages_checked=totals.pages,
        gaps=find_gaps(pages, entities),
        conflicts=conflicts,
        conflict_count=conflict_count,
        unmarked=_collect([page.url for page in pages if page.syntaxes.keys() <= _PLAIN]),
        repeated=_collect([page.url for page in pages if page.duplicate_of]),
    )


def _check_pages(pages: Sequence[SampledPage], read_statements: ReadStatements, seconds: float) -> Totals:
    """Add up what breaks the rules of the vocabulary on each page, until the time is up."""
    end = time.monotonic() + seconds
    totals = Totals(by_site=False)
    validator = Validator(load_profile("schema"))
    for page in pages:
        if time.monotonic() > end:
            break
        if page.syntaxes.keys() <= _PLAIN:
            totals.add(page.url, ())
        elif (statements := read_statements(page.url)) is not None:
            # Conflicts are found over all pages of the site, with those within one.
            found = validator.check(page.url, statements)
            totals.add(page.url, [each for each in found if each.rule != "syntax-conflict"])
    return totals


def choose_pages(ledger: LedgerReader, site: str, pages: int, limit: int) -> list[PageEntry]:
    """Choose all pages of a site, or a spread sample: the first pages of a site are often unlike the others."""
    if pages <= limit:
        return ledger.list_site_pages(site, limit)
    steps = max(1, limit // _PAGES_A_STEP)
    stride = min(pages, _REACH) / steps
    return [
        page for step in range(steps) for page in ledger.list_site_pages(site, limit // steps, round(step * stride))
    ]


def _name_nodes(ledger: LedgerReader, entries: Sequence[PageEntry]) -> dict[str, str]:
    """Return the ids of entities by node; entities whose id is their IRI are left out."""
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
    return tuple(sorted(faults, key=lambda fault: (fault.severity.rank, -fault.pages, fault.code)))


def _collect(urls: Sequence[str]) -> Pages:
    return Pages(len(urls), tuple(urls[:_EXAMPLES]))


def _list_findings(report: Report) -> Iterator[ReportLine]:
    for fault in report.faults:
        message = f"{fault.meaning} {fault.advice}"
        yield ReportLine(
            fault.severity, FindingKind.BROKEN, fault.code, message, fault.pages, report.pages_read, fault.examples
        )
    for row in report.wrong:
        subject = ".".join(filter(None, (row.type, row.path)))
        yield ReportLine(
            row.severity, FindingKind.WRONG, subject, row.message, row.pages, report.pages_checked, tuple(row.examples)
        )
    for gap in report.gaps:
        name = shorten_iri(gap.type)
        among = f" {gap.among}" if gap.among else ""
        message = f"{gap.missing:,} of {gap.things:,} of {name}{among} have no {say_path(gap.path)}."
        examples = tuple(dict.fromkeys(example.page for example in gap.examples))
        severity = WARNING if gap.is_needed else HINT
        yield ReportLine(
            severity, FindingKind.MISSING, f"{name} {gap.path}", message, gap.missing, gap.things, examples
        )
    for one in report.conflicts:
        values = " / ".join(claim.value[:100] for claim in one.claims)
        examples = tuple(dict.fromkeys(source.page for claim in one.claims for source in claim.sources))
        yield ReportLine(
            WARNING,
            FindingKind.CONFLICTING,
            f"{one.label or one.id} {one.path}",
            values,
            one.claim_count,
            0,
            examples[:_EXAMPLES],
        )
    for pages, kind, message in (
        (report.unmarked, FindingKind.UNMARKED, "Pages without structured data."),
        (report.repeated, FindingKind.REPEATED, "Pages that repeat others."),
    ):
        if pages.count:
            yield ReportLine(HINT, kind, "", message, pages.count, report.pages_read, pages.examples)
