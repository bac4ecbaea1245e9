"""The middleware in front of all pages: it checks the Host, rate, length and deadline of requests, and adds security headers
to responses, so that crawled text can do nothing in a browser."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import nullcontext
from math import ceil

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rdfspider.serve import limits
from rdfspider.serve.access import IMAGES_COOKIE, find_client
from rdfspider.serve.limits import ConcurrencyLimit, LimitReachedError, RateLimit
from rdfspider.serve.negotiation import make_refusal, split_suffix
from rdfspider.serve.site import DisconnectedError, Site

_log = logging.getLogger(__name__)

NONCE = "rdfspider_nonce"
"""The key of the request's nonce in its scope."""
_OPEN_HEADERS = "rdfspider_open_headers"
_STATIC = "/static/"
_LOGIN = "/login"
_PASTE = ("POST", "/inspect")

Show = Callable[[Request, int, str], Response]
"""Makes a response from a status and an error message, in the requested format."""


class Guard:
    """An ASGI middleware."""

    def __init__(
        self,
        app: ASGIApp,
        site: Site,
        heavy: AbstractSet[tuple[str, str]],
        most_bytes: Mapping[tuple[str, str], int],
        show: Show,
        list_open_headers: Callable[[Request], Mapping[str, str]],
    ) -> None:
        """`heavy` lists methods and paths without suffixes; `most_bytes` lists those that accept longer bodies than others.
        `list_open_headers` returns the headers of responses that pages of other sites may read."""
        self._app = app
        self._access = site.access
        self._heavy = heavy
        self._most_bytes = most_bytes
        self._show = show
        self._list_open_headers = list_open_headers
        self._rate = RateLimit(*limits.RATE)
        self._heavy_rate = RateLimit(*limits.HEAVY_RATE)
        self._login_rate = RateLimit(*limits.LOGIN_RATE)
        self._static_rate = RateLimit(*limits.STATIC_RATE)
        self._reading = ConcurrencyLimit(limits.MAX_READING, limits.MAX_CLIENT_READING)
        self._under_way = ConcurrencyLimit(limits.MAX_UNDER_WAY, limits.MAX_CLIENT_UNDER_WAY)
        self._heavy_under_way = ConcurrencyLimit(limits.MAX_HEAVY_UNDER_WAY, limits.MAX_CLIENT_HEAVY_UNDER_WAY)
        self._pasted = ConcurrencyLimit(limits.MAX_HEAVY_UNDER_WAY, limits.MAX_CLIENT_PASTES)
        self._sending = ConcurrencyLimit(limits.MAX_SENDING_BYTES, limits.MAX_CLIENT_SENDING_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        request = Request(scope)
        scope[NONCE] = secrets.token_urlsafe(12)
        scope[_OPEN_HEADERS] = self._list_open_headers(request)
        client = find_client(request)
        complaint = _find_excess(request)
        shows_images = not complaint and request.cookies.get(IMAGES_COOKIE) == "on"
        outlet = _Outlet(_add_headers(send, scope, shows_images), self._sending, client)
        try:
            if complaint:
                answer: Response | None = _say(request, 400, complaint)
            else:
                answer = self._refuse(request, client) or await self._pass(request, client, receive, outlet)
        except DisconnectedError:
            return
        except LimitReachedError:
            answer = _say(request, 503, "too many questions are being answered: try again in a moment", 1)
        except Exception:
            if outlet.is_started:
                raise
            _log.exception("%s could not be answered", scope["path"])
            # The error page itself may be what fails.
            answer = _say(request, 500, "this could not be shown; what went wrong is in the server's log")
        if answer:
            await answer(scope, receive, outlet.send)

    async def _pass(self, request: Request, client: str, receive: Receive, outlet: "_Outlet") -> Response | None:
        """Have a request answered; a returned response is sent instead."""
        if request.scope["path"].startswith(_STATIC):
            await self._app(request.scope, receive, outlet.send)
            return None
        kind = _find_kind(request)
        if request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers:
            # A client that sends its body slowly must not occupy a place that others could use.
            most_bytes = self._most_bytes.get(kind, limits.MAX_BODY_BYTES)
            try:
                with self._reading.hold(client):
                    receive = await _read_body(request, receive, most_bytes)
            except _TooLongError:
                return self._show(request, 413, f"this is longer than the {most_bytes:,} bytes that are read here")
            except TimeoutError:
                answer = self._show(request, 408, "what was asked has taken too long to arrive")
                answer.headers["Connection"] = "close"
                return answer
        with (
            self._under_way.hold(client),
            self._heavy_under_way.hold(client) if kind in self._heavy else nullcontext(),
            self._pasted.hold(client) if kind == _PASTE else nullcontext(),
        ):
            await self._app(request.scope, receive, outlet.send)
        return None

    def _refuse(self, request: Request, client: str) -> Response | None:
        """The response that refuses a request before it reaches a page; None if it may pass."""
        if not self._access.is_own_name(request.headers.get("host", "")):
            return _say(
                request, 421, "this server is not called by that name: use its address, or start it with --name NAME"
            )
        wait_s = self._find_wait(request, client)
        return _say(request, 429, "that is too fast: wait a moment", ceil(wait_s)) if wait_s else None

    def _find_wait(self, request: Request, client: str) -> float:
        """The seconds until the request is allowed; 0 if it is allowed now."""
        if request.scope["path"].startswith(_STATIC):
            return self._static_rate.take(client)
        kind = _find_kind(request)
        wait_s = self._rate.take(client)
        if not wait_s and kind in self._heavy:
            wait_s = self._heavy_rate.take(client)
        if not wait_s and kind == ("POST", _LOGIN):
            wait_s = self._login_rate.take(client)
        elif not wait_s and self._access.sends_bearer(request):
            # A client that has sent too many wrong tokens does not learn which one is right.
            wait_s = self._login_rate.take(client, cost=0 if self._access.has_bearer(request) else 1)
        return wait_s


class _TooLongError(Exception):
    """A body is longer than allowed."""


class _Outlet:
    """Sends long responses in pieces, each after the previous one was read, so that no unread data accumulates uncounted in
    the server's memory."""

    def __init__(self, send: Send, sending: ConcurrencyLimit, client: str) -> None:
        self._send = send
        self._sending = sending
        self._client = client
        self._start: Message | None = None
        """Held back until the body begins, because the limit on long responses may be reached."""
        self.is_started = False

    async def send(self, message: Message) -> None:
        """Send a part of a response; raises LimitReachedError if it is long and too many long ones are being sent."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        body = message.get("body", b"")
        if len(body) <= limits.PIECE_BYTES:
            await self._pass_on(message)
            return
        with self._sending.hold(self._client, len(body)):
            try:
                async with asyncio.timeout(limits.WRITE_S + len(body) / limits.LEAST_BYTES_PER_S):
                    await self._send_pieces(memoryview(body), message.get("more_body", False))
            except TimeoutError:
                _log.info("an answer of %d bytes was not read in time", len(body))

    async def _send_pieces(self, body: memoryview, goes_on: bool) -> None:
        for at in range(0, len(body), limits.PIECE_BYTES):
            end = at + limits.PIECE_BYTES
            more_body = goes_on or end < len(body)
            await self._pass_on({"type": "http.response.body", "body": body[at:end], "more_body": more_body})

    async def _pass_on(self, message: Message) -> None:
        if self._start is not None:
            start, self._start = self._start, None
            self.is_started = True
            await self._send(start)
        await self._send(message)


async def _read_body(request: Request, receive: Receive, most_bytes: int) -> Receive:
    """Read the whole body, and return a `receive` that replays it; raises TimeoutError if it arrives too slowly."""
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length[:18]) > most_bytes:
        raise _TooLongError
    body = bytearray()
    async with asyncio.timeout(limits.BODY_S) as limit:
        end = limit.when() or 0.0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise DisconnectedError
            body += message.get("body", b"")
            if len(body) > most_bytes:
                raise _TooLongError
            if not message.get("more_body", False):
                break
            limit.reschedule(end + len(body) / limits.LEAST_BYTES_PER_S)
    first: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def receive_more() -> Message:
        return first.pop() if first else await receive()

    return receive_more


def _find_excess(request: Request) -> str:
    """Describe what a request has too much of; empty if it is acceptable."""
    if request.scope["query_string"].count(b"&") > limits.MAX_FIELDS:
        return f"there are more than the {limits.MAX_FIELDS:,} parameters that are read"
    cookies, types = (";".join(request.headers.getlist(name)) for name in ("cookie", "accept"))
    if cookies.count(";") > limits.MAX_COOKIES or len(cookies) > limits.MAX_COOKIE_BYTES:
        return "there are more cookies than are read: remove those of this address from the browser"
    if types.count(",") > limits.MAX_TYPES:
        return "the header Accept names more types than are read"
    return ""


def _find_kind(request: Request) -> tuple[str, str]:
    method = request.scope["method"]
    return "GET" if method == "HEAD" else method, split_suffix(request.scope["path"])[0]


def _add_headers(send: Send, scope: Scope, shows_images: bool) -> Send:
    images = "http: https:" if shows_images else ""
    policy = (
        "default-src 'none'; script-src 'self'; "
        f"style-src 'self' 'nonce-{scope[NONCE]}'; img-src 'self' data: {images}".rstrip()
        + "; connect-src 'self'; font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    is_static = scope["path"].startswith(_STATIC)

    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(scope[_OPEN_HEADERS])
            # A page may set a stricter policy.
            headers.setdefault("Content-Security-Policy", policy)
            headers.setdefault("X-Content-Type-Options", "nosniff")
            # With "no-referrer", browsers would send our own forms with a null Origin.
            headers.setdefault("Referrer-Policy", "same-origin")
            headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
            headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
            headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
            # The URL of a static file changes with its content.
            is_kept = is_static and scope["query_string"] and message["status"] == 200
            headers.setdefault("Cache-Control", "public, max-age=31536000, immutable" if is_kept else "no-cache")
            if not is_static:
                headers.add_vary_header("Accept, Cookie")
        await send(message)

    return send_more


def _say(request: Request, status: int, message: str, retry_s: int = 0) -> Response:
    answer = make_refusal(request, status, message)
    if retry_s:
        answer.headers["Retry-After"] = str(retry_s)
    return answer
