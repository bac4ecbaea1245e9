"""Admits clients to a process's sockets by their keys: the ZAP requests of a ZeroMQ context enter, decisions leave.

ZeroMQ asks for each connection to a socket with a domain, after the client has proved that it has the secret key. Protocol: ZAP
1.0 (ZeroMQ RFC 27).
"""

from collections.abc import Mapping

import zmq
from zmq.utils import z85

from rdfspider.run.peers.sockets import LoopSocket

_ENDPOINT = "inproc://zeromq.zap.01"
_VERSION = b"1.0"
# An envelope, an empty frame, and the request: version, request id, domain, address, identity, mechanism, the client's key.
_FRAMES = 9


class Gatekeeper:
    """The ZAP handler of one context; it must be opened before the sockets that it guards."""

    def __init__(self, context: "zmq.Context[zmq.Socket[bytes]]", admitted: Mapping[bytes, frozenset[bytes]]) -> None:
        """`admitted` has the public keys that each domain of sockets admits."""
        self._admitted = admitted
        socket = context.socket(zmq.ROUTER)
        socket.bind(_ENDPOINT)
        self._wire = LoopSocket(socket, self._decide)

    def close(self) -> None:
        """Close the socket, after those that it guards."""
        self._wire.close()

    def _decide(self, frames: list[bytes]) -> None:
        if len(frames) != _FRAMES:
            return
        envelope, empty, version, request, domain, _, _, mechanism, key = frames
        is_known = mechanism == b"CURVE" and z85.encode(key) in self._admitted.get(domain, frozenset())
        status, text = (b"200", b"OK") if is_known and version == _VERSION else (b"400", b"no key of this crawl")
        self._wire.send([envelope, empty, _VERSION, request, status, text, b"", b""])
