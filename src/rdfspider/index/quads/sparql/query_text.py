"""What is read in a SPARQL query before Oxigraph parses it: its tokens, its kind, and its calls of the text index.

    SERVICE <urn:rdfspider:text> { ?thing text:query 'words' ; text:score ?score ; text:limit 50 }

becomes `VALUES (?thing ?score) { … }`, so the store looks up the results instead of scanning everything. Any other SERVICE is
refused, so that no query reaches another server. Oxigraph's parser has no separate tokens: it reads `SERVICEa:b {` and
`1SERVICE?x{` as SERVICE, and `<` after a value as "less than" although an IRI could begin there. So anything that could possibly
be read as SERVICE counts as SERVICE here.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from pyoxigraph import NamedNode

from rdfspider.errors import UsageError
from rdfspider.vocabulary.prefixes import TEXT_NAMESPACE
from rdfspider.vocabulary.terms import replace_surrogates, unescape

IRI, STRING, VARIABLE, NAME, WORD, OTHER = "iri", "string", "variable", "name", "word", "other"
"""Kinds of tokens. A NAME has a prefix (`schema:name`), a WORD has none; numbers and signs are OTHER."""
TEXT_SERVICE = "urn:rdfspider:text"
DEFAULT_LIMIT, MAX_LIMIT = 100, 10_000
"""Results of one call; the maximum also applies to all calls of a query together."""
MAX_CALLS = 10
Found = Iterable[tuple[str, float]]
"""IRIs and their scores, the best first."""

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


def find_services(text: str, tokens: Sequence[Token]) -> list[int]:
    """The positions of the keyword SERVICE, each before the IRI of the text index and a `{`. Raise UsageError if there is any
    other, or something that might be one."""
    if not _SERVICE.search(_decode_escapes(text)):
        return []
    found = []
    for position, token in enumerate(tokens):
        if not _can_be_service(tokens, position):
            continue
        following = tokens[position + 1 : position + 3]
        is_whole = token.text.upper() == "SERVICE" and (token.start == 0 or not text[token.start - 1].isalnum())
        if not is_whole or [each.text for each in following] != [f"<{TEXT_SERVICE}>", "{"]:
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
    return _ESCAPE.sub(lambda match: chr(min(int(match[1] or match[2], 16), 0x10FFFF)), text)


class TextCall(NamedTuple):
    """One call of the text index."""

    words: str
    limit: int
    subject: str
    """The variable for the results, with its `?`."""
    score: str
    """The variable for the score; empty if there is none."""
    start: int
    end: int
    """Where the call starts and ends in the query."""


def find_calls(text: str, tokens: Sequence[Token], prefixes: Mapping[str, str]) -> list[TextCall]:
    """The calls of the text index. Raise UsageError for an invalid call, and for any other SERVICE."""
    places = find_services(text, tokens)
    if not places:
        return []
    if len(places) > MAX_CALLS:
        raise _complain(f"may be asked {MAX_CALLS} times by a query, and this one does so {len(places):,} times")
    declared = dict(prefixes)
    for keyword, name, iri in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if keyword.text.upper() == "PREFIX" and name.kind == NAME and iri.kind == IRI:
            declared[name.text.rstrip(":")] = iri.text[1:-1]
    calls = [_read_call(tokens, place, declared) for place in places]
    if (results := sum(call.limit for call in calls)) > MAX_LIMIT:
        raise _complain(f"gives {MAX_LIMIT:,} results to a query, not {results:,}: lower text:limit")
    return calls


def replace_calls(text: str, calls: Sequence[TextCall], found: Sequence[Found]) -> str:
    """The query with each call replaced by its results."""
    parts: list[str] = []
    position = 0
    for call, results in zip(calls, found, strict=True):
        parts += (text[position : call.start], _write_values(call, results))
        position = call.end
    return "".join((*parts, text[position:]))


def _read_call(tokens: Sequence[Token], place: int, prefixes: Mapping[str, str]) -> TextCall:
    """Read `SERVICE <…> { ?s text:query 'words' ; text:score ?x ; text:limit 50 . }`; after a dot the subject may be repeated."""
    end = next((at for at in range(place + 3, len(tokens)) if tokens[at].text == "}"), len(tokens))
    if end == len(tokens):
        raise UsageError("SERVICE <urn:rdfspider:text> has no `}`")
    inner = list(tokens[place + 3 : end])
    given: dict[str, Token] = {}
    subject = ""
    while inner:
        if not subject or inner[0].text == subject:
            first = inner.pop(0)
            if first.kind != VARIABLE:
                raise _complain(f"must begin with a variable, not with {first.text[:40]}")
            subject = first.text
        if len(inner) < 2:
            raise _complain("needs a property and its value after the variable")
        name = _expand_name(inner.pop(0), prefixes)
        given[name] = inner.pop(0)
        if inner and inner[0].text in (";", "."):
            inner.pop(0)
        elif inner:
            raise _complain(f"has {inner[0].text[:40]} where ; or . should be")
    words, score, limit = (given.get(name) for name in ("query", "score", "limit"))
    if words is None or words.kind != STRING:
        raise _complain("needs text:query and the words as a string")
    if score is not None and (score.kind != VARIABLE or score.text[1:] == subject[1:]):
        raise _complain("needs a variable of its own after text:score")
    return TextCall(
        _unquote(words.text),
        _read_limit(limit),
        subject,
        score.text if score else "",
        tokens[place].start,
        tokens[end].end,
    )


def _expand_name(token: Token, prefixes: Mapping[str, str]) -> str:
    """The local part of a name in the text index's namespace."""
    prefix, _, local = token.text.partition(":")
    iri = token.text[1:-1] if token.kind == IRI else f"{prefixes.get(prefix, '')}{local}"
    name = iri.removeprefix(TEXT_NAMESPACE)
    if token.kind not in (IRI, NAME) or name not in ("query", "score", "limit") or name == iri:
        raise _complain(f"knows text:query, text:score and text:limit, not {token.text[:40]}")
    return name


def _read_limit(token: Token | None) -> int:
    if token is None:
        return DEFAULT_LIMIT
    if token.kind != OTHER or not token.text.isascii() or not token.text.isdigit():
        raise _complain("needs a whole number after text:limit")
    limit = int(token.text[:20])
    if not 1 <= limit <= MAX_LIMIT:
        raise _complain(f"gives from 1 to {MAX_LIMIT:,} results: change text:limit")
    return limit


def _complain(message: str) -> UsageError:
    return UsageError(f"SERVICE <{TEXT_SERVICE}> {message}")


def _unquote(literal: str) -> str:
    quote = 3 if literal[:3] in ('"""', "'''") and len(literal) >= 6 else 1
    return replace_surrogates(unescape(literal[quote:-quote]))


def _write_values(call: TextCall, results: Found) -> str:
    variables = " ".join(filter(None, (call.subject, call.score)))
    rows = []
    for iri, score in results:
        try:
            term = str(NamedNode(iri))
        except ValueError:
            # The store cannot hold it either.
            continue
        rows.append(f"({term} {score if isfinite(score) else 0.0:.9e})" if call.score else f"({term})")
    return f"VALUES ({variables}) {{ {' '.join(rows)} }}"
