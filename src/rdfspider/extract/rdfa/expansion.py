"""Vocabulary expansion (RDFa Core 1.1, section 10) and property copying (HTML+RDFa 1.1, section 3.5).

Triples and the vocabularies that a page uses enter; the triples that follow from sub- and equivalent properties and
classes leave. Vocabularies come from `config.documents`: Turtle, RDF/XML, or HTML with RDFa.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

import pyoxigraph
from pyoxigraph import NamedNode, RdfFormat

from rdfspider.extract.statements import Statements
from rdfspider.vocabulary.prefixes import PREFIXES, RDFA, RDFS
from rdfspider.vocabulary.terms import RDF_TYPE_TERM, Triple

COPY = f"<{RDFA}copy>"
PATTERN = f"<{RDFA}Pattern>"

RdfaReader = Callable[[str, str], list[Triple]]

_SUB_PROPERTY = f"<{RDFS}subPropertyOf>"
_SUB_CLASS = f"<{RDFS}subClassOf>"
_SAME_PROPERTY = f"<{PREFIXES['owl']}equivalentProperty>"
_SAME_CLASS = f"<{PREFIXES['owl']}equivalentClass>"
_RELATIONS = frozenset({_SUB_PROPERTY, _SUB_CLASS, _SAME_PROPERTY, _SAME_CLASS})

# schema.org, one of the largest vocabularies, has 1 MB in Turtle and 2,500 terms, with up to 9 broader ones.
_MAX_VOCABULARIES = 16
_MAX_VOCABULARY_BYTES = 4 * 1024 * 1024
_MAX_BROADER = 256


class _Broader:
    """The broader terms of each term in one vocabulary, by one step."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.properties: dict[str, list[str]] = {}
        self.classes: dict[str, list[str]] = {}
        for s, p, o in triples:
            if p in (_SUB_PROPERTY, _SAME_PROPERTY):
                self.properties.setdefault(s, []).append(o)
            elif p in (_SUB_CLASS, _SAME_CLASS):
                self.classes.setdefault(s, []).append(o)
            if p == _SAME_PROPERTY:
                self.properties.setdefault(o, []).append(s)
            elif p == _SAME_CLASS:
                self.classes.setdefault(o, []).append(s)


def expand_vocabularies(
    triples: list[Triple], vocabularies: Iterable[str], out: Statements, read_rdfa: RdfaReader
) -> list[Triple]:
    """The new triples that follow (10.1.1), in order; `read_rdfa` reads vocabularies in HTML."""
    found = [broader for url in list(vocabularies)[:_MAX_VOCABULARIES] if (broader := _load(url, out, read_rdfa))]
    if not found:
        return []
    properties: dict[str, list[str]] = {}
    classes: dict[str, list[str]] = {}
    known = set(triples)
    new: dict[Triple, None] = {}
    for s, p, o in triples:
        if p not in properties:
            properties[p] = _all_broader(p, [broader.properties for broader in found])
        new.update(((s, wider, o), None) for wider in properties[p])
        if p == RDF_TYPE_TERM:
            if o not in classes:
                classes[o] = _all_broader(o, [broader.classes for broader in found])
            new.update(((s, RDF_TYPE_TERM, wider), None) for wider in classes[o])
        if len(new) > out.config.max_quads:
            break
    return [triple for triple in new if triple not in known]


def copy_patterns(triples: list[Triple], max_triples: int) -> list[Triple]:
    """The triples with the properties of patterns copied; patterns may form cycles. Stops at `max_triples`."""
    patterns = {s for s, p, o in triples if p == RDF_TYPE_TERM and o == PATTERN}
    references = {o for s, p, o in triples if p == COPY} & patterns
    if not references:
        return triples
    own: dict[str, list[tuple[str, str]]] = {pattern: [] for pattern in references}
    copied_patterns: dict[str, dict[str, None]] = {pattern: {} for pattern in references}
    for s, p, o in triples:
        if s in own:
            if p == COPY and o in own:
                copied_patterns[s][o] = None
            elif (p, o) != (RDF_TYPE_TERM, PATTERN):
                own[s].append((p, o))
    copied: list[Triple] = []
    steps = 0
    for s, p, o in triples:
        if s in own:
            continue
        if p != COPY or o not in own:
            copied.append((s, p, o))
            continue
        for pattern in _reachable(o, copied_patterns):
            steps += 1
            copied.extend((s, p, o) for p, o in own[pattern])
            if len(copied) + steps > max_triples:
                return copied
    return copied


def _all_broader(term: str, steps: list[dict[str, list[str]]]) -> list[str]:
    """The broader terms of a term, by any number of steps, nearest first."""
    found = {term: None}
    todo = [term]
    for current in todo:
        for step in steps:
            for wider in step.get(current, ()):
                if wider not in found and wider[0] == "<" and len(found) <= _MAX_BROADER:
                    found[wider] = None
                    todo.append(wider)
    return todo[1:]


def _load(url: str, out: Statements, read_rdfa: RdfaReader) -> _Broader | None:
    body = out.config.documents(url) if out.config.documents is not None else None
    if body is None:
        out.problem("vocabulary-missing", f"no document was supplied for the vocabulary {url[:200]}")
        return None
    if len(body) > _MAX_VOCABULARY_BYTES:
        out.problem("vocabulary-too-long", f"{url[:200]} has {len(body)} bytes")
        return None
    try:
        return _parse(body, url, read_rdfa)
    except (ValueError, SyntaxError, UnicodeError) as error:
        out.problem("vocabulary-unreadable", f"{url[:200]}: {error}")
        return None


@lru_cache(maxsize=16)
def _parse(body: bytes, url: str, read_rdfa: RdfaReader) -> _Broader:
    """Parse a vocabulary by its first bytes: RDF/XML, HTML, or else Turtle, which includes N-Triples."""
    start = body[:2048].lower()
    if b"<rdf:rdf" in start:
        if b"<!ENTITY" in body:
            raise ValueError("it declares entities, which may never end")
        return _Broader(_parsed(body, RdfFormat.RDF_XML, url))
    if b"<html" in start or b"<!doctype html" in start:
        return _Broader(read_rdfa(body.decode("utf-8", "replace"), url))
    return _Broader(_parsed(body, RdfFormat.TURTLE, url))


def _parsed(body: bytes, rdf_format: RdfFormat, url: str) -> Iterable[Triple]:
    for quad in pyoxigraph.parse(body, rdf_format, base_iri=url):
        predicate = str(quad.predicate)
        if predicate in _RELATIONS and isinstance(quad.subject, NamedNode) and isinstance(quad.object, NamedNode):
            yield str(quad.subject), predicate, str(quad.object)


def _reachable(start: str, copied_patterns: dict[str, dict[str, None]]) -> Iterator[str]:
    """A pattern and the patterns that it copies from in turn, each once, nearest first."""
    found = {start}
    todo = deque([start])
    while todo:
        pattern = todo.popleft()
        yield pattern
        for other in copied_patterns[pattern]:
            if other not in found:
                found.add(other)
                todo.append(other)
