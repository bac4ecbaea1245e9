"""The home page: the search box, statistics, the latest finds, and the state of the crawl."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from rdfspider.crawl.messages import Find
from rdfspider.crawl.summary import write_state
from rdfspider.results import LedgerTotals, NameCount
from rdfspider.search.statistics import Statistics
from rdfspider.serve.pages.search import list_ontologies, name_ontologies
from rdfspider.serve.replies import CsvTable, PageReply, PageRequest, SitePage
from rdfspider.serve.sampler import read_status
from rdfspider.vocabulary.names import find_short_name, list_prefixes, split_iri

_KINDS = ("classes", "ontologies", "properties", "sites")
_NAMES_SHOWN = 10
_FINDS_SHOWN = 6
_TYPES_ASKED = 3
# Words that can be typed without quotation marks.
_PLAIN = re.compile(r"[^\W\d_]\w{1,39}")
# Properties and ontologies that nearly everything uses say nothing.
_PLAIN_PROPERTIES = frozenset(("name", "title", "type", "url", "description", "label", "image", "usesvocabulary"))
_PLAIN_ONTOLOGIES = frozenset(("rdf", "rdfs", "rdfa", "owl", "schema"))


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question that the data can answer."""

    question: str
    about: str


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
    examples = list(make_examples(statistics)) if statistics else []
    finds = status.totals.finds[: -_FINDS_SHOWN - 1 : -1]
    data: dict[str, Any] = {
        "state": status.state,
        **(statistics.to_dict() if statistics else {}),
        "examples": examples,
        "finds": finds,
    }
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
            "ontology_names": name_ontologies(
                [count.name for count in statistics.ontologies[:_NAMES_SHOWN]] if statistics else ()
            ),
        },
        data=lambda: data,
        table=lambda: CsvTable(
            ("kind", "name", "uses", "pages", "sites"),
            [(kind, *count) for kind in _KINDS for count in (getattr(statistics, kind) if statistics else ())],
        ),
        nquads=lambda: statistics.to_ntriples() if statistics else b"",
    )


def make_examples(statistics: Statistics) -> Iterator[ExampleQuestion]:
    """Make example questions from the most used names."""
    names = dict.fromkeys(split_iri(count.name)[1] for count in statistics.classes)
    types = [name for name in names if _PLAIN.fullmatch(name)]
    for name in types[:_TYPES_ASKED]:
        yield ExampleQuestion(f"type:{name}", f"everything of the class {name}, and of those below it")
    properties = (find_short_name(count.name) for count in statistics.properties)
    telling = (name for name in properties if name not in _PLAIN_PROPERTIES and _PLAIN.fullmatch(name))
    if name := next(telling, ""):
        yield ExampleQuestion(f"property:{name}", f"what has a value for {name}")
    prefixes = (prefix for count in statistics.ontologies for prefix in list_prefixes(count.name)[:1])
    if prefix := next((prefix for prefix in prefixes if prefix not in _PLAIN_ONTOLOGIES), ""):
        yield ExampleQuestion(f"ontology:{prefix}", f"what uses the ontology {prefix}")
    for site in statistics.sites[:1]:
        question = f"site:{site.name}" + (f" type:{types[0]}" if types else "")
        yield ExampleQuestion(question, f"what {site.name} says")


PAGES = (
    SitePage(
        "/", show_home, "How much there is, the names that are used most, and what was found last.", answer=HomeData
    ),
)
