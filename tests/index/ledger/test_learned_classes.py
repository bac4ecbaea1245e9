"""From pages to results: what the indexer writes is found, classes that pages speak of included."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from rdfspider import extract
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.ledger.learned_classes import LearnedClasses
from rdfspider.index.text.searcher import TextIndex
from rdfspider.index.text.view import TextView

ONTOLOGY = """
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix ex: <https://onto.test/#> .
ex:Novel rdfs:subClassOf <http://schema.org/Book> . ex:CrimeNovel rdfs:subClassOf ex:Novel .
"""
BOOK = """<html lang=en><title>A novel</title><script type="application/ld+json">
{"@context": {"@vocab": "https://schema.org/", "ex": "https://onto.test/#"}, "@type": "ex:CrimeNovel", "name": "The Red Door",
 "author": {"@type": "Person", "name": "Agatha Müller"}, "datePublished": "2019-03-01"}</script><p>Some words of it."""


def outcome(url: str, body: str, media_type: str, time: float = 1.7e9, effect: Effect = Effect.REPLACE) -> Outcome:
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
        statements=found.statements if effect == Effect.REPLACE else {},
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

    view.apply([outcome("https://books.test/red", BOOK, "text/html", time=1.8e9, effect=Effect.REMOVE)])
    view.commit({"facts": 2})
    assert index.search("").total == 0


def test_threads_ask_for_classes_while_commits_come(view: TextView, tmp_path: Path) -> None:
    view.apply([outcome("https://onto.test/", ONTOLOGY, "text/turtle")])
    view.commit({"facts": 1})
    classes = LearnedClasses(IndexPaths(tmp_path))
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda commit: set(classes.find_subclasses("book", commit)), range(400)))
    assert all(one == {"https://onto.test/#Novel", "https://onto.test/#CrimeNovel"} for one in found)


def test_an_index_that_grew_answers_as_one_that_was_made_again(tmp_path: Path) -> None:
    """Ties, links and facets, where pages were replaced and the order of writing was another."""
    pages = [
        outcome(
            f"https://a.test/{number}",
            f"""<html lang=en><title>Page {number % 7}</title><script type="application/ld+json">
            {{"@context": "https://schema.org/", "@type": "Person", "name": "Ada {number % 300}", "jobTitle": "tea"}}</script>""",
            "text/html",
        )
        for number in range(700)
    ]
    pages = [replace(page, outlinks=(f"https://a.test/{at // 2}",)) for at, page in enumerate(pages)]
    newer = [replace(page, time=1.8e9) for page in pages[::3]]
    last = {page.url: page for page in (*pages, *newer)}
    grown, again = (
        write(tmp_path / "grown", [*pages, *newer], 50),
        write(tmp_path / "again", list(reversed(last.values())), 400),
    )
    for question in ("", "kind:page", "type:person", "ada", "tea", "page", "-page"):
        one, other = (index.search(question, limit=100, facets=True) for index in (grown, again))
        assert [(hit.id, hit.sources, hit.in_links) for hit in one] == [
            (hit.id, hit.sources, hit.in_links) for hit in other
        ], question
        assert (one.total, one.facets) == (other.total, other.facets)
    assert [card for _, card in grown.find_cards("tea", 50)] == [card for _, card in again.find_cards("tea", 50)]


def write(folder: Path, outcomes: Sequence[Outcome], step: int) -> TextIndex:
    paths = IndexPaths(folder)
    paths.index.mkdir(parents=True)
    paths.version.write_text(f"{VERSION}\n")
    view = TextView(paths)
    for start in range(0, len(outcomes), step):
        view.apply(outcomes[start : start + step])
        view.commit({"facts": start})
    for _ in range(20):
        # What was put off until there is time.
        view.commit({"facts": len(outcomes)})
    view.close()
    return TextIndex(folder)


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
