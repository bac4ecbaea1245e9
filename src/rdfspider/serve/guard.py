"""What every request passes before a page sees it, and every response after: names, rates, lengths, and the headers that keep
what was crawled from doing anything in a browser."""

import secrets
from collections.abc import Set as AbstractSet
from math import ceil

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rdfspider.serve.access import IMAGES_COOKIE
from rdfspider.serve.limits import MAX_BODY_BYTES, MAX_HEAVY_UNDER_WAY, MAX_UNDER_WAY, Rate
from rdfspider.serve.negotiation import split_suffix
from rdfspider.serve.site import Site

NONCE = "rdfspider_nonce"
"""The key of a request's scope that has its nonce."""
_STATIC = "/static/"


class Guard:
    """An ASGI middleware."""

    def __init__(self, app: ASGIApp, site: Site, heavy: AbstractSet[str]) -> None:
        self._app = app
        self._access = site.access
        self._heavy = heavy
        self._rate = Rate(per_s=100, burst=400)
        # Programs ask many small queries, one after the other; what keeps the server for all is how many are under way.
        self._heavy_rate = Rate(per_s=50, burst=300)
        self._under_way = 0
        self._heavy_under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        request = Request(scope)
        is_heavy = split_suffix(scope["path"])[0] in self._heavy
        scope[NONCE] = secrets.token_urlsafe(12)
        send = _add_headers(send, scope, request.cookies.get(IMAGES_COOKIE) == "on")
        refusal = self._refuse(request, is_heavy)
        if refusal:
            await refusal(scope, receive, send)
            return
        self._under_way += 1
        self._heavy_under_way += is_heavy
        try:
            await self._app(scope, _bound(receive), send)
        except _TooLongError:
            await _say(413, f"at most {MAX_BODY_BYTES:,} bytes are read")(scope, receive, send)
        finally:
            self._under_way -= 1
            self._heavy_under_way -= is_heavy

    def _refuse(self, request: Request, is_heavy: bool) -> PlainTextResponse | None:
        """The answer to what no page may see; None to what may be."""
        if not self._access.is_own_name(request.headers.get("host", "")):
            return _say(421, "this server is not called by that name: use its address, or the name given by --host")
        if request.headers.get("content-length", "0").strip().isdigit() and (
            int(request.headers.get("content-length", "0").strip()[:18]) > MAX_BODY_BYTES
        ):
            return _say(413, f"at most {MAX_BODY_BYTES:,} bytes are read")
        if request.url.path.startswith(_STATIC):
            return None
        if self._under_way >= MAX_UNDER_WAY or (is_heavy and self._heavy_under_way >= MAX_HEAVY_UNDER_WAY):
            return _say(503, "too many questions are being answered: try again in a moment", 1)
        client = request.client.host if request.client else ""
        wait_s = self._rate.take(client) or (self._heavy_rate.take(client) if is_heavy else 0.0)
        return _say(429, "that is too fast: wait a moment", ceil(wait_s)) if wait_s else None


class _TooLongError(Exception):
    """A body goes on where it should have ended."""


def _bound(receive: Receive) -> Receive:
    read = 0

    async def receive_some() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > MAX_BODY_BYTES:
            raise _TooLongError
        return message

    return receive_some


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
            # A page may have a stricter one of its own.
            headers.setdefault("Content-Security-Policy", policy)
            headers.setdefault("X-Content-Type-Options", "nosniff")
            # With "no-referrer" browsers would not say that our own forms are ours: their Origin would be null.
            headers.setdefault("Referrer-Policy", "same-origin")
            headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
            headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
            headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
            # Addresses of static files change with what they hold.
            is_kept = is_static and scope["query_string"] and message["status"] == 200
            headers.setdefault("Cache-Control", "public, max-age=31536000, immutable" if is_kept else "no-cache")
            if not is_static:
                headers.add_vary_header("Accept, Cookie")
        await send(message)

    return send_more


def _say(status: int, message: str, retry_s: int = 0) -> PlainTextResponse:
    return PlainTextResponse(f"{message}\n", status, headers={"Retry-After": str(retry_s)} if retry_s else None)
