"""A Question in, what tantivy is asked out; and what of it is to be marked in the results.

A word may be in any of three fields, and counts by the one where it tells most: label over values over the text of a page. Fields
such as `type:` only sift; they do not change the order.
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
    ENTITY,
    PAGE,
    RUN_BOOSTS,
    WORD_BOOSTS,
    YEAR,
    FindSubclasses,
    list_names,
)
from rdfspider.index.text.query_language import VALUE, WORDS, Clause, Question, parse_date
from rdfspider.vocabulary.names import find_field_name
from rdfspider.vocabulary.terms import fold_iri

# A value may be that of a nameless part, too.
_NAMES_OF_VALUES = ("property_names", "part_names")
# What the other fields add to the best one.
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
    """Which commit."""
    find_superclasses: Callable[[str], Iterable[str]] = lambda _: ()
    """The classes above a class, by its IRI, that are so because pages state it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is asked of tantivy."""

    query: Query
    is_ranked: bool
    """Whether it has words, by which results can be ranked."""
    words: frozenset[str]
    """To be marked, as the index has them."""
    prefixes: frozenset[str]
    runs: frozenset[str]
    """To be marked, in scripts without spaces."""
    phrase: tuple[str, ...]
    """All words in their order; a label that has them so is more likely what was meant."""
    note: str


def build_plan(question: Question, index: Index, *, is_of_any_kind: bool = False) -> Plan:
    """What to ask the index; of things alone where the question is of a type, unless it is to be of any kind."""
    builder = _Builder(index)
    parts: list[tuple[Occur, Query]] = []
    for group in question.groups:
        queries = [builder.build_clause(clause) for clause in group]
        query = queries[0] if len(queries) == 1 else Query.disjunction_max_query(queries, _TIE)
        parts.append((Occur.MustNot if group[0].is_excluded else Occur.Must, query))
    if asks_for_things(question) and not is_of_any_kind:
        # What a page says is of a type; the page itself is not.
        parts.append((Occur.Must, _sift(Query.term_query(index.schema, "kind", ENTITY, "basic"))))
    if not any(occur == Occur.Must for occur, _ in parts):
        # Who typed signs alone does not want everything.
        parts.append((Occur.Must, Query.empty_query() if _is_signs(question) else Query.all_query()))
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
    """Whether it is of a type, and says nothing of kinds: then pages are not meant."""
    clauses = [clause for group in question.groups for clause in group]
    return any(clause.field == "type" and not clause.is_excluded for clause in clauses) and not any(
        clause.field == "kind" for clause in clauses
    )


def asks_for_pages(question: Question) -> bool:
    """Whether it is of pages alone."""
    return any(
        all(clause.field == "kind" and clause.text.lower() == PAGE and not clause.is_excluded for clause in group)
        for group in question.groups
    )


def has_property(index: Index, name: str) -> bool:
    """Whether a name before a colon is, or begins with, that of a property; else it is searched for as words."""
    return any(_is_used(index, each) for each in (*list_names(name), name.partition(":")[0].lower()))


def _is_used(index: Index, name: str) -> bool:
    return any(index.searcher.doc_freq(field, name) > 0 for field in _NAMES_OF_VALUES)


def _is_signs(question: Question) -> bool:
    return bool(question.text.strip()) and not question.groups


class _Builder:
    """Clauses become queries; what is to be marked and said of them is collected."""

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
            # It has signs that Python takes for letters and the index does not.
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
        """The page that is there, and the thing that is called so; before all where its words are."""
        ids = [make_page_id(url) for url in (address, f"{address}/")]
        if entity := find_entity(fold_iri(address)):
            ids.append(make_entity_id(entity))
        return Query.const_score_query(Query.term_set_query(self._schema, "id", ids), _ADDRESS_SCORE)

    def _build_value(self, clause: Clause) -> Query:
        prefix, colon, local = clause.name.partition(":")
        names = [name for name in list_names(clause.name) if _is_used(self._index, name)]
        if not names and colon and _is_used(self._index, prefix.lower()):
            # The value has a colon, not the name.
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
            # Pairs of characters are indexed without their property, and values without its ontology.
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
        """Words beside each other; of the last one only the beginning, where that was asked for."""
        if is_prefix and len(words[-1]) < _MIN_PREFIX:
            self.notes.append(f"{words[-1] + '*'!r} is too short a beginning: searched for it as a word")
            is_prefix = False
        if len(words) > 1:
            phrase = list[str | tuple[int, str]](words)
            return (Query.phrase_prefix_query if is_prefix else Query.phrase_query)(self._schema, field, phrase)
        if is_prefix:
            # All words that begin so; the query that is made for prefixes stops after fifty.
            return Query.fuzzy_term_query(self._schema, field, words[0], 0, True, True)
        # Without "freq" their positions are read, too.
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
