"""The URLs and answers of the demo's sites: the URL by which one site refers to what another describes, and the pages at it."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from rdfspider.demo.world import Book, DemoPlace, Person, Product

HTML = "text/html; charset=utf-8"
TURTLE = "text/turtle; charset=utf-8"
RDF_XML = "application/rdf+xml"
JSON_LD = "application/ld+json"
SCHEMA = "https://schema.org"

Fields = tuple[tuple[str, str], ...]

_STYLE = "body{font:16px/1.5 Georgia,serif;max-width:44em;margin:2em auto;padding:0 1em}nav a{margin-right:1em}"
_HOMES = {
    "writer": ("library", "/authors/"),
    "scholar": ("university", "/people/"),
    "cook": ("recipes", "/cooks/"),
    "maker": ("museum", "/makers/"),
    "citizen": ("town", "/people/"),
}


@dataclass(frozen=True, slots=True)
class DemoAddresses:
    """URLs of the demo's sites, which depend on the port."""

    port: int

    def url(self, site: str, path: str = "/") -> str:
        """The URL of a path on a site."""
        return f"http://{site}.localhost:{self.port}{path}"

    def person(self, person: Person) -> str:
        """The page about a person on their own site."""
        site, folder = _HOMES[person.trade]
        return self.url(site, folder + person.key)

    def author(self, person: Person) -> str:
        """The library's page about an author."""
        return self.url("library", f"/authors/{person.key}")

    def place(self, place: DemoPlace) -> str:
        """The IRI of a place, which redirects to data or to a page, by content negotiation."""
        return self.url("data", f"/id/{place.key}")

    def book(self, book: Book) -> str:
        """The library's page about a book."""
        return self.url("library", f"/books/{book.key}")

    def product(self, product: Product) -> str:
        """The shop's page about a product."""
        return self.url("shop", f"/products/{product.key}")


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """One response of a site, without the headers that the server adds to each."""

    body: bytes = b""
    content_type: str = HTML
    status: int = 200
    headers: Fields = ()


Dynamic = Callable[[str, str, Mapping[str, str]], DemoAnswer | None]
"""Path, query and request headers enter, a response leaves; None if there is no such page."""


@dataclass(slots=True)
class DemoSite:
    """A site: its pages by path and query, and a function for pages that depend on more."""

    title: str
    robots: str = ""
    """Its robots.txt; empty if it has none."""
    pages: dict[str, DemoAnswer] = field(default_factory=dict)
    find_page: Dynamic | None = None

    def add(
        self, path: str, title: str, content: str, *, head: str = "", headers: Fields = (), lang: str = "en"
    ) -> None:
        """Add an HTML page in the site's layout."""
        self.pages[path] = self.frame(title, content, head=head, headers=headers, lang=lang)

    def frame(
        self, title: str, content: str, *, head: str = "", headers: Fields = (), lang: str = "en", status: int = 200
    ) -> DemoAnswer:
        """An HTML page with the site's name and a link to its home page."""
        return DemoAnswer(
            f"""<!doctype html>
<html lang="{lang}"><head><meta charset="utf-8"><title>{escape(title)} · {escape(self.title)}</title>
<style>{_STYLE}</style>
{head}</head>
<body><nav><a href="/">{escape(self.title)}</a></nav>
<main>
{content}
</main></body></html>
""".encode(),
            headers=headers,
            status=status,
        )

    def add_data(self, path: str, text: str, content_type: str, headers: Fields = ()) -> None:
        """Add a document that consists of data only."""
        self.pages[path] = DemoAnswer(text.encode(), content_type, headers=headers)

    def answer(self, path: str, query: str, headers: Mapping[str, str]) -> DemoAnswer:
        """Answer a request; as on most servers, unknown parameters are ignored."""
        if path == "/robots.txt":
            return DemoAnswer(self.robots.encode(), "text/plain; charset=utf-8") if self.robots else self._miss()
        found = self.find_page(path, query, headers) if self.find_page else None
        return found or self.pages.get(f"{path}?{query}") or self.pages.get(path) or self._miss()

    def _miss(self) -> DemoAnswer:
        return self.frame("Not found", "<p>There is no such page.</p>", status=404)

    def add_redirect(self, path: str, target: str, status: int = 301) -> None:
        """Add a path that redirects."""
        self.pages[path] = redirect(target, status)


def redirect(target: str, status: int, headers: Fields = ()) -> DemoAnswer:
    """A redirect."""
    return DemoAnswer(status=status, headers=(("Location", target), *headers))


def script(data: Mapping[str, Any]) -> str:
    """A JSON-LD script element, with schema.org's context."""
    return (
        f'<script type="application/ld+json">{json.dumps({"@context": SCHEMA, **data}, ensure_ascii=False)}</script>\n'
    )


def link(target: str, text: str, attributes: str = "") -> str:
    """A hyperlink."""
    return f'<a href="{escape(target)}"{attributes and " "}{attributes}>{escape(text)}</a>'


def listing(links: Iterable[tuple[str, str]]) -> str:
    """A list of links: targets and texts."""
    return "<ul>" + "".join(f"\n<li>{link(target, text)}</li>" for target, text in links) + "\n</ul>"


def alternate(target: str, media_type: str) -> str:
    """A link element that refers to another representation of the page."""
    return f'<link rel="alternate" type="{media_type}" href="{escape(target)}">\n'
