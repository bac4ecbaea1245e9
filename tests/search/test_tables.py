"""Tables as files: what is written is read back, and no text becomes a formula."""

import csv
import io
import zipfile
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from lxml import etree
from pyarrow import parquet

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.errors import UsageError
from rdfspider.search import tables

PERSON = {"@context": "https://schema.org", "@type": "Person", "name": "=1+1", "jobTitle": ["a,b", 'c"\nd']}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return index_pages(tmp_path_factory.mktemp("tables") / "c", {"https://a.example/": PERSON})


def _read_cells(path: Path) -> list[list[str]]:
    """The texts of an Excel sheet; anything but texts fails."""
    with zipfile.ZipFile(path) as book:
        sheet = etree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    name = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    assert not list(sheet.iter(f"{name}f")), "a formula"
    assert {cell.get("t") for cell in sheet.iter(f"{name}c")} == {"inlineStr"}
    return [["".join(cell.itertext()) for cell in row] for row in sheet.iter(f"{name}row")]


def test_csv_disarms_formulas(crawl: Crawl, tmp_path: Path) -> None:
    exported = crawl.export(tmp_path / "p.csv", type="Person", columns=["name", "jobTitle"])
    assert exported.rows == 1
    with (tmp_path / "p.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["name", "jobTitle"], ["'=1+1", 'a,b | c"\nd']]


def test_excel_has_texts_alone(crawl: Crawl, tmp_path: Path) -> None:
    crawl.export(tmp_path / "p.xlsx", type="Person", columns=["name", "jobTitle"], several="rows")
    assert _read_cells(tmp_path / "p.xlsx") == [["name", "jobTitle"], ["=1+1", "a,b"], ["=1+1", 'c"\nd']]


def test_parquet_has_a_row_a_thing_with_columns_and_a_row_a_quad_without(crawl: Crawl, tmp_path: Path) -> None:
    crawl.export(tmp_path / "p.parquet", type="Person", columns=["name", "jobTitle"])
    assert parquet.read_table(tmp_path / "p.parquet").to_pylist() == [{"name": "=1+1", "jobTitle": 'a,b | c"\nd'}]
    crawl.export(tmp_path / "q.parquet", type="Person")
    assert parquet.read_table(tmp_path / "q.parquet").num_rows == 4


def test_many_rows_pass_through_every_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_ROWS_A_PART", 3)
    for file_format in ("csv", "xlsx", "parquet"):
        stream = io.BytesIO()
        with tables.open_table(file_format, stream, ["a", "b"]) as write:
            for number in range(10):
                write((str(number), None))
        assert stream.tell()
    assert parquet.read_table(io.BytesIO(stream.getvalue())).column("a").to_pylist() == list(range(10))


def test_more_rows_than_excel_has_are_refused_and_long_texts_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_EXCEL_ROWS", 3)
    with (
        pytest.raises(UsageError, match="at most 3 rows"),
        tables.open_table("xlsx", io.BytesIO(), ["a"]) as write,
    ):
        for _ in range(3):
            write(("x" * 100_000,))


def test_what_cannot_be_a_table_is_told(crawl: Crawl, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="things of which class"):
        crawl.export(tmp_path / "p.csv")
    with pytest.raises(UsageError, match="nquads has no rows"):
        crawl.export(tmp_path / "p.nq", type="Person", columns=["name"])
    with pytest.raises(UsageError, match="xlsx is compressed inside"):
        crawl.export(tmp_path / "p.xlsx.gz", type="Person")
    assert not list(tmp_path.iterdir())


def test_columns_of_numbers_and_dates_are_typed() -> None:
    heads = ["offers.price", "sku", "datePublished", "birthDate", "count", "mixed"]
    rows = [
        ("4.50", "007", "2024-05-01T10:00:00+02:00", "1815-12-10", "3", "1"),
        ("8", "12", None, "2000-01-02", "4", "1 | 2"),
    ]
    written = {}
    for file_format in ("xlsx", "parquet"):
        stream = io.BytesIO()
        with tables.open_table(file_format, stream, heads) as write:
            for row in rows:
                write(row)
        written[file_format] = io.BytesIO(stream.getvalue())
    first, second = parquet.read_table(written["parquet"]).to_pylist()
    moment = datetime(2024, 5, 1, 8, tzinfo=UTC)
    assert list(first.values()) == [4.5, "007", moment, date(1815, 12, 10), 3, "1"]
    assert list(second.values()) == [8.0, "12", None, date(2000, 1, 2), 4, "1 | 2"]
    with zipfile.ZipFile(written["xlsx"]) as book:
        sheet = etree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    cells = {cell.get("r"): (cell.get("t"), "".join(cell.itertext())) for cell in sheet.iter("{*}c")}
    assert cells["A2"] == (None, "4.5") and cells["B2"] == ("inlineStr", "007")
    # Days since 1900; older dates are texts there.
    assert cells["C2"][1].startswith("45413.333")
    assert cells["D2"] == ("inlineStr", "1815-12-10") and cells["D3"] == (None, "36527")
    assert cells["F2"] == ("inlineStr", "1")


def test_an_excel_sheet_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_EXCEL_ROWS", 3)
    with pytest.raises(UsageError, match="at most 3 rows"), tables.open_table("xlsx", io.BytesIO(), ["a"]) as write:
        for number in range(3):
            write((str(number),))
