"""What was extracted from one page enters, what the inspector shows of it leaves, in every format: for pages that were
crawled, fetched on request, or pasted."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from itertools import islice
from typing import NamedTuple, TypedDict

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat

from rdfspider.errors import UsageError
from rdfspider.formats import merge_nquads
from rdfspider.records import Extraction, Problem
from rdfspider.results import ValueKind
from rdfspider.serve.replies import CsvTable, PageRequest
from rdfspider.validate.checks import Checks, check_page
from rdfspider.validate.faults import Fault, explain_code
from rdfspider.validate.findings import Finding, group_alike
from rdfspider.validate.output import COLUMNS
from rdfspider.vocabulary.class_kinds import is_layout
from rdfspider.vocabulary.labels import LABELS, RDF_TYPE
from rdfspider.vocabulary.prefixes import RDF, XSD
from rdfspider.vocabulary.terms import fold_iri

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
"""Display names, by the extraction's own names."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_CHECKS = Checks("google")
LINES_SHOWN = 200
_LINE_CHARS = 500
TABLES = ("statements", "findings", "links", "problems")
"""The tables available as CSV, chosen by the parameter `part`."""
MAX_STATEMENTS = 3_000
"""The most statements that are read per syntax."""
MAX_THINGS = 60
MAX_VALUES = 12
"""Per property."""
_MAX_DEPTH = 6
_MAX_ITEMS = 200
_XSD_STRING, _LANGUAGE_STRING = f"{XSD}string", f"{RDF}langString"
Term = NamedNode | BlankNode | Literal


@dataclass(frozen=True, slots=True)
class OutlineValue:
    """A value of a property."""

    text: str
    """The text of a literal, an IRI, or the label of a blank node."""
    kind: ValueKind = ValueKind.LITERAL
    language: str = ""
    datatype: str = ""
    thing: "OutlineNode | None" = None
    """The content of a blank node, given where the node first appears."""


@dataclass(frozen=True, slots=True)
class OutlineProperty:
    """A property of a node."""

    iri: str
    values: tuple[OutlineValue, ...]
    left_out: int = 0
    """The number of values that are not shown."""


@dataclass(frozen=True, slots=True)
class OutlineNode:
    """The statements about one subject."""

    name: str
    """Its IRI, or its blank node label on the page: `_:b0`."""
    is_named: bool
    label: str = ""
    """Its name according to the page; empty if there is none."""
    types: tuple[str, ...] = ()
    properties: tuple[OutlineProperty, ...] = ()

    def count_values(self) -> int:
        """Count the values that it has, those of the nodes in it included."""
        return sum(
            1 + (value.thing.count_values() if value.thing else 0) for each in self.properties for value in each.values
        )


@dataclass(frozen=True, slots=True)
class Outline:
    """The statements of a page in one syntax."""

    syntax: str
    things: tuple[OutlineNode, ...]
    statements: int
    """The total number."""
    things_left_out: int = 0
    """Nodes in the statements that were read, but that are not shown."""
    statements_left_out: int = 0
    """Statements that were not read."""

    @property
    def main(self) -> OutlineNode | None:
        """The node to read first: of those that are no mere part of another or of the page's layout, the one of which most is
        said; without one, the first."""
        whole = [thing for thing in self.things if not all(map(is_layout, thing.types))]
        return max(whole or self.things[:1], key=lambda thing: thing.count_values(), default=None)


@dataclass(frozen=True, slots=True)
class OutLink:
    """Where a page leads."""

    url: str
    relation: str = ""
    text: str = ""
    nofollow: bool = False


class Remark(NamedTuple):
    """A problem of a page, with its explanation."""

    problem: Problem
    fault: Fault


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was extracted from a page."""

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
    """Why only the beginning of the text is given; empty if it is complete."""
    directives: Sequence[str] = ()
    """The robots directives of the page, and where each is given."""
    source: str = ""
    """The page as text, for the lines of findings; empty if it is not at hand."""

    @property
    def findings(self) -> list[Finding]:
        """What is wrong with its structured data, the worst first; as `rdfspider validate` tells it."""
        return check_page(_CHECKS, self.url, self.statements, self.problems, self.source)

    def group_findings(self, findings: Iterable[Finding]) -> list[list[Finding]]:
        """Group findings that differ in the value alone, for templates."""
        return group_alike(findings)

    @property
    def outlines(self) -> list[Outline]:
        """The statements of each syntax as an outline for people."""
        return [make_outline(syntax, nquads) for syntax, nquads in self.statements.items() if nquads]

    @property
    def statement_count(self) -> int:
        """Over all syntaxes; a statement made in two syntaxes counts twice."""
        return sum(nquads.count("\n") for nquads in self.statements.values())

    @property
    def language_tag(self) -> str:
        """The page's language if it is a valid language tag; otherwise empty."""
        return self.language if _LANGUAGE.fullmatch(self.language) else ""

    @property
    def remarks(self) -> list[Remark]:
        """The page's problems, the most severe first."""
        found = [Remark(problem, explain_code(problem.code)) for problem in self.problems]
        return sorted(found, key=lambda remark: remark.fault.severity.rank)

    def write_lines(self, syntax: str) -> str:
        """The first N-Quads of a syntax, verbatim; long lines are cut."""
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
    directives: list[str]
    """Robots directives, and where each is given."""
    statements: dict[str, str]
    findings: list[Finding]
    """What is wrong with its structured data, the worst first."""
    problems: list[ProblemData]
    links: list[OutLink]
    text: str
    text_cut: str


def inspect_extraction(
    found: Extraction, body_bytes: int, directives: Sequence[str] = (), source: str = ""
) -> Inspection:
    """Make the inspection of a page that is in no crawl."""
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
        directives=directives or _name_directives(found),
        source=source,
    )


def describe_inspection(inspection: Inspection) -> InspectionData:
    """The whole inspection, for JSON."""
    return {
        "url": inspection.url,
        "title": inspection.title,
        "media_type": inspection.media_type,
        "charset": inspection.charset,
        "language": inspection.language,
        "canonical": inspection.canonical,
        "body_bytes": inspection.body_bytes,
        "directives": list(inspection.directives),
        "statements": dict(inspection.statements),
        "findings": inspection.findings,
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


def make_table(request: PageRequest, inspection: Inspection) -> CsvTable:
    """One of the inspection's lists, for CSV."""
    part = request.get("part") or TABLES[0]
    tables: dict[str, Callable[[], CsvTable]] = {
        "statements": lambda: CsvTable(("syntax", "subject", "predicate", "object"), _list_statements(inspection)),
        "findings": lambda: CsvTable(
            COLUMNS, [[getattr(found, name) for name in COLUMNS] for found in inspection.findings]
        ),
        "links": lambda: CsvTable(("url", "relation", "text", "nofollow"), map(astuple, inspection.links)),
        "problems": lambda: CsvTable(
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
    """The statements of all syntaxes, without duplicates."""
    return merge_nquads(inspection.statements.values()).encode("utf-8", "replace")


def make_outline(syntax: str, nquads: str) -> Outline:
    """Make the outline of the statements in one syntax."""
    total = nquads.count("\n")
    head = "\n".join(islice(nquads.split("\n"), MAX_STATEMENTS)) if total > MAX_STATEMENTS else nquads
    writer = _OutlineWriter(head)
    things = tuple(islice(writer.write_things(), MAX_THINGS))
    left_out = sum(1 for _ in writer.write_things())
    return Outline(syntax, things, total, left_out, max(total - MAX_STATEMENTS, 0))


def _list_statements(inspection: Inspection) -> Iterator[tuple[str, str, str, str]]:
    for syntax, nquads in inspection.statements.items():
        for quad in pyoxigraph.parse(nquads.encode("utf-8", "replace"), RdfFormat.N_QUADS):
            yield syntax, _write_term(quad.subject), _write_term(quad.predicate), _write_term(quad.object)


def _write_term(term: object) -> str:
    """An IRI or the text of a literal verbatim, a blank node by its label."""
    return str(term) if isinstance(term, pyoxigraph.BlankNode) else str(getattr(term, "value", term))


def _name_directives(found: Extraction) -> tuple[str, ...]:
    names = [name for name in ("noindex", "nofollow", "noarchive") if getattr(found.robots, name)]
    names += ["unavailable_after"] if found.robots.unavailable_after else []
    return tuple(f"{name} (meta robots)" for name in names)


class _OutlineWriter:
    def __init__(self, nquads: str) -> None:
        self._statements: dict[NamedNode | BlankNode, dict[str, list[Term]]] = {}
        self._inner: set[BlankNode] = set()
        self._written: set[NamedNode | BlankNode] = set()
        for quad in pyoxigraph.parse(nquads.encode("utf-8", "replace"), RdfFormat.N_QUADS):
            subject, value = quad.subject, quad.object
            if isinstance(subject, (NamedNode, BlankNode)) and isinstance(value, (NamedNode, BlankNode, Literal)):
                self._statements.setdefault(subject, {}).setdefault(quad.predicate.value, []).append(value)
                if isinstance(value, BlankNode) and value != subject:
                    self._inner.add(value)

    def write_things(self) -> Iterator[OutlineNode]:
        """Top-level nodes first, then those that are only part of a cycle or nested too deep."""
        for subject in [subject for subject in self._statements if subject not in self._inner] + list(self._statements):
            if subject not in self._written:
                yield self._write_thing(subject, 0)

    def _write_thing(self, subject: NamedNode | BlankNode, depth: int) -> OutlineNode:
        self._written.add(subject)
        properties = self._statements.get(subject, {})
        return OutlineNode(
            subject.value if isinstance(subject, NamedNode) else str(subject),
            isinstance(subject, NamedNode),
            _find_label(properties),
            tuple(
                dict.fromkeys(
                    fold_iri(term.value) for term in properties.get(RDF_TYPE, ()) if isinstance(term, NamedNode)
                )
            ),
            tuple(
                self._write_property(iri, terms, depth)
                for iri, terms in properties.items()
                if iri != RDF_TYPE or not all(isinstance(term, NamedNode) for term in terms)
            ),
        )

    def _write_property(self, iri: str, terms: Sequence[Term], depth: int) -> OutlineProperty:
        flat = [item for term in terms for item in self._read_list(term)]
        values = tuple(self._write_value(term, depth) for term in flat[:MAX_VALUES])
        return OutlineProperty(iri, values, len(flat) - len(values))

    def _write_value(self, term: Term, depth: int) -> OutlineValue:
        if isinstance(term, Literal):
            datatype = term.datatype.value
            plain = datatype in (_XSD_STRING, _LANGUAGE_STRING)
            return OutlineValue(term.value, language=term.language or "", datatype="" if plain else datatype)
        if isinstance(term, NamedNode):
            return OutlineValue(term.value, ValueKind.IRI)
        is_new = term in self._statements and term not in self._written and depth < _MAX_DEPTH
        return OutlineValue(str(term), ValueKind.BLANK, thing=self._write_thing(term, depth + 1) if is_new else None)

    def _read_list(self, term: Term) -> list[Term]:
        """The items of an RDF list; any other term is its own only item."""
        items: list[Term] = []
        seen: set[Term] = set()
        node = term
        while isinstance(node, BlankNode) and node not in seen and len(items) < _MAX_ITEMS:
            properties = self._statements.get(node, {})
            if not properties.keys() <= {f"{RDF}first", f"{RDF}rest", RDF_TYPE} or f"{RDF}first" not in properties:
                break
            seen.add(node)
            items += properties[f"{RDF}first"]
            node = next(iter(properties.get(f"{RDF}rest", ())), NamedNode(f"{RDF}nil"))
        self._written.update(each for each in seen if not isinstance(each, Literal))
        return items or [term]


def _find_label(properties: Mapping[str, Sequence[Term]]) -> str:
    """The name that the page gives to a node."""
    named = [(rank, terms) for iri, terms in properties.items() if (rank := LABELS.get(fold_iri(iri))) is not None]
    for _, terms in sorted(named, key=lambda each: each[0]):
        if label := next((term.value for term in terms if isinstance(term, Literal) and term.value.strip()), ""):
            return label
    return ""
