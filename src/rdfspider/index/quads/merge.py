"""Brings the graphs of pages, and the merge of all graphs, up to date: the newest outcomes of pages enter, changes leave.

At every instant the default graph holds exactly the triples of all pages' graphs: each addition or removal happens in both in
the same transaction (an update, or the single ingestion of a bulk load). The facts of a page, with the stamp of its outcome,
come last. So after `kill -9` the store is a correct merge of some old and some new versions of pages; an outcome whose facts
are missing is taken again, and the difference to the page's graph is what remains to be done, even if a newer outcome of the
page comes instead.
"""

import logging
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyoxigraph
from pyoxigraph import DefaultGraph, Literal, NamedNode, RdfFormat, Store
from xxhash import xxh3_128_hexdigest

from rdfspider.archive.outcomes import NEVER, Effect, Outcome, OutcomeStamp, make_stamp, parse_stamp
from rdfspider.index.quads.provenance import (
    CONTENT,
    DUE,
    URL,
    VISIT,
    describe_content,
    describe_due,
    describe_visit,
    end_visit,
    is_of_visit,
    read_content,
    read_due,
)
from rdfspider.vocabulary.terms import CURSORS_GRAPH, FETCHES_GRAPH, SAME_GRAPH, fold_statements, is_about_blank

_log = logging.getLogger(__name__)

NOT_PAGES = frozenset((FETCHES_GRAPH, CURSORS_GRAPH, SAME_GRAPH))
"""The graphs that belong to no page."""

_FETCHES = NamedNode(FETCHES_GRAPH)
# A bulk load writes its own files, which takes as long as an update of this many triples; it is one ingestion up to a million.
_MIN_BULK_TRIPLES = 2_000
_MAX_BULK_TRIPLES = 200_000
# The most triples that one update removes; a page can have half a million triples per syntax.
_MAX_UPDATE_TRIPLES = 20_000


@dataclass(slots=True)
class News:
    """The newest outcome of a page, and its newest outcome that replaces or removes the content."""

    visit: Outcome
    visit_stamp: OutcomeStamp = NEVER
    content: Outcome | None = None
    content_stamp: OutcomeStamp = NEVER
    dues: list[tuple[OutcomeStamp, float]] = field(default_factory=list)
    """When the page is due for removal, and the stamps of the outcomes that say so."""
    triples: list[str] = field(default_factory=list)
    """What the page states."""
    digest: str = ""
    """The digest of the triples."""

    def add(self, outcome: Outcome) -> None:
        """Take an outcome of the page."""
        stamp = make_stamp(outcome)
        if stamp > self.visit_stamp:
            self.visit, self.visit_stamp = outcome, stamp
        if outcome.effect != Effect.TOUCH and stamp > self.content_stamp:
            self.content, self.content_stamp = outcome, stamp
        if outcome.due:
            self.dues.append((stamp, outcome.due))

    def fold(self) -> None:
        """Compute the triples and their digest."""
        page = self.content if self.content and self.content.effect == Effect.REPLACE else None
        self.triples = fold_statements(page.statements, page.url) if page else []
        self.digest = xxh3_128_hexdigest(_write_lines("", self.triples))


@dataclass(slots=True)
class _Known:
    """The facts of a page, with those parsed that decide which outcomes are newer."""

    facts: list[str]
    content: OutcomeStamp
    visit: OutcomeStamp
    statements_digest: str
    due: float = 0.0
    url: str = ""


@dataclass(slots=True)
class _Change:
    """The change to one page."""

    graph: str
    old_facts: list[str]
    facts: list[str]
    triples: list[str] | None
    """What the page states now; None if that is unchanged."""
    added: list[str] = field(default_factory=list)
    removed: set[str] = field(default_factory=set)


def merge_pages(store: Store, pages: Mapping[str, News]) -> int:
    """Bring pages up to date, by graph; return how many quads have changed."""
    changes: list[_Change] = []
    for graph, news in pages.items():
        try:
            change = _plan_change(store, graph, news)
        except (ValueError, OverflowError) as error:
            _log.warning("<%s> is not indexed: nothing can be said of it", graph, exc_info=error)
            continue
        if change is not None:
            changes.append(change)
    return _carry_out(store, changes)


def remove_pages(store: Store, graphs: Iterable[str]) -> int:
    """Remove what pages state, and all facts about them."""
    return _carry_out(store, [_Change(graph, _read_facts(store, graph).facts, [], []) for graph in graphs])


def remove_due(store: Store, now: float, limit: int) -> int:
    """Remove what some pages state that are due for removal; return how many quads have changed, 0 if no page is left."""
    changes: list[_Change] = []
    for fact in store.quads_for_pattern(None, NamedNode(DUE), None, _FETCHES):
        if isinstance(fact.subject, NamedNode) and isinstance(fact.object, Literal) and len(changes) < limit:
            graph, due = fact.subject.value, read_due(fact.object.value)
            if due <= now:
                changes.append(_plan_removal(graph, _read_facts(store, graph)))
    return _carry_out(store, changes)


def find_next_due(store: Store) -> float:
    """When the next page is due for removal, in seconds since 1970."""
    facts = store.quads_for_pattern(None, NamedNode(DUE), None, _FETCHES)
    return min((read_due(fact.object.value) for fact in facts if isinstance(fact.object, Literal)), default=math.inf)


def _plan_removal(graph: str, known: _Known) -> _Change:
    """The removal that a page requested when it was read; the result is as if it had been removed then."""
    last = known.content
    outcome = Outcome(known.url or graph, last.time_us / 1e6, "", 0, 0, Effect.REMOVE, digest=last.digest)
    stamp = make_stamp(outcome)
    facts = [fact for fact in known.facts if is_of_visit(fact)]
    if known.visit == last:
        facts = end_visit(graph, facts)
    return _Change(graph, known.facts, facts + describe_content(outcome, stamp, 0, ""), [])


def _carry_out(store: Store, changes: list[_Change]) -> int:
    try:
        _write_changes(store, changes)
    except (SyntaxError, ValueError):
        # Extraction writes only valid lines, but a log written by another program may have others.
        for change in changes:
            change.triples = change.triples and [triple for triple in change.triples if _is_valid(triple)]
        try:
            _write_changes(store, changes)
        except (SyntaxError, ValueError):
            changes = [change for change in changes if _write_alone(store, change)]
    return sum(1 + len(change.added) + len(change.removed) for change in changes)


def _write_alone(store: Store, change: _Change) -> bool:
    """Write the change of one page; False if the store refuses it. One page must not stop the others."""
    try:
        _write_changes(store, [change])
    except (SyntaxError, ValueError) as error:
        _log.warning("<%s> is not indexed: the store does not take it", change.graph, exc_info=error)
        return False
    return True


def _plan_change(store: Store, graph: str, news: News) -> _Change | None:
    """The change that the news bring; None if they are already known, or older."""
    known = _read_facts(store, graph)
    is_new_visit = news.visit_stamp > known.visit
    content = news.content if news.content_stamp > known.content else None
    due = _find_due(known, news)
    if not is_new_visit and content is None and due == known.due:
        return None
    facts = (
        describe_visit(news.visit, news.visit_stamp, max(known.content, news.content_stamp))
        if is_new_visit
        else [fact for fact in known.facts if is_of_visit(fact)]
    )
    facts += describe_due(news.visit.url, due)
    if content is None:
        facts += (fact for fact in known.facts if not is_of_visit(fact) and f" <{DUE}> " not in fact)
        return _Change(graph, known.facts, list(dict.fromkeys(facts)), None)
    facts += describe_content(content, news.content_stamp, len(news.triples), news.digest)
    triples = news.triples if news.digest != known.statements_digest else None
    return _Change(graph, known.facts, list(dict.fromkeys(facts)), triples)


def _find_due(known: _Known, news: News) -> float:
    """When a page is due for removal: the earliest time requested since its current content; 0 for never."""
    content = max(known.content, news.content_stamp)
    if content.effect != Effect.REPLACE:
        return 0.0
    dues = [due for stamp, due in news.dues if stamp >= content]
    if known.due and content == known.content:
        dues.append(known.due)
    return min(dues, default=0.0)


def _write_changes(store: Store, changes: list[_Change]) -> None:
    """Write removals, then additions, then facts; small changes in one transaction."""
    _find_differences(store, [change for change in changes if change.triples is not None])
    unheld = _find_unheld(store, changes)
    if sum(len(change.removed) + len(change.added) for change in changes) < _MIN_BULK_TRIPLES:
        removed = [(change.graph, list(change.removed)) for change in changes]
        added = [(change.graph, _rewrite_triples(change.added)) for change in changes]
        _update(store, _delete(removed, unheld), _insert(added), *_replace_facts(changes))
        return
    for part in _share_out(((change.graph, list(change.removed)) for change in changes), _MAX_UPDATE_TRIPLES):
        _update(store, _delete(part, unheld))
    loads = list(_share_out(((change.graph, change.added) for change in changes), _MAX_BULK_TRIPLES))
    for number, part in enumerate(loads, 1):
        lines = [_write_lines(graph, triples) for graph, triples in part]
        if number == len(loads):
            # The last load includes the facts of new pages, because a load becomes visible as a whole.
            lines.append(_write_facts(change for change in changes if not change.old_facts))
        store.bulk_load(b"".join(lines), RdfFormat.N_QUADS)
    _update(store, *_replace_facts([change for change in changes if change.old_facts or not loads]))


def _find_differences(store: Store, changes: list[_Change]) -> None:
    """Set what each page states now and did not before, and what it no longer states.

    The store normalises numbers, dates and escapes, so such triples pass through a temporary store before they are compared.
    Any that still look different are removed and added again.
    """
    for change in changes:
        triples = change.triples or []
        node = NamedNode(change.graph)
        if not store.contains_named_graph(node):
            change.added, change.removed = triples, set()
            continue
        old = _dump_triples(store, node)
        added = [triple for triple in triples if triple not in old]
        odd = [triple for triple in added if "\\" in triple or '"^^<' in triple]
        if odd:
            written = Store()
            written.load(_write_lines("", odd), RdfFormat.N_TRIPLES)
            rewritten = _dump_triples(written, DefaultGraph())
            added = [*set(added).difference(odd), *rewritten.difference(old)]
            change.removed = old.difference(triples, rewritten)
        else:
            change.removed = old.difference(triples)
        change.added = added


def _find_unheld(store: Store, changes: list[_Change]) -> set[str]:
    """Those of the removed triples that no other page states."""
    leaving: dict[str, set[str]] = {}
    for change in changes:
        for triple in change.removed:
            leaving.setdefault(triple, set()).add(change.graph)
    unheld = {triple for triple in leaving if is_about_blank(triple)}
    shared = [triple for triple in leaving if triple not in unheld]
    quads = pyoxigraph.parse("".join(f"{triple} .\n" for triple in shared), RdfFormat.N_TRIPLES)
    for triple, quad in zip(shared, quads, strict=True):
        graphs = leaving[triple]
        for found in store.quads_for_pattern(quad.subject, quad.predicate, quad.object, None):
            name = found.graph_name
            if isinstance(name, NamedNode) and name.value not in graphs and name.value not in NOT_PAGES:
                break
        else:
            unheld.add(triple)
    return unheld


def _delete(removed: Iterable[tuple[str, list[str]]], unheld: set[str]) -> str:
    """The operation that removes triples from the pages' graphs, and from the merge those that no other page states."""
    text = _list_graphs(removed) + "".join(
        f"{triple} .\n" for _, triples in removed for triple in triples if triple in unheld
    )
    return f"DELETE DATA {{ {text} }}" if text else ""


def _insert(added: Iterable[tuple[str, list[str]]]) -> str:
    """The operation that adds triples to the pages' graphs and to the merge."""
    text = _list_graphs(added) + "".join(f"{triple} .\n" for _, triples in added for triple in triples)
    return f"INSERT DATA {{ {text} }}" if text else ""


def _list_graphs(pages: Iterable[tuple[str, list[str]]]) -> str:
    return "".join(f"GRAPH <{graph}> {{ {' . '.join(triples)} }}\n" for graph, triples in pages if triples)


def _write_lines(graph: str, triples: list[str]) -> bytes:
    """N-Quads of triples in the default graph and, if `graph` is given, in that graph too."""
    lines = "".join((" .\n".join(triples), " .\n" if triples else "")).encode("utf-8", "replace")
    return lines + lines.replace(b" .\n", f" <{graph}> .\n".encode()) if graph else lines


def _write_facts(changes: Iterable[_Change]) -> bytes:
    return "".join(f"{fact} <{FETCHES_GRAPH}> .\n" for change in changes for fact in change.facts).encode(
        "utf-8", "replace"
    )


def _replace_facts(changes: list[_Change]) -> tuple[str, str]:
    old: list[str] = []
    new: list[str] = []
    for change in changes:
        known, wanted = set(change.old_facts), set(change.facts)
        old += (fact for fact in change.old_facts if fact not in wanted)
        new += (fact for fact in change.facts if fact not in known)
    start = f"DATA {{ GRAPH <{FETCHES_GRAPH}> {{"
    return (
        f"DELETE {start} {' . '.join(old)} }} }}" if old else "",
        f"INSERT {start} {' . '.join(new)} }} }}" if new else "",
    )


def _update(store: Store, *operations: str) -> None:
    """Run all operations in one transaction."""
    text = " ;\n".join(operation for operation in operations if operation)
    if text:
        store.update(text)


def _dump_triples(store: Store, graph: NamedNode | DefaultGraph) -> set[str]:
    lines = (store.dump(from_graph=graph, format=RdfFormat.N_TRIPLES) or b"").decode().split("\n")
    return {line[:-2] for line in lines if line}


def _read_facts(store: Store, graph: str) -> _Known:
    known = _Known([], NEVER, NEVER, "")
    for fact in store.quads_for_pattern(NamedNode(graph), None, None, _FETCHES):
        known.facts.append(f"<{graph}> {fact.predicate} {fact.object}")
        if isinstance(fact.object, Literal):
            if fact.predicate.value == CONTENT:
                known.content, known.statements_digest = read_content(fact.object.value)
            elif fact.predicate.value == VISIT:
                known.visit = parse_stamp(fact.object.value)
            elif fact.predicate.value == DUE:
                known.due = read_due(fact.object.value)
            elif fact.predicate.value == URL:
                known.url = fact.object.value
    if known.visit == NEVER:
        known.visit = known.content
    return known


def _rewrite_triples(triples: list[str]) -> list[str]:
    """Triples as a serialiser writes them, so that no unparsed text of a log becomes part of an update."""
    quads = pyoxigraph.parse(_write_lines("", triples), RdfFormat.N_TRIPLES)
    lines = (pyoxigraph.serialize(quads, format=RdfFormat.N_TRIPLES) or b"").decode().split("\n")
    return [line[:-2] for line in lines if line]


def _is_valid(triple: str) -> bool:
    try:
        list(pyoxigraph.parse(_write_lines("", [triple]), RdfFormat.N_TRIPLES))
    except SyntaxError:
        return False
    return True


def _share_out(pages: Iterable[tuple[str, list[str]]], size: int) -> Iterator[list[tuple[str, list[str]]]]:
    """Split pages with triples into parts of about `size` triples; a larger page is in several parts."""
    part: list[tuple[str, list[str]]] = []
    room = size
    for graph, triples in pages:
        for start in range(0, len(triples), size):
            piece = triples[start : start + size]
            part.append((graph, piece))
            room -= len(piece)
            if room <= 0:
                yield part
                part, room = [], size
    if part:
        yield part
