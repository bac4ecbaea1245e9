"""The results of a query enter, a document leaves: rows as JSON, XML, CSV or TSV, triples in an RDF format.

Oxigraph writes the document; this module counts, stops it at the limit of rows or bytes, and cuts after the last complete row,
so that the document is valid and has as many rows as are allowed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import IO, NamedTuple, cast

import pyoxigraph
from pyoxigraph import QueryBoolean, QuerySolutions, QueryTriples, Triple

from rdfspider.errors import UnfitError, UsageError
from rdfspider.formats import RDF_FORMATS, RESULT_FORMATS, drop_prefixes
from rdfspider.results import AnswerKind

# Nested triples are limited, because parsers read them by recursion.
_MAX_TERM_DEPTH = 32
_RECOUNT = 1.25
# In RDF/XML a property is an element's name, so its IRI must end with a valid XML name.
_NAME_STARTS = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff"
)
_XML_NAME = re.compile(rf"[{_NAME_STARTS}][{_NAME_STARTS}\-.0-9\xb7\u0300-\u036f\u203f\u2040]*\Z")
# Characters that XML cannot hold.
_NOT_XML = bytes(code for code in range(32) if code not in b"\t\n\r")
# Nearly every row has this form: an object of objects of strings.
_JSON_ROW = re.compile(rb'\{(?:"[^"]*+":\{(?:"[a-z:]++":"(?:[^"\\]++|\\.)*+",?)*+\},?)*+\}', re.DOTALL)
# A string may be cut off at the end of the output.
_JSON_PARTS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}]', re.DOTALL)
_XML_END = re.compile(rb"</result>")
_CSV_PARTS = re.compile(rb'"[^"]*+(?:"|\Z)|\r\n')
_TSV_END = re.compile(rb"\n")


class Document(NamedTuple):
    """The result of a query, written in a format."""

    kind: AnswerKind
    format: str
    body: bytes
    is_truncated: bool


class _Rows(NamedTuple):
    """How to find the rows of a format."""

    mark: bytes
    """Occurs at least once in every row, or between two rows."""
    find_ends: Callable[[bytes], Iterator[int]]
    """Yields where the first row begins, then where each row ends."""
    tail: bytes = b""
    """The end of the document."""


class _FullError(Exception):
    """The output has reached its limit."""


def write_document(
    results: QuerySolutions | QueryBoolean | QueryTriples,
    formats: Iterable[str],
    prefixes: Mapping[str, str],
    max_rows: int,
    max_bytes: int,
) -> Document:
    """Write the results in the first format that can hold them. Raise UnfitError if none can."""
    if isinstance(results, QueryTriples):
        return _write_triples(
            results, _choose(formats, RDF_FORMATS, "CONSTRUCT and DESCRIBE"), prefixes, max_rows, max_bytes
        )
    chosen = _choose(formats, RESULT_FORMATS, "SELECT and ASK")
    if isinstance(results, QueryBoolean):
        return Document(AnswerKind.BOOLEAN, chosen, results.serialize(format=RESULT_FORMATS[chosen]) or b"", False)
    return _write_solutions(results, chosen, max_rows, max_bytes)


def _choose(formats: Iterable[str], fitting: Iterable[str], what: str) -> str:
    asked = tuple(formats)
    for name in asked:
        if name in fitting:
            return name
    raise UnfitError(f"{' and '.join(asked)} cannot hold what {what} give: choose {', '.join(fitting)}")


def _write_solutions(results: QuerySolutions, chosen: str, max_rows: int, max_bytes: int) -> Document:
    rows = _ROWS[chosen]
    sink = _Sink(rows, max_rows, max_bytes)
    try:
        results.serialize(cast(IO[bytes], sink), RESULT_FORMATS[chosen])
        is_whole = True
    except _FullError:
        is_whole = False
    body = bytes(sink.written)
    if not is_whole or sink.marks >= max_rows:
        body, is_whole = _cut_rows(body, rows, max_rows, is_whole)
    if chosen == "xml":
        body = _clean_xml(body)
    return Document(AnswerKind.ROWS, chosen, body, not is_whole)


def _clean_xml(body: bytes) -> bytes:
    return body.translate(None, _NOT_XML).replace("\ufffe".encode(), b"").replace("\uffff".encode(), b"")


def _cut_rows(body: bytes, rows: _Rows, max_rows: int, is_whole: bool) -> tuple[bytes, bool]:
    """A document of the first rows only, and whether these are all rows."""
    end = 0
    ends = rows.find_ends(body)
    for end in islice(ends, max_rows + 1):  # noqa: B007
        pass
    if is_whole and next(ends, None) is None:
        return body, True
    return body[:end] + rows.tail, False


class _Sink:
    """Collects the output until a limit is reached."""

    def __init__(self, rows: _Rows, max_rows: int, max_bytes: int) -> None:
        self.written = bytearray()
        self.marks = 0
        """There is at most one row more than marks."""
        self._is_full = False
        self._rows = rows
        self._max_rows = max_rows
        self._max_bytes = max_bytes
        self._recount_bytes = 0

    def write(self, chunk: bytes) -> int:
        """Take a chunk. After an error Oxigraph tries to write the rest again, which fails too."""
        if self._is_full:
            raise _FullError
        overlap = len(self._rows.mark) - 1
        seen = bytes(self.written[-overlap:]) if overlap else b""
        self.marks += (seen + chunk).count(self._rows.mark)
        self.written += chunk
        self._is_full = len(self.written) > self._max_bytes or self._has_too_many()
        if self._is_full:
            raise _FullError
        return len(chunk)

    def flush(self) -> None:
        """Do nothing, because nothing is buffered."""

    def _has_too_many(self) -> bool:
        """Whether there are too many rows. Values may contain marks; counting real rows is slower, so it is done rarely."""
        if self.marks <= self._max_rows or len(self.written) < self._recount_bytes:
            return False
        self._recount_bytes = int(len(self.written) * _RECOUNT)
        ends = self._rows.find_ends(bytes(self.written))
        return sum(1 for _ in islice(ends, self._max_rows + 2)) > self._max_rows + 1


def _find_json_ends(body: bytes) -> Iterator[int]:
    end: int | None = body.find(b'"bindings":[') + len(b'"bindings":[')
    while end is not None:
        yield end
        start = end + (body[end : end + 1] == b",")
        row = _JSON_ROW.match(body, start)
        end = row.end() if row else _find_object_end(body, start)


def _find_object_end(body: bytes, start: int) -> int | None:
    """Where a JSON object of any depth ends; None if none begins here, or it is cut off."""
    depth = 0
    for match in _JSON_PARTS.finditer(body, start):
        depth += {b"{": 1, b"}": -1}.get(match[0], 0)
        if depth <= 0:
            return match.end() if depth == 0 and match[0] == b"}" else None
    return None


def _find_xml_ends(body: bytes) -> Iterator[int]:
    yield body.find(b"<results>") + len(b"<results>")
    yield from (match.end() for match in _XML_END.finditer(body))


def _find_csv_ends(body: bytes) -> Iterator[int]:
    return (match.end() for match in _CSV_PARTS.finditer(body) if match[0] == b"\r\n")


def _find_tsv_ends(body: bytes) -> Iterator[int]:
    return (match.end() for match in _TSV_END.finditer(body))


_ROWS = {
    "json": _Rows(b"},{", _find_json_ends, b"]}}"),
    "xml": _Rows(b"</result>", _find_xml_ends, b"</results></sparql>"),
    "csv": _Rows(b"\r\n", _find_csv_ends),
    "tsv": _Rows(b"\n", _find_tsv_ends),
}


def _write_triples(
    results: QueryTriples, chosen: str, prefixes: Mapping[str, str], max_rows: int, max_bytes: int
) -> Document:
    output = _Output()
    is_whole = True

    def take() -> Iterator[Triple]:
        nonlocal is_whole
        for number, triple in enumerate(results):
            if number == max_rows or output.size > max_bytes:
                is_whole = False
                return
            _check_depth(triple)
            if chosen == "rdfxml" and not _XML_NAME.search(triple.predicate.value):
                raise UnfitError(f"RDF/XML cannot hold the property {triple.predicate}: ask for another format")
            yield triple

    # If a namespace has several prefixes, the first is used.
    first = {namespace: prefix for prefix, namespace in reversed(list(prefixes.items()))}
    pyoxigraph.serialize(
        take(),
        cast(IO[bytes], output),
        RDF_FORMATS[chosen],
        prefixes={prefix: namespace for namespace, prefix in first.items()} if chosen == "turtle" else None,
    )
    body = b"".join(output.parts)
    if chosen == "turtle":
        body = drop_prefixes(body)
    elif chosen == "rdfxml":
        body = _clean_xml(body)
    return Document(AnswerKind.TRIPLES, chosen, body, not is_whole)


class _Output:
    """Collects the output and counts its bytes."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def write(self, chunk: bytes) -> int:
        """Take a chunk."""
        self.parts.append(chunk)
        self.size += len(chunk)
        return len(chunk)

    def flush(self) -> None:
        """Do nothing, because nothing is buffered."""


def _check_depth(triple: Triple) -> None:
    depth, inner = 0, triple.object
    while isinstance(inner, Triple):
        depth, inner = depth + 1, inner.object
        if depth > _MAX_TERM_DEPTH:
            raise UsageError(f"a triple within a triple more than {_MAX_TERM_DEPTH} times: nobody could read that")
