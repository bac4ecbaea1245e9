from rdfspider.config import ExtractConfig
from rdfspider.extract.dom import parse_html
from rdfspider.extract.microdata import extract_microdata
from rdfspider.extract.statements import Problems, Statements
from rdfspider.records import Content, ContentKind

PAGE = "http://example.org/page"
SCHEMA = "http://schema.org/"


def read(html: str) -> Statements:
    out = Statements(PAGE, PAGE, "microdata", ExtractConfig(), Problems())
    extract_microdata(parse_html(html), Content("text/html", ContentKind.HTML, "utf-8", html), out)
    return out


def objects(html: str) -> list[str]:
    """The objects of schema:p, as terms."""
    mark, end = f" <{SCHEMA}p> ", f" <{PAGE}> ."
    return [line.partition(mark)[2].removesuffix(end) for line in read(html).lines if mark in line]


def item(inner: str) -> str:
    return f'<div itemscope itemtype="{SCHEMA}Thing">{inner}</div>'


def test_text_has_the_language_around_it() -> None:
    assert objects(f"<div lang=de>{item('<p itemprop=p>Tee')}") == ['"Tee"@de']
    assert objects(f"<div lang=de>{item('<p itemprop=p lang=>Tea')}") == ['"Tea"']


def test_values_by_element() -> None:
    assert objects(item("<a itemprop=p href=x>")) == ["<http://example.org/x>"]
    assert objects(item("<meta itemprop=p content=x>")) == ['"x"']
    assert objects(item("<span itemprop=p content=1.5>about 1.50</span>")) == ['"1.5"']
    assert objects(item("<time itemprop=p datetime=2024-02-29>")) == [
        '"2024-02-29"^^<http://www.w3.org/2001/XMLSchema#date>'
    ]
    assert objects(item("<data itemprop=p value=3>three")) == ['"3"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert objects(item("<meter itemprop=p value=.5>half")) == ['".5"^^<http://www.w3.org/2001/XMLSchema#double>']


def test_a_nested_item_is_a_node_of_its_own() -> None:
    lines = read(item(f"<div itemprop=p itemscope itemtype={SCHEMA}Person><b itemprop=name>Eva</b></div>")).lines
    assert [line.split(" ", 2)[1] for line in lines] == [
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
        f"<{SCHEMA}p>",
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
        f"<{SCHEMA}name>",
    ]


def test_properties_of_referred_elements_come_in_tree_order() -> None:
    html = (
        f'<b id=x><i itemprop=p>1</i></b><div itemscope itemtype={SCHEMA}Thing itemref="y x"><i itemprop=p>2</i></div>'
    )
    assert objects(html + "<b id=y itemprop=p>3</b>") == ['"1"', '"2"', '"3"']


def test_a_property_inside_another_item_is_not_taken_by_reference() -> None:
    html = f"<div itemscope itemtype={SCHEMA}Thing itemref=x></div><b id=x><b itemscope><i itemprop=p>1</i></b></b>"
    assert objects(html) == []


def test_an_item_that_refers_to_itself_ends_with_a_problem() -> None:
    for html in (
        "<div itemscope><div id=r><b itemprop=http://a.example/p itemscope itemref=r></b></div></div>",
        "<div itemscope itemref=x></div><b id=x itemprop=http://a.example/p itemscope itemref=y></b>"
        "<b id=y itemprop=http://a.example/q itemscope itemref=x></b>",
    ):
        out = read(html)
        assert [problem.code for problem in out.problems.listed()] == ["item-cycle"]
        assert out.lines


def test_an_item_that_is_a_property_of_nothing_is_kept_with_a_problem() -> None:
    out = read(f"<p itemprop=author itemscope itemtype={SCHEMA}Person><b itemprop=name>Eva</b></p>")
    assert len(out.lines) == 2
    assert [problem.code for problem in out.problems.listed()] == ["orphan-item"]


def test_templates_say_nothing() -> None:
    assert objects(f"<template>{item('<i itemprop=p>x</i>')}</template>") == []


def test_a_chain_of_a_hundred_thousand_items_ends() -> None:
    chain = "".join(f"<b id=i{n} itemprop=http://a.example/p itemscope itemref=i{n + 1}></b>" for n in range(100_000))
    assert len(read(f"<div itemscope itemref=i0></div>{chain}").lines) == 100_000


def test_items_that_share_many_properties_stay_within_limits() -> None:
    shared = "<div id=x>" + "<i itemprop=http://a.example/p>v</i>" * 2000 + "</div>"
    out = read(shared + "<div itemscope itemref=x></div>" * 2000)
    assert len(out.lines) <= ExtractConfig().max_quads
