"""Links inside the data of a page: N-Quads enter; the URLs that certain predicates point to, that a query finds, or that are the
namespaces of new terms leave.

Which predicates count is `crawl.data_links`, or a SPARQL query there. Objects are IRIs, or literals that are nothing but a URL:
feeds and many pages write their links so.
"""

import re
from collections import Counter
from collections.abc import Iterable

from pyoxigraph import NamedNode, QuerySolutions, RdfFormat, Store

from rdfspider.urls import MAX_HOST_CHARS, host_of, resolve_links
from rdfspider.vocabulary.terms import RDF_TYPE

MAX_DATA_LINKS = 10_000
"""Addresses that are taken out of one page's data: as many as there may be links on it."""
MAX_QUERY_CHARS = 10_000
# Parsers of SPARQL follow nesting on their stack.
_MAX_QUERY_DEPTH = 100

# An object that is an IRI of the web, or a text that is nothing but an address, whatever its language or datatype.
_ADDRESS = re.compile(
    r'<(https?://[^>\\]+)> |"(?:\\[tnr]|\s)*+(https?://[^"\\\s]+)(?:\\[tnr]|\s)*+"(?:@[\w-]++|\^\^<[^>]*+>)? '
)
_QUERY = re.compile(r"\s*+(?:SELECT|PREFIX|BASE)\b", re.IGNORECASE)
# What may hold any word in a query and means none: addresses, texts, comments and variables.
_OPAQUE = re.compile(
    r"<[^<>\"{}|^`\\\s]*+>|'''.*?'''|\"\"\".*?\"\"\"|'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|#[^\n]*+|[?$]\w++",
    re.DOTALL,
)
_SPACE = re.compile(r"\s+")
_SERVICE = re.compile(r"(?<![\w:\-.])SERVICE(?![\w:\-])", re.IGNORECASE)


class DataLinks:
    """Finds the objects of some predicates."""

    def __init__(self, predicates: Iterable[str]) -> None:
        wanted = "|".join(map(re.escape, predicates))
        # Each match is a line, with its object and what follows where the predicate is wanted. No part gives back what it took,
        # so that the text is read once.
        self._find_objects = re.compile(rf"[^ ]*+ (?:<(?:{wanted})> ([^\n]*+))?+[^\n]*+\n").findall

    def find(self, statements: Iterable[str]) -> list[str]:
        """Addresses as they are written, each once."""
        found: dict[str, None] = {}
        for nquads in statements:
            for written in filter(None, self._find_objects(nquads)):
                if address := _ADDRESS.match(written):
                    found[address[1] or address[2]] = None
                    if len(found) >= MAX_DATA_LINKS:
                        return list(found)
        return list(found)


def find_query(entries: Iterable[str]) -> str:
    """The query that a list of data links is; empty where it is one of predicates."""
    listed = tuple(entries)
    return listed[0] if len(listed) == 1 and _QUERY.match(listed[0]) else ""


def flatten_query(query: str) -> str:
    """The same query on one line and without its comments, as far as its texts allow."""
    parts: list[str] = []
    end = 0
    for opaque in _OPAQUE.finditer(query):
        parts += (_SPACE.sub(" ", query[end : opaque.start()]), " " if opaque[0].startswith("#") else opaque[0])
        end = opaque.end()
    return "".join((*parts, _SPACE.sub(" ", query[end:]))).strip()


def check_query(query: str) -> None:
    """Raise a ValueError, with what is wrong, for a query that cannot be used."""
    if len(query) > MAX_QUERY_CHARS:
        raise ValueError(f"it has more than {MAX_QUERY_CHARS:,} characters")
    bare = _OPAQUE.sub(" ", query)
    if _SERVICE.search(bare):
        raise ValueError("SERVICE would ask other servers")
    if _measure_depth(bare) > _MAX_QUERY_DEPTH:
        raise ValueError(f"it nests deeper than {_MAX_QUERY_DEPTH}")
    try:
        found = Store().query(query)
    except (SyntaxError, ValueError, OSError) as error:
        raise ValueError(" ".join(str(error).split())) from error
    if not isinstance(found, QuerySolutions):
        raise ValueError("it is no SELECT")


def run_query(query: str, url: str, nquads: str) -> list[str]:
    """Every IRI in the results of a query over the data of a page. It may take any time: call it where it can be killed."""
    store = Store()
    store.load(nquads.encode(), RdfFormat.N_QUADS)
    found: dict[str, None] = {}
    results = store.query(query, base_iri=url, use_default_graph_as_union=True)
    for solution in results if isinstance(results, QuerySolutions) else ():
        for term in solution:
            if isinstance(term, NamedNode):
                found[term.value] = None
        if len(found) >= MAX_DATA_LINKS:
            break
    return list(found)


def _measure_depth(bare: str) -> int:
    depth = deepest = 0
    for character in bare:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    return deepest


MAX_PER_PAGE = 20
"""Ontologies that one page can lead to; real pages use a handful."""
MAX_PER_SITE = 100
"""Of the pages of one registrable domain, so that nobody uses up those of all."""
# Of one shard: whole catalogues of ontologies have some thousands.
_MAX_KNOWN = 10_000


class Ontologies:
    """Finds the namespaces of terms that no page of this shard has used before: where their ontologies may be."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._by_site: Counter[str] = Counter()

    def find(self, site: str, statements: Iterable[str]) -> list[str]:
        """The addresses of namespaces that no page before has used; the site is a registrable domain."""
        names: set[str] = set()
        for nquads in statements:
            for line in nquads.split("\n"):
                parts = line.split(" ", 3)
                if len(parts) == 4:
                    names.add(parts[1])
                    if parts[1] == RDF_TYPE:
                        names.add(parts[2])
        found: list[str] = []
        for name in sorted(names):
            namespace = _cut_name(name)
            if namespace and namespace not in self._known:
                is_full = len(self._known) >= _MAX_KNOWN or self._by_site[site] >= MAX_PER_SITE
                if len(found) == MAX_PER_PAGE or is_full:
                    break
                self._known.add(namespace)
                self._by_site[site] += 1
                found.append(namespace)
        addresses = resolve_links("", found)
        urls = dict.fromkeys(address for address in map(addresses.get, found) if address)
        return [url for url in urls if len(host_of(url)) <= MAX_HOST_CHARS]


def _cut_name(term: str) -> str:
    """The namespace of a term; empty where it is not on the web."""
    if not term.startswith(("<http://", "<https://")):
        return ""
    iri = term[1:-1]
    end = iri.rfind("#") if "#" in iri else iri.rfind("/")
    # Nothing but a host is no name in a namespace, but the namespace of one.
    return iri[: end + 1] if end > len("https://") else ""
