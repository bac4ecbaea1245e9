"""Findings of many pages enter; how often each occurs leaves, by site and class, with examples. Its memory is bounded."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rdfspider.urls import host_of
from rdfspider.validate.findings import ABOUT_CLASSES, Finding, Severity

EXAMPLES = 3
_MAX_KEYS = 20_000
"""The most rows; what is beyond is counted by rule alone, under the site `""`."""


@dataclass(slots=True)
class Total:
    """How often a rule is broken by one site's things of one class, in one property."""

    site: str
    """The host; empty for the rest of very many."""
    type: str
    """The class, by short name; empty for none."""
    rule: str
    severity: Severity
    path: str
    """The property within the class; empty for the thing itself, or the page."""
    count: int = 0
    pages: int = 0
    message: str = ""
    """That of the first finding, as an example."""
    examples: list[str] = field(default_factory=list)
    """Some of the pages."""


class Totals:
    """Adds up findings; pages come one after the other."""

    def __init__(self, *, by_site: bool = True) -> None:
        self._by_site = by_site
        self.pages = 0
        self.pages_with_findings = 0
        self.severities = dict.fromkeys(Severity, 0)
        self._rows: dict[tuple[str, str, str, str], Total] = {}
        self._last: dict[tuple[str, str, str, str], str] = {}

    def add(self, url: str, findings: Iterable[Finding]) -> None:
        """Add the findings of one page."""
        self.pages += 1
        has_any = False
        site = host_of(url) if self._by_site else ""
        for found in findings:
            has_any = True
            self.severities[found.severity] += found.count
            has_property = "." in found.path and found.rule not in ABOUT_CLASSES
            key = (site, found.type, found.rule, found.path.rpartition(".")[2] if has_property else "")
            if key not in self._rows and len(self._rows) >= _MAX_KEYS:
                # Pages can invent any number of classes and properties, but not of rules.
                key = ("", "", found.rule, "")
            row = self._rows.get(key)
            if row is None:
                row = self._rows[key] = Total(*key[:3], found.severity, key[3], message=found.message)
            row.count += found.count
            if self._last.get(key) != url:
                self._last[key] = url
                row.pages += 1
                if len(row.examples) < EXAMPLES:
                    row.examples.append(url)
        self.pages_with_findings += has_any

    def list_rows(self) -> list[Total]:
        """List all rows: by site, the worst and the most frequent first."""
        return sorted(self._rows.values(), key=_rank_row)

    def list_overall(self) -> list[Total]:
        """List the rows over all sites: the worst and the most frequent first. Their `site` is empty."""
        found: dict[tuple[str, str, str], Total] = {}
        for row in self.list_rows():
            key = (row.type, row.rule, row.path)
            total = found.get(key)
            if total is None:
                total = found[key] = Total("", row.type, row.rule, row.severity, row.path, message=row.message)
            total.count += row.count
            total.pages += row.pages
            total.examples = [*total.examples, *row.examples][:EXAMPLES]
            total.severity = min(total.severity, row.severity, key=lambda severity: severity.rank)
        return sorted(found.values(), key=_rank_row)

    def count_at_least(self, severity: Severity) -> int:
        """Count the findings that are at least as bad."""
        return sum(count for each, count in self.severities.items() if each.rank <= severity.rank)


def _rank_row(row: Total) -> tuple[str | int, ...]:
    return (row.site, row.severity.rank, -row.pages, -row.count, row.type, row.path, row.rule)
