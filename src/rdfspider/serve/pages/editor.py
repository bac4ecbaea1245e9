"""The SPARQL editor: a form, with the answer below it. Scripts improve both, but neither needs them.

The page has the path of the SPARQL endpoint: clients that prefer HTML get this page.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

from pyoxigraph import BlankNode, Literal, NamedNode, Store

from rdfspider.errors import RdfspiderError, UnindexedError, UsageError
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.quads.sparql.engine import QUERY_PREFIXES, QueryAnswer
from rdfspider.index.quads.sparql.messages import Graphs
from rdfspider.index.quads.sparql.result_documents import BOOLEAN, ROWS, TRIPLES
from rdfspider.index.quads.sparql.rows import Term, read_rows
from rdfspider.serve.endpoint import PATH
from rdfspider.serve.negotiation import FORMATS
from rdfspider.serve.rendering import make_address
from rdfspider.serve.replies import CsvTable, PageReply, PageRequest, Parameter, SitePage, find_status
from rdfspider.serve.site import Site
from rdfspider.urls import is_valid_iri
from rdfspider.vocabulary.names import find_short_name, list_prefixes, split_iri
from rdfspider.vocabulary.prefixes import XSD, XSD_NUMBERS

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
DOWNLOADS = {ROWS: _RESULTS, BOOLEAN: _RESULTS, TRIPLES: _TRIPLES}
"""By kind of answer: the endpoint's name of each format, its display name, and its file extension."""
_GRAPHS = ("default-graph-uri", "named-graph-uri")
_LOCAL_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?")
_NO_QUERY_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
# The properties for names in the vocabularies that pages use.
_NAMED = "schema:name|schema:headline|foaf:name|dcterms:title|dc:title|og:title|rdfs:label"
_SCHEMA = QUERY_PREFIXES["schema"]
# This many classes, and things of each, are examined; it takes milliseconds.
_CLASSES = 20
_SOME = "{ SELECT ?thing { ?thing a CLASS } LIMIT 200 }"
_HAS_NAME, _IS_LINKED = f"{_SOME} ?thing NAMES ?name", f"{_SOME} ?other ?property ?thing"


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

    kind: str
    """rows, boolean or triples."""
    seconds: float
    is_cut: bool
    variables: tuple[str, ...] = ()
    rows: tuple[tuple[Cell | None, ...], ...] = ()
    numeric: tuple[bool, ...] = ()
    """For each variable: whether all of its values are numbers."""
    text: str = ""
    """The document itself: results as JSON, triples as Turtle."""
    is_true: bool = False


@dataclass(frozen=True, slots=True)
class ExampleQuery:
    """An example query. CLASS and NAMES in it are replaced by what the data contains."""

    title: str
    query: str
    needs: tuple[str, ...] = ()
    """Properties of schema.org that the data must use for the query to have an answer."""
    proof: str = ""
    """A pattern that the data must also match."""
    least_pages: int = 1


EXAMPLES: Sequence[ExampleQuery] = (
    ExampleQuery(
        "How many things of each class",
        "SELECT ?class (COUNT(DISTINCT ?thing) AS ?things)\nWHERE {\n  ?thing a ?class\n}\n"
        "GROUP BY ?class\nORDER BY DESC(?things)\nLIMIT 25",
    ),
    ExampleQuery(
        "Things of CLASS and their names",
        "SELECT ?thing ?name\nWHERE {\n  ?thing a CLASS ;\n    NAMES ?name\n}\nLIMIT 100",
        proof=_HAS_NAME,
    ),
    ExampleQuery(
        "What is said of CLASS",
        "SELECT ?property (COUNT(DISTINCT ?thing) AS ?things) (SAMPLE(?value) AS ?example)\n"
        "WHERE {\n  ?thing a CLASS ;\n    ?property ?value\n}\nGROUP BY ?property\nORDER BY DESC(?things)\nLIMIT 50",
    ),
    ExampleQuery(
        "Who says it: pages and names",
        "SELECT ?page ?thing ?name\nWHERE {\n  # The graph of a statement is the page that makes it.\n"
        "  GRAPH ?page {\n    ?thing a CLASS ;\n      NAMES ?name\n  }\n}\nLIMIT 100",
        proof=_HAS_NAME,
    ),
    ExampleQuery(
        "By words: things of a type",
        "SELECT ?thing ?name ?score\nWHERE {\n"
        "  SERVICE <urn:rdfspider:text> { ?thing text:query 'type:WORDS' ; text:score ?score ; text:limit 50 }\n"
        "  ?thing NAMES ?name\n}\nORDER BY DESC(?score)",
        proof=_HAS_NAME,
    ),
    ExampleQuery(
        "Most linked things of CLASS",
        "SELECT ?thing (COUNT(?other) AS ?links)\nWHERE {\n  ?thing a CLASS .\n  ?other ?property ?thing\n}\n"
        "GROUP BY ?thing\nORDER BY DESC(?links)\nLIMIT 25",
        proof=_IS_LINKED,
    ),
    ExampleQuery(
        "Where pages are in conflict",
        "SELECT ?thing ?property ?value ?page ?other_value ?other_page\nWHERE {\n"
        "  VALUES ?property { schema:name schema:price schema:telephone schema:startDate schema:datePublished dc:date }\n"
        "  GRAPH ?page { ?thing ?property ?value }\n  GRAPH ?other_page { ?thing ?property ?other_value }\n"
        "  FILTER(?page != ?other_page && STR(?value) < STR(?other_value))\n}\nLIMIT 50",
        least_pages=2,
    ),
    ExampleQuery(
        "Prices by currency",
        "SELECT ?currency (COUNT(DISTINCT ?offer) AS ?offers) (MIN(?number) AS ?least) (AVG(?number) AS ?mean)"
        " (MAX(?number) AS ?most)\n"
        "WHERE {\n  ?offer schema:price ?price ;\n    schema:priceCurrency ?given\n"
        "  # Some pages say in which language it is.\n  BIND(STR(?given) AS ?currency)\n"
        "  BIND(xsd:decimal(STR(?price)) AS ?number)\n  FILTER(BOUND(?number))\n}\n"
        "GROUP BY ?currency\nORDER BY DESC(?offers)",
        ("price", "priceCurrency"),
    ),
    ExampleQuery(
        "Published by year",
        "SELECT ?year (COUNT(DISTINCT ?thing) AS ?things)\nWHERE {\n  ?thing schema:datePublished ?date\n"
        "  BIND(xsd:integer(SUBSTR(STR(?date), 1, 4)) AS ?year)\n  FILTER(BOUND(?year))\n}\nGROUP BY ?year\nORDER BY ?year",
        ("datePublished",),
    ),
    ExampleQuery(
        "Statements by site",
        "SELECT ?site (COUNT(?page) AS ?pages) (SUM(?triples) AS ?statements)\nWHERE {\n"
        "  GRAPH <urn:rdfspider:fetches> { ?page void:triples ?triples }\n"
        '  BIND(REPLACE(STR(?page), "^[a-z]+://([^/]+)/.*$", "$1") AS ?site)\n}\n'
        "GROUP BY ?site\nORDER BY DESC(?statements)\nLIMIT 25",
    ),
    ExampleQuery(
        "Pages fetched by hour",
        "SELECT ?hour (COUNT(?page) AS ?pages)\nWHERE {\n"
        "  GRAPH <urn:rdfspider:fetches> { ?page prov:generatedAtTime ?time }\n"
        '  BIND(CONCAT(SUBSTR(STR(?time), 1, 13), ":00:00Z") AS ?hour)\n}\nGROUP BY ?hour\nORDER BY ?hour',
    ),
    ExampleQuery(
        "Statements of another shape, by CONSTRUCT",
        "CONSTRUCT { ?thing rdfs:label ?name }\nWHERE {\n  ?thing a CLASS ;\n    NAMES ?name\n}\nLIMIT 100",
        proof=_HAS_NAME,
    ),
)
"""All examples, the simplest first."""


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
    examples = _read_examples(request.site)
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
    kind = request.get("kind", "class")
    if kind not in ("class", "property"):
        raise UsageError(f"kind is class or property, not {kind[:40]!r}")
    try:
        counts = request.site.indexes.find_names(kind, request.get("q"), _NAMES)
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
        is_plain = term.language or datatype == f"{XSD}string"
        kind = "number" if datatype in XSD_NUMBERS else "text"
        return Cell(kind, term.value, term.language or "", "" if is_plain else datatype)
    return Cell("node", str(term))


def _read_examples(site: Site) -> "list[ExampleQuery]":
    try:
        with site.indexes.use_ledger() as ledger, site.indexes.use_quads() as store:
            return list_examples(ledger, store)
    except UnindexedError:
        # Nothing is indexed yet, which is not the client's error.
        return list_examples(None)


def list_examples(ledger: LedgerReader | None, store: Store | None = None) -> "list[ExampleQuery]":
    """The examples that have an answer, judged by a quick check; without an index, those that need no property of schema.org."""
    if ledger is None or store is None:
        return [_fill(example, "schema:Thing", "thing") for example in EXAMPLES if not example.needs]
    pages = ledger.read_totals().pages
    classes = [count.name for count in ledger.read_names("class", _CLASSES) if is_valid_iri(count.name)]
    written = {text: find_short_name(iri) for iri in classes if (text := write_name(iri))} or {"schema:Thing": "thing"}
    chosen = next((text for text in written if _holds(store, _HAS_NAME, text)), next(iter(written)))
    return [
        _fill(example, chosen, written[chosen])
        for example in EXAMPLES
        if all(ledger.find_name("property", _SCHEMA + name) for name in example.needs)
        and (not example.proof or _holds(store, example.proof, chosen))
        and pages >= example.least_pages
    ]


def write_name(iri: str) -> str:
    """An IRI as written in a query: schema:Person if the prefix needs no declaration, otherwise in angle brackets.

    Empty if no query can contain it.
    """
    namespace, name = split_iri(iri)
    for prefix in list_prefixes(namespace):
        if QUERY_PREFIXES.get(prefix) == namespace and _LOCAL_NAME.fullmatch(name):
            return f"{prefix}:{name}"
    return "" if _NO_QUERY_IRI.search(iri) else f"<{iri}>"


def _fill(example: ExampleQuery, class_name: str, words: str) -> ExampleQuery:
    query = _put(example.query, class_name).replace("WORDS", _quote(words))
    return replace(example, title=_put(example.title, class_name), query=query)


def _put(text: str, class_name: str) -> str:
    return text.replace("NAMES", _NAMED).replace("CLASS", class_name)


def _holds(store: Store, pattern: str, class_name: str) -> bool:
    return bool(store.query(f"ASK {{ {_put(pattern, class_name)} }}", prefixes=dict(QUERY_PREFIXES)))


def _quote(words: str) -> str:
    return re.sub(r"[^\w.-]+", " ", words).strip() or "thing"


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
