"""Encoded pieces of a body enter, decoded bytes leave, piece by piece: this module decodes content encodings (RFC 9110, 8.4).

libcurl decodes all layers of a piece at once, however long that takes, and cannot tell a truncated stream from a complete
one. Here each step yields a bounded piece, so the caller can stop, and a decoder knows whether the stream is complete.
"""

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from itertools import chain
from typing import Protocol, cast

import brotli
from isal import igzip_lib

from rdfspider.codes import FailureCode, Truncation

NAMES = "gzip, deflate, br"
"""The value of the Accept-Encoding header."""
PIECE_BYTES = 65_536
BROKEN: tuple[type[Exception], ...] = (cast(type[Exception], igzip_lib.IsalError), brotli.error, ValueError)
"""The exceptions raised for a body that does not match its Content-Encoding."""

# A charset is not a content encoding, but servers often send one in its place; browsers also read such bodies as they are.
_PLAIN = frozenset({"", "identity", "none", "utf-8", "utf8", "iso-8859-1", "8bit", "binary"})
# Encoding bytes a second time hardly makes them smaller. A stream can be crafted that does shrink and costs seconds to
# decode; these limits bound what the inner decoder receives.
_INNER_BYTES = 65_536
_INNER_RATIO = 4
# Each gzip member takes time, even an empty one, and no real page has this many.
_MAX_MEMBERS = 10_000
# How much of a Brotli stream is kept so that it can be decoded again.
_KEPT_BYTES = 1024 * 1024
_EXTRA_BYTES = 65_536
"""How far encoded bytes may exceed the limit for decoded ones; without this limit a server could send padding for ever."""


class Decoder(Protocol):
    """A stream with one or two content encodings."""

    @property
    def is_whole(self) -> bool:
        """Whether the stream is complete."""

    def decode(self, chunk: bytes) -> Iterator[bytes]:
        """Yield what the chunk adds, in pieces of about PIECE_BYTES at most; some are empty."""


def make_decoder(content_encoding: str) -> Decoder | None:
    """Make the decoder for a Content-Encoding value; None where the body is not encoded."""
    names = [name.strip().lower() for name in content_encoding.split(",")]
    layers = [name for name in names if name not in _PLAIN]
    if len(layers) > 2:
        raise ValueError("more than two content encodings, one in another")
    decoder: Decoder | None = None
    # The encoding named last is the outermost.
    for name in layers:
        layer = _make_layer(name)
        decoder = layer if decoder is None else _Nested(layer, decoder)
    return decoder


class Flight:
    """The memory limit for all bodies in flight, and their decoded bytes."""

    def __init__(self, limit_bytes: int, kept_bytes: Callable[[], int] = lambda: 0) -> None:
        """`kept_bytes` returns the size of fetched bodies that are still held; they count towards the same limit."""
        self.limit_bytes = limit_bytes
        self.kept_bytes = kept_bytes
        self.body_bytes = 0


class Body:
    """The body of one exchange, as far as it was received."""

    def __init__(self, flight: Flight, limit_bytes: int = 0) -> None:
        self.limit_bytes = limit_bytes
        self.content_encoding = ""
        """Must be set before the first piece."""
        self.body_bytes = 0
        self.message = ""
        """An error message about the encoding; empty if there is none."""
        self._flight = flight
        # Not a list of pieces: a server may send millions of one or two bytes each.
        self._content = BytesIO()
        self._encoded_bytes = 0
        self._decoder: Decoder | None = None

    def add(self, chunk: bytes) -> FailureCode | Truncation | None:
        """Add a chunk from libcurl. Return why the rest is not read (LENGTH, BUSY or PROTOCOL), or None to go on."""
        try:
            if not self._encoded_bytes:
                self._decoder = make_decoder(self.content_encoding)
            self._encoded_bytes += len(chunk)
            return self._keep((chunk,) if self._decoder is None else self._decoder.decode(chunk))
        except BROKEN as error:
            self.message = f"the body is not encoded as it says: {error}"
            return FailureCode.PROTOCOL

    @property
    def is_whole(self) -> bool:
        """Whether no decoder expects more input."""
        return self._decoder is None or self._decoder.is_whole

    def read(self) -> bytes:
        """Return everything that was kept."""
        return self._content.getvalue()

    def close(self) -> None:
        """Release the memory for other bodies."""
        self._flight.body_bytes -= self.body_bytes
        self.body_bytes = 0

    def _keep(self, pieces: Iterable[bytes]) -> FailureCode | Truncation | None:
        flight = self._flight
        for piece in pieces:
            room = self.limit_bytes - self.body_bytes
            is_last = len(piece) > room
            if is_last:
                piece = piece[:room]
            if flight.body_bytes + flight.kept_bytes() + len(piece) > flight.limit_bytes:
                return FailureCode.BUSY
            flight.body_bytes += len(piece)
            self.body_bytes += len(piece)
            self._content.write(piece)
            if is_last:
                return Truncation.LENGTH
        return Truncation.LENGTH if self._encoded_bytes > self.limit_bytes + _EXTRA_BYTES else None


def _make_layer(name: str) -> Decoder:
    if name in ("gzip", "x-gzip", "deflate"):
        return _Inflater(name)
    if name == "br":
        return _Brotli()
    raise ValueError(f"the content encoding {name[:40]!r} is unknown")


class _Inflater:
    """gzip and deflate. gzip may have several members; data after the last one is no error, because servers pad."""

    def __init__(self, name: str) -> None:
        self.is_whole = False
        self._name = name
        self._stream: igzip_lib.IgzipDecompressor | None = None
        self._start = b""
        self._members = 0
        self._is_over = False

    def decode(self, chunk: bytes) -> Iterator[bytes]:
        while not self._is_over:
            if self._stream is None:
                chunk = self._start + chunk
                if len(chunk) < 2:
                    self._start = chunk
                    return
                self._start = b""
                self._begin(chunk)
                continue
            stream = self._stream
            piece = stream.decompress(chunk, PIECE_BYTES)
            yield piece
            # The decompressor reports `needs_input` once it has read all input, although more output may follow a full piece.
            while not stream.eof and (len(piece) >= PIECE_BYTES or not stream.needs_input):
                piece = stream.decompress(b"", PIECE_BYTES)
                yield piece
            if not stream.eof:
                return
            chunk, self._stream, self.is_whole = stream.unused_data, None, True

    def _begin(self, chunk: bytes) -> None:
        """Detect the format by its first two bytes: many servers call zlib gzip, and raw deflate has no name of its own."""
        if chunk.startswith(b"\x1f\x8b"):
            flag = igzip_lib.DECOMP_GZIP
        elif self.is_whole:
            self._is_over = True
            return
        elif chunk[0] & 15 == 8 and int.from_bytes(chunk[:2], "big") % 31 == 0:
            flag = igzip_lib.DECOMP_ZLIB
        elif self._name == "deflate":
            flag = igzip_lib.DECOMP_DEFLATE
        else:
            raise ValueError("the body is no gzip")
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise ValueError(f"more than {_MAX_MEMBERS:,} members of gzip")
        self._stream, self.is_whole = igzip_lib.IgzipDecompressor(flag=flag), False


class _Brotli:
    """Brotli. Data after the end is no error here either, but the decoder raises one and does not say where the stream ended.
    So a stream that fails is decoded once more, its last chunk byte by byte, unless it is long."""

    def __init__(self) -> None:
        self.is_whole = False
        self._stream = brotli.Decompressor()
        self._kept = bytearray()
        self._is_long = False
        self._given_bytes = 0

    def decode(self, chunk: bytes) -> Iterator[bytes]:
        if self.is_whole:
            return
        if not self._is_long:
            self._kept += chunk
            if len(self._kept) > _KEPT_BYTES:
                self._is_long, self._kept = True, bytearray()
        try:
            for piece in _read_brotli(self._stream, chunk):
                self._given_bytes += len(piece)
                yield piece
            self.is_whole = self._stream.is_finished()
        except brotli.error:
            if self._is_long:
                raise
            yield from self._read_end(len(chunk))

    def _read_end(self, last_bytes: int) -> Iterator[bytes]:
        """Yield the missing output of a stream that ends within its last bytes; otherwise the stream is broken."""
        stream = brotli.Decompressor()
        known_bytes = self._given_bytes
        end = len(self._kept)
        start = end - last_bytes
        for encoded in chain((self._kept[:start],), (self._kept[place : place + 1] for place in range(start, end))):
            for piece in _read_brotli(stream, encoded):
                yield piece[known_bytes:]
                known_bytes = max(known_bytes - len(piece), 0)
            if stream.is_finished():
                self.is_whole = True
                return


def _read_brotli(stream: brotli.Decompressor, chunk: bytes | bytearray) -> Iterator[bytes]:
    piece = stream.process(chunk, output_buffer_limit=PIECE_BYTES)
    yield piece
    while len(piece) >= PIECE_BYTES or not stream.can_accept_more_data():
        piece = stream.process(b"", output_buffer_limit=PIECE_BYTES)
        yield piece


class _Nested:
    """One content encoding inside another."""

    def __init__(self, outer: Decoder, inner: Decoder) -> None:
        self._outer, self._inner = outer, inner
        self._room = _INNER_BYTES

    @property
    def is_whole(self) -> bool:
        return self._outer.is_whole and self._inner.is_whole

    def decode(self, chunk: bytes) -> Iterator[bytes]:
        self._room += _INNER_RATIO * len(chunk)
        for piece in self._outer.decode(chunk):
            self._room -= len(piece)
            if self._room < 0:
                raise ValueError("an encoding that makes much of little, in another")
            yield from self._inner.decode(piece)
