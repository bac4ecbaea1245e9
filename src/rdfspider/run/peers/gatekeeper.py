"""Admits clients to a process's sockets by their keys: the ZAP requests of a ZeroMQ context enter, decisions leave.

ZeroMQ asks for each connection to a socket with a domain, after the client has proved that it has the secret key. The answer
names the client, and whatever comes over that connection carries this name (`LoopSocket.sender`), so that a shard speaks for
itself alone. Protocol: ZAP 1.0 (ZeroMQ RFC 27).
"""

import logging
from collections.abc import Mapping, Sequence

import zmq
from zmq.utils import z85

from rdfspider.run.peers.sockets import SHARD_DOMAIN, LoopSocket

_log = logging.getLogger(__name__)

_ENDPOINT = "inproc://zeromq.zap.01"
_VERSION = b"1.0"
# An envelope, an empty frame, and the request: version, request id, domain, address, identity, mechanism, the client's key.
_FRAMES = 9


class Gatekeeper:
    """The ZAP handler of one context; it must be opened before the sockets that it guards."""

    def __init__(
        self, context: "zmq.Context[zmq.Socket[bytes]]", admitted: Mapping[bytes, Mapping[bytes, str]]
    ) -> None:
        """`admitted` has, by domain, the public keys that its sockets admit, and whose they are."""
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
        name = self._admitted.get(domain, {}).get(z85.encode(key)) if mechanism == b"CURVE" else None
        status, text = (b"400", b"no key of this crawl")
        if name is not None and version == _VERSION:
            status, text = (b"200", b"OK")
        self._wire.send([envelope, empty, _VERSION, request, status, text, (name or "").encode(), b""])


def admit_shards(keys: Sequence[bytes]) -> dict[bytes, dict[bytes, str]]:
    """Admit the keys of all shards, each by its number, where shards come."""
    return {SHARD_DOMAIN: {key: str(shard) for shard, key in enumerate(keys)}}


class Senders:
    """Checks that shards speak for themselves. Nobody else reaches a socket without keys, so there everybody is believed."""

    def __init__(self) -> None:
        self._liars: set[str] = set()

    def may_speak(self, sender: str, shard: int) -> bool:
        """Whether what a sender has sent may be taken for a shard's; the first time that it may not, there is a warning."""
        if not sender or sender == str(shard):
            return True
        if sender not in self._liars:
            self._liars.add(sender)
            _log.warning("shard %s is refused: with its key somebody speaks for shard %d", sender, shard)
        return False
