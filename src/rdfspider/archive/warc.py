"""Formats WARC 1.1 records: header fields and a block enter, a record leaves as its own gzip member (WARC 1.1, annex D).

Every value stays on its line, whatever a server or a page wrote: control characters become spaces.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import product

from isal import isal_zlib

from rdfspider.records import Capture

Field = tuple[str, str]

MAX_URL_CHARS = 12_000
"""A longer URL is cut in a record's header, of which FastWARC reads 32 KB; the metadata block has all of it."""

# From 0 to 3. On real pages level 2 saves 1 % more for a tenth more time, level 0 costs 8 % for a fifteenth less.
_LEVEL = 1
_GZIP_WINDOW_BITS = 31
# Two characters of base 32 for each ten of a digest's 160 bits. Every page has several digests, and `base64.b32encode` takes five
# times as long.
_BASE_32_PAIRS = ["".join(pair) for pair in product("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", repeat=2)]
_BASE_32_SHIFTS = range(150, -1, -10)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
_WIRE_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_HEADER_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]+")


def make_record(kind: str, fields: Iterable[Field], block: bytes) -> bytes:
    """Make a record as a gzip member, with a digest of its block."""
    return pack_record(kind, [*fields, ("WARC-Block-Digest", compute_digest(block))], block)


def pack_record(kind: str, fields: Iterable[Field], *block: bytes) -> bytes:
    """Make a record as a gzip member; the block may be in parts, because bodies are large."""
    lines = [f"{name}: {value}\r\n" for name, value in fields if value]
    length = sum(map(len, block))
    head = f"WARC/1.1\r\nWARC-Type: {kind}\r\n{''.join(lines)}Content-Length: {length}\r\n\r\n"
    data = b"".join((head.encode("utf-8", "replace"), *block, b"\r\n\r\n"))
    member: bytes = isal_zlib.compress(data, _LEVEL, _GZIP_WINDOW_BITS)
    return member


def make_fields_block(fields: Iterable[Field]) -> bytes:
    """Make a block of `application/warc-fields`, without empty fields."""
    lines = [
        f"{name}: {value}" if value.isprintable() else f"{name}: {clean_value(value)}"
        for name, value in fields
        if value
    ]
    return "".join([f"{line}\r\n" for line in lines]).encode("utf-8", "replace")


def make_id() -> str:
    """Make a unique record id: a UUID of version 4."""
    number = bytearray(os.urandom(16))
    number[6] = number[6] & 0x0F | 0x40
    number[8] = number[8] & 0x3F | 0x80
    text = number.hex()
    return f"<urn:uuid:{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}>"


def compute_digest(data: bytes) -> str:
    """Return the SHA-1 digest in base 32, as is customary in archives."""
    number = int.from_bytes(hashlib.sha1(data, usedforsecurity=False).digest(), "big")
    return "sha1:" + "".join([_BASE_32_PAIRS[number >> shift & 1023] for shift in _BASE_32_SHIFTS])


def format_date(seconds: float) -> str:
    """Format seconds since 1970 as in WARC 1.1, in UTC with microseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def clean_value(text: str) -> str:
    """Put a text on one line."""
    return text if text.isprintable() else _CONTROLS.sub(" ", text)


def clean_url(url: str) -> str:
    """Shorten and clean a URL for a record's header."""
    return clean_value(url[:MAX_URL_CHARS])


def make_request(capture: Capture) -> bytes:
    """Make the request as it was sent, without a body: all requests are GET."""
    host, _, rest = capture.page.url.partition("://")[2].partition("/")
    headers = list(capture.request_headers)
    if not any(name.lower() == "host" for name, _ in headers):
        headers.insert(0, ("Host", host))
    return _make_head(f"GET /{rest} HTTP/{_written_version(capture)}", headers)


def make_response_head(capture: Capture) -> bytes:
    """Make the status line and headers of the response, with the empty line after them."""
    headers = [
        (f"X-Crawler-{name}" if name.lower() in _WIRE_HEADERS else name, value) for name, value in capture.headers
    ]
    if capture.status != 304:
        headers.append(("Content-Length", str(len(capture.page.body))))
    return _make_head(f"HTTP/{_written_version(capture)} {capture.status:03} {capture.reason}", headers)


def _written_version(capture: Capture) -> str:
    return "1.0" if capture.http_version == "1.0" else "1.1"


def _make_head(first_line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """Join header lines; line ends inside them become spaces, since they would add headers or end the head."""
    lines = [first_line, *(f"{name}: {value}" for name, value in headers if name)]
    lines = [line if line.isprintable() else _HEADER_CONTROLS.sub(" ", line) for line in lines]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
