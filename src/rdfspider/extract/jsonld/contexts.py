"""JSON-LD contexts: the contexts of a document enter, contexts without remote references leave.

The context of schema.org is bundled. Only the terms that a document uses are passed to a parser, since reading all
three thousand takes forty times as long as a usual document. Every other context comes from `config.documents`; nothing
is ever fetched.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any

import msgspec

from rdfspider.config import DocumentSource
from rdfspider.extract.jsonld.features import MAX_CONTEXT_DEPTH, ContextError, is_deeper
from rdfspider.urls import resolve_iri

ContextLoader = Callable[[str], Any]
"""Returns the context at an absolute address, or raises `ContextError`."""


class _SchemaorgTerms(msgspec.Struct):
    """The definitions of schema.org's context; `scripts/make_schemaorg_context` derives them."""

    vocabulary: str
    aliases: dict[str, str]
    prefixes: dict[str, str]
    others: dict[str, str]
    coerced: dict[str, str]
    plain: str


SCHEMAORG = msgspec.json.decode(
    (files("rdfspider.extract.jsonld") / "schemaorg.json").read_bytes(), type=_SchemaorgTerms
)
VOCABULARY = SCHEMAORG.vocabulary
PREFIXES = SCHEMAORG.prefixes
COERCED = {term: kind for kind, terms in SCHEMAORG.coerced.items() for term in terms.split()}
"""The terms with type coercion: `@id` where strings are IRIs, else the IRI of their datatype."""
FOREIGN = SCHEMAORG.prefixes | SCHEMAORG.others
"""The IRIs of the terms that are not in schema.org's own vocabulary."""

_TERMS: dict[str, Any] = (
    SCHEMAORG.aliases | FOREIGN | {term: {"@id": VOCABULARY + term, "@type": kind} for term, kind in COERCED.items()}
)
_SERVED = re.compile(
    r"https?://(?:www\.)?schema\.org(?:/|/docs/jsonldcontext\.json(?:ld)?|/version/[\w.-]+/[\w.-]+\.jsonld)?"
)
# Copies of pages in web archives name it behind the archive's own address and a date.
_MEANT = re.compile(
    r"(?:\S*/\d{4,14}(?:[a-z]{2}_)?/(?=https?:/))?"
    r"\W*(?:h?t{1,3}ps?)?[:/\\]*(?:(?:[\w-]+\.)?schema\.org|schema\.googleapis\.com)(?:[/#?\\,;].*)?",
    re.IGNORECASE | re.DOTALL,
)
_BARE_VOCABULARY = re.compile(r"https?://(?:www\.)?schema\.org")
_VOCABULARY_NAME = re.compile(r"^https?://(?:www\.)?schema\.org/")
_MISSPELT_KEY = re.compile(r"@?con?te?x?ts?:?|@content", re.IGNORECASE)
# Longer references never mean schema.org, and would only fill the cache.
_MAX_REFERENCE_CHARS = 200
_MAX_REMOTE_DEPTH = 16
_MAX_REMOTE_CONTEXTS = 64


def is_schemaorg(reference: str) -> bool:
    """Whether this is an address at which schema.org's context is served."""
    return len(reference) < _MAX_REFERENCE_CHARS and _is_served(reference)


def schemaorg_context(words: Iterable[str], own_vocabulary: bool) -> dict[str, Any]:
    """Schema.org's context, reduced to the terms and prefixes among the words that a document uses.

    Terms without type coercion are left to `@vocab`, unless the document sets an `own_vocabulary`, which would change
    them.
    """
    context: dict[str, Any] = {"@vocab": VOCABULARY}
    for word in words:
        definition = _TERMS.get(word)
        if definition is not None:
            context[word] = definition
        elif own_vocabulary and word in _plain_terms():
            context[word] = VOCABULARY + word
    return context


def repair_root(root: dict[str, Any]) -> str | None:
    """Give a root object without a context the one under a misspelt key, or else the one of its classes; returns a note on it."""
    for key, value in root.items():
        if isinstance(value, str) and _MISSPELT_KEY.fullmatch(key) and _means_schemaorg(value):
            root["@context"] = value
            return f"the key {key!r} was read as @context"
    graph = root.get("@graph")
    for node in (root, *(graph if isinstance(graph, list) else ())):
        kind = node.get("@type") if isinstance(node, dict) else None
        kind = kind[0] if isinstance(kind, list) and kind else kind
        if isinstance(kind, str) and _is_schemaorg_class(kind):
            root["@context"] = VOCABULARY
            return f"there is no @context, but {kind!r} is a class of schema.org"
    return None


def repair_context(context: Any) -> tuple[Any, list[str]]:
    """The context with obvious mistakes repaired, and a note on each."""
    if isinstance(context, str):
        if not is_schemaorg(context) and _means_schemaorg(context):
            return VOCABULARY, [f"{context!r} was read as {VOCABULARY}"]
        return context, []
    if isinstance(context, list):
        pairs = [repair_context(part) for part in context]
        return [part for part, _ in pairs], [note for _, notes in pairs for note in notes]
    if isinstance(context, dict):
        vocabulary = context.get("@vocab")
        if isinstance(vocabulary, str) and _BARE_VOCABULARY.fullmatch(vocabulary):
            return {**context, "@vocab": vocabulary + "/"}, [f"the vocabulary {vocabulary!r} lacks its slash"]
    return context, []


def context_loader(schemaorg: dict[str, Any], documents: DocumentSource | None) -> ContextLoader:
    """A function from an absolute address to the context there, which asks `documents` once for each."""
    loaded: dict[str, Any] = {}

    def load_context(reference: str) -> Any:
        if is_schemaorg(reference):
            return schemaorg
        if reference not in loaded:
            if len(loaded) >= _MAX_REMOTE_CONTEXTS:
                raise ContextError("context-too-large", f"more than {_MAX_REMOTE_CONTEXTS} remote contexts")
            loaded[reference] = _read_context(reference, documents)
        found = loaded[reference]
        if isinstance(found, ContextError):
            raise ContextError(found.code, str(found))
        return found

    return load_context


def inline_context(context: Any, base: str, load_context: ContextLoader, depth: int = 0) -> list[Any]:
    """JSON-LD 1.1 API, context processing, 5.2: the local contexts in order, with remote ones inlined.

    `@base` in a remote context is left out, by step 5.7.
    """
    if depth > _MAX_REMOTE_DEPTH:
        raise ContextError("context-invalid", "contexts refer to contexts without end")
    if isinstance(context, list):
        return _inline_list(context, base, load_context, depth)
    if isinstance(context, str):
        reference = resolve_iri(base, context)
        remote = load_context(reference)
        return inline_context(remote, reference, load_context, depth + 1)
    if depth and isinstance(context, dict) and "@base" in context:
        return [{key: value for key, value in context.items() if key != "@base"}]
    return [context]


def _means_schemaorg(reference: str) -> bool:
    """Whether this reference to a context, though wrong, can only mean schema.org's."""
    return len(reference) < _MAX_REFERENCE_CHARS and _MEANT.fullmatch(reference) is not None


def _is_schemaorg_class(name: str) -> bool:
    name = _VOCABULARY_NAME.sub("", name, count=1)
    return name[:1].isupper() and name in _plain_terms()


def _inline_list(contexts: list[Any], base: str, load_context: ContextLoader, depth: int) -> list[Any]:
    """The same for several. All are asked for before a missing one is reported, so that all missing ones are known at once."""
    found: list[Any] = []
    missing: ContextError | None = None
    for context in contexts:
        try:
            found += inline_context(context, base, load_context, depth)
        except ContextError as error:
            if error.code != "context-unknown":
                raise
            missing = missing or error
    if missing is not None:
        raise missing
    return found


def _read_context(reference: str, documents: DocumentSource | None) -> Any:
    """The context in the document at an address, or the error why there is none."""
    body = documents(reference) if documents is not None else None
    if body is None:
        return ContextError("context-unknown", f"the context {reference[:200]} is not at hand")
    try:
        document = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        return ContextError("context-invalid", f"the context {reference[:200]} is not JSON: {error}")
    if not isinstance(document, dict) or "@context" not in document:
        return ContextError("context-invalid", f"the document {reference[:200]} has no @context")
    if is_deeper(document, MAX_CONTEXT_DEPTH):
        return ContextError("context-too-large", f"the context {reference[:200]} is nested too deep")
    return document["@context"]


@lru_cache(maxsize=1024)
def _is_served(reference: str) -> bool:
    return _SERVED.fullmatch(reference) is not None


@lru_cache(maxsize=1)
def _plain_terms() -> frozenset[str]:
    return frozenset(SCHEMAORG.plain.split())
