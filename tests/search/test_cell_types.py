"""Which columns are numbers, dates or times, and which stay text."""

import pytest

from rdfspider.search.cell_types import CellType, ColumnTypes


@pytest.mark.parametrize(
    ("head", "texts", "expected"),
    [
        ("price", ["1", "20", None], CellType.INTEGER),
        ("price", ["1", "20.5"], CellType.NUMBER),
        ("price", ["1", "20,5"], CellType.TEXT),
        ("price", ["1", "20 EUR"], CellType.TEXT),
        ("price", ["007"], CellType.TEXT),
        ("price", ["1e5"], CellType.TEXT),
        ("price", ["٣"], CellType.TEXT),
        ("price", ["9" * 16], CellType.TEXT),
        ("price", [None], CellType.TEXT),
        ("sku", ["12"], CellType.TEXT),
        ("<http://schema.org/gtin13>", ["4006381333931"], CellType.TEXT),
        ("address.postalCode", ["10115"], CellType.TEXT),
        ("schema:birthDate", ["1815-12-10"], CellType.DATE),
        ("birthDate", ["2023-02-30"], CellType.TEXT),
        ("birthDate", ["1815-12-10", "2024-05-01T10:00Z"], CellType.TEXT),
        ("startDate", ["2024-05-01T10:00Z", "2024-05-01T10:00:30.5+0200"], CellType.TIME),
        ("startDate", ["2024-05-01T10:00:00"], CellType.TEXT),
        ("startDate", ["0001-01-01T00:00+14:00"], CellType.TEXT),
    ],
)
def test_types_of_columns(head: str, texts: list[str | None], expected: CellType) -> None:
    types = ColumnTypes([head])
    for text in texts:
        types.add((text,))
    assert types.list_types() == [expected]
