"""A question's results in, how many of them have which type, ontology, site, year and so on out; and how types lie below others.

Of very many results a part stands for all. Among types, a class whose members are nearly all of one class below it says little,
and is left out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, inf
from typing import Any

from tantivy import Occur, Query

from rdfspider.index.text.fields import BUCKETS, ENTITY, FACETS, PAGE
from rdfspider.index.text.query_language import Question
from rdfspider.index.text.query_plan import Index, asks_for_things, build_plan
from rdfspider.index.text.results import Facet, FacetCount
from rdfspider.vocabulary.classes import find_superclasses, list_class_names
from rdfspider.vocabulary.names import shorten_iri
from rdfspider.vocabulary.prefixes import PREFIXES, SCHEMA

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
# What all is need not be said.
_EVERYTHING = (
    f"{SCHEMA}Thing",
    *(PREFIXES[prefix] + name for prefix, name in (("owl", "Thing"), ("rdfs", "Resource"))),
)
_MAX_STATED = 20


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
    typed = query
    if not is_of_pages:
        # As in questions, pages are of no type, unless they alone are asked for: then it is that of what they speak of.
        of_things = Query.term_query(index.schema, "kind", ENTITY, "basic")
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
    pages = known[PAGE] if PAGE in known else _count_kind(index, query, PAGE)
    if not of_kinds and not known:
        return {ENTITY: total - pages, PAGE: pages}
    return {ENTITY: known[ENTITY] if ENTITY in known else _count_kind(index, query, ENTITY), PAGE: pages}


def _count_kind(index: Index, query: Query, kind: str) -> int:
    of_kind = Query.term_query(index.schema, "kind", kind, "basic")
    return _count(index, Query.boolean_query([(Occur.Must, query), (Occur.Must, of_kind)]))


def _count(index: Index, query: Query) -> int:
    found: Any = index.searcher.search(Query.const_score_query(query, 0.0), 1)
    return int(found.count)


def _make_facet(field: str, found: Mapping[str, Any], scale: float, values: int) -> Facet:
    most = _sort(found)[:values]
    if field == "year":
        # The most frequent ones, too, but nobody looks for a year among years in another order.
        most.sort(reverse=True)
    counts = (FacetCount(value, name_value(field, value), round(count * scale)) for value, count in most)
    return Facet(field, tuple(counts), _is_approximate(found, scale))


def _make_type_facet(index: Index, query: Query, found: Mapping[str, Any], scale: float, values: int) -> Facet:
    """Types count what is of the classes below them, too, as `type:` finds it: the index knows those of schema.org, and pages
    state others."""
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
    """Values and counts, the most frequent first; tantivy leaves open in which order equals are."""
    return _rank({str(one["key"]): one["doc_count"] for one in found["buckets"]})


def _rank(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _is_approximate(found: Mapping[str, Any], scale: float) -> bool:
    return scale > 1 or bool(found["doc_count_error_upper_bound"])


def _find_stated(index: Index, types: Sequence[tuple[str, int]]) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """The classes that pages state to be above types of the results, each with all names (`types` of the index) by which what is
    of it is found. Each costs a count: of very many those that may have most are chosen, and the others are told, too."""
    most: Counter[str] = Counter()
    for iri, count in types:
        for above in index.find_superclasses(iri):
            most[above] += count
    own = {iri for iri, _ in types}
    # Those that some results are said to be of come first: they are shown in any case, and with the right number.
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
    """The types, and the classes that are stated to be above them, with what is below; `is_whole` where no type is missing."""
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
    """The types without those whose members are nearly all of one class below them, and without what is only not tangible."""
    counts = dict(types)
    repeated = {
        each
        for iri, count in counts.items()
        for each in above[iri]
        # Of classes that are stated to be below each other none repeats the other.
        if count >= _NEARLY_ALL * counts.get(each, inf) and iri not in above[each]
    }
    return [one for one in types if one[0] not in repeated and one[0] != _VAGUE]


def _find_parents(types: Sequence[str], above: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The nearest superclass of each type among the others."""
    known = {iri: {each for each in above[iri] if each in types} for iri in types}
    # The nearest is the one below all the others. It has fewer above it than its child has, so that pages which call two classes
    # subclasses of each other make no circle.
    return {
        iri: max(nearer, key=lambda parent: (len(known[parent]), parent))
        for iri, parents in known.items()
        if (nearer := [parent for parent in parents if len(known[parent]) < len(parents)])
    }


def name_value(field: str, value: str) -> str:
    """A value of a facet, as people write it."""
    return FACETS[field].show(value)
