"""`Things`: rows of entities enter when they are asked for; Python objects, data frames and HTML for notebooks leave."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import cached_property
from html import escape
from itertools import islice
from typing import Any

from rdfspider.drawing import cut_text, draw_link, draw_table
from rdfspider.search.rows import Table
from rdfspider.search.tables import make_arrow
from rdfspider.search.things import ID, PAGE, Row

_SHOWN_ROWS = 20
_SHOWN_CHARS = 120


class Things(Table):
    """A table with one row a thing, read from the newest snapshot each time it is asked for; texts, or None for no value."""

    def __init__(self, read: Callable[[], Generator[Row, None, None]]) -> None:
        """`read` yields the names of the columns, then the rows."""
        self._read = read

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        with closing(self._read()) as rows:
            return tuple(name or "" for name in next(rows))

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return list(self)

    def __iter__(self) -> Iterator[Row]:
        """Read the rows one after the other."""
        with closing(self._read()) as rows:
            next(rows)
            yield from rows

    def to_dicts(self) -> Iterator[dict[str, str | None]]:
        """The rows as dictionaries, one after the other."""
        return (dict(zip(self.columns, row, strict=True)) for row in self)

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`, with types where all values of a column are numbers, dates or times."""
        with closing(self._read()) as rows:
            heads = [name or "" for name in next(rows)]
            return make_arrow(heads, list(rows))

    def __repr__(self) -> str:
        return f"Things({', '.join(self.columns)})"

    def _repr_html_(self) -> str:
        with closing(self._read()) as rows:
            heads = [name or "" for name in next(rows)]
            first = list(islice(rows, _SHOWN_ROWS))
            is_more = next(rows, None) is not None
        drawn = ([_draw_cell(head, text) for head, text in zip(heads, row, strict=True)] for row in first)
        end = f"<p>the first {_SHOWN_ROWS} rows are shown</p>" if is_more else f"<p>{len(first)} rows</p>"
        return draw_table(heads, drawn) + end


def _draw_cell(head: str, text: str | None) -> str:
    if text is None:
        return ""
    return draw_link(text) if head in (ID, PAGE) else escape(cut_text(text, _SHOWN_CHARS))
