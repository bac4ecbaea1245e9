"""Notebooks show cards and tables, and no text of the web becomes markup."""

from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, Quad

import rdfspider
from indexed import index_pages
from rdfspider.crawl.status import Status, Totals
from rdfspider.drawing import draw_link, draw_things

URL = "https://a.example/"
NAME, KNOWS = NamedNode("https://schema.org/name"), NamedNode("http://xmlns.com/foaf/0.1/knows")
EVIL = "<img src=x onerror=alert(1)>"


def test_an_extraction_is_cards_of_things_without_page_mechanics():
    html = f"""<html lang="en"><title>{EVIL}</title><nav role="navigation">x</nav><script type="application/ld+json">
      {{"@context": "https://schema.org", "@type": "Recipe", "name": "Wings", "author": {{"@type": "Person", "name": "Ada"}}}}
      </script>"""
    drawn = rdfspider.extract(html.encode(), url=URL)._repr_html_()
    assert "<b>Wings</b>" in drawn and "schema:Recipe" in drawn and "Ada" in drawn
    assert drawn.index("Wings") < drawn.index("Ada"), "the author is inside the recipe"
    assert drawn.count("<div>") == 1
    assert "vocab#role" not in drawn and "<img" not in drawn


def test_a_page_without_data_says_so():
    assert "no structured data" in rdfspider.extract(b"<p>x", url=URL)._repr_html_()


def test_texts_are_escaped_and_only_web_addresses_are_links():
    drawn = draw_things([Quad(NamedNode("javascript:alert(1)"), NAME, Literal(EVIL))])
    assert "<img" not in drawn and "&lt;img" in drawn and "href" not in drawn
    assert "href" in draw_link(URL)


def test_many_things_and_nodes_that_refer_to_each_other_are_bounded():
    nodes = [BlankNode(f"n{number}") for number in range(60)]
    quads = [Quad(one, KNOWS, other) for one in nodes for other in nodes]
    quads += [Quad(NamedNode(f"{URL}{number}"), NAME, Literal("x" * 1000)) for number in range(1000)]
    drawn = draw_things(quads)
    assert "and 980 more things" in drawn
    assert len(drawn) < 100_000


def test_a_status_is_a_table():
    status = Status(
        state="ended", totals=Totals(pages=1200, structured=7, types={f"http://schema.org/{EVIL}": 3}), reason=EVIL
    )
    drawn = status._repr_html_()
    assert "<table>" in drawn and "1,200, 7 with structured data" in drawn and "<img" not in drawn


def test_a_crawl_is_its_status_and_what_it_found_most(tmp_path: Path):
    page = {"@context": "https://schema.org", "@type": "Person", "name": "Ada"}
    with index_pages(tmp_path / "c", {URL: page}) as crawl:
        drawn = crawl._repr_html_()
        assert repr(crawl) == f"Crawl({str(tmp_path / 'c')!r})"
    assert "schema:Person" in drawn and "a.example" in drawn
