"""The SPARQL editor: a form, with the answer below it. Scripts improve both, but neither needs them.

The page has the path of the SPARQL endpoint: clients that prefer HTML get this page.
"""

import json
from dataclasses import astuple, dataclass, replace

from pyoxigraph import BlankNode, Literal, NamedNode

from rdfspider.errors import RdfspiderError, UnindexedError, UsageError
from rdfspider.results import AnswerKind, Graphs, NameKind, QueryAnswer
from rdfspider.search.example_queries import write_name
from rdfspider.search.rows import Term, read_rows
from rdfspider.serve.endpoint import PATH
from rdfspider.serve.negotiation import FORMATS
from rdfspider.serve.rendering import make_address
from rdfspider.serve.replies import CsvTable, PageReply, PageRequest, Parameter, SitePage, find_status
from rdfspider.vocabulary.prefixes import QUERY_PREFIXES, XSD, XSD_NUMBERS

SHOWN_ROWS = 500
"""The most rows that the server renders as HTML; downloads and scripts get everything that the endpoint returns."""
_SHOWN_BYTES = 1 << 20
_NAMES = 40
_RESULTS = (("json", "JSON", "srj"), ("xml", "XML", "srx"), ("csv", "CSV", "csv"), ("tsv", "TSV", "tsv"))
_TRIPLES = (
    ("ttl", "Turtle", "ttl"),
    ("nt", "N-Triples", "nt"),
    ("jsonld", "JSON-LD", "jsonld"),
    ("rdf", "RDF/XML", "rdf"),
)
DOWNLOADS = {AnswerKind.ROWS: _RESULTS, AnswerKind.BOOLEAN: _RESULTS, AnswerKind.TRIPLES: _TRIPLES}
"""By kind of answer: the endpoint's name of each format, its display name, and its file extension."""
_GRAPHS = ("default-graph-uri", "named-graph-uri")


@dataclass(frozen=True, slots=True)
class Cell:
    """A term as shown in a table."""

    kind: str
    """iri, number, text, or node for a term without a name outside of the answer."""
    text: str
    language: str = ""
    datatype: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """A class or a property, as a query may go on."""

    text: str
    """As written in a query."""
    iri: str
    uses: int


@dataclass(frozen=True, slots=True)
class CompletionsData:
    """How a query may go on, for JSON."""

    names: list[Completion]


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer, or its first part, as the page shows it."""

    kind: AnswerKind
    seconds: float
    is_cut: bool
    variables: tuple[str, ...] = ()
    rows: tuple[tuple[Cell | None, ...], ...] = ()
    numeric: tuple[bool, ...] = ()
    """For each variable: whether all of its values are numbers."""
    text: str = ""
    """The document itself: results as JSON, triples as Turtle."""
    is_true: bool = False


def show_editor(request: PageRequest) -> PageReply:
    """Show the form, with the given query and its answer."""
    query = request.get("query")
    shown: Shown | None = None
    problem = ""
    status = 200
    if query:
        try:
            shown = _answer(request, query)
        except RdfspiderError as error:
            problem = request.site.tell(error)
            status = find_status(error)
    examples = request.site.indexes.examples()
    context = {
        "query": query or examples[0].query,
        "examples": [(example.title, make_address(request.path, query=example.query)) for example in examples],
        "shown": shown,
        "problem": problem,
        "downloads": DOWNLOADS[shown.kind] if shown else (),
        "settings": json.dumps(
            {"prefixes": QUERY_PREFIXES, "downloads": DOWNLOADS, "mostRows": request.site.limits.rows}
        ),
        "graphs": [(name, iri) for name in _GRAPHS for iri in request.get_all(name)],
        "rows_most": request.site.limits.rows,
        "timeout_s": request.site.limits.timeout_s,
    }
    return PageReply("editor.html", context, status=status)


def complete_name(request: PageRequest) -> PageReply:
    """Complete the typed text with classes or properties of the data, the most used first."""
    kind = request.get("kind", NameKind.CLASS)
    if kind not in (NameKind.CLASS, NameKind.PROPERTY):
        raise UsageError(f"kind is class or property, not {kind[:40]!r}")
    try:
        counts = request.site.indexes.find_names(NameKind(kind), request.get("q"), _NAMES)
    except UnindexedError:
        counts = []
    names = [(write_name(count.name), count) for count in counts]
    found = [Completion(text, count.name, count.uses) for text, count in names if text]
    return PageReply(
        "",
        data=lambda: CompletionsData(found),
        table=lambda: CsvTable(("text", "iri", "uses"), map(astuple, found)),
    )


def _answer(request: PageRequest, query: str) -> Shown:
    most = request.site.limits
    limits = replace(most, rows=min(SHOWN_ROWS, most.rows), output_bytes=min(_SHOWN_BYTES, most.output_bytes))
    default, named = (request.get_all(name) for name in _GRAPHS)
    graphs = Graphs(default, named) if default or named else None
    base = f"{request.root}{PATH}"
    answer = request.site.indexes.ask(
        query,
        formats=("json", "turtle"),
        limits=limits,
        graphs=graphs,
        base=base,
        cancel=request.cancel,
        client=request.client,
    )
    return read_answer(answer)


def read_answer(answer: QueryAnswer) -> Shown:
    """Prepare an answer in JSON or Turtle for the page."""
    shown = Shown(answer.kind, answer.seconds, answer.is_truncated, text=answer.body.decode("utf-8", "replace"))
    if answer.kind == AnswerKind.BOOLEAN:
        return replace(shown, is_true=bool(json.loads(answer.body)["boolean"]))
    if answer.kind != AnswerKind.ROWS:
        return shown
    rows = read_rows(answer.body, answer.is_truncated)
    cells = tuple(tuple(None if term is None else _make_cell(term) for term in row) for row in rows.terms)
    kinds = ({cell.kind for row in cells if (cell := row[at])} for at in range(len(rows.variables)))
    numeric = tuple(found == {"number"} for found in kinds)
    return replace(shown, variables=rows.variables, rows=cells, numeric=numeric)


def _make_cell(term: Term) -> Cell:
    if isinstance(term, NamedNode):
        return Cell("iri", term.value)
    if isinstance(term, BlankNode):
        return Cell("node", str(term))
    if isinstance(term, Literal):
        datatype = term.datatype.value
        is_plain = term.language or datatype == f"{XSD}string"
        kind = "number" if datatype in XSD_NUMBERS else "text"
        return Cell(kind, term.value, term.language or "", "" if is_plain else datatype)
    return Cell("node", str(term))


PAGES = (
    SitePage(
        "/sparql",
        show_editor,
        "An editor for SPARQL, and the answer to a query.",
        (
            Parameter("query", "A query, of SPARQL 1.1."),
            *(Parameter(name, "A graph of the query's dataset.", is_repeated=True) for name in _GRAPHS),
            Parameter("format", f"In place of Accept: {', '.join(FORMATS)}, or a media type."),
        ),
        formats=("html",),
        is_heavy=True,
    ),
    SitePage(
        "/complete",
        complete_name,
        "Classes and properties of the data whose name has a text in it, the most used first, as a query writes them.",
        (
            Parameter("kind", "class or property."),
            Parameter("q", "A part of its name, its IRI, or schema:Per."),
        ),
        formats=("json", "csv"),
        answer=CompletionsData,
    ),
)
