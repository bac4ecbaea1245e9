"""Links inside the data of a page: N-Quads enter; URLs leave that are objects of certain predicates, results of a query, or
namespaces of new terms.

`crawl.data_links` lists the predicates, or is one SPARQL query. Objects are IRIs, or literals that consist of a URL, as in feeds
and many pages.
"""

import re
from collections import Counter
from collections.abc import Iterable

from pyoxigraph import NamedNode, QuerySolutions, RdfFormat, Store

from rdfspider.urls import MAX_HOST_CHARS, host_of, resolve_links
from rdfspider.vocabulary.terms import RDF_TYPE_TERM

MAX_DATA_LINKS = 10_000
"""Addresses taken from one page's data: as many as a page may have links."""
MAX_QUERY_CHARS = 10_000
# SPARQL parsers recurse into nested parts, so deep nesting could overflow the stack.
_MAX_QUERY_DEPTH = 100

# An object that is an http(s) IRI, or a literal that consists of an address, with any language or datatype.
_ADDRESS = re.compile(
    r'<(https?://[^>\\]+)> |"(?:\\[tnr]|\s)*+(https?://[^"\\\s]+)(?:\\[tnr]|\s)*+"(?:@[\w-]++|\^\^<[^>]*+>)? '
)
_QUERY = re.compile(r"\s*+(?:SELECT|PREFIX|BASE)\b", re.IGNORECASE)
# Parts of a query whose words are not keywords: IRIs, strings, comments and variables.
_OPAQUE = re.compile(
    r"<[^<>\"{}|^`\\\s]*+>|'''.*?'''|\"\"\".*?\"\"\"|'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|#[^\n]*+|[?$]\w++",
    re.DOTALL,
)
_SPACE = re.compile(r"\s+")
_SERVICE = re.compile(r"(?<![\w:\-.])SERVICE(?![\w:\-])", re.IGNORECASE)
MAX_ONTOLOGIES_PER_PAGE = 20
"""Ontologies that one page can lead to; real pages use a handful."""
MAX_ONTOLOGIES_PER_SITE = 100
"""Ontologies from the pages of one registrable domain, so that no site exhausts the shard's limit."""
# Ontologies per shard: whole catalogues have some thousands.
_MAX_KNOWN = 10_000


class DataLinks:
    """Finds the objects of certain predicates."""

    def __init__(self, predicates: Iterable[str]) -> None:
        wanted = "|".join(map(re.escape, predicates))
        # Each match is a line; the group has the object and the rest if the predicate is wanted. All quantifiers are possessive,
        # so that the text is read once.
        self._find_objects = re.compile(rf"[^ ]*+ (?:<(?:{wanted})> ([^\n]*+))?+[^\n]*+\n").findall

    def find(self, statements: Iterable[str]) -> list[str]:
        """Return the addresses as written, each once."""
        found: dict[str, None] = {}
        for nquads in statements:
            for written in filter(None, self._find_objects(nquads)):
                if address := _ADDRESS.match(written):
                    found[address[1] or address[2]] = None
                    if len(found) >= MAX_DATA_LINKS:
                        return list(found)
        return list(found)


def find_query(entries: Iterable[str]) -> str:
    """Return the query in `crawl.data_links`; empty if the entries are predicates."""
    listed = tuple(entries)
    return listed[0] if len(listed) == 1 and _QUERY.match(listed[0]) else ""


def flatten_query(query: str) -> str:
    """Return the query on one line and without comments; line breaks inside strings stay."""
    parts: list[str] = []
    end = 0
    for opaque in _OPAQUE.finditer(query):
        parts += (_SPACE.sub(" ", query[end : opaque.start()]), " " if opaque[0].startswith("#") else opaque[0])
        end = opaque.end()
    return "".join((*parts, _SPACE.sub(" ", query[end:]))).strip()


def check_query(query: str) -> None:
    """Raise a ValueError that says why a query cannot be used."""
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
    """Return every IRI in the results of a query over a page's data. It may take any time: run it in a process you can kill."""
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


class Ontologies:
    """Finds namespaces that no page of this shard has used before: their ontologies may be at these addresses."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._by_site: Counter[str] = Counter()

    def find(self, site: str, statements: Iterable[str]) -> list[str]:
        """Return the addresses of namespaces that no earlier page has used; `site` is a registrable domain."""
        names: set[str] = set()
        for nquads in statements:
            for line in nquads.split("\n"):
                parts = line.split(" ", 3)
                if len(parts) == 4:
                    names.add(parts[1])
                    if parts[1] == RDF_TYPE_TERM:
                        names.add(parts[2])
        found: list[str] = []
        for name in sorted(names):
            namespace = _cut_name(name)
            if namespace and namespace not in self._known:
                is_full = len(self._known) >= _MAX_KNOWN or self._by_site[site] >= MAX_ONTOLOGIES_PER_SITE
                if len(found) == MAX_ONTOLOGIES_PER_PAGE or is_full:
                    break
                self._known.add(namespace)
                self._by_site[site] += 1
                found.append(namespace)
        addresses = resolve_links("", found)
        urls = dict.fromkeys(address for address in map(addresses.get, found) if address)
        return [url for url in urls if len(host_of(url)) <= MAX_HOST_CHARS]


def _measure_depth(bare: str) -> int:
    depth = deepest = 0
    for character in bare:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    return deepest


def _cut_name(term: str) -> str:
    """Return the namespace of a term; empty if it is not on the web."""
    if not term.startswith(("<http://", "<https://")):
        return ""
    iri = term[1:-1]
    end = iri.rfind("#") if "#" in iri else iri.rfind("/")
    # An IRI without a path has no namespace.
    return iri[: end + 1] if end > len("https://") else ""
