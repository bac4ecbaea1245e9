"""Facets: a query enters; how many of its results have which type, ontology, site, year and so on leaves.

Counts for very many results are estimated from a sample. Types form a hierarchy; a class is left out if nearly all its
members belong to one of its subclasses.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, inf
from typing import Any

from tantivy import Occur, Query

from rdfspider.index.text.fields import BUCKETS, FACETS
from rdfspider.index.text.query_language import Clause, Question
from rdfspider.index.text.query_plan import Index, Plan, asks_for_things, build_plan, leave_out
from rdfspider.results import Facet, FacetCount, HitKind
from rdfspider.vocabulary.classes import find_superclasses, list_class_names
from rdfspider.vocabulary.names import shorten_iri
from rdfspider.vocabulary.prefixes import PREFIXES, SCHEMA

VALUES = 10
"""Values per facet, by default."""
ENOUGH = 20
"""If at least so many results have all words of a query, those that lack one are neither shown nor counted."""
# Values counted per field, and per segment of the index: with fewer, the most frequent ones would be uncertain.
_CANDIDATES, _CANDIDATES_A_SEGMENT = 200, 10_000
# Up to this many results are all counted; of more, a sample of about half this number.
_COUNTED = 100_000
_NEARLY_ALL = 0.95
# Nobody looks for this class, and it has many subclasses.
_VAGUE = f"{SCHEMA}Intangible"
# Classes of which everything is a member.
_EVERYTHING = (
    f"{SCHEMA}Thing",
    *(PREFIXES[prefix] + name for prefix, name in (("owl", "Thing"), ("rdfs", "Resource"))),
)
_MAX_STATED = 20


def count_facets(
    index: Index, query: Query, total: int, values: int = VALUES, *, is_of_pages: bool = False
) -> tuple[Facet, ...]:
    """Count the most frequent `values` of each field among the results; `is_of_pages` if the query asks for pages only."""
    buckets = BUCKETS if total <= _COUNTED else ceil(BUCKETS * _COUNTED / 2 / total)
    if buckets < BUCKETS:
        sample = Query.term_set_query(index.schema, "bucket", list(range(buckets)))
        query = Query.boolean_query([(Occur.Must, query), (Occur.Must, sample)])
    sizes = {"size": _CANDIDATES, "segment_size": _CANDIDATES_A_SEGMENT}
    asked = {field: {"terms": {"field": field, **sizes}} for field in FACETS}
    found: dict[str, Any] = {}
    typed = query
    if not is_of_pages:
        # As in queries, pages have no type, unless the query asks for pages only: then theirs are the types of their entities.
        of_things = Query.term_query(index.schema, "kind", HitKind.ENTITY, "basic")
        typed = Query.boolean_query([(Occur.Must, query), (Occur.Must, of_things)])
        found = index.searcher.aggregate(typed, {"type": asked.pop("type")})
    found |= index.searcher.aggregate(query, asked)
    scale = BUCKETS / buckets
    return tuple(
        _make_type_facet(index, typed, found[field], scale, values)
        if field == "type"
        else _make_facet(field, found[field], scale, values)
        for field in FACETS
    )


def list_values(index: Index, field: str) -> list[str]:
    """List a field's values in the whole index, the most frequent first (years: the newest); a large index is sampled."""
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
    """Count the entities and the pages that the question finds without its `kind:` clauses; with them it finds `total`."""
    groups = tuple(group for group in question.groups if any(clause.field != "kind" for clause in group))
    of_kinds = [clause for group in question.groups if group not in groups for clause in group]
    known: dict[str, int] = {}
    if len(of_kinds) == 1 and not of_kinds[0].is_excluded:
        known[of_kinds[0].text.lower()] = total
    elif asks_for_things(question):
        known[HitKind.ENTITY] = total
    # If the question has only `kind:`, the rest matches everything; with its text it would match nothing, like punctuation.
    rest = replace(question, groups=groups, text=question.text if groups or not question.groups else "")
    plan = build_plan(rest, index, is_of_any_kind=True)
    return {
        kind: known[kind] if kind in known else _count_kind(index, plan, rest, kind)
        for kind in (HitKind.ENTITY, HitKind.PAGE)
    }


def _count_kind(index: Index, plan: Plan, question: Question, kind: str) -> int:
    """Count the results of a kind: those with all words if they are enough, else those with some."""
    asked = replace(question, groups=(*question.groups, (Clause("kind", kind),)))
    of_kind = Query.term_query(index.schema, "kind", kind, "basic")
    limits = [(Occur.Must, of_kind), *leave_out(asked, index)]
    count = _count(index, Query.boolean_query([(Occur.Must, plan.query), *limits]))
    if plan.some is None or count >= ENOUGH:
        return count
    return _count(index, Query.boolean_query([(Occur.Must, plan.some), *limits]))


def _count(index: Index, query: Query) -> int:
    found: Any = index.searcher.search(Query.const_score_query(query, 0.0), 1)
    return int(found.count)


def _make_facet(field: str, found: Mapping[str, Any], scale: float, values: int) -> Facet:
    most = _sort(found)[:values]
    if field == "year":
        # The most frequent years, in the order of time.
        most.sort(reverse=True)
    counts = (FacetCount(value, FACETS[field].show(value), round(count * scale)) for value, count in most)
    return Facet(field, tuple(counts), _is_approximate(found, scale))


def _make_type_facet(index: Index, query: Query, found: Mapping[str, Any], scale: float, values: int) -> Facet:
    """Count types including their subclasses, as `type:` does: those of schema.org, and those that pages state."""
    types = _sort(found)
    stated, uncounted = _find_stated(index, types)
    if stated:
        types = _count_stated(index, query, types, stated, is_whole=not found["sum_other_doc_count"])
        types = [one for one in types if one[0] not in uncounted]
    above = {iri: [*find_superclasses(iri), *_list_stated(iri, stated)] for iri, _ in types}
    most = _drop_repetitions(types, above)[:values]
    parents = _find_parents([iri for iri, _ in most], above)
    counts = (FacetCount(iri, shorten_iri(iri), round(count * scale), parents.get(iri, "")) for iri, count in most)
    return Facet("type", tuple(counts), _is_approximate(found, scale))


def _sort(found: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return values and counts, the most frequent first, in a fixed order; tantivy does not define the order of equals."""
    return _rank({str(one["key"]): one["doc_count"] for one in found["buckets"]})


def _rank(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _is_approximate(found: Mapping[str, Any], scale: float) -> bool:
    return scale > 1 or bool(found["doc_count_error_upper_bound"])


def _find_stated(index: Index, types: Sequence[tuple[str, int]]) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """Return superclasses that pages state for types of the results, each with all names that find its members in `types`.

    Each costs a count, so only those with the largest possible counts are chosen; the others are the second value."""
    most: Counter[str] = Counter()
    for iri, count in types:
        for above in index.find_superclasses(iri):
            most[above] += count
    own = {iri for iri, _ in types}
    # Classes that some results have themselves come first: they are shown in any case, and need the right number.
    found = sorted(most, key=lambda iri: (iri not in own, -most[iri], iri))
    found = [iri for iri in found if iri in own or iri not in _EVERYTHING]
    stated = {
        iri: frozenset((iri.lower(), *map(str.lower, index.find_subclasses(iri.lower()))))
        for iri in found[:_MAX_STATED]
    }
    return stated, frozenset(found[_MAX_STATED:])


def _count_stated(
    index: Index,
    query: Query,
    types: Sequence[tuple[str, int]],
    stated: Mapping[str, frozenset[str]],
    *,
    is_whole: bool,
) -> list[tuple[str, int]]:
    """Count types and their stated superclasses, including subclasses; `is_whole` if `types` has all types of the results."""
    counts = dict(types)
    union = dict(counts)
    for iri, names in stated.items():
        members = [each for each in counts if not names.isdisjoint(list_class_names(each))]
        if is_whole and len(members) == 1:
            union[iri] = counts[members[0]]
            continue
        asked = [each.lower() for each in members] if is_whole else list(names)
        of_type = Query.term_set_query(index.schema, "types", asked)
        union[iri] = _count(index, Query.boolean_query([(Occur.Must, query), (Occur.Must, of_type)]))
    return _rank({iri: count for iri, count in union.items() if count})


def _list_stated(iri: str, stated: Mapping[str, frozenset[str]]) -> list[str]:
    return [above for above, names in stated.items() if above != iri and not names.isdisjoint(list_class_names(iri))]


def _drop_repetitions(types: Sequence[tuple[str, int]], above: Mapping[str, Sequence[str]]) -> list[tuple[str, int]]:
    """Drop classes whose members nearly all belong to one of their subclasses, and schema:Intangible."""
    counts = dict(types)
    repeated = {
        each
        for iri, count in counts.items()
        for each in above[iri]
        # Classes that are stated to be subclasses of each other both stay.
        if count >= _NEARLY_ALL * counts.get(each, inf) and iri not in above[each]
    }
    return [one for one in types if one[0] not in repeated and one[0] != _VAGUE]


def _find_parents(types: Sequence[str], above: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Find the nearest superclass of each type among the others."""
    known = {iri: {each for each in above[iri] if each in types} for iri in types}
    # The nearest has the most superclasses itself, but fewer than its child, so that classes that pages call subclasses of
    # each other form no cycle.
    return {
        iri: max(nearer, key=lambda parent: (len(known[parent]), parent))
        for iri, parents in known.items()
        if (nearer := [parent for parent in parents if len(known[parent]) < len(parents)])
    }
