"""A URL and a vetted address enter, a Capture or a Failure leaves: HTTP by libcurl, with all exchanges of a shard in one
loop.

No server behaviour raises an exception or takes unbounded time or memory. Redirects are not followed, cookies are not kept,
proxy settings of the environment are ignored. A body that is cut short, or whose encoding is incomplete, is a Capture with
`truncated` set.
"""

import asyncio
import errno
import os
import re
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pycurl

from rdfspider.codes import FailureCode, Truncation
from rdfspider.config import FetchConfig
from rdfspider.fetch.bodies import NAMES, Body, Flight
from rdfspider.fetch.curl import (
    CODES,
    COULD_NOT_CONNECT,
    CUT_SHORT,
    NOT_RECEIVED,
    TIMED_OUT,
    Head,
    OpenSockets,
    Socket,
    read_head,
)
from rdfspider.fetch.targets import BAD_PORTS, is_refused, is_same_address
from rdfspider.records import Capture, Failure, Page

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
LATE_S = 1.0
"""If the watch timer is later than this, it judges no exchange: the delay may be our own."""

_OWN_WORDS = {
    FailureCode.PRIVATE: "the address is private",
    FailureCode.RESET: "the server closed the connection without an answer",
    FailureCode.BUSY: "there was no room for the body, or no descriptor for the connection",
}
"""Messages for exchanges that we ended ourselves; libcurl only reports that a callback aborted them."""
_MAX_MESSAGE_CHARS = 200
_CA_FILES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")
_AUTHORITY = re.compile(r"https?://(?:[^/?#]*@)?((?:\[[^\]/?#]*\]|[^/?#:]+)(?::([0-9]{0,5}))?)(?:[/?#]|$)")


class HttpTransport:
    """All HTTP connections of a shard. It belongs to the event loop in which it is first used."""

    def __init__(self, config: FetchConfig, user_agent: str, flight: Flight) -> None:
        """`flight` bounds the memory of all bodies in flight."""
        self.config = config
        self.user_agent = _field_value(user_agent)
        self.flight = flight
        self.sockets = OpenSockets()
        self._multi = pycurl.AsyncCurlMulti()
        # Every active host can keep its connection between two polite requests.
        self._multi.setopt(pycurl.M_MAXCONNECTS, 4 * config.connections)
        self._handles: list[_Handle] = []
        self._idle: list[_Handle] = []
        self._flying: set[_Handle] = set()
        self._watch_timer: asyncio.TimerHandle | None = None
        self._watch_due = 0.0
        self._probe: _Handle | None = None
        self._last_start = 0.0

    async def get(
        self,
        url: str,
        address: str,
        port: int | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        max_body_bytes: int | None = None,
        keeps: Callable[[str], bool] | None = None,
        is_vetted: bool = False,
    ) -> Capture | Failure:
        """Request the URL from the address, and from `port` instead of the URL's own if given.

        `keeps` judges the Content-Type; the body of a refused type is not read. `is_vetted` allows a private address that a
        person has configured. Credentials in a URL go to its own host, as in a browser, and are not recorded.
        """
        started = time.time()
        authority = _AUTHORITY.match(url) if url.isascii() and url.isprintable() else None
        if authority is None or (authority[2] and int(authority[2]) in BAD_PORTS):
            return Failure(url, FailureCode.UNSUPPORTED, "no URL for a crawler", started=started, address=address)
        handle = self._idle.pop() if self._idle else self._make_handle()
        extra = tuple((name, _field_value(value)) for name, value in (headers or {"Accept": "*/*"}).items())
        try:
            handle.prepare(url, address, port, extra, is_vetted)
            handle.body.limit_bytes = self.config.max_body_bytes if max_body_bytes is None else max_body_bytes
            handle.keeps = keeps
            error, message = await self._perform(handle)
            outcome = handle.judge(error, message, started)
            if isinstance(outcome, Failure):
                return outcome
            head, body, truncated, duration_s, wire_bytes = outcome
            return Capture(
                page=Page(url, body, head.first("content-type") or None),
                status=head.status,
                reason=head.reason,
                http_version=head.http_version,
                headers=head.headers,
                request_headers=(
                    ("Host", authority[1]),
                    ("User-Agent", self.user_agent),
                    *extra,
                    ("Accept-Encoding", NAMES),
                ),
                address=address,
                started=started,
                duration_s=duration_s,
                wire_bytes=wire_bytes,
                truncated=truncated or "",
            )
        finally:
            handle.clear()
            self._idle.append(handle)

    async def close(self) -> None:
        """End all exchanges and connections."""
        if self._watch_timer is not None:
            self._watch_timer.cancel()
        await self._multi.aclose()
        # Only after the connections: libcurl calls back into the handle that opened one.
        for handle in self._handles:
            handle.curl.close()
        self._handles.clear()
        self._idle.clear()
        self.sockets.clear()

    @property
    def open_connections(self) -> int:
        """The number of open sockets, including idle ones."""
        return self.sockets.count()

    async def _perform(self, handle: "_Handle") -> tuple[int, str]:
        """Run the exchange and return libcurl's error number (0 for none) and message."""
        self._last_start = handle.started
        self._flying.add(handle)
        if self._watch_timer is None:
            self._plan_watch()
        try:
            await self._multi.add_handle(handle.curl)
            return 0, ""
        except pycurl.error as error:
            code, message = (*error.args, 0, "")[:2]
            return int(code) or -1, str(message)
        except asyncio.CancelledError:
            self._remove(handle)
            task = asyncio.current_task()
            if not handle.end or (task is not None and task.cancelling()):
                raise
            return -1, ""
        finally:
            self._flying.discard(handle)

    def _remove(self, handle: "_Handle") -> None:
        """Remove a handle from libcurl, which cancels its future."""
        with suppress(RuntimeError, pycurl.error):  # It may be removed already, or the transport is closing.
            self._multi.remove_handle(handle.curl)

    def _plan_watch(self) -> None:
        interval_s = min(1.0, self.config.first_byte_timeout_s / 4, SLOW_WINDOW_S / 4)
        self._watch_due = time.monotonic() + interval_s
        self._watch_timer = asyncio.get_running_loop().call_later(interval_s, self._watch)

    def _watch(self) -> None:
        """End silent, slow and unwanted exchanges (libcurl's speed limit misses a silent server); close idle connections."""
        now = time.monotonic()
        is_late = now - self._watch_due > LATE_S
        for handle in list(self._flying):
            if is_late:
                handle.begin_window(now)
            elif code := handle.find_delay(now) or handle.find_unwanted():
                handle.end = handle.end or code
                self._remove(handle)
        self._watch_timer = None
        if self._flying or self.open_connections:
            self._plan_watch()
            if now - self._last_start >= 1.0:
                self._close_old_connections(now)

    def _close_old_connections(self, now: float) -> None:
        """Have libcurl close old connections, which it only does when a transfer starts, at most once a second. This transfer
        sends nothing: its socket is refused before it opens."""
        if self._probe is None:
            self._probe = self._make_handle()
            self._probe.prepare("http://0.0.0.0/", "0.0.0.0", None, (), is_vetted=False)
            self._probe.address = ""
        self._last_start = now
        with suppress(RuntimeError, pycurl.error):  # The previous one may still be running.
            future = self._multi.add_handle(self._probe.curl)
            future.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _make_handle(self) -> "_Handle":
        handle = _Handle(self)
        self._handles.append(handle)
        return handle


class _Handle:
    """One reusable libcurl handle, and the state of its current exchange."""

    def __init__(self, transport: HttpTransport) -> None:
        self.transport = transport
        self.lines: list[bytes] = []
        self.keeps: Callable[[str], bool] | None = None
        self.address = ""
        self.is_vetted = False
        self.url = ""
        self.body = Body(transport.flight)
        self.clear()
        self.curl = _make_curl(transport.config, transport.user_agent)
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
        self.body = Body(self.transport.flight)
        self.dropped_bytes = 0
        self.head: Head | None = None
        self.judged_lines = 0
        self.has_asked = False
        self.end: FailureCode | Truncation | None = None
        """Why we ended the exchange ourselves; None if we did not."""

    def prepare(
        self, url: str, address: str, port: int | None, headers: tuple[tuple[str, str], ...], is_vetted: bool
    ) -> None:
        """Set the options that are specific to this exchange."""
        self.url, self.address, self.is_vetted = url, address, is_vetted
        self.started = self.silent_since = self.window_start = time.monotonic()
        self.window_bytes = 0
        literal = f"[{address}]" if ":" in address else address
        self.curl.setopt(pycurl.URL, url.encode())
        self.curl.setopt(pycurl.CONNECT_TO, [f"::{literal}:{'' if port is None else port}"])
        self.curl.setopt(pycurl.HTTPHEADER, [f"{name}: {value}".encode("latin-1") for name, value in headers])

    def find_delay(self, now: float) -> FailureCode | None:
        """Return which timeout has passed: no response to the request, or a slow body; None if neither."""
        if not self.curl.getinfo(pycurl.REQUEST_SIZE):
            self.window_start = now
            return None
        if not self.lines:
            self.window_start = now
            asked = max(self.started + self.curl.getinfo(pycurl.PRETRANSFER_TIME), self.silent_since)
            return FailureCode.FIRST_BYTE_TIMEOUT if now - asked > self.transport.config.first_byte_timeout_s else None
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
        message = self.body.message or _OWN_WORDS.get(code, message) if self.end else message
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
        is_allowed = self.is_vetted or self.transport.config.allow_private or not is_refused(address)
        if not is_allowed or not is_same_address(address, self.address):
            # libcurl reports this as a refused connection, so the reason is recorded here.
            self.end = FailureCode.PRIVATE
            return pycurl.SOCKET_BAD
        try:
            return Socket(family, kind, protocol)
        except OSError as error:
            # Without IPv6 there is no route; any other error means that this process has no free descriptor.
            self.end = FailureCode.UNREACHABLE if error.errno == errno.EAFNOSUPPORT else FailureCode.BUSY
            return pycurl.SOCKET_BAD

    def _allow_request(self, *addresses: object) -> int:
        """Allow one request only: when a kept connection breaks, libcurl would retry at once, ignoring the host's pace."""
        if self.has_asked:
            self.end = FailureCode.RESET
            return int(pycurl.PREREQFUNC_ABORT)
        self.has_asked = True
        return int(pycurl.PREREQFUNC_OK)

    def _note_socket(self, descriptor: int, purpose: int) -> int:
        self.transport.sockets.add(descriptor)
        return 0


class ExchangeError(Exception):
    """A blocking request without a response; the message says why."""


class HttpConnection:
    """A persistent connection to one server for blocking requests; one thread uses it at a time, any thread may interrupt it."""

    def __init__(self, connect_timeout_s: float, user: str | None = None, password: str = "") -> None:
        """With a user, the server may require Basic or Digest authentication."""
        self._is_interrupted = False
        self._curl = pycurl.Curl()
        options = {
            pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_1_1,
            pycurl.PROXY: "",
            pycurl.PATH_AS_IS: 1,
            pycurl.NOSIGNAL: 1,
            pycurl.CONNECTTIMEOUT_MS: int(1000 * connect_timeout_s),
            # Called whenever data arrives, and once a second; a true result ends the request.
            pycurl.NOPROGRESS: 0,
            pycurl.XFERINFOFUNCTION: lambda *_: self._is_interrupted,
        }
        if user is not None:
            # With two methods allowed, libcurl sends no credentials before the server asks, and prefers Digest.
            options[pycurl.HTTPAUTH] = pycurl.HTTPAUTH_BASIC | pycurl.HTTPAUTH_DIGEST
            options |= {pycurl.USERNAME: user.encode(), pycurl.PASSWORD: password.encode()}
        for option, value in options.items():
            self._curl.setopt(option, value)
        _trust_certificates(self._curl)

    def request(
        self, method: str, url: str, body: bytes, content_type: str, *, timeout_s: float, max_answer_bytes: int
    ) -> tuple[int, Head | None, bytes]:
        """Send a request and return the status, the head and the beginning of the body of its response. Raises ExchangeError
        if there is none. libcurl reconnects if the server has closed the connection."""
        if self._is_interrupted:
            raise ExchangeError("interrupted")
        curl, text = self._curl, bytearray()
        lines: list[bytes] = []

        def take_line(line: bytes) -> None:
            # An earlier head belongs to an interim response or to an authentication challenge.
            if line.startswith(b"HTTP/"):
                lines.clear()
            lines.append(line)

        def take_text(piece: bytes) -> int:
            text.extend(piece)
            # Returning fewer bytes than received ends the exchange.
            return len(piece) if len(text) < max_answer_bytes else 0

        curl.setopt(pycurl.URL, url)
        if method == "DELETE":
            curl.setopt(pycurl.HTTPGET, 1)
        else:
            curl.setopt(pycurl.POSTFIELDS, body)
        curl.setopt(pycurl.CUSTOMREQUEST, method)
        # Some servers never answer a client that waits for `100 Continue`.
        curl.setopt(pycurl.HTTPHEADER, [f"Content-Type: {content_type}", "Expect:"])
        curl.setopt(pycurl.TIMEOUT_MS, int(1000 * timeout_s))
        curl.setopt(pycurl.HEADERFUNCTION, take_line)
        curl.setopt(pycurl.WRITEFUNCTION, take_text)
        try:
            curl.perform()
        except pycurl.error as error:
            if len(text) < max_answer_bytes:
                raise ExchangeError(_explain_error(curl, *error.args)) from error
        return int(curl.getinfo(pycurl.RESPONSE_CODE)), read_head(lines), bytes(text[:max_answer_bytes])

    def interrupt(self) -> None:
        """End the current request within a second, and all later ones, with an ExchangeError."""
        self._is_interrupted = True

    def close(self) -> None:
        """Close the connection."""
        with suppress(pycurl.error):  # Another thread may still be in its interrupted request.
            self._curl.close()


def _explain_error(curl: pycurl.Curl, code: int, message: str) -> str:
    if code == pycurl.E_PEER_FAILED_VERIFICATION:
        return f"its certificate is not trusted ({message.rpartition(': ')[2].partition(' (')[0]})"
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return FailureCode.TIMEOUT
    number = curl.getinfo(pycurl.OS_ERRNO) if code == pycurl.E_COULDNT_CONNECT else 0
    words = os.strerror(number) if number else message
    return words[:1].lower() + words[1:_MAX_MESSAGE_CHARS]


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
    _trust_certificates(curl)
    return curl


def _trust_certificates(curl: pycurl.Curl) -> None:
    """Verify certificates with the authorities of the system or of `SSL_CERT_FILE`."""
    paths = ssl.get_default_verify_paths()
    # libcurl keeps a certificate file in memory, but reads a certificate folder again for each connection.
    file = paths.cafile or next((name for name in _CA_FILES if Path(name).is_file()), None)
    if file is not None:
        curl.setopt(pycurl.CAINFO, file)
    elif paths.capath is not None:
        curl.setopt(pycurl.CAPATH, paths.capath)


def _field_value(text: str) -> str:
    """Text that is safe as a header value: one line of ISO 8859-1."""
    if text.isascii() and text.isprintable():
        return text
    return (
        "".join(c if " " <= c != "\x7f" else " " for c in text).strip().encode("latin-1", "replace").decode("latin-1")
    )
