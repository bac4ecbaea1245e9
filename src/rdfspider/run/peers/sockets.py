"""ZeroMQ sockets on an asyncio loop: addresses from the runner enter, sockets that send and receive frames leave.

They are plain sockets with the loop's own readers, as pyzmq's futures would cost more than the messages. A socket's file
descriptor is edge-triggered, so the reader reads until nothing is left, and checks again after each send.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import zmq

# A restarted peer should be reconnected soon; failed attempts cost next to nothing.
_RECONNECT_MS = 50
# Messages that are read before other tasks of the loop run.
_READ_AT_ONCE = 100


class AddressBook(NamedTuple):
    """The ZeroMQ addresses of a running crawl's processes, which the runner chooses."""

    coordinator: str
    shards: tuple[str, ...]
    """Indexed by shard number."""


class LoopSocket:
    """A socket that the loop reads: `on_message` gets the frames of every message."""

    def __init__(
        self, socket: "zmq.Socket[bytes]", on_message: Callable[[list[bytes]], None], linger_ms: int = 0
    ) -> None:
        self._socket = socket
        self._on_message = on_message
        self._loop = asyncio.get_running_loop()
        self._is_draining = False
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
                frames = self._socket.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                return
            self._look_again()
            self._on_message(frames)


def open_inlet(context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str) -> "zmq.Socket[bytes]":
    """Open the socket on which a shard receives from all its peers."""
    socket = context.socket(zmq.PULL)
    socket.bind(endpoint)
    return socket


def open_outlet(context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str) -> "zmq.Socket[bytes]":
    """Open a socket on which a shard sends to one peer; it accepts no messages while the peer is absent."""
    socket = context.socket(zmq.PUSH)
    socket.immediate = True
    socket.linger = 0
    socket.reconnect_ivl = _RECONNECT_MS
    socket.connect(endpoint)
    return socket


def open_line(context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str, name: str) -> "zmq.Socket[bytes]":
    """Open a shard's socket to the coordinator, which identifies it by its name."""
    socket = context.socket(zmq.DEALER)
    socket.routing_id = name.encode()
    socket.reconnect_ivl = _RECONNECT_MS
    socket.connect(endpoint)
    return socket


def open_hub(context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str) -> "zmq.Socket[bytes]":
    """Open the coordinator's socket. A restarted shard takes over its earlier name."""
    socket = context.socket(zmq.ROUTER)
    socket.router_handover = True
    socket.bind(endpoint)
    return socket
