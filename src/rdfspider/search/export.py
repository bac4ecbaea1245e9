"""The statements of pages in, one document of all of them out, as N-Quads, TriG, Parquet or a line of JSON a thing.

It is written page by page: no more than a page, or a row group of Parquet, is in memory.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, BinaryIO

import msgspec

from rdfspider.formats import COLUMNS, FRAMES, page_fragment, to_arrow
from rdfspider.search.quads import PageQuads
from rdfspider.search.things import group_things

FORMATS = ("nquads", "trig", "parquet", "jsonl")
FORMAT_BY_SUFFIX = {
    ".nq": "nquads",
    ".nquads": "nquads",
    ".trig": "trig",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}

FindTime = Callable[[str], float]
"""When a page was fetched, in seconds since 1970; 0 where it is not known."""

# Large enough to compress, small enough to keep in memory.
_GROUP_ROWS = 100_000
_GROUP_BYTES = 64 * 1024 * 1024


@dataclass(slots=True)
class Exported:
    """How much was written by now."""

    pages: int = 0
    quads: int = 0
    pages_expected: int | None = None
    """About how many there will be; None where nobody knows."""


def write_export(
    pages: Iterable[PageQuads],
    file_format: str,
    stream: BinaryIO,
    find_time: FindTime,
    on_page: Callable[[Exported], None] = lambda exported: None,
    pages_expected: int | None = None,
) -> Exported:
    """Write all pages; `on_page` is told after each."""
    exported = Exported(pages_expected=pages_expected)
    with _open_writer(file_format, stream, find_time) as write:
        for page in pages:
            write(page)
            exported.pages += 1
            exported.quads += page.nquads.count(b"\n")
            on_page(exported)
    return exported


@contextmanager
def _open_writer(file_format: str, stream: BinaryIO, find_time: FindTime) -> Iterator[Callable[[PageQuads], object]]:
    if file_format == "parquet":
        with _open_parquet(stream, find_time) as write:
            yield write
    elif file_format == "jsonl":
        yield lambda page: stream.write(_write_things(page, find_time(page.graph)))
    elif file_format == "trig":
        stream.write(FRAMES["trig"].start.encode())
        yield lambda page: stream.write(page_fragment({"": page.nquads.decode()}, "trig"))
    else:
        yield lambda page: stream.write(page.nquads)


def _write_things(page: PageQuads, fetched: float) -> bytes:
    head = {"page": page.graph, "fetched": _write_time(fetched)}
    lines = []
    for thing in group_things(page.nquads, page.things):
        properties = thing.pop("properties")
        lines.append(msgspec.json.encode({**thing, **head, "properties": properties}))
    return b"".join(line + b"\n" for line in lines)


def _write_time(fetched: float) -> str | None:
    return datetime.fromtimestamp(fetched, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if fetched else None


@contextmanager
def _open_parquet(stream: BinaryIO, find_time: FindTime) -> Iterator[Callable[[PageQuads], object]]:
    import pyarrow
    from pyarrow import parquet

    time_type = pyarrow.timestamp("us", tz="UTC")
    names = [name for name in COLUMNS if name != "syntax"]
    schema = pyarrow.schema([*((name, pyarrow.string()) for name in names), ("fetched", time_type)])
    waiting: list[Any] = []
    waiting_bytes = waiting_rows = 0

    def flush() -> None:
        nonlocal waiting_bytes, waiting_rows
        if waiting:
            writer.write_table(pyarrow.concat_tables(waiting), row_group_size=_GROUP_ROWS)
        waiting.clear()
        waiting_bytes = waiting_rows = 0

    def write(page: PageQuads) -> None:
        nonlocal waiting_bytes, waiting_rows
        table = to_arrow({"": page.nquads.decode()}).select(names)
        fetched = find_time(page.graph)
        moment = pyarrow.scalar(int(fetched * 1e6) if fetched else None, time_type)
        waiting.append(table.append_column("fetched", pyarrow.repeat(moment, table.num_rows)))
        waiting_bytes += len(page.nquads)
        waiting_rows += table.num_rows
        if waiting_bytes >= _GROUP_BYTES or waiting_rows >= _GROUP_ROWS:
            flush()

    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        yield write
        flush()
