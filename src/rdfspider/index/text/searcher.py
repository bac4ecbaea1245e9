"""Search in the text index of a crawl: a query enters, ranked Results leave, also while an indexer writes.

tantivy finds the documents with the best words; the formula in `ranking.py` sorts them. Results with all words of the query
come first; if there are few, those with some of the words follow. Equals are sorted by the field `order`, so that a rebuilt
index gives the same ranking.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import tantivy
from msgspec import structs
from tantivy import DocAddress, Occur, Query

from rdfspider.errors import UnindexedError, UnreadableError, UsageError
from rdfspider.index.analysis import choose_stemmer, list_pairs, register_tokenizers, split_text, stem_word
from rdfspider.index.layout import IndexPaths, advise_rebuild, check_index
from rdfspider.index.ledger.learned_classes import LearnedClasses
from rdfspider.index.text.called import FindCalled
from rdfspider.index.text.documents import read_card
from rdfspider.index.text.facets import ENOUGH, VALUES, count_facets, count_kinds, list_values
from rdfspider.index.text.fields import ASKED, CURSOR_ID
from rdfspider.index.text.query_language import Clause, Question, parse_question
from rdfspider.index.text.query_plan import Index, Plan, asks_for_pages, build_plan
from rdfspider.index.text.ranking import (
    WEIGHTS,
    Evidence,
    FindRank,
    Weights,
    compare_label,
    explain_match,
    score_match,
    weigh_match,
)
from rdfspider.index.text.snippets import Marker
from rdfspider.index.text.suggestions import correct_question, suggest, suggest_question
from rdfspider.index.text.words import Word
from rdfspider.results import MAX_RESULTS, Card, Facet, Hit, HitKind, Results, Role, ScorePart, Suggestion
from rdfspider.vocabulary.terms import fold_iri, replace_surrogates

MAX_LIMIT = 1_000
# Results are sorted by weight within a window, then by sources, links and label within a block. Both are fixed, so that
# pages of results do not overlap.
_WINDOW = 500
_BLOCK = 50
_CACHED = 64
# Labels of a thing that are compared with the query.
_LABELS_COMPARED = 4
# Languages whose stemmers words of queries get.
_LANGUAGES = 4
# With fewer results than this, the query may be misspelt.
_FEW = 5
_SWAP_S = 0.1

_PAGES = ("http://", "https://")
_ANY_ROLE = tuple(Clause("role", role, start=-1) for role in Role)

Filter = str | Iterable[str] | None
OpenCounter = Callable[[], Callable[[str], int]]
"""Returns a function that counts, as of now, the pages that link to a page, by its URL."""
_Weighed = tuple[float, int, DocAddress, float, float]
"""Score of words and weight together, `order`, the document's address; then the score of the words, and the weight."""


class _Ranked(NamedTuple):
    """A result, before it is made ready to show."""

    score: float
    order: int
    evidence: Evidence
    address: DocAddress
    document: tantivy.Document
    card: Card


class _Counts(NamedTuple):
    """Cached counts of a question."""

    facets: tuple[Facet, ...]
    """Empty if not requested."""
    kinds: dict[str, int]


class TextIndex:
    """The text index of one crawl's folder, for any number of queries and threads."""

    def __init__(
        self,
        folder: Path,
        weights: Weights = WEIGHTS,
        open_counter: OpenCounter = lambda: lambda url: 0,
        find_rank: FindRank = lambda url: 0.0,
        find_called: FindCalled = lambda *_: (),
    ) -> None:
        """Open an index; only benchmarks give other weights. `open_counter` and those after it are of the link graph."""
        self._weights = weights
        self._open_counter = open_counter
        self._find_rank = find_rank
        self._find_called = find_called
        self._languages: tuple[str, ...] = ()
        self._known_words: dict[str, Word] = {}
        self._paths = IndexPaths(folder)
        check_index(self._paths)
        self._commit: tuple[int, ...] = ()
        self._index = self._open()
        self._classes = LearnedClasses(self._paths)
        self._counts: OrderedDict[Any, _Counts] = OrderedDict()
        self._lock = threading.Lock()

    def search(
        self,
        text: str = "",
        *,
        limit: int = 10,
        offset: int = 0,
        facets: bool | int = False,
        exact: bool = False,
        explain: bool = False,
        **filters: Filter,
    ) -> Results:
        """Answer a query.

        Unknown words are corrected unless `exact`; with `explain`, each hit tells the parts of its score.
        Filters are named like the fields of the query language (`ASKED`): `type`, `site` and so on; several values of one mean
        any of them. No text is an error, but a limit or an offset can be. `facets` is the number of values per facet, or True
        for ten."""
        start = time.perf_counter()
        if not isinstance(text, str):
            raise UsageError(f"a search takes words as one text, not {text!r:.40}")
        _check_window(limit, offset)
        question = parse_question(text)
        index = self.load()
        with _reading(self._paths):
            corrected = "" if exact else correct_question(question, index)
            asked = _add_filters(parse_question(corrected) if corrected else question, filters)
            results = self._answer(index, asked, limit, offset, VALUES if facets is True else int(facets), explain)
        return replace(results, query=question.text, corrected=corrected, seconds=time.perf_counter() - start)

    def find_cards(self, text: str, limit: int) -> list[tuple[float, Card]]:
        """Return only the scores and cards of the best results, without snippets and facets."""
        index = self.load()
        with _reading(self._paths):
            ranked, _ = _rank(index, build_plan(parse_question(text), index), limit, 0)
        return [(one.score, one.card) for one in ranked]

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        """Complete typed text with labels, the best first, and classes; after a field such as `site:`, with its values."""
        if not isinstance(text, str):
            raise UsageError(f"suggestions are made for a text, not {text!r:.40}")
        index = self.load()
        classes = self._classes.list_classes(index.commit)
        with _reading(self._paths):
            return suggest(index, classes, partial(self._classes.search_names, index.commit), text, limit)

    def find_things_at(self, urls: Iterable[str], limit: int = 3) -> Iterator[tuple[str, list[Card]]]:
        """Find the things that addresses name, or that their pages are about, no parts: those of each address that has any."""
        index = self.load()
        is_thing = Query.term_set_query(index.schema, "role", [Role.MAIN, Role.THING])
        for url in urls:
            terms = list(dict.fromkeys((replace_surrogates(url), fold_iri(replace_surrogates(url)))))
            with _reading(self._paths):
                if not any(index.searcher.doc_freq("addresses", term) for term in terms):
                    continue
                named = Query.term_set_query(index.schema, "addresses", terms)
                query = Query.boolean_query([(Occur.Must, named), (Occur.Must, is_thing)])
                found: Any = index.searcher.search(query, limit, order_by_field="order")
                cards = [read_card(index.searcher.doc(address)) for _, address in found.hits]
            if cards:
                yield url, cards

    def _answer(
        self, index: Index, question: Question, limit: int, offset: int, facet_values: int, is_explained: bool
    ) -> Results:
        plan = build_plan(question, index)
        ranked, counts = _rank(index, plan, limit, offset)
        if not any(counts) and plan.is_ranked:
            # Words that only parts have, such as the name of somebody who wrote a comment, find these parts.
            question = replace(question, groups=(*question.groups, _ANY_ROLE))
            plan = build_plan(question, index)
            ranked, counts = _rank(index, plan, limit, offset)
        total = sum(counts)
        shown, kinds = self._count(index, question, plan, counts, facet_values)
        # Most results are in the same language.
        make_marker = cache(partial(Marker, plan))
        hits = (
            _make_hit(make_marker(_find_language(one.card)), one, explain_hit(index, plan, one) if is_explained else ())
            for one in ranked
        )
        return Results(
            question.text,
            tuple(hits),
            total,
            offset,
            note="; ".join(filter(None, (question.note, plan.note))),
            suggestion=suggest_question(question, index) if total < _FEW else "",
            with_some_words=counts[1],
            facets=shown,
            kind_counts=kinds,
        )

    def _open(self) -> tantivy.Index:
        path = self._paths.text
        if not (path / "meta.json").exists():
            raise UnindexedError(_tell_unready(self._paths))
        with _reading(self._paths):
            index = tantivy.Index.open(str(path))
        register_tokenizers(index)
        # Each search reloads if necessary; no thread watches for commits.
        index.config_reader("manual")
        return index

    def load(self) -> Index:
        """Return the index as of the last commit."""
        with self._lock:
            try:
                return self._load_now()
            except UsageError:
                # A rebuilt index may be replacing the old one at this moment.
                time.sleep(_SWAP_S)
                return self._load_now()

    def _load_now(self) -> Index:
        try:
            stat = (self._paths.text / "meta.json").stat()
        except FileNotFoundError:
            raise UnindexedError(_tell_unready(self._paths)) from None
        with _reading(self._paths):
            commit = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            # Another version may have rebuilt it meanwhile.
            check_index(self._paths)
            if commit != self._commit:
                self._index.reload()
                self._commit = commit
                self._languages, self._known_words = (), {}
            searcher = self._index.searcher()
            is_ready = searcher.doc_freq("id", CURSOR_ID) > 0
            if not is_ready and searcher.num_docs:
                raise ValueError("its documents are there, and what was written with them is not")
        if not is_ready:
            raise UnindexedError(_tell_unready(self._paths))
        find_subclasses = partial(self._classes.find_subclasses, commit=self._commit)
        find_superclasses = partial(self._classes.find_superclasses, commit=self._commit)
        index = Index(searcher, self._index.schema, find_subclasses, self._commit, find_superclasses)
        if not self._languages:
            with _reading(self._paths):
                languages = (choose_stemmer(language) for language in list_values(index, "lang")[:_LANGUAGES])
                self._languages = tuple(dict.fromkeys(languages)) or index.languages
        return replace(
            index,
            languages=self._languages,
            weights=self._weights,
            known_words=self._known_words,
            count_links=self._open_counter(),
            find_rank=self._find_rank,
            find_called=self._find_called,
        )

    def _count(
        self, index: Index, question: Question, plan: Plan, found: tuple[int, int], facet_values: int
    ) -> tuple[tuple[Facet, ...], dict[str, int]]:
        """Return facets with up to `facet_values` values (none if 0), and the number of results of each kind.

        `found` is how many results have all words, and how many only some."""
        # Newer links change what is found without a commit.
        key = (index.commit, question.groups or question.text, facet_values, found)
        with self._lock:
            counts = self._counts.pop(key, None)
        kinds = counts.kinds if counts else count_kinds(index, question, sum(found))
        shown = counts.facets if counts else ()
        if facet_values and not shown:
            query = plan.some if plan.some and found[1] else plan.query
            shown = count_facets(index, query, sum(found), facet_values, is_of_pages=asks_for_pages(question))
        with self._lock:
            # The least recently used entry is dropped first.
            self._counts[key] = _Counts(shown, kinds)
            if len(self._counts) > _CACHED:
                self._counts.popitem(last=False)
        return shown, dict(kinds)


def _rank(index: Index, plan: Plan, limit: int, offset: int) -> tuple[list[_Ranked], tuple[int, int]]:
    """Return one page of results, and how many have all words and how many only some; these come after the others."""
    has_all_words = None if plan.some is None else True
    ranked, count = _rank_matches(index, plan, plan.query, limit, offset, has_all_words=has_all_words)
    if plan.some is None or count >= ENOUGH:
        return ranked, (count, 0)
    rest = Query.boolean_query([(Occur.Must, plan.some), (Occur.MustNot, plan.query)])
    wanted, start = limit - len(ranked), max(0, offset - count)
    more, more_count = _rank_matches(index, plan, rest, wanted or 1, start, has_all_words=False)
    return [*ranked, *more[:wanted]], (count, more_count)


def _rank_matches(
    index: Index, plan: Plan, query: Query, limit: int, offset: int, *, has_all_words: bool | None
) -> tuple[list[_Ranked], int]:
    """Return one page of the matches of a query, the best first, and how many there are."""
    first, last = offset // _WINDOW, (offset + limit - 1) // _WINDOW
    order: Any = {"weight_by_field": "weight"} if plan.is_ranked else {"order_by_field": "order"}
    found: Any = index.searcher.search(query, (last - first + 1) * _WINDOW, offset=first * _WINDOW, **order)
    weighed: list[_Weighed] = []
    for start in range(0, len(found.hits), _WINDOW):
        weighed += _weigh(index, found.hits[start : start + _WINDOW], plan.is_ranked)
    skipped = offset - first * _WINDOW
    ranked: list[_Ranked] = []
    begin = skipped - skipped % _BLOCK
    for start in range(begin, min(skipped + limit, len(weighed)), _BLOCK):
        ranked += _score(index, plan, weighed[start : start + _BLOCK], has_all_words)
    return ranked[skipped - begin : skipped - begin + limit], found.count


def _weigh(index: Index, hits: Sequence[tuple[float, DocAddress]], is_ranked: bool) -> list[_Weighed]:
    """Sort hits by score and weight, or by weight alone if there are no scores; then by `order`."""
    addresses = [address for _, address in hits]
    weights = [float(weight or 0.0) for weight in index.searcher.fast_field_values("weight", addresses)]
    # tantivy has already multiplied by the logarithm of the weight, which separates parts from entities too little.
    words = [score / log2(2 + weight) if is_ranked else 1.0 for (score, _), weight in zip(hits, weights, strict=True)]
    orders = [int(order or 0) for order in index.searcher.fast_field_values("order", addresses)]
    scores = [weigh_match(*one, index.weights) for one in zip(words, weights, strict=True)]
    return sorted(zip(scores, orders, addresses, words, weights, strict=True), key=lambda one: one[:2], reverse=True)


def _score(index: Index, plan: Plan, hits: Sequence[_Weighed], has_all_words: bool | None) -> list[_Ranked]:
    """Load the documents of hits and sort them by the whole formula."""
    ranked = []
    for _, order, address, words, weight in hits:
        document = index.searcher.doc(address)
        card = read_card(document)
        labels = (card.label, *map(str, document.get_all("label")[1:_LABELS_COMPARED]))
        language = _find_language(card)
        likeness, is_in_order = max(_compare(plan, label, language) for label in labels)
        url = _find_linked(card)
        in_links, rank = (index.count_links(url), index.find_rank(url)) if url else (0, 0.0)
        evidence = Evidence(
            words, weight, card.role, likeness, is_in_order, card.sources, in_links, has_all_words, rank
        )
        score = score_match(evidence, index.weights)
        ranked.append(_Ranked(score, order, evidence, address, document, card))
    return sorted(ranked, key=lambda one: one[:2], reverse=True)


def _compare(plan: Plan, label: str, language: str) -> tuple[float, bool]:
    """Return how similar a label in a language is to the query, and whether it has all words in their order."""
    words, runs = split_text(label)
    stems = [stem_word(word, language) for word in words] + [pair for run in runs for pair in list_pairs(run)]
    asked = [[stem_word(part, language) for part in word.parts] or list_pairs(word.text) for word in plan.plain]
    likeness = compare_label(stems, asked, plan.rarities)
    size, phrase = len(plan.phrase), [*plan.phrase]
    is_in_order = size > 1 and any(words[at : at + size] == phrase for at in range(len(words) - size + 1))
    return likeness, is_in_order


def explain_hit(index: Index, plan: Plan, found: _Ranked) -> tuple[ScorePart, ...]:
    """Tell the parts of a result's score, and what each word of the query adds to it."""
    words = []
    for word, rarity in zip(plan.plain, plan.rarities, strict=True):
        value = _measure(index, word.loose, found.address)
        if value and found.evidence.has_all_words is False:
            value += index.weights.presence * rarity
        is_called = word.called is not None and _measure(index, word.called, found.address)
        words.append(f"{word.text} {value:.2f}{' (other sites call it so)' if is_called else ''}")
    return explain_match(found.evidence, index.weights, ", ".join(words))


def _measure(index: Index, query: Query, address: DocAddress) -> float:
    """The score that a query gives a document; 0 if it does not find it."""
    try:
        return float(msgspec.json.decode(query.explain(index.searcher, address).to_json())["value"])
    except ValueError:
        return 0.0


def _find_linked(card: Card) -> str:
    """Return the page that has a result's links; empty if there is none: links say nothing about an entity on a page."""
    url = card.id if card.kind == HitKind.PAGE else card.url or card.id
    return url if url.startswith(_PAGES) and "#" not in url else ""


def _find_language(card: Card) -> str:
    """Return the language whose stemmer the words of a document have."""
    return choose_stemmer(card.languages[0] if card.languages else "")


def _make_hit(marker: Marker, found: _Ranked, explanation: tuple[ScorePart, ...]) -> Hit:
    document, card = found.document, found.card
    # `shown` has the original of texts whose indexed form differs.
    stated = msgspec.json.decode(document.get_first("shown") or b"{}", type=dict[str, list[str]])
    labels, texts, lines = (stated.get(field) or document.get_all(field) for field in ("label", "text", "values"))
    text, values = (str(found[0]) if found else "" for found in (texts, lines))
    other_labels = " · ".join(map(str, labels[1:]))
    shown = (card.description, text, marker.choose_lines(values), other_labels)
    return Hit(
        **structs.asdict(card),
        snippet=marker.choose(text for text in shown if text),
        score=found.score,
        in_links=found.evidence.in_links,
        marked_label=marker.mark(card.label),
        explanation=explanation,
    )


def _check_window(limit: int, offset: int) -> None:
    if not 1 <= limit <= MAX_LIMIT:
        raise UsageError(f"a search gives 1 to {MAX_LIMIT:,} results at once, not {limit:,}")
    if offset < 0 or offset + limit > MAX_RESULTS:
        raise UsageError(f"only the first {MAX_RESULTS:,} results can be seen; ask for something more special")


def _add_filters(question: Question, filters: Mapping[str, Filter]) -> Question:
    """Add a group to the question for each filter."""
    groups = list(question.groups)
    for field, given in filters.items():
        if field not in ASKED:
            raise TypeError(f"a search has no filter {field!r}: there are {', '.join(ASKED)}")
        values = (given,) if isinstance(given, str) else tuple(given or ())
        clean = (replace_surrogates(str(value)) for value in values)
        if group := tuple(Clause(field, value, start=-1) for value in clean):
            groups.append(group)
    return replace(question, groups=tuple(groups))


@contextmanager
def _reading(paths: IndexPaths) -> Iterator[None]:
    """Raise UnreadableError where tantivy cannot read its files."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise UnreadableError(_tell_damage(paths, error)) from error
    except BaseException as error:
        # The class of Rust panics cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        raise UnreadableError(_tell_damage(paths, error)) from error


def _tell_unready(paths: IndexPaths) -> str:
    return (
        f"{paths.folder} has nothing in its text index yet: wait until the indexer has written, "
        f"or run `rdfspider index --dir {paths.folder}`"
    )


def _tell_damage(paths: IndexPaths, error: BaseException) -> str:
    if "Lockfile" in str(error) and not os.access(paths.text, os.W_OK):
        return (
            f"{paths.text} is read-only for you, and whoever searches it keeps a lock in it: search a copy of {paths.folder}, "
            "or make that folder writable"
        )
    return f"{paths.text} cannot be read ({' '.join(str(error).split())[:200]}); {advise_rebuild(paths.folder)}"
