"""Tables: rows of texts enter, a CSV, Excel or Parquet document leaves, row by row.

Text from the web is never a formula: CSV has an apostrophe before what a spreadsheet would calculate, and texts in Excel files
are marked as such. In Excel and Parquet, columns of numbers and dates are typed.
"""

import csv
import io
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from importlib.util import find_spec
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from rdfspider.errors import UsageError
from rdfspider.formats import ExportFormat, disarm_formula, open_parquet
from rdfspider.search.cell_types import CellType, ColumnTypes, read_cell
from rdfspider.search.things import Row
from rdfspider.vocabulary.terms import replace_surrogates

WriteRow = Callable[[Row], None]

# What Excel can open.
_EXCEL_ROWS = 1_048_576
_EXCEL_CHARS = 32_767
_EXCEL_COLUMNS = 16_384
_EXCEL_FIRST_YEAR = 1900
_ROWS_A_PART = 2_000


@contextmanager
def open_table(file_format: str, stream: BinaryIO, heads: Sequence[str]) -> Iterator[WriteRow]:
    """Begin a table; yield a function that writes one row. Formats whose columns have types are written at the end, from a
    temporary file, because only the last row tells."""
    names = [replace_surrogates(head) for head in heads]
    if file_format == ExportFormat.CSV:
        with _open_csv(stream, names) as write:
            yield write
        return
    is_excel = file_format == ExportFormat.XLSX
    with TemporaryFile() as kept:
        types = ColumnTypes(names)
        rows = 0

        def keep(row: Row) -> None:
            nonlocal rows
            rows += 1
            if is_excel and rows >= _EXCEL_ROWS:
                raise UsageError(
                    f"an Excel sheet has at most {_EXCEL_ROWS:,} rows: export csv or parquet, or select less"
                )
            types.add(row)
            pickle.dump(row, kept)

        yield keep
        kept.seek(0)
        found = (pickle.load(kept) for _ in range(rows))
        (_write_xlsx if is_excel else _write_parquet)(stream, names, types.list_types(), found)


def check_xlsx() -> Any:
    """Return the library that writes Excel files; raise UsageError if it is not installed."""
    try:
        import xlsxwriter
    except ImportError as error:
        raise UsageError("XlsxWriter is not installed: pip install 'rdfspider[xlsx]'") from error
    return xlsxwriter


def has_xlsx() -> bool:
    """Whether Excel files can be written."""
    return find_spec("xlsxwriter") is not None


@contextmanager
def _open_csv(stream: BinaryIO, heads: Sequence[str]) -> Iterator[WriteRow]:
    text = io.TextIOWrapper(stream, "utf-8", "replace", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(map(disarm_formula, heads))
    try:
        yield lambda row: writer.writerow(map(disarm_formula, row))
        text.flush()
    finally:
        # The stream belongs to the caller.
        text.detach()


def _write_xlsx(stream: BinaryIO, heads: Sequence[str], types: Sequence[CellType], rows: Iterable[Row]) -> None:
    # Rows are written to a temporary file at once, so memory does not grow with them.
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with check_xlsx().Workbook(stream, options) as book:
        sheet = book.add_worksheet("things")
        sheet.freeze_panes(1, 0)
        forms = {
            CellType.DATE: book.add_format({"num_format": "yyyy-mm-dd"}),
            CellType.TIME: book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }
        texts = [CellType.TEXT] * len(heads)
        for number, row in enumerate(chain((tuple(heads),), rows)):
            for place, (text, cell_type) in enumerate(
                zip(row[:_EXCEL_COLUMNS], types if number else texts, strict=False)
            ):
                value = None if text is None else read_cell(text, cell_type)
                if isinstance(value, int | float):
                    sheet.write_number(number, place, value)
                elif isinstance(value, date) and value.year >= _EXCEL_FIRST_YEAR:
                    # Excel knows no zones: times are in UTC.
                    naive = value.replace(tzinfo=None) if isinstance(value, datetime) else value
                    sheet.write_datetime(number, place, naive, forms[cell_type])
                elif text is not None:
                    sheet.write_string(number, place, replace_surrogates(text)[:_EXCEL_CHARS])


def _write_parquet(stream: BinaryIO, heads: Sequence[str], types: Sequence[CellType], rows: Iterable[Row]) -> None:
    with open_parquet(stream, _make_schema(heads, types)) as write_table:
        while part := list(islice(rows, _ROWS_A_PART)):
            write_table(_make_part(heads, types, part), sum(len(text or "") for row in part for text in row))


def make_arrow(heads: Sequence[str], rows: Sequence[Row]) -> Any:
    """A `pyarrow.Table`, with types where all values of a column have them."""
    types = ColumnTypes(heads)
    for row in rows:
        types.add(row)
    return _make_part(heads, types.list_types(), rows)


def _make_part(heads: Sequence[str], types: Sequence[CellType], rows: Sequence[Row]) -> Any:
    import pyarrow

    columns = zip(*rows, strict=True) if rows else ([] for _ in heads)
    cells = (
        [text and read_cell(replace_surrogates(text), cell_type) for text in column]
        for column, cell_type in zip(columns, types, strict=True)
    )
    schema = _make_schema(heads, types)
    return pyarrow.table(
        [pyarrow.array(found, kind) for found, kind in zip(cells, schema.types, strict=True)], schema=schema
    )


def _make_schema(heads: Sequence[str], types: Sequence[CellType]) -> Any:
    import pyarrow

    kinds = {
        CellType.TEXT: pyarrow.string(),
        CellType.INTEGER: pyarrow.int64(),
        CellType.NUMBER: pyarrow.float64(),
        CellType.DATE: pyarrow.date32(),
        CellType.TIME: pyarrow.timestamp("us", tz="UTC"),
    }
    return pyarrow.schema([(head, kinds[cell_type]) for head, cell_type in zip(heads, types, strict=True)])
