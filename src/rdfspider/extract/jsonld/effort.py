"""What reading the JSON-LD of one page may cost: work that grows faster than the page, in nanoseconds, told beforehand.

All scripts of a page spend from one budget, which `Statements.effort` adds up. Usual pages spend a thousandth of it.
"""

import re
from typing import Any

import msgspec

from rdfspider.extract.jsonld.contexts import MAX_CHAIN, ContextError, check_chains
from rdfspider.extract.jsonld.features import ContextSurvey, Survey
from rdfspider.extract.statements import Statements

_MAX_EFFORT_NS = 2_000_000_000
# What PyLD takes grows with the square of the values.
_PYLD_SQUARE_NS = 450
PYLD_TERM_NS = 10_000
PYLD_CHAR_NS = 100
# To define a term takes pyoxigraph so long, and to copy one to an inner context.
_TERM_NS = 1_400
_COPY_NS = 200
# To look up a context that is named, and for each of those that it lists.
_NAMED_NS = 3_000
_LISTED_NS = 200
# A character of a base that a reference is resolved against, where the base is of unusual length.
BASE_CHAR_NS = 80
# A character beyond the usual length of an IRI, each time that it is written out: it takes memory more than time, and this
# allows some 30 MB.
LONG_CHAR_NS = 60
USUAL_CHARS = 500
"""Hardly an IRI is longer."""

# The largest contexts in use have about three thousand.
_MAX_TERMS = 50_000
# What pyoxigraph keeps of the contexts that are open at once; a term takes some 500 bytes besides its IRI.
_MAX_CONTEXT_BYTES = 100_000_000
_TERM_BYTES = 500
# Terms that are defined by each other take its stack; so few cannot exhaust it.
_UNCHECKED_TERMS = 200


def spend(out: Statements, effort_ns: int) -> bool:
    """Whether that much is still within the page's budget; what is not costs nothing, since it is not done."""
    if out.effort + effort_ns > _MAX_EFFORT_NS:
        return False
    out.effort += effort_ns
    return True


def estimate_loading(context: Any) -> int:
    """The nanoseconds that it takes to look up a context by its name."""
    return _NAMED_NS + (len(context) if isinstance(context, list) else 1) * _LISTED_NS


def count_steps(survey: Survey, used: ContextSurvey, longest: int) -> int:
    """How many terms are to be defined; contexts beyond all proportion in memory or stack are refused."""
    scoped = "@context" in used.keys
    levels = survey.depth if scoped else min(survey.depth, len(survey.holders))
    if used.terms > _MAX_TERMS or used.terms * levels * (_TERM_BYTES + longest) > _MAX_CONTEXT_BYTES:
        raise ContextError("context-too-large", f"{used.terms} terms in {len(survey.holders)} contexts are too many")
    for definitions in used.definitions:
        if len(definitions) > _UNCHECKED_TERMS:
            check_chains(definitions)
    return used.processed + (survey.values * used.terms if scoped else 0)


def estimate_effort(survey: Survey, used: ContextSurvey, steps: int, longest: int, base: str, by_pyld: bool) -> int:
    """The nanoseconds that terms and IRIs will take; what is of usual length and number takes next to nothing."""
    chars = (survey.values + steps) * (max(0, longest - USUAL_CHARS) + max(0, len(base) - USUAL_CHARS))
    if by_pyld:
        return survey.values**2 * _PYLD_SQUARE_NS + steps * PYLD_TERM_NS + chars * PYLD_CHAR_NS
    return steps * _TERM_NS + used.terms * len(survey.holders) * _COPY_NS + chars * LONG_CHAR_NS


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
