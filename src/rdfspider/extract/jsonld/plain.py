"""Plain schema.org documents: objects with `@type`, `@id` and properties under schema.org's context, and nothing more.

Nineteen of twenty scripts on the web are plain. Their expansion needs nothing but the bundled terms, so statements are
made straight from the JSON, several times as fast as by a general parser, which reads all other documents. Both make
the same statements.
"""

import re
from collections import deque
from functools import lru_cache
from typing import Any, NamedTuple

from rdfspider.extract.jsonld.contexts import COERCED, FOREIGN, PREFIXES, SCHEMAORG, VOCABULARY, is_schemaorg
from rdfspider.extract.jsonld.features import BASE_CHAR_NS, LONG_CHAR_NS, USUAL_CHARS, DocumentFeatures, spend
from rdfspider.extract.statements import Statements
from rdfspider.urls import valid_iri
from rdfspider.vocabulary.prefixes import XSD
from rdfspider.vocabulary.terms import RDF_TYPE_TERM

_PLAIN_KEYWORDS = frozenset({"@context", "@type", "@id", "@graph"})
_KEYWORD_LIKE = re.compile(r"@[A-Za-z]+")
_MANTISSA = re.compile(r"(\.[0-9]+?)0*E([+-])0*([0-9]+)")
_INTEGER_LIMIT = 10**21


class Term(NamedTuple):
    """The definition of a key: its IRI, and what its strings are: text (None), IRIs (`@id`), or of a datatype (its term)."""

    iri: str
    ready: str | None
    """The IRI as a term; None where it needs a repair, which is to be reported."""
    kind: str | None = None


def plain_roots(document: Any, features: DocumentFeatures) -> list[dict[str, Any]] | None:
    """The top-level objects of a plain document; None where it is not plain."""
    keys = features.keys
    if not features.holders or not keys.isdisjoint(SCHEMAORG.aliases):
        return None
    if any(key[:1] == "@" and key not in _PLAIN_KEYWORDS for key in keys):
        return None
    for holder in features.holders:
        context = holder["@context"]
        if context.__class__ is not str or not is_schemaorg(context):
            return None
    if features.graphs:
        if features.graphs > 1 or not isinstance(document, dict) or document.keys() != {"@context", "@graph"}:
            return None
        members = document["@graph"]
        members = members if isinstance(members, list) else [members]
        return members if all(isinstance(member, dict) for member in members) else None
    roots = document if isinstance(document, list) else [document]
    return roots if all(isinstance(root, dict) and "@context" in root for root in roots) else None


def write_plain(roots: list[dict[str, Any]], out: Statements) -> None:
    """Expansion and deserialisation in one: every object becomes a node, its entries statements."""
    waiting = deque((root, _subject(root, out)) for root in roots)
    while waiting and not out.full:
        node, subject = waiting.popleft()
        if subject is None:
            continue
        long_subject = len(subject) > USUAL_CHARS
        for key, value in node.items():
            if key[:1] == "@":
                times = len(value) if value.__class__ is list else 1
                if key == "@type" and (not long_subject or _may_repeat(subject, key, times, out)):
                    _add_types(subject, value, out)
                continue
            term = _expand_key(key) if len(key) < USUAL_CHARS else _expand_long(key)
            if term is None or value is None:
                continue
            predicate = term.ready or out.iri(term.iri)
            if predicate is None:
                continue
            items = _flat(value) if value.__class__ is list else (value,)
            if (long_subject or len(key) > USUAL_CHARS) and not _may_repeat(subject, predicate, len(items), out):
                continue
            for item in items:
                if item.__class__ is str and term.kind is None:
                    obj: str | None = out.literal(item)
                elif item.__class__ is dict:
                    obj = _subject(item, out)
                    waiting.append((item, obj))
                else:
                    obj = _value(item, term.kind, out)
                if obj is not None:
                    out.add(subject, predicate, obj)


@lru_cache(maxsize=8192)
def _expand_key(key: str) -> Term | None:
    """JSON-LD 1.1 API, IRI expansion of a key or a type under schema.org's context; None where it has no meaning."""
    if key in SCHEMAORG.aliases or _KEYWORD_LIKE.fullmatch(key):
        return None
    prefix, colon, name = key.partition(":")
    if key in FOREIGN:
        iri = FOREIGN[key]
    elif not colon:
        iri = VOCABULARY + key
    elif prefix in PREFIXES and not name.startswith("//"):
        iri = PREFIXES[prefix] + name
    elif prefix == "_":
        return None
    else:
        iri = key
    found = valid_iri(iri)
    kind = COERCED.get(key)
    return Term(
        iri,
        f"<{iri}>" if found and not found.repaired else None,
        f"<{kind}>" if kind and kind != "@id" else kind,
    )


def _canonical_number(number: float) -> tuple[str, str]:
    """The lexical form and datatype of a number (JSON-LD 1.1 API, object to RDF conversion, steps 10 and 11)."""
    if abs(number) < _INTEGER_LIMIT and number == int(number):
        return str(int(number)), f"<{XSD}integer>"
    try:
        mantissa = f"{float(number):.15E}"
    except OverflowError:
        return "INF" if number > 0 else "-INF", f"<{XSD}double>"
    return _MANTISSA.sub(_shortened, mantissa), f"<{XSD}double>"


def _expand_long(key: str) -> Term | None:
    """The same for a long key, without the cache; that it is too long is found when its term is made."""
    term = _expand_key.__wrapped__(key)
    return term and term._replace(ready=None)


def _may_repeat(subject: str, predicate: str, times: int, out: Statements) -> bool:
    """Whether the page's budget allows to repeat terms of unusual length so often."""
    chars = (len(subject) + len(predicate)) * times
    if spend(out, chars * LONG_CHAR_NS):
        return True
    out.problem("jsonld-too-large", f"{times} values of a term were left out, since they make {chars} characters")
    return False


def _subject(node: dict[str, Any], out: Statements) -> str | None:
    """The term of a node: its `@id`, or else a blank node; None where the `@id` is no valid IRI."""
    if "@id" not in node:
        return out.blank()
    identifier = node["@id"]
    if not isinstance(identifier, str):
        out.problem("jsonld-error", "the value of @id must be a string")
        return out.blank()
    if identifier[:1] == "@" and _KEYWORD_LIKE.fullmatch(identifier):
        return out.blank()
    return _reference(identifier, out)


def _add_types(subject: str, value: Any, out: Statements) -> None:
    for name in value if isinstance(value, list) else (value,):
        if not isinstance(name, str):
            out.problem("jsonld-error", "the value of @type must be a string")
            continue
        if name.startswith("_:"):
            out.add(subject, RDF_TYPE_TERM, out.named_blank(name[2:]))
            continue
        term = _expand_key(name) if len(name) < USUAL_CHARS else _expand_long(name)
        iri = term and (term.ready or out.iri(term.iri))
        if iri:
            out.add(subject, RDF_TYPE_TERM, iri)


def _value(item: Any, kind: str | None, out: Statements) -> str | None:
    """The term of a string, number or truth value under the coercion of its key; None for null."""
    if item is None:
        return None
    if item.__class__ is str:
        if kind == "@id":
            return None if item[:1] == "@" and _KEYWORD_LIKE.fullmatch(item) else _reference(item, out)
        return out.literal(item, datatype=kind)
    datatype = kind if kind != "@id" else None
    if isinstance(item, bool):
        return out.literal("true" if item else "false", datatype=datatype or f"<{XSD}boolean>")
    lexical, own_type = _canonical_number(item)
    return out.literal(lexical, datatype=datatype or own_type)


def _reference(text: str, out: Statements) -> str | None:
    """The term of a reference: blank node, compact IRI, absolute or relative IRI."""
    prefix, colon, name = text.partition(":")
    if colon:
        if prefix == "_":
            return out.named_blank(name)
        if prefix in PREFIXES and not name.startswith("//"):
            return out.iri(PREFIXES[prefix] + name)
    if len(out.base) > USUAL_CHARS and not _may_resolve(text, out):
        return None
    return out.resolve(text)


def _may_resolve(text: str, out: Statements) -> bool:
    """Whether the page's budget allows to resolve a reference against a base of unusual length."""
    if text.startswith(("http://", "https://")) or spend(out, len(out.base) * BASE_CHAR_NS):
        return True
    out.problem("jsonld-too-large", "relative references were left out, too many for a base so long")
    return False


def _flat(values: list[Any]) -> list[Any]:
    """The values of nested arrays, which are one set in JSON-LD."""
    if not any(value.__class__ is list for value in values):
        return values
    flat: list[Any] = []
    waiting = [iter(values)]
    while waiting:
        for value in waiting[-1]:
            if value.__class__ is list:
                waiting.append(iter(value))
                break
            flat.append(value)
        else:
            waiting.pop()
    return flat


def _shortened(match: re.Match[str]) -> str:
    return f"{match[1]}E{'-' if match[2] == '-' else ''}{match[3]}"
