"""The features of a JSON-LD document and its contexts, and the estimated cost of reading it; both decide how it is
read.

Documents are walked level by level without recursion, so that their depth is known before a recursive parser reads
them. Costs are those that grow faster than the page, in nanoseconds. All scripts of a page spend from one budget, which
`Statements.spent_ns` adds up; usual pages spend a thousandth of it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from rdfspider.extract.statements import Statements

# From here on, pyoxigraph writes numbers otherwise than the specification.
_LARGE_NUMBER = 10**18
MAX_CONTEXT_DEPTH = 32
"""Levels of nested contexts, for which parsers recurse; real ones have four."""

_KEYWORDS = frozenset(
    "@base @container @context @default @direction @graph @id @import @included @index @json @language @list @nest @none"
    " @prefix @propagate @protected @reverse @set @type @value @version @vocab".split()
)

_REFERRING = ("@id", "@type", "@reverse", "@index")
_IRI_KEYS = ("@id", "@reverse")
MAX_CHAIN = 16
"""How many terms may be defined in terms of each other in a chain."""

_MAX_COST_NS = 2_000_000_000
# PyLD's time grows with the square of the values.
_PYLD_SQUARE_NS = 450
PYLD_TERM_NS = 10_000
PYLD_CHAR_NS = 100
# The time of pyoxigraph to define a term, and to copy one to an inner context.
_TERM_NS = 1_400
_COPY_NS = 200
# The time to look up a remote context, and for each context that it lists.
_NAMED_NS = 3_000
_LISTED_NS = 200
# The time per character to resolve a reference against a base of unusual length.
BASE_CHAR_NS = 80
# The cost per character beyond the usual length of an IRI, each time that the IRI is written: of memory rather than
# time, of which this allows some 30 MB.
LONG_CHAR_NS = 60
USUAL_CHARS = 500
"""Characters of an IRI; longer ones are rare."""

# The largest contexts in use have about three thousand.
_MAX_TERMS = 50_000
# Memory of pyoxigraph for the contexts in scope; a term takes some 500 bytes besides its IRI.
_MAX_CONTEXT_BYTES = 100_000_000
_TERM_BYTES = 500
# So few terms cannot exhaust its stack, however they are defined by each other.
_UNCHECKED_TERMS = 200
_LONG_STRING = re.compile(rb'"[^"]{%d,}+(?=(":)?)' % USUAL_CHARS)
_COLON = ord(":")
# Where the concatenated texts of the contexts, once per value, have no more characters, the exact length is not computed.
_UNFOLLOWED_CHARS = 500_000


class ContextError(Exception):
    """A context that is missing or refused; `code` is that of the Problem."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(slots=True)
class DocumentFeatures:
    """Counts and sets over one document, without its contexts, whose keys are terms, not data."""

    keys: set[str] = field(default_factory=set)
    holders: list[dict[str, Any]] = field(default_factory=list)
    """The objects with an `@context`, outer ones before inner ones."""
    depth: int = 0
    values: int = 0
    """The entries of all objects and arrays."""
    graphs: int = 0
    """The objects with an `@graph`."""
    large_number: bool = False


@dataclass(slots=True)
class ContextFeatures:
    """Counts and sets over the contexts of a document, including those in term definitions."""

    keys: set[str] = field(default_factory=set)
    bases: list[str] = field(default_factory=list)
    definitions: list[dict[str, Any]] = field(default_factory=list)
    """Every object in the contexts, each once, even where several objects of the document share a context."""
    terms: int = 0
    """The entries in them."""
    processed: int = 0
    """The entries again, counted as often as their context is used."""
    uses: int = 0
    """How often contexts are used, by objects that have one."""
    grown: int = 0
    """The most characters that the relative vocabularies and bases of one object add to inherited ones."""
    scoped_names: bool = False
    """Whether a term definition names a remote context."""
    type_maps: bool = False
    """Whether a term's container is `@type`."""
    unmapped: bool = False
    """Whether a term is defined to have no meaning: by null, or by a word with the form of a keyword."""


def analyse_document(document: Any, max_depth: int) -> DocumentFeatures:
    """The features of a document. Where it or a context is nested too deep, the walk ends with `depth` above `max_depth`."""
    features = DocumentFeatures()
    keys, holders = features.keys, features.holders
    level = [document] if isinstance(document, dict | list) else []
    while level and features.depth <= max_depth:
        features.depth += 1
        below: list[Any] = []
        for node in level:
            features.values += len(node)
            members: Iterable[Any] = node
            if node.__class__ is dict:
                keys.update(node)
                if "@graph" in node:
                    features.graphs += 1
                if "@context" in node:
                    holders.append(node)
                    if node["@context"].__class__ is not str and is_deeper(node["@context"], MAX_CONTEXT_DEPTH):
                        features.depth = max_depth + 1
                    members = [value for key, value in node.items() if key != "@context"]
                else:
                    members = node.values()
            for value in members:
                kind = value.__class__
                if kind is str:
                    continue
                if kind is dict or kind is list:
                    below.append(value)
                elif (kind is int or kind is float) and not -_LARGE_NUMBER < value < _LARGE_NUMBER:
                    features.large_number = True
        level = below
    return features


def is_deeper(value: Any, depth: int) -> bool:
    """Whether objects and arrays in this value are nested deeper."""
    level = [value]
    for _ in range(depth + 1):
        level = [
            member
            for node in level
            if isinstance(node, dict | list)
            for member in (node.values() if isinstance(node, dict) else node)
        ]
        if not level:
            return False
    return True


def analyse_contexts(contexts: list[Any]) -> ContextFeatures:
    """The features of a document's contexts, after remote contexts were inlined."""
    features = ContextFeatures()
    sizes: dict[int, tuple[int, int]] = {}
    for context in contexts:
        grown = 0
        for part in context if isinstance(context, list) else [context]:
            if id(part) not in sizes:
                before, nodes = features.terms, len(features.definitions)
                _analyse_context(part, features)
                sizes[id(part)] = features.terms - before, sum(map(_relative_chars, features.definitions[nodes:]))
            features.processed += sizes[id(part)][0]
            grown += sizes[id(part)][1]
            features.uses += 1
        features.grown = max(features.grown, grown)
    return features


def spend(out: Statements, cost_ns: int) -> bool:
    """Take the cost off the page's budget; False, and nothing is taken, where it exceeds the budget."""
    if out.spent_ns + cost_ns > _MAX_COST_NS:
        return False
    out.spent_ns += cost_ns
    return True


def estimate_loading(context: Any) -> int:
    """The nanoseconds to look up a remote context."""
    return _NAMED_NS + (len(context) if isinstance(context, list) else 1) * _LISTED_NS


def count_steps(features: DocumentFeatures, used: ContextFeatures, longest: int) -> int:
    """How many term definitions are processed; contexts that need too much memory or stack are refused."""
    scoped = "@context" in used.keys
    levels = features.depth if scoped else min(features.depth, len(features.holders))
    if used.terms > _MAX_TERMS or used.terms * levels * (_TERM_BYTES + longest) > _MAX_CONTEXT_BYTES:
        raise ContextError("context-too-large", f"{used.terms} terms in {len(features.holders)} contexts are too many")
    for definitions in used.definitions:
        if len(definitions) > _UNCHECKED_TERMS:
            _check_chains(definitions)
    return used.processed + (features.values * used.terms if scoped else 0)


def estimate_cost(
    features: DocumentFeatures, used: ContextFeatures, steps: int, longest: int, base: str, by_pyld: bool
) -> int:
    """The nanoseconds that terms and IRIs will take; usual documents take next to none."""
    chars = (features.values + steps) * (max(0, longest - USUAL_CHARS) + max(0, len(base) - USUAL_CHARS))
    if by_pyld:
        return features.values**2 * _PYLD_SQUARE_NS + steps * PYLD_TERM_NS + chars * PYLD_CHAR_NS
    return steps * _TERM_NS + used.terms * len(features.holders) * _COPY_NS + chars * LONG_CHAR_NS


def measure_iris(used: ContextFeatures, features: DocumentFeatures, max_iri_chars: int) -> int:
    """An upper bound of the length of IRIs that the contexts define; too long ones are refused.

    What the document itself adds, after a prefix or as a relative reference, is not counted.
    """
    texts = sum(
        len(key) + (len(value) if value.__class__ is str else 0)
        for definitions in used.definitions
        for key, value in definitions.items()
    )
    # A context that is used again extends the previous result, and one in a term definition is used with each value.
    scoped = features.values if "@context" in used.keys else 1
    longest = texts * scoped * (used.uses if used.processed > used.terms else 1)
    if longest > max_iri_chars or (longest - USUAL_CHARS) * (features.values + used.processed) > _UNFOLLOWED_CHARS:
        longest = _follow_terms(used, max_iri_chars) + used.grown * scoped * features.depth
    if longest > max_iri_chars:
        raise ContextError("iri-too-long", f"the terms of a context make IRIs of up to {longest} characters")
    return longest


def count_repeated(document: Any, used: ContextFeatures, encoded: bytes) -> int:
    """An upper bound of the characters written for keys and identifiers of unusual length in a document.

    Each may be repeated with every value below it. `encoded` is the document as JSON, in which long ones are found
    quickly.
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


def _analyse_context(context: Any, features: ContextFeatures) -> None:
    features.unmapped = features.unmapped or context is None
    level = [context] if isinstance(context, dict | list) else []
    while level:
        below: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                _analyse_definitions(node, features)
                members: Iterable[Any] = node.values()
            else:
                members = node
            for value in members:
                if isinstance(value, dict | list):
                    below.append(value)
                elif value is None or (isinstance(value, str) and value[:1] == "@" and value not in _KEYWORDS):
                    features.unmapped = True
        level = below


def _analyse_definitions(node: dict[str, Any], features: ContextFeatures) -> None:
    features.terms += len(node)
    features.keys.update(node)
    features.definitions.append(node)
    if isinstance(base := node.get("@base"), str):
        features.bases.append(base)
    if _names_contexts(node.get("@context")):
        features.scoped_names = True
    container = node.get("@container")
    if container == "@type" or (isinstance(container, list) and "@type" in container):
        features.type_maps = True


def _relative_chars(node: dict[str, Any]) -> int:
    return sum(
        len(text) for text in (node.get("@vocab"), node.get("@base")) if isinstance(text, str) and ":" not in text
    )


def _names_contexts(scoped: Any) -> bool:
    return isinstance(scoped, str) or (isinstance(scoped, list) and any(isinstance(part, str) for part in scoped))


def _check_chains(context: dict[str, Any]) -> None:
    """Refuse long chains of terms that are defined by other terms: native parsers follow them recursively."""
    waiting = {term: _references(term, value) for term, value in context.items()}
    for _ in range(MAX_CHAIN):
        waiting = {
            term: rest for term, names in waiting.items() if (rest := [name for name in names if name in waiting])
        }
        if not waiting:
            return
    raise ContextError("context-invalid", f"{len(waiting)} terms are defined by each other in a long chain")


def _references(term: str, definition: Any) -> list[str]:
    """The terms that this one's definition may refer to."""
    parts = [definition] if isinstance(definition, str) else []
    if isinstance(definition, dict):
        parts = [value for key in _REFERRING if isinstance(value := definition.get(key), str)]
    names = {name for part in (*parts, term) for name in (part, part.partition(":")[0])}
    return sorted(names - {term})


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


def _identifier_keys(used: ContextFeatures) -> set[str]:
    """`@id` and its aliases in the contexts."""
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


def _follow_terms(used: ContextFeatures, max_iri_chars: int) -> int:
    """The length of the longest IRI by definitions that refer to others, also across contexts."""
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
    """The term, the prefix or vocabulary that its definition may extend, and the length of the definition."""
    prefix, colon, _ = text.partition(":")
    own = (term, "" if prefix == term or text[:1] == "@" else prefix, len(text))
    return [own] if colon or text[:1] == "@" or term == "@vocab" else [own, (term, "@vocab", len(text))]
