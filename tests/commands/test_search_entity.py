"""`rdfspider entity`: what it prints, and what it says of mistakes."""

import json
from pathlib import Path

import pytest
from tests.conftest import Run

from indexed import index_pages

ADA = "https://one.example/#ada"
PAGES = {
    "https://one.example/": {
        "@context": "https://schema.org",
        "@id": ADA,
        "@type": "Person",
        "name": "Ada \x1b[31m\u202e Lovelace",
        "sameAs": "https://two.example/ada",
        "address": {"@type": "PostalAddress", "addressLocality": "London"},
    },
    "https://two.example/": {
        "@context": "https://schema.org",
        "@id": ADA,
        "jobTitle": [f"Job {at}" for at in range(15)],
    },
    "https://two.example/book": {
        "@context": "https://schema.org",
        "@type": "Book",
        "name": "Notes",
        "author": {"@id": ADA},
    },
    "https://two.example/ada": {
        "@context": "https://schema.org",
        "@id": "https://two.example/ada",
        "email": "ada@two.example",
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_pages(tmp_path_factory.mktemp("entity") / "crawl", PAGES).folder


def test_all_that_is_said_with_who_says_so(run: Run, folder: Path) -> None:
    code, out, err = run("entity", ADA, "--dir", folder)
    assert (code, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert lines[:4] == [
        "Ada [31m Lovelace",
        ADA,
        "schema:Person",
        "the same, as pages say (--same merges): https://two.example/ada",
    ]
    assert "schema:address schema:PostalAddress https://one.example/ 2025-06-15" in lines
    assert "schema:addressLocality: London" in lines
    assert "schema:jobTitle Job 0 https://two.example/ 2025-06-15" in lines
    assert "and 5 more" in lines
    assert any(line.startswith("schema:author Notes genid:") for line in lines)
    assert "ada@two.example" not in out


def test_text_of_the_web_cannot_steer_a_terminal(run: Run, folder: Path) -> None:
    _, out, _ = run("entity", ADA, "--dir", folder)
    assert all(mark.isprintable() or mark == "\n" for mark in out)


def test_the_same_on_request(run: Run, folder: Path) -> None:
    _, out, _ = run("entity", ADA, "--same", "--dir", folder)
    assert "ada@two.example" in out
    assert f"merged from 2: {ADA}, https://two.example/ada" in out


def test_what_was_not_counted_to_its_end_says_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = {"@context": "https://schema.org", "@id": ADA, "name": "Ada"}
    book = {"@type": "Book", "author": {"@id": ADA}}
    pages = {f"https://site.example/{at}": page | {"subjectOf": book} for at in range(5)}
    folder = index_pages(tmp_path / "crawl", pages).folder
    monkeypatch.setattr("rdfspider.commands.search._THINGS_SHOWN", 1)
    _, out, _ = run("entity", ADA, "--dir", folder)
    assert "and 3 more pages" in out
    assert "pointed at by (1 of 5)" in out
    monkeypatch.setattr("rdfspider.search.entity._REFERENCES_COUNTED", 4)
    monkeypatch.setattr("rdfspider.search.entity._SOURCES_COUNTED", 4)
    _, out, _ = run("entity", ADA, "--dir", folder)
    assert "and at least 2 more pages" in out
    assert "pointed at by (1 of at least 4)" in out
    assert "only a part was read" in out


def test_json(run: Run, folder: Path) -> None:
    code, out, _ = run("entity", ADA, "--json", "--dir", folder)
    assert code == 0
    (line,) = out.splitlines()
    found = json.loads(line)
    assert found["iri"] == ADA
    assert found["references"][0]["label"] == "Notes"
    assert found["properties"]["http://schema.org/jobTitle"]["value_count"] == 15


def test_a_page_tells_what_it_speaks_of(run: Run, folder: Path) -> None:
    code, out, _ = run("entity", "two.example/book", "--dir", folder)
    assert code == 0
    assert "this page speaks of" in out
    assert "schema:Book" in out


def test_what_nobody_speaks_of_is_one_line(run: Run, folder: Path) -> None:
    assert run("entity", "https://one.example/#bob", "--dir", folder) == (
        2,
        "",
        "rdfspider: no page says anything of 'https://one.example/#bob': find how it is called with `rdfspider search`\n",
    )


def test_a_folder_that_is_no_crawl(run: Run, tmp_path: Path) -> None:
    code, out, err = run("entity", ADA, "--dir", tmp_path / "none")
    assert (code, out) == (2, "")
    assert "there is no such folder" in err


def test_a_list_is_numbered(run: Run, tmp_path: Path) -> None:
    steps = {"@list": ["Boil", {"https://one.example/name": "Wait"}, "Pour"]}
    page = {"@id": "https://one.example/#tea", "https://one.example/steps": steps}
    folder = index_pages(tmp_path / "c", {"https://one.example/": page}).folder
    code, out, _ = run("entity", "https://one.example/#tea", "--dir", folder)
    assert code == 0
    assert [line for line in ("1. Boil", "2.", "name: Wait", "3. Pour") if line not in out] == []
    assert "rdf:" not in out
