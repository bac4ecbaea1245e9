"""Transfer and content encodings: the body of an HTTP message as sent enters, the decoded bytes of the page leave.

Archives are full of bodies that do not match their headers: already decoded, cut short, encoded twice. A body that cannot be
decoded stays as it is, a cut one yields its beginning, and no body grows beyond the limit.
"""

import io
import zlib
from collections.abc import Callable

from fastwarc.stream_io import BrotliReader, GzipReader, WarcReader, ZstdReader

# No server sends pages with more encodings.
_MAX_LAYERS = 3
_BLOCK_BYTES = 64 * 1024


def decode_body(body: bytes, transfer_encoding: str, content_encoding: str, limit: int) -> bytes:
    """Decode a body by the encodings in its headers, to at most `limit` bytes."""
    if "chunked" in transfer_encoding.lower():
        body = _join_chunks(body)
    layers = [layer.strip().lower() for layer in content_encoding.split(",")]
    for layer in reversed(layers[-_MAX_LAYERS:]):
        decode = _DECODERS.get(layer)
        if decode is not None:
            body = decode(body, limit) or body
    return body[:limit]


def decode_gzip(body: bytes, limit: int) -> bytes:
    """Return the content of gzip members as far as it is readable; empty if there are none."""
    return _drain(GzipReader(io.BytesIO(body)), limit) if body[:2] == b"\x1f\x8b" else b""


def _decode_deflate(body: bytes, limit: int) -> bytes:
    """Decode the zlib format of RFC 9110, or the bare deflate that some old servers still send."""
    for window_bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        try:
            return zlib.decompressobj(window_bits).decompress(body, limit)
        except zlib.error:
            continue
    return b""


def _decode_brotli(body: bytes, limit: int) -> bytes:
    return _drain(BrotliReader(io.BytesIO(body)), limit)


def _decode_zstd(body: bytes, limit: int) -> bytes:
    return _drain(ZstdReader(io.BytesIO(body)), limit) if body[:4] == b"\x28\xb5\x2f\xfd" else b""


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": decode_gzip,
    "x-gzip": decode_gzip,
    "deflate": _decode_deflate,
    "br": _decode_brotli,
    "zstd": _decode_zstd,
}


def _drain(reader: WarcReader, limit: int) -> bytes:
    """Read up to the limit or the first damage."""
    blocks: list[bytes] = []
    left = limit
    try:
        while left > 0 and (block := reader.read(min(left, _BLOCK_BYTES))):
            blocks.append(block)
            left -= len(block)
    except OSError:
        pass
    return b"".join(blocks)


def _join_chunks(body: bytes) -> bytes:
    """Join the data of chunks (RFC 9112, 7.1); a body that does not begin with a chunk is already joined."""
    blocks: list[bytes] = []
    position = 0
    while position < len(body):
        line_end = body.find(b"\n", position, position + 4096)
        if line_end < 0:
            break
        try:
            size = int(body[position:line_end].partition(b";")[0].strip(), 16)
        except ValueError:
            break
        if size <= 0:
            return b"".join(blocks)
        blocks.append(body[line_end + 1 : line_end + 1 + size])
        position = line_end + 1 + size
        position += 2 if body[position : position + 2] == b"\r\n" else body[position : position + 1] == b"\n"
    return b"".join(blocks) if blocks else body
