"""Fills damaged places of a segment: a file and ranges of its bytes enter, a file of the same length that can be read leaves.

Each range becomes a record of exactly its length, which says that it stands for something that was lost. So all other records
stay where they are, and every position in frontiers and indexes stays true.
"""

import shutil
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

from rdfspider.archive.warc import format_date, make_id
from rdfspider.disk import replace_file

# A gzip member with a deflate stream of stored blocks: header, and checksum with length.
_GZIP_HEAD = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
_GZIP_TAIL_BYTES = 8
_BLOCK_HEAD_BYTES = 5
_MAX_BLOCK_BYTES = 0xFFFF
# A longer range becomes several records, to save memory.
_MAX_BYTES = 8 * 1024 * 1024
_WORDS = b"This stands for what could not be read any more. "


def fill_ranges(path: Path, filled: Path, ranges: Sequence[tuple[int, int]]) -> None:
    """Copy a segment, if there is one, to another file, with filling in the place of these ranges, which must be in order and may
    be beyond its end. What is too short for a record is left as it is."""
    with replace_file(filled) as new:
        if path.exists():
            with path.open("rb") as old:
                shutil.copyfileobj(old, new)
        for start, stop in ranges:
            while stop - start >= MIN_BYTES:
                # No rest may be too short for a record.
                length = min(stop - start, _MAX_BYTES if stop - start >= _MAX_BYTES + MIN_BYTES else stop - start)
                new.seek(start)
                new.write(make_filling(length))
                start += length


def make_filling(length: int) -> bytes:
    """Make a record, as a gzip member, of exactly this length, which is at least `MIN_BYTES`."""
    room = length - len(_GZIP_HEAD) - _GZIP_TAIL_BYTES
    blocks = -(-room // (_MAX_BLOCK_BYTES + _BLOCK_HEAD_BYTES))
    data = _make_record(room - blocks * _BLOCK_HEAD_BYTES)
    parts = [_GZIP_HEAD]
    for number in range(blocks):
        block = data[number * _MAX_BLOCK_BYTES : (number + 1) * _MAX_BLOCK_BYTES]
        is_last = number == blocks - 1
        parts += [
            bytes([is_last]),
            len(block).to_bytes(2, "little"),
            (len(block) ^ 0xFFFF).to_bytes(2, "little"),
            block,
        ]
    parts += [zlib.crc32(data).to_bytes(4, "little"), (len(data) & 0xFFFFFFFF).to_bytes(4, "little")]
    return b"".join(parts)


def _make_record(length: int) -> bytes:
    """Make a record of exactly this length; the number of digits of its Content-Length is fixed."""
    head = (
        f"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: {make_id()}\r\nWARC-Date: {format_date(time.time())}\r\n"
    )
    rest = length - len(head) - len("Content-Length: 000000000000\r\n\r\n\r\n\r\n")
    block = (_WORDS * (rest // len(_WORDS) + 1))[: max(rest, 0)]
    return f"{head}Content-Length: {rest:012}\r\n\r\n".encode() + block + b"\r\n\r\n"


MIN_BYTES = len(_GZIP_HEAD) + _GZIP_TAIL_BYTES + _BLOCK_HEAD_BYTES + len(_make_record(0))
"""The length of the shortest record."""
