"""The search page: a question and what sifts it in, results as cards with facets out; and suggestions while somebody types."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from rdfspider.errors import UnindexedError
from rdfspider.index.ledger.reader import NameCount
from rdfspider.index.text.fields import ENTITY, PAGE
from rdfspider.index.text.query_language import parse_question
from rdfspider.index.text.results import Hit, Results
from rdfspider.index.text.searcher import MAX_RESULTS
from rdfspider.index.text.suggestions import Suggestion
from rdfspider.serve.facet_links import FIELDS, Sieve, is_called, name_ontologies
from rdfspider.serve.rendering import clean_text
from rdfspider.serve.replies import Ask, Page, Parameter, Table, View
from rdfspider.vocabulary.names import list_prefixes

RESULTS_SHOWN, MAX_SHOWN = 10, 100
"""On a page, where nothing else is asked for, and at most."""
_ONTOLOGIES_OFFERED = 30
# An ontology that nobody knows is offered where so many pages use it.
_PAGES_OFTEN = 3
_SUGGESTIONS_SHOWN = 8
# Whoever takes a letter back sees at once what was there before.
_KEPT_SHORTLY = {"Cache-Control": "private, max-age=10"}
# Of one result, in RDF.
_MAX_STATEMENTS = 2_000
_HEADS = ("kind", "id", "label", "types", "snippet", "url", "image", "facts", "pages", "sites", "date")


@dataclass(frozen=True, slots=True)
class SuggestionsData:
    """How a question may go on, for JSON."""

    query: str
    suggestions: list[Suggestion]


def show_search(ask: Ask) -> View:
    """Results, the best first; without a question, everything."""
    sieve = Sieve(ask)
    limit = ask.get_number("limit", RESULTS_SHOWN, MAX_SHOWN)
    most_pages = MAX_RESULTS // limit
    page = ask.get_number("page", 1, most_pages)
    kind = _find_kind(ask)
    context: dict[str, Any] = {"sieve": sieve, "page": page, "ontologies": list_ontologies(ask)}
    try:
        results = _search(ask, sieve, kind or ENTITY, page, limit)
        if not kind and not results.total and results.kind_counts.get(PAGE):
            # Where no thing fits, pages do.
            kind = PAGE
            results = _search(ask, sieve, kind, page, limit)
    except UnindexedError:
        # The first pages may not be indexed yet, which is no mistake of whoever looks.
        if ask.format != "html":
            raise
        return View("search.html", {**context, "results": None}, status=503)
    context |= {
        "results": results,
        "kind": kind or ENTITY,
        "pages": min(-(-results.total // limit), most_pages),
        "reachable": most_pages * limit,
        "facets": [sieve.make_choices(facet) for facet in results.facets if facet.counts],
    }
    return View(
        "search.html",
        context,
        data=lambda: results,
        table=lambda: Table(_HEADS, map(_make_row, results)),
        nquads=lambda: ask.site.indexes.dump_hits(results, _MAX_STATEMENTS),
    )


def show_suggestions(ask: Ask) -> View:
    """How the question may go on."""
    try:
        found = ask.site.indexes.suggest(ask.get("q"), _SUGGESTIONS_SHOWN) if ask.get("q") else []
    except UnindexedError:
        # Nothing is indexed yet: nothing can be suggested.
        found = []
    # They are put into the box as they are.
    suggestions = [replace(one, text=clean_text(one.text), about=clean_text(one.about)) for one in found]
    return View("", data=lambda: SuggestionsData(ask.get("q"), suggestions), headers=_KEPT_SHORTLY)


def list_ontologies(ask: Ask) -> list[tuple[str, str, bool]]:
    """Those to choose from beside the box, each with its name and whether it is chosen: the most used, and the chosen one."""
    statistics = ask.site.indexes.recent_statistics()
    used = filter(_is_worth_choosing, statistics.ontologies if statistics else ())
    names = [count.name for count in islice(used, _ONTOLOGIES_OFFERED)]
    asked = ask.get("ontology")
    chosen = next((name for name in names if asked and is_called("ontology", name, asked)), "")
    if asked and not chosen:
        names, chosen = [asked, *names], asked
    return [(iri, name, iri == chosen) for iri, name in name_ontologies(names).items()]


def _is_worth_choosing(count: NameCount) -> bool:
    """Whether it is an ontology that people know, or that several pages use: some pages take words for prefixes, or themselves
    for an ontology."""
    is_address = count.name.startswith(("http://", "https://"))
    return bool(list_prefixes(count.name)) or (is_address and count.pages >= _PAGES_OFTEN)


def _search(ask: Ask, sieve: Sieve, kind: str, page: int, limit: int) -> Results:
    indexes, question = ask.site.indexes, ask.get("q")
    chosen: dict[str, Any] = {**sieve.chosen, "kind": kind}
    has_facets = ask.format in ("html", "json")
    results = indexes.search(question, **chosen, limit=limit, offset=(page - 1) * limit, facets=has_facets)
    if not has_facets or not sieve.chosen:
        return results
    facets = {facet.field: facet for facet in results.facets}
    for field in sieve.chosen:
        # What else could be chosen in a field is not among what was found. One click ago it was, so that it is counted already.
        others = {name: values for name, values in chosen.items() if name != field}
        found = indexes.search(question, **others, limit=1, facets=True)
        without = next(facet for facet in found.facets if facet.field == field)
        facets[field] = sieve.widen(facets[field], without)
    return replace(results, facets=tuple(facets.values()))


def _find_kind(ask: Ask) -> str:
    """Which kind of results is asked for, in one way or another; empty where that is left open."""
    clauses = (clause for group in parse_question(ask.get("q")).groups for clause in group)
    typed = next((clause.text.lower() for clause in clauses if clause.field == "kind" and not clause.is_excluded), "")
    kind = typed or ask.get("kind")
    return kind if kind in (ENTITY, PAGE) else ""


def _make_row(hit: Hit) -> Sequence[object]:
    facts = "; ".join(f"{name}: {value}" for name, value in hit.fact_names)
    shown = (hit.label, " ".join(hit.types), hit.snippet.text, hit.url, hit.image, facts)
    return (hit.kind, hit.id, *shown, hit.sources, hit.site_count, hit.day)


_QUESTION = Parameter("q", "Words, and more: see the documentation of search.")
PAGES = (
    Page(
        "/search",
        show_search,
        "Things and pages that fit a question, the best first, and how many have which type, ontology, site and more.",
        (
            _QUESTION,
            *(
                Parameter(field, f"{title}; several mean any of them.", is_repeated=True)
                for field, title in FIELDS.items()
            ),
            Parameter("kind", "entity or page; without it things, and pages where no thing fits."),
            Parameter("page", "Which page of results, from 1 on.", kind="integer"),
            Parameter("limit", f"How many results a page has: 1 to {MAX_SHOWN}, else {RESULTS_SHOWN}.", kind="integer"),
        ),
        answer=Results,
    ),
    Page(
        "/suggest",
        show_suggestions,
        "How a question may go on that somebody types.",
        (_QUESTION,),
        formats=("json",),
        answer=SuggestionsData,
    ),
)
