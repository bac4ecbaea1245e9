"""Terms as N-Triples writes them: text, URLs and N-Quads of pages in, the triples that indexes hold out; and back for exports.

Blank nodes become IRIs, `<genid:48a4e8612952075a/n1>` for `_:p48a4e8612952075an1`, because a store names its blank nodes
itself. The spellings of schema.org are folded into one.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from urllib.parse import quote, unquote

from pyoxigraph import Literal

from rdfspider.urls import valid_iri
from rdfspider.vocabulary.prefixes import RDF

RDF_TYPE = f"<{RDF}type>"
RDF_FIRST = f"<{RDF}first>"
RDF_REST = f"<{RDF}rest>"
RDF_NIL = f"<{RDF}nil>"
_UNSAFE = re.compile('["\\\\\x00-\x1f\x7f\ud800-\udfff]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


@lru_cache(maxsize=4096)
def is_language(tag: str) -> bool:
    """Whether the text is a language tag (BCP 47) that RDF stores take."""
    try:
        Literal("", language=tag)
    except (ValueError, UnicodeError):
        return False
    return True


def quoted(text: str) -> str:
    """The text as N-Quads quotes it; lone surrogates, which no encoding can carry, become U+FFFD."""
    if _UNSAFE.search(text):
        text = _UNSAFE.sub(_escape, text)
    return f'"{text}"'


@lru_cache(maxsize=64)
def graph_term(url: str) -> str:
    """The page's URL as a graph name, escaped to a valid IRI."""
    found = valid_iri(url)
    return (
        f"<{found.value}>"
        if found
        else f"<urn:rdfspider:page:{blake2b(url.encode('utf-8', 'replace'), digest_size=16).hexdigest()}>"
    )


def blank_prefix(url: str, syntax: str) -> str:
    """What the blank nodes of one syntax on one page have in common, and no others."""
    digest = blake2b(f"{syntax} {url}".encode("utf-8", "surrogatepass"), digest_size=8)
    return f"_:p{digest.hexdigest()}n"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return _ESCAPES.get(character) or f"\\u{ord(character):04X}"


GENID = "genid:"
"""How the IRIs of blank nodes begin. What pages call so themselves is stored as `genid:iri/…`, so nobody can speak of another
page's nodes."""
RESERVED = "urn:rdfspider:"
"""How the graphs begin that are not pages."""
FETCHES_GRAPH = f"{RESERVED}fetches"
"""The graph of facts about the fetch of each page."""
CURSORS_GRAPH = FETCHES_GRAPH
"""The graph that tells how far the log was read: a fact of the fetches too. In a graph of its own it would look like a page to
everybody who asks for all graphs."""

_SCHEMA = "http://schema.org/"
_SCHEMA_VARIANTS = ("https://schema.org/", "http://www.schema.org/", "https://www.schema.org/")
_STATED_GENID = f"{GENID}iri/"
_FOLDED_STARTS = tuple(f"<{start}" for start in (GENID, *_SCHEMA_VARIANTS))
# "n" and a number for the blank nodes that extraction has named, "x" and the label for those of others.
_OWN_LABEL = re.compile(r"p([0-9a-f]{16})(n[0-9]+|x.+)", re.DOTALL)
_OWN_GENID = re.compile(r"([0-9a-f]{16})/(n[0-9]+|x.+)", re.DOTALL)
_LITERAL = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"(?:\^\^<[^<>"\s]*+>|@[A-Za-z0-9\-]++)?+'
_LINE = re.compile(
    rf"\s*+(<[^<>\"\s]*+>|_:\S++)\s++(<[^<>\"\s]*+>)\s++(<[^<>\"\s]*+>|_:\S++|{_LITERAL})(?:\s++(<[^<>\"\s]*+>|_:\S++))?+\s*+\.\s*+",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_NOT_IN_IRI = re.compile(r'[\x00-\x20<>"{}|^`\\]')

Triple = tuple[str, str, str]
"""Subject, predicate and object, as the indexes hold them."""


@lru_cache(maxsize=1024)
def make_graph_iri(url: str) -> str:
    """The name of a page's graph: its URL as a valid IRI, as extraction writes it. No page has the name of a graph of ours."""
    if url.startswith((RESERVED, GENID)):
        return f"{RESERVED}page:{blake2b(url.encode('utf-8', 'replace'), digest_size=16).hexdigest()}"
    return graph_term(url)[1:-1]


def fold_statements(statements: Mapping[str, str], url: str) -> list[str]:
    """The distinct triples (`s p o`, without a graph and a dot) that a page states in all syntaxes, in their order."""
    fold = Fold(statements, url)
    return list(dict.fromkeys(" ".join(triple) for nquads in statements.values() for triple in fold.read(nquads)))


def fold_iri(iri: str) -> str:
    """The IRI that indexes hold for one that a person asks for: schema.org's variants are one."""
    for variant in _SCHEMA_VARIANTS:
        if iri.startswith(variant):
            return _SCHEMA + iri[len(variant) :]
    return iri


def skolemise(label: str) -> str | None:
    """The IRI of the blank node that an export calls by this label (without `_:`); None where it is no label of ours."""
    own = _OWN_LABEL.fullmatch(label)
    return f"{GENID}{own[1]}/{quote(own[2], safe='')}" if own else None


def restore_term(term: str) -> str:
    """A term of the store, as N-Triples writes it, as it was on its page: the blank node of an IRI of ours."""
    if not term.startswith(f"<{GENID}"):
        return term
    rest = term[len(GENID) + 1 : -1]
    if own := _OWN_GENID.fullmatch(rest):
        return f"_:p{own[1]}{unquote(own[2])}"
    return f"<{GENID}{term[len(_STATED_GENID) + 1 :]}" if term.startswith(f"<{_STATED_GENID}") else term


def restore_line(line: str) -> str:
    """A line of N-Quads or N-Triples, or a triple without a dot, with its blank nodes restored."""
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
    """Whether a triple of the indexes has a blank node of its page, so that no other page can state it."""
    subject, _, obj = triple.split(" ", 2)
    return any(term.startswith(f"<{GENID}") and not term.startswith(f"<{_STATED_GENID}") for term in (subject, obj))


def _needs_folding(text: str) -> bool:
    return (
        "_:" in text
        or "https://schema.org/" in text
        or "://www.schema.org/" in text
        or GENID in text
        or "\\" in text
        or '"@' in text
    )


class Fold(dict[str, str]):
    """Subjects, predicates and IRIs of one page as the indexes hold them, each made once."""

    def __init__(self, statements: Mapping[str, str], url: str) -> None:
        super().__init__()
        self._end = f" <{make_graph_iri(url)}> ."
        self._own = {blank_prefix(url, syntax)[3:-1] for syntax in statements}
        self._foreign = blank_prefix(url, "")[3:-1]

    def read(self, nquads: str, max_lines: int = -1) -> list[Triple]:
        """The triples of one syntax, as often as it states them, or of its first lines; without lines that are none."""
        triples: list[Triple] = []
        end, end_length = self._end, len(self._end)
        is_plain = not _needs_folding(nquads)
        lines = nquads.split("\n", max_lines)
        if 0 <= max_lines < len(lines):
            lines.pop()
        for line in lines:
            if line.endswith(end):
                parts = line[:-end_length].split(" ", 2)
                if len(parts) != 3 or not all(parts):
                    continue
                subject, predicate, obj = parts
            elif parsed := _LINE.fullmatch(line):
                subject, predicate, obj = parsed[1], parsed[2], parsed[3]
            else:
                continue
            if not is_plain:
                subject, predicate = self[subject], _fold_predicate(predicate)
                if obj[0] != '"':
                    obj = self[obj]
                elif obj[-1] != '"':
                    obj = self._fold_literal(obj)
            triples.append((subject, predicate, obj))
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

    def _fold_literal(self, term: str) -> str:
        """The same for a literal with a datatype or a language."""
        if term[-1] == ">":
            text, _, datatype = term.rpartition("^^")
            return f"{text}^^{self[datatype]}"
        text, _, language = term.rpartition("@")
        return f"{text}@{language.lower()}"

    def _name_blank(self, label: str) -> str:
        """Only labels that extraction gave on this page are taken as they are: any other one is a node of this page alone."""
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
    """The character; what no IRI may have stays escaped, so that nothing else is made of the line, and a store refuses it."""
    code = int(found[1] or found[2], 16)
    is_character = code < 0x110000 and not 0xD800 <= code < 0xE000
    return chr(code) if is_character and not _NOT_IN_IRI.match(chr(code)) else found[0]


# The same few thousand on nearly all pages.
_fold_predicate = lru_cache(maxsize=8192)(_fold_stated)
