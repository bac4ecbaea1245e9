"""Query plans: a Question enters; tantivy's query leaves, with the words to mark in results.

Plain words need not all match: the plan has a query for documents with all of them, and one for documents with some. All else
is strict: phrases, beginnings (`mel*`), choices with OR, exclusions, and fields such as `type:`, which do not change the order.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from datetime import MAXYEAR, UTC, datetime
from typing import Any

import tantivy
from tantivy import Occur, Query

from rdfspider.index.analysis import USUAL_LANGUAGE, split_text
from rdfspider.index.entities.contributions import find_entity
from rdfspider.index.text.called import FindCalled, add_called
from rdfspider.index.text.documents import make_entity_id, make_page_id
from rdfspider.index.text.fields import (
    AFTER,
    ASKED,
    BEFORE,
    CURSOR_ID,
    WORD_FIELDS,
    YEAR,
    FindSubclasses,
    list_names,
)
from rdfspider.index.text.query_language import VALUE, WORDS, Clause, Question, parse_date
from rdfspider.index.text.ranking import ADDRESS, WEIGHTS, FindRank, Weights
from rdfspider.index.text.words import (
    Word,
    WordSearch,
    add_words,
    find_adjacent,
    find_run,
    find_word,
    list_deciding,
    rate_words,
    require_all,
    require_some,
)
from rdfspider.results import HitKind, Role
from rdfspider.vocabulary.names import find_field_name
from rdfspider.vocabulary.terms import fold_iri

# A value may also be that of a nameless part.
_NAMES_OF_VALUES = ("property_names", "part_names")
_MIN_PREFIX = 2


@dataclass(frozen=True, slots=True)
class Index:
    """An open index, as of one commit."""

    searcher: tantivy.Searcher
    schema: tantivy.Schema
    find_subclasses: FindSubclasses
    commit: Hashable
    find_superclasses: Callable[[str], Iterable[str]] = lambda _: ()
    """Returns the superclasses that pages state for a class, by its IRI."""
    languages: tuple[str, ...] = (USUAL_LANGUAGE,)
    """The languages that most documents are in, of those with a stemmer."""
    weights: Weights = WEIGHTS
    find_rank: FindRank = lambda _: 0.0
    """Says which rank a page has in the link graph."""
    known_words: dict[str, Word] = field(default_factory=dict)
    count_links: Callable[[str], int] = lambda _: 0
    """Returns how many pages link to a page, by its URL."""
    find_called: FindCalled = lambda *_: ()
    """Finds the pages that other sites call by words."""

    @property
    def words(self) -> WordSearch:
        """What is needed to look up words."""
        return WordSearch(self.searcher, self.schema, self.languages, self.weights, self.known_words)


@dataclass(frozen=True, slots=True)
class Plan:
    """Queries for tantivy, with what ranking and marking need."""

    query: Query
    """Finds what has all words and meets all else."""
    some: Query | None
    """Finds what lacks plain words and meets all else; None if they are all needed."""
    is_ranked: bool
    """Whether it has words by which results can be ranked."""
    plain: tuple[Word, ...]
    """The plain words, each once."""
    rarities: tuple[float, ...]
    """How much each of them tells."""
    words: frozenset[str]
    """Words to mark, as the index has them; very frequent ones are not marked beside others."""
    formed: frozenset[str]
    """Those of them that are marked in other forms, too."""
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
        if len(group) == 1 and builder.add_plain(group[0]):
            continue
        queries = [builder.build_clause(clause) for clause in group]
        query = queries[0] if len(queries) == 1 else Query.disjunction_max_query(queries, index.weights.tie)
        parts.append((Occur.MustNot if group[0].is_excluded else Occur.Must, query))
    if asks_for_things(question) and not is_of_any_kind:
        # Entities on a page have types; the page itself has none.
        parts.append((Occur.Must, _sift(Query.term_query(index.schema, "kind", HitKind.ENTITY, "basic"))))
    is_of_few = any(occur == Occur.Must for occur, _ in parts)
    if not is_of_any_kind:
        parts += leave_out(question, index, builder.addresses)
    plain = add_called(index.words, [*builder.plain.values()], index.find_called, is_of_few=is_of_few)
    of_all = require_all(index.words, plain)
    deciding = list_deciding(index.words, plain)
    formed = frozenset(part for word in plain if word.text in deciding for part in word.parts)
    if not of_all and not any(occur == Occur.Must for occur, _ in parts):
        # Punctuation alone finds nothing rather than everything.
        parts.append(
            (Occur.Must, Query.empty_query() if question.text.strip() and not question.groups else Query.all_query())
        )
        parts.append((Occur.MustNot, Query.term_query(index.schema, "id", CURSOR_ID, "basic")))
    return Plan(
        Query.boolean_query([*parts, *of_all]),
        _build_some(index, parts, plain, builder.has_strict_words),
        builder.is_ranked,
        tuple(plain),
        tuple(rate_words(index.words, plain)),
        formed | builder.words,
        formed,
        frozenset(builder.prefixes),
        frozenset(builder.runs),
        _list_plain_words(question),
        "; ".join(dict.fromkeys((*builder.notes, *_tell_unknown(plain)))),
    )


def _build_some(
    index: Index, parts: list[tuple[Occur, Query]], plain: list[Word], has_strict_words: bool
) -> Query | None:
    """Build the query for what lacks plain words; None if they are all needed.

    Phrases, beginnings and choices are found without any of the plain words."""
    if has_strict_words and plain:
        return Query.boolean_query([*parts, *add_words(index.words, plain)])
    if len(plain) == 1 and plain[0].query is plain[0].loose:
        return None
    of_some = require_some(index.words, plain)
    return Query.boolean_query([*parts, *of_some]) if of_some else None


def _tell_unknown(plain: list[Word]) -> list[str]:
    """Say which words no document has, if it has others."""
    unknown = [word.text for word in plain if not word.count]
    return [f"nothing here has {', '.join(map(repr, unknown))}"] if 0 < len(unknown) < len(plain) else []


def leave_out(question: Question, index: Index, addresses: Iterable[str] = ()) -> list[tuple[Occur, Query]]:
    """Return what keeps parts and covered documents from being results, except those that are asked for: by `role:`; parts by
    their `type:`; covered pages by `kind:page`; anything by its address."""
    clauses = [clause for group in question.groups for clause in group if not clause.is_excluded]
    fields = {clause.field for clause in clauses}
    if "role" in fields:
        return []
    asks_for_all_pages = any(clause.field == "kind" and clause.text.lower() == HitKind.PAGE for clause in clauses)
    roles = [Role.PART] if "type" not in fields else []
    roles += [Role.COVERED] if not asks_for_all_pages else []
    queries = [Query.term_query(index.schema, "role", role, "basic") for role in roles]
    if known := [*addresses]:
        named = Query.term_set_query(index.schema, "addresses", known)
        queries = [Query.boolean_query([(Occur.Must, query), (Occur.MustNot, named)]) for query in queries]
    return [(Occur.MustNot, query) for query in queries]


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
        self._search = index.words
        self.plain: dict[str, Word] = {}
        self.words: set[str] = set()
        self.prefixes: set[str] = set()
        self.runs: set[str] = set()
        self.notes: list[str] = []
        self.addresses: list[str] = []
        self.is_ranked = False
        self.has_strict_words = False

    def add_plain(self, clause: Clause) -> bool:
        """Add the words of a clause to the plain ones; return whether it has plain words only."""
        is_strict = clause.is_phrase or clause.is_prefix or clause.is_excluded or "://" in clause.text
        if is_strict or clause.field not in (WORDS, VALUE):
            return False
        text = clause.text
        if clause.field == VALUE:
            if has_property(self._index, clause.name):
                return False
            self._note_no_property(clause.name)
            text = f"{clause.name} {text}"
        words, runs = split_text(text)
        if not words and not runs:
            # It has characters that are letters for Python and not for tantivy.
            return False
        self.runs.update(runs)
        self.is_ranked = True
        for run in runs:
            self.plain.setdefault(run, find_run(self._search, run))
        if words and (name := " ".join(words)) not in self.plain:
            found = find_word(self._search, words[0]) if len(words) == 1 else find_adjacent(self._search, words)
            self.plain[name] = found
        return True

    def _note_no_property(self, name: str) -> None:
        self.notes.append(f"no property is called {name[:40]!r} here: searched for it as words")

    def build_clause(self, clause: Clause) -> Query:
        if clause.field == WORDS:
            return self._build_words(clause)
        if clause.field == VALUE:
            return self._build_value(clause)
        if clause.field in (BEFORE, AFTER, YEAR):
            return _sift(self._build_date(clause))
        field = ASKED[clause.field]
        values = field.look_up(clause.text.strip("<> ").lower(), self._index.find_subclasses)
        is_named = clause.is_excluded or clause.field == "role"
        if not is_named and not any(self._index.searcher.doc_freq(field.name, value) for value in values):
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
            self.is_ranked = self.has_strict_words = True
        parts: list[Query] = [find_run(self._search, run).query for run in runs]
        if len(words) == 1 and not (clause.is_phrase or clause.is_prefix or clause.is_excluded):
            parts.append(find_word(self._search, words[0]).query)
        elif words:
            weights = self._index.weights
            fields = [
                Query.boost_query(self._build_tokens(field, words, clause.is_prefix), weights.boost_field(field))
                for field in WORD_FIELDS
            ]
            parts.append(Query.disjunction_max_query(fields, weights.tie))
        return _join(parts)

    def _build_address(self, address: str) -> Query:
        """Find the page or entity with this address, ahead of all results with its words."""
        ids = [make_page_id(url) for url in (address, f"{address}/")]
        if entity := find_entity(fold_iri(address)):
            ids.append(make_entity_id(entity))
        self.addresses += [address, f"{address}/", fold_iri(address)]
        # A page is found by its main thing.
        known = [
            Query.term_set_query(self._schema, "id", ids),
            Query.term_set_query(self._schema, "addresses", self.addresses),
        ]
        return Query.const_score_query(Query.disjunction_max_query(known), ADDRESS)

    def _build_value(self, clause: Clause) -> Query:
        prefix, colon, local = clause.name.partition(":")
        names = [name for name in list_names(clause.name) if _is_used(self._index, name)]
        if not names and colon and _is_used(self._index, prefix.lower()):
            # The colon belongs to the value, not to the name.
            return self._build_value(replace(clause, name=prefix, text=f"{local}:{clause.text}"))
        if not names:
            self._note_no_property(clause.name)
            return self._build_words(Clause(WORDS, f"{clause.name} {clause.text}", is_excluded=clause.is_excluded))
        words, runs = split_text(clause.text)
        if not words and not runs:
            return Query.empty_query()
        if not clause.is_excluded:
            self._mark(words, runs, clause.is_prefix)
            self.is_ranked = True
        parts = [find_run(self._search, run).query for run in runs]
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
