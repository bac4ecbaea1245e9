"""What is told of a thing in three lines."""

import itertools
import json

import pytest

import rdfspider
from rdfspider.index.entities.contributions import Contribution, read_page
from rdfspider.index.text.highlights import MAX_CHARS, choose_facts

URL = "https://shop.example/it"
SCHEMA = "http://schema.org/"


def say(thing: dict[str, object], url: str = URL) -> Contribution:
    """What a page says of its first thing."""
    html = f'<script type="application/ld+json">{json.dumps({"@context": "https://schema.org", **thing})}</script>'
    statements = rdfspider.extract(html.encode(), url=url).statements
    return max(read_page(url, "shop.example", statements).contributions.values(), key=lambda saying: saying.weight)


def tell(*things: dict[str, object]) -> list[tuple[str, str]]:
    things_said = [say(thing) for thing in things]
    facts = choose_facts(things_said, {label for each in things_said for _, _, label in each.labels})
    return [(iri.removeprefix(SCHEMA), text) for iri, text in facts]


@pytest.mark.parametrize(
    ("thing", "facts"),
    [
        (
            {
                "@type": "Product",
                "name": "Teapot",
                "description": "Round",
                "url": "https://shop.example/teapot",
                "image": "https://shop.example/teapot.jpg",
                "sameAs": "https://other.example/teapot",
                "sku": "T-1",
                "brand": {"@type": "Brand", "name": "Marsh"},
                "offers": {"@type": "Offer", "price": 12.5, "priceCurrency": "EUR", "availability": "InStock"},
                "aggregateRating": {"@type": "AggregateRating", "ratingValue": "4.5", "bestRating": 5},
            },
            [("price", "€12.50"), ("brand", "Marsh"), ("ratingValue", "4.5")],
        ),
        (
            {
                "@type": "Book",
                "name": "Moby Dick",
                "isbn": "978-0142437247",
                "publisher": {"@type": "Organization", "name": "Harper"},
                "author": [{"@type": "Person", "name": "Herman Melville"}, {"@type": "Person", "name": "A. Friend"}],
                "datePublished": "1851-10-18",
            },
            [
                ("author", "Herman Melville, A. Friend"),
                ("datePublished", "18 October 1851"),
                ("isbn", "978-0142437247"),
            ],
        ),
        (
            {
                "@type": "Event",
                "name": "Concert",
                "startDate": "2026-05-01T19:30:00+02:00",
                "endDate": "2026-05-01T23:00",
                "location": {"@type": "Place", "name": "The Old Ropery"},
                "organizer": {"@type": "Organization", "name": "The Band"},
            },
            [("startDate", "1 May 2026, 19:30 UTC+02:00"), ("location", "The Old Ropery"), ("organizer", "The Band")],
        ),
        (
            {
                "@type": "Movie",
                "name": "Tea",
                "director": {"@type": "Person", "name": "Ada"},
                "duration": "PT1H35M",
                "dateCreated": "2024-05-01T00:00:00Z",
            },
            [("director", "Ada"), ("duration", "1 hour 35 minutes"), ("dateCreated", "1 May 2024")],
        ),
        (
            {
                "@type": "Store",
                "name": "Marsh & Mill",
                "telephone": "+44 1",
                "address": {
                    "@type": "PostalAddress",
                    "addressCountry": "UK",
                    "postalCode": "N1",
                    "streetAddress": "1 Mill Lane",
                    "addressLocality": "London",
                },
            },
            [("address", "1 Mill Lane, London, UK"), ("telephone", "+44 1")],
        ),
        (
            {
                "@type": "Person",
                "name": "Ada",
                "jobTitle": "Analyst",
                "birthDate": "1815",
                "worksFor": {"@type": "Organization", "name": "Engines"},
            },
            [("jobTitle", "Analyst"), ("worksFor", "Engines"), ("birthDate", "1815")],
        ),
        ({"@type": "Thing", "name": "Ada", "knowsAbout": "looms", "award": "x" * 61}, [("knowsAbout", "looms")]),
        ({"@type": "Thing", "name": "Ada", "author": "Ada", "genre": "https://x.example/g"}, []),
    ],
    ids=lambda value: value["@type"] if isinstance(value, dict) else "",
)
def test_what_people_want_to_know(thing: dict[str, object], facts: list[tuple[str, str]]) -> None:
    assert tell(thing) == facts


def test_what_most_pages_say_is_told_in_whatever_order_they_were_read() -> None:
    cheap, dear = ({"@type": "Product", "name": "Cup", "offers": {"@type": "Offer", "price": p}} for p in ("5", "7"))
    other = {"@type": "Product", "name": "Cup", "brand": "B", "color": "red"}
    told = {tuple(tell(*order)) for order in itertools.permutations([cheap, dear, dear, other])}
    assert told == {(("price", "7"), ("brand", "B"), ("color", "red"))}


def test_what_is_said_of_a_part_is_no_fact_of_the_thing() -> None:
    juice = {
        "@type": "Recipe",
        "name": "Juice",
        "review": {"@type": "Review", "datePublished": "2019-01-01", "author": {"@type": "Person", "name": "A Guest"}},
        "video": {"@type": "VideoObject", "duration": "PT3M", "uploadDate": "2018-01-01"},
        "author": {"@type": "Person", "url": "https://x.example/", "email": "ada@x.example"},
    }
    assert tell(juice) == []
    assert tell({**juice, "datePublished": "2020-05-01"}) == [("datePublished", "1 May 2020")]


def test_two_currencies_are_none() -> None:
    offers = [{"@type": "Offer", "price": "5", "priceCurrency": code} for code in ("EUR", "USD")]
    assert tell({"@type": "Product", "name": "Cup", "offers": offers}) == [("price", "5")]


def test_a_long_value_is_cut_and_one_of_an_unknown_property_left_out() -> None:
    ((_, value),) = tell({"@type": "Thing", "name": "A", "author": "word " * 1000, "award": "word " * 1000})
    assert len(value) <= MAX_CHARS and value.endswith("word…")


def test_what_pages_tell_other_programs_is_no_fact() -> None:
    html = '<div vocab="http://schema.org/" typeof="Book"><b property="name">A</b><meta property="fb:app_id" content="1"></div>'
    statements = rdfspider.extract(html.encode(), url=URL).statements
    (saying,) = read_page(URL, "shop.example", statements).contributions.values()
    assert choose_facts([saying], ["A"]) == ()


def test_a_value_that_a_page_repeats_after_the_name_of_the_property_is_told_once() -> None:
    names = ["Becky Schmieg", "Author: Becky Schmieg", "becky schmieg", "Editor: Ada"]
    assert tell({"@type": "Recipe", "name": "Pasta", "author": names}) == [("author", "Becky Schmieg, Editor: Ada")]
