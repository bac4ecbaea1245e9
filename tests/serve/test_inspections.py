"""Statements as an outline: what nests, what is a list, and what is left out."""

import rdfspider
from rdfspider.serve.inspections import (
    MAX_STATEMENTS,
    MAX_THINGS,
    MAX_VALUES,
    OutlineNode,
    OutlineProperty,
    OutlineValue,
    make_outline,
)

URL = "https://a.example/"
_SCHEMA = "http://schema.org/"


def outline(jsonld: str) -> tuple[OutlineNode, ...]:
    page = f'<script type="application/ld+json">{{"@context": "https://schema.org", {jsonld}}}</script>'
    return make_outline("jsonld", rdfspider.extract(page, url=URL).statements["jsonld"]).things


def find(thing: OutlineNode, name: str) -> OutlineProperty:
    return next(each for each in thing.properties if each.iri == _SCHEMA + name)


def test_things_without_a_name_stand_where_they_are_spoken_of() -> None:
    (book,) = outline('"@id": "#it", "@type": "Book", "name": "Tea", "author": {"@type": "Person", "name": "Ann"}')
    assert (book.name, book.is_named, book.label, book.types) == (f"{URL}#it", True, "Tea", (f"{_SCHEMA}Book",))
    author = find(book, "author").values[0].thing
    assert author is not None
    assert (author.label, author.is_named) == ("Ann", False)
    assert find(author, "name").values == (OutlineValue("Ann"),)


def test_lists_are_values_in_their_order() -> None:
    (thing,) = outline('"@id": "#it", "name": {"@list": ["b", "a", {"@value": "c", "@language": "de"}]}')
    assert find(thing, "name").values == (OutlineValue("b"), OutlineValue("a"), OutlineValue("c", language="de"))


def test_circles_end() -> None:
    nquads = f"_:a <{URL}p> _:b <{URL}> .\n_:b <{URL}p> _:a <{URL}> .\n_:c <{URL}p> _:c <{URL}> .\n"
    things = make_outline("rdf", nquads).things
    assert [thing.name for thing in things] == ["_:c", "_:a"]
    inner = things[1].properties[0].values[0].thing
    assert inner is not None
    assert inner.properties[0].values == (OutlineValue("_:a", "blank"),)
    first, rest = "http://www.w3.org/1999/02/22-rdf-syntax-ns#first", "http://www.w3.org/1999/02/22-rdf-syntax-ns#rest"
    ring = f'<{URL}> <{URL}p> _:l .\n_:l <{first}> "x" .\n_:l <{rest}> _:l .\n'
    assert make_outline("rdf", ring).things[0].properties[0].values == (OutlineValue("x"),)


def test_what_is_too_much_is_counted() -> None:
    lines = [f'<{URL}{number}> <{URL}p> "x" <{URL}> .\n' for number in range(MAX_STATEMENTS + 7)]
    found = make_outline("rdf", "".join(lines))
    assert len(found.things) == MAX_THINGS
    assert (found.statements, found.statements_left_out) == (MAX_STATEMENTS + 7, 7)
    assert found.things_left_out == MAX_STATEMENTS - MAX_THINGS
    many = "".join(f'<{URL}> <{URL}p> "{number}" .\n' for number in range(MAX_VALUES + 5))
    assert make_outline("rdf", many).things[0].properties[0].left_out == 5


def test_a_chain_of_things_is_not_followed_without_end() -> None:
    chain = "".join(f"_:n{number} <{URL}p> _:n{number + 1} <{URL}> .\n" for number in range(2_000))
    found = make_outline("rdf", chain)
    assert found.things[0].name == "_:n0"
    assert 1 < len(found.things) <= MAX_THINGS
