"""What a crawl of the demo must find, and what it must not: derived from the same tables as the sites, not from the sites."""

from collections.abc import Iterator
from typing import NamedTuple

from rdfspider.demo.addresses import Addresses
from rdfspider.demo.facts import (
    ARTICLES,
    AUTHORS,
    BOOKS,
    CITIZENS,
    COOKS,
    COURSES,
    DATASETS,
    DISPUTED_YEARS,
    EVENTS,
    EXHIBITS,
    MAKERS,
    PLACES,
    POSTS,
    PRODUCTS,
    RECIPES,
    SCHOLARS,
    SECRETS,
)
from rdfspider.demo.sites.directory import SITES
from rdfspider.demo.sites.events import VENUES
from rdfspider.demo.sites.places import WITH_JSON
from rdfspider.demo.sites.portal import FORMS, identify


class Published(NamedTuple):
    """One thing on one page: `literal` is in the graph that the page's URL names."""

    entity: str
    """`book/eels`; the same thing on several sites has one name."""
    url: str
    literal: str


class Hidden(NamedTuple):
    """Something that is nowhere in what a crawl keeps, by any part of a record: only this page names it."""

    url: str
    literal: str
    reason: str


def list_published(at: Addresses) -> list[Published]:
    """Everything that the sites publish, once for each page that states it."""
    rows = [*_list_things(), *_list_people(), *_list_places()]
    return [Published(entity, at.url(site, path), literal) for entity, site, path, literal in rows]


def list_hidden(at: Addresses) -> list[Hidden]:
    """Everything that robots.txt, the pages themselves or common sense keep a crawler from."""
    return [Hidden(at.url(secret.site, secret.path), secret.name, secret.reason) for secret in SECRETS]


def _list_things() -> Iterator[tuple[str, str, str, str]]:
    for name, title in SITES.items():
        yield f"site/{name}", "www", "/", title
    for product in PRODUCTS:
        yield f"product/{product.key}", "shop", f"/products/{product.key}", product.name
    for exhibit in EXHIBITS:
        yield f"exhibit/{exhibit.key}", "museum", f"/objects/{exhibit.key}", exhibit.name
    for book in BOOKS:
        yield f"book/{book.key}", "library", f"/books/{book.key}", book.title
    for course in COURSES:
        yield f"course/{course.key}", "university", f"/courses/{course.key}", course.name
        yield f"book/{course.textbook.key}", "university", f"/courses/{course.key}", course.textbook.title
        year = DISPUTED_YEARS.get(course.textbook.key, course.textbook.year)
        yield f"book/{course.textbook.key}", "university", f"/courses/{course.key}", str(year)
    for post in POSTS:
        yield f"post/{post.key}", "blog", f"/posts/{post.key}", post.title
        yield f"post/{post.key}", "blog", "/feed.atom", post.title
    for event in EVENTS:
        yield f"event/{event.key}", "events", f"/events/{event.key}", event.name
    for recipe in RECIPES:
        yield f"recipe/{recipe.key}", "recipes", f"/recipes/{recipe.key}", recipe.name
    for article in ARTICLES:
        yield f"article/{article.key}", "town", f"/articles/{article.key}", article.title
    for number, dataset in enumerate(DATASETS):
        yield f"dataset/{dataset.key}", "portal", f"/dataset/{dataset.key}", dataset.title
        ending, _ = FORMS[number % len(FORMS)]
        yield f"dataset/{dataset.key}", "portal", f"/dataset/{dataset.key}.{ending}", identify(dataset)


def _list_people() -> Iterator[tuple[str, str, str, str]]:
    for person in AUTHORS:
        yield f"person/{person.key}", "library", f"/authors/{person.key}", person.name
        yield f"person/{person.key}", "library", f"/authors/{person.key}.rdf", str(person.born)
    for person in SCHOLARS:
        yield f"person/{person.key}", "university", f"/people/{person.key}", person.name
        yield f"person/{person.key}", "university", f"/people/{person.key}/foaf.ttl", person.key.partition("-")[0]
    for person in MAKERS:
        yield f"person/{person.key}", "museum", f"/makers/{person.key}", person.name
    for person in COOKS:
        yield f"person/{person.key}", "recipes", f"/cooks/{person.key}", person.name
    for person in CITIZENS:
        yield f"person/{person.key}", "town", f"/people/{person.key}", person.name
    for post in POSTS:
        yield f"person/{post.author.key}", "blog", f"/posts/{post.key}", post.author.name
    for event in EVENTS:
        yield f"person/{event.host.key}", "events", f"/events/{event.key}", event.host.name
    for article in ARTICLES:
        yield f"person/{article.person.key}", "town", f"/articles/{article.key}", article.person.name


def _list_places() -> Iterator[tuple[str, str, str, str]]:
    for place in PLACES:
        yield f"place/{place.key}", "data", f"/page/{place.key}", place.name
        yield f"place/{place.key}", "data", f"/data/{place.key}.ttl", place.name
        yield f"place/{place.key}", "data", "/dump.nt", place.name
    for place in WITH_JSON:
        yield f"place/{place.key}", "data", f"/data/{place.key}.jsonld", f"NORTH-{place.key}"
    for place in VENUES:
        yield f"place/{place.key}", "events", f"/venues/{place.key}", place.name
    for event in EVENTS:
        yield f"place/{event.place.key}", "events", f"/events/{event.key}", event.place.name
    for exhibit in EXHIBITS:
        yield f"place/{exhibit.origin.key}", "museum", f"/objects/{exhibit.key}", exhibit.origin.name
    for dataset in DATASETS:
        yield f"place/{dataset.place.key}", "portal", f"/dataset/{dataset.key}", dataset.place.name
