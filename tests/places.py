"""Pages that are known by a word each, and every place of a crawl's indexes in which that word is found. For tests only."""

from collections.abc import Sequence
from typing import Any

from rdfspider import Crawl
from rdfspider.errors import UsageError
from web import Answer

EVERYWHERE = {"words", "merge", "graph", "entity", "stats", "export"}
_VOCABULARY = "http://vocabulary.test/"


def make_worded(url: str, word: str, links: Sequence[str] = (), head: str = "", **answer: Any) -> Answer:
    """A page about one thing, whose class and name have a word that no other page has."""
    data = f'{{"@id": "{url}#it", "@type": "{_VOCABULARY}{word}", "http://schema.org/name": "called {word}"}}'
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    body = f'<!doctype html><title>{url}</title>{head}<script type="application/ld+json">{data}</script>{anchors}'
    return Answer(body=body.encode(), **answer)


def find_places(crawl: Crawl, url: str, word: str) -> set[str]:
    """Where the word of a page is found, out of everywhere."""
    found = {
        "words": any(word in hit.label for hit in crawl.search(word)),
        "merge": crawl.query(f'ASK {{ ?s ?p "called {word}" }}') is True,
        "graph": crawl.query(f'ASK {{ GRAPH <{url}> {{ ?s ?p "called {word}" }} }}') is True,
        "entity": _is_said(crawl, f"{url}#it", f"called {word}"),
        "stats": any(count.name == _VOCABULARY + word for count in crawl.stats().classes),
        "export": any(word in str(quad) for quad in crawl.quads()),
    }
    return {place for place, is_found in found.items() if is_found}


def _is_said(crawl: Crawl, iri: str, name: str) -> bool:
    try:
        return name in [value.text for value in crawl.entity(iri)["name"]]
    except UsageError:
        return False
