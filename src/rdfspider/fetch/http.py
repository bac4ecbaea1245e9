"""A URL and a vetted address enter, a Capture or a Failure leaves: HTTP by libcurl, with all exchanges of a shard in one
loop.

No server behaviour raises an exception or takes unbounded time or memory. Redirects are not followed, cookies are not kept,
proxy settings of the environment are ignored. A body that is cut short, or whose encoding is incomplete, is a Capture with
`truncated` set.
"""

import asyncio
import os
import re
import time
from contextlib import suppress

import pycurl

from rdfspider.codes import FailureCode
from rdfspider.config import FetchConfig
from rdfspider.fetch.bodies import NAMES, Flight
from rdfspider.fetch.curl import Handle, Head, OpenSockets, find_watch_interval_s, read_head, trust_certificates
from rdfspider.fetch.targets import BAD_PORTS
from rdfspider.fetch.transport import Request
from rdfspider.records import Capture, Failure, Page

LATE_S = 1.0
"""If the watch timer is later than this, it judges no exchange: the delay may be our own."""

_MAX_MESSAGE_CHARS = 200
_AUTHORITY = re.compile(r"https?://(?:[^/?#]*@)?((?:\[[^\]/?#]*\]|[^/?#:]+)(?::([0-9]{0,5}))?)(?:[/?#]|$)")


class HttpTransport:
    """All HTTP connections of a shard. It belongs to the event loop in which it is first used."""

    def __init__(self, config: FetchConfig, user_agent: str, flight: Flight) -> None:
        """`flight` bounds the memory of all bodies in flight."""
        self._config = config
        self._user_agent = _field_value(user_agent)
        self.flight = flight
        self.sockets = OpenSockets()
        self._multi = pycurl.AsyncCurlMulti()
        # Every active host can keep its connection between two polite requests.
        self._multi.setopt(pycurl.M_MAXCONNECTS, 4 * config.connections)
        self._handles: list[Handle] = []
        self._idle: list[Handle] = []
        self._flying: set[Handle] = set()
        self._watch_timer: asyncio.TimerHandle | None = None
        self._watch_due = 0.0
        self._probe: Handle | None = None
        self._last_start = 0.0

    async def get(self, request: Request) -> Capture | Failure:
        """Send the request; see `Transport`."""
        started = time.time()
        url, address = request.url, request.address
        authority = _AUTHORITY.match(url) if url.isascii() and url.isprintable() else None
        if authority is None or (authority[2] and int(authority[2]) in BAD_PORTS):
            return Failure(url, FailureCode.UNSUPPORTED, "no URL for a crawler", started=started, address=address)
        headers = tuple((name, _field_value(value)) for name, value in request.headers.items())
        handle = self._idle.pop() if self._idle else self._make_handle()
        try:
            handle.prepare(request, headers)
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
                    ("User-Agent", self._user_agent),
                    *headers,
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

    async def _perform(self, handle: Handle) -> tuple[int, str]:
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

    def _remove(self, handle: Handle) -> None:
        """Remove a handle from libcurl, which cancels its future."""
        with suppress(RuntimeError, pycurl.error):  # It may be removed already, or the transport is closing.
            self._multi.remove_handle(handle.curl)

    def _plan_watch(self) -> None:
        interval_s = find_watch_interval_s(self._config)
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
            self._probe.prepare(Request("http://0.0.0.0/", "0.0.0.0"), ())
            self._probe.address = ""
        self._last_start = now
        with suppress(RuntimeError, pycurl.error):  # The previous one may still be running.
            future = self._multi.add_handle(self._probe.curl)
            future.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _make_handle(self) -> Handle:
        handle = Handle(self._config, self._user_agent, self.flight, self.sockets)
        self._handles.append(handle)
        return handle


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
        trust_certificates(self._curl)

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


def _field_value(text: str) -> str:
    """Text that is safe as a header value: one line of ISO 8859-1."""
    if text.isascii() and text.isprintable():
        return text
    return (
        "".join(c if " " <= c != "\x7f" else " " for c in text).strip().encode("latin-1", "replace").decode("latin-1")
    )
