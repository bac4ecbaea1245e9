"""The ontologies that a page's data is written in: N-Quads in, the addresses of namespaces out, each once.

A namespace is what stands before the name of a property or class: up to its last `#` or `/`.
"""

from collections import Counter
from collections.abc import Iterable

from rdfspider.urls import MAX_HOST_CHARS, host_of, resolve_links

MAX_PER_PAGE = 20
"""Ontologies that one page can bring; real pages use a handful."""
MAX_PER_SITE = 100
"""Of the pages of one registrable domain, so that nobody uses up those of all."""
# Of one shard: whole catalogues of ontologies have some thousands.
_MAX_KNOWN = 10_000
_RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


class Ontologies:
    """Tells which namespaces are new."""

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
                    if parts[1] == _RDF_TYPE:
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
