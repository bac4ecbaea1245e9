"""Where the sites keep things: the URL by which one site speaks of what another one is about."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from rdfspider.demo.world import Book, DemoPlace, Person, Product

_HOMES = {
    "writer": ("library", "/authors/"),
    "scholar": ("university", "/people/"),
    "cook": ("recipes", "/cooks/"),
    "maker": ("museum", "/makers/"),
    "citizen": ("town", "/people/"),
}


@dataclass(frozen=True, slots=True)
class DemoAddresses:
    """URLs of the demo's web, which depend on the port that it is served at."""

    port: int

    def url(self, site: str, path: str = "/") -> str:
        """The URL of a path on a site."""
        return f"http://{site}.localhost:{self.port}{path}"

    def person(self, person: Person) -> str:
        """The page about somebody on the site where they belong."""
        site, folder = _HOMES[person.trade]
        return self.url(site, folder + person.key)

    def author(self, person: Person) -> str:
        """The library's page about somebody who writes books."""
        return self.url("library", f"/authors/{person.key}")

    def place(self, place: DemoPlace) -> str:
        """The name of a place, which leads to data or to a page, as one asks."""
        return self.url("data", f"/id/{place.key}")

    def book(self, book: Book) -> str:
        """The library's page about a book."""
        return self.url("library", f"/books/{book.key}")

    def product(self, product: Product) -> str:
        """The shop's page about a product."""
        return self.url("shop", f"/products/{product.key}")


HTML = "text/html; charset=utf-8"
TURTLE = "text/turtle; charset=utf-8"
RDF_XML = "application/rdf+xml"
JSON_LD = "application/ld+json"
SCHEMA = "https://schema.org"

Fields = tuple[tuple[str, str], ...]

_STYLE = "body{font:16px/1.5 Georgia,serif;max-width:44em;margin:2em auto;padding:0 1em}nav a{margin-right:1em}"


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """One answer of a site, without what the server adds to each."""

    body: bytes = b""
    content_type: str = HTML
    status: int = 200
    headers: Fields = ()


Dynamic = Callable[[str, str, Mapping[str, str]], DemoAnswer | None]
"""Path, query and request headers in, an answer out; None where there is no such page."""


@dataclass(slots=True)
class DemoSite:
    """A site: its pages by path and query, and a function for those that depend on more."""

    title: str
    robots: str = ""
    """Its robots.txt; empty where it has none."""
    pages: dict[str, DemoAnswer] = field(default_factory=dict)
    find_page: Dynamic | None = None

    def add(
        self, path: str, title: str, content: str, *, head: str = "", headers: Fields = (), lang: str = "en"
    ) -> None:
        """Add a page of HTML, in the site's frame."""
        self.pages[path] = self.frame(title, content, head=head, headers=headers, lang=lang)

    def frame(
        self, title: str, content: str, *, head: str = "", headers: Fields = (), lang: str = "en", status: int = 200
    ) -> DemoAnswer:
        """A page of HTML with the site's name, a way home and a foot."""
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
        """Add a document that is data as a whole."""
        self.pages[path] = DemoAnswer(text.encode(), content_type, headers=headers)

    def answer(self, path: str, query: str, headers: Mapping[str, str]) -> DemoAnswer:
        """The answer to a request; as on most servers, parameters that nobody knows change nothing."""
        if path == "/robots.txt":
            return DemoAnswer(self.robots.encode(), "text/plain; charset=utf-8") if self.robots else self._miss()
        found = self.find_page(path, query, headers) if self.find_page else None
        return found or self.pages.get(f"{path}?{query}") or self.pages.get(path) or self._miss()

    def _miss(self) -> DemoAnswer:
        return self.frame("Not found", "<p>There is no such page.</p>", status=404)

    def add_redirect(self, path: str, target: str, status: int = 301) -> None:
        """Add a path that only leads elsewhere."""
        self.pages[path] = redirect(target, status)


def redirect(target: str, status: int, headers: Fields = ()) -> DemoAnswer:
    """An answer that leads elsewhere."""
    return DemoAnswer(status=status, headers=(("Location", target), *headers))


def script(data: Mapping[str, Any]) -> str:
    """JSON-LD in a page, with schema.org's context."""
    return (
        f'<script type="application/ld+json">{json.dumps({"@context": SCHEMA, **data}, ensure_ascii=False)}</script>\n'
    )


def link(target: str, text: str, attributes: str = "") -> str:
    """A link to click on."""
    return f'<a href="{escape(target)}"{attributes and " "}{attributes}>{escape(text)}</a>'


def listing(links: Iterable[tuple[str, str]]) -> str:
    """A list of links: targets and texts."""
    return "<ul>" + "".join(f"\n<li>{link(target, text)}</li>" for target, text in links) + "\n</ul>"


def alternate(target: str, media_type: str) -> str:
    """An element for the head that says where else the page is, in another form."""
    return f'<link rel="alternate" type="{media_type}" href="{escape(target)}">\n'
