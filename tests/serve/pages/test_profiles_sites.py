"""The page of a site, and the report on its structured data as a page, as JSON and as CSV."""

import csv
from collections.abc import Iterator
from functools import partial

import pytest

from indexed import index_pages
from rdfspider.search import indexes
from rdfspider.search.quality.report import inspect_site
from serving import Serving, serve


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    context = "https://schema.org"
    pages: dict[str, object] = {
        "https://www.tea.example/": '<html lang="en"><title>Tea</title><p vocab="https://schema.org/" typeof="Store">'
        '<b property="name">Tea shop</b></p>',
        "https://www.tea.example/green": {"@context": context, "@type": "Product", "name": "Green tea", "isbn": "1"},
        "https://www.tea.example/black": {
            "@context": context, "@id": "#b", "@type": "Product", "name": "<script>alert(1)\u202e",
            "sku": "=cmd", "description": " ",
        },
        "https://www.tea.example/again": {"@context": context, "@id": "/black#b", "sku": "x" * 100_000},
        "https://www.tea.example/broken": '<script type="application/ld+json">var tea = "none";</script>',
        "https://mug.example/": {"@context": context, "@type": "Person", "name": "Ann"},
    }  # fmt: skip
    with (
        serve(index_pages(tmp_path_factory.mktemp("sites") / "c", pages)) as serving,
        pytest.MonkeyPatch.context() as patch,
    ):
        # However slow the machine is, all pages are looked at.
        patch.setattr(indexes, "inspect_site", partial(inspect_site, seconds=60))
        yield serving


def test_a_site_tells_what_it_is_made_of(site: Serving) -> None:
    data = site.get("/site.json", name="tea.example").json
    assert (data["name"], data["count"]["pages"], data["things"]) == ("tea.example", 5, 3)
    assert {one["name"]: one["pages"] for one in data["syntaxes"]} == {"jsonld": 3, "rdfa": 1}
    assert data["languages"] == [{"name": "en", "pages": 1}]
    assert data["classes"][0] == {"name": "http://schema.org/Product", "things": 2, "share": pytest.approx(2 / 3)}
    assert data["pages"][0]["url"] == "https://www.tea.example/broken"
    assert "Ann" not in site.get("/site", name="tea.example").text


def test_a_host_stands_for_its_site(site: Serving) -> None:
    assert site.get("/site.json", name="WWW.tea.example").json["name"] == "tea.example"
    assert site.get("/quality.json", site="www.tea.example").json["site"] == "tea.example"


def test_a_site_comes_in_all_formats_and_leads_to_its_report(site: Serving) -> None:
    assert 'href="/quality?site=tea.example"' in site.get("/site", name="tea.example").text
    assert "class,http://schema.org/Product,2" in site.get("/site.csv", name="tea.example").text
    assert '"tea.example"' in site.get("/site.ttl", name="tea.example").text
    assert b"void#subset" in site.get("/site.nq", name="tea.example").body


def test_the_report_says_how_much_it_looked_at_and_sums_up(site: Serving) -> None:
    text = site.get("/quality", site="tea.example").text
    assert "5 of 5 pages of" in text
    for heading in ("Syntaxes", "Broken markup", "Missing properties", "Conflicting statements"):
        assert f">{heading}</h2>" in text
    data = site.get("/quality.json", site="tea.example").json
    assert data["severities"]["error"] == 1 and data["faults"][0]["examples"] == ["https://www.tea.example/broken"]
    missing = next(gap for gap in data["gaps"] if gap["path"] == "description")
    assert (missing["missing"], missing["things"]) == (2, 2)  # a blank is none


def test_the_report_is_a_table_that_no_spreadsheet_runs(site: Serving) -> None:
    rows = list(csv.DictReader(site.get("/quality.csv", site="tea.example").text.splitlines()))
    assert rows[0]["severity"] == "error" and rows[0]["kind"] == "broken markup"
    assert rows[0]["example"] == "https://www.tea.example/broken"
    conflict = next(row for row in rows if row["kind"] == "conflict")
    assert "=cmd" in conflict["message"] and not conflict["message"].startswith("=")


@pytest.mark.parametrize(("path", "name"), [("/site", "name"), ("/quality", "site")])
def test_hostile_words_break_neither_page(site: Serving, path: str, name: str) -> None:
    reply = site.get(path, **{name: "tea.example"})
    assert reply.status == 200 and len(reply.body) < 100_000
    assert "<script>alert" not in reply.text and "\u202e" not in reply.text
    for bad in ("no.example", "<script>alert(1)</script>", "." * 5000, "a." * 5000, "\u202e"):
        missed = site.get(path, **{name: bad})
        assert missed.status == 404 and "<script>alert" not in missed.text
    assert site.get(path).status == 400
    assert site.get(path, {"Accept": "application/json"}, **{name: "no.example"}).json["error"]
