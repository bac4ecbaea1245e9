"""Terms in N-Triples syntax: text, URLs and N-Quads of pages enter, the triples of the indexes leave; and back for exports.

Blank nodes become IRIs, `<genid:48a4e8612952075a/n1>` for `_:p48a4e8612952075an1`, because a store renames blank nodes. The
variants of schema.org's namespace are folded into one wherever they are, other spellings of vocabularies in properties and
classes (`spellings.py`).
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import quote, unquote

import msgspec
from pyoxigraph import Literal

from rdfspider.urls import valid_iri
from rdfspider.vocabulary.prefixes import RDF, SCHEMA
from rdfspider.vocabulary.spellings import fold_class_name, fold_name

RDF_TYPE_TERM = f"<{RDF}type>"
RDF_FIRST = f"<{RDF}first>"
RDF_REST = f"<{RDF}rest>"
RDF_NIL = f"<{RDF}nil>"
GENID = "genid:"
"""The scheme of blank nodes' IRIs. Such IRIs on pages are stored as `genid:iri/…`, so that no page can refer to another page's
nodes."""
RESERVED = "urn:rdfspider:"
"""The beginning of the names of graphs that are not pages."""
DISGUISED = f"{RESERVED}page:"
"""The beginning of the names of graphs of pages whose URLs cannot name them."""
VOCABULARY = f"{RESERVED}vocab#"
"""The namespace of terms that no known vocabulary has."""
FETCHES_GRAPH = f"{RESERVED}fetches"
"""The graph of facts about the fetch of each page."""
SAME_GRAPH = f"{RESERVED}same"
"""The graph of things that were found to be one: `owl:sameAs` from each to the canonical one."""
CURSORS_GRAPH = FETCHES_GRAPH
"""The graph with the cursors of the log. In a graph of their own they would look like a page to queries for all graphs."""


_SCHEMA_VARIANTS = ("https://schema.org/", "http://www.schema.org/", "https://www.schema.org/")
_STATED_GENID = f"{GENID}iri/"
_FOLDED_STARTS = tuple(f"<{start}" for start in (GENID, *_SCHEMA_VARIANTS))
# "n" and a number for blank nodes that extraction named, "x" and the label for others.
_OWN_LABEL = re.compile(r"p([0-9a-f]{16})(n[0-9]+|x.+)", re.DOTALL)
_OWN_GENID = re.compile(r"([0-9a-f]{16})/(n[0-9]+|x.+)", re.DOTALL)
_LITERAL = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"(?:\^\^<[^<>"\s]*+>|@[A-Za-z0-9\-]++)?+'
_LINE = re.compile(
    rf"\s*+(<[^<>\"\s]*+>|_:\S++)\s++(<[^<>\"\s]*+>)\s++(<[^<>\"\s]*+>|_:\S++|{_LITERAL})(?:\s++(<[^<>\"\s]*+>|_:\S++))?+\s*+\.\s*+",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_LITERAL_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_UNESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_UNSAFE = re.compile('["\\\\\x00-\x1f\x7f\ud800-\udfff]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}

# Folded properties, classes, and kinds of literals that are remembered; pages can state ones of any length.
_MAX_FOLDED = 8192
_MAX_FOLDED_CHARS = 512

Triple = tuple[str, str, str]
"""Subject, predicate and object, as in the indexes."""


@lru_cache(maxsize=4096)
def is_language(tag: str) -> bool:
    """Return whether the text is a language tag (BCP 47) that RDF stores accept."""
    try:
        Literal("", language=tag)
    except (ValueError, UnicodeError):
        return False
    return True


def quoted(text: str) -> str:
    """Quote text for N-Quads; lone surrogates, which cannot be encoded, become U+FFFD."""
    # Except for rare control characters, JSON has the same escapes, and its encoder is native.
    try:
        term = msgspec.json.encode(text).decode()
    except UnicodeEncodeError:
        term = ""
    if not term or "\x7f" in term or ("\\" in term and "\\u" in term):
        return f'"{_UNSAFE.sub(_escape, text)}"'
    return term


def unescape(text: str) -> str:
    """Decode the escapes in a literal of N-Triples; those that stand for no character become U+FFFD."""
    return _LITERAL_ESCAPE.sub(_unescape_character, text) if "\\" in text else text


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded, by question marks."""
    try:
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


@lru_cache(maxsize=64)
def graph_term(url: str) -> str:
    """Return the page's URL as a graph name, escaped to a valid IRI."""
    found = valid_iri(url)
    return f"<{found.value if found else _disguise(url)}>"


def blank_prefix(url: str, syntax: str) -> str:
    """Return the prefix that all blank nodes of one syntax on one page have, and no others."""
    digest = blake2b(f"{syntax} {url}".encode("utf-8", "surrogatepass"), digest_size=8)
    return f"_:p{digest.hexdigest()}n"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return _ESCAPES.get(character) or f"\\u{ord(character):04X}"


@lru_cache(maxsize=1024)
def make_graph_iri(url: str) -> str:
    """Return the name of a page's graph: its URL as a valid IRI, as in extraction; never one of the reserved names."""
    if url.startswith((RESERVED, GENID)):
        return _disguise(url)
    return graph_term(url)[1:-1]


def fold_statements(statements: Mapping[str, str], url: str) -> list[str]:
    """Return a page's distinct triples of all syntaxes (`s p o`, without graph and dot), in their order."""
    folded = fold_triples(statements, url)
    return list(dict.fromkeys([" ".join(triple) for triples in folded.values() for triple in triples]))


def fold_triples(statements: Mapping[str, str], url: str) -> Mapping[str, list[Triple]]:
    """Return a page's triples by syntax, with repetitions, in their order."""
    if isinstance(statements, FoldedStatements):
        return statements.triples
    fold = Fold(statements, url)
    return {syntax: fold.read(nquads) for syntax, nquads in statements.items()}


class FoldedStatements(dict[str, str]):
    """A page's N-Quads by syntax, with their triples for all who read them after each other."""

    def __init__(self, statements: Mapping[str, str], url: str) -> None:
        super().__init__(statements)
        self.triples = fold_triples(statements, url)


def fold_iri(iri: str) -> str:
    """Return an IRI as in the indexes: with variants of schema.org's namespace folded."""
    for variant in _SCHEMA_VARIANTS:
        if iri.startswith(variant):
            return SCHEMA + iri[len(variant) :]
    return iri


def skolemise(label: str) -> str | None:
    """Return the IRI of the blank node with this label in an export (without `_:`); None for labels of other origin."""
    own = _OWN_LABEL.fullmatch(label)
    return f"{GENID}{own[1]}/{quote(own[2], safe='')}" if own else None


def restore_term(term: str) -> str:
    """Restore a term of the store to its form on the page: a `genid:` IRI becomes a blank node again."""
    if not term.startswith(f"<{GENID}"):
        return term
    rest = term[len(GENID) + 1 : -1]
    if own := _OWN_GENID.fullmatch(rest):
        return f"_:p{own[1]}{unquote(own[2])}"
    return f"<{GENID}{term[len(_STATED_GENID) + 1 :]}" if term.startswith(f"<{_STATED_GENID}") else term


def restore_line(line: str) -> str:
    """Restore the blank nodes in a line of N-Quads or N-Triples, or in a triple without a dot."""
    if f"<{GENID}" not in line:
        return line
    subject, predicate, rest = line.split(" ", 2)
    if rest.startswith("<"):
        obj, space, tail = rest.partition(" ")
        rest = f"{restore_term(obj)}{space}{tail}"
    elif f"^^<{_STATED_GENID}" in rest and (literal := re.match(_LITERAL, rest, re.DOTALL)) and literal[0][-1] == ">":
        text, _, datatype = literal[0].rpartition("^^")
        rest = f"{text}^^{restore_term(datatype)}{rest[literal.end() :]}"
    return f"{restore_term(subject)} {restore_term(predicate)} {rest}"


def is_about_blank(triple: str) -> bool:
    """Return whether a triple of the indexes has a blank node, so that no other page can state it."""
    subject, _, obj = triple.split(" ", 2)
    return any(term.startswith(f"<{GENID}") and not term.startswith(f"<{_STATED_GENID}") for term in (subject, obj))


def _unescape_character(found: re.Match[str]) -> str:
    if found[3]:
        return _UNESCAPED.get(found[3], found[3])
    code = int(found[1] or found[2], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _disguise(url: str) -> str:
    """Return the name of the graph of a page whose URL is no valid IRI, or one of the index's own."""
    return f"{DISGUISED}{blake2b(url.encode('utf-8', 'replace'), digest_size=16).hexdigest()}"


class Fold(dict[str, str]):
    """A cache of one page's terms: maps IRIs and blank nodes to their form in the indexes."""

    def __init__(self, statements: Mapping[str, str], url: str) -> None:
        super().__init__()
        self._end = f" <{make_graph_iri(url)}> .\n"
        self._own = {blank_prefix(url, syntax)[3:-1] for syntax in statements}
        self._foreign = blank_prefix(url, "")[3:-1]

    def read(self, nquads: str) -> list[Triple]:
        """Return the triples of one syntax, with repetitions; lines that are not triples are skipped."""
        lines = nquads.split(self._end)
        if not lines.pop() and len(lines) == nquads.count("\n"):
            try:
                return self._read_usual(lines)
            except (ValueError, IndexError):
                # Not all lines have three terms.
                pass
        return self._read_others(nquads)

    def _read_usual(self, lines: list[str]) -> list[Triple]:
        """Read lines as extraction writes them, with one space between terms, without graph and end. ValueError or IndexError if
        a term is missing. Every page passes here, so all is in one loop."""
        triples: list[Triple] = []
        for line in lines:
            subject, predicate, obj = line.split(" ", 2)
            predicate = _PREDICATES[predicate]
            if obj[0] != '"':
                obj = self[obj]
                if predicate == RDF_TYPE_TERM:
                    obj = _CLASSES[obj]
            elif obj[-1] != '"':
                end = obj.rindex('"') + 1
                if (folded := _KINDS[kind := obj[end:]]) != kind:
                    obj = obj[:end] + folded
            triples.append((self[subject], predicate, obj))
        return triples

    def _read_others(self, nquads: str) -> list[Triple]:
        """Read lines of any form."""
        triples: list[Triple] = []
        end = self._end[:-1]
        for line in nquads.split("\n"):
            if line.endswith(end):
                parts = line[: -len(end)].split(" ", 2)
                usual = " ".join(parts) if len(parts) == 3 and all(parts) else ""
            else:
                parsed = _LINE.fullmatch(line)
                usual = " ".join(parsed.group(1, 2, 3)) if parsed else ""
            if usual:
                triples += self._read_usual([usual])
        return triples

    def __missing__(self, term: str) -> str:
        if term[0] != "_":
            folded = _fold_stated(term)
        elif (page := term[3:19]) in self._own and (number := term[20:]).isdecimal() and term[2:20:17] == "pn":
            folded = f"<{GENID}{page}/n{number}>" if number.isascii() else self._name_blank(term[2:])
        else:
            folded = self._name_blank(term[2:])
        self[term] = folded
        return folded

    def _name_blank(self, label: str) -> str:
        """Name a blank node: labels that extraction gave on this page are kept, any other is made unique to this page."""
        own = _OWN_LABEL.fullmatch(label)
        if own and own[1] in self._own and own[2][0] == "n":
            return f"<{GENID}{own[1]}/{own[2]}>"
        return f"<{GENID}{self._foreign}/x{quote(label, safe='')}>"


def _fold_stated(term: str) -> str:
    if "\\" in term:
        term = _ESCAPE.sub(_unescape, term)
    if not term.startswith(_FOLDED_STARTS):
        return term
    iri = term[1:-1]
    return f"<{_STATED_GENID}{iri[len(GENID) :]}>" if iri.startswith(GENID) else f"<{fold_iri(iri)}>"


def _unescape(found: re.Match[str]) -> str:
    """Unescape a character. Those not allowed in IRIs stay escaped, so that the line keeps its form and stores refuse it."""
    code = int(found[1] or found[2], 16)
    is_character = code < 0x110000 and not 0xD800 <= code < 0xE000
    return chr(code) if is_character and not _NOT_IN_IRI.match(chr(code)) else found[0]


def _fold_predicate(term: str) -> str:
    if not term:
        raise ValueError("there is no predicate")
    return f"<{fold_name(_fold_stated(term)[1:-1])}>"


def _fold_class(term: str) -> str:
    return f"<{fold_class_name(term[1:-1])}>"


def _fold_kind(kind: str) -> str:
    """Fold the datatype or language after a literal's text."""
    return f"^^{_fold_stated(kind[2:])}" if kind.startswith("^^") else kind.lower()


class _Folded(dict[str, str]):
    """The folded form of terms; nearly all pages use the same few thousand. For any number of threads."""

    def __init__(self, fold: Callable[[str], str]) -> None:
        super().__init__()
        self._fold = fold

    def __missing__(self, term: str) -> str:
        folded = self._fold(term)
        if len(term) < _MAX_FOLDED_CHARS:
            if len(self) >= _MAX_FOLDED:
                self.clear()
            self[term] = folded
        return folded


_PREDICATES, _CLASSES, _KINDS = _Folded(_fold_predicate), _Folded(_fold_class), _Folded(_fold_kind)
