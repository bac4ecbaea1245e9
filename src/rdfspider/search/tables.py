"""Tables: rows of texts enter, a CSV, Excel or Parquet document leaves, row by row.

Text from the web is never a formula: CSV has an apostrophe before what a spreadsheet would calculate, and cells of Excel files
are marked as text.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, BinaryIO

from rdfspider.errors import UsageError
from rdfspider.formats import ExportFormat, disarm_formula, open_parquet
from rdfspider.search.things import Row
from rdfspider.vocabulary.terms import replace_surrogates

WriteRow = Callable[[Row], None]

# What Excel can open.
_EXCEL_ROWS = 1_048_576
_EXCEL_CHARS = 32_767
_EXCEL_COLUMNS = 16_384
_ROWS_A_PART = 2_000


@contextmanager
def open_table(file_format: str, stream: BinaryIO, heads: Sequence[str]) -> Iterator[WriteRow]:
    """Begin a table; yield a function that writes one row."""
    opened = {ExportFormat.CSV: _open_csv, ExportFormat.XLSX: _open_xlsx, ExportFormat.PARQUET: _open_parquet}
    with opened[ExportFormat(file_format)](stream, [replace_surrogates(head) for head in heads]) as write:
        yield write


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


@contextmanager
def _open_xlsx(stream: BinaryIO, heads: Sequence[str]) -> Iterator[WriteRow]:
    # Rows are written to a temporary file at once, so memory does not grow with them.
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with check_xlsx().Workbook(stream, options) as book:
        sheet = book.add_worksheet("things")
        sheet.freeze_panes(1, 0)
        number = 0

        def write(row: Sequence[str | None]) -> None:
            nonlocal number
            if number >= _EXCEL_ROWS:
                raise UsageError(
                    f"an Excel sheet has at most {_EXCEL_ROWS:,} rows: export csv or parquet, or select less"
                )
            for place, text in enumerate(row[:_EXCEL_COLUMNS]):
                if text is not None:
                    sheet.write_string(number, place, replace_surrogates(text)[:_EXCEL_CHARS])
            number += 1

        write(heads)
        yield write


@contextmanager
def _open_parquet(stream: BinaryIO, heads: Sequence[str]) -> Iterator[WriteRow]:
    import pyarrow

    schema = pyarrow.schema([(head, pyarrow.string()) for head in heads])
    with open_parquet(stream, schema) as write_table:
        waiting: list[Row] = []

        def flush() -> None:
            if waiting:
                write_table(make_arrow(heads, waiting), sum(len(text or "") for row in waiting for text in row))
                waiting.clear()

        def write(row: Row) -> None:
            waiting.append(row)
            if len(waiting) >= _ROWS_A_PART:
                flush()

        yield write
        flush()


def make_arrow(heads: Sequence[str], rows: Sequence[Row]) -> Any:
    """A `pyarrow.Table` of texts."""
    import pyarrow

    columns = zip(*rows, strict=True) if rows else ([] for _ in heads)
    texts = ([text and replace_surrogates(text) for text in column] for column in columns)
    return pyarrow.table([pyarrow.array(column, pyarrow.string()) for column in texts], names=list(heads))
