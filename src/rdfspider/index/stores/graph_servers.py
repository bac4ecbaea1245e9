"""Sends graphs of pages to a SPARQL 1.1 server: one request replaces one graph, by the Graph Store protocol or SPARQL Update.

The URL decides which: if its path ends like a graph store's, or it begins with `gsp+`, pages are PUT; otherwise they are sent
as updates. Nothing is found out by trying, because a PUT at the wrong address of some servers replaces everything they hold.
User and password come from the URL, the environment or `.netrc`, and never appear in anything that people read.
"""

import http.client
import netrc
import os
import re
import time
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from logging import getLogger
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from rdfspider.errors import UsageError
from rdfspider.fetch.http import ExchangeError, HttpConnection
from rdfspider.pace import parse_retry_after

_log = getLogger(__name__)

USER_VARIABLE, PASSWORD_VARIABLE = "RDFSPIDER_STORE_USER", "RDFSPIDER_STORE_PASSWORD"
PROBE_GRAPH = "urn:rdfspider:probe"
"""Written and removed again to learn whether the page or the server is at fault."""

_NOT_IN_HEADER = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_GRAPH_STORE_ENDINGS = (
    "/sparql-graph-crud", "/sparql-graph-crud-auth", "/rdf-graph-store", "/graph-store", "/rdf-graphs/service", "/gsp",
    "/data", "/store",
)  # fmt: skip
_CONNECT_TIMEOUT_S = 10.0
_ANSWER_TIMEOUT_S = 60.0
# Virtuoso took more than a minute to replace a page of 200,000 triples (10 MB).
_BYTES_PER_SECOND = 50_000
_MAX_ANSWER_BYTES = 65_536
_MAX_MESSAGE_CHARS = 200
# Virtuoso's parser fails at 5,000 triples in one INSERT DATA; one request may have many of them.
_TRIPLES_PER_INSERT = 1000
_BUSY = frozenset({408, 425, 429, 502, 503, 504})
_IRI = r"<[^<>\"{}|^`\\\x00-\x20]*+>"
_TEXT = r'"[^"\\\n\r]*+(?:\\(?:[tbnrf"\'\\]|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})[^"\\\n\r]*+)*+"'
_TRIPLE = re.compile(rf"{_IRI} {_IRI} (?:{_IRI}|{_TEXT}(?:\^\^{_IRI}|@[A-Za-z]++(?:-[A-Za-z0-9]++)*+)?+)")
_USERINFO = re.compile(r"(?<=//).*@")
_TAG_OR_SPACE = re.compile(r"<[^<>]{0,200}>|[\x00-\x20\x7f]+")
_CODE_POINT = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|.)")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r"}


@dataclass(frozen=True, slots=True)
class Credentials:
    """User and password for a server; the password stays out of every representation."""

    user: str
    password: str = field(repr=False)


def find_credentials(host: str, userinfo: str) -> Credentials | None:
    """The credentials of the URL, else of the environment, else of ~/.netrc; None if there are none."""
    if userinfo:
        user, _, password = userinfo.partition(":")
        return _check(Credentials(unquote(user), unquote(password)))
    if user := os.environ.get(USER_VARIABLE, ""):
        return _check(Credentials(user, os.environ.get(PASSWORD_VARIABLE, "")))
    try:
        found = netrc.netrc(Path.home() / ".netrc").authenticators(host)
    except (FileNotFoundError, RuntimeError):
        return None
    except (OSError, UnicodeDecodeError, netrc.NetrcParseError) as error:
        _log.warning("~/.netrc cannot be read: %s", type(error).__name__)
        return None
    return _check(Credentials(found[0], found[2])) if found else None


def _check(credentials: Credentials) -> Credentials:
    # No header can carry these, and the library's error would show the header.
    if _NOT_IN_HEADER.search(credentials.user + credentials.password):
        raise UsageError("--store: the user or password has control characters in it, which no request can carry")
    return credentials


def hide_secrets(text: str, credentials: Credentials) -> str:
    """A server's text, which may repeat what it was sent, without the password."""
    token = b64encode(f"{credentials.user}:{credentials.password}".encode()).decode()
    for secret in (credentials.password, token):
        text = text.replace(secret, "…") if secret else text
    return text


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """The parts of a store's URL."""

    name: str
    """The name that people see: without user, password and query, which may have a key."""
    scheme: str
    host: str
    port: int | None
    target: str
    """Path and query."""
    is_graph_store: bool
    userinfo: str = field(repr=False)

    @property
    def origin(self) -> str:
        """The beginning of a request's URL, with the host name in ASCII."""
        host = f"[{self.host}]" if ":" in self.host else self.host.encode("idna").decode()
        return f"{self.scheme}://{host}{f':{self.port}' if self.port is not None else ''}"

    @property
    def key(self) -> str:
        """Distinguishes one store from another."""
        return f"{self.scheme}://{self.host}:{self.port}{self.target}"


class StoreError(Exception):
    """A request that failed. It may be sent again: every request states the wanted result, not a change."""

    def __init__(self, message: str, *, status: int = 0, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.status = status
        """0 if there was no answer."""
        self.retry_after_s = retry_after_s

    @property
    def is_busy(self) -> bool:
        """Whether the server says that a later try may succeed."""
        return self.status in _BUSY


def check_store_url(url: str) -> None:
    """Raise UsageError if this is no store's URL, or has a user or password that no request can carry."""
    address = read_address(url)
    find_credentials(address.host, address.userinfo)


def read_address(url: str) -> StoreAddress:
    """The parts of a store's URL. Raise UsageError if it is none; no message repeats a password."""
    shown = _USERINFO.sub("", url.strip()).partition("?")[0]
    protocol, plus, plain = url.strip().partition("+")
    if not plus or protocol not in {"gsp", "update"}:
        protocol, plain = "", url.strip()
    try:
        parts = urlsplit(plain)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except (ValueError, UnicodeError):
        raise UsageError(f"--store {shown}: this is no valid URL; escape special characters of a password") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise UsageError(f"--store {shown}: the store must be given by an http:// or https:// URL")
    if parts.fragment:
        raise UsageError(f"--store {shown}: the URL of a store has no #; escape special characters of a password")
    path = quote(parts.path, safe="/%:=~+!$,;'@()*") or "/"
    is_graph_store = protocol == "gsp" or (not protocol and path.rstrip("/").endswith(_GRAPH_STORE_ENDINGS))
    if is_graph_store and path.rstrip("/").endswith("/statements"):
        raise UsageError(
            f"--store {shown}: a PUT there would replace the whole repository; leave out gsp+, or end it with /rdf-graphs/service"
        )
    query = quote(parts.query, safe="/%:=~+!$,;'@()*&?")
    authority = f"[{host}]" if ":" in host else host
    name = f"{parts.scheme}://{authority}{f':{port}' if port is not None else ''}{path}"
    userinfo = parts.netloc.rpartition("@")[0]
    target = f"{path}?{query}" if query else path
    return StoreAddress(name, parts.scheme, host, port, target, is_graph_store, userinfo)


class GraphServer:
    """One persistent connection to the server; used by one thread at a time, but any thread may interrupt it."""

    def __init__(self, address: StoreAddress, credentials: Credentials | None) -> None:
        self._address = address
        self._credentials = credentials
        self._has_asked = False
        user, password = (credentials.user, credentials.password) if credentials else (None, "")
        self._connection = HttpConnection(_CONNECT_TIMEOUT_S, user, password)

    def replace_graph(self, graph: str, triples: Sequence[str]) -> None:
        """Make the graph hold exactly these triples (`s p o` of N-Triples). Raise StoreError if that fails."""
        if self._address.is_graph_store:
            body = "".join(f"{triple} .\n" for triple in triples).encode("utf-8", "replace")
            self._ask("PUT", self._graph_target(graph), body, "application/n-triples")
        else:
            self._update(write_update(graph, triples))

    def drop_graph(self, graph: str) -> None:
        """Remove the graph, if it exists. Raise StoreError if that fails."""
        if self._address.is_graph_store:
            self._ask("DELETE", self._graph_target(graph))
        else:
            self._update(write_update(graph, ()))

    def interrupt(self) -> None:
        """Make the current request, within a second, and all later ones fail with StoreError."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _graph_target(self, graph: str) -> str:
        target = self._address.target
        return f"{target}{'&' if '?' in target else '?'}graph={quote(graph, safe='')}"

    def _update(self, text: str) -> None:
        self._ask("POST", self._address.target, text.encode("utf-8", "replace"), "application/sparql-update")

    def _ask(self, method: str, target: str, body: bytes = b"", content_type: str = "") -> None:
        if self._credentials and not self._has_asked and len(body) > _MAX_ANSWER_BYTES:
            # Without a password a server may close the connection during a large body, and its challenge would be lost.
            self._has_asked = True
            with suppress(StoreError):
                self.drop_graph(PROBE_GRAPH)
        self._has_asked = True
        answer = self._exchange(method, target, body, content_type)
        if not (200 <= answer.status < 300 or (method == "DELETE" and answer.status in {404, 410})):
            raise self._explain(answer)

    def _exchange(self, method: str, target: str, body: bytes, content_type: str) -> "_Answer":
        timeout_s = _ANSWER_TIMEOUT_S + len(body) / _BYTES_PER_SECOND
        url = f"{self._address.origin}{target}"
        try:
            status, head, text = self._connection.request(
                method, url, body, content_type, timeout_s=timeout_s, max_answer_bytes=_MAX_ANSWER_BYTES
            )
        except ExchangeError as error:
            raise StoreError(f"does not answer: {error}") from error
        return _Answer(status, head.first("retry-after") if head else "", text)

    def _explain(self, answer: "_Answer") -> StoreError:
        said = " ".join(_TAG_OR_SPACE.sub(" ", answer.text.decode("utf-8", "replace")).split())
        said = (hide_secrets(said, self._credentials) if self._credentials else said)[:_MAX_MESSAGE_CHARS]
        status = answer.status
        if status == 401:
            known = "refuses the user and password" if self._credentials else "asks for a user and password"
            message = f"{known} (401)"
        elif 300 <= status < 400:
            message = f"sends us elsewhere ({status}), which is not followed: give the address where the store is"
        elif status in {404, 405, 415, 501}:
            way = "the Graph Store protocol" if self._address.is_graph_store else "SPARQL Update"
            other = "update+" if self._address.is_graph_store else "gsp+"
            message = (
                f"does not take {way} ({status}); where it speaks the other one, put {other} before the URL. {said}"
            )
        else:
            message = f"answers {status} {http.client.responses.get(status, '')}: {said}"
        retry_after_s = parse_retry_after(answer.retry_after, time.time())
        return StoreError(message.rstrip(" :."), status=status, retry_after_s=retry_after_s)


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    retry_after: str
    text: bytes


def is_triple(text: str) -> bool:
    """Whether this is a triple of the N-Triples grammar, without its dot; anything else could inject code into an update."""
    return _TRIPLE.fullmatch(text) is not None


def write_update(graph: str, triples: Sequence[str]) -> str:
    """One request that replaces or removes a graph: servers should do all of it or nothing (SPARQL 1.1 Update, 2.2)."""
    if not triples:
        return f"DROP SILENT GRAPH <{graph}>"
    # Virtuoso clears a graph in half the time that it needs to drop it.
    parts = [f"CLEAR SILENT GRAPH <{graph}>"]
    for start in range(0, len(triples), _TRIPLES_PER_INSERT):
        lines = "".join(f"{triple} .\n" for triple in triples[start : start + _TRIPLES_PER_INSERT])
        parts.append(f"INSERT DATA {{ GRAPH <{graph}> {{\n{_write_code_points(lines)}}} }}")
    return " ;\n".join(parts)


def _write_code_points(lines: str) -> str:
    r"""N-Triples without \uXXXX: SPARQL decodes those before it looks for quotes, so \u0022 would end a literal."""
    if "\\u" not in lines and "\\U" not in lines:
        return lines

    def write(found: re.Match[str]) -> str:
        if not (digits := found[1] or found[2]):
            return found[0]
        character = chr(int(digits, 16)) if int(digits, 16) < 0x110000 else "\ufffd"
        return "\ufffd" if "\ud800" <= character <= "\udfff" else _ESCAPES.get(character, character)

    return _CODE_POINT.sub(write, lines)
