"""What was read from one page in, what the inspector shows of it out, in every format: whether the page was crawled, was
fetched for somebody just now, or was pasted."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import NamedTuple, TypedDict

import pyoxigraph
from pyoxigraph import RdfFormat

from rdfspider.errors import UsageError
from rdfspider.formats import merge_nquads
from rdfspider.records import Extraction, Problem
from rdfspider.search.quality.faults import Fault, explain_code, rank_severity
from rdfspider.serve.outlines import Outline, make_outline
from rdfspider.serve.replies import Ask, Table

SYNTAX_NAMES = {
    "jsonld": "JSON-LD",
    "microdata": "Microdata",
    "rdfa": "RDFa",
    "microformats": "Microformats",
    "meta": "Meta elements",
    "grddl": "GRDDL",
    "rdf": "RDF",
    "feed": "Feed",
    "xslt": "Stylesheet",
    "transform": "Transform",
    "page": "The page itself",
}
"""By the names that extraction has for them."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
LINES_SHOWN = 200
_LINE_CHARS = 500
LINKS_SHOWN = 50
TABLES = ("statements", "links", "problems")
"""What can be had as CSV, chosen by the parameter `part`."""


@dataclass(frozen=True, slots=True)
class OutLink:
    """Where a page leads."""

    url: str
    relation: str = ""
    text: str = ""
    nofollow: bool = False


class Remark(NamedTuple):
    """A problem of a page, and what it means."""

    problem: Problem
    fault: Fault


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was read from a page."""

    url: str
    title: str = ""
    media_type: str = ""
    charset: str = ""
    language: str = ""
    canonical: str = ""
    body_bytes: int = 0
    statements: Mapping[str, str] = field(default_factory=dict)
    """N-Quads by syntax."""
    problems: Sequence[Problem] = ()
    links: Sequence[OutLink] = ()
    text: str = ""
    text_cut: str = ""
    """Why that is no more than its beginning, in words; empty where it is all."""
    wishes: Sequence[str] = ()
    """What the page asks of crawlers, and who says so."""

    @property
    def outlines(self) -> list[Outline]:
        """What it states, for people, a syntax each."""
        return [make_outline(syntax, nquads) for syntax, nquads in self.statements.items() if nquads]

    @property
    def statement_count(self) -> int:
        """Over all syntaxes; what two of them state counts twice."""
        return sum(nquads.count("\n") for nquads in self.statements.values())

    @property
    def language_tag(self) -> str:
        """Its language, where that is one that a browser may know; else empty."""
        return self.language if _LANGUAGE.fullmatch(self.language) else ""

    @property
    def remarks(self) -> list[Remark]:
        """Its problems, the worst first."""
        found = [Remark(problem, explain_code(problem.code)) for problem in self.problems]
        return sorted(found, key=lambda remark: rank_severity(remark.fault.severity))

    def write_lines(self, syntax: str) -> str:
        """The first of the N-Quads of a syntax, as they are; long lines are cut."""
        lines = self.statements[syntax].split("\n", LINES_SHOWN)[:LINES_SHOWN]
        return "\n".join(line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…" for line in lines).strip()


class ProblemData(TypedDict):
    """A problem of a page and what it means, for JSON."""

    code: str
    syntax: str | None
    count: int
    message: str
    severity: str
    meaning: str
    advice: str


class InspectionData(TypedDict):
    """What was read from a page, for JSON."""

    url: str
    title: str
    media_type: str
    charset: str
    language: str
    canonical: str
    body_bytes: int
    wishes: list[str]
    statements: dict[str, str]
    problems: list[ProblemData]
    links: list[OutLink]
    text: str
    text_cut: str


def inspect_extraction(found: Extraction, body_bytes: int, wishes: Sequence[str] = ()) -> Inspection:
    """What was read from a page that is in no crawl."""
    return Inspection(
        url=found.url,
        title=found.title or "",
        media_type=found.media_type,
        charset=found.charset or "",
        language=found.language or "",
        canonical=found.canonical or "",
        body_bytes=body_bytes,
        statements=found.statements,
        problems=found.problems,
        links=[OutLink(link.target, link.relation, link.text, link.nofollow) for link in found.links],
        text=found.text,
        wishes=wishes or _name_wishes(found),
    )


def describe_inspection(inspection: Inspection) -> InspectionData:
    """All of it, for JSON."""
    return {
        "url": inspection.url,
        "title": inspection.title,
        "media_type": inspection.media_type,
        "charset": inspection.charset,
        "language": inspection.language,
        "canonical": inspection.canonical,
        "body_bytes": inspection.body_bytes,
        "wishes": list(inspection.wishes),
        "statements": dict(inspection.statements),
        "problems": [
            {
                "code": problem.code,
                "syntax": problem.syntax,
                "count": problem.count,
                "message": problem.message,
                "severity": fault.severity,
                "meaning": fault.meaning,
                "advice": fault.advice,
            }
            for problem, fault in inspection.remarks
        ],
        "links": list(inspection.links),
        "text": inspection.text,
        "text_cut": inspection.text_cut,
    }


def make_table(ask: Ask, inspection: Inspection) -> Table:
    """One of its lists, for CSV."""
    part = ask.get("part") or TABLES[0]
    tables: dict[str, Callable[[], Table]] = {
        "statements": lambda: Table(("syntax", "subject", "predicate", "object"), _list_statements(inspection)),
        "links": lambda: Table(("url", "relation", "text", "nofollow"), map(astuple, inspection.links)),
        "problems": lambda: Table(
            ("severity", "code", "syntax", "count", "message", "meaning"),
            [
                (fault.severity, problem.code, problem.syntax or "", problem.count, problem.message, fault.meaning)
                for problem, fault in inspection.remarks
            ],
        ),
    }
    if part not in tables:
        raise UsageError(f"part {part[:40]}: there is no such table; there are {', '.join(tables)}")
    return tables[part]()


def write_nquads(inspection: Inspection) -> bytes:
    """What it states in all syntaxes, each once."""
    return merge_nquads(inspection.statements.values()).encode("utf-8", "replace")


def _list_statements(inspection: Inspection) -> Iterator[tuple[str, str, str, str]]:
    for syntax, nquads in inspection.statements.items():
        for quad in pyoxigraph.parse(nquads.encode("utf-8", "replace"), RdfFormat.N_QUADS):
            yield syntax, _write_term(quad.subject), _write_term(quad.predicate), _write_term(quad.object)


def _write_term(term: object) -> str:
    """An IRI or the text of a literal as it is, a blank node by its label."""
    return str(term) if isinstance(term, pyoxigraph.BlankNode) else str(getattr(term, "value", term))


def _name_wishes(found: Extraction) -> tuple[str, ...]:
    names = [name for name in ("noindex", "nofollow", "noarchive") if getattr(found.robots, name)]
    names += ["unavailable_after"] if found.robots.unavailable_after else []
    return tuple(f"{name} (meta robots)" for name in names)
