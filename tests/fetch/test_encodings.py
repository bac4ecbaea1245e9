"""Streams as servers send them, in pieces of any size: what they give, whether they ended, and what no stream may cost."""

import gzip
import time
import zlib

import brotli
import pytest

from rdfspider.fetch.encodings import BROKEN, PIECE_BYTES, make_decoder

TEXT = b"".join(b"<p>paragraph %d</p>\n" % number for number in range(9000))
GZIP_START = b"\x1f\x8b\x08\0\0\0\0\0\0\3"


def deflate(body: bytes, window_bits: int) -> bytes:
    packer = zlib.compressobj(wbits=window_bits)
    return packer.compress(body) + packer.flush()


def decode(encoding: str, encoded: bytes, step: int = 16_384) -> tuple[bytes, bool]:
    """What was given, and whether that was all."""
    decoder = make_decoder(encoding)
    assert decoder is not None
    pieces = [
        piece for start in range(0, len(encoded), step) for piece in decoder.decode(encoded[start : start + step])
    ]
    assert all(len(piece) <= 2 * PIECE_BYTES for piece in pieces)
    return b"".join(pieces), decoder.is_whole


STREAMS = [
    pytest.param("gzip", gzip.compress(TEXT), id="gzip"),
    pytest.param("X-GZip", gzip.compress(TEXT), id="x-gzip"),
    pytest.param("deflate", zlib.compress(TEXT), id="deflate"),
    pytest.param("deflate", deflate(TEXT, -15), id="bare deflate"),
    pytest.param("deflate", gzip.compress(TEXT), id="gzip called deflate"),
    pytest.param("gzip", zlib.compress(TEXT), id="deflate called gzip"),
    pytest.param("br", brotli.compress(TEXT), id="br"),
    pytest.param(" identity ,, br, GZIP", gzip.compress(brotli.compress(TEXT)), id="br in gzip"),
    pytest.param("gzip, br", brotli.compress(gzip.compress(TEXT)), id="gzip in br"),
]


@pytest.mark.parametrize("step", [1, 100, 16_384, 10_000_000])
@pytest.mark.parametrize(("encoding", "encoded"), STREAMS)
def test_streams_are_decoded_in_pieces_of_any_size(encoding: str, encoded: bytes, step: int) -> None:
    assert decode(encoding, encoded, step) == (TEXT, True)


@pytest.mark.parametrize(
    "size", [PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES, 3 * PIECE_BYTES + 200]
)
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "bare deflate", "br"])
def test_a_body_that_ends_where_a_piece_does_is_whole(encoding: str, size: int) -> None:
    body = b"a" * size
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}
    encoded = deflate(body, -15) if encoding == "bare deflate" else pack[encoding](body)
    assert decode(encoding.split()[-1], encoded) == (body, True)


@pytest.mark.parametrize("missing", [1, 5, 2000])
@pytest.mark.parametrize(("encoding", "encoded"), STREAMS)
def test_a_cut_stream_gives_its_beginning_and_is_not_whole(encoding: str, encoded: bytes, missing: int) -> None:
    body, is_whole = decode(encoding, encoded[:-missing])
    assert TEXT.startswith(body)
    assert not is_whole


@pytest.mark.parametrize("step", [1, 3, 16_384])
def test_gzip_may_have_several_members(step: int) -> None:
    members = gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(b"two")
    assert decode("gzip", members, step) == (b"one two", True)
    assert decode("gzip", members[:-3], step) == (b"one two", False)


@pytest.mark.parametrize("step", [1, 3, 16_384])
@pytest.mark.parametrize("rest", [b"\0", bytes(1000), b"\r\n", b"<!-- cached -->", b"x\x1f\x8b not a member"])
def test_what_follows_the_end_is_no_error(rest: bytes, step: int) -> None:
    assert decode("gzip", gzip.compress(b"hi") + rest, step) == (b"hi", True)
    assert decode("deflate", zlib.compress(b"hi") + rest, step) == (b"hi", True)


@pytest.mark.parametrize("encoding", ["", "identity", "Identity, none", " , ", "UTF-8"])
def test_bodies_that_are_sent_as_they_are(encoding: str) -> None:
    assert make_decoder(encoding) is None


@pytest.mark.parametrize("encoding", ["zstd", "gzip, x-unknown", "gzip;q=1", "gzip, gzip, gzip", "br, " * 1000 + "br"])
def test_encodings_that_are_not_read(encoding: str) -> None:
    with pytest.raises(ValueError, match=r"unknown|more than two"):
        make_decoder(encoding)


@pytest.mark.parametrize("step", [1, 16_384])
@pytest.mark.parametrize(
    ("encoding", "encoded"),
    [
        ("gzip", b"<html>plain text all along</html>"),
        ("gzip", gzip.compress(TEXT)[:-8] + bytes(8)),
        ("deflate", b"<html>plain text all along</html>"),
        ("br", b"<html>plain text all along</html>"),
        ("gzip, gzip", gzip.compress(b"<html>plain text all along</html>")),
    ],
    ids=["gzip", "checksum", "deflate", "br", "gzip in gzip"],
)
def test_broken_streams_are_told(encoding: str, encoded: bytes, step: int) -> None:
    with pytest.raises(BROKEN):
        decode(encoding, encoded, step)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(b"\0\0\0\xff\xff", id="stored"),
        # Four blocks of ten bits each: the fixed codes, and their end.
        pytest.param(sum(0b010 << 10 * place for place in range(4)).to_bytes(5, "little"), id="fixed"),
    ],
)
@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_a_stream_of_nothing_in_another_ends_soon(encoding: str, block: bytes) -> None:
    nothing = GZIP_START + block * 6_000_000
    outer = gzip.compress(nothing, 1) if encoding == "gzip" else brotli.compress(nothing, quality=1)
    before = time.process_time()
    with pytest.raises(ValueError, match="much of little"):
        decode(f"gzip, {encoding}", outer)
    assert time.process_time() - before < 0.5


def test_a_chunk_that_is_a_bomb_comes_piece_by_piece() -> None:
    for encoding, bomb in [
        ("gzip", gzip.compress(bytes(50_000_000))),
        ("br", brotli.compress(bytes(50_000_000), quality=1)),
    ]:
        decoder = make_decoder(encoding)
        assert decoder is not None
        pieces = decoder.decode(bomb)
        assert all(len(next(pieces)) <= 2 * PIECE_BYTES for _ in range(10))
        assert not decoder.is_whole
