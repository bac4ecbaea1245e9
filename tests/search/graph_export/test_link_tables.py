from pathlib import Path

import pytest
from pyarrow import parquet

from rdfspider.search.graph_export import link_tables
from rdfspider.search.graph_export.link_tables import LINK_COLUMNS, LinkRow, write_link_table

LINKS = [
    LinkRow("https://a.example/", "https://b.example/", "link", "the b page"),
    LinkRow("https://a.example/", "https://c.example/", "link nofollow", None),
    LinkRow("https://b.example/", "https://a.example/", "redirect", None),
    LinkRow("https://b.example/ü", "https://a.example/", "link", "broken \ud800 text"),
]


def test_links_are_rows(tmp_path: Path) -> None:
    assert write_link_table(iter(LINKS), tmp_path / "links.parquet") == 4
    table = parquet.read_table(tmp_path / "links.parquet")
    assert tuple(table.column_names) == LINK_COLUMNS
    rows = [LinkRow(**row) for row in table.to_pylist()]
    assert rows[:3] == LINKS[:3]
    assert rows[3].source == "https://b.example/ü"
    assert rows[3].anchor == "broken ? text"


def test_links_of_many_batches_are_all_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_tables, "_LINKS_A_BATCH", 3)
    links = [LinkRow(f"https://a.example/{number}", "https://b.example/", f"k{number}", None) for number in range(10)]
    told: list[int] = []
    assert write_link_table(links, tmp_path / "links.parquet", told.append) == 10
    assert [LinkRow(**row) for row in parquet.read_table(tmp_path / "links.parquet").to_pylist()] == links
    assert told == [3, 6, 9, 10]


def test_no_links_are_an_empty_table(tmp_path: Path) -> None:
    assert write_link_table([], tmp_path / "links.parquet") == 0
    assert tuple(parquet.read_table(tmp_path / "links.parquet").column_names) == LINK_COLUMNS
