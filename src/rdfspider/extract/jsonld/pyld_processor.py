"""PyLD, for the JSON-LD documents in which pyoxigraph deviates from the specification: a document enters, quads leave.

PyLD is slower, and is imported only here and when first needed: importing it takes longer than a page.
"""

import warnings
from collections.abc import Iterator
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad

from rdfspider.extract.jsonld.contexts import ContextLoader
from rdfspider.extract.jsonld.features import ContextError
from rdfspider.extract.statements import Report
from rdfspider.urls import valid_iri

Dataset = dict[str, list[dict[str, dict[str, str]]]]
"""PyLD's form: triples by graph name, each with three terms, which have a type and a value."""


def to_dataset(document: Any, options: dict[str, Any], load_context: ContextLoader) -> Dataset:
    """JSON-LD 1.1 API, deserialise to RDF; raises `ContextError` with the reason where that fails.

    `options` are those of the API, under its names. Nothing in the dataset is checked.
    """
    from pyld import jsonld
    from pyld.context_resolver import ContextResolver

    refused: list[ContextError] = []

    def load_document(url: str, _: dict[str, Any]) -> dict[str, Any]:
        try:
            context = load_context(url)
        except ContextError as error:
            refused.append(error)
            raise
        return {
            "contentType": "application/ld+json",
            "contextUrl": None,
            "documentUrl": url,
            "document": {"@context": context},
        }

    # A new cache: the shared one would keep one page's contexts for the next.
    resolver = ContextResolver({}, load_document)
    settings = {"documentLoader": load_document, "contextResolver": resolver}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dataset: Dataset = jsonld.to_rdf(document, {**options, **settings})
            return dataset
    except RecursionError:
        raise ContextError("json-too-deep", "the document is nested too deep for what it uses") from None
    except Exception as error:  # PyLD meets hostile documents with errors of any kind, which must cost this one only
        if refused:
            raise refused[0] from None
        raise ContextError("jsonld-error", _reason(error)) from None


def dataset_quads(dataset: Dataset, *, lenient: bool, report: Report) -> Iterator[Quad]:
    """The quads of a dataset. What is invalid is left out or, where lenient, repaired as far as it can be."""
    # PyLD calls the blank nodes of every document b0, b1, …: here they get names that no other document has.
    own = BlankNode().value

    def make_term(term: dict[str, str]) -> NamedNode | BlankNode | Literal | None:
        value = term["value"]
        if term["type"] == "blank node":
            return BlankNode(own + value.removeprefix("_:"))
        if term["type"] == "IRI":
            return _make_iri(value, lenient, report)
        if "language" in term:
            return _make_text(value, term["language"], lenient, report)
        datatype = _make_iri(term["datatype"], lenient, report)
        return datatype and Literal(value, datatype=datatype)

    for name, triples in dataset.items():
        kind = "blank node" if name.startswith("_:") else "IRI"
        graph = DefaultGraph() if name == "@default" else make_term({"type": kind, "value": name})
        for triple in triples:
            subject, predicate, obj = (make_term(triple[role]) for role in ("subject", "predicate", "object"))
            if subject and obj and isinstance(predicate, NamedNode) and graph:
                yield Quad(subject, predicate, obj, graph)  # type: ignore[arg-type]


def _make_iri(value: str, lenient: bool, report: Report) -> NamedNode | None:
    try:
        return NamedNode(value)
    except ValueError:
        found = valid_iri(value) if lenient else None
    if lenient:
        read = f"was read as {found.value[:200]}" if found else "is not a valid IRI"
        report("iri-repaired" if found else "iri-dropped", f"{value[:200]!r} {read}")
    return NamedNode(found.value) if found else None


def _make_text(value: str, language: str, lenient: bool, report: Report) -> Literal | None:
    try:
        return Literal(value, language=language)
    except ValueError:
        if not lenient:
            return None
    report("language-dropped", f"not a language tag: {language[:60]!r}")
    return Literal(value)


def _reason(error: Exception) -> str:
    """The message of the innermost of PyLD's nested errors."""
    while isinstance(error.__cause__, Exception):
        error = error.__cause__
    message = str(error.args[0]) if error.args else str(error)
    return f"{getattr(error, 'code', None) or type(error).__name__}: {message}"
