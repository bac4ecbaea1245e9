"""Results as records, as JSON and as HTML."""

from dataclasses import replace

import msgspec

from rdfspider.results import Facet, FacetCount, Hit, Marked, Results, SourcePage, list_facts, list_remarks

EVIL = '<script>alert("x")</script>'


def make_hit(label: str = "Tea", url: str = "https://example.org/tea") -> Hit:
    return Hit(
        id="https://example.org/#tea",
        kind="entity",
        label=label,
        types=("http://schema.org/Product",),
        description="",
        snippet=Marked("green tea", ((6, 9),)),
        score=1.5,
        sources=3,
        in_links=0,
        pages=(SourcePage("https://example.org/", 1_700_000_000.0),),
        sites=("example.org",),
        languages=("en",),
        syntaxes=("jsonld",),
        url=url,
        image="",
        date=1_714_521_600.0,
        duplicate_of="",
        marked_label=Marked(label, ((0, len(label)),)),
    )


def test_parts_of_a_marked_text() -> None:
    assert [*Marked("green tea", ((0, 5), (6, 9))).split()] == [("green", True), (" ", False), ("tea", True)]
    assert [*Marked("tea").split()] == [("tea", False)]
    assert [*Marked("").split()] == []
    assert Marked("a<b & c", ((2, 3),)).to_html() == "a&lt;<mark>b</mark> &amp; c"


def test_results_are_a_sequence_of_hits() -> None:
    hit = make_hit()
    results = Results("tea", (hit, hit), 7)
    assert len(results) == 2
    assert [*results] == [hit, hit]
    assert results[0] is hit
    assert results[:1] == (hit,)
    assert hit.type_names == ("schema:Product",)
    assert hit.day == "2024-05-01"


def test_html_is_readable_and_escaped() -> None:
    facet = Facet("type", (FacetCount(EVIL, EVIL, 1_234),), is_approximate=True)
    hits = (make_hit(), make_hit(EVIL, "javascript:alert(1)"))
    html = Results(EVIL, hits, 2, note=EVIL, suggestion=EVIL, facets=(facet,))._repr_html_()
    assert '<a href="https://example.org/tea" rel="noreferrer"><mark>Tea</mark></a>' in html
    assert "schema:Product · example.org · 3 sources · 2024-05-01" in html
    assert "green <mark>tea</mark>" in html
    assert "(1,234)" in html
    assert "<script" not in html
    assert "javascript:" not in html


def test_the_day_of_a_fetch_is_told_as_such() -> None:
    undated = replace(make_hit(), date=0.0)
    assert (undated.day, undated.fetched_day) == ("", "2023-11-14")
    assert "fetched 2023-11-14" in list_facts(undated)
    assert "2024-05-01" in list_facts(make_hit())


def test_json_has_everything() -> None:
    encoded = msgspec.json.decode(msgspec.json.encode(Results("tea", (make_hit(),), 1)))
    assert encoded["total"] == 1
    assert encoded["hits"][0]["label"] == "Tea"
    assert encoded["hits"][0]["pages"] == [{"url": "https://example.org/", "time": 1_700_000_000.0}]
    assert encoded["hits"][0]["snippet"] == {"text": "green tea", "marks": [[6, 9]]}


def test_remarks() -> None:
    hit = make_hit()
    assert list_remarks(Results("tea", (), 0, seconds=0.0034)) == ["nothing found in 3 ms"]
    assert list_remarks(Results("tea", (hit,), 1)) == ["1 result in 0 ms"]
    assert list_remarks(Results("tea", (), 12, 20)) == ["no more results, of 12 results in 0 ms"]
    assert list_remarks(Results("tea", (hit, hit), 1_234, 10, note="a note", suggestion="teas")) == [
        "11 to 12 of 1,234 results in 0 ms",
        "a note",
        "did you mean: teas",
    ]
