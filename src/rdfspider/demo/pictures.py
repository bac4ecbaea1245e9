"""A name in, a small picture out as PNG, the same one each time: so that things of the demo have images without a file beside."""

import struct
import zlib
from zlib import crc32

_SIDE, _CELLS = 96, 6
_GROUND = (244, 240, 230)


def draw_picture(name: str) -> bytes:
    """A square of cells in one colour, alike on both sides, as woven cloth is."""
    seed = crc32(name.encode())
    colour = tuple(60 + (seed >> shift) % 140 for shift in (0, 8, 16))
    cells = crc32(f"{name} cells".encode())
    rows = []
    for y in range(_SIDE):
        row = bytearray()
        for x in range(_SIDE):
            across, down = x * _CELLS // _SIDE, y * _CELLS // _SIDE
            bit = down * _CELLS // 2 + min(across, _CELLS - 1 - across)
            row += bytes(colour if cells >> bit & 1 else _GROUND)
        # Each line begins with its filter: none.
        rows.append(b"\0" + row)
    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(b"".join(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc32(kind + data)) for kind, data in chunks
    )
