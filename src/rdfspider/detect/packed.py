"""Sitemaps that are sent as gzip files: the bytes of a page in, those of the list in it out. Bounded against bombs.

Such a file is no page that the server has compressed for the way, but one that is compressed by itself. Sitemaps alone are
looked for in them, as that is how large sites publish theirs.
"""

from typing import cast

from isal import igzip_lib

MAGIC = b"\x1f\x8b"
_BROKEN = cast(type[Exception], igzip_lib.IsalError)
_PIECE_BYTES = 65_536
# Whoever packs in blocks has some of every 64 KB; more are made to take time, as each needs some, even if it holds nothing.
_MAX_MEMBERS = 10_000


def unpack_start(body: bytes) -> bytes:
    """The first bytes of what is packed, to tell what it is; empty where it cannot be read."""
    return unpack(body, _PIECE_BYTES)[0]


def unpack(body: bytes, limit_bytes: int) -> tuple[bytes, bool]:
    """What is packed, as far as it can be read, and not more than so many bytes of it; and whether there may be more."""
    pieces: list[bytes] = []
    room = limit_bytes
    position = 0
    for _ in range(_MAX_MEMBERS):
        if not body.startswith(MAGIC, position):
            return b"".join(pieces), False
        stream = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        try:
            while not stream.eof:
                if room <= 0:
                    return b"".join(pieces), True
                chunk = b""
                if stream.needs_input:
                    # Not all that is left: what a member does not use is copied.
                    chunk = body[position : position + _PIECE_BYTES]
                    position += len(chunk)
                piece = stream.decompress(chunk, min(room, _PIECE_BYTES))
                if not piece and not chunk and stream.needs_input:
                    return b"".join(pieces), False  # It was cut on its way.
                pieces.append(piece)
                room -= len(piece)
        except _BROKEN:
            return b"".join(pieces), False
        position -= len(stream.unused_data)
    return b"".join(pieces), True
