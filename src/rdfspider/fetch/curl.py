"""Translates libcurl into our own terms: its error numbers, the lines of a response head, its open sockets."""

import os
import socket
from collections.abc import Sequence
from typing import NamedTuple

from rdfspider.codes import FailureCode

COULD_NOT_CONNECT = 7
TIMED_OUT = 28
NOT_RECEIVED = 56

# pycurl has no names for the newer error numbers.
CODES = {
    1: FailureCode.PROTOCOL,  # HTTP/0.9; other schemes are rejected earlier
    3: FailureCode.UNSUPPORTED,  # malformed URL
    8: FailureCode.PROTOCOL,  # weird server reply
    16: FailureCode.PROTOCOL,  # HTTP/2 framing
    18: FailureCode.RESET,  # partial file
    TIMED_OUT: FailureCode.TIMEOUT,
    35: FailureCode.TLS,  # no TLS connection
    51: FailureCode.TLS,
    52: FailureCode.RESET,  # got nothing
    53: FailureCode.TLS,
    54: FailureCode.TLS,
    55: FailureCode.RESET,  # send error
    NOT_RECEIVED: FailureCode.RESET,
    58: FailureCode.TLS,
    59: FailureCode.TLS,
    60: FailureCode.TLS,  # certificate not verified
    63: FailureCode.TOO_LARGE,
    66: FailureCode.TLS,
    77: FailureCode.TLS,
    82: FailureCode.TLS,
    83: FailureCode.TLS,
    91: FailureCode.TLS,
    92: FailureCode.PROTOCOL,  # HTTP/2 stream
    100: FailureCode.TOO_LARGE,
}

CUT_SHORT = frozenset({18, 55, NOT_RECEIVED, 92})
"""Errors after which the received part of the body is worth keeping."""


class Head(NamedTuple):
    """The status line and headers of a response."""

    http_version: str
    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]

    def first(self, name: str) -> str:
        """The first value of a header, by its lower-case name; empty if it is absent."""
        return next((value for key, value in self.headers if key.lower() == name), "")


def read_head(lines: Sequence[bytes]) -> Head | None:
    """Read the head of the final response; None while it is incomplete, or if its status line is invalid.

    libcurl delivers for each response a status line, the header fields and an empty line; trailers follow the body.
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


class Socket(socket.socket):
    """A socket that libcurl duplicates; the original is closed right after that."""

    def __del__(self) -> None:
        if hasattr(self, "_io_refs"):  # It is missing if the system could not create the socket.
            self.close()


class OpenSockets:
    """Counts open sockets. libcurl does not report closing one; its descriptor may then be reused for another file."""

    def __init__(self) -> None:
        self.inodes: dict[int, int] = {}
        """Descriptor → the inode of its socket."""

    def add(self, descriptor: int) -> None:
        """Track a descriptor and make it non-inheritable: otherwise helper processes would hold the duplicate open."""
        os.set_inheritable(descriptor, False)
        self.inodes[descriptor] = _inode(descriptor)

    def count(self) -> int:
        """Count the sockets that are open now."""
        gone = [descriptor for descriptor, inode in self.inodes.items() if _inode(descriptor) != inode]
        for descriptor in gone:
            del self.inodes[descriptor]
        return len(self.inodes)

    def clear(self) -> None:
        """Forget all sockets."""
        self.inodes.clear()


def _inode(descriptor: int) -> int:
    """The inode of a descriptor's socket; 0 if it is closed."""
    try:
        return os.fstat(descriptor).st_ino
    except OSError:
        return 0
