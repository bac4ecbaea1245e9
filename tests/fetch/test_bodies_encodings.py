"""Streams as servers send them, in pieces of any size: what they give, whether they ended, and what no stream may cost."""

import gzip
import random
import time
import zlib

import brotli
import pytest

from rdfspider.fetch.bodies import BROKEN, PIECE_BYTES, make_decoder

TEXT = b"".join(b"<p>paragraph %d</p>\n" % number for number in range(9000))
BROTLI_TEXT = brotli.compress(TEXT)
BROTLI_ZEROS = brotli.compress(bytes(5_000_000), quality=1)
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
    pytest.param("br", BROTLI_TEXT, id="br"),
    pytest.param(" identity ,, br, GZIP", gzip.compress(BROTLI_TEXT), id="br in gzip"),
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
    for text, packed in ((b"hi", brotli.compress(b"hi")), (TEXT, BROTLI_TEXT), (bytes(5_000_000), BROTLI_ZEROS)):
        assert decode("br", packed + rest, step) == (text, True)
        assert decode("br, gzip", gzip.compress(packed + rest), step) == (text, True)


def test_a_broken_stream_is_found_to_be_so_soon() -> None:
    """Although it is read twice, as it might have come to its end."""
    generator = random.Random(1)
    words = b" ".join(generator.choice((b"alpha", b"beta", b"gamma", b"delta")) for _ in range(1_000_000))
    packed = brotli.compress(words, quality=1)
    assert len(packed) < 1024 * 1024
    broken = packed[:-20_000] + generator.randbytes(20_000)
    before = time.process_time()
    with pytest.raises(BROKEN):
        decode("br", broken)
    assert time.process_time() - before < 1


def test_a_long_stream_with_more_behind_it_is_an_error() -> None:
    noise = random.Random(1).randbytes(1_100_000)
    packed = brotli.compress(noise, quality=0)
    assert decode("br", packed) == (noise, True)
    with pytest.raises(BROKEN):
        decode("br", packed + b"more")


@pytest.mark.parametrize("member", [gzip.compress(b""), gzip.compress(b"x")], ids=["empty", "small"])
def test_gzip_members_without_end_are_given_up_soon(member: bytes) -> None:
    before = time.process_time()
    with pytest.raises(ValueError, match="more than 10,000 members"):
        decode("gzip", member * 200_000)
    assert time.process_time() - before < 2
    assert decode("gzip", member * 2000)[1]


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
    assert time.process_time() - before < 2


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
