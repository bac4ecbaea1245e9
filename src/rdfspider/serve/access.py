"""Authorization: the token that is printed at the start, the session cookie that replaces it, and the CSRF token of forms.

A browser sends the token once, to `/login`, and gets a session cookie that other sites cannot use (SameSite=Strict), valid
until `/logout`. Forms carry a CSRF token derived from that cookie. Programs send `Authorization: Bearer TOKEN`, which no
browser does by itself.
"""

import hashlib
import hmac
import re
import secrets
import socket
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from starlette.requests import Request

from rdfspider.errors import UsageError

IMAGES_COOKIE = "rdfspider_images"
_MAX_SESSIONS = 100
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?", re.ASCII)
_LOOPBACK_NAMES = frozenset(("localhost", "localhost.localdomain"))


@dataclass(frozen=True, slots=True)
class Access:
    """The access rules of one server."""

    token: str
    is_control_allowed: bool = True
    """Whether the token is accepted: on addresses that other machines can reach, only with --public."""
    hosts: frozenset[str] = frozenset()
    """Allowed names in the Host header, in addition to those of loopback."""
    is_open: bool = False
    """Whether other machines can reach it: then any IP address is a valid Host, because nobody can redirect one to here."""
    port: int = 0
    _sessions: dict[str, None] = field(default_factory=dict)
    """The open sessions, the newest last."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def cookie(self) -> str:
        """The name of the session cookie, which differs by port: browsers send a machine's cookies to all of its ports."""
        return f"rdfspider_session_{self.port}"

    def open_session(self) -> str:
        """Open a session for a browser that has sent the token; the oldest session ends if there are too many."""
        session = secrets.token_urlsafe(24)
        with self._lock:
            self._sessions[session] = None
            if len(self._sessions) > _MAX_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
        return session

    def close_session(self, session: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(session, None)

    def find_session(self, request: Request) -> str:
        """The session of the browser that sent the request; empty if it has none."""
        session = request.cookies.get(self.cookie, "")
        return session if self.is_control_allowed and session in self._sessions else ""

    def find_csrf(self, session: str) -> str:
        """The CSRF token for the forms of a session."""
        return hmac.new(self.token.encode(), session.encode(), hashlib.sha256).hexdigest() if session else ""

    def is_token(self, text: str) -> bool:
        """Whether a text is the token."""
        return self.is_control_allowed and _is_same(text, self.token)

    def is_trusted(self, request: Request) -> bool:
        """Whether the client has authenticated, by the token or by a session."""
        return self.has_bearer(request) or bool(self.find_session(request))

    def has_bearer(self, request: Request) -> bool:
        """Whether the request carries the token as a bearer token."""
        return self.sends_bearer(request) and self.is_token(request.headers["authorization"][7:].strip())

    def sends_bearer(self, request: Request) -> bool:
        """Whether the request carries any bearer token, where tokens are accepted. Basic credentials are ignored: they are
        for a reverse proxy."""
        return self.is_control_allowed and request.headers.get("authorization", "")[:7].lower() == "bearer "

    def is_own_form(self, request: Request, csrf: str) -> bool:
        """Whether a form comes from a page of this site, or the request from a program with the token."""
        session = self.find_session(request)
        is_own = bool(session) and _is_same(csrf, self.find_csrf(session)) and not self.is_foreign(request)
        return self.has_bearer(request) or is_own

    def is_foreign(self, request: Request) -> bool:
        """Whether the browser reports that a page of another site sent the request."""
        origin = request.headers.get("origin")
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return True
        return origin is not None and origin.partition("://")[2] != request.headers.get("host")

    def is_unseen(self, request: Request) -> bool:
        """Whether the browser reports a request by a page of another site that is not a top-level navigation."""
        if request.headers.get("sec-fetch-site", "none") in ("same-origin", "none"):
            return False
        return (request.headers.get("sec-fetch-mode"), request.headers.get("sec-fetch-dest")) != (
            "navigate",
            "document",
        )

    def is_own_name(self, host: str) -> bool:
        """Whether a Host header is allowed; this prevents DNS rebinding, where a web page makes its own name resolve to here."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found[1].strip("[]").lower()
        return name in self.hosts or is_loopback(name) or (self.is_open and _is_address(name))


def make_access(host: str, is_public: bool, token: str = "", port: int = 0, names: Iterable[str] = ()) -> Access:
    """The rules for a server at an address; `names` are further host names, such as that of a TLS proxy in front of it."""
    is_open = not is_loopback(host)
    hosts = {host.lower(), *(_read_name(name) for name in names)}
    if is_open:
        # Other machines in the network know it by these names. There is no DNS lookup, which may be slow.
        own = socket.gethostname().lower()
        hosts |= {own, f"{own.partition('.')[0]}.local"}
    return Access(token or secrets.token_urlsafe(18), is_public or not is_open, frozenset(hosts), is_open, port)


def find_client(request: Request) -> str:
    """The address of the client."""
    return request.client.host if request.client else ""


def is_secure(request: Request) -> bool:
    """Whether the client uses TLS, directly or through a reverse proxy."""
    return "https" in (request.scope["scheme"], request.headers.get("x-forwarded-proto"))


def is_loopback(host: str) -> bool:
    """Whether an address is reachable from this machine only."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host in _LOOPBACK_NAMES


def hide_place(text: str, folder: Path) -> str:
    """Remove the path of a folder from a text: clients need not know where it is on this machine."""
    return text.replace(f"{folder.parent}/", "") if folder.is_absolute() else text


def _read_name(name: str) -> str:
    found = _HOST.fullmatch(name)
    if found is None or found[1] != name:
        raise UsageError(f"--name {name}: that is no name of a server, such as crawl.example.org")
    return name.lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())
