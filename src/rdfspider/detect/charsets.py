"""Bytes enter, text and the name of its encoding leave, in the WHATWG's order: BOM, header, declaration, detection.

Without turbohtml nothing is detected: what is neither declared nor UTF-8 is windows-1252, the WHATWG's most usual default.
"""

import codecs
import re
from functools import lru_cache

from rdfspider.html_parser import IS_SECOND_PARSER

if not IS_SECOND_PARSER:
    # It also registers the codecs `whatwg-*`; without them, Python's are taken.
    from turbohtml.detect import detect as detect_encoding

_UTF32_BOMS = ((b"\x00\x00\xfe\xff", "utf-32-be"), (b"\xff\xfe\x00\x00", "utf-32-le"))
_BOMS = (*_UTF32_BOMS, (b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_XML_DECLARATION = re.compile(rb"""\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']\s*([A-Za-z0-9._:\-]+)""")
_CHARSET = re.compile(rb"""charset\s*=\s*["']?\s*([a-z0-9._:\-]+)""")

_CONTEXT_BYTES = 32
_BEYOND_ASCII = re.compile(
    rb"[\x80-\xff](?:[\x00-\x7f]{0,%d}+[\x80-\xff])*+[\x00-\x7f]{0,%d}" % (_CONTEXT_BYTES, _CONTEXT_BYTES)
)

# Labels by which the WHATWG means a wider encoding than Python does.
_WIDER = {
    **dict.fromkeys(("ascii", "iso-8859-1", "iso8859-1", "latin1", "us-ascii"), "windows-1252"),
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso-8859-9": "windows-1254",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}

_FIRST_BYTES = 1024
PRESCAN_BYTES = 16 * 1024
"""How far to search for a declaration: the standard reads 1,024 bytes, and restarts if it meets one later."""
DETECT_BYTES = 64 * 1024
"""How much of a page without a declaration is used to detect its encoding."""


def decode_body(body: bytes, header_charset: str | None, is_markup: bool) -> tuple[str, str, bool]:
    """Return the text, the encoding's name, and whether every byte was valid in it."""
    charset, bom_bytes = _read_bom(body)
    if charset is None:
        charset = _known(header_charset)
    if charset is None and is_markup:
        charset = _read_declaration(body[:_FIRST_BYTES]) or _read_declaration(body[:PRESCAN_BYTES])
    if charset is None:
        try:
            return body.decode("utf-8"), "utf-8", True
        except UnicodeDecodeError:
            charset = _detect(body[:DETECT_BYTES]) or "windows-1252"
    return _decode(body[bom_bytes:], charset)


def _detect(start: bytes) -> str | None:
    """The encoding that bytes beyond ASCII suggest; of all others, which take most of the time, only the nearest are read."""
    if IS_SECOND_PARSER:
        return None
    if b"\0" not in start:
        runs = _BEYOND_ASCII.finditer(start)
        start = b"".join([start[max(run.start() - _CONTEXT_BYTES, 0) : run.end()] for run in runs])
    return _known(detect_encoding(start).encoding)


def _read_bom(body: bytes) -> tuple[str | None, int]:
    """The encoding by a byte-order mark, or by zero bytes beside the first character, and the length of the mark."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name, len(mark)
    # XML and HTML start with "<": in UTF-16 without a BOM, a zero byte is next to it.
    if body[:4] == b"<\x00?\x00" or body[:4] == b"<\x00!\x00" or body[:4] == b"<\x00h\x00":
        return "utf-16le", 0
    if body[:4] == b"\x00<\x00?" or body[:4] == b"\x00<\x00!" or body[:4] == b"\x00<\x00h":
        return "utf-16be", 0
    return None, 0


def _read_declaration(start: bytes) -> str | None:
    declared = _XML_DECLARATION.match(start) or _find_meta(start.lower())
    if declared is None:
        return None
    name = _known(declared[1].decode("ascii"))
    # A declaration that can be read as ASCII is not in UTF-16, whatever it says.
    return "utf-8" if name and name.startswith("utf-16") else name


def _find_meta(start: bytes) -> re.Match[bytes] | None:
    """Find the first `charset=` inside a `meta` tag and outside comments."""
    for declared in _CHARSET.finditer(start):
        tag = start.rfind(b"<", 0, declared.start())
        if start.startswith(b"<meta", tag) and start.rfind(b"<!--", 0, tag) <= start.rfind(b"-->", 0, tag):
            return declared
    return None


def _known(label: str | None) -> str | None:
    """The encoding for a label, by the WHATWG's table and then Python's; None if neither has it."""
    if not label:
        return None
    return _known_label(label.strip().strip("\"'").lower())


@lru_cache(maxsize=256)
def _known_label(label: str) -> str | None:
    if label in ("utf-8", "utf8"):
        return "utf-8"
    for name in (f"whatwg-{label}", _WIDER.get(label, label)):
        try:
            info = codecs.lookup(name)
        except (LookupError, ValueError, UnicodeError):
            continue
        if getattr(info, "_is_text_encoding", True):
            return label
    return None


def _decode(body: bytes, charset: str) -> tuple[str, str, bool]:
    if charset == "utf-8":
        try:
            return body.decode("utf-8"), "utf-8", True
        except UnicodeDecodeError:
            return body.decode("utf-8", "replace"), "utf-8", False
    for name in (f"whatwg-{charset}", _WIDER.get(charset, charset)):
        try:
            text = body.decode(name, "replace")
        except (LookupError, ValueError, UnicodeError):
            continue
        return text, charset, "\ufffd" not in text
    return body.decode("utf-8", "replace"), "utf-8", False
