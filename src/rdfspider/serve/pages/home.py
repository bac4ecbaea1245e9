"""The home page: the search box, statistics, the latest finds, and the state of the crawl."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NotRequired, TypedDict
from weakref import WeakKeyDictionary

from rdfspider.crawl.messages import Find
from rdfspider.crawl.summary import write_state
from rdfspider.results import HitKind, LedgerTotals, NameCount, NameKind
from rdfspider.search.statistics import Statistics
from rdfspider.search.worth_seeing import choose_classes, rank_names
from rdfspider.serve.pages.search import list_ontologies, name_ontologies
from rdfspider.serve.replies import CsvTable, PageReply, PageRequest, SitePage
from rdfspider.serve.sampler import read_status
from rdfspider.serve.site import Site
from rdfspider.vocabulary.names import find_local_name, find_short_name, list_prefixes

_KINDS = ("classes", "ontologies", "properties", "sites")
_RANKED = {NameKind.CLASS: "classes", NameKind.ONTOLOGY: "ontologies", NameKind.PROPERTY: "properties"}
_NAMES_SHOWN = 10
_FINDS_SHOWN = 6
_TYPES_ASKED = 4
# Words that can be typed without quotation marks.
_PLAIN = re.compile(r"[^\W\d_]\w{1,39}")
# Labels that mean themselves when they are typed.
_TYPED = re.compile(r"[^\W_][\w ,.'’&]{4,38}[\w.]")
_LABELS_TRIED = 10


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question that the data can answer."""

    question: str
    about: str


_made: WeakKeyDictionary[Site, tuple[LedgerTotals, list[ExampleQuestion]]] = WeakKeyDictionary()


class HomeData(TypedDict):
    """The first page, for JSON; without counts as long as nothing is indexed."""

    state: str
    totals: NotRequired[LedgerTotals]
    classes: NotRequired[list[NameCount]]
    properties: NotRequired[list[NameCount]]
    ontologies: NotRequired[list[NameCount]]
    sites: NotRequired[list[NameCount]]
    languages: NotRequired[list[NameCount]]
    syntaxes: NotRequired[list[NameCount]]
    examples: list[ExampleQuestion]
    finds: tuple[Find, ...]


def show_home(request: PageRequest) -> PageReply:
    """Show totals, the most used names, example questions, and the latest finds."""
    statistics = request.site.indexes.recent_statistics()
    status = read_status(request.site.crawl)
    examples = _list_examples(request, statistics) if statistics else []
    finds = status.totals.finds[: -_FINDS_SHOWN - 1 : -1]
    data: dict[str, Any] = {
        "state": status.state,
        **(statistics.to_dict() if statistics else {}),
        "examples": examples,
        "finds": finds,
    }
    ranked = {kind: getattr(statistics, name) for kind, name in _RANKED.items()} if statistics else {}
    sites = statistics.totals.sites if statistics else 0
    telling = {kind: rank_names(kind, counts, sites)[:_NAMES_SHOWN] for kind, counts in ranked.items()}
    return PageReply(
        "home.html",
        {
            "statistics": statistics,
            "status": status,
            "state": write_state(status),
            "examples": examples,
            "finds": finds,
            "ontologies": list_ontologies(request),
            "names_shown": _NAMES_SHOWN,
            "telling": telling,
            "ontology_names": name_ontologies([count.name for count in telling.get(NameKind.ONTOLOGY, ())]),
        },
        data=lambda: data,
        table=lambda: CsvTable(
            ("kind", "name", "uses", "pages", "sites"),
            [(kind, *count) for kind in _KINDS for count in (getattr(statistics, kind) if statistics else ())],
        ),
        nquads=lambda: statistics.to_ntriples() if statistics else b"",
    )


def make_examples(statistics: Statistics, find_label: Callable[[str], str]) -> Iterator[ExampleQuestion]:
    """Make example questions of what is worth seeing; `find_label` gives the label of an entity that a question finds."""
    sites = statistics.totals.sites
    classes = (find_local_name(iri) for iri in choose_classes(statistics.classes, sites, _TYPES_ASKED))
    types = [name for name in dict.fromkeys(classes) if _PLAIN.fullmatch(name)]
    for name in types:
        yield ExampleQuestion(f"type:{name}", f"everything of the class {name}, and of those below it")
    for name in types:
        if label := find_label(f"type:{name}"):
            yield ExampleQuestion(label, f"a thing of the class {name}")
    properties = (find_short_name(count.name) for count in rank_names(NameKind.PROPERTY, statistics.properties, sites))
    if name := next(filter(_PLAIN.fullmatch, properties), ""):
        yield ExampleQuestion(f"property:{name}", f"what has a value for {name}")
    ontologies = rank_names(NameKind.ONTOLOGY, statistics.ontologies, sites)
    prefixes = (prefix for count in ontologies for prefix in list_prefixes(count.name)[:1])
    if prefix := next((prefix for prefix in prefixes if prefix != "schema"), ""):
        yield ExampleQuestion(f"ontology:{prefix}", f"what uses the ontology {prefix}")


def _list_examples(request: PageRequest, statistics: Statistics) -> list[ExampleQuestion]:
    """The examples for these statistics; they are made again when there is more, because they take a search each."""
    known = _made.get(request.site)
    if known is None or known[0] != statistics.totals:
        known = _made[request.site] = statistics.totals, list(make_examples(statistics, partial(_find_label, request)))
    return known[1]


def _find_label(request: PageRequest, question: str) -> str:
    """A label that people may type as it is: some words, not long, and without signs that the query language knows."""
    hits = request.site.indexes.search(question, kind=HitKind.ENTITY, limit=_LABELS_TRIED).hits
    return next((label for hit in hits if _TYPED.fullmatch(label := hit.label) and " " in label), "")


PAGES = (
    SitePage(
        "/", show_home, "How much there is, the names that are used most, and what was found last.", answer=HomeData
    ),
)
