"""Pages that are pasted: what is shown of them, in every format, and that nothing in them can do harm."""

from collections.abc import Iterator

import pytest

from indexed import index_pages
from serving import Serving, serve

PAGE = """<!doctype html><title>Tea</title><meta name=robots content=noarchive>
<script type="application/ld+json">
{"@context": "https://schema.org", "@type": "Product", "name": "Green tea", "url": "more"}</script>
<div itemscope itemref=nowhere itemtype="https://schema.org/Brand"><b itemprop=name>Marsh</b></div>
<a href=/next rel=next>next</a>"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serve(index_pages(tmp_path_factory.mktemp("paste") / "c", {})) as serving:
        yield serving


def test_a_pasted_page_is_read_like_any_other(site: Serving) -> None:
    html = site.post("/inspect", html=PAGE, base="shop.example/tea").text.replace("<wbr>", "")
    for part in (
        "Green tea",
        "JSON-LD",
        "Microdata",
        "schema:Brand",
        "itemref-unknown",
        "noarchive",
        "https://shop.example/next",
    ):
        assert part in html
    assert "https://shop.example/more" in html


def test_the_same_is_there_for_programs(site: Serving) -> None:
    found = site.post("/inspect", {"Accept": "application/json"}, html=PAGE, base="https://shop.example/tea").json
    assert set(found["statements"]) == {"jsonld", "microdata"}
    assert found["links"] == [
        {"url": "https://shop.example/next", "relation": "next", "text": "next", "nofollow": False}
    ]
    assert '"Green tea" ;' in site.post("/inspect.ttl", html=PAGE).text
    assert site.post("/inspect.nq", html=PAGE).text.count("\n") == 5
    assert site.post("/inspect.csv", html=PAGE, part="problems").text.count("itemref-unknown") == 1


def test_what_is_wrong_is_said_with_its_place(site: Serving) -> None:
    page = """<script type="application/ld+json">
{"@context": "https://schema.org", "@type": "Evnt", "name": "<b>Party</b>",
 "startDate": "next tuesday"}</script>"""
    found = site.post("/inspect.json", html=page).json["findings"]
    assert [(one["rule"], one["path"], one["line"]) for one in found] == [
        ("unknown-class", "Evnt", 2),
        ("date-form", "Evnt.startDate", 3),
    ]
    html = site.post("/inspect", html=page).text
    assert "did you mean Event?" in html and "line 3" in html
    assert site.post("/inspect.csv", html=page, part="findings").text.count("date-form") == 1


def test_data_can_be_pasted_too(site: Serving) -> None:
    turtle = "@prefix : <https://a.example/> . :tea :goes :well ."
    assert "https://a.example/goes" in site.post("/inspect.nq", html=turtle).text
    assert "syntax-error" in site.post("/inspect", html=turtle[:-1], type="text/turtle").text
    assert site.post("/inspect", html=turtle, type="image/png").status == 400
    assert site.post("/inspect", html=" ").status == 400
    assert site.post("/inspect", html="x", base="mailto:a@example.org").status == 400


@pytest.mark.parametrize(
    "body",
    [
        "<title></title><script>alert(1)</script><textarea></textarea><script>alert(1)</script>",
        '<script type="application/ld+json">{"@context":"https://schema.org","@id":"javascript:alert(1)","name":"</pre>\\u202e<script>"}</script>',
        "<div itemscope itemid='javascript:alert(1)'><a itemprop='javascript:alert(1)' href='javascript:alert(1)'>x</a></div>",
        "<title>" + "\u202e<b>" * 1000,
        '<script type="application/ld+json">'
        + '{"@context":"https://schema.org","name":"'
        + "x" * 1_000_000
        + '"}</script>',
        "<div>" * 100_000,
        '<script type="application/ld+json">' + '{"x":[' * 100_000 + "</script>",
        "<p itemscope itemtype='https://schema.org/Thing'>"
        + "".join(f"<b itemprop=name>{n}</b>" for n in range(20_000)),
        "\x00\ufffd\ud800<svg><title>x</title></svg>",
    ],
)
def test_hostile_text_breaks_nothing(site: Serving, body: str) -> None:
    data = body.encode("utf-8", "replace").decode()
    reply = site.post("/inspect", html=data)
    assert reply.status == 200
    result = reply.text.partition('id="paste-form"')[0]
    assert "<script>" not in result and "</script><" not in reply.text.partition("<textarea")[2]
    assert 'href="javascript:' not in reply.text
    assert "\u202e" not in result
    assert len(result) < 600_000


def test_the_form_says_what_it_takes(site: Serving) -> None:
    html = site.get("/inspect", url="https://a.example/").text
    assert 'name="html"' in html
    # With "no-referrer", browsers would send the form with an Origin of null, as if it were another site's.
    assert site.get("/inspect").headers["referrer-policy"] == "same-origin"
    assert "takes <a" in html
    trusted = site.get("/inspect", {"Authorization": "Bearer the-token-of-the-tests"}, url='https://a.example/"').text
    assert 'value="https://a.example/&#34;"' in trusted
    assert site.post("/inspect", {"Origin": "http://evil.example"}, html="x").status == 403
