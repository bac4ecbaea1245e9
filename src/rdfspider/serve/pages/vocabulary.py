"""The vocabulary that pages use: lists of classes, properties and ontologies, and a page for each of them."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from rdfspider.errors import UsageError
from rdfspider.index.ledger.reader import LedgerTotals, NameCount
from rdfspider.index.ledger.usage import CLASS, ONTOLOGY, PROPERTY, SITE
from rdfspider.search.profiles import (
    ClassProfile,
    OntologyProfile,
    PropertyProfile,
)
from rdfspider.search.statistics import NameCounts, Statistics
from rdfspider.serve.rendering import make_address
from rdfspider.serve.replies import CsvTable, NotFoundError, PageReply, PageRequest, Parameter, SitePage
from rdfspider.urls import is_valid_iri
from rdfspider.vocabulary.names import list_prefixes, shorten_iri

LISTS = {CLASS: "/classes", PROPERTY: "/properties", ONTOLOGY: "/ontologies", SITE: "/sites"}
"""The paths of the lists, by kind."""
_TITLES = {CLASS: "Classes", PROPERTY: "Properties", ONTOLOGY: "Ontologies", SITE: "Sites"}
_ABOUT = {
    CLASS: "What things are said to be. Uses are things on pages.",
    PROPERTY: "What is said of things. Uses are statements.",
    ONTOLOGY: "Where classes and properties come from: their namespaces. Uses are those of both.",
    SITE: "Who says it. Uses are statements.",
}
NAMES_SHOWN = 50
_MAX_PAGE = 2_000
_NAMES_FOUND = 1_000
_NAME_HEADS = ("name", "uses", "pages", "sites")
_NOTHING = LedgerTotals(0, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class NamesData:
    """A part of the names of a kind, for JSON."""

    kind: str
    """class, property, ontology or site."""
    total: int
    """How many exist, or were found."""
    names: Sequence[NameCount]


def show_names(kind: str) -> Callable[[PageRequest], PageReply]:
    """Make a page that lists the names of a kind, the most used first."""

    def show(request: PageRequest) -> PageReply:
        page, words = request.get_number("page", 1, _MAX_PAGE), request.get("q")
        start = (page - 1) * NAMES_SHOWN
        statistics = request.site.indexes.recent_statistics()
        totals = statistics.totals if statistics else _NOTHING
        counts: Sequence[NameCount] = ()
        total = getattr(totals, LISTS[kind].removeprefix("/"))
        if statistics:
            indexes = request.site.indexes
            if words:
                found = sorted(indexes.find_names(kind, words, _NAMES_FOUND), key=lambda one: (-one.uses, one.name))
                counts, total = found[start : start + NAMES_SHOWN], len(found)
            else:
                counts = indexes.names(kind, NAMES_SHOWN, start)
            most = next(iter(indexes.names(kind, 1)), None)
        context = {
            "kind": kind,
            "titles": _TITLES,
            "lists": LISTS,
            "about": _ABOUT[kind],
            "counts": counts,
            "most": most.uses if statistics and most else 0,
            "total": total,
            "is_indexed": statistics is not None,
            "is_cut": bool(words) and total == _NAMES_FOUND,
            "page": page,
            "pages": min(-(-total // NAMES_SHOWN), _MAX_PAGE),
            "words": words,
            "prefix_of": find_prefix,
        }
        return PageReply(
            "names.html",
            context,
            data=lambda: make_plain(NamesData(kind, total, counts)),
            table=lambda: CsvTable(_NAME_HEADS, counts),
            nquads=lambda: write_void(totals, **{LISTS[kind].removeprefix("/"): counts}),
        )

    return show


def show_class(request: PageRequest) -> PageReply:
    """Show a class and what its instances are like."""
    iri = _take_iri(request)
    profile = request.site.indexes.class_profile(iri)
    if profile is None:
        raise NotFoundError(f"no page speaks of a thing of the class {shorten_iri(iri)[:200]}")
    return PageReply(
        "class.html",
        {
            "profile": profile,
            "query": _locate_query(_write_class_query(profile)),
            "command": _write_command(request, profile.iri),
        },
        data=lambda: make_plain(profile),
        table=lambda: CsvTable(
            ("property", "things", "share"), [(one.name, one.things, one.share) for one in profile.properties]
        ),
        nquads=lambda: _write_void(request, classes=[profile.count]),
    )


def show_property(request: PageRequest) -> PageReply:
    """Show a property, what has it, and its values."""
    iri = _take_iri(request)
    profile = request.site.indexes.property_profile(iri)
    if profile is None:
        raise NotFoundError(f"no page uses the property {shorten_iri(iri)[:200]}")
    return PageReply(
        "property.html",
        {"profile": profile, "query": _locate_query(_write_property_query(profile))},
        data=lambda: make_plain(profile),
        table=lambda: CsvTable(
            ("class", "things", "share"), [(one.name, one.things, one.share) for one in profile.classes]
        ),
        nquads=lambda: _write_void(request, properties=[profile.count]),
    )


def show_ontology(request: PageRequest) -> PageReply:
    """Show an ontology and which of its classes and properties are used."""
    iri = _take_iri(request)
    profile = request.site.indexes.ontology_profile(iri)
    if profile is None:
        raise NotFoundError(f"no page uses the ontology {iri[:200]}")
    return PageReply(
        "ontology.html",
        {"profile": profile, "command": _write_command(request, profile.iri, "--ontology")},
        data=lambda: make_plain(profile),
        table=lambda: CsvTable(("kind", *_NAME_HEADS), _list_terms(profile)),
        nquads=lambda: _write_void(
            request, ontologies=[profile.count], classes=profile.classes, properties=profile.properties
        ),
    )


def find_prefix(ontology: str) -> str:
    """The well-known prefix of an ontology; empty for most."""
    return next(iter(list_prefixes(ontology)), "")


def write_void(totals: LedgerTotals, **counts: Sequence[NameCount]) -> bytes:
    """Write some counts in VoID, as N-Triples."""
    classes, properties, ontologies, sites = (
        NameCounts(counts.get(kind, ())) for kind in ("classes", "properties", "ontologies", "sites")
    )
    return Statistics(totals, classes, properties, ontologies, sites, NameCounts(), NameCounts()).to_ntriples()


def make_plain(value: Any) -> Any:
    """Convert records to dictionaries recursively: named tuples would become arrays in JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: make_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: make_plain(each) for name, each in value._asdict().items()}
    return [make_plain(each) for each in value] if isinstance(value, (tuple, list)) else value


def _write_void(request: PageRequest, **counts: Sequence[NameCount]) -> bytes:
    statistics = request.site.indexes.recent_statistics()
    return write_void(statistics.totals if statistics else _NOTHING, **counts)


def _take_iri(request: PageRequest) -> str:
    iri = request.get("iri")
    if not iri:
        raise UsageError("say which one: iri=schema:Person, or a whole IRI")
    return iri


def _list_terms(profile: OntologyProfile) -> list[Sequence[object]]:
    return [
        (kind, *count)
        for kind, counts in ((CLASS, profile.classes), (PROPERTY, profile.properties))
        for count in counts
    ]


def _locate_query(query: str) -> str:
    return make_address("/sparql", query=query) if query else ""


def _write_class_query(profile: ClassProfile) -> str:
    """A query for its instances and their names; empty if the class is not a valid IRI."""
    if not is_valid_iri(profile.iri):
        return ""
    named = next((one.name for one in profile.properties if one.name in _NAMING and is_valid_iri(one.name)), _NAMING[0])
    return f"SELECT ?thing ?name WHERE {{\n  ?thing a <{profile.iri}> .\n  OPTIONAL {{ ?thing <{named}> ?name }}\n}}\nLIMIT 100"


_NAMING = (
    "http://schema.org/name",
    "http://schema.org/headline",
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://xmlns.com/foaf/0.1/name",
    "http://purl.org/dc/terms/title",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
)


def _write_property_query(profile: PropertyProfile) -> str:
    if not is_valid_iri(profile.iri):
        return ""
    return (
        f"SELECT ?value (COUNT(*) AS ?things) WHERE {{\n  ?thing <{profile.iri}> ?value\n}}\n"
        "GROUP BY ?value\nORDER BY DESC(?things)\nLIMIT 100"
    )


def _write_command(request: PageRequest, iri: str, flag: str = "--type") -> str:
    """The command that exports it; names are quoted, because people paste it into a shell."""
    return f"rdfspider export {flag} {shlex.quote(shorten_iri(iri))} --dir {shlex.quote(request.site.folder.name)} -o things.nq"


_LIST_PARAMETERS = (
    Parameter("q", "Only names that contain this."),
    Parameter("page", "Which page of the list, from 1 on.", kind="integer"),
)
_IRI = (Parameter("iri", "An IRI, or a name with a well-known prefix: schema:Person.", is_required=True),)
PAGES: tuple[SitePage, ...] = (
    SitePage("/classes", show_names(CLASS), "Classes by use.", _LIST_PARAMETERS, answer=NamesData),
    SitePage("/class", show_class, "A class: counts, typical properties, sites, examples.", _IRI, answer=ClassProfile),
    SitePage("/properties", show_names(PROPERTY), "Properties by use.", _LIST_PARAMETERS, answer=NamesData),
    SitePage(
        "/property", show_property, "A property: counts, classes, sites, example values.", _IRI, answer=PropertyProfile
    ),
    SitePage("/ontologies", show_names(ONTOLOGY), "Ontologies by use.", _LIST_PARAMETERS, answer=NamesData),
    SitePage(
        "/ontology",
        show_ontology,
        "An ontology: counts, its classes and properties, sites, examples.",
        _IRI,
        answer=OntologyProfile,
    ),
    SitePage("/sites", show_names(SITE), "Sites by the statements on their pages.", _LIST_PARAMETERS, answer=NamesData),
)
