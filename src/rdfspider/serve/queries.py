"""A crawl's counts in, what may be asked of it in SPARQL out: queries to begin with, and names as a query writes them.

Queries are about what the pages have: of their most used class, and of properties that they use.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rdfspider.index.ledger_reader import LedgerReader
from rdfspider.index.names import find_short_name, list_prefixes, split_iri
from rdfspider.search.sparql import QUERY_PREFIXES

_LOCAL_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?")
_NO_QUERY_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
# What says what a thing is called, in the vocabularies that pages use.
_NAMED = "schema:name|schema:headline|foaf:name|dcterms:title|dc:title|og:title|rdfs:label"
_SCHEMA = QUERY_PREFIXES["schema"]


@dataclass(frozen=True, slots=True)
class Example:
    """A query to begin with. CLASS and NAMES in it stand for what the data has."""

    title: str
    query: str
    needs: tuple[str, ...] = ()
    """Properties of schema.org, all of which pages must use for it to have an answer."""


def list_examples(ledger: LedgerReader | None) -> list[Example]:
    """Those that have an answer; without an index, those that need nothing of it."""
    classes = [count.name for count in ledger.read_names("class", 1)] if ledger else []
    chosen = next(filter(None, map(write_name, classes)), "schema:Thing")
    words = find_short_name(classes[0]) if classes else "thing"
    return [
        Example(
            example.title.replace("CLASS", chosen),
            example.query.replace("CLASS", chosen).replace("NAMES", _NAMED).replace("WORDS", _quote(words)),
            example.needs,
        )
        for example in EXAMPLES
        if all(ledger and ledger.find_name("property", _SCHEMA + name) for name in example.needs)
    ]


def write_name(iri: str) -> str:
    """An IRI as a query writes it: schema:Person where the prefix needs no declaration, else in angle brackets.

    Empty for what no query can hold.
    """
    namespace, name = split_iri(iri)
    for prefix in list_prefixes(namespace):
        if QUERY_PREFIXES.get(prefix) == namespace and _LOCAL_NAME.fullmatch(name):
            return f"{prefix}:{name}"
    return "" if _NO_QUERY_IRI.search(iri) else f"<{iri}>"


def _quote(words: str) -> str:
    return re.sub(r"[^\w.-]+", " ", words).strip() or "thing"


EXAMPLES: Sequence[Example] = (
    Example(
        "How many things of each class",
        "SELECT ?class (COUNT(DISTINCT ?thing) AS ?things)\nWHERE {\n  ?thing a ?class\n}\n"
        "GROUP BY ?class\nORDER BY DESC(?things)\nLIMIT 25",
    ),
    Example(
        "Things of CLASS and their names",
        "SELECT ?thing ?name\nWHERE {\n  ?thing a CLASS ;\n    NAMES ?name\n}\nLIMIT 100",
    ),
    Example(
        "What is said of CLASS",
        "SELECT ?property (COUNT(DISTINCT ?thing) AS ?things) (SAMPLE(?value) AS ?example)\n"
        "WHERE {\n  ?thing a CLASS ;\n    ?property ?value\n}\nGROUP BY ?property\nORDER BY DESC(?things)\nLIMIT 50",
    ),
    Example(
        "Who says it: pages and names",
        "SELECT ?page ?thing ?name\nWHERE {\n  # The graph of a statement is the page that makes it.\n"
        "  GRAPH ?page {\n    ?thing a CLASS ;\n      NAMES ?name\n  }\n}\nLIMIT 100",
    ),
    Example(
        "By words: things of a type",
        "SELECT ?thing ?name ?score\nWHERE {\n"
        "  SERVICE <urn:rdfspider:text> { ?thing text:query 'type:WORDS' ; text:score ?score ; text:limit 50 }\n"
        "  ?thing NAMES ?name\n}\nORDER BY DESC(?score)",
    ),
    Example(
        "Most linked things of CLASS",
        "SELECT ?thing (COUNT(?other) AS ?links)\nWHERE {\n  ?thing a CLASS .\n  ?other ?property ?thing\n}\n"
        "GROUP BY ?thing\nORDER BY DESC(?links)\nLIMIT 25",
    ),
    Example(
        "Where pages are in conflict",
        "SELECT ?thing ?property ?value ?page ?other_value ?other_page\nWHERE {\n"
        "  VALUES ?property { schema:name schema:price schema:telephone schema:startDate schema:datePublished dc:date }\n"
        "  GRAPH ?page { ?thing ?property ?value }\n  GRAPH ?other_page { ?thing ?property ?other_value }\n"
        "  FILTER(?page != ?other_page && STR(?value) < STR(?other_value))\n}\nLIMIT 50",
    ),
    Example(
        "Prices by currency",
        "SELECT ?currency (COUNT(?offer) AS ?offers) (MIN(?number) AS ?least) (AVG(?number) AS ?mean) (MAX(?number) AS ?most)\n"
        "WHERE {\n  ?offer schema:price ?price ;\n    schema:priceCurrency ?currency\n"
        "  BIND(xsd:decimal(STR(?price)) AS ?number)\n  FILTER(BOUND(?number))\n}\n"
        "GROUP BY ?currency\nORDER BY DESC(?offers)",
        ("price", "priceCurrency"),
    ),
    Example(
        "Published by year",
        "SELECT ?year (COUNT(DISTINCT ?thing) AS ?things)\nWHERE {\n  ?thing schema:datePublished ?date\n"
        "  BIND(xsd:integer(SUBSTR(STR(?date), 1, 4)) AS ?year)\n  FILTER(BOUND(?year))\n}\nGROUP BY ?year\nORDER BY ?year",
        ("datePublished",),
    ),
    Example(
        "Statements by site",
        "SELECT ?site (COUNT(?page) AS ?pages) (SUM(?triples) AS ?statements)\nWHERE {\n"
        "  GRAPH <urn:rdfspider:fetches> { ?page void:triples ?triples }\n"
        '  BIND(REPLACE(STR(?page), "^[a-z]+://([^/]+)/.*$", "$1") AS ?site)\n}\n'
        "GROUP BY ?site\nORDER BY DESC(?statements)\nLIMIT 25",
    ),
    Example(
        "Pages fetched by hour",
        "SELECT ?hour (COUNT(?page) AS ?pages)\nWHERE {\n"
        "  GRAPH <urn:rdfspider:fetches> { ?page prov:generatedAtTime ?time }\n"
        '  BIND(CONCAT(SUBSTR(STR(?time), 1, 13), ":00:00Z") AS ?hour)\n}\nGROUP BY ?hour\nORDER BY ?hour',
    ),
    Example(
        "Statements of another shape, by CONSTRUCT",
        "CONSTRUCT { ?thing rdfs:label ?name }\nWHERE {\n  ?thing a CLASS ;\n    NAMES ?name\n}\nLIMIT 100",
    ),
)
"""All of them, the plainest first."""
