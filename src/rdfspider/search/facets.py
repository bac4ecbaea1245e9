"""A question's results in, how many of them have which type, ontology, site, year and so on out; and how types lie below others.

Of very many results a part stands for all. Among types, a class whose members are nearly all of one class below it says little,
and is left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil, inf
from typing import Any

from tantivy import Occur, Query

from rdfspider.index.classes import find_superclasses
from rdfspider.index.names import SCHEMA, list_prefixes, shorten_iri
from rdfspider.index.schema import BUCKETS, ENTITY, PAGE
from rdfspider.search.queries import Index, asks_for_things, build_plan
from rdfspider.search.results import Facet, FacetCount
from rdfspider.search.words import Question

FACETS = ("type", "ontology", "property", "site", "lang", "syntax", "year")
VALUES = 10
"""Of each field that are told, where nothing else is asked."""
# Of each field so many values are counted, and so many in each part of the index: from fewer it would not be known which are the
# most frequent ones.
_CANDIDATES, _CANDIDATES_A_SEGMENT = 200, 10_000
# Up to so many results all are counted; of more, about half as many.
_COUNTED = 100_000
_NEARLY_ALL = 0.95
# Nobody looks for it, and much is below it.
_VAGUE = f"{SCHEMA}Intangible"


def count_facets(
    index: Index, query: Query, total: int, values: int = VALUES, *, is_of_pages: bool = False
) -> tuple[Facet, ...]:
    """The most frequent values of each field among the results, so many of each; `is_of_pages` where they alone are asked for."""
    buckets = BUCKETS if total <= _COUNTED else ceil(BUCKETS * _COUNTED / 2 / total)
    if buckets < BUCKETS:
        sample = Query.term_set_query(index.schema, "bucket", list(range(buckets)))
        query = Query.boolean_query([(Occur.Must, query), (Occur.Must, sample)])
    sizes = {"size": _CANDIDATES, "segment_size": _CANDIDATES_A_SEGMENT}
    asked = {field: {"terms": {"field": field, **sizes}} for field in FACETS}
    found: dict[str, Any] = {}
    if not is_of_pages:
        # As in questions, pages are of no type, unless they alone are asked for: then it is that of what they speak of.
        of_things = Query.term_query(index.schema, "kind", ENTITY, "basic")
        things = Query.boolean_query([(Occur.Must, query), (Occur.Must, of_things)])
        found = index.searcher.aggregate(things, {"type": asked.pop("type")})
    found |= index.searcher.aggregate(query, asked)
    return tuple(_make_facet(index, field, found[field], BUCKETS / buckets, values) for field in FACETS)


def list_values(index: Index, field: str) -> list[str]:
    """The values of a field in the whole index, the most frequent first, years the newest first; of very many documents some
    stand for all."""
    total = index.searcher.num_docs
    query = Query.all_query()
    if total > _COUNTED:
        query = Query.term_set_query(index.schema, "bucket", list(range(ceil(BUCKETS * _COUNTED / 2 / total))))
    asked = {"terms": {"field": field, "size": _CANDIDATES, "segment_size": _CANDIDATES_A_SEGMENT}}
    buckets: list[dict[str, Any]] = index.searcher.aggregate(query, {field: asked})[field]["buckets"]
    most = sorted(((str(one["key"]), one["doc_count"]) for one in buckets), key=lambda one: (-one[1], one[0]))
    values = [value for value, _ in most]
    return sorted(values, reverse=True) if field == "year" else values


def count_kinds(index: Index, question: Question, total: int) -> dict[str, int]:
    """How many entities and how many pages the question finds when it asks for no kind; as it is, it finds `total`."""
    groups = tuple(group for group in question.groups if any(clause.field != "kind" for clause in group))
    of_kinds = [clause for group in question.groups if group not in groups for clause in group]
    known: dict[str, int] = {}
    if len(of_kinds) == 1 and not of_kinds[0].is_excluded:
        known[of_kinds[0].text.lower()] = total
    elif asks_for_things(question):
        known[ENTITY] = total
    # Where only a kind was asked for, the rest is everything, and not the nothing that signs alone are.
    rest = replace(question, groups=groups, text=question.text if groups or not question.groups else "")
    query = build_plan(rest, index, is_of_any_kind=True).query
    pages = known[PAGE] if PAGE in known else _count(index, query, PAGE)
    if not of_kinds and not known:
        return {ENTITY: total - pages, PAGE: pages}
    return {ENTITY: known[ENTITY] if ENTITY in known else _count(index, query, ENTITY), PAGE: pages}


def _count(index: Index, query: Query, kind: str) -> int:
    of_kind = Query.term_query(index.schema, "kind", kind, "basic")
    both = Query.boolean_query([(Occur.Must, query), (Occur.Must, of_kind)])
    found: Any = index.searcher.search(Query.const_score_query(both, 0.0), 1)
    return int(found.count)


def _make_facet(index: Index, field: str, found: Mapping[str, Any], scale: float, values: int) -> Facet:
    # tantivy leaves open in which order equals are.
    most = sorted(((str(one["key"]), one["doc_count"]) for one in found["buckets"]), key=lambda one: (-one[1], one[0]))
    if field == "type":
        most = _drop_repetitions(most)
    most = most[:values]
    if field == "year":
        # The most frequent ones, too, but nobody looks for a year among years in another order.
        most.sort(reverse=True)
    parents = _find_parents(index, [value for value, _ in most]) if field == "type" else {}
    counts = (
        FacetCount(value, _name_value(field, value), round(count * scale), parents.get(value, ""))
        for value, count in most
    )
    return Facet(field, tuple(counts), scale > 1 or bool(found["doc_count_error_upper_bound"]))


def _drop_repetitions(types: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """The types without those whose members are nearly all of one class below them, and without what is only not tangible."""
    counts = dict(types)
    repeated = {
        above
        for iri, count in counts.items()
        for above in find_superclasses(iri)
        if count >= _NEARLY_ALL * counts.get(above, inf)
    }
    return [one for one in types if one[0] not in repeated and one[0] != _VAGUE]


def _find_parents(index: Index, types: Sequence[str]) -> dict[str, str]:
    """The nearest superclass of each type among the others: by schema.org, and as pages state."""
    above = {iri: [each for each in find_superclasses(iri) if each in types] for iri in types}
    by_lower = {iri.lower(): iri for iri in types}
    for parent in types:
        for child in _keep_known(index.find_subclasses(parent.lower()), by_lower):
            if child != parent and parent not in above[child]:
                above[child].append(parent)
    # The nearest is the one below all the others. It has fewer above it than its child has, so that pages which call two classes
    # subclasses of each other make no circle.
    return {
        iri: max(nearer, key=lambda parent: len(above[parent]))
        for iri, parents in above.items()
        if (nearer := [parent for parent in parents if len(above[parent]) < len(parents)])
    }


def _keep_known(found: Iterable[str], by_lower: Mapping[str, str]) -> list[str]:
    return [by_lower[iri.lower()] for iri in sorted(found) if iri.lower() in by_lower]


def _name_value(field: str, value: str) -> str:
    if field == "ontology":
        return next(iter(list_prefixes(value)), value)
    return shorten_iri(value) if field in ("type", "property") else value
