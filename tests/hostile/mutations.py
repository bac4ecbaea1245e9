"""Mutations of bytes by chance: a sound example enters, something like it that is broken somewhere leaves."""

from __future__ import annotations

import random
from collections.abc import Sequence

BITS = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\r\n", b"\r", b"\n\n", b"\t", b" ", b"%", b"%00"),
    *(b"<", b">", b"</", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<!DOCTYPE a [", b"&", b"&#0;", b"&#xD800;", b"'", b'"'),
    *(b"{", b"}", b"[", b"]", b"(", b")", b":", b"::", b",", b";", b"//", b"\\", b"\\u0000", b"@", b"#", b"?", b"*", b"$", b"-"),
    *(b"0", b"-1", b"1e999", b"9" * 30, b"NaN", b"\xe2\x80\xae", b"\xcc\x81" * 5, b"xn--", b"..", b"/../", b"file:", b"_:"),
    *("İ".encode(), "ß".encode(), "\U0001f469\u200d\U0001f680".encode(), b"OR", b"NOT", b"-site:", b'"a b', b"\x1f\x8b"),
    *(b"http://[::1", b"http://a@b:c/", b"%zz", b"--"),
)  # fmt: skip
"""Pieces at which readers of some format stumble."""
MAX_BYTES = 200_000


def mutate(chance: random.Random, examples: Sequence[bytes], pieces: Sequence[bytes] = BITS) -> bytes:
    """An example with a few changes; at times only a part of it, or two of them in one."""
    body = bytearray(chance.choice(examples))
    for _ in range(chance.choice((1, 1, 2, 3, 5, 10, 30))):
        at = chance.randrange(len(body) + 1)
        length = min(chance.choice((1, 1, 2, 4, 16, 64, 500)), len(body) - at)
        match chance.randrange(8):
            case 0:
                body[at:at] = chance.choice(pieces)
            case 1:
                body[at : at + length] = chance.choice(pieces)
            case 2:
                del body[at : at + length]
            case 3:
                body[at:at] = body[at : at + length] * chance.choice((1, 2, 10, 100))
            case 4:
                body[at : at + length] = chance.randbytes(length)
            case 5 if body:
                body[min(at, len(body) - 1)] ^= 1 << chance.randrange(8)
            case 6:
                other = chance.choice(examples)
                cut = chance.randrange(len(other) + 1)
                body[at:] = other[cut:]
            case _:
                body[at:at] = chance.choice(pieces) * chance.choice((2, 20, 2000))
        del body[MAX_BYTES:]
    return bytes(body)
