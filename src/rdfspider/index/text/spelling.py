"""Words that the index does not have, or hardly, in; words that it has out: "did you mean".

A neighbour at one edit (a letter too many, too few, another, or two in the wrong order) is looked up directly: some hundred
look-ups. For those at two, tantivy finds labels that have one, and the words of these labels are compared.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from tantivy import Query

from rdfspider.index.text.analysis import split_text
from rdfspider.index.text.fields import ASKED, WORD_BOOSTS
from rdfspider.index.text.query_language import VALUE, WORD, WORDS, Clause, Question
from rdfspider.index.text.query_plan import Index

# A word of so many documents may be a mistake, where a neighbour has so many times more.
_RARE = 3
_RATIO = 50
_MIN_CHARS = 3
_MAX_CHARS = 24
# Shorter words have too many neighbours at two edits, which mean something else.
_MIN_CHARS_FOR_TWO = 5
_MAX_WORDS = 4
_LABELS = 50
_DIGITS = "0123456789"


def suggest_question(question: Question, index: Index) -> str:
    """The question with other words in the place of misspelt ones; empty where none is."""
    rare = [
        (start, word, fields)
        for group in question.groups
        for clause in group
        for start, word, fields in _list_words(clause)
        if count_documents(word, index, fields) <= _RARE
    ]
    text = question.text
    # From the end, so that places before it stay what they are.
    for start, word, fields in sorted(rare[:_MAX_WORDS], reverse=True):
        if better := suggest_word(word, index, fields):
            text = text[:start] + better + text[start + len(word) :]
    return text if text != question.text else ""


def _list_words(clause: Clause) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Where each word of a clause was typed, the word, and the fields that may have it."""
    if clause.is_excluded or clause.is_prefix or clause.start < 0 or "://" in clause.text:
        return
    if clause.field in ASKED and ASKED[clause.field].is_spelled:
        yield clause.start, clause.text.lower(), (ASKED[clause.field].name,)
    elif clause.field in (WORDS, VALUE):
        for match in WORD.finditer(clause.text):
            # Only words that are as long in the index can be put in the place of what was typed.
            words = split_text(match[0])[0]
            if len(words) == 1 and len(words[0]) == len(match[0]):
                yield clause.start + match.start(), words[0], tuple(WORD_BOOSTS)


def suggest_word(word: str, index: Index, fields: Sequence[str] = tuple(WORD_BOOSTS)) -> str:
    """The most frequent neighbour of a word that is rare or missing in some fields; empty where it is neither or has none."""
    if not _MIN_CHARS <= len(word) <= _MAX_CHARS or word.isdigit():
        return ""
    count = count_documents(word, index, fields)
    if count > _RARE:
        return ""
    for neighbours in (_list_neighbours(word), _find_near_labels(word, index)):
        best, best_count = "", 0
        for neighbour in neighbours:
            found = count_documents(neighbour, index, fields)
            if (found, best) > (best_count, neighbour):
                best, best_count = neighbour, found
        if best and best_count >= max(1, count * _RATIO):
            return best
    return ""


def count_documents(word: str, index: Index, fields: Sequence[str]) -> int:
    """How many documents have a word, in the field where most do."""
    return max(index.searcher.doc_freq(field, word) for field in fields)


def _list_neighbours(word: str) -> Iterable[str]:
    """All words at one edit."""
    letters = _list_letters(word)
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = {left + right[1:] for left, right in splits if right}
    found |= {left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1}
    found |= {left + letter + right[1:] for left, right in splits if right for letter in letters}
    found |= {left + letter + right for left, right in splits for letter in letters}
    return sorted(found - {word, ""})


def _list_letters(word: str) -> str:
    """The letters of the scripts that a word is written in: those beside its own in Unicode."""
    if word.isascii():
        return "abcdefghijklmnopqrstuvwxyz" + (_DIGITS if any(map(str.isdigit, word)) else "")
    blocks = {ord(letter) & ~0x7F for letter in word if letter.isalpha()}
    near = (chr(code) for block in sorted(blocks)[:3] for code in range(block, block + 0x80))
    return "".join(letter for letter in near if unicodedata.category(letter) in ("Ll", "Lo"))[:150]


def _find_near_labels(word: str, index: Index) -> Iterator[str]:
    """Words at two edits, from the labels that are spoken of most."""
    if len(word) < _MIN_CHARS_FOR_TWO:
        return
    query = Query.fuzzy_term_query(index.schema, "label", word, 2)
    found = index.searcher.search(query, _LABELS, count=False, order_by_field="order")
    seen = {word}
    for _, address in found.hits:
        label = str(index.searcher.doc(address).get_first("label") or "")
        for other in split_text(label[:1_000])[0]:
            if other not in seen:
                seen.add(other)
                if abs(len(other) - len(word)) <= 2 and measure_distance(word, other) <= 2:
                    yield other


def measure_distance(one: str, other: str) -> int:
    """How many edits lead from a word to another; two letters in the wrong order are one."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, letter_there in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != letter_there))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == letter_there:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
