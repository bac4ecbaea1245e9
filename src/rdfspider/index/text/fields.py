"""The fields of the text index: one document a page, one an entity. Writers and readers agree here."""

import re
from functools import cache
from math import log2
from unicodedata import combining, is_normalized, normalize

import msgspec
import tantivy

WORDS, BIGRAMS = "words", "bigrams"
"""The tokenizers: words of any script that has spaces, without case and accents; characters and pairs of them for others."""
CURSOR_ID = "#cursor"
"""The id of the one document that is neither: its card holds the cursors, as of the same commit."""
PAGE, ENTITY = "page", "entity"
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af]+"
)
"""Scripts without spaces, or whose words are not found by spaces: Thai, Lao, Burmese, Khmer, Japanese, Chinese, Korean."""
_NEAR = bytes({*range(256)} - {0xCC, 0xCD, 0xD2, *range(0xD6, 0xE2), *range(0xE3, 0xF1)})
"""Bytes of UTF-8 with which no character of a script without spaces begins, and no mark that is put upon other characters."""
_MARK_CODES = (*range(0x300, 0x2000), *range(0x3000, 0x10000))
"""Where such marks are, but for those of symbols; beyond, patterns are slow, and only dead scripts have any."""
BUCKETS = 64
"""Documents are spread evenly over so many buckets by their ids, so that a part of them can stand for all."""
MAX_START = 32
"""Characters of a label's beginning that count while somebody types."""
START_SIZES = (1, 2, 3, 5)
"""Beginnings of so many characters are terms of their own, each with a list of all that begin so; of longer ones the list is that
of the whole labels that begin so."""
_MAX_START_READ = 200
_PLAIN_WORD = re.compile("[a-z0-9]+")
_MAX_SOURCES = 1 << 20
_TIE_WEIGHT = 0.001


class Source(msgspec.Struct, frozen=True):
    """A page that says something of an entity, or the page itself."""

    url: str
    time: float


class Card(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a result shows of a document; stored as JSON in the field `card`."""

    id: str
    """Of an entity: its IRI, or `urn:rdfspider:entity:HASH` for things that only blank nodes speak of. Of a page: its URL."""
    kind: str
    label: str
    description: str = ""
    types: tuple[str, ...] = ()
    """IRIs, the most frequent first."""
    url: str = ""
    """A web address of the thing itself, where it is known."""
    image: str = ""
    sites: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    syntaxes: tuple[str, ...] = ()
    sources: int = 1
    """How many pages speak of it."""
    pages: tuple[Source, ...] = ()
    """Some of them."""
    date: float = 0.0
    """The field `date`, in seconds since 1970; 0 where none is known."""
    duplicate_of: str = ""
    """For a page that repeats another: which."""
    facts: tuple[tuple[str, str], ...] = ()
    """What people want to know of such a thing: up to three properties, each with its value as text (`facts.py`)."""
    site_count: int = 1
    """How many sites speak of it: all of them, unless more than 2,000 pages do; then those of 2,000."""


def build_schema() -> tantivy.Schema:
    """All fields. `raw` ones hold whole values; `fast` ones can be counted as facets."""
    builder = tantivy.SchemaBuilder()
    # "e:" or "p:" and 32 hex digits: the XXH3-128 of an entity's key or a page's URL.
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("kind", fast=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("label", stored=True, tokenizer_name=WORDS)
    # Literal values of an entity, a line each.
    builder.add_text_field("values", stored=True, tokenizer_name=WORDS)
    # The main text of a page.
    builder.add_text_field("text", stored=True, tokenizer_name=WORDS)
    # What of the label, and of values and text, is written in scripts without spaces; the fields above do not have it.
    for name in ("label_bigrams", "bigrams"):
        builder.add_text_field(name, tokenizer_name=BIGRAMS)
    # How the label of a page or a thing begins, as `list_starts` writes it; of mere parts there is none.
    builder.add_text_field("start", tokenizer_name="raw", index_option="basic")
    # For facets: IRIs of types and their superclasses but for Thing, namespaces, IRIs of properties (of a thing its own, of a
    # page all on it), registrable domains, primary language tags, syntaxes.
    for name in ("type", "ontology", "property", "site", "lang", "syntax"):
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    # For questions, in lower case: IRIs and short names of types and their superclasses; namespaces and their prefixes; IRIs
    # and short names of properties; hosts and the domains above them down to the registrable one; whole and primary tags.
    # The nameless parts of a thing have property names apart: what they say is found among its words, and is not its own.
    for name in ("types", "ontologies", "property_names", "part_names", "sites", "langs"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    # Values by the short name of their property in lower case (letters, digits and _ only): `properties.author`.
    builder.add_json_field("properties", tokenizer_name=WORDS)
    # Both only where a date is known: when a page was fetched dates nothing. Years are counted, and asked for by the date.
    builder.add_date_field("date", indexed=True, fast=True)
    builder.add_unsigned_field("year", fast=True)
    # The number of sources, and the beginning of the id's hash: all documents are in one order, the same in every index.
    builder.add_unsigned_field("order", fast=True)
    # 1 for what stands for itself, less for what is only a part of another thing (images, ratings, list items) or a repetition;
    # and so little more by `order` that it decides between equals only.
    builder.add_float_field("weight", fast=True)
    # XXH3-64 of each URL that the page links to.
    builder.add_unsigned_field("outlinks", indexed=True)
    # The id's hash modulo BUCKETS.
    builder.add_unsigned_field("bucket", indexed=True, fast=True)
    builder.add_bytes_field("card", stored=True)
    # Label, values and text as pages have them, where these fields have them otherwise; JSON.
    builder.add_bytes_field("shown", stored=True)
    return builder.build()


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


def make_rank_fields(weight: float, sources: int, digest: bytes) -> dict[str, int | float]:
    """The fields `order` and `weight`, by the hash in a document's id."""
    tie = int.from_bytes(digest[:5])
    return {
        "order": min(sources, _MAX_SOURCES) << 40 | tie,
        "weight": weight * (1 + _TIE_WEIGHT * (log2(max(1, sources)) + tie / (1 << 40))),
    }


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
