"""Where the sites keep things: the URL by which one site speaks of what another one is about."""

from dataclasses import dataclass

from rdfspider.demo.facts import Book, Person, Place, Product

_HOMES = {
    "writer": ("library", "/authors/"),
    "scholar": ("university", "/people/"),
    "cook": ("recipes", "/cooks/"),
    "maker": ("museum", "/makers/"),
    "citizen": ("town", "/people/"),
}


@dataclass(frozen=True, slots=True)
class Addresses:
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

    def place(self, place: Place) -> str:
        """The name of a place, which leads to data or to a page, as one asks."""
        return self.url("data", f"/id/{place.key}")

    def book(self, book: Book) -> str:
        """The library's page about a book."""
        return self.url("library", f"/books/{book.key}")

    def product(self, product: Product) -> str:
        """The shop's page about a product."""
        return self.url("shop", f"/products/{product.key}")
