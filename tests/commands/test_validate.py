"""`rdfspider validate` as a person types it."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import Run

from rdfspider.validate.findings import RULES
from rdfspider.validate.output import COLUMNS
from web.server import Answer, Web
from web.sites import Site

BAD = """<html><title>Bad</title>
<script type="application/ld+json">
{"@context": "https://schema.org", "@graph": [
 {"@type": "Evnt", "name": "Party"},
 {"@type": "Event", "name": "Concert",
  "startDate": "next tuesday", "location": "Here"},
 {"@type": "Product", "name": "Tea", "offers":
   {"@type": "Offer", "price": "12,50 EUR",
    "priceCurrency": "€", "availability": "yes"}},
 {"@type": "Recipe", "name": "Soup", "totalTime": "20 minutes"}
]}
</script>
<p itemscope itemtype="https://schema.org/person"><b itemprop=name>Jane</b></p>
"""
GOOD = '<p itemscope itemtype="https://schema.org/Person"><b itemprop=name>Jane</b></p>'
FOUND = {
    ("unknown-class", "Evnt", 4),
    ("date-form", "Event.startDate", 6),
    ("price-form", "Product.offers.price", 8),
    ("currency-form", "Product.offers.priceCurrency", 9),
    ("enumeration-value", "Product.offers.availability", 9),
    ("duration-form", "Recipe.totalTime", 10),
    ("missing-required", "Recipe.image", 10),
    ("class-case", "person", 13),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/bad.html").write_text(BAD)
    (tmp_path / "pages/good.html").write_text(GOOD)
    return tmp_path / "pages"


def test_each_fault_with_its_path_and_line(run: Run, folder: Path) -> None:
    code, out, err = run("validate", folder / "bad.html", "--base", "https://a.example/", "--format", "json")
    assert (code, err) == (1, "")
    found = json.loads(out)
    assert {(one["rule"], one["path"], one["line"]) for one in found["findings"] if one["severity"] != "hint"} == FOUND
    assert found["profile"] == "google" and found["pages"] == 1


def test_text_for_people(run: Run, folder: Path) -> None:
    code, out, _ = run("validate", folder, "--base", "https://a.example/")
    assert code == 1
    assert 'error   Evnt: schema.org has no class "Evnt"; did you mean Event?  [jsonld line 4 unknown-class]' in out
    assert "hint    Recipe: recommended and missing: author, datePublished, description" in out
    assert out.splitlines()[-1].startswith("7 errors, 1 warning, ")
    assert out.splitlines()[-1].endswith("on 1 of 2 pages")


@pytest.mark.parametrize(
    ("page", "arguments", "code"),
    [
        ("good.html", [], 0),
        ("good.html", ["--fail-on", "hint"], 0),
        ("bad.html", [], 1),
        ("bad.html", ["--fail-on", "never"], 0),
        ("bad.html", ["--profile", "schema", "--fail-on", "warning"], 1),
    ],
)
def test_exit_codes(run: Run, folder: Path, page: str, arguments: list[str], code: int) -> None:
    assert run("validate", folder / page, *arguments)[0] == code


def test_a_hint_fails_only_where_asked(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "hint.html"
    page.write_text('<p itemscope itemtype="https://schema.org/Article"><b itemprop=author>Jane</b></p>')
    assert [run("validate", page, "--profile", "schema", "--fail-on", each)[0] for each in ("hint", "warning")] == [
        1,
        0,
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "name pages to check, or a crawl by --dir"),
        (["x.html", "--dir", "y"], "not both"),
        (["missing.html"], "missing.html: no such file or folder"),
        (["x.html", "--profile", "bing"], "no such profile; there are google, schema, shacl, usual"),
        (["x.html", "--base", "nowhere"], "--base nowhere: not an absolute URL"),
        (["--profile", "shacl"], "name the file of the shapes first"),
        (["--profile", "shacl", "shapes.ttl"], "name pages to check"),
        (["--profile", "shacl", "missing.ttl", "x.html"], "missing.ttl: there is no such file"),
        (["--profile", "missing.ttl", "x.html"], "missing.ttl: there is no such file"),
        (["--dir", "missing"], "missing: there is no such folder"),
        (["x.html", "--format", "xml"], "--format"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(run: Run, arguments: list[str], complaint: str) -> None:
    code, out, err = run("validate", *arguments)
    assert (code, out) == (2, "")
    assert complaint in err and err.count("\n") == 1


def test_sarif(run: Run, folder: Path) -> None:
    """By the required properties of SARIF 2.1.0: version, runs, tool.driver.name, results with messages, rules with ids."""
    code, out, _ = run("validate", folder, "--base", "https://a.example/", "--format", "sarif")
    assert code == 1
    log = json.loads(out)
    assert log["version"] == "2.1.0"
    [made] = log["runs"]
    driver = made["tool"]["driver"]
    assert driver["name"] == "rdfspider"
    assert [rule["id"] for rule in driver["rules"]] == list(RULES)
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    assert made["columnKind"] == "unicodeCodePoints"
    places = set()
    for result in made["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
        assert result["occurrenceCount"] >= 1
        [location] = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "https://a.example/bad.html"
        line = place.get("region", {"startLine": 0})["startLine"]
        [logical] = location["logicalLocations"]
        if result["level"] != "note":
            places.add((result["ruleId"], logical["fullyQualifiedName"], line))
    assert places == FOUND


def test_sarif_names_files_as_code_scanning_wants_them(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    _, out, _ = run("validate", "bad.html", "--format", "sarif")
    place = json.loads(out)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "bad.html", "uriBaseId": "%SRCROOT%"}


def test_csv(run: Run, folder: Path, tmp_path: Path) -> None:
    code, out, _ = run("validate", folder, "--format", "csv", "--output", tmp_path / "found.csv")
    assert (code, out) == (1, "")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "found.csv").read_text())))
    assert tuple(rows[0]) == COLUMNS
    assert {(row["rule"], row["path"], int(row["line"])) for row in rows if row["severity"] != "hint"} == FOUND


def test_the_name_of_the_output_tells_its_format(run: Run, folder: Path, tmp_path: Path) -> None:
    for name, start in (("found.sarif", "{"), ("found.csv", ",".join(COLUMNS)[:10]), ("found.txt", "")):
        run("validate", folder, "--output", tmp_path / name)
        assert (tmp_path / name).read_text().startswith(start)
    code, _, err = run("validate", folder, "--output", tmp_path / "found.pdf")
    assert (code, "its ending tells no format; name one with --format: text, json, sarif, csv" in err) == (2, True)


def test_the_output_is_not_a_source(run: Run, folder: Path) -> None:
    code, _, err = run("validate", folder / "bad.html", "--output", folder / "bad.html")
    assert code == 2 and "it is one of the sources" in err
    assert (folder / "bad.html").read_text() == BAD


def test_totals_by_site_and_class(run: Run, folder: Path) -> None:
    (folder / "worse.html").write_text(BAD)
    _, out, _ = run("validate", folder, "--base", "https://a.example/", "--format", "json")
    rows = {(row["type"], row["path"], row["rule"]): row for row in json.loads(out)["totals"]}
    row = rows["Offer", "price", "price-form"]
    assert (row["site"], row["count"], row["pages"]) == ("a.example", 2, 2)
    assert row["examples"] == ["https://a.example/bad.html", "https://a.example/worse.html"]
    _, out, _ = run("validate", folder, "--base", "https://a.example/", "--totals")
    lines = [line.split() for line in out.splitlines()]
    found = [line[-2:] for line in lines if line[:4] == ["error", "Offer", "price", "price-form"]]
    assert found == [["2", "2"]], out


def test_totals_over_all_sites(run: Run, folder: Path, archive: Path) -> None:
    sources = folder / "bad.html", archive
    _, out, _ = run("validate", *sources, "--base", "https://b.example/", "--format", "json")
    [row] = [row for row in json.loads(out)["overall"] if row["rule"] == "price-form"]
    assert (row["type"], row["path"], row["count"], row["pages"]) == ("Offer", "price", 2, 2)
    assert row["examples"] == ["https://a.example/bad", "https://b.example/pages/bad.html"]
    _, out, _ = run("validate", *sources, "--base", "https://b.example/", "--totals")
    after = out.partition("all 2 sites with findings")[2]
    found = [line.split() for line in after.splitlines() if " price-form " in line]
    assert [line[:4] + line[-2:] for line in found] == [["error", "Offer", "price", "price-form", "2", "2"]], out


SHAPES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
[] a sh:NodeShape ; sh:targetClass <https://schema.org/Product> ;
   sh:property [ sh:path <https://schema.org/image> ; sh:minCount 1 ] .
"""


@pytest.mark.parametrize(
    "arguments",
    [["--profile", "shacl", "s.ttl", "bad.html"], ["bad.html", "--profile", "s.ttl"],
     ["bad.html", "--profile", "shacl", "--shapes", "s.ttl"]],
)  # fmt: skip
def test_shapes_alone(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.chdir(folder)
    (folder / "s.ttl").write_text(SHAPES)
    code, out, err = run("validate", *arguments, "--format", "json")
    assert (code, err) == (1, "")
    [found] = json.loads(out)["findings"]
    assert (found["rule"], found["path"], found["message"]) == ("shape", "Product.image", "Less than 1 values")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A WARC file with the bad page."""
    path = tmp_path / "a.warc"
    body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + BAD.encode()
    head = (
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/bad\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    path.write_bytes(head.encode() + body + b"\r\n\r\n")
    return path


def test_a_warc_file(run: Run, archive: Path) -> None:
    code, out, _ = run("validate", archive, "--format", "json")
    assert code == 1
    found = json.loads(out)["findings"]
    assert {one["page"] for one in found} == {"https://a.example/bad"}
    assert {(one["rule"], one["path"], one["line"]) for one in found if one["severity"] != "hint"} == FOUND


def test_an_archive_of_which_nothing_can_be_read_is_not_good(run: Run, archive: Path) -> None:
    archive.write_bytes(archive.read_bytes()[:400])
    code, _, err = run("validate", archive)
    assert code == 2
    assert "the record is cut short" in err and "no page was checked" in err


def test_a_crawl_is_checked_from_its_archive(
    run: Run, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RDFSPIDER_RUN_MIN_FREE_BYTES", "0")
    assert run("import", archive, "--dir", tmp_path / "crawl", "--shards", 1)[0] == 0
    code, out, err = run("validate", "--dir", tmp_path / "crawl")
    assert (code, err) == (1, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["a.example"]
    assert ["error", "Offer", "price", "price-form"] in [line[:4] for line in lines]
    assert " ".join(lines[-1]).endswith("on 1 of 1 page")
    _, out, _ = run("validate", "--dir", tmp_path / "crawl", "--format", "json")
    found = json.loads(out)["findings"]
    assert {(one["rule"], one["path"], one["line"]) for one in found if one["severity"] != "hint"} == FOUND


def test_a_crawl_of_files_from_elsewhere_is_checked_with_lines(run: Run, archive: Path, tmp_path: Path) -> None:
    assert run("index", archive, "--dir", tmp_path / "crawl")[0] == 0
    code, out, _ = run("validate", "--dir", tmp_path / "crawl", "--format", "json")
    assert code == 1
    found = json.loads(out)["findings"]
    assert {(one["rule"], one["path"], one["line"]) for one in found if one["severity"] != "hint"} == FOUND


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    site = Site()
    site.add("http://a.test/bad", Answer(body=BAD.encode()))
    site.add("http://a.test/moved", Answer(302, headers={"Location": "/bad"}))
    site.add("http://a.test/secret", Answer(body=BAD.encode()))
    site.add("http://a.test/secretly", Answer(302, headers={"Location": "/secret"}))
    site.robots["a.test"] = Answer(body=b"User-agent: *\nDisallow: /secret$\n", content_type="text/plain")
    with Web(site) as running:
        yield running


@pytest.fixture
def flags(web: Web, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("RDFSPIDER_FRONTIER_DELAY_S", "0")
    return ["--resolve", f"*.test=127.0.0.1:{web.ports['127.0.0.1']}", "--contact", "me@example.org"]


def test_a_url_is_fetched_as_robots_txt_allows(run: Run, web: Web, flags: list[str]) -> None:
    before = len(web.log)
    code, out, _ = run("validate", "http://a.test/moved", "--format", "json", *flags)
    assert code == 1
    found = json.loads(out)["findings"]
    assert {one["page"] for one in found} == {"http://a.test/bad"}, "the address after the redirect"
    assert {(one["rule"], one["path"], one["line"]) for one in found if one["severity"] != "hint"} == FOUND
    asked = web.log[before:]
    assert [exchange.path for exchange in asked] == ["/robots.txt", "/moved", "/bad"]
    assert "me@example.org" in asked[0].headers["user-agent"]


def test_a_page_that_is_cut_is_not_called_good(run: Run, flags: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDFSPIDER_FETCH_MAX_BODY_BYTES", "100")
    _, _, err = run("validate", "http://a.test/bad", *flags)
    assert "http://a.test/bad: it is longer than what is read of a page: only its first 100 bytes are read" in err


def test_urls_and_files_keep_their_order(run: Run, folder: Path, flags: list[str]) -> None:
    _, out, err = run("extract", "http://a.test/bad", folder / "good.html", "--base", "https://b.example/", *flags)
    assert err == ""
    graphs = list(dict.fromkeys(line.rsplit(" ", 2)[1] for line in out.splitlines()))
    assert graphs == ["<http://a.test/bad>", "<https://b.example/>"]


@pytest.mark.parametrize("command", ["extract", "validate"])
@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("http://a.test/secret", "not fetched: robots.txt of http://a.test says `Disallow: /secret$`"),
        ("http://a.test/secretly", "which redirects to http://a.test/secret: not fetched: robots.txt"),
        ("http://a.test/missing", "not fetched: the server answered 404"),
        ("http://127.0.0.1/", "its host is on a private network (see --allow-private)"),
        ("http://", "not an http or https URL"),
    ],
)
def test_why_a_url_was_not_fetched(run: Run, flags: list[str], command: str, url: str, complaint: str) -> None:
    code, out, err = run(command, url, *flags)
    assert (code, out) == (2, "")
    assert complaint in err and err.count("\n") == 1, err
