"""The search page: a query and filters enter, results as cards with facets leave; and suggestions while somebody types."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from rdfspider.errors import UnindexedError
from rdfspider.results import MAX_RESULTS, Facet, FacetCount, Hit, HitKind, NameCount, Results, Suggestion
from rdfspider.search.indexes import FACET_TITLES, find_asked_kind, name_value
from rdfspider.serve.pages.things import list_downloads
from rdfspider.serve.rendering import MAX_TEXT_CHARS, clean_text, cut_middle, make_address
from rdfspider.serve.replies import CsvTable, PageReply, PageRequest, Parameter, SitePage
from rdfspider.vocabulary.names import find_local_name, find_short_name, list_prefixes, split_iri
from rdfspider.vocabulary.terms import fold_iri

RESULTS_SHOWN, MAX_SHOWN = 10, 100
"""Results per page: by default, and at most."""
_ONTOLOGIES_OFFERED = 30
# An ontology without a well-known prefix is offered if this many pages use it.
_PAGES_OFTEN = 3
_SUGGESTIONS_SHOWN = 8
# After deleting a letter, the browser still has the previous suggestions.
_KEPT_SHORTLY = {"Cache-Control": "private, max-age=10"}
# Per result, in RDF.
_MAX_STATEMENTS = 2_000
_HEADS = ("kind", "id", "label", "types", "snippet", "url", "image", "facts", "pages", "sites", "date")
# Per field; nobody chooses more.
_MAX_CHOSEN = 20
_NAME_CHARS = 48
_TYPE_ALONE = re.compile(r"type:([^\s\"()*]+)")
_QUESTION = Parameter("q", "Words, and more: see the documentation of search.")


@dataclass(frozen=True, slots=True)
class SuggestionsData:
    """How a question may go on, for JSON."""

    query: str
    suggestions: list[Suggestion]


@dataclass(frozen=True, slots=True)
class Choice:
    """A value of a facet."""

    value: str
    name: str
    """The display name: short, and different from the others."""
    whole: str
    """The full value, for when the name is shortened."""
    count: int
    address: str
    """The URL that toggles the choice."""
    is_chosen: bool
    inside: tuple["Choice", ...] = ()
    """Values below it in the hierarchy: subclasses."""


@dataclass(frozen=True, slots=True)
class Choices:
    """A facet with its values."""

    field: str
    title: str
    choices: tuple[Choice, ...]
    is_approximate: bool


@dataclass(frozen=True, slots=True)
class Chip:
    """A chosen value."""

    title: str
    """The title of its field."""
    name: str
    whole: str
    address: str
    """The URL that removes the choice."""


def show_search(request: PageRequest) -> PageReply:
    """Show results, the best first; without a query, everything."""
    selection = FacetSelection(request)
    limit = request.get_number("limit", RESULTS_SHOWN, MAX_SHOWN)
    most_pages = MAX_RESULTS // limit
    page = request.get_number("page", 1, most_pages)
    kind = _find_kind(request)
    context: dict[str, Any] = {"selection": selection, "page": page, "ontologies": list_ontologies(request)}
    try:
        results = _search(request, selection, kind, page, limit)
    except UnindexedError:
        # The first pages may not be indexed yet, which is not the client's error.
        if request.format != "html":
            raise
        return PageReply("search.html", {**context, "results": None}, status=503)
    if request.format == "html":
        request.find_images(hit.image for hit in results.hits)
    context |= {
        "results": results,
        "kind": kind,
        "pages": min(-(-results.total // limit), most_pages),
        "reachable": most_pages * limit,
        "facets": [selection.make_choices(facet) for facet in results.facets if facet.counts],
        "downloads": _list_tables(request, selection, kind),
    }
    return PageReply(
        "search.html",
        context,
        data=lambda: results,
        table=lambda: CsvTable(_HEADS, map(_make_row, results)),
        nquads=lambda: request.site.indexes.dump_hits(results, _MAX_STATEMENTS),
    )


def show_suggestions(request: PageRequest) -> PageReply:
    """Suggest how the query may continue."""
    try:
        found = request.site.indexes.suggest(request.get("q"), _SUGGESTIONS_SHOWN) if request.get("q") else []
    except UnindexedError:
        # Nothing is indexed yet.
        found = []
    # They are put into the search box verbatim.
    suggestions = [replace(one, text=clean_text(one.text), about=clean_text(one.about)) for one in found]
    return PageReply("", data=lambda: SuggestionsData(request.get("q"), suggestions), headers=_KEPT_SHORTLY)


def list_ontologies(request: PageRequest) -> list[tuple[str, str, bool]]:
    """The most used ontologies and the chosen one, for the list beside the search box: IRI, name, and whether it is chosen."""
    statistics = request.site.indexes.recent_statistics()
    used = filter(_is_worth_choosing, statistics.ontologies if statistics else ())
    names = [count.name for count in islice(used, _ONTOLOGIES_OFFERED)]
    asked = request.get("ontology")
    chosen = next((name for name in names if asked and is_called("ontology", name, asked)), "")
    if asked and not chosen:
        names, chosen = [asked, *names], asked
    return [(iri, name, iri == chosen) for iri, name in name_ontologies(names).items()]


def _is_worth_choosing(count: NameCount) -> bool:
    """Whether an ontology has a well-known prefix or is used by several pages: some pages mistake words for prefixes, or
    themselves for an ontology."""
    is_address = count.name.startswith(("http://", "https://"))
    return bool(list_prefixes(count.name)) or (is_address and count.pages >= _PAGES_OFTEN)


def _search(request: PageRequest, selection: "FacetSelection", kind: str, page: int, limit: int) -> Results:
    indexes, question = request.site.indexes, request.get("q")
    chosen: dict[str, Any] = {**selection.chosen, "kind": kind or None, "exact": request.get("spell") == "off"}
    has_facets = request.format in ("html", "json")
    results = indexes.search(question, **chosen, limit=limit, offset=(page - 1) * limit, facets=has_facets)
    if not has_facets or not selection.chosen:
        return results
    facets = {facet.field: facet for facet in results.facets}
    for field in selection.chosen:
        # The alternatives within a field are not among the results. One click earlier they were, so they are already counted.
        others = {name: values for name, values in chosen.items() if name != field}
        found = indexes.search(question, **others, limit=1, facets=True)
        without = next(facet for facet in found.facets if facet.field == field)
        facets[field] = selection.widen(facets[field], without)
    return replace(results, facets=tuple(facets.values()))


def _find_kind(request: PageRequest) -> str:
    """The requested kind of results, from the query or the parameter; empty if neither names one."""
    kind = find_asked_kind(request.get("q")) or request.get("kind")
    return kind if kind in (HitKind.ENTITY, HitKind.PAGE) else ""


def _list_tables(request: PageRequest, selection: "FacetSelection", kind: str) -> list[tuple[str, str]]:
    """The results as tables with one row a thing, where they are just the things of one class, or those of a site."""
    question = request.get("q").strip()
    asked = _TYPE_ALONE.fullmatch(question)
    classes = (*(asked.groups() if asked else ()), *selection.chosen.get("type", ()))
    sites = selection.chosen.get("site", ())
    is_more = (question and not asked) or not selection.chosen.keys() <= {"type", "site"}
    if is_more or kind == HitKind.PAGE or len(classes) != 1 or len(sites) > 1:
        return []
    return list_downloads(classes[0], *sites)


def _make_row(hit: Hit) -> Sequence[object]:
    facts = "; ".join(f"{name}: {value}" for name, value in hit.fact_names)
    shown = (hit.label, " ".join(hit.types), hit.snippet.text, hit.url, hit.image, facts)
    return (hit.kind, hit.id, *shown, hit.sources, hit.site_count, hit.day)


class FacetSelection:
    """The chosen filters, and the URLs that change them."""

    def __init__(self, request: PageRequest) -> None:
        found = ((field, request.get_all(field)[:_MAX_CHOSEN]) for field in FACET_TITLES)
        self.chosen: dict[str, tuple[str, ...]] = {field: values for field, values in found if values}
        self._question = request.get("q")
        self._kept = {name: request.get(name) for name in ("kind", "spell", "limit") if request.get(name)}

    def list_kept(self) -> list[tuple[str, str]]:
        """The hidden fields of the form, without the first ontology, which is chosen beside the search box."""
        kept = self.chosen | {"ontology": self.chosen.get("ontology", ())[1:]}
        pairs = [(field, value) for field, values in kept.items() for value in values]
        return [*pairs, *self._kept.items()]

    def list_chips(self) -> list[Chip]:
        """All chosen values."""
        return [
            Chip(FACET_TITLES[field].lower(), name, _clean(value), self._locate(field, _without(values, (value,))))
            for field, values in self.chosen.items()
            for value, name in name_apart(field, values).items()
        ]

    def clear(self) -> str:
        """The URL of the query without filters."""
        return make_address("/search", q=self._question, **self._kept)

    def widen(self, within: Facet, without: Facet) -> Facet:
        """The counts of a field without its own filter, plus the chosen values and those below them from the filtered counts."""
        known = {one.value for one in without.counts}
        chosen = self.chosen.get(within.field, ())
        kept: dict[str, FacetCount] = {}
        for one in within.counts:
            if one.parent in kept or any(is_called(within.field, one.value, value) for value in chosen):
                kept[one.value] = one
        more = tuple(one for one in kept.values() if one.value not in known)
        return replace(without, counts=(*more, *without.counts))

    def make_choices(self, facet: Facet) -> Choices:
        """Make a facet with its links; subclasses are nested in their superclasses."""
        known = {one.value for one in facet.counts}
        below: dict[str | None, list[FacetCount]] = {}
        for one in facet.counts:
            below.setdefault(one.parent if one.parent in known else None, []).append(one)
        names = name_apart(facet.field, [one.value for one in facet.counts])
        choices = self._make_level(facet.field, None, below, names, ())
        return Choices(facet.field, FACET_TITLES[facet.field], choices, facet.is_approximate)

    def _make_level(
        self,
        field: str,
        parent: str | None,
        below: Mapping[str | None, Sequence[FacetCount]],
        names: Mapping[str, str],
        above: tuple[str, ...],
    ) -> tuple[Choice, ...]:
        """The values directly below `parent` (None for the top), with their descendants; `above` are the ancestors of all."""
        level = []
        for one in below.get(parent, ()):
            inside = self._make_level(field, one.value, below, names, (*above, one.value))
            level.append(self._make_choice(field, one, names[one.value], inside, above))
        return tuple(level)

    def _make_choice(
        self, field: str, one: FacetCount, name: str, inside: tuple[Choice, ...], above: tuple[str, ...]
    ) -> Choice:
        chosen = self.chosen.get(field, ())
        same = [value for value in chosen if is_called(field, one.value, value)]
        if same:
            values = _without(chosen, same)
        else:
            # Choosing a subclass or superclass of a chosen class replaces it.
            kin = (*above, *_list_values(inside))
            instead = [value for value in chosen if any(is_called(field, each, value) for each in kin)]
            values = (*_without(chosen, instead), one.value)
        address = self._locate(field, values)
        return Choice(one.value, name, _clean(one.value), one.count, address, bool(same), inside)

    def _locate(self, field: str, values: Iterable[str]) -> str:
        chosen = self.chosen | {field: tuple(values)}
        return make_address("/search", q=self._question, **chosen, **self._kept)


def name_apart(field: str, values: Sequence[str]) -> dict[str, str]:
    """Display names by value. Classes, and properties of unknown namespaces, have local names, and long names are cut in the
    middle; classes of the same name have their prefix, and names that would still be the same are shown in full."""
    names = name_ontologies(values) if field == "ontology" else {value: _name_shortly(field, value) for value in values}
    if field == "type":
        local = {value: clean_text(find_local_name(value)).strip() or value for value in values}
        uses = Counter(local.values())
        names = {value: name if uses[name] == 1 else names[value] for value, name in local.items()}
    names = {value: cut_middle(name, _NAME_CHARS) for value, name in names.items()}
    counts = Counter(names.values())
    return {value: name if counts[name] == 1 else _clean(value) for value, name in names.items()}


def _name_shortly(field: str, value: str) -> str:
    name = name_value(field, value)
    is_iri = name == value and field in ("type", "property") and value.startswith(("http://", "https://", "urn:"))
    local = clean_text(split_iri(value)[1]).strip() if is_iri else ""
    return local or clean_text(name)


def name_ontologies(iris: Sequence[str]) -> dict[str, str]:
    """Display names of ontologies by IRI; those that share a prefix also show their namespace."""
    names = {iri: clean_text(name_value("ontology", iri)) for iri in iris}
    counts = Counter(names.values())
    return {iri: name if counts[name] == 1 else f"{name} · {clean_text(iri)}" for iri, name in names.items()}


def is_called(field: str, value: str, name: str) -> bool:
    """Whether a name denotes a value: schema:Person, person and the IRI are equivalent."""
    asked = fold_iri(name).lower()
    if asked in (value.lower(), name_value(field, value).lower()):
        return True
    if field == "ontology":
        return asked in list_prefixes(value)
    return field in ("type", "property") and asked == find_short_name(value)


def _list_values(choices: Iterable[Choice]) -> Iterator[str]:
    for choice in choices:
        yield choice.value
        yield from _list_values(choice.inside)


def _clean(value: str) -> str:
    return clean_text(value[:MAX_TEXT_CHARS])


def _without(values: tuple[str, ...], taken: Iterable[str]) -> tuple[str, ...]:
    gone = set(taken)
    return tuple(value for value in values if value not in gone)


PAGES = (
    SitePage(
        "/search",
        show_search,
        "Things and pages that fit a question, the best first, and how many have which type, ontology, site and more.",
        (
            _QUESTION,
            *(
                Parameter(field, f"{title}; several mean any of them.", is_repeated=True)
                for field, title in FACET_TITLES.items()
            ),
            Parameter("kind", "entity or page; without it things, and pages that are about none."),
            Parameter("spell", "off searches for unknown words as they are; else they are corrected."),
            Parameter("page", "Which page of results, from 1 on.", kind="integer"),
            Parameter("limit", f"How many results a page has: 1 to {MAX_SHOWN}, else {RESULTS_SHOWN}.", kind="integer"),
        ),
        answer=Results,
    ),
    SitePage(
        "/suggest",
        show_suggestions,
        "How a question may go on that somebody types.",
        (_QUESTION,),
        formats=("json",),
        answer=SuggestionsData,
    ),
)
