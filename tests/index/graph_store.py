"""A small SPARQL 1.1 server on a loopback port, over a real Oxigraph. For tests only.

The Graph Store protocol is at /store, Update at /update. It checks what it is sent, counts it, and fails as told.
"""

import hashlib
import socket
import ssl
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit
from urllib.request import parse_http_list, parse_keqv_list

from pyoxigraph import NamedNode, RdfFormat, Store

from waiting import PATIENCE_S

NONCE_USES = 3
"""So often a digest's nonce serves, then it is stale."""


class Seen(NamedTuple):
    method: str
    graph: str
    status: int
    time: float
    authorization: str


class GraphStore:
    """The store that survives its server, and what became of each request."""

    def __init__(self) -> None:
        self.store = Store()
        self.seen: list[Seen] = []
        self.credentials = ""
        """`user:password` that is asked for; nothing is where empty."""
        self.algorithm = ""
        """Of digests, which are then offered beside Basic authentication, and alone accepted; none where empty."""
        self.nonces = 0
        self.faults: list[tuple[int, dict[str, str]]] = []
        """Answers instead of the next ones: a status, 0 to hang up, -1 to keep silent until the end; and headers."""
        self.refuse = ""
        """Whatever holds this text is answered by 400."""
        self.connections = 0
        self.ending = threading.Event()
        self.lock = threading.Lock()

    def dump(self) -> str:
        return self.store.dump(format=RdfFormat.N_QUADS).decode()

    def lines(self) -> set[str]:
        return set(self.dump().splitlines())

    def sent(self, method: str) -> list[str]:
        """The graphs of all requests of this method that were done."""
        return [seen.graph for seen in self.seen if seen.method == method and seen.status < 300]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    held: GraphStore

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.held.connections += 1

    def do_PUT(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def _answer(self) -> None:
        held, length = self.held, int(self.headers.get("Content-Length", 0))
        with held.lock:
            fault = held.faults.pop(0) if held.faults else None
        if fault and fault[0] == 0:
            self.rfile.read(length // 2)
            self.close_connection = True
            self._note(0)
            return
        body = self.rfile.read(length)
        if fault and fault[0] == -1:
            held.ending.wait(2 * PATIENCE_S)
            self.close_connection = True
            return
        if fault:
            self._end(*fault)
        elif held.credentials and not self._is_known():
            self._end(401, {"WWW-Authenticate": self._challenge()})
        elif held.refuse and held.refuse.encode() in body:
            self._end(400, {}, b"<html><b>bad\n literal</b> in " + (self.headers.get("Authorization") or "").encode())
        else:
            with held.lock:
                self._end(self._perform(body), {})

    def _perform(self, body: bytes) -> int:
        parts, store = urlsplit(self.path), self.held.store
        kind = self.headers.get("Content-Type", "")
        if parts.path == "/update" and self.command == "POST" and kind == "application/sparql-update":
            try:
                store.update(body.decode())
            except SyntaxError:
                return 400
            return 204
        if parts.path != "/store" or self.command == "POST":
            return 405
        (name,) = parse_qs(parts.query)["graph"]
        graph = NamedNode(name)
        if self.command == "DELETE":
            if not store.contains_named_graph(graph):
                return 404
            store.remove_graph(graph)
            return 200
        if kind != "application/n-triples":
            return 415
        replacement = Store()
        try:
            replacement.load(body, format=RdfFormat.N_TRIPLES, to_graph=graph)
        except SyntaxError:
            return 400
        store.remove_graph(graph)
        store.add_graph(graph)
        store.extend(replacement)
        return 201

    def _challenge(self) -> str:
        ways = 'Negotiate, Basic realm="graphs, all", charset="UTF-8"'
        if algorithm := self.held.algorithm:
            self.held.nonces += 1
            ways += (
                f', Digest realm="graphs", qop="auth, auth-int", algorithm={algorithm}, nonce="n{self.held.nonces}", '
            )
            ways += f'opaque="o", stale={str(self._said_right()).lower()}'
        return ways

    def _is_known(self) -> bool:
        scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
        if not self.held.algorithm:
            return scheme == "Basic" and b64decode(token).decode() == self.held.credentials
        said = self._read_digest()
        is_current = said.get("nonce") == f"n{self.held.nonces}" and int(said["nc"], 16) <= NONCE_USES
        return is_current and self._said_right()

    def _said_right(self) -> bool:
        said = self._read_digest()
        return bool(said) and said["response"] == make_digest(self.held.credentials, self.command, said)

    def _read_digest(self) -> dict[str, str]:
        scheme, _, token = (self.headers.get("Authorization") or "").partition(" ")
        return parse_keqv_list(parse_http_list(token)) if scheme == "Digest" else {}

    def _end(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self._note(status)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _note(self, status: int) -> None:
        graph = "".join(parse_qs(urlsplit(self.path).query).get("graph", []))
        authorization = self.headers.get("Authorization") or ""
        self.held.seen.append(Seen(self.command, graph, status, monotonic(), authorization))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients of these tests hang up on purpose."""


def make_digest(credentials: str, method: str, said: dict[str, str]) -> str:
    """What a client should say that has said this (RFC 7616, 3.4.1)."""
    name = {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}[said["algorithm"]]

    def digest(*parts: str) -> str:
        return hashlib.new(name, ":".join(parts).encode(), usedforsecurity=False).hexdigest()

    user, _, password = credentials.partition(":")
    secret, request = digest(user, said["realm"], password), digest(method, said["uri"])
    return digest(secret, said["nonce"], said["nc"], said["cnonce"], said["qop"], request)


@contextmanager
def serve_graphs(held: GraphStore, port: int = 0, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve until the end of the block; the base URL, without a slash at the end."""
    server = Server(("127.0.0.1", port), type("BoundHandler", (Handler,), {"held": held}))
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"
    finally:
        held.ending.set()
        server.shutdown()
        thread.join()
        server.server_close()
