"""ZeroMQ sockets on an asyncio loop: addresses of the runner enter, frames go in and out.

Plain sockets with the loop's own readers, as pyzmq's futures would cost more than the messages. A socket's file descriptor
tells of changes only once, so whoever is woken reads until nothing is left, and looks again after it has sent.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import zmq

# A peer that is started again should be found soon; connecting to nobody costs next to nothing.
_RECONNECT_MS = 50
# Messages that are read before others of the loop have their turn.
_READ_AT_ONCE = 100


class AddressBook(NamedTuple):
    """Where the processes of a running crawl can be reached, as ZeroMQ writes addresses; the runner decides that."""

    coordinator: str
    shards: tuple[str, ...]
    """By their number."""


class LoopSocket:
    """A socket that the loop reads: every message is handed to `on_message`, as its frames."""

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
        """Send a message; False when there is nobody to take it."""
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
    """The socket on which a shard hears all its peers."""
    socket = context.socket(zmq.PULL)
    socket.bind(endpoint)
    return socket


def open_outlet(context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str) -> "zmq.Socket[bytes]":
    """A socket on which a shard speaks to one peer; it takes nothing while nobody is there."""
    socket = context.socket(zmq.PUSH)
    socket.immediate = True
    socket.linger = 0
    socket.reconnect_ivl = _RECONNECT_MS
    socket.connect(endpoint)
    return socket


def open_line(context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str, name: str) -> "zmq.Socket[bytes]":
    """A shard's socket to the coordinator, which knows it by its name."""
    socket = context.socket(zmq.DEALER)
    socket.routing_id = name.encode()
    socket.reconnect_ivl = _RECONNECT_MS
    socket.connect(endpoint)
    return socket


def open_hub(context: "zmq.Context[zmq.Socket[bytes]]", endpoint: str) -> "zmq.Socket[bytes]":
    """The coordinator's socket. A shard that is started again takes over the name of its earlier life."""
    socket = context.socket(zmq.ROUTER)
    socket.router_handover = True
    socket.bind(endpoint)
    return socket
