"""Sites: what one is made of, and a report on the quality of its structured data."""

from dataclasses import dataclass, field
from functools import partial

from rdfspider.errors import UsageError
from rdfspider.search.profiles import SiteProfile
from rdfspider.search.quality.recommendations import say_path
from rdfspider.search.quality.report import Finding, Report
from rdfspider.serve.pages.entity import read_statements
from rdfspider.serve.pages.vocabulary import make_plain, write_void
from rdfspider.serve.replies import Ask, NotFoundError, Page, Parameter, Table, View

_REPORT_HEADS = ("severity", "kind", "subject", "message", "count", "of", "example", "example2", "example3")
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class ReportData(Report):
    """The report, for JSON: with what is otherwise made of it."""

    # Without a default, which the properties of the same names would be.
    severities: dict[str, int] = field()
    findings: tuple[Finding, ...] = field()


def show_site(ask: Ask) -> View:
    """A site: counts, what it speaks of, its latest pages."""
    name = _take_name(ask, "name")
    profile = ask.site.indexes.site_profile(name)
    totals = ask.site.indexes.totals() if ask.format in ("nq", "ttl") else None
    if profile is None:
        raise NotFoundError(f"no page of {name[:200]} is indexed")
    rows = [("class", one.name, one.things) for one in profile.classes]
    rows += [("property", one.name, one.things) for one in profile.properties]
    rows += [("syntax", one.name, one.pages) for one in profile.syntaxes]
    rows += [("language", one.name, one.pages) for one in profile.languages]
    return View(
        "site.html",
        {"profile": profile},
        data=lambda: make_plain(profile),
        table=lambda: Table(("kind", "name", "count"), rows),
        nquads=lambda: write_void(totals, sites=[profile.count]) if totals else b"",
    )


def show_quality(ask: Ask) -> View:
    """The report on a site's structured data."""
    name = _take_name(ask, "site")
    report = ask.site.indexes.quality(name, partial(read_statements, ask))
    if report is None:
        raise NotFoundError(f"no page of {name[:200]} is indexed")
    return View(
        "quality.html",
        {"report": report, "say_path": say_path},
        data=lambda: {**make_plain(report), "severities": report.severities, "findings": make_plain(report.findings)},
        table=lambda: Table(_REPORT_HEADS, _list_rows(report)),
    )


def _take_name(ask: Ask, parameter: str) -> str:
    name = ask.get(parameter)
    if not name:
        raise UsageError(f"say which site: {parameter}=example.org")
    return name


def _list_rows(report: Report) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for one in report.findings:
        examples = (*one.examples, *[""] * _EXAMPLES)[:_EXAMPLES]
        rows.append((one.severity, one.kind, one.subject, one.message, one.count, one.of or "", *examples))
    return rows


PAGES: tuple[Page, ...] = (
    Page(
        "/site",
        show_site,
        "A site: counts, syntaxes, classes, properties, latest pages, examples.",
        (Parameter("name", "A registrable domain, or a host of it.", is_required=True),),
        answer=SiteProfile,
    ),
    Page(
        "/quality",
        show_quality,
        "A report on a site's structured data: syntaxes, broken markup, missing properties, conflicts.",
        (Parameter("site", "A registrable domain, or a host of it.", is_required=True),),
        formats=("html", "json", "csv"),
        is_heavy=True,
        answer=ReportData,
    ),
)
