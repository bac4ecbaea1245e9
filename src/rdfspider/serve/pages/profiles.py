"""What the data is made of: lists of classes, properties, ontologies and sites, a page about each of them, and a report on the
quality of a site's structured data."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import Any, TypeVar

from rdfspider.errors import UsageError
from rdfspider.results import LedgerTotals, NameCount, NameKind
from rdfspider.search.profiles import ClassProfile, OntologyProfile, PropertyProfile, SiteProfile
from rdfspider.search.quality.gaps import say_path
from rdfspider.search.quality.report import Report, ReportLine
from rdfspider.search.site_neighbours import SiteNeighbours
from rdfspider.search.statistics import NameCounts, Statistics
from rdfspider.serve.pages.entity import read_statements
from rdfspider.serve.pages.things import list_downloads
from rdfspider.serve.rendering import make_address
from rdfspider.serve.replies import CsvTable, NotFoundError, PageReply, PageRequest, Parameter, SitePage
from rdfspider.serve.site_links import draw_neighbours, list_neighbour_rows, locate_host
from rdfspider.urls import is_valid_iri
from rdfspider.vocabulary.names import list_prefixes, shorten_iri
from rdfspider.vocabulary.prefixes import DCTERMS, FOAF, RDFS, SCHEMA, SKOS

LISTS = {
    NameKind.CLASS: "/classes",
    NameKind.PROPERTY: "/properties",
    NameKind.ONTOLOGY: "/ontologies",
    NameKind.SITE: "/sites",
}
"""The paths of the lists, by kind."""
_TITLES = {
    NameKind.CLASS: "Classes",
    NameKind.PROPERTY: "Properties",
    NameKind.ONTOLOGY: "Ontologies",
    NameKind.SITE: "Sites",
}
_ABOUT = {
    NameKind.CLASS: "What things are said to be. Uses are things on pages.",
    NameKind.PROPERTY: "What is said of things. Uses are statements.",
    NameKind.ONTOLOGY: "Where classes and properties come from: their namespaces. Uses are those of both.",
    NameKind.SITE: "Who says it. Uses are statements.",
}
NAMES_SHOWN = 50
_MAX_PAGE = 2_000
_NAMES_FOUND = 1_000
_NAME_HEADS = ("name", "uses", "pages", "sites")
_REPORT_HEADS = ("severity", "kind", "subject", "message", "count", "of", "example", "example2", "example3")
_EXAMPLES = 3
_NAMING = (
    f"{SCHEMA}name",
    f"{SCHEMA}headline",
    f"{RDFS}label",
    f"{FOAF}name",
    f"{DCTERMS}title",
    f"{SKOS}prefLabel",
)
_LIST_PARAMETERS = (
    Parameter("q", "Only names that contain this."),
    Parameter("page", "Which page of the list, from 1 on.", kind="integer"),
)
_IRI = (Parameter("iri", "An IRI, or a name with a well-known prefix: schema:Person.", is_required=True),)
_SITE = "A registrable domain, or a host of it."
# What to say if a parameter is missing.
_QUESTIONS = {
    "iri": "say which one: iri=schema:Person, or a whole IRI",
    "name": "say which site: name=example.org",
    "site": "say which site: site=example.org",
}
_NO_SITE = "no page of {name} is indexed"
_NOTHING = LedgerTotals(0, 0, 0, 0, 0, 0, 0)
_P = TypeVar("_P")


@dataclass(frozen=True, slots=True)
class NamesData:
    """A part of the names of a kind, for JSON."""

    kind: str
    """class, property, ontology or site."""
    total: int
    """How many exist, or were found."""
    names: Sequence[NameCount]


@dataclass(frozen=True, slots=True)
class ReportData(Report):
    """The report, for JSON: with what is otherwise made of it."""

    # No defaults: those would be the inherited properties of the same names.
    severities: dict[str, int] = field()
    findings: tuple[ReportLine, ...] = field()


@dataclass(frozen=True, slots=True)
class SiteData(SiteProfile):
    """A site, for JSON: with the hosts around it."""

    neighbours: SiteNeighbours = field()


def show_names(kind: NameKind) -> Callable[[PageRequest], PageReply]:
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
            nquads=lambda: _write_void(request, **{LISTS[kind].removeprefix("/"): counts}),
        )

    return show


def show_class(request: PageRequest) -> PageReply:
    """Show a class and what its instances are like."""
    profile = _find_profile(
        request, "iri", request.site.indexes.class_profile, "no page speaks of a thing of the class {short}"
    )
    rows = [(one.name, one.things, one.share) for one in profile.properties]
    context = {
        "query": _locate_class_query(profile),
        "command": _write_command(request, profile.iri),
        "downloads": list_downloads(profile.iri) if profile.count.uses or profile.things else [],
    }
    table = CsvTable(("property", "things", "share"), rows)
    return _show_profile(request, "class.html", profile, table, context, classes=[profile.count])


def show_property(request: PageRequest) -> PageReply:
    """Show a property, what has it, and its values."""
    profile = _find_profile(request, "iri", request.site.indexes.property_profile, "no page uses the property {short}")
    rows = [(one.name, one.things, one.share) for one in profile.classes]
    table = CsvTable(("class", "things", "share"), rows)
    context = {"query": _locate_property_query(profile)}
    return _show_profile(request, "property.html", profile, table, context, properties=[profile.count])


def show_ontology(request: PageRequest) -> PageReply:
    """Show an ontology and which of its classes and properties are used."""
    profile = _find_profile(request, "iri", request.site.indexes.ontology_profile, "no page uses the ontology {name}")
    rows = [
        (kind, *count)
        for kind, counts in ((NameKind.CLASS, profile.classes), (NameKind.PROPERTY, profile.properties))
        for count in counts
    ]
    context = {"command": _write_command(request, profile.iri, "--ontology")}
    return _show_profile(
        request,
        "ontology.html",
        profile,
        CsvTable(("kind", *_NAME_HEADS), rows),
        context,
        ontologies=[profile.count],
        classes=profile.classes,
        properties=profile.properties,
    )


def show_site(request: PageRequest) -> PageReply:
    """Show a site: counts, classes and properties, the hosts around it, its latest pages."""
    profile = _find_profile(request, "name", request.site.indexes.site_profile, _NO_SITE)
    rows = [("class", one.name, one.things) for one in profile.classes]
    rows += [("property", one.name, one.things) for one in profile.properties]
    rows += [("syntax", one.name, one.pages) for one in profile.syntaxes]
    rows += [("language", one.name, one.pages) for one in profile.languages]
    neighbours = request.site.indexes.site_neighbours(profile.name)
    rows += list_neighbour_rows(neighbours)
    context = {
        "profile": profile,
        "neighbours": neighbours,
        "picture": draw_neighbours(profile.name, neighbours),
        "locate_host": locate_host,
    }
    return PageReply(
        "site.html",
        context,
        data=lambda: {**make_plain(profile), "neighbours": make_plain(neighbours)},
        table=lambda: CsvTable(("kind", "name", "count"), rows),
        nquads=lambda: _write_void(request, sites=[profile.count]),
    )


def show_quality(request: PageRequest) -> PageReply:
    """Show the report on a site's structured data."""
    inspect = partial(request.site.indexes.quality, read_statements=partial(read_statements, request))
    report = _find_profile(request, "site", inspect, _NO_SITE)
    return PageReply(
        "quality.html",
        {"report": report, "say_path": say_path},
        data=lambda: {**make_plain(report), "severities": report.severities, "findings": make_plain(report.findings)},
        table=lambda: CsvTable(_REPORT_HEADS, _list_rows(report)),
    )


def find_prefix(ontology: str) -> str:
    """The well-known prefix of an ontology; empty for most."""
    return next(iter(list_prefixes(ontology)), "")


def make_plain(value: Any) -> Any:
    """Convert records to dictionaries recursively: named tuples would become arrays in JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: make_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: make_plain(each) for name, each in value._asdict().items()}
    return [make_plain(each) for each in value] if isinstance(value, (tuple, list)) else value


def _find_profile(request: PageRequest, parameter: str, find: Callable[[str], _P | None], missing: str) -> _P:
    """Find what a parameter names; `missing` is the error if nothing is known of it."""
    name = request.get(parameter)
    if not name:
        raise UsageError(_QUESTIONS[parameter])
    found = find(name)
    if found is None:
        raise NotFoundError(missing.format(name=name[:200], short=shorten_iri(name)[:200]))
    return found


def _show_profile(
    request: PageRequest,
    template: str,
    profile: object,
    table: CsvTable,
    context: Mapping[str, object],
    **counts: Sequence[NameCount],
) -> PageReply:
    return PageReply(
        template,
        {"profile": profile, **context},
        data=lambda: make_plain(profile),
        table=lambda: table,
        nquads=lambda: _write_void(request, **counts),
    )


def _write_void(request: PageRequest, **counts: Sequence[NameCount]) -> bytes:
    """Write some counts in VoID, as N-Triples."""
    statistics = request.site.indexes.recent_statistics()
    totals = statistics.totals if statistics else _NOTHING
    kinds = ("classes", "properties", "ontologies", "sites", "languages", "syntaxes")
    return Statistics(totals, *(NameCounts(counts.get(kind, ())) for kind in kinds)).to_ntriples()


def _locate_class_query(profile: ClassProfile) -> str:
    """The editor with a query for its instances and their names; empty if the class is not a valid IRI."""
    if not is_valid_iri(profile.iri):
        return ""
    named = next((one.name for one in profile.properties if one.name in _NAMING and is_valid_iri(one.name)), _NAMING[0])
    pattern = f"?thing a <{profile.iri}> .\n  OPTIONAL {{ ?thing <{named}> ?name }}"
    return make_address("/sparql", query=f"SELECT ?thing ?name WHERE {{\n  {pattern}\n}}\nLIMIT 100")


def _locate_property_query(profile: PropertyProfile) -> str:
    if not is_valid_iri(profile.iri):
        return ""
    query = f"SELECT ?value (COUNT(*) AS ?things) WHERE {{\n  ?thing <{profile.iri}> ?value\n}}\n"
    return make_address("/sparql", query=f"{query}GROUP BY ?value\nORDER BY DESC(?things)\nLIMIT 100")


def _write_command(request: PageRequest, iri: str, flag: str = "--type") -> str:
    """The command that exports it; names are quoted, because people paste it into a shell."""
    return f"rdfspider export {flag} {shlex.quote(shorten_iri(iri))} --dir {shlex.quote(request.site.folder.name)} -o things.nq"


def _list_rows(report: Report) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for one in report.findings:
        examples = (*one.examples, *[""] * _EXAMPLES)[:_EXAMPLES]
        rows.append((one.severity, one.kind, one.subject, one.message, one.count, one.of or "", *examples))
    return rows


PAGES: tuple[SitePage, ...] = (
    SitePage("/classes", show_names(NameKind.CLASS), "Classes by use.", _LIST_PARAMETERS, answer=NamesData),
    SitePage("/class", show_class, "A class: counts, typical properties, sites, examples.", _IRI, answer=ClassProfile),
    SitePage("/properties", show_names(NameKind.PROPERTY), "Properties by use.", _LIST_PARAMETERS, answer=NamesData),
    SitePage(
        "/property", show_property, "A property: counts, classes, sites, example values.", _IRI, answer=PropertyProfile
    ),
    SitePage("/ontologies", show_names(NameKind.ONTOLOGY), "Ontologies by use.", _LIST_PARAMETERS, answer=NamesData),
    SitePage(
        "/ontology",
        show_ontology,
        "An ontology: counts, its classes and properties, sites, examples.",
        _IRI,
        answer=OntologyProfile,
    ),
    SitePage(
        "/sites",
        show_names(NameKind.SITE),
        "Sites by the statements on their pages.",
        _LIST_PARAMETERS,
        answer=NamesData,
    ),
    SitePage(
        "/site",
        show_site,
        "A site: counts, syntaxes, classes, properties, hosts around it, latest pages, examples.",
        (Parameter("name", _SITE, is_required=True),),
        # The links of a large site are millions.
        is_heavy=True,
        answer=SiteData,
    ),
    SitePage(
        "/quality",
        show_quality,
        "A report on a site's structured data: syntaxes, broken markup, wrong terms and values, missing properties, conflicts.",
        (Parameter("site", _SITE, is_required=True),),
        formats=("html", "json", "csv"),
        is_heavy=True,
        answer=ReportData,
    ),
)
