"""What libcurl tells, in our own terms: its error numbers, the lines of a head, the sockets that it has open."""

import os
import socket
from collections.abc import Sequence
from typing import NamedTuple

from rdfspider.records import FailureCode

COULD_NOT_CONNECT = 7
TIMED_OUT = 28
NOT_RECEIVED = 56

# pycurl has no names for the newer ones.
CODES = {
    1: FailureCode.PROTOCOL,  # HTTP/0.9; other schemes do not come so far
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
"""Errors after which the part of the body that came is worth keeping."""


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


class Socket(socket.socket):
    """A socket that libcurl takes a duplicate of; this one is closed as soon as it has."""

    def __del__(self) -> None:
        if hasattr(self, "_io_refs"):  # Not where the system had no socket to give.
            self.close()


class OpenSockets:
    """libcurl does not tell when it closes a socket: its descriptor is closed then, or stands for another file."""

    def __init__(self) -> None:
        self.inodes: dict[int, int] = {}
        """Descriptor → which socket it stands for."""

    def add(self, descriptor: int) -> None:
        """Note a descriptor, and keep it from the helper processes, which would hold it open: a duplicate is inherited."""
        os.set_inheritable(descriptor, False)
        self.inodes[descriptor] = _inode(descriptor)

    def count(self) -> int:
        """How many are open now."""
        gone = [descriptor for descriptor, inode in self.inodes.items() if _inode(descriptor) != inode]
        for descriptor in gone:
            del self.inodes[descriptor]
        return len(self.inodes)

    def clear(self) -> None:
        """Forget all of them."""
        self.inodes.clear()


def _inode(descriptor: int) -> int:
    """Which socket a descriptor stands for; 0 when it is closed."""
    try:
        return os.fstat(descriptor).st_ino
    except OSError:
        return 0
