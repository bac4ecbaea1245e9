"""A `Page` enters, its `Content` leaves: what the page is, by header, file name and first bytes, and its decoded text.

Header, name and content are consulted in this order, but content overrules headers that servers often send wrongly: feeds and
RDF as text/html or text/plain, pages as RDF types, anything as application/octet-stream.
"""

import re
from dataclasses import replace
from typing import cast
from urllib.parse import urlsplit

from isal import igzip_lib

from rdfspider.detect.charsets import decode_body
from rdfspider.detect.media_types import ALIASES, EXTENSIONS, FEED_NAMESPACES, KINDS, ROOTS, SIGNATURES, VAGUE
from rdfspider.records import Content, ContentKind, Page, Problem

_START_CHARS = 4096
_SKIPPED = re.compile(r"\s+|<\?[^>]*>|<!--.*?-->", re.DOTALL)
_DOCTYPE = re.compile(r"<!doctype\s+([A-Za-z:]+)", re.IGNORECASE)
_ROOT = re.compile(r"<(?:([A-Za-z_][\w.\-]*):)?([A-Za-z_][\w.\-]*)((?:\s[^<>]*)?)/?>?")
_XMLNS = re.compile(r"""\sxmlns(?::([A-Za-z_][\w.\-]*))?\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_TURTLE = re.compile(r"\s*(?:#[^\n]*\n\s*)*(?:@prefix|@base|PREFIX|BASE)\s", re.IGNORECASE)
_NODE = r"(?:<[^<>\s]++>|_:[^\s<>\"]++)"
_LITERAL = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"(?:@[A-Za-z0-9\-]++|\^\^<[^<>\s]*+>)?+'
_NTRIPLES = re.compile(
    rf"(?:\s*+#[^\n]*+\n)*+\s*+{_NODE}\s++<[^<>\s]++>\s++(?:{_NODE}|{_LITERAL})\s*+({_NODE})?+\s*+\.\s*?\n"
)
# A text sitemap: only URLs, one per line.
_ADDRESSES = re.compile(r"(?:\s*+https?://[^\s<>\"{}]++[ \t]*+(?:\r?\n|\Z))++\s*+", re.IGNORECASE)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([^"';\s]+)""", re.IGNORECASE)
_MEDIA_TYPE = re.compile(r"(?:application|audio|font|image|message|model|multipart|text|video)/[^\s/]+")
# Servers often declare these kinds wrongly, so the signature of a binary format overrules them.
_OVERRULED_KINDS = (ContentKind.BINARY, ContentKind.TEXT, ContentKind.HTML)
_SIGNATURE_STARTS = tuple(start for start, _ in SIGNATURES)
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r\x1b")
_HTML_TAGS = frozenset(
    "html head body title base meta link style script noscript template main article section header footer nav aside div p "
    "span a b i u em strong h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table tr td th pre blockquote figure img picture video audio "
    "iframe form input button label time br hr center font frameset map area".split()
)

MAGIC = b"\x1f\x8b"
"""The first bytes of a gzip file."""

_BROKEN = cast(type[Exception], igzip_lib.IsalError)
_PIECE_BYTES = 65_536
# Block-wise gzip has about one member per 64 KB. More are crafted to take time: each costs some, even an empty one.
_MAX_MEMBERS = 10_000


def detect_content(page: Page, max_body_bytes: int | None = None) -> Content:
    """Detect what the page is and decode its text, if any; reports content that is unknown, binary, or longer than allowed."""
    body, problems = page.body, []
    if max_body_bytes is not None and len(body) > max_body_bytes:
        problems.append(Problem("body-cut", f"{len(body)} bytes were cut to {max_body_bytes}"))
        body = body[:max_body_bytes]
    declared, header_charset = _read_content_type(page.content_type)
    signature = _match_signature(body)
    if signature == "application/gzip" and (found := _find_packed_sitemap(page, body, max_body_bytes)):
        return found
    if signature and KINDS.get(declared, ContentKind.BINARY) in _OVERRULED_KINDS:
        media_type = declared if declared not in VAGUE and declared not in KINDS else signature
        return Content(media_type, ContentKind.BINARY, None, "")
    if _is_vague(declared, body):
        declared = _type_by_name(page.url) or ("" if declared not in VAGUE else declared)
    if not _is_text(declared, body):
        return _binary(declared)
    text, charset, valid = decode_body(body, header_charset, _is_markup(declared, body))
    if not valid:
        problems.append(Problem("bad-bytes", f"some bytes are not {charset}; they became U+FFFD"))
    media_type, kind, root, namespace = _classify_text(declared, text)
    return Content(media_type, kind, charset, text, root, namespace, tuple(problems))


def unpack(body: bytes, limit_bytes: int) -> tuple[bytes, bool]:
    """Decompress as much as is readable, up to `limit_bytes`; also return whether there may be more."""
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
                    # Not all remaining input: what a member does not use is copied.
                    chunk = body[position : position + _PIECE_BYTES]
                    position += len(chunk)
                piece = stream.decompress(chunk, min(room, _PIECE_BYTES))
                if not piece and not chunk and stream.needs_input:
                    return b"".join(pieces), False  # The file is truncated.
                pieces.append(piece)
                room -= len(piece)
        except _BROKEN:
            return b"".join(pieces), False
        position -= len(stream.unused_data)
    return b"".join(pieces), True


def _find_packed_sitemap(page: Page, body: bytes, max_body_bytes: int | None) -> Content | None:
    """Detect a gzipped sitemap, or a feed that serves as one; None if the file contains anything else."""
    url = re.sub(r"\.gz(?=$|\?)", "", page.url, flags=re.IGNORECASE)
    start, _ = unpack(body, _PIECE_BYTES)
    # Doubly compressed files are refused: they can be crafted to decompress without end.
    if start.startswith(MAGIC) or detect_content(Page(url, start), None).kind not in (
        ContentKind.SITEMAP,
        ContentKind.FEED,
    ):
        return None
    limit_bytes = max_body_bytes or 10 * len(body)
    text, is_cut = unpack(body, limit_bytes)
    found = detect_content(Page(url, text), None)
    if not is_cut:
        return found
    cut = Problem("body-cut", f"what is packed in it was cut to {len(text)} bytes")
    return replace(found, problems=(*found.problems, cut))


def _read_content_type(header: str | None) -> tuple[str, str | None]:
    """Return a Content-Type's media type, in lower case and by its registered name ("" if missing), and its charset."""
    if not header:
        return "", None
    essence, _, parameters = header.partition(";")
    essence = essence.strip().lower()
    charset = _CHARSET.search(parameters)
    return ALIASES.get(essence, essence), charset[1] if charset else None


def _is_vague(declared: str, body: bytes) -> bool:
    """Whether the header is uninformative: a generic type, an invalid or missing one, or an application type for markup."""
    if declared in VAGUE or not _MEDIA_TYPE.fullmatch(declared):
        return True
    is_other = declared not in KINDS and not declared.endswith(("+xml", "+json"))
    return is_other and declared.startswith("application/") and not _has_controls(body) and body.lstrip()[:1] == b"<"


def _match_signature(body: bytes) -> str | None:
    if body.startswith(_SIGNATURE_STARTS):
        return next(media_type for start, media_type in SIGNATURES if body.startswith(start))
    if body[4:8] == b"ftyp":
        return "video/mp4"
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "image/webp"
    return None


def _type_by_name(url: str) -> str | None:
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    name, dot, extension = path.rpartition("/")[2].rpartition(".")
    return EXTENSIONS.get(extension.lower()) if dot and name else None


def _is_text(declared: str, body: bytes) -> bool:
    """Declared text types are trusted; anything else must look like text, with no control bytes at its start."""
    if declared in KINDS or declared.endswith(("+xml", "+json")) or declared.startswith("text/"):
        return declared not in VAGUE or not _has_controls(body)
    return declared in VAGUE and not _has_controls(body)


def _has_controls(body: bytes) -> bool:
    start = body[:1024]
    if start[:2] in (b"\xff\xfe", b"\xfe\xff") or start[:2] in (b"<\x00", b"\x00<"):
        return False
    return len(start.translate(None, _CONTROLS)) < len(start)


def _binary(declared: str) -> Content:
    if declared in VAGUE:
        unknown = Problem("unknown-type", "neither header, name nor content tell what this is")
        return Content("application/octet-stream", ContentKind.BINARY, None, "", problems=(unknown,))
    return Content(declared, ContentKind.BINARY, None, "")


def _is_markup(declared: str, body: bytes) -> bool:
    return declared == "text/html" or declared.endswith("xml") or b"<" in body[:256]


def _classify_text(declared: str, text: str) -> tuple[str, ContentKind, str | None, str | None]:
    """Return media type, kind, XML root and its namespace, from the declared type and the first characters."""
    start = text[:_START_CHARS]
    markup = _skip_prolog(text)
    if markup.startswith("<"):
        return _classify_markup(declared, markup, start.lstrip().startswith("<?xml"), text)
    if declared in KINDS and declared not in VAGUE and KINDS[declared] != ContentKind.HTML:
        return declared, KINDS[declared], None, None
    if declared == "text/html" or declared.endswith("xhtml+xml"):
        return declared, ContentKind.HTML, None, None
    if declared.endswith("+json"):
        return declared, ContentKind.JSON, None, None
    if declared.endswith("+xml"):
        return declared, ContentKind.XML, None, None
    return (*_classify_plain(declared, start), None, None)


def _classify_plain(declared: str, start: str) -> tuple[str, ContentKind]:
    if declared not in VAGUE:
        return declared, ContentKind.TEXT
    if start.lstrip()[:1] in ("{", "["):
        return ("application/ld+json" if '"@context"' in start else "application/json"), ContentKind.JSON
    if _TURTLE.match(start):
        return "text/turtle", ContentKind.RDF
    if _ADDRESSES.fullmatch(start if len(start) < _START_CHARS else start[: start.rfind("\n") + 1]):
        return "text/plain", ContentKind.SITEMAP
    statement = _NTRIPLES.match(start)
    if statement:
        return ("application/n-quads" if statement[1] else "application/n-triples"), ContentKind.RDF
    return declared if declared == "text/plain" else "text/plain", ContentKind.TEXT


def _skip_prolog(text: str) -> str:
    """The text from its first tag or doctype on, after white space, declarations and comments of any length."""
    position = 0
    while skipped := _SKIPPED.match(text, position):
        position = skipped.end()
    return text[position : position + _START_CHARS]


def _classify_markup(
    declared: str, markup: str, has_declaration: bool, text: str
) -> tuple[str, ContentKind, str | None, str | None]:
    doctype = _DOCTYPE.match(markup)
    if doctype:
        markup = _after_doctype(markup, text)
    root, namespace = _read_root(markup)
    is_page = (root or "").lower() == "html" or bool(doctype and doctype[1].lower() == "html")
    by_root = ROOTS.get((namespace, root or "")) or ROOTS.get((None, root or ""))
    if declared == "image/svg+xml":
        return declared, ContentKind.XML, root, namespace
    if by_root and by_root[1] == ContentKind.RDF and any(name.decode() in markup for name in FEED_NAMESPACES):
        return "application/rss+xml", ContentKind.FEED, root, namespace
    if by_root and by_root[1] != ContentKind.HTML:
        return by_root[0], by_root[1], root, namespace
    if declared in ("application/xhtml+xml", "text/html"):
        return declared, ContentKind.HTML, root, namespace
    if declared in ("application/xml", "text/xml") or (declared in VAGUE and has_declaration):
        if by_root:
            return by_root[0], by_root[1], root, namespace
        if root == "html":
            return "application/xhtml+xml", ContentKind.HTML, root, namespace
        return "application/xml", ContentKind.XML, root, namespace
    if (declared in VAGUE or KINDS.get(declared) == ContentKind.RDF) and _NTRIPLES.match(markup):
        return *(_classify_plain("", markup) if declared in VAGUE else (declared, ContentKind.RDF)), None, None
    if is_page or (declared in VAGUE and (root or "").lower() in _HTML_TAGS):
        return "text/html", ContentKind.HTML, root, namespace
    if declared in KINDS and declared not in VAGUE:
        return declared, KINDS[declared], root, namespace
    if declared.endswith("+xml"):
        return declared, ContentKind.XML, root, namespace
    if declared.startswith("text/") and declared not in VAGUE:
        return declared, ContentKind.TEXT, None, None
    if root:
        return "application/xml", ContentKind.XML, root, namespace
    return "text/plain", ContentKind.TEXT, None, None


def _after_doctype(markup: str, text: str) -> str:
    """The text after the doctype and its internal subset; entity values may contain `>`, so `]>` ends a subset."""
    start = text.find(markup[:64])
    end = text.find(">", start)
    bracket = text.find("[", start, end)
    if bracket > -1:
        end = text.find("]", bracket)
        end = text.find(">", end) if end > -1 else -1
    return _skip_prolog(text[end + 1 : end + 1 + 4 * _START_CHARS]) if end > -1 else ""


def _read_root(markup: str) -> tuple[str | None, str | None]:
    tag = _ROOT.match(markup)
    if tag is None:
        return None, None
    prefix, name, attributes = tag.groups()
    for declaration in _XMLNS.finditer(attributes):
        if declaration[1] == prefix:
            return name, declaration[2] if declaration[2] is not None else declaration[3]
    return name, None
