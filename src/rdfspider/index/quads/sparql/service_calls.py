"""The tokens of a query enter, its calls of the text index leave; and the query, with each call replaced by its results.

    SERVICE <urn:rdfspider:text> { ?thing text:query 'words' ; text:score ?score ; text:limit 50 }

becomes `VALUES (?thing ?score) { … }`, so the store looks up the results instead of scanning everything.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import NamedTuple

from pyoxigraph import NamedNode

from rdfspider.errors import UsageError
from rdfspider.index.quads.sparql.lexer import IRI, NAME, OTHER, STRING, VARIABLE, Token, find_services
from rdfspider.vocabulary.prefixes import TEXT_NAMESPACE
from rdfspider.vocabulary.terms import replace_surrogates, unescape

TEXT_SERVICE = "urn:rdfspider:text"
DEFAULT_LIMIT, MAX_LIMIT = 100, 10_000
"""Results of one call; the maximum also applies to all calls of a query together."""
MAX_CALLS = 10

Found = Iterable[tuple[str, float]]
"""IRIs and their scores, the best first."""


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
    places = find_services(text, tokens, TEXT_SERVICE)
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
