"""Microformats as JSON, where the conformance suite is silent, and as RDF."""

import time
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from rdfspider.config import ExtractConfig
from rdfspider.extract.dom import parse_html
from rdfspider.extract.microformats import extract_microformats, parse_microformats
from rdfspider.extract.microformats.mapping import DEFINED, MAPPINGS
from rdfspider.extract.statements import Problems, Statements
from rdfspider.formats import to_quads
from rdfspider.records import Content, ContentKind, Problem

URL = "http://example.org/page"
WIKI = "http://microformats.org/wiki/"
SCHEMA = "http://schema.org/"
VCARD = "http://www.w3.org/2006/vcard/ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def extract(html: str) -> tuple[str, tuple[Problem, ...]]:
    problems = Problems()
    out = Statements(URL, URL, "microformats", ExtractConfig(), problems)
    extract_microformats(parse_html(html), Content("text/html", ContentKind.HTML, "utf-8", html), out)
    return out.to_nquads(), problems.listed()


def state(html: str) -> set[tuple[Any, str, Any]]:
    """Triples with blank nodes numbered by first appearance, IRIs and plain literals as text."""
    names: dict[BlankNode, str] = {}

    def show(term: Any) -> Any:
        if isinstance(term, BlankNode):
            return names.setdefault(term, f"_:{len(names) + 1}")
        if isinstance(term, Literal) and term.datatype.value != f"{XSD}string":
            return (term.value, term.datatype.value.removeprefix(XSD))
        return term.value if isinstance(term, NamedNode | Literal) else term

    return {(show(quad.subject), quad.predicate.value, show(quad.object)) for quad in to_quads(extract(html)[0])}


def parse(html: str) -> dict[str, Any]:
    return parse_microformats(parse_html(html), URL)


def codes(problems: tuple[Problem, ...]) -> set[str]:
    return {problem.code for problem in problems}


def test_a_card_is_a_vcard() -> None:
    assert state('<p class="h-card"><a class="p-name u-url" href="/jo">Jo  \n Doe</a> <b class="p-tel">12</b></p>') == {
        ("_:1", TYPE, f"{VCARD}Kind"),
        ("_:1", TYPE, f"{WIKI}h-card"),
        ("_:1", f"{VCARD}fn", "Jo Doe"),
        ("_:1", f"{VCARD}hasURL", "http://example.org/jo"),
        ("_:1", f"{VCARD}tel", "12"),
    }


def test_a_card_whose_name_is_its_organisation_is_one() -> None:
    assert ("_:1", TYPE, f"{VCARD}Organization") in state('<p class="vcard"><b class="fn org">ACME</b></p>')


def test_a_classic_entry_has_its_title_author_text_dates_and_tags() -> None:
    found = state(
        '<article class="post hentry"><h1 class="entry-title"><a rel="bookmark" href="/7">Seven</a></h1>'
        '<span class="author vcard"><a class="fn url" href="/jo">Jo</a></span>'
        '<time class="published" datetime="2020-02-29T10:00:00+01:00">then</time>'
        '<a rel="category tag" href="/topic/big%20cats/">Cats</a>'
        '<div class="entry-content"><p>One <img src="a.png" alt="lion"></p> <script>no()</script></div></article>'
    )
    assert found == {
        ("_:1", TYPE, f"{SCHEMA}CreativeWork"),
        ("_:1", TYPE, f"{WIKI}h-entry"),
        ("_:1", f"{SCHEMA}name", "Seven"),
        ("_:1", f"{SCHEMA}url", "http://example.org/7"),
        ("_:1", f"{SCHEMA}author", "_:2"),
        ("_:1", f"{SCHEMA}datePublished", ("2020-02-29T10:00:00+01:00", "dateTime")),
        ("_:1", f"{SCHEMA}keywords", "big cats"),
        ("_:1", f"{SCHEMA}text", "One lion"),
        ("_:2", TYPE, f"{VCARD}Kind"),
        ("_:2", TYPE, f"{WIKI}h-card"),
        ("_:2", f"{VCARD}fn", "Jo"),
        ("_:2", f"{VCARD}hasURL", "http://example.org/jo"),
    }


def test_entries_are_elements_of_their_feed() -> None:
    found = state('<div class="h-feed"><p class="h-entry">a</p><p class="h-card">b</p></div>')
    assert ("_:1", f"{SCHEMA}dataFeedElement", "_:2") in found
    assert ("_:1", f"{WIKI}children", "_:3") in found


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("2009-06-26", ("2009-06-26", "date")),
        ("2009-06", ("2009-06", "gYearMonth")),
        ("2009", ("2009", "gYear")),
        ("19:00", ("19:00:00", "time")),
        ("2009-06-26 19:00-0800", ("2009-06-26T19:00:00-08:00", "dateTime")),
        ("2009-06-26t19:00:30.5z", ("2009-06-26T19:00:30.5Z", "dateTime")),
        ("PT1H30M", ("PT1H30M", "duration")),
        ("P", "P"),
        ("2009-02-30", "2009-02-30"),
        ("2009-06-26 25:00", "2009-06-26 25:00"),
        ("2009-06-26T19:00+15:00", "2009-06-26T19:00+15:00"),
        ("next Tuesday", "next Tuesday"),
    ],
)
def test_dates_are_typed_where_they_are_valid(written: str, value: Any) -> None:
    found = state(f'<p class="h-event"><time class="dt-start" datetime="{written}">x</time></p>')
    assert ("_:1", f"{SCHEMA}startDate", value) in found


def test_a_position_may_be_text() -> None:
    found = state('<p class="vcard"><abbr class="geo" title="30.27;-97.74">here</abbr></p>')
    assert ("_:1", f"{VCARD}hasGeo", "_:2") in found
    assert ("_:2", f"{VCARD}latitude", "30.27") in found
    assert ("_:2", f"{VCARD}longitude", "-97.74") in found


def test_an_address_of_email_is_no_relative_url() -> None:
    assert ("_:1", f"{VCARD}hasEmail", "mailto:jo@example.org") in state(
        '<p class="vcard"><b class="fn">Jo</b> <b class="email">jo@example.org</b></p>'
    )


def test_data_urls_are_left_out() -> None:
    found = state('<p class="h-card"><b class="p-name">Jo</b><img class="u-photo" src="data:image/gif;base64,R0"></p>')
    assert f"{VCARD}hasPhoto" not in {predicate for _, predicate, _ in found}


@pytest.mark.parametrize(
    "html",
    [
        '<div class="h-full p-4"><p class="u-hidden">menu</p></div>',
        '<div class="h-lft">banner</div>',
        '<div class="h-box"><p class="p-relative e-con">text</p></div>',
        '<div class="vcard"></div><p class="geo">Geology</p>',
        '<div class="search-card h-4 H-card">x</div>',
    ],
)
def test_utility_classes_and_empty_items_say_nothing(html: str) -> None:
    assert extract(html) == ("", ())


def test_a_utility_class_does_not_part_an_entry_from_its_properties() -> None:
    html = '<div class="h-entry"><div class="h-full u-flex"><b class="p-name p-relative">T</b></div></div>'
    assert ("_:1", f"{SCHEMA}name", "T") in state(html)
    assert not any(predicate.startswith(WIKI) for _, predicate, _ in state(html))


def test_unknown_types_and_names_without_a_term_keep_their_own() -> None:
    found = state(
        '<p class="h-recipe-box"><b class="p-name">x</b></p>'
        '<p class="h-entry"><a class="u-like-of" href="/1"></a><b class="p-x-mood">fine</b></p>'
    )
    assert ("_:1", TYPE, f"{WIKI}h-recipe-box") in found
    assert ("_:1", f"{SCHEMA}name", "x") in found
    assert ("_:2", f"{WIKI}like-of", "http://example.org/1") in found
    assert ("_:2", f"{WIKI}x-mood", "fine") in found


def test_a_nested_item_that_says_nothing_is_text() -> None:
    assert ("_:1", f"{SCHEMA}name", "T") in state('<p class="h-entry"><b class="p-name h-box">T</b></p>')


def test_classic_names_mean_nothing_inside_microformats_2_and_the_other_way_round() -> None:
    assert parse('<p class="h-card"><b class="fn">a</b><b class="p-org">b</b></p>')["items"][0]["properties"] == {
        "org": ["b"]
    }
    assert parse('<p class="vcard"><b class="fn">a</b><b class="p-org">b</b></p>')["items"][0]["properties"] == {
        "name": ["a"]
    }


def test_markup_is_made_absolute_and_the_tree_left_as_it_was() -> None:
    tree = parse_html('<div class="h-entry"><p class="e-content"><a href="x">y</a></p></div>')
    content = parse_microformats(tree, URL)["items"][0]["properties"]["content"]
    assert content == [{"value": "y", "html": '<a href="http://example.org/x">y</a>'}]
    assert [link.attr("href") for link in tree.select("a")] == ["x"]


def test_includes_that_include_are_left_out() -> None:
    html = (
        '<div class="vcard" id="a"><b class="fn">A</b><a class="include" href="#b"></a></div>'
        '<div class="vcard" id="b"><b class="fn">B</b><a class="include" href="#a"></a></div>'
        '<div class="vcard" itemref="none"><b class="fn">C</b></div>'
    )
    nquads, problems = extract(html)
    assert nquads.count(f"<{VCARD}fn>") == 3
    assert codes(problems) == {"include-nested", "include-missing"}


def test_a_cell_includes_its_header() -> None:
    html = '<table><tr><th id="o"><b class="org">ACME</b></th><td class="vcard" headers="o"><b class="fn">Jo</b></td></table>'
    assert ("_:1", f"{VCARD}organization-name", "ACME") in state(html)


@pytest.mark.parametrize(
    ("html", "code"),
    [
        ('<div class="h-entry">' + '<div class="e-content">' * 400 + "x" * 1_000_000, "nested-properties"),
        ('<div class="h-entry">' + '<div class="p-name">' * 60 + "x" * 1_000_000, "text-limit"),
        ('<p class="h-card">Jo</p>' * 60_000, "too-many-items"),
        ('<div class="h-card">' + '<p class="p-note p-nickname">n</p>' * 60_000, "too-many-items"),
        (
            '<p class="vcard"><a class="include" href="#x"></a></p>' * 3_000
            + '<p id="x">'
            + "<b class='note'>n</b>" * 99,
            "include-limit",
        ),
    ],
)
def test_pages_made_to_exhaust_are_cut(html: str, code: str) -> None:
    started = time.process_time()
    nquads, problems = extract(html)
    assert code in codes(problems)
    assert len(nquads) < 50_000_000
    assert time.process_time() - started < 30


def test_deeply_nested_items_need_no_stack() -> None:
    html = '<div class="h-entry"><b class="p-name">x</b>' * 500
    assert extract(html)[0].count(f"<{WIKI}children>") == 499
    item = parse(html)["items"][0]
    for _ in range(499):
        item = item["children"][0]
    assert "children" not in item


@pytest.mark.parametrize(
    "html",
    [
        '<div class="h-card\x00">\x00</div><p class="h-card"><a class="u-url" href="\ud800 %zz">\ud800</a></p>',
        f'<p class="h-card {"p-" + "a-" * 100_000}!">x</p>',
        f'<p class="h-event"><time class="dt-start" datetime="P{"1" * 100_000}">x</time></p>',
        '<a class="h-card" href>x</a><img class="h-card" src alt><object class="h-card" data></object>',
        '<p class="vcard include" itemref="" headers="x" id="">x</p>',
    ],
)
def test_nonsense_gives_valid_statements_and_always_the_same(html: str) -> None:
    nquads, problems = extract(html)
    to_quads(nquads)
    assert extract(html) == (nquads, problems)
    parse(html)


def test_every_mapping_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "microformats.md").read_text(encoding="utf-8")
    terms = {term for mapping in MAPPINGS.values() for pair in mapping.terms.values() for term in pair}
    prefixed = {term[1:-1].replace(SCHEMA, "schema:") for term in terms if term.startswith(f"<{SCHEMA}")}
    renamed = {term for term in prefixed if term.removeprefix("schema:") not in DEFINED}
    assert [kind for kind in MAPPINGS if f"`{kind}`" not in text] == []
    assert sorted(term for term in renamed if f"`{term}`" not in text) == []
    assert [
        mapping.type for mapping in MAPPINGS.values() if mapping.type.split("/")[-1].split("#")[-1][:-1] not in text
    ] == []
