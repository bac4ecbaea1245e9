"""Who may do more than read: a token that was printed at the start, the cookie that stands for it, and what forms must carry.

A browser shows the token once, at `/login`, and has a cookie from then on that other sites cannot use (SameSite=Strict). Forms
carry a second secret, made from that cookie. Programs send `Authorization: Bearer TOKEN`, which no browser does by itself.
"""

import hashlib
import hmac
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import Request

COOKIE, IMAGES_COOKIE = "rdfspider_session", "rdfspider_images"
_LOOPBACK_NAMES = frozenset(("localhost", "localhost.localdomain"))


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of one server."""

    token: str
    is_control_allowed: bool = True
    """Whether the token opens anything: on addresses that others reach only with --public."""
    hosts: frozenset[str] = frozenset()
    """Names by which it may be called, besides those of this machine; with "*" by any."""

    @property
    def cookie(self) -> str:
        """What a browser has that has shown the token."""
        return _derive(self.token, "cookie")

    @property
    def csrf(self) -> str:
        """What forms of such a browser carry."""
        return _derive(self.token, "form")

    def is_token(self, text: str) -> bool:
        """Whether a text is the token."""
        return self.is_control_allowed and _is_same(text, self.token)

    def is_trusted(self, request: Request) -> bool:
        """Whether whoever asks has shown the token."""
        return self.is_control_allowed and (
            self.has_bearer(request) or _is_same(request.cookies.get(COOKIE, ""), self.cookie)
        )

    def has_bearer(self, request: Request) -> bool:
        """Whether a program has sent the token with this request."""
        kind, _, text = request.headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.is_token(text.strip())

    def is_own_form(self, request: Request, csrf: str) -> bool:
        """Whether a form comes from a page of this site, or a request from a program with the token."""
        return self.has_bearer(request) or (_is_same(csrf, self.csrf) and not self.is_foreign(request))

    def is_foreign(self, request: Request) -> bool:
        """Whether a browser says that a page of another site sends this."""
        origin = request.headers.get("origin")
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return True
        return origin is not None and urlsplit(origin).netloc != request.headers.get("host")

    def is_own_name(self, host: str) -> bool:
        """Whether the server may be called by a header Host: a page of the web that has its own name lead here is not ours."""
        name = _read_name(host)
        return "*" in self.hosts or name in self.hosts or name in _LOOPBACK_NAMES or is_loopback(name)


def make_access(host: str, is_public: bool, names: Collection[str] = (), token: str = "") -> Access:
    """The rules for a server at an address."""
    is_open = not is_loopback(host) and host not in _LOOPBACK_NAMES
    known = {"*"} if is_open else {host, *names}
    return Access(token or secrets.token_urlsafe(18), is_public or not is_open, frozenset(known))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host in _LOOPBACK_NAMES


def _read_name(host: str) -> str:
    """The name in a header Host, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _derive(token: str, purpose: str) -> str:
    return hmac.new(token.encode(), purpose.encode(), hashlib.sha256).hexdigest()


def _is_same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())
