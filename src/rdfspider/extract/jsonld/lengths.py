"""How long the IRIs are that contexts make: the terms of a document's contexts go in, an upper bound comes out.

A prefix of a few kilobytes becomes gigabytes when every value of a page uses it, so this is known before any is expanded.
Usual contexts are so short as a whole that one look at their texts is enough.
"""

import re
from typing import Any

import msgspec

from rdfspider.extract.jsonld.contexts import MAX_CHAIN, ContextError
from rdfspider.extract.jsonld.effort import USUAL_CHARS
from rdfspider.extract.jsonld.survey import ContextSurvey, Survey

_IRI_KEYS = ("@id", "@reverse")
_LONG_STRING = re.compile(rb'"[^"]{%d,}+(?=(":)?)' % USUAL_CHARS)
_COLON = ord(":")
# Where all texts of the contexts in a row, with each value, are no more than so many, no closer look is worth its time.
_UNFOLLOWED_CHARS = 500_000


def measure_iris(used: ContextSurvey, survey: Survey, max_iri_chars: int) -> int:
    """No IRI that the contexts give to a document is longer; too long ones are refused.

    What a document adds itself, after a prefix or as a relative reference, is not counted.
    """
    texts = sum(
        len(key) + (len(value) if value.__class__ is str else 0)
        for definitions in used.definitions
        for key, value in definitions.items()
    )
    # A context that is used again goes on from where it left, and one in a term definition is used with each value.
    scoped = survey.values if "@context" in used.keys else 1
    longest = texts * scoped * (used.uses if used.processed > used.terms else 1)
    if longest > max_iri_chars or (longest - USUAL_CHARS) * (survey.values + used.processed) > _UNFOLLOWED_CHARS:
        longest = _follow_terms(used, max_iri_chars) + used.grown * scoped * survey.depth
    if longest > max_iri_chars:
        raise ContextError("iri-too-long", f"the terms of a context make IRIs of up to {longest} characters")
    return longest


def count_repeated(document: Any, used: ContextSurvey, encoded: bytes) -> int:
    """No more characters than these are written for the keys and identifiers of unusual length in a document.

    Each may be repeated with every value below it. `encoded` is the document as JSON, in which long ones are seen at once.
    """
    identifiers = _identifier_keys(used)
    if not _has_long_names(encoded, identifiers):
        return 0
    nodes, parents, long_chars = [document], [0], [0]
    for number, node in enumerate(nodes):
        for key, value in node.items() if node.__class__ is dict else (("", member) for member in node):
            chars = len(key) if len(key) > USUAL_CHARS else 0
            if key == "@context":
                continue
            if value.__class__ is dict or value.__class__ is list:
                nodes.append(value)
                parents.append(number)
                long_chars.append(chars)
            else:
                if key in identifiers and value.__class__ is str and len(value) > USUAL_CHARS:
                    chars += len(value)
                long_chars[number] += chars
    sizes = [len(node) for node in nodes]
    for number in range(len(nodes) - 1, 0, -1):
        sizes[parents[number]] += sizes[number]
    return sum(chars * size for chars, size in zip(long_chars, sizes, strict=True) if chars)


def _has_long_names(encoded: bytes, identifiers: set[str]) -> bool:
    """Whether a key is of unusual length, or a string under one of these keys."""
    text = _without_escapes(encoded)
    names = {_without_escapes(msgspec.json.encode(name)).strip(b'"') for name in identifiers}
    for string in _LONG_STRING.finditer(text):
        colon = string.start() - 1
        if string[1] or (text[colon] == _COLON and text[text.rfind(b'"', 0, colon - 1) + 1 : colon - 1] in names):
            return True
    return False


def _without_escapes(encoded: bytes) -> bytes:
    """The JSON, of the same length, in which each quotation mark begins or ends a string."""
    return encoded.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in encoded else encoded


def _identifier_keys(used: ContextSurvey) -> set[str]:
    """`@id` and what contexts call it."""
    keys = {"@id"}
    for _ in range(MAX_CHAIN):
        before = len(keys)
        for definitions in used.definitions:
            for term, value in definitions.items():
                name = value.get("@id") if isinstance(value, dict) else value
                if isinstance(name, str) and name in keys and term[:1] != "@":
                    keys.add(term)
        if len(keys) == before:
            break
    return keys


def _follow_terms(used: ContextSurvey, max_iri_chars: int) -> int:
    """The longest IRI by definitions that refer to others, also to those of other contexts."""
    rules: set[tuple[str, str, int]] = set()
    for definitions in used.definitions:
        for term, value in definitions.items():
            if value.__class__ is str:
                rules.update(_rules(term, value))
            elif value.__class__ is dict and term[:1] != "@":
                texts = [text for key in _IRI_KEYS if isinstance(text := value.get(key), str)]
                for text in texts or [term]:
                    rules.update(_rules(term, text))
    lengths: dict[str, int] = {}
    for _ in range(MAX_CHAIN + 1):
        stable = True
        for term, reference, chars in rules:
            found = chars + lengths.get(reference, 0)
            if found > lengths.get(term, 0):
                lengths[term] = found
                stable = False
                if found > max_iri_chars:
                    return found
        if stable:
            return max(lengths.values(), default=0)
    raise ContextError("context-invalid", "terms of several contexts are defined by each other in a long chain")


def _rules(term: str, text: str) -> list[tuple[str, str, int]]:
    """The term, what the text that it stands for may go on from, and the text's length."""
    prefix, colon, _ = text.partition(":")
    own = (term, "" if prefix == term or text[:1] == "@" else prefix, len(text))
    return [own] if colon or text[:1] == "@" or term == "@vocab" else [own, (term, "@vocab", len(text))]
