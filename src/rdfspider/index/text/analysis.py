"""How text becomes terms of the text index, and how questions become the same: normal forms, scripts without spaces, tokenizers,
and the beginnings of labels. Writers and readers share it."""

import re
from functools import cache
from unicodedata import combining, is_normalized, normalize

import tantivy

WORDS, BIGRAMS = "words", "bigrams"
"""The tokenizers: words of any script that has spaces, without case and accents; characters and pairs of them for others."""
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]+"
)
"""Scripts without spaces, or whose words are not found by spaces: Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean."""
_NEAR = bytes({*range(256)} - {0xCC, 0xCD, 0xD2, *range(0xD6, 0xE2), *range(0xE3, 0xF1)})
"""Bytes of UTF-8 with which no character of a script without spaces begins, and no mark that is put upon other characters."""
_MARK_CODES = (*range(0x300, 0x2000), *range(0x3000, 0x10000))
"""Where such marks are, but for those of symbols; beyond, patterns are slow, and only dead scripts have any."""
MAX_START = 32
"""Characters of a label's beginning that count while somebody types."""
START_SIZES = (1, 2, 3, 5)
"""Beginnings of so many characters are terms of their own, each with a list of all that begin so; of longer ones the list is that
of the whole labels that begin so."""
_MAX_START_READ = 200
_PLAIN_WORD = re.compile("[a-z0-9]+")


def normalise_text(text: str) -> str:
    """A text as it is indexed and asked for: one spelling of each character, and none of the marks that are put upon others (the
    accents of decomposed letters, Hebrew and Arabic vowels)."""
    return _normalise(text)[0]


def split_scripts(text: str) -> tuple[str, list[str]]:
    """The normal text of which words are made, and its runs of scripts without spaces, in whose places it has spaces."""
    text, is_far = _normalise(text)
    return (UNSPACED.sub(" ", text), UNSPACED.findall(text)) if is_far else (text, [])


def _normalise(text: str) -> tuple[str, bool]:
    """The normal text, and whether it may have scripts without spaces."""
    if text.isascii():
        return text, False
    # Quick looks, and what most texts have that is not normal: to search each text takes longer than all else.
    text = text.replace("\xa0", " ").replace("…", "...")
    if not is_normalized("NFKC", text):
        # Line by line, because few are not.
        text = "\n".join(line if is_normalized("NFKC", line) else normalize("NFKC", line) for line in text.split("\n"))
    is_far = bool(text.encode("utf-8", "replace").translate(None, _NEAR))
    return _find_marks().sub("", text) if is_far else text, is_far


@cache
def _find_marks() -> re.Pattern[str]:
    # The vowels of Indic scripts, which are as letters, are none of these; those of scripts without spaces are told apart.
    marks = (chr(code) for code in _MARK_CODES if combining(chr(code)))
    return re.compile(f"[{''.join(mark for mark in marks if not UNSPACED.match(mark))}]+")


def split_text(text: str) -> tuple[list[str], list[str]]:
    """The words of a text as the index has them, and its runs of scripts without spaces."""
    spaced, runs = split_scripts(text)
    return _words().analyze(spaced), [run.lower() for run in runs]


def write_start(text: str) -> str:
    """A label, or what was typed of one, as its beginnings are compared: words in any script, without case and accents."""
    text = text[:_MAX_START_READ]
    # Most labels are plain, and take a fifth of the time so.
    words = _PLAIN_WORD.findall(text.lower()) if text.isascii() else _words().analyze(normalise_text(text))
    return " ".join(words)[:MAX_START]


def list_starts(label: str) -> list[str]:
    """The field `start`: the whole of a label, as far as it counts, and some of its beginnings."""
    start = write_start(label)
    return [start[:size] for size in START_SIZES if size < len(start)] + [start] if start else []


def register_tokenizers(index: tantivy.Index) -> None:
    """Every process that opens the index must do this first."""
    index.register_tokenizer(WORDS, build_words())
    index.register_tokenizer(BIGRAMS, build_bigrams())


def build_words() -> tantivy.TextAnalyzer:
    """The tokenizer `words`."""
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    words = words.filter(tantivy.Filter.remove_long(100)).filter(tantivy.Filter.lowercase())
    return words.filter(tantivy.Filter.ascii_fold()).build()


@cache
def _words() -> tantivy.TextAnalyzer:
    return build_words()


def build_bigrams() -> tantivy.TextAnalyzer:
    """The tokenizer `bigrams`: pairs, and single characters. It knows no positions: phrases of them cannot be asked for."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(1, 2)).filter(tantivy.Filter.lowercase()).build()
