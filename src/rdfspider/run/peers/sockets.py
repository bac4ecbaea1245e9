"""ZeroMQ sockets on an asyncio loop: addresses and keys enter, sockets that send and receive frames leave.

On one machine they are files in a private folder (`ipc://`). Between machines they are `tcp://` with CURVE: each side proves that
it has its key, and `gatekeeper.py` admits only the keys of the crawl.

They are plain sockets with the loop's own readers, as pyzmq's futures would cost more than the messages. A socket's file
descriptor is edge-triggered, so the reader reads until nothing is left, and checks again after each send.
"""

import asyncio
import re
from collections.abc import Callable
from typing import NamedTuple

import zmq

from rdfspider.places.keys import ProcessKeys

# A restarted peer should be reconnected soon. One that stays away is tried less often, as there may be thousands, but is found
# again within the second of these times.
_RECONNECT_MS, _MAX_RECONNECT_MS = 50, 2_000
# A dead machine, or a cut wire, says nothing. A connection is given up when nothing has come for the second of these times.
_HEARTBEAT_MS, _SILENT_MS = 2_000, 6_000
_CONNECT_MS, _HANDSHAKE_MS = 5_000, 10_000
TCP, ANY_PORT = "tcp://", ":*"
"""How addresses between machines begin; and how one ends at which a process listens on a port that the system chooses."""
_TOLD = re.compile(r"tcp://(?:[\d.]+|\[[\da-fA-F:.]+\]):\d{1,5}")
SHARD_DOMAIN, COORDINATOR_DOMAIN = b"shards", b"coordinator"
"""Sockets that admit the keys of all shards, and those that admit the coordinator's alone."""
# Messages that are read before other tasks of the loop run.
_READ_AT_ONCE = 100


class AddressBook(NamedTuple):
    """The ZeroMQ addresses of a running crawl's processes, which the runner chooses."""

    coordinator: str
    shards: tuple[str, ...]
    """Where each shard listens, by number. One whose port is open, as in `tcp://127.0.0.2:*`, tells the coordinator which it got,
    and the coordinator tells the others."""


class LoopSocket:
    """A socket that the loop reads: `on_message` gets the frames of every message."""

    sender = ""
    """Who has sent the message at hand, as the gatekeeper names its key; empty on sockets that ask for no keys."""

    def __init__(
        self, socket: "zmq.Socket[bytes]", on_message: Callable[[list[bytes]], None], linger_ms: int = 0
    ) -> None:
        self._socket = socket
        self._on_message = on_message
        self._loop = asyncio.get_running_loop()
        self._is_draining = False
        self._asks_keys = bool(socket.curve_server)
        socket.linger = linger_ms
        self._loop.add_reader(socket.fileno(), self._drain)
        self._look_again()

    def send(self, frames: list[bytes]) -> bool:
        """Send a message; False if no process can take it."""
        try:
            self._socket.send_multipart(frames, zmq.DONTWAIT)
        except zmq.ZMQError:
            return False
        self._look_again()
        return True

    def close(self) -> None:
        """Stop reading, and close the socket."""
        if not self._socket.closed:
            self._loop.remove_reader(self._socket.fileno())
            self._socket.close()

    def _look_again(self) -> None:
        if not self._is_draining:
            self._is_draining = True
            self._loop.call_soon(self._drain)

    def _drain(self) -> None:
        self._is_draining = False
        for _ in range(_READ_AT_ONCE):
            if self._socket.closed:
                return
            try:
                frames = self._receive()
            except zmq.Again:
                return
            self._look_again()
            self._on_message(frames)

    def _receive(self) -> list[bytes]:
        if not self._asks_keys:
            return self._socket.recv_multipart(zmq.DONTWAIT)
        # This is as fast as `recv_multipart`, which asks the socket whether a frame was the last.
        frame = self._socket.recv(zmq.DONTWAIT, copy=False)
        self.sender = str(frame.get("User-Id"))
        frames = [frame.bytes]
        while frame.more:
            frame = self._socket.recv(zmq.DONTWAIT, copy=False)
            frames.append(frame.bytes)
        return frames


def open_inlet(
    context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str, keys: ProcessKeys | None = None
) -> "zmq.Socket[bytes]":
    """Open the socket on which a shard receives from all its peers."""
    socket = context.socket(zmq.PULL)
    _listen(socket, endpoint, keys)
    return socket


def open_outlet(
    context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str, keys: ProcessKeys | None = None, server: bytes = b""
) -> "zmq.Socket[bytes]":
    """Open a socket on which a shard sends to one peer, which has the public key `server`; it accepts no messages while the peer
    is absent."""
    socket = context.socket(zmq.PUSH)
    socket.immediate = True
    socket.linger = 0
    _connect(socket, endpoint, keys, server)
    return socket


def open_line(
    context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str, keys: ProcessKeys | None = None
) -> "zmq.Socket[bytes]":
    """Open a shard's socket to the coordinator, which answers on the connection that a message came by: a shard has no name
    there that somebody else could take."""
    socket = context.socket(zmq.DEALER)
    _connect(socket, endpoint, keys, keys.coordinator if keys else b"")
    return socket


def open_hub(
    context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str, keys: ProcessKeys | None = None
) -> "zmq.Socket[bytes]":
    """Open the coordinator's socket."""
    socket = context.socket(zmq.ROUTER)
    _listen(socket, endpoint, keys)
    return socket


def open_desk(
    context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str, keys: ProcessKeys | None = None
) -> "zmq.Socket[bytes]":
    """Open the socket at which a place is asked; it admits the coordinator's key alone."""
    socket = context.socket(zmq.ROUTER)
    try:
        _listen(socket, endpoint, keys, COORDINATOR_DOMAIN)
    except zmq.ZMQError:
        socket.close(0)
        raise
    return socket


def find_address(socket: "zmq.Socket[bytes]") -> str:
    """Return the address at which a socket listens, with the port that the system chose."""
    return socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")


def name_endpoint(host: str) -> str:
    """Return the endpoint for any free port of an address, of which one of IPv6 may be in brackets or not."""
    return f"{TCP}[{host}]{ANY_PORT}" if ":" in host and not host.startswith("[") else f"{TCP}{host}{ANY_PORT}"


def open_port(address: str) -> str:
    """Return the endpoint for any free port where an address is."""
    return f"{address.rpartition(':')[0]}{ANY_PORT}"


def check_endpoint(endpoint: str) -> None:
    """Raise ZMQError if nobody can listen there."""
    with zmq.Context() as context, context.socket(zmq.PULL) as socket:
        _set_family(socket, endpoint)
        socket.bind(endpoint)


def is_complete(endpoint: str) -> bool:
    """Whether an address can be connected to."""
    return bool(endpoint) and not endpoint.endswith(ANY_PORT)


def is_told_address(endpoint: str) -> bool:
    """Whether an address is one that a socket has told: a number, since the look-up of a name could take any time."""
    return _TOLD.fullmatch(endpoint) is not None


def _listen(socket: "zmq.Socket[bytes]", endpoint: str, keys: ProcessKeys | None, domain: bytes = SHARD_DOMAIN) -> None:
    _set_family(socket, endpoint)
    _expect_silence(socket, endpoint)
    if keys is not None and endpoint.startswith(TCP):
        socket.curve_server = True
        socket.curve_secretkey = keys.own.secret
        # Without a gatekeeper nobody is admitted; by default everybody would be who knows the public key.
        socket.zap_domain = domain
        socket.setsockopt(zmq.ZAP_ENFORCE_DOMAIN, 1)
    socket.bind(endpoint)


def _connect(socket: "zmq.Socket[bytes]", endpoint: str, keys: ProcessKeys | None, server: bytes) -> None:
    _set_family(socket, endpoint)
    _expect_silence(socket, endpoint)
    socket.reconnect_ivl = _RECONNECT_MS
    socket.reconnect_ivl_max = _MAX_RECONNECT_MS
    if endpoint.startswith(TCP):
        socket.connect_timeout = _CONNECT_MS
        if keys is not None:
            socket.curve_serverkey = server
            socket.curve_publickey, socket.curve_secretkey = keys.own
    socket.connect(endpoint)


def _set_family(socket: "zmq.Socket[bytes]", endpoint: str) -> None:
    """By default, sockets know IPv4 alone."""
    socket.ipv6 = endpoint.startswith(f"{TCP}[")


def _expect_silence(socket: "zmq.Socket[bytes]", endpoint: str) -> None:
    """Let a socket notice that a machine or a wire is gone; processes on one machine are told by the system."""
    if endpoint.startswith(TCP):
        socket.heartbeat_ivl = _HEARTBEAT_MS
        socket.heartbeat_timeout = socket.heartbeat_ttl = _SILENT_MS
        socket.handshake_ivl = _HANDSHAKE_MS
        socket.tcp_keepalive = 1
        socket.tcp_keepalive_idle = socket.tcp_keepalive_intvl = _SILENT_MS // 1000
