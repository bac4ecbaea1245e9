"""Sitemaps that are sent as gzip files: the bytes of a page in, those of the list in it out. Bounded against bombs.

Such a file is no page that the server has compressed for the way, but one that is compressed by itself. Sitemaps alone are
looked for in them, as that is how large sites publish theirs.
"""

from typing import cast

from isal import igzip_lib

MAGIC = b"\x1f\x8b"
_BROKEN = cast(type[Exception], igzip_lib.IsalError)
_PIECE_BYTES = 65_536


def unpack_start(body: bytes) -> bytes:
    """The first bytes of what is packed, to tell what it is; empty where it cannot be read."""
    return unpack(body, _PIECE_BYTES)


def unpack(body: bytes, limit_bytes: int) -> bytes:
    """What is packed, as far as it can be read, and not more than so many bytes of it."""
    pieces: list[bytes] = []
    room = limit_bytes
    while room > 0 and body.startswith(MAGIC):
        stream = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        chunk = body
        try:
            while room > 0 and not stream.eof:
                piece = stream.decompress(chunk, min(room, _PIECE_BYTES))
                if not piece and stream.needs_input:
                    return b"".join(pieces)  # It is cut.
                chunk = b""
                pieces.append(piece)
                room -= len(piece)
        except _BROKEN:
            break
        body = stream.unused_data if stream.eof else b""
    return b"".join(pieces)
