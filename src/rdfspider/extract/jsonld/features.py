"""What a JSON-LD document uses: one walk over its values, on which the choice of how to read it rests.

The walk goes level by level without recursion, so that a document of any depth is measured before a parser with a stack
of its own meets it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

# From here on, pyoxigraph and the specification write numbers differently.
_LARGE_NUMBER = 10**18
MAX_CONTEXT_DEPTH = 32
"""Contexts in contexts in contexts take a parser's stack; real ones go four deep."""

_KEYWORDS = frozenset(
    "@base @container @context @default @direction @graph @id @import @included @index @json @language @list @nest @none"
    " @prefix @propagate @protected @reverse @set @type @value @version @vocab".split()
)


@dataclass(slots=True)
class Survey:
    """Counts and sets over one document. Contexts are apart: their keys are terms, not data."""

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
class ContextSurvey:
    """The same over the contexts of a document, those in term definitions included."""

    keys: set[str] = field(default_factory=set)
    bases: list[str] = field(default_factory=list)
    definitions: list[dict[str, Any]] = field(default_factory=list)
    """Every object in the contexts once, also where many objects of the document share a context."""
    terms: int = 0
    """The entries in them."""
    processed: int = 0
    """The entries again, counted as often as their context is used."""
    uses: int = 0
    """How often contexts are used, by objects that have one."""
    grown: int = 0
    """The most characters that relative vocabularies and bases of one object add to those around it."""
    scoped_names: bool = False
    """Whether a term definition names a remote context."""
    type_maps: bool = False
    """Whether a term's container is `@type`."""
    unmapped: bool = False
    """Whether something is said to have no meaning: null, or a word that looks like a keyword and is none."""


def survey_document(document: Any, max_depth: int) -> Survey:
    """Walk the document; deeper than `max_depth` the walk ends, with `depth` beyond it, as it does at deep contexts."""
    survey = Survey()
    keys, holders = survey.keys, survey.holders
    level = [document] if isinstance(document, dict | list) else []
    while level and survey.depth <= max_depth:
        survey.depth += 1
        below: list[Any] = []
        for node in level:
            survey.values += len(node)
            members: Iterable[Any] = node
            if node.__class__ is dict:
                keys.update(node)
                if "@graph" in node:
                    survey.graphs += 1
                if "@context" in node:
                    holders.append(node)
                    if node["@context"].__class__ is not str and is_deeper(node["@context"], MAX_CONTEXT_DEPTH):
                        survey.depth = max_depth + 1
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
                    survey.large_number = True
        level = below
    return survey


def is_deeper(value: Any, depth: int) -> bool:
    """Whether objects and arrays are nested in this value deeper than so many levels."""
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


def survey_contexts(contexts: list[Any]) -> ContextSurvey:
    """Walk the contexts of a document, after remote ones were put in their places."""
    survey = ContextSurvey()
    sizes: dict[int, tuple[int, int]] = {}
    for context in contexts:
        grown = 0
        for part in context if isinstance(context, list) else [context]:
            if id(part) not in sizes:
                before, nodes = survey.terms, len(survey.definitions)
                _survey_context(part, survey)
                sizes[id(part)] = survey.terms - before, sum(map(_relative_chars, survey.definitions[nodes:]))
            survey.processed += sizes[id(part)][0]
            grown += sizes[id(part)][1]
            survey.uses += 1
        survey.grown = max(survey.grown, grown)
    return survey


def _survey_context(context: Any, survey: ContextSurvey) -> None:
    survey.unmapped = survey.unmapped or context is None
    level = [context] if isinstance(context, dict | list) else []
    while level:
        below: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                _survey_definitions(node, survey)
                members: Iterable[Any] = node.values()
            else:
                members = node
            for value in members:
                if isinstance(value, dict | list):
                    below.append(value)
                elif value is None or (isinstance(value, str) and value[:1] == "@" and value not in _KEYWORDS):
                    survey.unmapped = True
        level = below


def _survey_definitions(node: dict[str, Any], survey: ContextSurvey) -> None:
    survey.terms += len(node)
    survey.keys.update(node)
    survey.definitions.append(node)
    if isinstance(base := node.get("@base"), str):
        survey.bases.append(base)
    if _names_contexts(node.get("@context")):
        survey.scoped_names = True
    container = node.get("@container")
    if container == "@type" or (isinstance(container, list) and "@type" in container):
        survey.type_maps = True


def _relative_chars(node: dict[str, Any]) -> int:
    return sum(
        len(text) for text in (node.get("@vocab"), node.get("@base")) if isinstance(text, str) and ":" not in text
    )


def _names_contexts(scoped: Any) -> bool:
    return isinstance(scoped, str) or (isinstance(scoped, list) and any(isinstance(part, str) for part in scoped))
