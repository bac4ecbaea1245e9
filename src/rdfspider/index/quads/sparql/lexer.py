"""The text of a SPARQL query enters, its tokens and its uses of SERVICE leave, so that no query reaches another server.

Oxigraph's parser has no separate tokens: it reads `SERVICEa:b {` and `1SERVICE?x{` as SERVICE, and `<` after a value as "less
than" although an IRI could begin there. So anything that could possibly be read as SERVICE counts as SERVICE here.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rdfspider.errors import UsageError

IRI, STRING, VARIABLE, NAME, WORD, OTHER = "iri", "string", "variable", "name", "word", "other"
"""Kinds of tokens. A NAME has a prefix (`schema:name`), a WORD has none; numbers and signs are OTHER."""

_CHARACTER = r"(?:[\w\-]|[^\x00-\x7f])"
_TOKEN = re.compile(
    rf"""
    (?P<space> [ \t\r\n]+ | \#[^\r\n]* )
  | (?P<iri> <(?:[^<>"{{}}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{{4}}|\\U[0-9A-Fa-f]{{8}})*> )
  | (?P<string> \"{{3}}(?:[^"\\]++|\\.|"(?!""))*+\"{{3}} | '''(?:[^'\\]++|\\.|'(?!''))*+'''
      | "(?!"")(?:[^"\\\r\n]++|\\.)*+" | '(?!'')(?:[^'\\\r\n]++|\\.)*+' )
  | (?P<variable> [?$](?:\w|[^\x00-\x7f])+ )
  | (?P<language> @[A-Za-z0-9\-]+ )
  | (?P<number> (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+\-]?[0-9]+)? )
  | (?P<name> (?:(?:[^\W\d]|[^\x00-\x7f])(?:{_CHARACTER}|\.(?=[\w\-.])){{0,64}}+)?
      :(?:{_CHARACTER}|[:%]|\\[_~.\-!$&'()*+,;=/?\#@%]|\.(?=[\w\-.:%\\]|[^\x00-\x7f]))* )
  | (?P<word> (?:[^\W\d]|[^\x00-\x7f])(?:\w|[^\x00-\x7f])* )
  | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)
_SERVICE = re.compile("service", re.IGNORECASE)
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
# These can only be IRIs: no expression contains `//`.
_PLAIN_IRI = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*://")
# The number of tokens of each declaration at the beginning of a query.
_DECLARATIONS = {"BASE": 2, "PREFIX": 3, "VERSION": 2}
_QUERIES = ("SELECT", "ASK", "CONSTRUCT", "DESCRIBE", *_DECLARATIONS)
_UPDATES = frozenset("INSERT DELETE LOAD CLEAR CREATE DROP COPY MOVE ADD WITH".split())
_NO_SERVICE = "SERVICE asks other servers, which is not allowed: only SERVICE <urn:rdfspider:text>, the text index, is"


class Token(NamedTuple):
    """A piece of a query that is neither white space nor a comment."""

    kind: str
    text: str
    start: int
    end: int


def read_tokens(text: str) -> list[Token]:
    """The tokens of a query, valid or not."""
    return list(_scan(text))


def check_kind(text: str, tokens: Sequence[Token]) -> None:
    """Raise UsageError for updates, because queries cannot change anything, and for text that does not begin like a query."""
    position = _skip_declarations(tokens)
    if position >= len(tokens) or tokens[position].kind != WORD:
        # The parser explains better what is wrong.
        return
    _, word, start, _ = tokens[position]
    if word.upper() in _UPDATES:
        raise UsageError(
            f"{word.upper()} would change the data, which only the crawl does: ask SELECT, ASK, CONSTRUCT or DESCRIBE"
        )
    if not word.upper().startswith(_QUERIES):
        line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
        raise UsageError(
            f"not valid SPARQL: line {line}, column {column}: a query begins with SELECT, ASK, CONSTRUCT or DESCRIBE, "
            f"not with {word[:40]!r}"
        )


def find_star(tokens: Sequence[Token]) -> Token | None:
    """The `*` that stands for all variables, if the query itself is SELECT *; those of subqueries do not count."""
    position = _skip_declarations(tokens)
    first = [token.text.upper() for token in tokens[position : position + 2]]
    if first[:1] != ["SELECT"]:
        return None
    position += 2 if first[1:] in (["DISTINCT"], ["REDUCED"]) else 1
    found = tokens[position] if position < len(tokens) else None
    return found if found and found.text == "*" else None


def find_services(text: str, tokens: Sequence[Token], allowed: str) -> list[int]:
    """The positions of the keyword SERVICE, each before the allowed IRI and a `{`. Raise UsageError if there is any other, or
    something that might be one."""
    if not _SERVICE.search(_decode_escapes(text)):
        return []
    found = []
    for position, token in enumerate(tokens):
        if not _can_be_service(tokens, position):
            continue
        following = tokens[position + 1 : position + 3]
        is_whole = token.text.upper() == "SERVICE" and (token.start == 0 or not text[token.start - 1].isalnum())
        if not is_whole or [each.text for each in following] != [f"<{allowed}>", "{"]:
            raise UsageError(_NO_SERVICE)
        found.append(position)
    if len(_SERVICE.findall(_decode_escapes(text))) != len(_SERVICE.findall(text)):
        raise UsageError(f"{_NO_SERVICE}; write the word without escapes")
    doubtful = next(_find_doubtful(tokens), None)
    if doubtful and _has_other_service(text, tokens, found):
        raise UsageError(
            f"{doubtful.text[:60]} can be read in two ways: put spaces around it, or use a prefix for the IRI"
        )
    return found


def _skip_declarations(tokens: Sequence[Token]) -> int:
    """The position after the declarations."""
    position = 0
    while position < len(tokens) and (length := _DECLARATIONS.get(tokens[position].text.upper())):
        position += length
    return position


def _scan(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or OTHER
        if kind != "space":
            yield Token(kind if kind in (IRI, STRING, VARIABLE, NAME, WORD) else OTHER, match[0], *match.span())


def _can_be_service(tokens: Sequence[Token], position: int) -> bool:
    """Whether Oxigraph could read the keyword in this token or at its edge."""
    kind, text, _, _ = tokens[position]
    if kind == WORD:
        return bool(_SERVICE.search(text))
    if kind != NAME or not _SERVICE.search(text):
        return False
    prefix, _, local = text.partition(":")
    following = "".join("{" if token.text == "{" else "." for token in tokens[position + 1 : position + 4])
    if _SERVICE.search(prefix):
        # `service:a {` is also SERVICE and the name `:a`.
        return following.startswith("{")
    # `a:b.service <c> {` would be a value, a dot and SERVICE; a name cannot stand there.
    return local.lower().endswith(".service") and "{" in following


def _find_doubtful(tokens: Sequence[Token]) -> Iterator[Token]:
    """IRIs that could also be an operator and the start of a string or comment, and unclosed quotation marks: after them it is
    uncertain what is a string."""
    for position, token in enumerate(tokens):
        if token.kind == OTHER and token.text in "\"'\\":
            yield token
        elif token.kind == IRI and ("'" in token.text or "#" in token.text) and not _PLAIN_IRI.match(token.text):
            is_declared = position >= 2 and tokens[position - 2].text.upper() == "PREFIX"
            if not is_declared:
                yield token


def _has_other_service(text: str, tokens: Sequence[Token], found: Sequence[int]) -> bool:
    """Whether the word occurs anywhere else than in an allowed position, including strings and comments."""
    allowed = {tokens[position].start for position in found}
    return any(match.start() not in allowed for match in _SERVICE.finditer(text))


def _decode_escapes(text: str) -> str:
    """Decode the escapes that SPARQL 1.1 allows anywhere in a query. Oxigraph so far decodes them only in strings and IRIs."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _character(int(match[1] or match[2], 16)), text)


def _character(code: int) -> str:
    return chr(code) if code <= 0x10FFFF else "\ufffd"
