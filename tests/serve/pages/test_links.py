"""The pages that show links, over the index of a small crawl: of a page, of a site, and what links lead to most."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexed import index_pages
from rdfspider.index.graph.rating import rate_graph
from rdfspider.index.layout import IndexPaths
from rdfspider.serve import page_links
from serving import Serving, serve

TEA = "https://tea.example/"
HOSTILE = "<script>alert(1)</script>\u202eevil" + "x" * 500
CONTEXT = "https://schema.org"


def make_page(title: str, *links: str, data: object = None, head: str = "") -> str:
    block = f'<script type="application/ld+json">{json.dumps(data)}</script>' if data else ""
    return f"<!doctype html><html><head><title>{title}</title>{head}{block}</head><body>{' '.join(links)}</body></html>"


def link(url: str, words: str, rel: str = "") -> str:
    escaped = words.replace("<", "&lt;")
    return f'<a href="{url}"{f" rel={chr(34)}{rel}{chr(34)}" if rel else ""}>{escaped}</a>'


def make_pages() -> dict[str, object]:
    thing = {"@context": CONTEXT, "@id": f"{TEA}#it", "@type": "Product", "name": "Green tea"}
    pages: dict[str, object] = {
        TEA: make_page(
            "Tea &amp; cups", link("/cups", "cups"), link("https://mug.example/", "mugs", "sponsored nofollow"), data=thing
        ),
        "https://tea.example/cups": make_page(
            "Cups", link(TEA, "Home"), head=f'<link rel="canonical" href="{TEA}">'
        ),
        "https://mug.example/": make_page("Mugs", link(TEA, "green tea"), link("https://www.tea.example/x", "x")),
        "https://spam.example/": make_page(HOSTILE.replace("<", "&lt;"), link(TEA, HOSTILE, "ugc")),
        "https://ann.example/": make_page(
            "Ann",
            link("https://mute.example/", ""),
            data={"@context": CONTEXT, "@type": "Person", "name": "Ann", "makesOffer": {"@id": TEA}},
        ),
    }  # fmt: skip
    for number in range(120):
        pages[f"https://blog{number % 3}.example/{number}"] = make_page(f"Post {number}", link(TEA, "green tea"))
    return pages


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serve(index_pages(tmp_path_factory.mktemp("links") / "c", make_pages())) as serving:
        yield serving


def read_table(site: Serving, path: str, **parameters: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(site.get(path, **parameters).text)))


def test_the_links_of_a_page_say_what_they_are(site: Serving) -> None:
    found = site.get("/page.json", url=TEA).json
    out = {one["url"]: one for one in found["out_links"]["pages"]}
    assert (
        out["https://tea.example/cups"] | {"title": "Cups", "anchor": "cups", "kinds": ["link"]}
        == out["https://tea.example/cups"]
    )
    assert set(out["https://mug.example/"]["kinds"]) == {"link", "nofollow", "sponsored"}
    into = found["in_links"]
    assert (into["total"], len(into["pages"])) == (124, 50)
    assert {one["predicate"] for one in into["pages"] if "data" in one["kinds"]} == {"http://schema.org/makesOffer"}
    html = site.get("/page", url=TEA).text
    for words in (
        "not followed",
        "paid for",
        "data: <a ",
        "schema:<wbr>makes<wbr>Offer",
        "<q><bdi>green tea</bdi></q>",
        "Mugs",
    ):
        assert words in html, words
    shown = site.get("/page", url="https://tea.example/cups", out="1").text
    assert "canonical address" in shown and "Tea &amp; cups" in shown
    assert "mute.example" in site.get("/page", url="https://ann.example/").text  # a link without words


def test_links_are_paged(site: Serving) -> None:
    pages = [site.get("/page.json", url=TEA, **{"in": str(page)}).json["in_links"]["pages"] for page in (1, 2, 3, 4)]
    assert [len(page) for page in pages] == [50, 50, 24, 0]
    assert len({one["url"] for page in pages for one in page}) == 124
    html = site.get("/page", url=TEA, **{"in": "2"}).text
    assert 'id="links-in"' in html and "Page 2 of 3" in html and '<details open><summary><h2 id="in-title">' in html
    assert "There are no more" in site.get("/page", url=TEA, **{"in": "200"}).text


def test_what_others_call_a_page_has_one_vote_a_site(site: Serving) -> None:
    called = site.get("/page.json", url=TEA).json["called"]
    assert called["others"][0] == {"text": "green tea", "sites": 4}
    # The other page of its site names it as canonical, so links to that count too.
    assert called["own"] == [{"text": text, "links": 1} for text in ("Home", "cups")] and called["is_sample"] is False
    rows = read_table(site, "/page.csv", url=TEA, part="called")
    assert rows[0] == {"who": "other sites", "text": "green tea", "sites": "4", "links": ""}
    html = site.get("/page", url=TEA).text
    assert "By other sites" in html and "4 sites" in html and "By its own site" in html


def test_of_many_links_the_numbers_are_the_least(site: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_links, "WORDS_READ", 100)
    assert "at least 4 sites" in site.get("/page", url=TEA).text
    assert site.get("/page.json", url=TEA).json["called"]["is_sample"] is True


def test_tables_of_links_are_there_for_programs(site: Serving) -> None:
    out = read_table(site, "/page.csv", url=TEA, part="out-links")
    assert [row["url"] for row in out] == ["https://mug.example/", "https://tea.example/cups"]
    assert out[0] | {"kinds": "link nofollow sponsored", "anchor": "mugs", "title": "Mugs"} == out[0]
    assert len(read_table(site, "/page.csv", url=TEA, part="in-links")) == 50


def test_no_text_of_the_web_becomes_markup_or_fills_the_page(site: Serving) -> None:
    spam = "https://spam.example/"
    for reply in (
        site.get("/page", url=TEA, **{"in": "3"}),
        site.get("/page", url=spam),
        site.get("/links"),
        site.get("/links", **{"from": spam, "to": TEA}),
        site.get("/links", **{"from": HOSTILE, "to": TEA}),
        site.get("/site", name="tea.example"),
    ):
        assert reply.status == 200
        assert "<script>alert" not in reply.text and "\u202e" not in reply.text
        assert "x" * 600 not in reply.text
    assert "written by users" in site.get("/page", url=TEA, **{"in": "3"}).text


def test_a_site_has_its_neighbours_as_a_picture_and_as_tables(site: Serving) -> None:
    data = site.get("/site.json", name="tea.example").json["neighbours"]
    assert [(one["host"], one["links"]) for one in data["links_to"]] == [("mug.example", 1)]
    assert {one["host"]: one["links"] for one in data["linked_from"]} == {
        "ann.example": 1, "mug.example": 2, "spam.example": 1,
        "blog0.example": 40, "blog1.example": 40, "blog2.example": 40,
    }  # fmt: skip
    assert data["linked_from"][0]["site"] == "blog0.example" and data["is_cut"] is False
    html = site.get("/site", name="tea.example").text
    assert 'aria-label="Hosts that link to it and hosts that it links to"' in html
    assert "<title>blog0.example links to tea.example by 40 links</title>" in html
    assert 'href="/site?name=blog0.example"' in html and html.count("40 links") >= 3
    rows = read_table(site, "/site.csv", name="tea.example")
    assert {"kind": "linked from", "name": "mug.example", "count": "2"} in rows


def test_hosts_without_indexed_pages_lead_to_what_is_known(site: Serving) -> None:
    html = site.get("/site", name="mug.example").text
    assert 'href="/site?name=tea.example"' in html
    reply = site.get("/page", url="http://www.tea.example/")
    assert reply.status == 200


def test_what_links_lead_to_most(site: Serving) -> None:
    data = site.get("/links.json").json
    assert data["is_counted"] is True and data["links"] == 128
    first = data["top_pages"][0]
    assert (first["url"], first["title"], first["hosts"], first["pages"]) == (TEA, "Tea & cups", 5, 123)
    assert data["top_hosts"][0] | {"host": "tea.example", "hosts": 5, "links": 122} == data["top_hosts"][0]
    (thing,) = data["top_things"]
    assert (thing["id"], thing["label"], thing["hosts"], thing["url"]) == (f"{TEA}#it", "Green tea", 5, TEA)
    for name, words in (
        ("pages", "Tea &amp; cups"),
        ("hosts", 'href="/site?name=tea.example"'),
        ("things", "Green tea"),
        ("farms", "which has not been done yet"),
    ):
        html = site.get("/links", list=name).text
        assert words in html and 'aria-current="page"' in html, name
    assert read_table(site, "/links.csv", list="hosts")[0]["host"] == "tea.example"
    assert site.get("/links.csv", list="nothing").status == 400
    assert site.get("/links", list="nothing", page="99").status == 200


def test_a_path_is_shown_step_by_step(site: Serving) -> None:
    ends = {"from": "ann.example", "to": "https://mug.example/"}
    html = site.get("/links", **{**ends, "from": "https://ann.example/"}).text
    assert "2 steps" in html and html.index("ann.example") < html.index("Tea &amp; cups") < html.index("not followed")
    path = site.get("/links.json", **{**ends, "from": "https://ann.example/"}).json["path"]
    assert [step["url"] for step in path["links"]] == [TEA, "https://mug.example/"]
    rows = read_table(site, "/links.csv", **{**ends, "from": "https://ann.example/"})
    assert [row["kinds"] for row in rows] == ["data", "link nofollow sponsored"]
    assert "No path leads there" in site.get("/links", **{"from": TEA, "to": "https://ann.example/"}).text
    unknown = {"from": TEA, "to": "https://never.example/"}
    assert site.get("/links", **unknown).status == 200
    assert site.get("/links.json", **unknown).status == 400


def test_a_page_that_nobody_knows_has_no_links(site: Serving) -> None:
    data = site.get("/page.json", url="https://never.example/").json
    assert (data["in_links"], data["out_links"]) == ({"total": 0, "pages": []}, {"total": 0, "pages": []})
    assert data["called"] == {"others": [], "own": [], "is_sample": False}


def test_links_are_in_the_index_only_once_they_are_there(tmp_path: Path) -> None:
    with serve(index_pages(tmp_path / "c", {TEA: make_page("Tea")})) as serving:
        html = serving.get("/links").text
        assert "None is known." in html
        assert "No links from other hosts" in serving.get("/site", name="tea.example").text


def test_ranks_and_groups_of_hosts_are_shown_once_they_are_computed(tmp_path: Path) -> None:
    pages = make_pages()
    # Hosts of a farm link to the same pages of other sites.
    targets = [f"https://shop{number}.example/{number}" for number in range(40)]
    for number in range(6):
        pages[f"https://farm{number}.example/"] = make_page("Farm", *(link(url, "<b>buy</b>") for url in targets))
    crawl = index_pages(tmp_path / "c", pages)
    assert rate_graph(IndexPaths(crawl.folder))
    with serve(crawl) as serving:
        data = serving.get("/links.json").json
        assert data["ranks_dated"] > 0 and data["top_pages"][0]["place"] >= 1
        (farm,) = [one for one in data["farms"] if one["reason"] == "farm" and "farm0.example" in one["hosts"]]
        assert set(farm["hosts"]) == {f"farm{number}.example" for number in range(6)}
        html = serving.get("/links", list="farms").text
        assert "farm: links to the same pages of other sites" in html and "farm5.example" in html
        assert "The crawl visits them later" in html
        assert "farm0.example" in serving.get("/links.csv", list="farms").text
        assert (
            "Place by rank" in serving.get("/links").text
            and "Place by rank" in serving.get("/links", list="hosts").text
        )
        assert "By rank it is number" in serving.get("/page", url=TEA).text
        assert serving.get("/page.json", url=TEA).json["rank"]["place"] >= 1
