"""Links as a table: links with their kinds and anchor texts enter, a Parquet file leaves, batch by batch."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from rdfspider.formats import open_parquet
from rdfspider.search.documents import open_document
from rdfspider.vocabulary.terms import replace_surrogates

LINK_COLUMNS = ("source", "target", "kind", "anchor")
_LINKS_A_BATCH = 10_000


class LinkRow(NamedTuple):
    """A row of the table."""

    source: str
    target: str
    kind: str
    """Words like `link nofollow`."""
    anchor: str | None
    """None where the link has no text, or none is known."""


def write_link_table(
    links: Iterable[LinkRow], path: Path | None, on_links: Callable[[int], None] = lambda links: None
) -> int:
    """Write all links, and return their number. `on_links` is told how many are written."""
    import pyarrow

    text = pyarrow.string()
    schema = pyarrow.schema(
        [("source", text), ("target", text), ("kind", pyarrow.dictionary(pyarrow.int32(), text)), ("anchor", text)]
    )
    count = 0
    with open_document(path, is_packed=True) as stream, open_parquet(stream, schema) as write_table:
        for batch in _read_batches(links):
            columns: list[tuple[Any, ...]] = list(zip(*batch, strict=True))
            columns[3] = tuple(anchor and replace_surrogates(anchor) for anchor in columns[3])
            table = pyarrow.table(
                [pyarrow.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)],
                schema=schema,
            )
            write_table(table, table.nbytes)
            count += len(batch)
            on_links(count)
    return count


def _read_batches(links: Iterable[LinkRow]) -> Iterator[list[LinkRow]]:
    waiting = iter(links)
    while batch := list(islice(waiting, _LINKS_A_BATCH)):
        yield batch
