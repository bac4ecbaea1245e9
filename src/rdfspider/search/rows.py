"""A result document enters, Python objects leave: Rows of a SELECT, Statements of a CONSTRUCT or DESCRIBE.

Rows have plain values (str, int, float, bool, dates) and the RDF terms; both classes convert to pandas, polars or Arrow.
"""

import html
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from importlib import import_module
from typing import Any, overload

import msgspec
import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple

from rdfspider.drawing import draw_table
from rdfspider.errors import UnansweredError, UsageError
from rdfspider.formats import drop_prefixes, to_arrow
from rdfspider.results import AnswerKind, QueryAnswer
from rdfspider.vocabulary.prefixes import TURTLE_PREFIXES, XSD, XSD_FRACTIONS, XSD_INTEGERS

Value = str | int | float | bool | datetime | date | None
Term = NamedNode | BlankNode | Literal | Triple

_MAX_DIGITS = 1_000
_INT64 = range(-(1 << 63), 1 << 63)
_SHOWN_ROWS = 20
_SHOWN_CHARS = 200


class _Cell(msgspec.Struct):
    """A term in the SPARQL results JSON format."""

    type: str
    value: Any
    """Text; for a triple, its three terms by name."""
    datatype: str = ""
    language: str = msgspec.field(name="xml:lang", default="")


class _Bindings(msgspec.Struct):
    bindings: list[msgspec.Raw]


class _Head(msgspec.Struct):
    vars: tuple[str, ...] = ()


class _Results(msgspec.Struct):
    head: _Head
    results: _Bindings


class Table:
    """What has a form as an Arrow table, and so as data frames with the same columns."""

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A `pandas.DataFrame`."""
        import_library("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """A `polars.DataFrame`."""
        return import_library("polars").from_arrow(self.to_arrow())


class Row(tuple[Value, ...]):
    """The values of a row, by index, by variable name in brackets, or as attributes."""

    __slots__ = ()
    _places: dict[str, int]

    @overload  # type: ignore[override]
    def __getitem__(self, key: int | str) -> Value: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Value, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Any:
        if isinstance(key, str):
            if key not in self._places:
                raise KeyError(key)
            key = self._places[key]
        return tuple.__getitem__(self, key)

    def __getattr__(self, name: str) -> Value:
        try:
            return tuple.__getitem__(self, self._places[name])
        except KeyError:
            raise AttributeError(f"there is no variable {name!r}: there are {', '.join(self._places)}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_row, (tuple(self._places), tuple(self))

    def as_dict(self) -> dict[str, Value]:
        """The values by variable name."""
        return dict(zip(self._places, self, strict=True))


class Rows(Table, Sequence[Row]):
    """The rows of a SELECT. The value of an unbound variable is None.

    Rows stay encoded until they are accessed: as objects they would take many times the memory.
    """

    def __init__(self, variables: Sequence[str], bindings: Sequence[msgspec.Raw], is_truncated: bool) -> None:
        self.variables = tuple(variables)
        self.is_truncated = is_truncated
        """Whether there are more rows than were allowed."""
        self._bindings = bindings
        self._row = _make_row_type(self.variables)

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> "Rows": ...
    def __getitem__(self, key: int | slice) -> "Row | Rows":
        if isinstance(key, slice):
            return Rows(self.variables, self._bindings[key], self.is_truncated)
        return self._make_row(self._read_cells(self._bindings[key]))

    def __iter__(self) -> Iterator[Row]:
        return (self._make_row(self._read_cells(binding)) for binding in self._bindings)

    def __len__(self) -> int:
        return len(self._bindings)

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (self.variables, [bytes(binding) for binding in self._bindings], self.is_truncated)

    def __repr__(self) -> str:
        more = ", truncated" if self.is_truncated else ""
        return f"<Rows: {len(self):,} of {', '.join(self.variables) or 'no variables'}{more}>"

    @property
    def terms(self) -> list[tuple[Term | None, ...]]:
        """The same rows as RDF terms, with language and datatype."""
        rows = map(self._read_cells, self._bindings)
        return [tuple(None if cell is None else _make_term(cell) for cell in cells) for cells in rows]

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`. A column has the type that all its values share, else it is text."""
        import pyarrow

        rows = [self._read_cells(binding) for binding in self._bindings]
        columns = [_make_column([cells[at] for cells in rows]) for at in range(len(self.variables))]
        return pyarrow.table(columns, names=list(self.variables))

    def _repr_html_(self) -> str:
        rows = ([_show_cell(cell) for cell in self._read_cells(binding)] for binding in self._bindings[:_SHOWN_ROWS])
        return draw_table(self.variables, rows) + _show_count(len(self), "rows", self.is_truncated)

    def _read_cells(self, binding: msgspec.Raw) -> list[_Cell | None]:
        try:
            cells = _decode_cells(binding)
        except RecursionError:
            raise _tell_depth() from None
        return [cells.get(name) for name in self.variables]

    def _make_row(self, cells: list[_Cell | None]) -> Row:
        return self._row(None if cell is None else _make_value(cell) for cell in cells)


class Statements(Table):
    """The triples of a CONSTRUCT or DESCRIBE."""

    def __init__(self, ntriples: bytes, is_truncated: bool) -> None:
        self._ntriples = ntriples
        self.is_truncated = is_truncated
        """Whether there are more triples than were allowed."""

    def __iter__(self) -> Iterator[Triple]:
        return (quad.triple for quad in pyoxigraph.parse(self._ntriples, RdfFormat.N_TRIPLES))

    def __len__(self) -> int:
        return self._ntriples.count(b"\n")

    def __repr__(self) -> str:
        return f"<Statements: {len(self):,}{', truncated' if self.is_truncated else ''}>"

    def to_ntriples(self) -> str:
        """N-Triples."""
        return self._ntriples.decode()

    def to_turtle(self) -> str:
        """Turtle."""
        written = pyoxigraph.serialize(self, format=RdfFormat.TURTLE, prefixes=TURTLE_PREFIXES) or b""
        return drop_prefixes(written).decode()

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`: subject, predicate, object, object_kind, datatype, language."""
        return to_arrow({"": self._ntriples.decode()}).drop(["graph", "syntax"])

    def _repr_html_(self) -> str:
        lines = self._ntriples.split(b"\n", _SHOWN_ROWS)[:_SHOWN_ROWS]
        shown = "\n".join(_shorten(line.decode()) for line in lines)
        return f"<pre>{html.escape(shown)}</pre>{_show_count(len(self), 'statements', self.is_truncated)}"


def read_answer(answer: QueryAnswer) -> Rows | Statements | bool:
    """Return Rows of SELECT, a bool of ASK, Statements of CONSTRUCT and DESCRIBE; from an answer in JSON or N-Triples."""
    if answer.kind == AnswerKind.BOOLEAN:
        return bool(msgspec.json.decode(answer.body)["boolean"])
    if answer.kind == AnswerKind.ROWS:
        return read_rows(answer.body, answer.is_truncated)
    return Statements(answer.body, answer.is_truncated)


def read_rows(document: bytes, is_truncated: bool = False) -> Rows:
    """Rows from SPARQL results in JSON."""
    try:
        found = msgspec.json.decode(document, type=_Results)
    except RecursionError:
        raise _tell_depth() from None
    return Rows(found.head.vars, found.results.bindings, is_truncated)


def import_library(name: str) -> Any:
    """Import an optional library. Raise UsageError if it is not installed."""
    try:
        return import_module(name)
    except ImportError as error:
        raise UsageError(f"{name} is not installed: pip install 'rdfspider[{name}]'") from error


_decode_cells = msgspec.json.Decoder(dict[str, _Cell]).decode


def _tell_depth() -> UnansweredError:
    return UnansweredError("the answer has triples within triples, too deep to be read")


def _make_row_type(variables: tuple[str, ...]) -> type[Row]:
    """A Row class whose variables are attributes, even those named like a method of tuple."""
    hidden = {name: _make_property(at) for at, name in enumerate(variables) if name in ("count", "index")}
    places = {name: at for at, name in enumerate(variables)}
    return type("Row", (Row,), {"__slots__": (), "_places": places, **hidden})


def _make_property(at: int) -> property:
    def read(row: Row) -> Value:
        return tuple.__getitem__(row, at)

    return property(read)


def _restore_row(variables: tuple[str, ...], values: tuple[Value, ...]) -> Row:
    return _make_row_type(variables)(values)


def _make_term(cell: _Cell) -> Term:
    if cell.type == "uri":
        return NamedNode(cell.value)
    if cell.type == "bnode":
        return BlankNode(cell.value)
    if cell.type == "triple":
        parts: list[Any] = [
            _make_term(msgspec.convert(cell.value[name], _Cell)) for name in ("subject", "predicate", "object")
        ]
        return Triple(*parts)
    if cell.language:
        return Literal(cell.value, language=cell.language)
    return Literal(cell.value, datatype=NamedNode(cell.datatype)) if cell.datatype else Literal(cell.value)


def _make_value(cell: _Cell) -> Value:
    """A Python value if one means exactly the same, else the text."""
    if cell.type == "bnode":
        return f"_:{cell.value}"
    if cell.type == "triple":
        return str(_make_term(cell))
    read = _READERS.get(cell.datatype)
    if read is not None and len(cell.value) <= _MAX_DIGITS:
        try:
            return read(cell.value)
        except ValueError:
            # Pages contain invalid literals too.
            pass
    return str(cell.value)


def _read_boolean(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise ValueError(text)
    return text in ("true", "1")


def _read_integer(text: str) -> int:
    if not text.lstrip("+-").isascii() or "_" in text:
        raise ValueError(text)
    return int(text)


def _read_float(text: str) -> float:
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


_READERS: dict[str, Callable[[str], Value]] = {
    **dict.fromkeys(XSD_INTEGERS, _read_integer),
    **dict.fromkeys(XSD_FRACTIONS, _read_float),
    XSD + "boolean": _read_boolean,
    XSD + "dateTime": datetime.fromisoformat,
    XSD + "date": date.fromisoformat,
}


def _make_column(cells: list[_Cell | None]) -> Any:
    import pyarrow

    values = [None if cell is None else _make_value(cell) for cell in cells]
    kinds = {_find_kind(value) for value in values if value is not None}
    if kinds == {"int", "float"}:
        kinds = {"float"}
        values = [value if value is None else float(value) for value in values]  # type: ignore[arg-type]
    types = {
        "bool": pyarrow.bool_(),
        "int": pyarrow.int64(),
        "float": pyarrow.float64(),
        "date": pyarrow.date32(),
        "time": pyarrow.timestamp("us"),
        "instant": pyarrow.timestamp("us", "UTC"),
    }
    kind = kinds.pop() if len(kinds) == 1 else "text"
    if kind not in types:
        return pyarrow.array([cell and _show_text(cell) for cell in cells], pyarrow.string())
    if kind == "instant":
        values = [value and value.astimezone(UTC) for value in values]  # type: ignore[union-attr]
    return pyarrow.array(values, types[kind])


def _find_kind(value: Value) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int" if value in _INT64 else "text"
        case float():
            return "float"
        case datetime():
            # In the first and last years an instant may fall outside the supported years in another time zone.
            is_safe = 1 < value.year < 9999
            return "text" if not is_safe else "instant" if value.tzinfo else "time"
        case date():
            return "date"
    return "text"


def _show_text(cell: _Cell) -> str:
    return str(_make_value(cell)) if cell.type in ("bnode", "triple") else str(cell.value)


def _show_cell(cell: _Cell | None) -> str:
    if cell is None:
        return ""
    text = html.escape(_shorten(_show_text(cell)))
    if cell.type == "uri" and cell.value.startswith(("http://", "https://")):
        return f'<a href="{html.escape(cell.value)}" rel="noreferrer">{text}</a>'
    return text


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1]}…"


def _show_count(count: int, what: str, is_truncated: bool) -> str:
    left_out = f", the first {_SHOWN_ROWS} are shown" if count > _SHOWN_ROWS else ""
    return f"<p>{count:,} {what}{left_out}{'; there are more' if is_truncated else ''}</p>"
