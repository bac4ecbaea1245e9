"""The plain words of a question: words enter; queries for documents with all of them, and with some of them, leave.

A word is searched in several fields and counts by the best one. Its other forms, which have the same stem in a language of the
document, count less. A word that very many documents have only adds to the score if rarer words are there, so
that it decides nothing and costs little.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tantivy import Occur, Query, Schema, Searcher

from rdfspider.index.analysis import list_pairs, stem_word, write_stem
from rdfspider.index.text.fields import RUN_FIELDS, STEM_FIELDS, WORD_FIELDS
from rdfspider.index.text.ranking import Weights, is_frequent, rate_rarity

# Documents that lack a word are looked for by words, the rarest first, that together so large a share of all documents has.
_MAX_SHARE, _MIN_SEARCHED = 0.01, 10_000
_MAX_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class WordSearch:
    """Where words are searched."""

    searcher: Searcher
    schema: Schema
    languages: tuple[str, ...]
    """Those whose stemmers words of queries get; most documents are in the first one."""
    weights: Weights
    known: "dict[str, Word]"
    """Words that were looked up already, as of the same commit."""
    called: "dict[tuple[tuple[str, ...], bool], list[Word]]"
    """Words with what other sites call so, as `add_called` found them in the same search, which needs them up to three times."""


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """A word of a question, or a group of characters that counts as one: adjacent words, or a run without spaces."""

    text: str
    """As it was typed, without case and accents."""
    query: Query
    """Finds it in any field."""
    loose: Query
    """The same; of adjacent words, also one of them alone."""
    count: int
    """About how many documents have it; 0 if none has."""
    parts: tuple[str, ...] = ()
    """The words that it consists of."""
    called: Query | None = None
    """Finds what other sites call so; None if they call nothing so."""


def find_word(search: WordSearch, word: str) -> Word:
    """Look up one word and its other forms."""
    if found := search.known.get(word):
        return found
    if len(search.known) >= _MAX_KNOWN:
        search.known.clear()
    found = search.known[word] = _look_up(search, word)
    return found


def _look_up(search: WordSearch, word: str) -> Word:
    weights = search.weights
    parts: list[Query] = []
    counts = [0]

    def add(field: str, term: str, share: float, language: str = "") -> None:
        if count := search.searcher.doc_freq(field, term):
            counts.append(count)
            # Without "freq" tantivy would also read positions.
            query = Query.term_query(search.schema, field, term, "basic" if field in STEM_FIELDS else "freq")
            if language:
                of_language = Query.const_score_query(Query.term_query(search.schema, "lang", language, "basic"), 0.0)
                query = Query.boolean_query([(Occur.Must, query), (Occur.Must, of_language)])
            parts.append(Query.boost_query(query, weights.boost_field(field) * share))

    for field in WORD_FIELDS:
        add(field, word, 1.0)
    seen = {word}
    for language in search.languages:
        stem = stem_word(word, language)
        for field in STEM_FIELDS:
            # Their boosts have the share of another form already.
            add(field, write_stem(stem, language), 1.0)
        # The stem of a word in one language may be another word in another.
        only = "" if language == search.languages[0] else language
        for field in () if stem in seen else WORD_FIELDS:
            add(field, stem, weights.form, only)
        seen.update({stem} if not only else ())
    query = Query.disjunction_max_query(parts, weights.tie) if parts else Query.empty_query()
    return Word(word, query, query, max(counts), (word,))


def find_adjacent(search: WordSearch, words: Sequence[str]) -> Word:
    """Look up words that were typed without a space between them: e-mail, node.js."""
    phrase = list[str | tuple[int, str]](words)
    fields = [
        Query.boost_query(Query.phrase_query(search.schema, field, phrase), search.weights.boost_field(field))
        for field in WORD_FIELDS
    ]
    query = Query.disjunction_max_query(fields, search.weights.tie)
    single = [find_word(search, word) for word in words]
    loose = Query.boolean_query([(Occur.Should, query), *((Occur.Should, word.query) for word in single)])
    return Word(" ".join(words), query, loose, max(word.count for word in single), tuple(words))


def find_run(search: WordSearch, run: str) -> Word:
    """Look up a run of a script without spaces, by its pairs of characters."""
    pairs = list(dict.fromkeys(list_pairs(run)))
    fields = []
    for field in RUN_FIELDS:
        terms = [(Occur.Must, Query.term_query(search.schema, field, pair, "freq")) for pair in pairs]
        fields.append(Query.boost_query(Query.boolean_query(terms), search.weights.boost_field(field)))
    count = max(min(search.searcher.doc_freq(field, pair) for pair in pairs) for field in RUN_FIELDS)
    query = Query.disjunction_max_query(fields, search.weights.tie)
    return Word(run, query, query, count)


def rate_words(search: WordSearch, words: Sequence[Word]) -> list[float]:
    """Return the rarity of each word."""
    return [rate_rarity(word.count, search.searcher.num_docs) for word in words]


def require_all(search: WordSearch, words: Sequence[Word]) -> list[tuple[Occur, Query]]:
    """Return the parts of a query for documents that have all words, except those that decide nothing."""
    deciding = list_deciding(search, words)
    return [(Occur.Must if word.text in deciding else Occur.Should, word.query) for word in words]


def require_some(search: WordSearch, words: Sequence[Word]) -> list[tuple[Occur, Query]]:
    """Return the parts of a query for documents that have at least one word."""
    known = [word for word in words if word.count]
    names = list_deciding(search, known)
    # Very frequent words would cost the most here, and change the order the least.
    deciding = sorted((word for word in known if word.text in names), key=lambda word: word.count)
    searched = max(_MIN_SEARCHED, _MAX_SHARE * search.searcher.num_docs)
    chosen: list[Word] = []
    for word in deciding:
        searched -= word.count
        if searched >= 0 or not chosen:
            chosen.append(word)
    some = Query.boolean_query([(Occur.Should, word.loose) for word in chosen])
    others = [word for word in deciding if word not in chosen]
    return [(Occur.Must, some), *_add_scores(others), *_add_presence(search, deciding)] if chosen else []


def add_words(search: WordSearch, words: Sequence[Word]) -> list[tuple[Occur, Query]]:
    """Return the parts of a query that add the scores of words to those of documents that are found otherwise."""
    known = [word for word in words if word.count]
    return [*_add_scores(known), *_add_presence(search, known)]


def _add_scores(words: Sequence[Word]) -> list[tuple[Occur, Query]]:
    return [(Occur.Should, word.loose) for word in words]


def _add_presence(search: WordSearch, words: Sequence[Word]) -> list[tuple[Occur, Query]]:
    """A document that has more of the words is better than one that has a word in its label."""
    parts = zip(words, rate_words(search, words), strict=True)
    return [(Occur.Should, Query.const_score_query(word.loose, search.weights.presence * rate)) for word, rate in parts]


def list_deciding(search: WordSearch, words: Sequence[Word]) -> set[str]:
    """List the words that decide what is found: those that not very many documents have, or all if there are no such."""
    rare = {word.text for word in words if not is_frequent(word.count, search.searcher.num_docs)}
    return rare or {word.text for word in words}
