"""What other sites call a page, in queries: the plain words of a question enter, and leave with the pages that are called so.

The link graph knows which pages those are (`index/graph/anchor_terms.py`), so documents need not be written again when somebody
links to them. A page that is called by a word has it as if in a field of its own; so has the thing that the page is about.
Only the pages that all words together name best are added, because each costs some microseconds.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from tantivy import Query

from rdfspider.index.analysis import list_pairs, stem_word
from rdfspider.index.graph.anchor_terms import AskedWord, CalledPage
from rdfspider.index.text.documents import make_page_id
from rdfspider.index.text.ranking import rate_rarity
from rdfspider.index.text.words import Word, WordSearch

_PAGES, _PAGES_OF_FEW = 32, 200
"""Pages that are added, and to a question that finds few documents only, such as those of a site."""


FindCalled = Callable[[Sequence[AskedWord], int, float], Sequence[CalledPage]]
"""Finds the pages that words name best: the words, how many pages at most, and the share that another form of a word counts."""


def add_called(search: WordSearch, words: Sequence[Word], find_called: FindCalled, *, is_of_few: bool) -> list[Word]:
    """Let words also find the pages that other sites call so. `is_of_few`: whether the question has more than words."""
    if not words or not search.weights.called:
        return list(words)
    asked = [
        AskedWord(word.parts or tuple(list_pairs(word.text)), partial(_is_form, search.languages, word.text))
        for word in words
    ]
    pages = find_called(asked, _PAGES_OF_FEW if is_of_few else _PAGES, search.weights.form)
    found = [(page.scores, [*_find_documents(search, page.url)]) for page in pages]
    return [
        _add(
            search,
            word,
            [Query.const_score_query(one, scores[place]) for scores, of in found if scores[place] for one in of],
        )
        for place, word in enumerate(words)
    ]


def _add(search: WordSearch, word: Word, called: Sequence[Query]) -> Word:
    if not called:
        return word
    weights = search.weights
    count = max(word.count, len(called))
    boost = weights.called * rate_rarity(count, search.searcher.num_docs)
    by_links = Query.boost_query(Query.disjunction_max_query([*called]), boost)
    query = Query.disjunction_max_query([word.query, by_links], weights.tie)
    is_strict = word.loose is not word.query
    loose = Query.disjunction_max_query([word.loose, by_links], weights.tie) if is_strict else query
    return replace(word, query=query, loose=loose, count=count, called=by_links)


def _find_documents(search: WordSearch, url: str) -> Iterator[Query]:
    """The documents of a page and of what it is about."""
    for field, term in (("addresses", url), ("id", make_page_id(url))):
        if search.searcher.doc_freq(field, term):
            yield Query.term_query(search.schema, field, term, "basic")


def _is_form(languages: Sequence[str], word: str, other: str) -> bool:
    return any(stem_word(word, language) == stem_word(other, language) for language in languages)
