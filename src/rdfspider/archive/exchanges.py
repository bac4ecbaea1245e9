"""A Capture in, the HTTP messages of its request and its answer out, as WARC blocks.

The transport has undone all encodings, so headers that speak of the body on the wire are kept under another name
(`X-Crawler-Content-Encoding`), `Content-Length` is that of the block, and HTTP/2 is written as HTTP/1.1.
"""

import re
from collections.abc import Iterable

from rdfspider.records import Capture

_WIRE_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]+")


def make_request(capture: Capture) -> bytes:
    """The request as it was sent, without a body: all requests are GET."""
    host, _, rest = capture.page.url.partition("://")[2].partition("/")
    headers = list(capture.request_headers)
    if not any(name.lower() == "host" for name, _ in headers):
        headers.insert(0, ("Host", host))
    return _make_head(f"GET /{rest} HTTP/{_written_version(capture)}", headers)


def make_response_head(capture: Capture) -> bytes:
    """Status line and headers of the answer, with the empty line after them."""
    headers = [
        (f"X-Crawler-{name}" if name.lower() in _WIRE_HEADERS else name, value) for name, value in capture.headers
    ]
    if capture.status != 304:
        headers.append(("Content-Length", str(len(capture.page.body))))
    return _make_head(f"HTTP/{_written_version(capture)} {capture.status:03} {capture.reason}", headers)


def _written_version(capture: Capture) -> str:
    return "1.0" if capture.http_version == "1.0" else "1.1"


def _make_head(first_line: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """A header that holds a line end would become two, or the end of all headers: such ends become spaces."""
    lines = [first_line, *(f"{name}: {value}" for name, value in headers if name)]
    lines = [line if line.isprintable() else _CONTROLS.sub(" ", line) for line in lines]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
