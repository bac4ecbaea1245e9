"""Raw header lines in, the head of an answer out: status and headers of the final answer, neither 1xx nor trailers."""

from collections.abc import Sequence
from typing import NamedTuple


class Head(NamedTuple):
    """What a server said before the body."""

    http_version: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]

    def first(self, name: str) -> str:
        """The first value of a header, by its lower-case name; empty where there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")


def read_head(lines: Sequence[bytes]) -> Head | None:
    """The head of the final answer; None while it is not complete, or when its status line is none.

    The lines come as libcurl gives them: for each answer a status line, the fields, an empty line; after the body, trailers.
    """
    status_line = b""
    fields: list[tuple[str, str]] = []
    for line in lines:
        if not status_line:
            status_line = line
        elif not line.strip():
            head = _make_head(status_line, fields)
            if head is None or head.status >= 200 or head.status == 101:
                return head
            status_line, fields = b"", []
        elif line[0] in b" \t" and fields:
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {line.decode('latin-1').strip()}".strip())
        else:
            name, _, value = line.decode("latin-1").partition(":")
            fields.append((name.strip(), value.strip()))
    return None


def _make_head(status_line: bytes, fields: list[tuple[str, str]]) -> Head | None:
    protocol, _, rest = status_line.decode("latin-1").strip().partition(" ")
    code, _, reason = rest.strip().partition(" ")
    if not (protocol.startswith("HTTP/") and len(code) == 3 and code.isascii() and code.isdigit()):
        return None
    return Head(protocol[5:], int(code), reason.strip(), tuple(fields))
