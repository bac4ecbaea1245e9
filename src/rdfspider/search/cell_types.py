"""Types of columns: the texts of a table enter, the type that all of a column have leaves, and their values.

A column is of numbers, dates or times only if every one of its texts is: one price with its currency beside it, or two prices
joined in a cell, and the column stays text. So do identifiers, and numbers that would not be the same if written again.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from enum import StrEnum

from rdfspider.vocabulary.readable_values import is_identifier

Cell = str | int | float | date | datetime | None

_MAX_DIGITS = 15
"""What a float keeps; longer numbers are identifiers in most cases."""
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,14})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})"
)


class CellType(StrEnum):
    """What the cells of a column are."""

    INTEGER = "integer"
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    """Date and time with a zone, in UTC."""
    TEXT = "text"


_FORMS = {CellType.INTEGER: _INTEGER, CellType.NUMBER: _NUMBER, CellType.DATE: _DATE, CellType.TIME: _TIME}


class ColumnTypes:
    """Finds the types of columns, row by row."""

    def __init__(self, heads: Sequence[str]) -> None:
        """`heads` are the names of the columns: `name`, `offers.price`."""
        self._seen = [False] * len(heads)
        self._possible = [[] if _is_text(head) else list(_FORMS) for head in heads]

    def add(self, row: Sequence[str | None]) -> None:
        """Take the texts of a row into account."""
        for at, text in enumerate(row):
            if text is not None:
                self._seen[at] = True
                if self._possible[at]:
                    self._possible[at] = [each for each in self._possible[at] if read_cell(text, each) is not None]

    def list_types(self) -> list[CellType]:
        """The types of the columns; one without values is text."""
        pairs = zip(self._seen, self._possible, strict=True)
        return [possible[0] if is_seen and possible else CellType.TEXT for is_seen, possible in pairs]


def read_cell(text: str, cell_type: CellType) -> Cell:
    """The value of a text; None if it has none of this type."""
    if cell_type == CellType.TEXT:
        return text
    if len(text) > 40 or not _FORMS[cell_type].fullmatch(text):
        return None
    try:
        if cell_type == CellType.DATE:
            return date.fromisoformat(text)
        if cell_type == CellType.TIME:
            return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if sum(map(str.isdigit, text)) > _MAX_DIGITS:
        return None
    return int(text) if cell_type == CellType.INTEGER else float(text)


def _is_text(head: str) -> bool:
    """Whether a column is text whatever it has, by its last property: `<http://schema.org/sku>`, `schema:sku`."""
    return is_identifier(re.split(r"[.:/#]", head.strip("<>"))[-1].lower())
