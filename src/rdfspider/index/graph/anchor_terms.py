"""The pages that other sites call by a term: votes enter, tables leave, which answer which pages words mean.

A term is a word of an anchor text, or a character or a pair of characters of a run without spaces. How well it names a page,
from 0 to 1, is more where many sites say it, and less where most sites that link to the page say something else. A term keeps
the pages that it names best. Other forms of a word are found among the terms with the same beginning.
"""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rdfspider.index.analysis import UNSPACED, list_pairs
from rdfspider.index.graph.anchor_votes import Votes
from rdfspider.index.graph.sections import Sections, SectionWriter
from rdfspider.index.graph.varints import Numbers

MAX_PAGES = 10_000
"""Pages of a term; nobody looks at more."""
_DOUBT = 2.0
"""Votes that the names of a page lack for certainty: one site's word counts a third."""
_SHARE = 0.25
"""The exponent of a term's share of the votes for a page. A page that many sites name has many names: with a half, the word of
one site for a page that nobody else names would count more than those of three sites of thirty."""
_MAX_FORMS, _MAX_COMPARED = 8, 500
_MIN_STEM = 3
"""Other forms of a word have at least so many of its first characters, and all but its last few. The shortest are compared: there
may be very many that begin so."""
_MAX_ENDING = 3
_Scores = npt.NDArray[np.float32]
_NONE: tuple[Numbers, _Scores] = (np.empty(0, np.int64), np.empty(0, np.float32))


class AskedWord(NamedTuple):
    """A word of a question, or words and pairs of characters that have to be there together."""

    terms: tuple[str, ...]
    is_form: Callable[[str], bool]
    """Whether a term is another form of the word, if it is one word."""


class CalledPage(NamedTuple):
    """A page that other sites call by words of a question."""

    url: str
    scores: tuple[float, ...]
    """How well each of the words names it, from 0 to 1."""


def write_anchors(writer: SectionWriter, votes: Votes, read_urls: Callable[[Sequence[int]], Sequence[str]]) -> None:
    """Write the tables; `read_urls` gives the URLs of pages by their ids."""
    pages, terms, scores, names = _score_terms(votes)
    ids, places = np.unique(pages, return_inverse=True)
    order = np.lexsort((places, -scores, terms))
    terms, places, scores = terms[order], places[order], scores[order]
    is_kept = np.arange(len(terms)) - np.searchsorted(terms, terms, side="left") < MAX_PAGES
    terms, places, scores = terms[is_kept], places[is_kept], scores[is_kept]
    _write_texts(writer, "anchor_terms", names)
    _write_texts(writer, "anchor_urls", read_urls(ids.tolist()))
    writer.write_table("anchor_ends", np.searchsorted(terms, np.arange(len(names)), side="right").astype(np.uint64))
    writer.write_table("anchor_pages", places.astype(np.uint32))
    writer.write_table("anchor_scores", scores.astype(np.float16))


class AnchorTerms:
    """The tables of a file; for any number of threads."""

    def __init__(self, file: Sections) -> None:
        self._file = file
        self._terms = _Texts(file, "anchor_terms")
        self._urls = _Texts(file, "anchor_urls")
        self._ends = file.get_table("anchor_ends", np.uint64)
        self._pages = file.get_table("anchor_pages", np.uint32)
        self._scores = file.get_table("anchor_scores", np.float16)
        total = int(self._ends[-1]) if len(self._ends) else 0
        if len(self._ends) != len(self._terms) or not len(self._pages) == len(self._scores) == total:
            raise file.tell_damage("it has not one list of pages for each term")

    def find(self, words: Sequence[AskedWord], limit: int, form_share: float) -> list[CalledPage]:
        """The pages that words of a query name best, at most so many. A rare word tells more than a common one; another form of
        a word counts a share."""
        found = [self._look_up(word, form_share) for word in words]
        best = self._choose_best(found, limit)
        table = [_read_scores(each, best) for each in found]
        return [
            CalledPage(self._urls.read(page), scores)
            for page, scores in zip(best.tolist(), zip(*table, strict=True), strict=True)
        ]

    def _choose_best(self, found: Sequence[tuple[Numbers, _Scores]], limit: int) -> Numbers:
        """The pages with the highest sums of scores. There may be millions of pages with one of many words."""
        total = len(self._urls)
        rarities = [log(1 + (total - len(pages) + 0.5) / (len(pages) + 0.5)) for pages, _ in found]
        pages = np.concatenate([np.empty(0, np.int64), *(each[0] for each in found)])
        scores = np.concatenate(
            [np.empty(0, np.float32), *(rarity * each[1] for rarity, each in zip(rarities, found, strict=True))]
        )
        # Lists that are sorted already are merged fast.
        order = np.argsort(pages, kind="stable")
        pages, scores = pages[order], scores[order]
        starts = np.flatnonzero(np.diff(pages, prepend=-1))
        sums = np.add.reduceat(scores, starts) if len(starts) else scores
        pages = pages[starts]
        if len(pages) > limit:
            is_high = sums >= np.partition(sums, len(sums) - limit)[len(sums) - limit]
            pages, sums = pages[is_high], sums[is_high]
        return pages[np.lexsort((pages, -sums))][:limit]

    def _look_up(self, word: AskedWord, form_share: float) -> tuple[Numbers, _Scores]:
        """The pages that a word names, ascending, and how well."""
        found = [self._read(term) for term in dict.fromkeys(word.terms)]
        if len(word.terms) == 1:
            forms = map(self._read, self._list_forms(word))
            found = [_unite([found[0], *((pages, form_share * scores) for pages, scores in forms)])]
        # The shortest list first: mostly few pages are left soon, or none.
        (pages, scores), *others = sorted(found, key=lambda each: len(each[0])) or [_NONE]
        for other_pages, other_scores in others:
            if not len(pages):
                break
            pages, here, there = np.intersect1d(pages, other_pages, assume_unique=True, return_indices=True)
            scores = np.minimum(scores[here], other_scores[there])
        return pages, scores

    def _read(self, term: str) -> tuple[Numbers, _Scores]:
        """The pages of a term, ascending, and how well it names them."""
        place = self._terms.find(term)
        if place is None:
            return _NONE
        start, stop = int(self._ends[place - 1]) if place else 0, int(self._ends[place])
        pages = self._pages[start:stop].astype(np.int64)
        order = np.argsort(pages)
        return pages[order], self._scores[start:stop][order].astype(np.float32)

    def _list_forms(self, word: AskedWord) -> list[str]:
        term = word.terms[0]
        beginning = term[: max(_MIN_STEM, len(term) - _MAX_ENDING)]
        near = (other for other in self._terms.list_shortest(beginning, _MAX_COMPARED) if other != term)
        return [*islice(filter(word.is_form, near), _MAX_FORMS)]


class _Texts:
    """A list of texts."""

    def __init__(self, file: Sections, name: str) -> None:
        self._file = file
        self._joined = file.get_checked(name)
        self._ends = file.get_table(f"{name}_ends", np.uint64)
        if len(self._ends) and int(self._ends[-1]) != len(self._joined):
            raise file.tell_damage(f"{name} has another length than it says")

    def __len__(self) -> int:
        return len(self._ends)

    def read(self, place: int) -> str:
        return str(self._read(place), "utf-8", "replace")

    def find(self, text: str) -> int | None:
        """The place of a text in a sorted list."""
        wanted = _encode(text)
        place = bisect_left(range(len(self)), wanted, key=self._read)
        return place if place < len(self) and self._read(place) == wanted else None

    def list_shortest(self, beginning: str, limit: int) -> Iterator[str]:
        """The shortest texts with a beginning in a sorted list, at most so many."""
        start = bisect_left(range(len(self)), _encode(beginning), key=self._read)
        # No text has this byte.
        stop = bisect_left(range(len(self)), _encode(beginning) + b"\xff", key=self._read)
        before = int(self._ends[start - 1]) if start else 0
        lengths = np.diff(self._ends[start:stop], prepend=np.uint64(before))
        return map(self.read, (start + np.argsort(lengths, kind="stable")[:limit]).tolist())

    def _read(self, place: int) -> bytes:
        start = int(self._ends[place - 1]) if place else 0
        return bytes(self._joined[start : int(self._ends[place])])


def list_terms(name: str) -> list[str]:
    """The different terms of a folded text."""
    parts = name.split(" ")
    if not name.isascii():
        # Somebody may ask for one character.
        parts = [term for part in parts for term in ((*part, *list_pairs(part)) if UNSPACED.match(part) else (part,))]
    return list(dict.fromkeys(parts))


def _score_terms(votes: Votes) -> tuple[Numbers, Numbers, npt.NDArray[np.float64], Sequence[str]]:
    """Each page with each term of its texts, how well the term names it, and the terms, sorted."""
    names, flat, bounds = _number_terms(votes.names)
    counts = np.diff(bounds)[votes.texts]
    before = np.cumsum(counts) - counts
    terms = flat[np.arange(counts.sum()) - np.repeat(before - bounds[:-1][votes.texts], counts)]
    pages, said = np.repeat(votes.pages, counts), np.repeat(votes.votes, counts)
    keys, place_of = np.unique(pages * max(1, len(names)) + terms, return_inverse=True)
    sums = np.bincount(place_of, weights=said, minlength=len(keys))
    pages, terms = np.divmod(keys, max(1, len(names)))
    ids, of_page = np.unique(votes.pages, return_inverse=True)
    totals = np.bincount(of_page, weights=votes.votes, minlength=len(ids))[np.searchsorted(ids, pages)]
    return pages, terms, sums / (sums + _DOUBT) * (sums / totals) ** _SHARE, names


def _number_terms(texts: Sequence[str]) -> tuple[list[str], Numbers, Numbers]:
    """All terms, sorted; the terms of each text, by their places among them; and where those of each text begin and end."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    said, ends = array("I"), array("Q", [0])
    for text in texts:
        said.extend(map(numbers.__getitem__, list_terms(text)))
        ends.append(len(said))
    names = sorted(numbers, key=_encode)
    place_of = np.empty(len(names), np.int64)
    place_of[[numbers[name] for name in names]] = np.arange(len(names))
    return names, place_of[np.frombuffer(said, np.uint32)], np.frombuffer(ends, np.int64)


def _read_scores(found: tuple[Numbers, _Scores], wanted: Numbers) -> list[float]:
    """The scores of wanted pages in a list; 0 for those that it has not."""
    pages, scores = found
    places = np.searchsorted(pages, wanted)
    return [
        float(scores[place]) if place < len(pages) and pages[place] == page else 0.0
        for place, page in zip(places.tolist(), wanted.tolist(), strict=True)
    ]


def _unite(lists: Sequence[tuple[Numbers, _Scores]]) -> tuple[Numbers, _Scores]:
    """The pages of several lists, each with its highest score."""
    if len(lists) == 1:
        return lists[0]
    pages = np.unique(np.concatenate([each[0] for each in lists]))
    scores = np.zeros(len(pages), np.float32)
    for its_pages, its_scores in lists:
        places = np.searchsorted(pages, its_pages)
        scores[places] = np.maximum(scores[places], its_scores)
    return pages, scores


def _write_texts(writer: SectionWriter, name: str, texts: Sequence[str]) -> None:
    encoded = [_encode(text) for text in texts]
    writer.write_table(name, b"".join(encoded))
    writer.write_table(f"{name}_ends", np.cumsum(np.array(list(map(len, encoded)), np.uint64), dtype=np.uint64))


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")
