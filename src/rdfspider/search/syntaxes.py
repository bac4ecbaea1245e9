"""Values with their sources in, the same with the very syntaxes in which each page states them out; and what two syntaxes of a
page contradict each other about.

The index knows in which syntaxes a page speaks, not which of them states what. One syntax leaves no question; the name of a blank
node tells its syntax; for the rest the page's statements are read again, of a few pages, where they are on record.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import pyoxigraph
from pyoxigraph import Literal, RdfFormat

from rdfspider.extract.statements import blank_prefix
from rdfspider.index.terms import GENID, Fold
from rdfspider.search.conflicts import SINGLE, Voice, judge_values
from rdfspider.search.entity import Entity, Property
from rdfspider.search.sayings import Saying
from rdfspider.search.sources import Source
from rdfspider.search.values import Value, describe_literal

ReadStatements = Callable[[str], Mapping[str, str] | None]
"""The URL of a page in, its statements by syntax out; None where they are not on record."""

_PAGES_OF_ENTITY, _PAGES_OF_SAYINGS = 5, 20
_PAGE_CHARS = 1 << 20
_TERMS_COMPARED = 500


def tell_entity_syntaxes(entity: Entity, read_statements: ReadStatements) -> Entity:
    """An entity whose sources have the very syntaxes of each value, as far as a few pages tell."""
    reader = _Reader(read_statements, entity.nodes, _PAGES_OF_ENTITY)
    return replace(entity, properties={iri: _tell_property(reader, each) for iri, each in entity.properties.items()})


def _tell_property(reader: "_Reader", found: Property) -> Property:
    values = tuple(
        replace(value, sources=tuple(reader.tell(source, found.iri, value) for source in value.sources))
        for value in found.values
    )
    # A page of which one value is not told may state it in any syntax: then it speaks with one voice.
    untold = {source.page for value in values for source in value.sources if not source.is_exact}
    stated = [
        (value, [voice for source in value.sources for voice in _list_voices(source, untold)]) for value in values
    ]
    # By pages it was judged before, of all sources; the sites that say so are not all among these.
    is_single = not found.conflict and len(values) > 1 and judge_values(found.iri, stated) == SINGLE
    return replace(found, values=values, conflict=SINGLE if is_single else found.conflict)


def _list_voices(source: Source, untold: Collection[str]) -> list[Voice]:
    syntaxes = ("",) if source.page in untold else source.syntaxes
    return [(source.page, syntax) for syntax in syntaxes]


def tell_saying_syntaxes(
    sayings: Sequence[Saying], predicate: str, nodes: Collection[str], read_statements: ReadStatements
) -> list[Saying]:
    """The same for who says one property."""
    reader = _Reader(read_statements, nodes, _PAGES_OF_SAYINGS)
    return [replace(saying, source=reader.tell(saying.source, predicate, saying.value)) for saying in sayings]


def read_texts(statements: Mapping[str, str], page: str, node: str, predicate: str) -> dict[str, list[str]]:
    """What a page states of a property of a node, by syntax: texts and IRIs, as far as a page is not too long."""
    reader = _Reader(lambda url: statements, [node], 1)
    found = reader.read(page).get(f"<{predicate}>", {})
    return {syntax: [_read_text(term) for term in terms[:_TERMS_COMPARED]] for syntax, terms in found.items()}


class _Reader:
    """The statements of a few pages about some nodes."""

    def __init__(self, read_statements: ReadStatements, nodes: Collection[str], pages: int) -> None:
        self._read_statements = read_statements
        self._subjects = {f"<{node}>" for node in nodes}
        self._pages_left = pages
        self._stated: dict[str, dict[str, dict[str, list[str]]]] = {}

    def tell(self, source: Source, predicate: str, value: Value) -> Source:
        """The source with the syntaxes that state a value; as it is where nobody knows."""
        if source.is_exact or not source.syntaxes:
            return source
        if named := _tell_by_name(source, value):
            return replace(source, syntaxes=(named,), is_exact=True)
        by_syntax = self.read(source.page).get(f"<{predicate}>", {})
        found = tuple(syntax for syntax, terms in by_syntax.items() if _has(terms, value))
        # Blank nodes of two syntaxes cannot be told apart by what they are called here.
        is_exact = bool(found) and (value.kind != "blank" or len(found) == 1)
        return replace(source, syntaxes=found, is_exact=True) if is_exact else source

    def read(self, page: str) -> dict[str, dict[str, list[str]]]:
        """The objects that a page states of the nodes, by property and syntax."""
        if page not in self._stated:
            if not self._pages_left:
                return {}
            self._pages_left -= 1
            found: dict[str, dict[str, list[str]]] = {}
            statements = self._read_statements(page) or {}
            fold = Fold(statements, page)
            if sum(map(len, statements.values())) <= _PAGE_CHARS:
                for syntax, nquads in statements.items():
                    for subject, predicate, term in fold.read(nquads):
                        if subject in self._subjects:
                            found.setdefault(predicate, {}).setdefault(syntax, []).append(term)
            self._stated[page] = found
        return self._stated[page]


def _tell_by_name(source: Source, value: Value) -> str:
    """Blank nodes are named from their page and syntax."""
    for syntax in source.syntaxes if value.kind == "blank" else ():
        if value.text.startswith(f"{GENID}{blank_prefix(source.page, syntax)[3:-1]}/"):
            return syntax
    return ""


def _has(terms: Sequence[str], value: Value) -> bool:
    """Whether one of these terms, as a page wrote them, is the value: the store may write it with other escapes."""
    if value.kind == "blank":
        return any(term.startswith(f"<{GENID}") for term in terms)
    if value.kind == "iri":
        return f"<{value.text}>" in terms
    wanted = Value(value.text, language=value.language, datatype=value.datatype)
    return any(_read_literal(term) == wanted for term in terms[:_TERMS_COMPARED] if term.startswith('"'))


def _read_text(term: str) -> str:
    if term.startswith("<"):
        return term[1:-1]
    found = _read_literal(term)
    return found.text if found else term


def _read_literal(term: str) -> Value | None:
    try:
        found = next(iter(pyoxigraph.parse(f"<urn:s> <urn:p> {term} .", RdfFormat.N_TRIPLES))).object
    except SyntaxError:
        return None
    return describe_literal(found) if isinstance(found, Literal) else None
