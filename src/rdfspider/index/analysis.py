"""Turn text into terms of the text index: normalisation, scripts without spaces, tokenizers, and beginnings of labels.

Writers and readers share it, so that queries have the same terms as documents."""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from unicodedata import combining, is_normalized, normalize

import tantivy

WORDS, BIGRAMS = "words", "bigrams"
"""The tokenizers: words without case and accents for scripts with spaces; characters and pairs of them for others."""
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]+"
)
"""Scripts whose words spaces do not separate: Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean."""
_NEAR = bytes({*range(256)} - {0xCC, 0xCD, 0xD2, *range(0xD6, 0xE2), *range(0xE3, 0xF1)})
"""UTF-8 bytes that begin neither a character of a script without spaces nor a combining mark."""
_SPACED = bytes(range(0xE0))
"""UTF-8 bytes that begin no character of a script without spaces."""
_MARK_CODES = (*range(0x300, 0x2000), *range(0x3000, 0x10000))
"""Where combining marks are, except those for symbols; beyond, patterns are slow, and only dead scripts have marks."""
MAX_START = 32
"""How many characters of a label completions compare."""
START_SIZES = (1, 2, 3, 5)
"""Beginnings of these lengths are terms of their own; longer ones are found as prefixes of the term of the whole label."""
_MAX_START_READ = 200
_MAX_WORD = 100
"""Words of so many characters, or more, are left out."""
_PLAIN_WORD = re.compile("[a-z0-9]+")
_ANY_WORD = re.compile(r"[^\W_]+")
STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""tantivy's stemmers by primary language tag. They read words without accents, as people often type them."""
USUAL_LANGUAGE = "en"
"""The language whose stemmer words get that are in no language known here."""
_MAX_STEMMED_WORDS = 50_000
"""Words whose stems are remembered, per language."""


def normalise_text(text: str) -> str:
    """Normalise text for indexing and queries: NFKC, without combining marks (accents, Hebrew and Arabic vowels)."""
    return _normalise(text)[0]


def split_scripts(text: str) -> tuple[str, list[str]]:
    """Return the normalised text with spaces in place of runs of scripts without spaces, and these runs."""
    text, far = _normalise(text)
    runs = UNSPACED.findall(text) if far.translate(None, _SPACED) else []
    return (UNSPACED.sub(" ", text) if runs else text), runs


def _normalise(text: str) -> tuple[str, bytes]:
    """Return the normalised text, and the first bytes of characters that may be of scripts without spaces."""
    if text.isascii():
        return text, b""
    # The quick checks come first: a pattern search in each text is the slowest step. A no-break space and an ellipsis separate
    # words in any form, so they stay as they are, and the text need not be kept twice.
    if not is_normalized("NFKC", text.replace("\xa0", " ").replace("…", " ")):
        # Line by line, because few lines need it.
        text = "\n".join(line if is_normalized("NFKC", line) else normalize("NFKC", line) for line in text.split("\n"))
    far = text.encode("utf-8", "replace").translate(None, _NEAR)
    return _find_marks().sub("", text) if far else text, far


@cache
def _find_marks() -> re.Pattern[str]:
    # This excludes the vowel signs of Indic scripts, which act as letters, and the marks of scripts without spaces.
    marks = (chr(code) for code in _MARK_CODES if combining(chr(code)))
    return re.compile(f"[{''.join(mark for mark in marks if not UNSPACED.match(mark))}]+")


def split_text(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text as the index has them, and its runs of scripts without spaces."""
    if len(text) < _MAX_WORD and text.isascii():
        # A quarter of the time for most labels and words.
        return _PLAIN_WORD.findall(text.lower()), []
    spaced, runs = split_scripts(text)
    return _words().analyze(spaced), [run.lower() for run in runs]


def list_pairs(run: str) -> list[str]:
    """List the pairs of characters of a run, in their order; a single character stands alone."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def write_start(text: str) -> str:
    """Return a label, or its typed beginning, in the form that completions compare: words without case and accents."""
    text = text[:_MAX_START_READ]
    # Most labels are ASCII, for which this takes a fifth of the time.
    words = _PLAIN_WORD.findall(text.lower()) if text.isascii() else _words().analyze(normalise_text(text))
    return " ".join(words)[:MAX_START]


def list_starts(label: str) -> list[str]:
    """List the values of the field `start`: the label, up to `MAX_START` characters, and some of its beginnings."""
    start = write_start(label)
    return [start[:size] for size in START_SIZES if size < len(start)] + [start] if start else []


def list_stems(texts: Iterable[str], language: str) -> list[str]:
    """List the stems of the words of normalised texts that are not among these words themselves, with their language."""
    chosen = choose_stemmer(language)
    words: set[str] = set()
    stems: set[str] = set()
    for text in texts:
        its_words, its_stems = _stem_text(text, chosen)
        words |= its_words
        stems |= its_stems
    return [write_stem(stem, chosen) for stem in sorted(stems - words)]


@lru_cache(maxsize=2048)
def _stem_text(text: str, language: str) -> tuple[set[str], set[str]]:
    """The words of a text, and those of their stems that are not among them. A page and what it is about have the same text,
    and many pages name the same things."""
    words = set(_PLAIN_WORD.findall(text.lower())) if text.isascii() else _list_words(text)
    return words, _get_stemmer(language).stem(words) - words


def _list_words(text: str) -> set[str]:
    """List the different words of a text as the tokenizer does; only those that are not ASCII need it."""
    return {word if word.isascii() else _fold_word(word) for word in set(_ANY_WORD.findall(text.lower()))}


@lru_cache(maxsize=65_536)
def _fold_word(word: str) -> str:
    return next(iter(_words().analyze(word)), word)


def write_stem(stem: str, language: str) -> str:
    """Return a stem as the index has it: other languages have other words with the same stem."""
    return f"{language} {stem}"


def choose_stemmer(language: str) -> str:
    """Return the primary tag of a language that has a stemmer: the given one, else the usual one."""
    primary = language.lower().partition("-")[0]
    return primary if primary in STEMMERS else USUAL_LANGUAGE


@lru_cache(maxsize=65_536)
def stem_word(word: str, language: str) -> str:
    """Return the stem of a word, as the index has words, in a language that has a stemmer."""
    return _get_stemmer(language).stem({word}).pop()


class _Stemmer:
    """One language's stemmer, which remembers the stems of the words that it saw: most words come again."""

    def __init__(self, language: str) -> None:
        stemmer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        self._analyzer = stemmer.filter(tantivy.Filter.stemmer(STEMMERS[language])).build()
        self._stems: dict[str, str] = {}

    def stem(self, words: set[str]) -> set[str]:
        """Return the stems of words."""
        stems = self._stems
        try:
            return set(map(stems.__getitem__, words))
        except KeyError:
            new = [word for word in words if word not in stems]
        if len(stems) + len(new) > _MAX_STEMMED_WORDS:
            stems = self._stems = {}
            new = list(words)
        stems.update(zip(new, self._analyzer.analyze(" ".join(new)), strict=True))
        return set(map(stems.__getitem__, words))


@cache
def _get_stemmer(language: str) -> _Stemmer:
    return _Stemmer(language)


def register_tokenizers(index: tantivy.Index) -> None:
    """Register the tokenizers; every process that opens the index must do this first."""
    index.register_tokenizer(WORDS, build_words())
    index.register_tokenizer(BIGRAMS, build_bigrams())


def build_words() -> tantivy.TextAnalyzer:
    """Build the tokenizer `words`."""
    words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    words = words.filter(tantivy.Filter.remove_long(_MAX_WORD)).filter(tantivy.Filter.lowercase())
    return words.filter(tantivy.Filter.ascii_fold()).build()


@cache
def _words() -> tantivy.TextAnalyzer:
    return build_words()


def build_bigrams() -> tantivy.TextAnalyzer:
    """Build the tokenizer `bigrams`, of pairs and single characters. It has no positions, so phrases cannot be searched."""
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(1, 2)).filter(tantivy.Filter.lowercase()).build()
