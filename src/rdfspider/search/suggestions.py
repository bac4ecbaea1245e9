"""What somebody has typed so far in, how it may go on out: things and pages whose label begins so, and names of classes.

Every step is bounded, whatever was typed and however many labels begin so: one list of the index is read by weight, or, where it
is short, the labels in its range.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
from tantivy import Occur, Query

from rdfspider.index.ledger_reader import NameCount
from rdfspider.index.names import find_short_name, shorten_iri, split_iri
from rdfspider.index.schema import ENTITY, MAX_START, PAGE, START_SIZES, Card, write_start
from rdfspider.search.queries import Index

MAX_LIMIT = 50
_MAX_TYPED = 200
# Where more labels than this begin so, those that weigh most are looked at; else all of them count.
_MAX_EXPANDED = 20_000
_CANDIDATES_A_SUGGESTION, _MIN_CANDIDATES = 4, 100
# Words inside labels are looked for from so many characters on.
_MIN_INSIDE = 3
_CLASSES = 3


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One way to go on."""

    text: str
    """What to put in the place of what was typed."""
    kind: str
    """entity, page, or type for the name of a class."""
    about: str
    """What it is, in short: the type of a thing, the site of a page, the IRI of a class."""


def suggest(index: Index, classes: Sequence[NameCount], typed: str, limit: int) -> list[Suggestion]:
    """The best ways to go on, none twice; `classes` are those that pages use most."""
    typed = typed[:_MAX_TYPED].encode("utf-8", "replace").decode()
    limit = max(1, min(limit, MAX_LIMIT))
    of_classes = list(_suggest_classes(typed, classes))[:_CLASSES]
    # Some room is left for classes.
    of_labels = _suggest_labels(index, write_start(typed), max(1, limit - len(of_classes)))
    return [*of_labels, *of_classes][:limit]


def _suggest_labels(index: Index, start: str, limit: int) -> list[Suggestion]:
    """Things whose labels begin so, the best first; then such pages, then what has it inside its label."""
    found: dict[str, Suggestion] = {}
    for query, kind in _list_queries(index, start) if start else ():
        of_kind = Query.term_query(index.schema, "kind", kind, "basic")
        both = Query.boolean_query([(Occur.Must, query), (Occur.Must, of_kind)])
        for card in _read_best(index, both, limit):
            label = write_start(card.label)
            # A page about a thing is mostly called as that is, and then by its site.
            if start in label and not (kind == PAGE and any(label.startswith(f"{known} ") for known in found)):
                found.setdefault(label, _describe(card))
            if len(found) == limit:
                return list(found.values())
    return list(found.values())


def _list_queries(index: Index, start: str) -> Iterator[tuple[Query, str]]:
    size = max(size for size in START_SIZES if size <= len(start))
    count = index.searcher.doc_freq("start", start[:size])
    if count:
        if size == len(start) or count > _MAX_EXPANDED:
            begins = Query.term_query(index.schema, "start", start[:size], "basic")
        else:
            begins = Query.fuzzy_term_query(index.schema, "start", start, 0, True, True)
        yield begins, ENTITY
        yield begins, PAGE
    words = start.split(" ")
    if len(start) < MAX_START and (len(words) > 1 or len(start) >= _MIN_INSIDE):
        # It takes the first fifty words that begin as the last one does, and no more.
        inside = Query.phrase_prefix_query(index.schema, "label", list[str | tuple[int, str]](words))
        yield inside, ENTITY
        yield inside, PAGE


def _read_best(index: Index, query: Query, limit: int) -> Iterator[Card]:
    """The cards of what a query finds, by weight: things of which many speak first, parts of others last."""
    # Some have the same label, or begin otherwise.
    wanted = max(_MIN_CANDIDATES, _CANDIDATES_A_SUGGESTION * limit)
    found = index.searcher.search(Query.const_score_query(query, 1.0), wanted, count=False, weight_by_field="weight")
    for _, address in found.hits:
        yield msgspec.json.decode(index.searcher.doc(address).get_first("card") or b"", type=Card)


def _describe(card: Card) -> Suggestion:
    about = card.sites[0] if card.kind == PAGE and card.sites else ", ".join(map(shorten_iri, card.types[:1]))
    return Suggestion(" ".join(card.label.split()), card.kind, about)


def _suggest_classes(typed: str, classes: Iterable[NameCount]) -> Iterator[Suggestion]:
    """`type:Product` for the last word, where it begins as a class does; the words before it stay."""
    before, space, last = typed.rpartition(" ")
    name = last.lower().removeprefix("type:")
    if not name:
        return
    seen = set()
    for count in classes:
        short = find_short_name(count.name)
        if short.startswith(name) and short not in seen and short.isidentifier():
            seen.add(short)
            yield Suggestion(f"{before}{space}type:{split_iri(count.name)[1]}", "type", count.name)
