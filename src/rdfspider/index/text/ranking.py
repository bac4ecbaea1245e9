"""The ranking formula, all of it: what is known of a match enters, its score leaves, with the reasons in plain words.

    score = words × document × label × known + all words

- words: BM25 of each word of the query in the field where it scores best, times the field's weight; a word in another form
  (brownie, brownies) scores a share of it. Where words are missing, each that is there adds its rarity. tantivy computes this
  part from the weights below.
- document: more for a thing that a page is about, less for pages, parts of other things and duplicates.
- label: how much of the query the label has, and how much of the label the query; more if the words are in the same order.
- known: the number of pages that describe the thing, and of pages that link to it, and the rank of its page among all pages.
- all words: results that have all words of the query come before those that lack one.

All weights were tried by `benchmarks/bench_relevance.py --tune`, each at a half, three quarters, four thirds and twice its value,
on queries about one half of the hosts of real pages. `label`, `document`, `page` and `same_label` are what it learnt; the others,
which were set by hand first, are the best as they are, or make no difference there. `rank` makes none up to twenty times its
value, so it is one that decides between matches that are nearly as good. `called` was learnt by `benchmarks/bench_link_texts.py`.
`ALL_WORDS` is a rule, not a weight.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log, log2

from rdfspider.results import Role, ScorePart

ALL_WORDS = 1_000.0
"""What all words of a query add to a score: more than all else can."""
ADDRESS = 1_000.0
"""The score of the page or entity whose address was typed."""
FREQUENT_SHARE, MIN_FREQUENT = 0.05, 1_000
"""A word that more documents have than this share, and than this many, does not decide what is found if rarer words are there."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the formula."""

    label: float = 16.0
    """The boost of a word in a label; the text of a page has 1."""
    values: float = 1.5
    """The boost of a word in the values of properties."""
    form: float = 0.6
    """The share of a word's score that another form of it gets."""
    tie: float = 0.1
    """The share that fields other than the best one add."""
    presence: float = 1.0
    """What a word adds in any field, times its rarity, to a document that lacks others of the query."""
    document: float = 0.375
    """The exponent of the document's weight."""
    main: float = 1.2
    """The factor of a thing that a page is about."""
    page: float = 0.4
    """The factor of a page: a thing is meant more often."""
    same_label: float = 2.0
    """What a label with exactly the words of the query adds to the factor 1; a label with some of them adds less."""
    same_order: float = 0.25
    """What a label that has all words in the order of the query adds to it."""
    sources: float = 0.1
    """What each doubling of the pages that describe a thing adds to the factor 1."""
    links: float = 0.1
    """What each doubling of the pages that link to it adds to it."""
    called: float = 16.0
    """The boost of a word by which other sites call a page, for the best name; one site's counts a third."""
    rank: float = 0.01
    """What each doubling of the rank of its page, beyond the mean of all pages, adds to it."""

    def boost_field(self, field: str) -> float:
        """Return the boost of words in a field of the text index."""
        return self._boosts().get(field, 1.0)

    def _boosts(self) -> Mapping[str, float]:
        label = self.label
        forms = {"label_stems": label * self.form, "stems": self.form}
        return {"label": label, "values": self.values, "label_bigrams": label, **forms}


_ROLES = {
    Role.MAIN: "what a page is about",
    Role.PAGE: "a page",
    Role.PART: "part of another thing",
    Role.COVERED: "a page that its main thing stands for",
}
WEIGHTS = Weights()
"""The weights in use."""


FindRank = Callable[[str], float]
"""Says of a page by its URL what the link graph knows: its PageRank as a multiple of the mean of all pages; 0 if it is not known.
It is asked for some fifty pages a search."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one match."""

    words: float
    """The score of its words, by tantivy."""
    weight: float
    """The document's weight."""
    role: Role
    likeness: float
    """How similar its best label is to the query, from 0 to 1."""
    is_in_order: bool
    """Whether that label has the words in the order of the query."""
    sources: int
    in_links: int
    has_all_words: bool | None
    """None if the query has one word."""
    rank: float = 0.0
    """The rank of its page, as by `FindRank`."""


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
    fame = (
        f"{_count_pages(found.sources, 'describe')} it, {_count_pages(found.in_links, 'link')} to it{_tell_rank(found)}"
    )
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
    by_role = {Role.MAIN: weights.main, Role.PAGE: weights.page, Role.COVERED: weights.page}
    return weigh_match(1.0, found.weight, weights) * by_role.get(found.role, 1.0)


def _rate_label(found: Evidence, weights: Weights) -> float:
    return 1 + weights.same_label * found.likeness + (weights.same_order if found.is_in_order else 0.0)


def _rate_fame(found: Evidence, weights: Weights) -> float:
    known = weights.sources * log2(max(1, found.sources)) + weights.links * log2(1 + found.in_links)
    return 1 + known + weights.rank * log2(max(1.0, found.rank))


def _tell_document(found: Evidence) -> str:
    told = _ROLES.get(found.role, "a thing that pages name")
    return told if found.weight >= 1 else f"{told}, and only a part or a duplicate"


def _tell_rank(found: Evidence) -> str:
    """How well its page is known; nothing for one with the rank of any other page, to which nothing is added."""
    if found.rank <= 1:
        return ""
    return f", and the links of all pages give its page {found.rank:,.3g} times the rank of a mean page"


def _count_pages(number: int, verb: str) -> str:
    return f"1 page {verb}s" if number == 1 else f"{number:,} pages {verb}"
