"""ZeroMQ sockets on an asyncio loop: endpoints in a private folder, frames in, frames out.

Plain sockets with the loop's own readers, as pyzmq's futures would cost more than the messages. A socket's file descriptor
tells of changes only once, so whoever is woken reads until nothing is left, and looks again after it has sent.
"""

import asyncio
import shutil
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import zmq

COORDINATOR = "coordinator"
_PREFIX = "rdfspider-"
# The system allows about 107 bytes for the path of a socket; the names in the folder need some of them.
_MAX_FOLDER_BYTES = 80
# A peer that is started again should be found soon; connecting to nobody costs next to nothing.
_RECONNECT_MS = 50
# Messages that are read before others of the loop have their turn.
_READ_AT_ONCE = 100


def make_endpoint_folder() -> Path:
    """A new folder for sockets that nobody else can enter; who makes it removes it."""
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    if len(folder.encode()) > _MAX_FOLDER_BYTES:
        Path(folder).rmdir()
        folder = tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp")
    return Path(folder)


def remove_endpoint_folder(endpoint: str) -> None:
    """Remove the folder of an endpoint, if it is one that was made here and nobody listens there.

    What a crawl's folder says of its last run may have been copied with it, or come with it from elsewhere.
    """
    place = Path(endpoint.strip().removeprefix("ipc://"))
    folder = place.parent
    is_ours = folder.name.startswith(_PREFIX) and str(folder.parent) in (tempfile.gettempdir(), "/tmp")
    if is_ours and not _is_listening(place):
        shutil.rmtree(folder, ignore_errors=True)


def remove_old_endpoints(control: Path) -> None:
    """Remove what a run that was killed has left: its sockets, and the file that names one of them."""
    with suppress(FileNotFoundError):
        remove_endpoint_folder(control.read_text())
        control.unlink()


def find_endpoint(folder: Path | str, name: str | int) -> str:
    """The address of a shard, by its number, or of the coordinator."""
    return f"ipc://{folder}/{name}"


class Wire:
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


def _is_listening(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(place))
        except OSError:
            return False
    return True
