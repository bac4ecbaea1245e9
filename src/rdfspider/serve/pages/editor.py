"""The page where queries are written: a form, and the answer below it. Scripts make more of both; neither needs them.

The address of the page is that of the SPARQL endpoint: whoever prefers HTML is shown this.
"""

import json
from dataclasses import astuple, dataclass, replace

from pyoxigraph import BlankNode, Literal, NamedNode

from rdfspider.errors import RdfspiderError, UnindexedError, UsageError
from rdfspider.index.quads.sparql.engine import QUERY_PREFIXES, Answer
from rdfspider.index.quads.sparql.messages import Graphs
from rdfspider.index.quads.sparql.result_documents import BOOLEAN, ROWS, TRIPLES
from rdfspider.index.quads.sparql.rows import Term, read_rows
from rdfspider.serve.endpoint import PATH
from rdfspider.serve.example_queries import ExampleQuery, list_examples, write_name
from rdfspider.serve.negotiation import FORMATS
from rdfspider.serve.rendering import make_address
from rdfspider.serve.replies import Ask, Page, Parameter, Table, View, find_status
from rdfspider.serve.site import Site

SHOWN_ROWS = 500
"""Of an answer that the server writes as HTML; downloads, and what scripts fetch, have all that the endpoint gives."""
_SHOWN_BYTES = 1 << 20
_NAMES = 40
_XSD = QUERY_PREFIXES["xsd"]
_NUMBERS = frozenset(
    _XSD + name
    for name in (
        "integer decimal double float int long short byte nonNegativeInteger positiveInteger nonPositiveInteger"
        " negativeInteger unsignedInt unsignedLong unsignedShort unsignedByte"
    ).split()
)
_RESULTS = (("json", "JSON", "srj"), ("xml", "XML", "srx"), ("csv", "CSV", "csv"), ("tsv", "TSV", "tsv"))
_TRIPLES = (
    ("ttl", "Turtle", "ttl"),
    ("nt", "N-Triples", "nt"),
    ("jsonld", "JSON-LD", "jsonld"),
    ("rdf", "RDF/XML", "rdf"),
)
DOWNLOADS = {ROWS: _RESULTS, BOOLEAN: _RESULTS, TRIPLES: _TRIPLES}
"""By what a query gives: the endpoint's name of each format, how people call it, and the ending of a file."""
_GRAPHS = ("default-graph-uri", "named-graph-uri")


@dataclass(frozen=True, slots=True)
class Cell:
    """A term, as a table shows it."""

    kind: str
    """iri, number, text, or node for what has no name outside of the answer."""
    text: str
    language: str = ""
    datatype: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """A class or a property, as a query may go on."""

    text: str
    """As the query writes it."""
    iri: str
    uses: int


@dataclass(frozen=True, slots=True)
class CompletionsData:
    """How a query may go on, for JSON."""

    names: list[Completion]


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer, or the first part of it, as the page shows it."""

    kind: str
    """rows, boolean or triples."""
    seconds: float
    is_cut: bool
    variables: tuple[str, ...] = ()
    rows: tuple[tuple[Cell | None, ...], ...] = ()
    numeric: tuple[bool, ...] = ()
    """Of each variable: whether all of its values are numbers."""
    text: str = ""
    """The document itself: results as JSON, triples as Turtle."""
    is_true: bool = False


def show_editor(ask: Ask) -> View:
    """The form, with the query that was given and what it answers."""
    query = ask.get("query")
    shown: Shown | None = None
    problem = ""
    status = 200
    if query:
        try:
            shown = _answer(ask, query)
        except RdfspiderError as error:
            problem = ask.site.tell(error)
            status = find_status(error)
    examples = _read_examples(ask.site)
    context = {
        "query": query or examples[0].query,
        "examples": [(example.title, make_address(ask.path, query=example.query)) for example in examples],
        "shown": shown,
        "problem": problem,
        "downloads": DOWNLOADS[shown.kind] if shown else (),
        "settings": json.dumps({"prefixes": QUERY_PREFIXES, "downloads": DOWNLOADS, "mostRows": ask.site.limits.rows}),
        "graphs": [(name, iri) for name in _GRAPHS for iri in ask.get_all(name)],
        "rows_most": ask.site.limits.rows,
        "timeout_s": ask.site.limits.timeout_s,
    }
    return View("editor.html", context, status=status)


def complete_name(ask: Ask) -> View:
    """Classes or properties of the data that go on as what was typed, the most used first."""
    kind = ask.get("kind", "class")
    if kind not in ("class", "property"):
        raise UsageError(f"kind is class or property, not {kind[:40]!r}")
    try:
        counts = ask.site.indexes.find_names(kind, ask.get("q"), _NAMES)
    except UnindexedError:
        # Nothing is indexed yet.
        counts = []
    names = [(write_name(count.name), count) for count in counts]
    found = [Completion(text, count.name, count.uses) for text, count in names if text]
    return View(
        "",
        data=lambda: CompletionsData(found),
        table=lambda: Table(("text", "iri", "uses"), map(astuple, found)),
    )


def _answer(ask: Ask, query: str) -> Shown:
    most = ask.site.limits
    limits = replace(most, rows=min(SHOWN_ROWS, most.rows), output_bytes=min(_SHOWN_BYTES, most.output_bytes))
    default, named = (ask.get_all(name) for name in _GRAPHS)
    graphs = Graphs(default, named) if default or named else None
    base = f"{ask.root}{PATH}"
    answer = ask.site.indexes.ask(
        query, formats=("json", "turtle"), limits=limits, graphs=graphs, base=base, cancel=ask.cancel, client=ask.client
    )
    return read_answer(answer)


def read_answer(answer: Answer) -> Shown:
    """An answer in JSON or Turtle, for the page."""
    shown = Shown(answer.kind, answer.seconds, answer.is_truncated, text=answer.body.decode("utf-8", "replace"))
    if answer.kind == BOOLEAN:
        return replace(shown, is_true=bool(json.loads(answer.body)["boolean"]))
    if answer.kind != ROWS:
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
        is_plain = term.language or datatype == f"{_XSD}string"
        kind = "number" if datatype in _NUMBERS else "text"
        return Cell(kind, term.value, term.language or "", "" if is_plain else datatype)
    return Cell("node", str(term))


def _read_examples(site: Site) -> list[ExampleQuery]:
    try:
        with site.indexes.use_ledger() as ledger, site.indexes.use_quads() as store:
            return list_examples(ledger, store)
    except UnindexedError:
        # Nothing is indexed yet, which is no mistake of whoever looks.
        return list_examples(None)


PAGES = (
    Page(
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
    Page(
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
