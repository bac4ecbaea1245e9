"""The ranking formula, all of it: what is known of a match enters, its score leaves, with the reasons in plain words.

    score = words × document × label × known + all words

- words: BM25 of each word of the query in the field where it scores best, times the field's weight; a word in another form
  (brownie, brownies) scores a share of it. Where words are missing, each that is there adds its rarity. tantivy computes this
  part from the weights below.
- document: the weight of the document, less than 1 for parts of other things, for duplicates and for pages.
- label: how much of the query the label has, and how much of the label the query; more if the words are in the same order.
- known: the number of pages that describe the thing, and of pages that link to it.
- all words: results that have all words of the query come before those that lack one.

`benchmarks/bench_relevance.py --tune` learnt the weights from queries about real pages; other queries report what they reach.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, log2

from rdfspider.results import ScorePart

ALL_WORDS = 1_000.0
"""What all words of a query add to a score: more than all else can."""
ADDRESS = 1_000.0
"""The score of the page or entity whose address was typed."""
FREQUENT_SHARE, MIN_FREQUENT = 0.05, 1_000
"""A word that more documents have than this share, and than this many, does not decide what is found if rarer words are there."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the formula."""

    label: float = 4.0
    """The boost of a word in a label; the text of a page has 1."""
    values: float = 1.5
    """The boost of a word in the values of properties."""
    form: float = 0.6
    """The share of a word's score that another form of it gets."""
    tie: float = 0.1
    """The share that fields other than the best one add."""
    presence: float = 1.0
    """What a word adds in any field, times its rarity, to a document that lacks others of the query."""
    document: float = 1.0
    """The exponent of the document's weight."""
    page: float = 0.8
    """The factor of a page: the thing that it describes is meant more often."""
    same_label: float = 1.0
    """What a label with exactly the words of the query adds to the factor 1; a label with some of them adds less."""
    same_order: float = 0.25
    """What a label that has all words in the order of the query adds to it."""
    sources: float = 0.1
    """What each doubling of the pages that describe a thing adds to the factor 1."""
    links: float = 0.1
    """What each doubling of the pages that link to it adds to it."""

    def boost_field(self, field: str) -> float:
        """Return the boost of words in a field of the text index."""
        return self._boosts().get(field, 1.0)

    def _boosts(self) -> Mapping[str, float]:
        label = self.label
        forms = {"label_stems": label * self.form, "stems": self.form}
        return {"label": label, "values": self.values, "label_bigrams": label, **forms}


WEIGHTS = Weights()
"""The learnt weights."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one match."""

    words: float
    """The score of its words, by tantivy."""
    weight: float
    """The document's weight."""
    is_page: bool
    likeness: float
    """How similar its best label is to the query, from 0 to 1."""
    is_in_order: bool
    """Whether that label has the words in the order of the query."""
    sources: int
    in_links: int
    has_all_words: bool | None
    """None if the query has one word."""


def weigh_match(words: float, weight: float, weights: Weights) -> float:
    """Return the part of the score that chooses which matches are looked at more closely."""
    return words * float(weight**weights.document)


def score_match(found: Evidence, weights: Weights) -> float:
    """Return the score of a match."""
    score = found.words * _rate_document(found, weights) * _rate_label(found, weights) * _rate_fame(found, weights)
    return score + (ALL_WORDS if found.has_all_words else 0.0)


def explain_match(found: Evidence, weights: Weights, words: str) -> tuple[ScorePart, ...]:
    """Tell the parts of a score; `words` says where the words were found."""
    label = "the label has none of the words"
    if found.likeness:
        order = ", in this order" if found.is_in_order else ""
        label = f"the label is the query{order}" if found.likeness >= 1 else f"the label is like the query{order}"
    fame = f"{_count_pages(found.sources, 'describe')} it, {_count_pages(found.in_links, 'link')} to it"
    parts = [
        ScorePart("", found.words, f"words: {words}" if words else "words"),
        ScorePart("×", _rate_document(found, weights), _tell_document(found)),
        ScorePart("×", _rate_label(found, weights), label),
        ScorePart("×", _rate_fame(found, weights), fame),
    ]
    if found.has_all_words is not None:
        told = "it has all words of the query" if found.has_all_words else "it lacks a word of the query"
        parts.append(ScorePart("+", ALL_WORDS if found.has_all_words else 0.0, told))
    return tuple(parts)


def compare_label(label: Sequence[str], query: Sequence[Sequence[str]], rarities: Sequence[float]) -> float:
    """Return how similar a label is to a query, from 0 to 1: the share of the query in it times its share in the query.

    Both come as stems; adjacent words of a query are one of its parts, and each part has a rarity."""
    in_label, in_query = set(label), {stem for part in query for stem in part}
    known = sum(rarity for part, rarity in zip(query, rarities, strict=True) if part and in_label.issuperset(part))
    asked = sum(stem in in_query for stem in label)
    return (known / sum(rarities)) * (asked / len(label)) if known and label else 0.0


def rate_rarity(count: int, documents: int) -> float:
    """Return how much a word tells that `count` of so many documents have: BM25's inverse document frequency."""
    return log(1 + (max(0, documents - count) + 0.5) / (count + 0.5))


def is_frequent(count: int, documents: int) -> bool:
    """Return whether so many documents have a word that it does not decide what is found."""
    return count > max(MIN_FREQUENT, FREQUENT_SHARE * documents)


def _rate_document(found: Evidence, weights: Weights) -> float:
    return weigh_match(1.0, found.weight, weights) * (weights.page if found.is_page else 1.0)


def _rate_label(found: Evidence, weights: Weights) -> float:
    return 1 + weights.same_label * found.likeness + (weights.same_order if found.is_in_order else 0.0)


def _rate_fame(found: Evidence, weights: Weights) -> float:
    return 1 + weights.sources * log2(max(1, found.sources)) + weights.links * log2(1 + found.in_links)


def _tell_document(found: Evidence) -> str:
    if found.weight < 1:
        return "a duplicate" if found.is_page else "part of another thing"
    return "a page" if found.is_page else "a thing of its own"


def _count_pages(number: int, verb: str) -> str:
    return f"1 page {verb}s" if number == 1 else f"{number:,} pages {verb}"
