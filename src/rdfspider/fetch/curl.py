"""One exchange by libcurl: a reusable handle with its limits, libcurl's error numbers in our own terms, and its sockets.

A prepared request enters; the head and body of the response leave, or a Failure that says why there is none.
"""

import errno
import os
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pycurl

from rdfspider.codes import FailureCode, Truncation
from rdfspider.config import FetchConfig
from rdfspider.fetch.bodies import NAMES, Body, Flight
from rdfspider.fetch.shortages import NO_DESCRIPTOR
from rdfspider.fetch.targets import is_refused, is_same_address
from rdfspider.fetch.transport import Request
from rdfspider.pace import yields_little
from rdfspider.records import Failure

IDLE_S = 5
"""Idle connections close after this time: servers can keep few open, and a polite gap is shorter."""
SLOW_BYTES_S = 100
"""A body slower than this, in bytes per second, is given up."""
SLOW_WINDOW_S = 30.0
"""The period over which speed is measured; shorter stalls are common on good servers."""
DRAIN_BYTES = 65_536
"""Unwanted bodies up to this size are read and dropped: aborting would close the connection, and a new one costs more."""
LONG_HEAD_BYTES = 200_000
"""libcurl reports heads over 300 KiB, or lines over 100 KB, as a broken connection; no real head is half as long."""

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
_OWN_WORDS = {
    FailureCode.PRIVATE: "the address is private",
    FailureCode.RESET: "the server closed the connection without an answer",
    FailureCode.TAKEN_BACK: "the server was far slower than others, which waited for the connection",
    FailureCode.BUSY: "there was no room for the body",
    FailureCode.SHORTAGE: NO_DESCRIPTOR,
}
"""Messages for exchanges that we ended ourselves; libcurl only reports that a callback aborted them."""
_CA_FILES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")


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


def find_watch_interval_s(config: FetchConfig) -> float:
    """How often `Handle.find_delay` must be asked."""
    return min(0.5, config.first_byte_timeout_s / 4, SLOW_WINDOW_S / 4)


class Handle:
    """One reusable libcurl handle, and the state of its current exchange."""

    def __init__(self, config: FetchConfig, user_agent: str, flight: Flight, sockets: OpenSockets) -> None:
        self._config = config
        self._flight = flight
        self._sockets = sockets
        self.lines: list[bytes] = []
        self.keeps: Callable[[str], bool] | None = None
        self.patience_s: Callable[[], float] | None = None
        self.before_sending: Callable[[], None] | None = None
        self.address = ""
        self.is_vetted = False
        self.url = ""
        self.body = Body(flight)
        self.clear()
        self.curl = _make_curl(config, user_agent)
        # `list.append` receives the head's lines, so no Python code runs for each; libcurl bounds their total size.
        self.curl.setopt(pycurl.HEADERFUNCTION, self.lines.append)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._take_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        self.curl.setopt(pycurl.SOCKOPTFUNCTION, self._note_socket)
        self.curl.setopt(pycurl.PREREQFUNCTION, self._allow_request)

    def clear(self) -> None:
        """Forget the last exchange."""
        self.lines.clear()
        self.body.close()
        self.body = Body(self._flight)
        self.dropped_bytes = 0
        self.head: Head | None = None
        self.judged_lines = 0
        self.has_asked = False
        self.is_opening = False
        """Whether a socket was opened for libcurl, which has not got its duplicate yet."""
        self.end: FailureCode | Truncation | None = None
        """Why we ended the exchange ourselves; None if we did not."""

    def prepare(self, request: Request, headers: tuple[tuple[str, str], ...]) -> None:
        """Set what is specific to this exchange; `headers` are those of the request, safe to send."""
        self.url, self.address, self.is_vetted = request.url, request.address, request.is_vetted
        self.keeps, self.patience_s = request.keeps, request.patience_s
        self.before_sending = request.before_sending
        limit_bytes = request.max_body_bytes
        self.body.limit_bytes = self._config.max_body_bytes if limit_bytes is None else limit_bytes
        self.started = self.silent_since = self.window_start = time.monotonic()
        self.window_bytes = 0
        literal = f"[{self.address}]" if ":" in self.address else self.address
        self.curl.setopt(pycurl.URL, self.url.encode())
        self.curl.setopt(pycurl.CONNECT_TO, [f"::{literal}:{'' if request.port is None else request.port}"])
        self.curl.setopt(pycurl.HTTPHEADER, [f"{name}: {value}".encode("latin-1") for name, value in headers])

    def find_delay(self, now: float) -> FailureCode | None:
        """Return which timeout has passed: no response to the request, a slow body, or little of either while others wait for the
        connection; None if none has."""
        if self.patience_s is not None and self._yields_little(now) and now - self.started > self.patience_s():
            return FailureCode.TAKEN_BACK
        if not self.curl.getinfo(pycurl.REQUEST_SIZE):
            self.window_start = now
            return None
        if not self.lines:
            self.window_start = now
            asked = max(self.started + self.curl.getinfo(pycurl.PRETRANSFER_TIME), self.silent_since)
            return FailureCode.FIRST_BYTE_TIMEOUT if now - asked > self._config.first_byte_timeout_s else None
        window_s = now - self.window_start
        if window_s < SLOW_WINDOW_S:
            return None
        came = -self.window_bytes
        self.begin_window(now)
        came += self.window_bytes
        return FailureCode.SLOW if came < SLOW_BYTES_S * window_s else None

    def begin_window(self, now: float) -> None:
        """Measure silence and speed from now on."""
        self.silent_since = self.window_start = now
        self.window_bytes = self.curl.getinfo(pycurl.SIZE_DOWNLOAD_T) + self.curl.getinfo(pycurl.HEADER_SIZE)

    def _yields_little(self, now: float) -> bool:
        came = self.curl.getinfo(pycurl.SIZE_DOWNLOAD_T) + self.curl.getinfo(pycurl.HEADER_SIZE)
        return yields_little(now - self.started, came)

    def find_unwanted(self) -> Truncation | None:
        """Return UNWANTED if the head declares a long unwanted body: some servers pause before they send it."""
        if self.head is None and len(self.lines) > self.judged_lines and not self.lines[-1].strip():
            self._read_head()
        return self.end if self.end is Truncation.UNWANTED and self._is_long() else None

    def judge(
        self, error: int, message: str, started: float
    ) -> tuple[Head, bytes, Truncation | None, float, int] | Failure:
        """Return the result of the exchange: head, body, why it is truncated, seconds, bytes on the wire; or a Failure."""
        is_sent = bool(self.curl.getinfo(pycurl.REQUEST_SIZE))
        duration_s = self.curl.getinfo(pycurl.TOTAL_TIME)
        if is_sent:
            duration_s = max(duration_s - self.curl.getinfo(pycurl.PRETRANSFER_TIME), 0.0)
        head = self.head or read_head(self.lines)
        truncated = self._find_cut(error)
        if head is not None and (error == 0 or truncated):
            wire_bytes = int(self.curl.getinfo(pycurl.SIZE_DOWNLOAD_T))
            return head, self.body.read(), truncated, duration_s, wire_bytes
        code = self.end if isinstance(self.end, FailureCode) else self._find_code(error, is_sent)
        if self.end or code == FailureCode.SHORTAGE:
            message = self.body.message or _OWN_WORDS.get(code, message)
        return Failure(self.url, code, message, duration_s, started, self.address)

    def _find_cut(self, error: int) -> Truncation | None:
        """Why the body is incomplete; None if it is complete, or if there is nothing to keep."""
        if isinstance(self.end, Truncation):
            return self.end
        if error == 0:
            return None if self.body.is_whole else Truncation.DISCONNECT
        if self.end or not self.body.body_bytes:
            return None
        return Truncation.TIME if error == TIMED_OUT else Truncation.DISCONNECT if error in CUT_SHORT else None

    def _find_code(self, error: int, is_sent: bool) -> FailureCode:
        if error == TIMED_OUT and not is_sent:
            return FailureCode.CONNECT_TIMEOUT
        if error == COULD_NOT_CONNECT and self.is_opening:
            # There was one descriptor left, and none for the duplicate.
            return FailureCode.SHORTAGE
        if error == COULD_NOT_CONNECT:
            return (
                FailureCode.REFUSED
                if self.curl.getinfo(pycurl.OS_ERRNO) == errno.ECONNREFUSED
                else FailureCode.UNREACHABLE
            )
        if error == NOT_RECEIVED and sum(map(len, self.lines)) > LONG_HEAD_BYTES:
            return FailureCode.TOO_LARGE
        return CODES.get(error, FailureCode.PROTOCOL)

    def _take_body(self, chunk: bytes) -> int | None:
        """Add a chunk to the body; returning 0 ends the exchange."""
        if self.head is None:
            self._read_head()
        if self.end:
            self.dropped_bytes += len(chunk)
            return 0 if self._is_long() or self.dropped_bytes > DRAIN_BYTES else None
        self.end = self.body.add(chunk)
        return 0 if self.end else None

    def _read_head(self) -> None:
        """Read the head, if it is complete, and check whether the body is wanted."""
        # A server may send many interim responses; they are not read twice.
        self.head = read_head(self.lines[self.judged_lines :])
        self.judged_lines = len(self.lines)
        if self.head is None:
            return
        self.body.content_encoding = ",".join(
            value for name, value in self.head.headers if name.lower() == "content-encoding"
        )
        if self.keeps is not None and not self.keeps(self.head.first("content-type")):
            self.end = Truncation.UNWANTED

    def _is_long(self) -> bool:
        """Whether the head declares a body that is too long to drain."""
        declared = self.head.first("content-length") if self.head is not None else ""
        return len(declared) > 9 or (declared.isdecimal() and int(declared) > DRAIN_BYTES)

    def _open_socket(self, purpose: int, target: Any) -> Any:
        """Check the address a second time, when the socket is opened, however the exchange got here."""
        family, kind, protocol, place = target
        address = place[0] if isinstance(place, tuple) else ""
        is_allowed = self.is_vetted or self._config.allow_private or not is_refused(address)
        if not is_allowed or not is_same_address(address, self.address):
            # libcurl reports this as a refused connection, so the reason is recorded here.
            self.end = FailureCode.PRIVATE
            return pycurl.SOCKET_BAD
        try:
            opened = Socket(family, kind, protocol)
        except OSError as error:
            # Without IPv6 there is no route; any other error means that this process has no free descriptor.
            self.end = FailureCode.UNREACHABLE if error.errno == errno.EAFNOSUPPORT else FailureCode.SHORTAGE
            return pycurl.SOCKET_BAD
        self.is_opening = True
        return opened

    def _allow_request(self, *addresses: object) -> int:
        """Allow one request only: when a kept connection breaks, libcurl would retry at once, ignoring the host's pace."""
        if self.has_asked:
            self.end = FailureCode.RESET
            return int(pycurl.PREREQFUNC_ABORT)
        self.has_asked = True
        if self.before_sending is not None:
            self.before_sending()
        return int(pycurl.PREREQFUNC_OK)

    def _note_socket(self, descriptor: int, purpose: int) -> int:
        self.is_opening = False
        self._sockets.add(descriptor)
        return 0


def trust_certificates(curl: pycurl.Curl) -> None:
    """Verify certificates with the authorities of the system or of `SSL_CERT_FILE`."""
    paths = ssl.get_default_verify_paths()
    # libcurl keeps a certificate file in memory, but reads a certificate folder again for each connection.
    file = paths.cafile or next((name for name in _CA_FILES if Path(name).is_file()), None)
    if file is not None:
        curl.setopt(pycurl.CAINFO, file)
    elif paths.capath is not None:
        curl.setopt(pycurl.CAPATH, paths.capath)


def _make_curl(config: FetchConfig, user_agent: str) -> Any:
    curl = pycurl.Curl()
    options = {
        pycurl.NOSIGNAL: 1,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.PROXY: "",
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS,
        pycurl.HTTP09_ALLOWED: 0,
        pycurl.USERAGENT: user_agent.encode("latin-1"),
        pycurl.ACCEPT_ENCODING: NAMES,
        pycurl.HTTP_CONTENT_DECODING: 0,
        pycurl.PATH_AS_IS: 1,
        pycurl.CONNECTTIMEOUT_MS: max(1, int(config.connect_timeout_s * 1000)),
        pycurl.TIMEOUT_MS: max(1, int(config.timeout_s * 1000)),
        pycurl.MAXAGE_CONN: IDLE_S,
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
    }
    for option, value in options.items():
        curl.setopt(option, value)
    trust_certificates(curl)
    return curl


def _make_head(status_line: bytes, fields: list[tuple[str, str]]) -> Head | None:
    protocol, _, rest = status_line.decode("latin-1").strip().partition(" ")
    code, _, reason = rest.strip().partition(" ")
    if not (protocol.startswith("HTTP/") and len(code) == 3 and code.isascii() and code.isdigit()):
        return None
    return Head(protocol[5:], int(code), reason.strip(), tuple(fields))


def _inode(descriptor: int) -> int:
    """The inode of a descriptor's socket; 0 if it is closed."""
    try:
        return os.fstat(descriptor).st_ino
    except OSError:
        return 0
