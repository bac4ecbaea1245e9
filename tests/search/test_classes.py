"""From pages to results: what the indexer writes is found, classes that pages speak of included."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rdfspider import extract
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.outcomes import REMOVE, REPLACE, Outcome
from rdfspider.index.text import TextView
from rdfspider.search.text import TextIndex

ONTOLOGY = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix ex: <https://onto.test/#> .
ex:Novel rdfs:subClassOf <http://schema.org/Book> . ex:CrimeNovel rdfs:subClassOf ex:Novel .
"""
BOOK = """<html lang=en><title>A novel</title><script type="application/ld+json">
{"@context": {"@vocab": "https://schema.org/", "ex": "https://onto.test/#"}, "@type": "ex:CrimeNovel", "name": "The Red Door",
 "author": {"@type": "Person", "name": "Agatha Müller"}, "datePublished": "2019-03-01"}</script><p>Some words of it."""


def outcome(url: str, body: str, media_type: str, time: float = 1.7e9, effect: str = REPLACE) -> Outcome:
    found = extract(body.encode(), url, content_type=media_type)
    return Outcome(
        url=url,
        time=time,
        source="facts",
        offset=0,
        end=1,
        effect=effect,
        title=found.title or "",
        language=found.language or "",
        statements=found.statements if effect == REPLACE else {},
        text=found.text or "",
        digest=str(time),
    )


@pytest.fixture
def view(tmp_path: Path) -> Iterator[TextView]:
    paths = IndexPaths(tmp_path)
    paths.index.mkdir()
    paths.version.write_text(f"{VERSION}\n")
    view = TextView(paths)
    yield view
    view.close()


def labels(index: TextIndex, text: str) -> list[str]:
    return [hit.label for hit in index.search(text)]


def test_what_the_indexer_writes_is_found(view: TextView, tmp_path: Path) -> None:
    view.apply([outcome("https://books.test/red", BOOK, "text/html")])
    view.commit({"facts": 1})
    index = TextIndex(tmp_path)
    (book,) = index.search('author:"agatha muller" kind:entity')
    assert (book.label, book.day, book.sites) == ("The Red Door", "2019-03-01", ("books.test",))
    assert "<mark>Agatha</mark> <mark>Müller</mark>" in book.snippet.to_html()
    assert labels(index, "type:person") == ["Agatha Müller"]
    assert labels(index, "words kind:page") == ["A novel"]
    assert labels(index, "after:2019 before:2020 red -kind:page") == ["The Red Door"]
    assert labels(index, "ontology:schema syntax:json-ld lang:en site:books.test red kind:entity") == ["The Red Door"]
    assert labels(index, "https://books.test/red") == ["A novel"]
    assert labels(index, "https://books.test/re") == []

    view.apply([outcome("https://books.test/red", BOOK, "text/html", time=1.8e9, effect=REMOVE)])
    view.commit({"facts": 2})
    assert index.search("").total == 0


@pytest.mark.parametrize(
    "name", ["ex", "crimenovel", "novel", "https://onto.test/#Novel", "Book", "schema:book", "creativework", "Thing"]
)
def test_a_class_has_the_members_of_all_that_pages_say_is_below_it(view: TextView, tmp_path: Path, name: str) -> None:
    view.apply([outcome("https://books.test/red", BOOK, "text/html")])
    view.commit({"facts": 1})
    index = TextIndex(tmp_path)
    before = labels(index, f"red type:{name}")
    view.apply([outcome("https://onto.test/", ONTOLOGY, "text/turtle")])
    view.commit({"facts": 2})
    after = labels(index, f"red type:{name}")
    assert before == (["The Red Door"] if name == "crimenovel" else [])
    assert after == ([] if name == "ex" else ["The Red Door"])
