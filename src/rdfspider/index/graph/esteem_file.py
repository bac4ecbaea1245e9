"""What the crawl gets from the ranks of its graph: a table of sites enters, a file leaves, which is read without the rest of the
index.

The frontier can do without it, so one that is missing, damaged or of another form counts as empty until it is made again.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from xxhash import xxh3_64_digest

from rdfspider.disk import write_atomically
from rdfspider.records import Esteem

NAME = "esteem"
NO_ESTEEM = (0, 0)
_CHECKSUM_BYTES = 8
# More than all that `esteem.py` may name.
_MAX_BYTES = 64 << 20

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[Esteem]).decode


def save_esteem(folder: Path, table: Sequence[Esteem]) -> None:
    """Replace the table of a graph's folder in one step."""
    body = _encode(table)
    # Two processes may write at a time, if one of them is about to be killed.
    write_atomically(folder / NAME, xxh3_64_digest(body) + body, durable=False, shared=True)


def mark_esteem(folder: Path) -> tuple[int, int]:
    """What differs from one table to the next; NO_ESTEEM without one."""
    try:
        stat = (folder / NAME).stat()
    except OSError:
        return NO_ESTEEM
    return stat.st_ino, stat.st_mtime_ns


def load_esteem(folder: Path) -> list[Esteem]:
    """Read the table of a graph's folder."""
    return read_esteem(folder) or []


def read_esteem(folder: Path) -> list[Esteem] | None:
    """Read the table of a graph's folder; None if there is none that can be read."""
    try:
        with (folder / NAME).open("rb") as file:
            data = file.read(_MAX_BYTES)
    except OSError:
        return None
    body = data[_CHECKSUM_BYTES:]
    if xxh3_64_digest(body) != data[:_CHECKSUM_BYTES]:
        return None
    try:
        return _decode(body)
    except (ValueError, msgspec.MsgspecError):
        return None
