"""Findings enter, a document for programs leaves: JSON, SARIF 2.1.0 or CSV, page by page, so that there can be any number."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import asdict as struct_asdict

from rdfspider.validate.findings import RULES, Finding, Severity
from rdfspider.validate.profiles import Profile
from rdfspider.validate.totals import Totals

COLUMNS = ("severity", "rule", "page", "line", "syntax", "path", "type", "value", "count", "message")
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}


class FindingWriter(Protocol):
    """Writes a document: its start, then the findings of pages, then its end."""

    def start(self) -> str:
        """What comes before the first finding."""

    def write(self, finding: Finding) -> str:
        """One finding."""

    def end(self, totals: Totals) -> str:
        """What comes after the last one."""


class JsonWriter:
    """One object: `profile`, `findings`, and then the counts and `totals`."""

    def __init__(self, profile: Profile, version: str) -> None:
        self._profile = profile.name
        self._between = "\n"

    def start(self) -> str:
        """Begin the object."""
        return f'{{"profile": {json.dumps(self._profile)}, "findings": ['

    def write(self, finding: Finding) -> str:
        """Write the finding on a line of its own."""
        between, self._between = self._between, ",\n"
        return between + json.dumps(struct_asdict(finding), ensure_ascii=False)

    def end(self, totals: Totals) -> str:
        """End the object."""
        rest: Mapping[str, Any] = {
            "pages": totals.pages,
            "pages_with_findings": totals.pages_with_findings,
            "severities": totals.severities,
            "totals": [asdict(row) for row in totals.list_rows()],
            "overall": [asdict(row) for row in totals.list_overall()],
        }
        return f"\n], {json.dumps(rest, ensure_ascii=False)[1:]}\n"


class CsvWriter:
    """A row for each finding, after a row of column names."""

    def __init__(self, profile: Profile, version: str) -> None:
        pass

    def start(self) -> str:
        """Write the names of the columns."""
        return _write_row(COLUMNS)

    def write(self, finding: Finding) -> str:
        """Write a row."""
        return _write_row([_guard(str(getattr(finding, name) or "")) for name in COLUMNS])

    def end(self, totals: Totals) -> str:
        """Write nothing."""
        return ""


class SarifWriter:
    """SARIF 2.1.0: one run, with a rule for each code and a result for each finding."""

    def __init__(self, profile: Profile, version: str) -> None:
        self._driver = {
            "name": "rdfspider",
            "version": version,
            "semanticVersion": version,
            "properties": {"profile": profile.name},
            "rules": [
                {
                    "id": code,
                    "shortDescription": {"text": rule.meaning},
                    "defaultConfiguration": _configure(profile.find_severity(code)),
                }
                for code, rule in RULES.items()
            ],
        }
        self._root = f"{Path.cwd().as_uri()}/"
        self._indexes = {code: at for at, code in enumerate(RULES)}
        self._between = "\n"

    def start(self) -> str:
        """Begin the log and its run."""
        head = {"$schema": _SARIF_SCHEMA, "version": "2.1.0"}
        return f'{json.dumps(head)[:-1]}, "runs": [{{"tool": {json.dumps({"driver": self._driver})}, "results": ['

    def write(self, finding: Finding) -> str:
        """Write a result."""
        place: dict[str, Any] = {"artifactLocation": self._name_file(finding.page)}
        if finding.line:
            place["region"] = {"startLine": finding.line}
        location: dict[str, Any] = {"physicalLocation": place}
        if finding.path:
            location["logicalLocations"] = [{"fullyQualifiedName": finding.path}]
        where = f"{finding.path}: " if finding.path else ""
        result = {
            "ruleId": finding.rule,
            "ruleIndex": self._indexes[finding.rule],
            "level": _SARIF_LEVELS[finding.severity],
            "message": {"text": f"{where}{finding.message}"},
            "locations": [location],
            "occurrenceCount": finding.count,
            "properties": {"syntax": finding.syntax, "type": finding.type, "value": finding.value},
        }
        between, self._between = self._between, ",\n"
        return between + json.dumps(result, ensure_ascii=False)

    def _name_file(self, url: str) -> dict[str, str]:
        """Name a file in the working directory relative to it, as code scanning expects; any other page by its URL."""
        if url.startswith(self._root):
            return {"uri": url.removeprefix(self._root), "uriBaseId": "%SRCROOT%"}
        return {"uri": url}

    def end(self, totals: Totals) -> str:
        """End the run and the log."""
        return '\n], "columnKind": "unicodeCodePoints"}]}\n'


WRITERS: Mapping[str, Callable[[Profile, str], FindingWriter]] = {
    "json": JsonWriter,
    "sarif": SarifWriter,
    "csv": CsvWriter,
}
"""The formats for programs."""


def _configure(severity: Severity | None) -> dict[str, Any]:
    return {"enabled": False} if severity is None else {"level": _SARIF_LEVELS[severity]}


def _write_row(cells: Any) -> str:
    row = io.StringIO()
    csv.writer(row).writerow(cells)
    return row.getvalue()


def _guard(cell: str) -> str:
    """Keep spreadsheets from taking a text of the web for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


def write_document(writer: FindingWriter, pages: Iterator[tuple[str, list[Finding]]], totals: Totals) -> Iterator[str]:
    """Write all findings of pages, and add them up."""
    yield writer.start()
    for url, findings in pages:
        totals.add(url, findings)
        for finding in findings:
            yield writer.write(finding)
    yield writer.end(totals)
