"""One row a thing: the selected entities enter, rows of a table leave, with a column for each property or path of properties.

An entity that several pages describe is one row, also if it has only blank nodes or several IRIs: the ledger knows which of
them are one. Entities and their nodes are listed on disk, and rows are read one after the other, so memory does not grow
with their number. Values come from the merge of all pages, or, if pages are selected, from what these state.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, groupby, islice
from math import inf
from operator import itemgetter

from pyoxigraph import DefaultGraph, Literal, NamedNode, Store

from rdfspider.errors import RdfspiderError, UsageError
from rdfspider.formats import SeveralValues
from rdfspider.index.entities.contributions import find_entity
from rdfspider.index.ledger.reader import LedgerReader, PageEntry
from rdfspider.index.quads.provenance import URL
from rdfspider.index.quads.selection import MERGE, RDF_TYPE_NODE, Selection, list_things
from rdfspider.search.name_lookup import find_properties, list_properties
from rdfspider.search.page_order import PageOrder
from rdfspider.vocabulary.labels import LABELS, RDF_TYPE, clean_label, decode_references
from rdfspider.vocabulary.names import shorten_iri, split_iri
from rdfspider.vocabulary.prefixes import RDF
from rdfspider.vocabulary.terms import FETCHES_GRAPH, GENID, make_graph_iri, restore_term

Row = tuple[str | None, ...]
"""The texts of a row; None where the thing has no value."""
ID, TYPE, PAGE = "id", "type", "page"
"""Columns that are no properties: the thing's IRI, its classes, and the pages that describe it."""
MAX_COLUMNS = 200

_SAMPLE = 300
_PROPOSED = 20
_PROPOSED_A_PROPERTY = 3
_LEAST_SHARE = 0.1
_MAX_VALUES = 500
"""Values of one cell; a review page has some hundred."""
_MAX_STATEMENTS = 200
_MAX_STEPS = 8
_MAX_MEMBERS = 200
"""Nodes of one thing besides those of the selected classes."""
_ENTITIES_A_PAGE = 5_000
_FIRST, _REST = NamedNode(f"{RDF}first"), NamedNode(f"{RDF}rest")
_URL, _FETCHES = NamedNode(URL), NamedNode(FETCHES_GRAPH)
_STEP = re.compile(r"(?:<[^>]*>|[^.])+")
_Node = NamedNode | Literal


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table."""

    name: str
    steps: tuple[frozenset[str], ...] = ()
    """The properties that lead to its values, for each step those that the name may mean; none for `id`, `type` and `page`."""


@dataclass(frozen=True, slots=True)
class Several:
    """What becomes of several values in one cell."""

    form: SeveralValues = SeveralValues.JOIN
    separator: str = " | "


JOINED = Several()
"""The usual way: one row a thing."""


def make_several(form: str, separator: str = JOINED.separator) -> Several:
    """The treatment of several values that is called `join` or `rows`."""
    if form not in list(SeveralValues):
        raise UsageError(f"several values: {form!r} is not one of {', '.join(SeveralValues)}")
    return Several(SeveralValues(form), separator)


def make_columns(store: Store, ledger: LedgerReader, selection: Selection, names: Sequence[str]) -> list[Column]:
    """The columns of these names, such as `name` or `offers.price`; without any, those that things of the classes usually have.
    Raise UsageError for a property that no page uses."""
    asked = list(dict.fromkeys(name.strip() for name in names if name.strip()))
    if len(asked) > MAX_COLUMNS:
        raise UsageError(f"{len(asked)} columns are too many: name at most {MAX_COLUMNS}")
    if not asked:
        asked = [ID, TYPE, *propose_columns(store, selection), PAGE]
    used = list_properties(ledger)
    return [
        Column(name) if name in (ID, TYPE, PAGE) else Column(name, _read_steps(ledger, name, used)) for name in asked
    ]


def propose_columns(store: Store, selection: Selection) -> list[str]:
    """The properties that the first things of the selected classes have most, and those of the things that they point to."""
    counts: Counter[tuple[str, ...]] = Counter()
    found = chain.from_iterable(
        store.quads_for_pattern(None, RDF_TYPE_NODE, NamedNode(iri), MERGE) for iri in sorted(selection.types or ())
    )
    nodes = dict.fromkeys(quad.subject for quad in islice(found, _SAMPLE) if isinstance(quad.subject, NamedNode))
    for node in nodes:
        counts.update(path for path in _list_paths(store, node) if all(map(selection.takes_property, path)))
    ranked = sorted(counts.items(), key=lambda item: (item[0][-1] not in LABELS or len(item[0]) > 1, -item[1], item[0]))
    names: dict[str, None] = {}
    nested: Counter[str] = Counter()
    for path, count in ranked:
        first = split_iri(path[0])[1]
        nested[first] += len(path) > 1
        if count >= _LEAST_SHARE * len(nodes) and (len(path) == 1 or nested[first] <= _PROPOSED_A_PROPERTY):
            names[".".join(split_iri(iri)[1] for iri in path)] = None
    return [name for name in names if _STEP.findall(name)][:_PROPOSED]


def read_things(
    store: Store,
    ledger: LedgerReader,
    selection: Selection,
    columns: Sequence[Column],
    several: Several,
    order: PageOrder,
    takes: Callable[[str, NamedNode, NamedNode, _Node], bool] | None = None,
) -> Iterator[Row]:
    """The rows of all selected entities, by page. `takes` says which statements of which pages count."""
    by_page = selection.limits_pages or takes is not None
    for entity, found in _group_members(store, ledger, selection):
        own = [member for member in found if takes is None or _is_taken(store, *member, takes)]
        if not own:
            continue
        members = [*own, *_list_others(ledger, selection, entity, found)]
        reader = _Reader(store, order, [page for page, _ in members], takes, by_page=by_page)
        thing = _Thing(entity, _list_pages(members), _list_nodes(own), _list_nodes(members[len(own) :]))
        cells = [_read_cell(reader, thing, column) for column in columns]
        yield from _make_rows(cells, several)


def find_entry(store: Store, ledger: LedgerReader, graph: str) -> PageEntry | None:
    """The ledger's entry of the page with this graph; None if it has none."""
    if entry := ledger.find_page(graph):
        return entry
    fact = next(iter(store.quads_for_pattern(NamedNode(graph), _URL, None, _FETCHES)), None)
    return ledger.find_page(fact.object.value) if fact and isinstance(fact.object, Literal) else None


def _is_taken(store: Store, page: str, node: str, takes: Callable[[str, NamedNode, NamedNode, _Node], bool]) -> bool:
    """Whether a page has a statement about a node that counts."""
    quads = islice(store.quads_for_pattern(NamedNode(node), None, None, NamedNode(page)), _MAX_STATEMENTS)
    return any(
        takes(page, quad.subject, quad.predicate, quad.object)
        for quad in quads
        if isinstance(quad.subject, NamedNode) and isinstance(quad.object, NamedNode | Literal)
    )


class _Reader:
    """Reads what counts of a thing's statements."""

    def __init__(
        self,
        store: Store,
        order: PageOrder,
        pages: Sequence[str],
        takes: Callable[[str, NamedNode, NamedNode, _Node], bool] | None,
        *,
        by_page: bool,
    ) -> None:
        """`pages` describe the thing; if not `by_page`, all pages count. The first one gives the order of values."""
        self._store = store
        self._order = order
        self._first = pages[0]
        self._graphs: list[NamedNode | DefaultGraph] = (
            [NamedNode(page) for page in dict.fromkeys(pages)] if by_page else [MERGE]
        )
        self._takes = takes

    def list_objects(self, node: NamedNode, predicates: Iterable[str]) -> list[_Node]:
        """The values of a node, in the order of its page where that is known; lists are taken apart."""
        ordered: list[_Node] = []
        for predicate in sorted(predicates):
            name = NamedNode(predicate)
            found: dict[_Node, None] = {}
            for graph in self._graphs:
                for quad in islice(self._store.quads_for_pattern(node, name, None, graph), _MAX_VALUES):
                    value = quad.object
                    if not isinstance(value, NamedNode | Literal):
                        continue
                    if self._takes is None or self._takes(str(graph)[1:-1], node, name, value):
                        found[value] = None
            ordered += self._sort_values(node, predicate, found)
        return list(dict.fromkeys(item for value in ordered for item in self._list_items(value)))[:_MAX_VALUES]

    def _sort_values(self, node: NamedNode, predicate: str, values: Collection[_Node]) -> list[_Node]:
        """Sort values as the page has them; those of other pages follow, blank nodes by number, then the rest by text."""
        if len(values) < 2:
            return list(values)
        places = self._order.find_places(self._first, node.value, predicate)

        def rank(value: _Node) -> tuple[float, tuple[bool, str, int, str]]:
            language = value.language or "" if isinstance(value, Literal) else ""
            return places.get((value.value, language), inf), _order(value)

        return sorted(values, key=rank)

    def name(self, value: _Node) -> str | None:
        """The text of a value: a literal's, an IRI itself, a blank node's label."""
        if isinstance(value, Literal):
            return decode_references(value.value).strip() or None
        if not value.value.startswith(GENID):
            return value.value
        quads = islice(self._store.quads_for_pattern(value, None, None, MERGE), _MAX_STATEMENTS)
        labels = [
            (LABELS[quad.predicate.value], quad.object.value)
            for quad in quads
            if quad.predicate.value in LABELS and isinstance(quad.object, Literal)
        ]
        return clean_label(min(labels)[1]) or None if labels else None

    def _list_items(self, value: _Node) -> list[_Node]:
        """The items of a list; any other value itself."""
        if isinstance(value, Literal) or not value.value.startswith(GENID):
            return [value]
        items: list[_Node] = []
        node: object = value
        while isinstance(node, NamedNode) and len(items) < _MAX_VALUES:
            first = next(iter(self._store.quads_for_pattern(node, _FIRST, None, MERGE)), None)
            if first is None:
                break
            if isinstance(first.object, NamedNode | Literal):
                items.append(first.object)
            rest = next(iter(self._store.quads_for_pattern(node, _REST, None, MERGE)), None)
            node = rest.object if rest else None
        return items or [value]


def _read_steps(ledger: LedgerReader, name: str, used: Collection[str]) -> tuple[frozenset[str], ...]:
    steps = _STEP.findall(name)
    if not steps:
        raise UsageError(f"column {name[:100]!r} names no property: name one, as in name or offers.price")
    if len(steps) > _MAX_STEPS:
        raise UsageError(f"column {name[:100]!r} has {len(steps)} steps: at most {_MAX_STEPS} are followed")
    return tuple(find_properties(ledger, step, used) for step in steps)


def _list_paths(store: Store, node: NamedNode) -> set[tuple[str, ...]]:
    """The properties of a node, with those of the nodes that they point to."""
    paths: set[tuple[str, ...]] = set()
    for quad in islice(store.quads_for_pattern(node, None, None, MERGE), _MAX_STATEMENTS):
        predicate = quad.predicate.value
        if predicate == RDF_TYPE:
            continue
        inner = (
            {
                each.predicate.value
                for each in islice(store.quads_for_pattern(quad.object, None, None, MERGE), _MAX_STATEMENTS)
                if isinstance(each.object, Literal)
            }
            if isinstance(quad.object, NamedNode)
            else set()
        )
        paths |= {(predicate, name) for name in inner} or {(predicate,)}
    return paths


def _group_members(
    store: Store, ledger: LedgerReader, selection: Selection
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each entity with the pages and nodes of the selected classes that describe it. Things of one page follow each other."""
    # A database without a name is a temporary file that SQLite deletes when it is closed.
    with closing(sqlite3.connect("", isolation_level=None)) as notes:
        try:
            notes.execute("BEGIN")
            notes.execute("CREATE TABLE members (thing BLOB, entity TEXT, page TEXT, node TEXT)")
            for page, nodes in list_things(store, selection):
                names = _find_entities(store, ledger, page) if any(map(_is_blank, nodes)) else {}
                rows = [(names.get(node) or restore_term(f"<{node}>").strip("<>"), page, node) for node in nodes]
                things = (ledger.find_canonical(find_entity(row[0]) or b"") for row in rows)
                notes.executemany(
                    "INSERT INTO members VALUES (?, ?, ?, ?)",
                    ((thing, *row) for thing, row in zip(things, rows, strict=True)),
                )
            found = notes.execute(
                "SELECT DISTINCT thing, page, node, entity, min(page) OVER (PARTITION BY thing) AS first FROM members"
                " ORDER BY first, thing, page, node"
            )
            for _, group in groupby(found, key=itemgetter(0)):
                members = list(group)
                name = next(iter(ledger.find_whole(members[0][3])), members[0][3])
                yield name, [(each[1], each[2]) for each in members]
        except sqlite3.Error as error:
            raise RdfspiderError(
                f"what was found could not be noted in the folder for temporary files: {error}"
            ) from error


@dataclass(frozen=True, slots=True)
class _Thing:
    """A thing of the table."""

    entity: str
    pages: Sequence[str]
    own: Sequence[NamedNode]
    """Its nodes of the selected classes."""
    others: Sequence[NamedNode]
    """Its nodes of other classes: what they say counts where the first say nothing."""


def _list_pages(members: Iterable[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys(page for page, _ in members))


def _list_nodes(members: Iterable[tuple[str, str]]) -> list[NamedNode]:
    return [NamedNode(node) for node in dict.fromkeys(node for _, node in members)]


def _list_others(
    ledger: LedgerReader, selection: Selection, entity: str, known: Collection[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The other pages and nodes of a thing, which give it other classes."""
    found = (
        (make_graph_iri(url), node)
        for each in ledger.find_whole(entity)[:_MAX_MEMBERS]
        for url, node in ledger.find_members(each, _MAX_MEMBERS)
    )
    others = dict.fromkeys(pair for pair in found if pair not in known and selection.takes_page(pair[0]))
    return list(others)[:_MAX_MEMBERS]


def _find_entities(store: Store, ledger: LedgerReader, graph: str) -> dict[str, str]:
    """The entities that a page's nodes describe; nodes without a label describe none."""
    entry = find_entry(store, ledger, graph)
    found = ledger.list_page_entities(entry, _ENTITIES_A_PAGE) if entry else []
    return {node: entity for entity, nodes in found for node in nodes}


def _read_cell(reader: _Reader, thing: _Thing, column: Column) -> list[str | None]:
    """The values of a cell."""
    if column.name == ID and not column.steps:
        return [thing.entity]
    if column.name == PAGE and not column.steps:
        return list(thing.pages)
    if column.name == TYPE and not column.steps:
        types = (value for node in (*thing.own, *thing.others) for value in reader.list_objects(node, (RDF_TYPE,)))
        return list(dict.fromkeys(shorten_iri(value.value) for value in types))
    values = _follow_path(reader, thing.own, column.steps)
    return values if any(values) or not thing.others else _follow_path(reader, thing.others, column.steps)


def _follow_path(reader: _Reader, nodes: Sequence[NamedNode], steps: Sequence[frozenset[str]]) -> list[str | None]:
    """The texts at the end of a path. A node on the way without the last property gives None, so that columns stay side by
    side."""
    current = nodes
    for step in steps[:-1]:
        below = (value for node in current for value in reader.list_objects(node, step))
        current = list(dict.fromkeys(value for value in below if isinstance(value, NamedNode)))[:_MAX_VALUES]
    values: list[str | None] = []
    for node in current[:_MAX_VALUES]:
        texts = [text for value in reader.list_objects(node, steps[-1]) if (text := reader.name(value))]
        values += dict.fromkeys(texts) if texts else [None]
    return list(dict.fromkeys(values)) if len(steps) == 1 else values


def _make_rows(cells: Sequence[Sequence[str | None]], several: Several) -> Iterator[Row]:
    if several.form == SeveralValues.JOIN:
        texts = ([text for text in dict.fromkeys(cell) if text] for cell in cells)
        yield tuple(several.separator.join(cell) or None for cell in texts)
        return
    kept = [cell if any(cell) else () for cell in cells]
    kept = [[text for text in cell if text] if sum(map(bool, cell)) == 1 else cell for cell in kept]
    for at in range(max(map(len, kept), default=0)):
        yield tuple(
            (cell[0] if len(cell) == 1 else cell[at] if at < len(cell) else None) if cell else None for cell in kept
        )


def _is_blank(node: str) -> bool:
    return node.startswith(GENID)


def _order(value: _Node) -> tuple[bool, str, int, str]:
    """Blank nodes in the order of their pages, then the rest by text."""
    if isinstance(value, NamedNode) and value.value.startswith(GENID):
        page, _, number = value.value.rpartition("/n")
        return False, page, int(number) if number.isdecimal() else 0, value.value
    return True, "", 0, value.value
