"""Snippets: the text of a result enters; the excerpt that best shows the words of the query leaves, with them marked."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import cast

from rdfspider.index.analysis import UNSPACED, USUAL_LANGUAGE, build_words, normalise_text, stem_word
from rdfspider.index.text.query_plan import Plan
from rdfspider.results import Marked

CHARS = 240
# How much of a long text is scanned.
_MAX_CHARS = 30_000
# Most texts have all the words within this many characters.
_HEAD_CHARS = 5_000
_MAX_MARKS = 1_000
_MIN_WORDS = 4
# A word ends where a script without spaces begins.
_LETTER = rf"[^\W_{UNSPACED.pattern[1:-2]}]"
_LETTERS = re.compile(f"{_LETTER}*")
_IS_LETTER = re.compile(_LETTER).match
# Characters that are not ASCII, with the spaces and punctuation between them.
_FAR = re.compile(r"[^\x00-\x7f]+(?:[ -@]{1,3}[^\x00-\x7f]+)*")
# Numbers, times, durations and media types.
_FOR_MACHINES = re.compile(
    r"[\W\d_]*|[\d-]+T[\d:.]+(?:Z|[+-][\d:]+)?|P[\d.YMWDTHS]+"
    r"|(?:application|audio|font|image|message|model|multipart|text|video)/[\w.+-]+",
    re.IGNORECASE,
)
_WORDS = build_words()


class Marker:
    """Marks the words of one query plan, and their other forms, in texts."""

    def __init__(self, plan: Plan, language: str = USUAL_LANGUAGE) -> None:
        self._language = language
        self._stems = frozenset(stem_word(word, language) for word in plan.formed)
        self._words, self._prefixes = frozenset(plan.words), tuple(plan.prefixes)
        # Word boundaries are checked at each match: a pattern that includes them takes milliseconds to compile.
        # The longest words come first, because a pattern takes the first alternative that matches.
        words = sorted({*plan.words, *self._stems, *plan.prefixes}, key=len, reverse=True)
        runs = sorted(plan.runs, key=len, reverse=True)
        patterns = [f"({'|'.join(map(re.escape, words))})"] if words else []
        self._pattern = re.compile("|".join([*patterns, *map(re.escape, runs)])) if words or runs else None
        self._has_words = bool(words)
        self._exact = 0 if plan.prefixes or runs else len(plan.words)
        """How many different words can be shown; 0 if unknown."""
        self._starts = self._stems | (plan.words - plan.formed)

    def mark(self, text: str) -> Marked:
        """Mark the whole text."""
        return Marked(text, tuple(self._find(text)))

    def choose_lines(self, values: str) -> str:
        """Keep readable lines, and others only if they match: a bare word or number means nothing without its property."""
        may_match = self._may_show(values, 1)
        return "\n".join(line for line in values.split("\n") if not _is_bare(line) or (may_match and self._find(line)))

    def choose(self, texts: Iterable[str]) -> Marked:
        """Cut an excerpt from each text and return the first with the most different words; stop at one that shows all."""
        best, most = Marked(""), -1
        for text in texts:
            if most >= 0 and not self._may_show(text, most + 1):
                continue
            cut = self.cut(text)
            count = _count_words(cut)
            if count > most:
                best, most = cut, count
            if self._exact and count >= self._exact:
                break
        return best

    def cut(self, text: str, chars: int = CHARS) -> Marked:
        """Return the marked excerpt of about `chars` characters with the most different words; without any, the beginning."""
        if self._exact and len(text) > _HEAD_CHARS:
            head = _join_lines(text[:_HEAD_CHARS])
            marks = self._find(head)
            first = _choose_first(head, marks, chars)
            # The head must reach beyond the end of the window.
            if first < len(head) - 2 * chars:
                cut = _cut_window(head, marks, first, chars)
                if _count_words(cut) >= self._count_present(text):
                    return cut
        text = _join_lines(text[:_MAX_CHARS])
        if len(text) <= chars:
            return self.mark(text)
        marks = self._find(text)
        return _cut_window(text, marks, _choose_first(text, marks, chars), chars)

    def _may_show(self, text: str, words: int) -> bool:
        """Whether a text may show so many different words: a quick look, which folds no accents."""
        return not self._exact or not text.isascii() or self._count_present(text) >= words

    def _count_present(self, text: str) -> int:
        """Count the different words that a text may show: a quick look, by their beginnings."""
        folded = text[:_MAX_CHARS].lower()
        return sum(start in folded for start in self._starts)

    def _find(self, text: str) -> list[tuple[int, int]]:
        if self._pattern is None:
            return []
        folded, places = _fold(text)
        marks: list[tuple[int, int]] = []
        for match in self._pattern.finditer(folded):
            start, end = match.span()
            if self._has_words and match[1] is not None:
                end = self._end_word(folded, start)
                if not end:
                    continue
            marks.append((places[start], places[end - 1] + 1) if places else (start, end))
            if len(marks) == _MAX_MARKS:
                break
        return marks

    def _end_word(self, folded: str, start: int) -> int:
        """Return the end of the word that begins here if the query has it, else 0."""
        if start and _IS_LETTER(folded[start - 1]):
            return 0
        end = cast(re.Match[str], _LETTERS.match(folded, start)).end()
        word = folded[start:end]
        is_asked = word in self._words or word.startswith(self._prefixes)
        return end if is_asked or stem_word(word, self._language) in self._stems else 0


def _is_bare(line: str) -> bool:
    return bool(_FOR_MACHINES.fullmatch(line)) or (len(line.split()) < _MIN_WORDS and not UNSPACED.search(line))


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def _count_words(marked: Marked) -> int:
    """Count the different words that are marked."""
    return len({marked.text[start:end].lower() for start, end in marked.marks})


def _cut_window(text: str, marks: list[tuple[int, int]], first: int, chars: int) -> Marked:
    """Cut a window of about `chars` characters around `first`."""
    start, end = _place_window(text, first, chars)
    before, after = "… " if start else "", " …" if end < len(text) else ""
    shift = len(before) - start
    kept = tuple((one + shift, last + shift) for one, last in marks if start <= one and last <= end)
    return Marked(f"{before}{text[start:end]}{after}", kept)


def _choose_first(text: str, marks: list[tuple[int, int]], chars: int) -> int:
    """Return the first mark of the earliest window with the most different words."""
    best, best_count = 0, 0
    for number, (start, _) in enumerate(marks):
        seen = set()
        for first, last in marks[number : number + 20]:
            if last - start > chars * 3 // 4:
                break
            seen.add(text[first:last].lower())
        if len(seen) > best_count:
            best, best_count = start, len(seen)
    return best


def _place_window(text: str, first: int, chars: int) -> tuple[int, int]:
    """Return the bounds of a window around `first`, at word boundaries if possible."""
    start = min(max(0, first - chars // 4), len(text) - chars)
    end = start + chars
    if start:
        space = text.find(" ", start, first)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", first + 1, end)
        end = space if space > first + chars // 2 else end
    return start, end


def _fold(text: str) -> tuple[str, list[int]]:
    """Fold case and accents as the index does; also return the original place of each character (empty if unchanged)."""
    if text.isascii():
        return text.lower(), []
    parts: list[str] = []
    last = 0
    uneven: list[tuple[int, list[str]]] = []
    # Folding single characters is slow, and most are ASCII.
    for match in _FAR.finditer(text):
        folded = [_fold_character(character) for character in match[0]]
        joined = "".join(folded)
        parts += (text[last : match.start()].lower(), joined)
        last = match.end()
        if len(joined) != len(folded) or not all(folded):
            uneven.append((match.start(), folded))
    parts.append(text[last:].lower())
    return "".join(parts), _list_places(uneven, len(text)) if uneven else []


def _list_places(uneven: list[tuple[int, list[str]]], size: int) -> list[int]:
    """List the original place of each folded character, given the runs whose length changed."""
    places: list[int] = []
    last = 0
    for start, folded in uneven:
        places += range(last, start)
        places += (at for at, characters in enumerate(folded, start) for _ in characters)
        last = start + len(folded)
    places += range(last, size)
    return places


@lru_cache(maxsize=65_536)
def _fold_character(character: str) -> str:
    # A character that is no part of a word ends one, and is kept.
    normal = normalise_text(character)
    return "".join(_WORDS.analyze(normal)) or normal.lower()
