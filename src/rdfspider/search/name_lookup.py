"""Resolve names that people type for classes, ontologies, sites and pages to the IRIs that pages use.

`Person`, `schema:Person` and `https://schema.org/Person` are one class, and subclasses are included. A name that no page uses
is a UsageError that suggests similar names.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

from rdfspider.errors import UsageError
from rdfspider.extract.page import SYNTAXES
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.quads.selection import Selection
from rdfspider.pipeline import check_syntaxes
from rdfspider.results import HitKind, NameKind
from rdfspider.urls import host_of, is_valid_iri, normalise_url
from rdfspider.vocabulary.classes import list_class_names
from rdfspider.vocabulary.names import (
    expand_name,
    find_namespaces,
    find_ontology,
    find_short_name,
    list_prefixes,
    name_ontology,
    shorten_iri,
)
from rdfspider.vocabulary.prefixes import NAMESPACES
from rdfspider.vocabulary.schema_terms import suggest_class, suggest_property
from rdfspider.vocabulary.spellings import fold_class_name, fold_name, fold_namespace
from rdfspider.vocabulary.terms import fold_iri, make_graph_iri, replace_surrogates, skolemise

Names = str | Iterable[str] | None

# Per kind; pages invent names, but hardly more than this.
_NAMES_READ = 200_000
_NAMES_A_STEP = 5_000
_NAMES_COMPARED = 5_000
_YEAR = re.compile(r"[0-9]{4}")
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{1,8})*")
_SITE = re.compile(r"(?:[a-z][a-z0-9+.\-]*://)?([^\s/?#@]+?)(?::[0-9]+)?(?:[/?#].*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which statements a person asks for, by typed names; all given conditions must hold."""

    site: str | None = None
    """A host, or a domain with the hosts below it."""
    type: Names = None
    """Only things of one of these classes, or of one below it."""
    ontology: Names = None
    """Only things that use one of these ontologies."""
    page: str | None = None
    graph: Names = None
    """Only pages whose URL one of these patterns matches; `*` stands for anything."""
    without_graph: Names = None
    property: Names = None
    """Only statements with one of these properties."""
    without_property: Names = None
    syntax: Names = None
    """Only statements in one of these syntaxes."""
    without_syntax: Names = None

    def list_syntaxes(self) -> tuple[frozenset[str], frozenset[str]]:
        """The syntaxes that are chosen, and those that are left out; raise UsageError for unknown ones."""
        chosen, without = list_names(self.syntax), list_names(self.without_syntax)
        return (
            check_syntaxes(chosen) if chosen else frozenset(),
            check_syntaxes(without) if without else frozenset(),
        )


def make_selection(ledger: LedgerReader, choice: Choice) -> Selection:
    """Turn typed names into a selection, except syntaxes; raise UsageError if no page uses one."""
    return Selection(
        site=_find_site(ledger, choice.site) if choice.site is not None else "",
        page=_find_page(ledger, choice.page) if choice.page is not None else "",
        types=_find_all(ledger, choice.type, find_classes),
        terms=_find_all(ledger, choice.ontology, find_terms),
        graphs=tuple(list_names(choice.graph)),
        without_graphs=tuple(list_names(choice.without_graph)),
        properties=_find_all(ledger, choice.property, find_properties),
        without=_find_all(ledger, choice.without_property, find_properties) or frozenset(),
    )


def check_filter_values(filters: Mapping[str, Names]) -> None:
    """Raise UsageError for a value of a search filter that is invalid whatever was crawled."""
    for kind in list_names(filters.get("kind")):
        _check_choice("kind", kind.strip().lower(), [str(one) for one in HitKind])
    for year in list_names(filters.get("year")):
        if not _YEAR.fullmatch(year.strip()):
            raise UsageError(f"--year {year}: no year; it may be four digits, such as 2024")
    for syntax in list_names(filters.get("syntax")):
        _check_choice("syntax", re.sub(r"\W", "", syntax.lower()), SYNTAXES)
    for tag in list_names(filters.get("lang")):
        if not _TAG.fullmatch(tag.strip()):
            raise UsageError(f"--lang {tag}: no language tag; it may be one such as en or pt-BR")


def check_filter_names(ledger: LedgerReader, filters: Mapping[str, Names]) -> None:
    """Raise UsageError for a name in a search filter that neither a page nor a vocabulary uses."""
    for name in list_names(filters.get("type")):
        if not _is_known_term(name, suggest_class):
            find_classes(ledger, name)
    for name in list_names(filters.get("property")):
        if not _is_known_term(name, suggest_property):
            find_properties(ledger, name)
    for name in list_names(filters.get("ontology")):
        if "://" not in name and not find_namespaces(name.strip().rstrip(":")):
            find_terms(ledger, name)
    for name in list_names(filters.get("site")):
        _find_site(ledger, name)


def _check_choice(flag: str, asked: str, known: Sequence[str]) -> None:
    if asked in known:
        return
    near = get_close_matches(asked, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}? It may be" if near else "it may be"
    raise UsageError(f"--{flag} {asked}: not known; {hint} one of {', '.join(known)}")


def _is_known_term(name: str, suggest: Callable[[str], str]) -> bool:
    """Whether a name is an IRI, a term of schema.org in any case, or of another vocabulary with a well-known prefix."""
    text = name.strip().removeprefix("<").removesuffix(">")
    if "://" in text:
        return True
    prefix, colon, local = text.rpartition(":")
    if not colon or find_namespaces(prefix) == find_namespaces("schema"):
        return bool(local) and suggest(local).lower() == local.lower()
    return bool(local and find_namespaces(prefix))


def find_classes(ledger: LedgerReader, name: str) -> frozenset[str]:
    """Find the classes in use with this name, and their subclasses in schema.org's hierarchy or as pages state."""
    asked = _expand(name)
    used = list(_read_names(ledger, NameKind.CLASS))
    parents = (iri for iri in ledger.list_parents() if not asked.isdisjoint(list_class_names(iri)))
    asked |= {child.lower() for parent in parents for child in ledger.find_subclasses(parent)}
    found = {iri for iri in used if not asked.isdisjoint(list_class_names(iri))}
    if not found:
        raise _complain("class", name, used, shorten_iri, find_short_name, suggest_class)
    return frozenset(found)


def find_terms(ledger: LedgerReader, name: str) -> frozenset[str]:
    """Find the classes and properties in use of an ontology, given by its namespace or a well-known prefix."""
    asked = name.strip().lower().rstrip(":")
    namespaces = {*find_namespaces(asked), *(fold_namespace(name.strip() + end) for end in ("", "#", "/"))}
    used = list(_read_names(ledger, NameKind.ONTOLOGY))
    found = {iri for iri in used if iri in namespaces or iri.lower() == asked or asked in list_prefixes(iri)}
    if not found:
        raise _complain("ontology", name, used, name_ontology, name_ontology, _suggest_prefix)
    return frozenset(
        iri
        for kind in (NameKind.CLASS, NameKind.PROPERTY)
        for iri in _read_names(ledger, kind)
        if find_ontology(iri) in found
    )


def find_properties(ledger: LedgerReader, name: str, used: Collection[str] | None = None) -> frozenset[str]:
    """Find the properties in use with this name: `price`, `schema:price` or an IRI, also in angle brackets."""
    text = name.strip().removeprefix("<").removesuffix(">")
    asked = {iri.lower() for iri in expand_name(text) or [fold_name(text)]}
    used = list_properties(ledger) if used is None else used
    found = frozenset(iri for iri in used if iri.lower() in asked or find_short_name(iri) == text.lower())
    if not found:
        raise _complain("property", name, list(used), shorten_iri, find_short_name, suggest_property)
    return found


def list_properties(ledger: LedgerReader) -> list[str]:
    """List the properties in use, the most used first."""
    return list(_read_names(ledger, NameKind.PROPERTY))


def list_readings(name: str) -> list[str]:
    """List the IRIs that a name may mean: an IRI, a blank node's label in an export, a prefixed name, or a page's URL."""
    text = name.strip().removeprefix("<").removesuffix(">")
    if text.startswith("_:"):
        node = skolemise(text[2:])
        return [node] if node else []
    readings = [fold_iri(text), *(expand_name(text) if text.partition(":")[2] else ())]
    addresses = (text,) if ":" in text else (f"https://{text}", f"http://{text}") if "." in text else ()
    for url in addresses:
        # Normalising would drop the fragment, and mean the page instead.
        readings += [url if "#" in url else normalise_url(url) or url, make_graph_iri(url)]
    return [iri for iri in dict.fromkeys(readings) if is_valid_iri(iri)]


def _find_all(
    ledger: LedgerReader, names: Names, find: Callable[[LedgerReader, str], frozenset[str]]
) -> frozenset[str] | None:
    asked = list_names(names)
    return frozenset().union(*(find(ledger, name) for name in asked)) if asked else None


def list_names(names: Names) -> list[str]:
    """List typed names, of which there may be one, several or none."""
    if names is None:
        return []
    return [_clean(name) for name in ([names] if isinstance(names, str) or not isinstance(names, Iterable) else names)]


def _clean(name: object) -> str:
    """Replace lone surrogates: no name has them, and they cannot be written."""
    if not isinstance(name, str):
        raise UsageError(f"a name is text, not {name!r:.100}")
    return replace_surrogates(name)


def _expand(name: str) -> set[str]:
    """Return the names, in lower case, that a class may have in the index."""
    text = name.strip()
    return {iri.lower() for iri in expand_name(text) or [fold_class_name(text)]}


def _read_names(ledger: LedgerReader, kind: NameKind) -> Iterator[str]:
    for offset in range(0, _NAMES_READ, _NAMES_A_STEP):
        counts = ledger.read_names(kind, _NAMES_A_STEP, offset)
        yield from (each.name for each in counts)
        if len(counts) < _NAMES_A_STEP:
            return


def _complain(
    kind: str,
    name: str,
    used: Iterable[str],
    show: Callable[[str], str],
    compare: Callable[[str], str],
    suggest: Callable[[str], str] = lambda name: "",
) -> UsageError:
    """Make the error that no page uses a name, with similar names that pages use, or else with one of a vocabulary."""
    shown: dict[str, str] = {}
    for iri in islice(used, _NAMES_COMPARED):
        shown.setdefault(compare(iri), show(iri))
    asked = compare(name.strip()).lower() if name.strip() else ""
    near = [shown[each] for each in get_close_matches(asked.rpartition(":")[2], shown, n=3, cutoff=0.6)]
    # A name that differs from one of schema.org by its case alone is right, and only not used.
    if not near and (known := suggest(name.strip().rpartition(":")[2])) and known.lower() != asked:
        near = [known]
    hint = f"did you mean {' or '.join(near)}?" if near else "`rdfspider stats` lists what they use"
    return UsageError(f"no page uses {'an' if kind[0] in 'aeiou' else 'a'} {kind} that is called {name!r}: {hint}")


def _suggest_prefix(name: str) -> str:
    return next(iter(get_close_matches(name.lower(), NAMESPACES, n=1, cutoff=0.6)), "")


def _find_site(ledger: LedgerReader, name: str) -> str:
    """Return the host of a site's name or URL; raise UsageError if it has no pages."""
    found = _SITE.fullmatch(_clean(name).strip())
    url = normalise_url(f"http://{found[1]}/") if found else None
    if url is None:
        raise UsageError(f"{_clean(name)!r} is no site: name a host, such as example.org")
    host = host_of(url)
    sites = list(_read_names(ledger, NameKind.SITE))
    for site in sites:
        # Sites are registrable domains; the name may be a host of one, or a parent domain of several.
        if site == host or site.endswith(f".{host}"):
            return host
        if host.endswith(f".{site}") and ledger.has_host(site, host):
            return host
    near = get_close_matches(host, sites[:_NAMES_COMPARED], n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else "`rdfspider stats` lists the sites"
    raise UsageError(f"no page of {host} is indexed: {hint}")


def _find_page(ledger: LedgerReader, page: str) -> str:
    page = _clean(page)
    for url in (page.strip(), normalise_url(page.strip())):
        if url and ledger.find_page(url):
            return make_graph_iri(url)
    raise UsageError(f"no page {page!r} is indexed: `rdfspider why` tells what became of a URL")
