"""JSON-LD 1.1, in scripts of pages and as documents: JSON text enters, statements leave.

JSON is parsed strictly, and repaired (`repair`) only where that fails. `features` finds out which features a document
uses and what reading it costs; this decides how it is read, so that no document is read twice. Plain schema.org
documents become statements straight from the JSON (`plain`). Others are read by pyoxigraph, with their contexts inlined
(`contexts`), or by PyLD (`pyld_processor`) where pyoxigraph deviates from the specification.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pyoxigraph
from pyoxigraph import Quad, RdfFormat

from rdfspider.extract.dom import CData, Document, Element, Text
from rdfspider.extract.jsonld.contexts import (
    ContextLoader,
    context_loader,
    inline_context,
    repair_context,
    repair_root,
    schemaorg_context,
)
from rdfspider.extract.jsonld.features import (
    LONG_CHAR_NS,
    PYLD_CHAR_NS,
    PYLD_TERM_NS,
    USUAL_CHARS,
    ContextError,
    ContextFeatures,
    DocumentFeatures,
    analyse_contexts,
    analyse_document,
    count_repeated,
    count_steps,
    estimate_cost,
    estimate_loading,
    measure_iris,
    spend,
)
from rdfspider.extract.jsonld.plain import plain_roots, write_plain
from rdfspider.extract.jsonld.pyld_processor import dataset_quads, to_dataset
from rdfspider.extract.jsonld.repair import repair_json
from rdfspider.extract.statements import Report, Statements
from rdfspider.records import Content
from rdfspider.urls import is_valid_iri, valid_iri

_MEDIA_TYPE = "application/ld+json"
_MAX_REPAIR_CHARS = 2_000_000
# Words in JSON, as msgspec writes it, that may be terms or prefixes of a context.
_WORDS = re.compile(rb'"([\w.-]+)[":]')
_UNORDERED = re.compile(r"(Unexpected key in term definition).*", re.DOTALL)
_DOTTED_AUTHORITY = re.compile(rb'"//[^"]*/\.')
# PyLD's time grows with the square of the values; so many take it up to a second.
_MAX_PYLD_VALUES = 1_500
_MAX_PYLD_STEPS = 200_000
# Documents that cannot make more characters of statements are not checked for repeated names.
_UNCOUNTED_CHARS = 1_000_000
_MAX_ERRORS = 10_000
_MAX_ERROR_CHARS = 500
_MAX_REFERENCE_CHARS = 2_000
# Missing contexts that are reported of one page; real pages refer to one or two.
_MAX_MISSING_DOCUMENTS = 8


@dataclass(frozen=True, slots=True)
class JsonLdOptions:
    """The options of the JSON-LD 1.1 API, under their names there. Pages use the defaults; the W3C's test suite sets them."""

    strict: bool = False
    """Repair nothing, and leave out invalid IRIs."""
    processing_mode: str = "json-ld-1.1"
    rdf_direction: str | None = None
    generalized: bool = False
    expand_context: Any = None

    def api_options(self, base: str) -> dict[str, Any]:
        """The options that are set, as the API names them."""
        options = {
            "base": base,
            "processingMode": self.processing_mode,
            "rdfDirection": self.rdf_direction,
            "produceGeneralizedRdf": self.generalized or None,
            "expandContext": self.expand_context,
        }
        return {name: value for name, value in options.items() if value is not None}


WEB = JsonLdOptions()


def extract_scripts(tree: Document, content: Content, out: Statements) -> None:
    """Add the statements of all JSON-LD scripts of a page; an invalid one costs its own statements only."""
    for script in select_scripts(tree):
        if out.full:
            return
        extract_document(script_text(script), out)


def extract_document(text: str, out: Statements, options: JsonLdOptions = WEB) -> None:
    """Add the statements of one JSON-LD document."""
    for document in read_json(text, out.config.max_depth, out.problem, strict=options.strict):
        _extract_value(document, out, options)


def select_scripts(tree: Document, fragment: str | None = None) -> list[Element]:
    """JSON-LD 1.1, 7: the script elements of the type of JSON-LD; with a fragment, the one with that id."""
    scripts = [script for script in tree.select('script[type*="ld+json" i]') if _is_jsonld(script)]
    if fragment is None:
        return scripts
    return [script for script in scripts if script.attr("id") == fragment][:1]


def script_text(script: Element) -> str:
    """The text of a script, which may be in CDATA sections in XML."""
    children = script.children
    if len(children) == 1 and isinstance(children[0], Text):
        return children[0].data
    return "".join(child.data for child in children if isinstance(child, Text | CData))


def read_json(text: str, max_depth: int, report: Report, *, strict: bool = False) -> list[Any]:
    """The values of a text: one where it is JSON, any number where it had to be repaired."""
    try:
        return [msgspec.json.decode(text)]
    except RecursionError:
        report("json-too-deep", "JSON nested so deep was not read")
        return []
    except (msgspec.MsgspecError, UnicodeError) as error:
        reason = str(error)
    if not text.strip():
        report("json-empty", "an empty script or document")
        return []
    repaired = None
    if not strict and len(text) <= _MAX_REPAIR_CHARS:
        repaired = repair_json(text, max_depth)
    if repaired is None:
        report("json-invalid", f"not JSON, and not plain what was meant: {reason}: {text.strip()[:80]!r}")
        return []
    how = f"after a repair of {', '.join(repaired.notes)}" if repaired.notes else "in part"
    lost = f"; left out as unclear: {', '.join(repaired.lost)}" if repaired.lost else ""
    report("json-repaired", f"broken JSON was read {how}{lost}")
    return repaired.values


def to_quads(document: Any, features: DocumentFeatures, out: Statements, options: JsonLdOptions) -> Iterator[Quad]:
    """JSON-LD 1.1 API, deserialise to RDF, by the processor that suits the features of the document.

    Base, limits and documents are those of `out`, to which problems and the estimated cost are added, but no statement.
    """
    encoded = msgspec.json.encode(document)
    words = sorted({word.decode() for word in _WORDS.findall(encoded)}) if b"schema.org" in encoded else []
    schemaorg = schemaorg_context(words, own_vocabulary=b'"@vocab"' in encoded)
    # An @context inside a JSON literal is no context; only expansion can tell the difference.
    json_literals = b'"@json"' in encoded and len(features.holders) > 1
    load_context = _bound_loader(schemaorg, out)
    if json_literals:
        contexts = [holder["@context"] for holder in features.holders]
    else:
        contexts = _load_contexts(features, load_context, out)
    used = analyse_contexts(contexts)
    try:
        longest = measure_iris(used, features, out.config.max_iri_chars)
        steps = count_steps(features, used, longest)
        small = features.values <= _MAX_PYLD_VALUES and steps <= _MAX_PYLD_STEPS
        by_pyld = (
            json_literals
            or (small and features.large_number)
            or _needs_pyld(encoded, features, used, out.base, options)
        )
        if by_pyld and not small:
            raise ContextError("jsonld-too-large", f"{features.values} values, too many for what they use")
        cost_ns = estimate_cost(features, used, steps, longest, out.base, by_pyld)
        if features.values * len(encoded) > _UNCOUNTED_CHARS:
            cost_ns += count_repeated(document, used, encoded) * LONG_CHAR_NS
        if not spend(out, cost_ns):
            raise ContextError("jsonld-too-large", f"{features.values} values with {steps} terms would take too long")
        if by_pyld:
            measured = _measure_loaded(load_context, features, out)
            dataset = to_dataset(document, options.api_options(out.base), measured)
            quads = dataset_quads(dataset, lenient=not options.strict, report=out.problem)
    except ContextError as error:
        out.problem(error.code, str(error))
        return
    if not by_pyld:
        for holder, context in zip(features.holders, contexts, strict=True):
            holder["@context"] = context
        encoded = msgspec.json.encode(document) if features.holders else encoded
        # Lenient parsing keeps IRIs that can be repaired, but also the values of terms that no context defines.
        lenient = not options.strict and _defines_all_keys(document, features, used)
        quads = _parse(encoded, out, lenient=lenient)
    yield from quads


def _extract_value(document: Any, out: Statements, options: JsonLdOptions) -> None:
    features = analyse_document(document, out.config.max_depth)
    if features.depth > out.config.max_depth:
        out.problem("json-too-deep", f"JSON nested deeper than {out.config.max_depth} was not read")
        return
    roots = plain_roots(document, features)
    if roots is None and not options.strict and _repair_contexts(document, features, out.problem):
        roots = plain_roots(document, features)
    if roots is not None:
        write_plain(roots, out)
        return
    if not features.keys:
        return
    if not features.holders and not options.strict and not _has_absolute_names(document, features):
        out.problem("context-missing", "without an @context, the terms of a document have no meaning")
        return
    # Labels of blank nodes are shared by all scripts of a page, which are one document (JSON-LD 1.1, 7.3).
    out.add_parsed(to_quads(document, features, out, options))


def _is_jsonld(script: Element) -> bool:
    kind = script.attr("type")
    return kind is not None and kind.partition(";")[0].strip().lower() == _MEDIA_TYPE


def _has_absolute_names(document: Any, features: DocumentFeatures) -> bool:
    """Whether a document without a context uses IRIs for its properties, or for the types of what it describes."""
    if any(":" in key for key in features.keys):
        return True
    return any(isinstance(root, dict) and ":" in str(root.get("@type")) for root in _list(document))


def _repair_contexts(document: Any, features: DocumentFeatures, report: Report) -> bool:
    """Repair contexts with obvious misspellings; whether there were any."""
    notes: list[str] = []
    if not features.holders:
        for root in _list(document):
            if isinstance(root, dict) and (note := repair_root(root)):
                features.holders.append(root)
                notes.append(note)
    for holder in features.holders:
        holder["@context"], repairs = repair_context(holder["@context"])
        notes += repairs
    for note in notes:
        report("context-repaired", note)
    return bool(notes)


def _load_contexts(features: DocumentFeatures, load_context: ContextLoader, out: Statements) -> list[Any]:
    """The contexts of all objects that have one. An object whose context is missing loses its content."""
    contexts = []
    # A relative reference against a base of unusual length finds no context, and resolving it would take long.
    near = out.base if len(out.base) <= USUAL_CHARS else ""
    for holder in features.holders:
        try:
            context = holder["@context"]
            inlined = inline_context(context, near, load_context)
            contexts.append(inlined[0] if len(inlined) == 1 and not isinstance(context, list) else inlined)
        except ContextError as error:
            out.problem(error.code, str(error))
            holder.clear()
            holder["@context"] = {}
            contexts.append([])
    return contexts


def _bound_loader(schemaorg: dict[str, Any], out: Statements) -> ContextLoader:
    """A loader of contexts within the page's budget: contexts that refer to each other repeatedly multiply."""

    def find_document(url: str) -> bytes | None:
        found = out.config.documents(url) if out.config.documents is not None else None
        if found is None and len(out.missing_documents) < _MAX_MISSING_DOCUMENTS:
            out.missing_documents.append(url)
        return found

    load_context = context_loader(schemaorg, find_document)

    def load_bounded(reference: str) -> Any:
        if len(reference) > _MAX_REFERENCE_CHARS:
            raise ContextError("context-unknown", f"no context has a name so long: {reference[:200]}")
        context = load_context(reference)
        if not spend(out, estimate_loading(context)):
            raise ContextError("context-too-large", "contexts are named too often")
        return context

    return load_bounded


def _measure_loaded(load_context: ContextLoader, features: DocumentFeatures, out: Statements) -> ContextLoader:
    """The same loader for PyLD, which loads contexts that were not analysed before: they are measured when loaded."""

    def load_measured(reference: str) -> Any:
        context = load_context(reference)
        used = analyse_contexts([context])
        longest = measure_iris(used, features, out.config.max_iri_chars)
        chars = features.values * max(0, longest - USUAL_CHARS)
        if not spend(out, used.terms * PYLD_TERM_NS + chars * PYLD_CHAR_NS):
            raise ContextError("context-too-large", f"{used.terms} terms of {reference[:200]} would take too long")
        return context

    return load_measured


def _needs_pyld(
    encoded: bytes, features: DocumentFeatures, used: ContextFeatures, base: str, options: JsonLdOptions
) -> bool:
    """Whether the document uses a feature that pyoxigraph lacks, or in which it deviates from the specification."""
    asked = options.rdf_direction or options.generalized or options.expand_context is not None
    if asked or options.processing_mode != "json-ld-1.1":
        return True
    if "@direction" in features.keys or "@direction" in used.keys:
        return True
    if "@import" in used.keys or used.scoped_names:
        return True
    if used.type_maps and "@context" in used.keys:
        return True
    # pyoxigraph keeps dot segments in the base and after a host.
    if "/." in base or any("/." in used_base or not is_valid_iri(used_base) for used_base in used.bases):
        return True
    return _DOTTED_AUTHORITY.search(encoded) is not None


def _defines_all_keys(document: Any, features: DocumentFeatures, used: ContextFeatures) -> bool:
    """Whether every key of the document certainly has a meaning: by a default vocabulary, or by its own definition."""
    if used.unmapped:
        return False
    if all(key[:1] == "@" or ":" in key or key in used.keys for key in features.keys):
        return True
    return all(isinstance(root, dict) and _sets_vocabulary(root.get("@context")) for root in _list(document))


def _sets_vocabulary(context: Any) -> bool:
    return any(isinstance(part, dict) and "@vocab" in part for part in _list(context))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _parse(encoded: bytes, out: Statements, *, lenient: bool) -> Iterator[Quad]:
    """The quads that pyoxigraph finds; after an error, it continues."""
    base = valid_iri(out.base)
    quads = pyoxigraph.parse(encoded, RdfFormat.JSON_LD, base_iri=base.value if base else None, lenient=lenient)
    errors: list[str] = []
    while len(errors) < _MAX_ERRORS:
        try:
            yield next(quads)
        except StopIteration:
            break
        except SyntaxError as error:
            errors.append(_UNORDERED.sub(r"\1", str(error)[:_MAX_ERROR_CHARS]))
    # Sorted, because pyoxigraph defines the terms of a context in no fixed order.
    for message in sorted(errors):
        out.problem("jsonld-error", message)
