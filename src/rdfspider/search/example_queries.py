"""Example SPARQL queries for the data of a crawl: its ledger and quads enter, queries that have an answer leave.

Each is filled in with a class of the data, so that people can run it as it is, and change it.
"""

import re
from dataclasses import dataclass, replace

from pyoxigraph import Store

from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.results import NameKind
from rdfspider.search.worth_seeing import rank_names
from rdfspider.urls import is_valid_iri
from rdfspider.vocabulary.names import find_short_name, list_prefixes, split_iri
from rdfspider.vocabulary.prefixes import QUERY_PREFIXES, SCHEMA

_LOCAL_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?")
_NO_QUERY_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
# The properties for names in the vocabularies that pages use.
_NAMED = "schema:name|schema:headline|foaf:name|dcterms:title|dc:title|og:title|rdfs:label"
# This many classes, and things of each, are examined; it takes milliseconds.
_CLASSES = 40
_SOME = "{ SELECT ?thing { ?thing a CLASS } LIMIT 200 }"
_HAS_NAME, _IS_LINKED = f"{_SOME} ?thing NAMES ?name", f"{_SOME} ?other ?property ?thing"


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


EXAMPLES = (
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
        "Places on a map",
        "SELECT ?place ?name ?lat ?long\nWHERE {\n"
        "  ?at schema:latitude|geo:lat|og:latitude ?lat ;\n    schema:longitude|geo:long|og:longitude ?long .\n"
        "  OPTIONAL { ?whole schema:geo ?at }\n  BIND(COALESCE(?whole, ?at) AS ?place)\n"
        "  OPTIONAL { ?place NAMES ?name }\n}\nLIMIT 500",
        proof="?at schema:latitude|geo:lat|og:latitude ?lat",
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


def list_examples(ledger: LedgerReader | None, store: Store | None = None) -> list[ExampleQuery]:
    """List the examples that have an answer, judged by a quick check; without an index, or while it has no page, those that need
    no property of schema.org."""
    if ledger is None or store is None or not ledger.read_totals().pages:
        return [_fill(example, "schema:Thing", "thing") for example in EXAMPLES if not example.needs]
    pages = ledger.read_totals().pages
    counts, sites = ledger.read_names(NameKind.CLASS, _CLASSES), ledger.read_totals().sites
    # What is worth seeing first; where nothing is, what there is.
    ranked = [*rank_names(NameKind.CLASS, counts, sites), *counts]
    classes = [name for name in dict.fromkeys(count.name for count in ranked) if is_valid_iri(name)]
    written = {text: find_short_name(iri) for iri in classes if (text := write_name(iri))} or {"schema:Thing": "thing"}
    chosen = next((text for text in written if _holds(store, _HAS_NAME, text)), next(iter(written)))
    return [
        _fill(example, chosen, written[chosen])
        for example in EXAMPLES
        if all(ledger.find_name(NameKind.PROPERTY, SCHEMA + name) for name in example.needs)
        and (not example.proof or _holds(store, example.proof, chosen))
        and pages >= example.least_pages
    ]


def write_name(iri: str) -> str:
    """Write an IRI for a query: schema:Person if the prefix needs no declaration, otherwise in angle brackets.

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
