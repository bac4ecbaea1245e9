import io
import json
from collections.abc import Iterable

import pyarrow.parquet
import pytest
from pyoxigraph import RdfFormat, parse

from rdfspider import formats
from rdfspider.formats import ExportFormat
from rdfspider.index.quads.selection import PageQuads
from rdfspider.search.export import Exported, write_export

S = "http://schema.org/"
PAGES = [
    PageQuads(
        f"https://example.org/{at}",
        f'_:p0n{at} <{S}name> "Tea \\"{at}\\"\\n"@en <https://example.org/{at}> .\n'
        f"_:p0n{at} <{S}offers> <urn:offer> <https://example.org/{at}> .\n".encode(),
    )
    for at in range(3)
]
ALL = b"".join(page.nquads for page in PAGES)


def write(file_format: str, pages: Iterable[PageQuads] = PAGES) -> bytes:
    stream = io.BytesIO()
    write_export(pages, file_format, stream, lambda page: 0.0 if page.endswith("0") else 1_750_000_000.25)
    return stream.getvalue()


def test_nquads_are_written_as_they_are() -> None:
    assert write("nquads") == ALL


def test_trig_says_the_same() -> None:
    written = write("trig")
    assert set(parse(written, RdfFormat.TRIG)) == set(parse(ALL, RdfFormat.N_QUADS))
    assert written.count(b"@prefix schema:") == 1


def test_jsonl_has_a_line_for_each_thing_and_page() -> None:
    first, second, _ = write("jsonl").splitlines()
    assert json.loads(first) == {
        "id": "_:p0n0",
        "types": [],
        "page": "https://example.org/0",
        "fetched": None,
        "properties": {f"{S}name": [{"value": 'Tea "0"\n', "language": "en"}], f"{S}offers": [{"id": "urn:offer"}]},
    }
    assert json.loads(second)["fetched"] == "2025-06-15T15:06:40Z"


def test_parquet_has_columns_for_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_GROUP_ROWS", 4)
    file = pyarrow.parquet.ParquetFile(io.BytesIO(write("parquet")))
    # Rows leave as soon as there are enough of them.
    assert file.metadata.num_row_groups == 2
    rows = file.read().to_pylist()
    assert len(rows) == 6
    assert rows[2] | {"fetched": None} == {
        "subject": "_:p0n1",
        "predicate": f"{S}name",
        "object": 'Tea "1"\n',
        "object_kind": "literal",
        "datatype": "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
        "language": "en",
        "graph": "https://example.org/1",
        "fetched": None,
    }
    assert rows[0]["fetched"] is None
    assert rows[2]["fetched"].timestamp() == 1_750_000_000.25


@pytest.mark.parametrize("file_format", ExportFormat)
def test_nothing_is_a_whole_document_too(file_format: str) -> None:
    written = write(file_format, ())
    if file_format == "parquet":
        assert pyarrow.parquet.read_table(io.BytesIO(written)).num_rows == 0
    else:
        assert not [line for line in written.splitlines() if not line.startswith(b"@prefix")]


def test_progress_is_told_after_each_page() -> None:
    told = []
    exported = write_export(
        iter(PAGES), "nquads", io.BytesIO(), lambda page: 0.0, lambda now: told.append((now.pages, now.quads)), 3
    )
    assert told == [(1, 2), (2, 4), (3, 6)]
    assert exported == Exported(3, 6, 3)
