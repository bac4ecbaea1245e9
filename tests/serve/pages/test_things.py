"""The things of a class can be downloaded as a table, from the page of the class."""

import csv
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import parquet

from indexed import index_pages
from rdfspider.serve.pages import things
from serving import Serving, serve

PAGE = {
    "@context": "https://schema.org",
    "@graph": [
        {"@type": "Product", "name": "=tea", "offers": {"@type": "Offer", "price": "4.50"}},
        {"@type": "Product", "name": "cup"},
    ],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder: Path = tmp_path_factory.mktemp("things") / "c"
    with serve(index_pages(folder, {"https://a.example/": PAGE})) as serving:
        yield serving


def test_the_page_of_a_class_links_to_the_tables(site: Serving) -> None:
    text = site.get("/class", iri="schema:Product").text
    for kind in ("csv", "xlsx", "parquet"):
        assert f'href="/things.{kind}?type=http://schema.org/Product"' in text


def test_each_format_has_a_row_a_thing(site: Serving) -> None:
    reply = site.get("/things.csv", type="schema:Product", columns="name,offers.price")
    assert reply.headers["content-disposition"] == 'attachment; filename="product.csv"'
    assert sorted(csv.reader(io.StringIO(reply.text, newline=""))) == [
        ["'=tea", "4.50"],
        ["cup", ""],
        ["name", "offers.price"],
    ]
    sheet = zipfile.ZipFile(io.BytesIO(site.get("/things.xlsx", type="Product").body)).read("xl/worksheets/sheet1.xml")
    assert sheet.count(b"<row ") == 3
    table = parquet.read_table(io.BytesIO(site.get("/things.parquet", type="Product").body))
    assert (table.num_rows, table.column_names[:3]) == (2, ["id", "type", "name"])


def test_rows_are_bounded_and_mistakes_told(site: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(things, "MAX_ROWS", 1)
    assert len(site.get("/things.csv", type="Product").text.splitlines()) == 2
    assert site.get("/things.csv").status == 400
    reply = site.get("/things.csv", type="Produkt")
    assert reply.status == 400 and "no page uses a class" in reply.text
    assert site.get("/things.csv", type="Product", columns="nome").status == 400
