"""Sites: the content of one, and a report on the quality of its structured data."""

from dataclasses import dataclass, field
from functools import partial

from rdfspider.errors import UsageError
from rdfspider.search.profiles import SiteProfile
from rdfspider.search.quality.gaps import say_path
from rdfspider.search.quality.report import Finding, Report
from rdfspider.serve.pages.entity import read_statements
from rdfspider.serve.pages.vocabulary import make_plain, write_void
from rdfspider.serve.replies import CsvTable, NotFoundError, PageReply, PageRequest, Parameter, SitePage

_REPORT_HEADS = ("severity", "kind", "subject", "message", "count", "of", "example", "example2", "example3")
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class ReportData(Report):
    """The report, for JSON: with what is otherwise made of it."""

    # No defaults: those would be the inherited properties of the same names.
    severities: dict[str, int] = field()
    findings: tuple[Finding, ...] = field()


def show_site(request: PageRequest) -> PageReply:
    """Show a site: counts, classes and properties, its latest pages."""
    name = _take_name(request, "name")
    profile = request.site.indexes.site_profile(name)
    totals = request.site.indexes.totals() if request.format in ("nq", "ttl") else None
    if profile is None:
        raise NotFoundError(f"no page of {name[:200]} is indexed")
    rows = [("class", one.name, one.things) for one in profile.classes]
    rows += [("property", one.name, one.things) for one in profile.properties]
    rows += [("syntax", one.name, one.pages) for one in profile.syntaxes]
    rows += [("language", one.name, one.pages) for one in profile.languages]
    return PageReply(
        "site.html",
        {"profile": profile},
        data=lambda: make_plain(profile),
        table=lambda: CsvTable(("kind", "name", "count"), rows),
        nquads=lambda: write_void(totals, sites=[profile.count]) if totals else b"",
    )


def show_quality(request: PageRequest) -> PageReply:
    """Show the report on a site's structured data."""
    name = _take_name(request, "site")
    report = request.site.indexes.quality(name, partial(read_statements, request))
    if report is None:
        raise NotFoundError(f"no page of {name[:200]} is indexed")
    return PageReply(
        "quality.html",
        {"report": report, "say_path": say_path},
        data=lambda: {**make_plain(report), "severities": report.severities, "findings": make_plain(report.findings)},
        table=lambda: CsvTable(_REPORT_HEADS, _list_rows(report)),
    )


def _take_name(request: PageRequest, parameter: str) -> str:
    name = request.get(parameter)
    if not name:
        raise UsageError(f"say which site: {parameter}=example.org")
    return name


def _list_rows(report: Report) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for one in report.findings:
        examples = (*one.examples, *[""] * _EXAMPLES)[:_EXAMPLES]
        rows.append((one.severity, one.kind, one.subject, one.message, one.count, one.of or "", *examples))
    return rows


PAGES: tuple[SitePage, ...] = (
    SitePage(
        "/site",
        show_site,
        "A site: counts, syntaxes, classes, properties, latest pages, examples.",
        (Parameter("name", "A registrable domain, or a host of it.", is_required=True),),
        answer=SiteProfile,
    ),
    SitePage(
        "/quality",
        show_quality,
        "A report on a site's structured data: syntaxes, broken markup, missing properties, conflicts.",
        (Parameter("site", "A registrable domain, or a host of it.", is_required=True),),
        formats=("html", "json", "csv"),
        is_heavy=True,
        answer=ReportData,
    ),
)
