"""Query plans: a Question enters; tantivy's query leaves, with the words to mark in results.

A word may be in any of three fields and counts by the best one: label before values before the text of a page. Fields such as
`type:` only filter; they do not change the order.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from datetime import MAXYEAR, UTC, datetime
from typing import Any

import tantivy
from tantivy import Occur, Query

from rdfspider.index.entities.contributions import find_entity
from rdfspider.index.text.analysis import split_text
from rdfspider.index.text.documents import make_entity_id, make_page_id
from rdfspider.index.text.fields import (
    AFTER,
    ASKED,
    BEFORE,
    CURSOR_ID,
    RUN_BOOSTS,
    WORD_BOOSTS,
    YEAR,
    FindSubclasses,
    list_names,
)
from rdfspider.index.text.query_language import VALUE, WORDS, Clause, Question, parse_date
from rdfspider.results import HitKind
from rdfspider.vocabulary.names import find_field_name
from rdfspider.vocabulary.terms import fold_iri

# A value may also be that of a nameless part.
_NAMES_OF_VALUES = ("property_names", "part_names")
# The share of the other fields' scores that is added to the best one.
_TIE = 0.1
_MIN_PREFIX = 2
_ADDRESS_SCORE = 1_000.0


@dataclass(frozen=True, slots=True)
class Index:
    """An open index, as of one commit."""

    searcher: tantivy.Searcher
    schema: tantivy.Schema
    find_subclasses: FindSubclasses
    commit: Hashable
    find_superclasses: Callable[[str], Iterable[str]] = lambda _: ()
    """Returns the superclasses that pages state for a class, by its IRI."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A query for tantivy, with what ranking and marking need."""

    query: Query
    is_ranked: bool
    """Whether it has words by which results can be ranked."""
    words: frozenset[str]
    """Words to mark, as the index has them."""
    prefixes: frozenset[str]
    runs: frozenset[str]
    """Runs of scripts without spaces to mark."""
    phrase: tuple[str, ...]
    """All words in their order; a label that has them in this order ranks higher."""
    note: str


def build_plan(question: Question, index: Index, *, is_of_any_kind: bool = False) -> Plan:
    """Build the plan of a question. One with a type finds entities only, unless `is_of_any_kind`."""
    builder = _Builder(index)
    parts: list[tuple[Occur, Query]] = []
    for group in question.groups:
        queries = [builder.build_clause(clause) for clause in group]
        query = queries[0] if len(queries) == 1 else Query.disjunction_max_query(queries, _TIE)
        parts.append((Occur.MustNot if group[0].is_excluded else Occur.Must, query))
    if asks_for_things(question) and not is_of_any_kind:
        # Entities on a page have types; the page itself has none.
        parts.append((Occur.Must, _sift(Query.term_query(index.schema, "kind", HitKind.ENTITY, "basic"))))
    if not any(occur == Occur.Must for occur, _ in parts):
        # Punctuation alone finds nothing rather than everything.
        parts.append(
            (Occur.Must, Query.empty_query() if question.text.strip() and not question.groups else Query.all_query())
        )
        parts.append((Occur.MustNot, Query.term_query(index.schema, "id", CURSOR_ID, "basic")))
    return Plan(
        Query.boolean_query(parts),
        builder.is_ranked,
        frozenset(builder.words),
        frozenset(builder.prefixes),
        frozenset(builder.runs),
        _list_plain_words(question),
        "; ".join(dict.fromkeys(builder.notes)),
    )


def _list_plain_words(question: Question) -> tuple[str, ...]:
    plain = (group[0] for group in question.groups if len(group) == 1 and group[0].field == WORDS)
    return tuple(word for one in plain if not (one.is_excluded or one.is_prefix) for word in split_text(one.text)[0])


def asks_for_things(question: Question) -> bool:
    """Return whether the question names a type and no kind: then it does not mean pages."""
    clauses = [clause for group in question.groups for clause in group]
    return any(clause.field == "type" and not clause.is_excluded for clause in clauses) and not any(
        clause.field == "kind" for clause in clauses
    )


def asks_for_pages(question: Question) -> bool:
    """Return whether the question asks for pages only."""
    return any(
        all(
            clause.field == "kind" and clause.text.lower() == HitKind.PAGE and not clause.is_excluded
            for clause in group
        )
        for group in question.groups
    )


def has_property(index: Index, name: str) -> bool:
    """Return whether a name before a colon, or its prefix, is a property's; otherwise it is searched for as words."""
    return any(_is_used(index, each) for each in (*list_names(name), name.partition(":")[0].lower()))


def _is_used(index: Index, name: str) -> bool:
    return any(index.searcher.doc_freq(field, name) > 0 for field in _NAMES_OF_VALUES)


class _Builder:
    """Turns clauses into queries, and collects notes and what to mark."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._schema = index.schema
        self.words: set[str] = set()
        self.prefixes: set[str] = set()
        self.runs: set[str] = set()
        self.notes: list[str] = []
        self.is_ranked = False

    def build_clause(self, clause: Clause) -> Query:
        if clause.field == WORDS:
            return self._build_words(clause)
        if clause.field == VALUE:
            return self._build_value(clause)
        if clause.field in (BEFORE, AFTER, YEAR):
            return _sift(self._build_date(clause))
        field = ASKED[clause.field]
        values = field.look_up(clause.text.strip("<> ").lower(), self._index.find_subclasses)
        if not clause.is_excluded and not any(self._index.searcher.doc_freq(field.name, value) for value in values):
            self.notes.append(f"nothing here has the {clause.field} {clause.text[:80]!r}")
        return _sift(Query.term_set_query(self._schema, field.name, values))

    def _build_words(self, clause: Clause) -> Query:
        scheme, colon, rest = clause.text.partition("://")
        if colon and scheme.isalpha():
            by_words = self._build_words(replace(clause, text=rest))
            return Query.disjunction_max_query([by_words, self._build_address(clause.text)])
        words, runs = split_text(clause.text)
        if not words and not runs:
            # It has characters that are letters for Python and not for tantivy.
            return Query.empty_query()
        if not clause.is_excluded:
            self._mark(words, runs, clause.is_prefix)
            self.is_ranked = True
        parts: list[Query] = [self._build_run(run) for run in runs]
        if words:
            fields = [
                Query.boost_query(self._build_tokens(field, words, clause.is_prefix), boost)
                for field, boost in WORD_BOOSTS.items()
            ]
            parts.append(Query.disjunction_max_query(fields, _TIE))
        return _join(parts)

    def _build_address(self, address: str) -> Query:
        """Find the page or entity with this address, ahead of all results with its words."""
        ids = [make_page_id(url) for url in (address, f"{address}/")]
        if entity := find_entity(fold_iri(address)):
            ids.append(make_entity_id(entity))
        return Query.const_score_query(Query.term_set_query(self._schema, "id", ids), _ADDRESS_SCORE)

    def _build_value(self, clause: Clause) -> Query:
        prefix, colon, local = clause.name.partition(":")
        names = [name for name in list_names(clause.name) if _is_used(self._index, name)]
        if not names and colon and _is_used(self._index, prefix.lower()):
            # The colon belongs to the value, not to the name.
            return self._build_value(replace(clause, name=prefix, text=f"{local}:{clause.text}"))
        if not names:
            self.notes.append(f"no property is called {clause.name[:40]!r} here: searched for it as words")
            return self._build_words(Clause(WORDS, f"{clause.name} {clause.text}", is_excluded=clause.is_excluded))
        words, runs = split_text(clause.text)
        if not words and not runs:
            return Query.empty_query()
        if not clause.is_excluded:
            self._mark(words, runs, clause.is_prefix)
            self.is_ranked = True
        parts = [self._build_run(run) for run in runs]
        if words:
            field = find_field_name(f"x#{(local or prefix).lower()}")
            parts.append(self._build_tokens(f"properties.{field}", words, clause.is_prefix))
        if runs or colon:
            # Bigrams are indexed without their property, and values without its ontology.
            named = [Query.term_set_query(self._schema, field, names) for field in _NAMES_OF_VALUES]
            parts.append(_sift(Query.disjunction_max_query(named)))
        return _join(parts)

    def _mark(self, words: list[str], runs: list[str], is_prefix: bool) -> None:
        if is_prefix and words and len(words[-1]) >= _MIN_PREFIX:
            self.prefixes.add(words[-1])
            words = words[:-1]
        self.words.update(words)
        self.runs.update(runs)

    def _build_tokens(self, field: str, words: list[str], is_prefix: bool) -> Query:
        """Build a query for adjacent words; the last may be a prefix."""
        if is_prefix and len(words[-1]) < _MIN_PREFIX:
            self.notes.append(f"{words[-1] + '*'!r} is too short a beginning: searched for it as a word")
            is_prefix = False
        if len(words) > 1:
            phrase = list[str | tuple[int, str]](words)
            return (Query.phrase_prefix_query if is_prefix else Query.phrase_query)(self._schema, field, phrase)
        if is_prefix:
            # This finds all words with the prefix; tantivy's prefix query stops after fifty.
            return Query.fuzzy_term_query(self._schema, field, words[0], 0, True, True)
        # Without "freq" tantivy would also read positions.
        return Query.term_query(self._schema, field, words[0], "freq")

    def _build_run(self, run: str) -> Query:
        pairs = dict.fromkeys(run[at : at + 2] for at in range(len(run) - 1)) or (run,)
        fields = []
        for field, boost in RUN_BOOSTS.items():
            query = _join([Query.term_query(self._schema, field, pair, "freq") for pair in pairs])
            fields.append(Query.boost_query(query, boost))
        return Query.disjunction_max_query(fields, _TIE)

    def _build_date(self, clause: Clause) -> Query:
        date = parse_date(clause.text)
        if date is None:
            return Query.empty_query()
        date = min(max(date, tantivy.MIN_DATETIME), tantivy.MAX_DATETIME)
        bounds: dict[str, Any] = {"lower_bound": date}
        if clause.field != AFTER:
            end = date if clause.field == BEFORE else _find_next_year(date)
            bounds = {"upper_bound": end, "include_upper": False} | (bounds if clause.field == YEAR else {})
        return Query.range_query(self._schema, "date", tantivy.FieldType.Date, **bounds)


def _find_next_year(date: datetime) -> datetime:
    return min(datetime(min(date.year + 1, MAXYEAR), 1, 1, tzinfo=UTC), tantivy.MAX_DATETIME)


def _join(parts: list[Query]) -> Query:
    return parts[0] if len(parts) == 1 else Query.boolean_query([(Occur.Must, part) for part in parts])


def _sift(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)
