"""The sockets between one shard and its peers: addresses and keys enter, the messages of all peers and a socket to each leave.

A shard has one socket on which all its peers send to it, and one to each of them. Addresses may change while the crawl runs.
"""

import logging
from collections.abc import Callable, Sequence

import zmq

from rdfspider.places.keys import ProcessKeys
from rdfspider.run.peers.gatekeeper import Gatekeeper, Senders, admit_shards
from rdfspider.run.peers.sockets import LoopSocket, find_address, is_complete, open_inlet, open_outlet

_log = logging.getLogger(__name__)

# Sockets besides those to peers.
_OTHER_SOCKETS = 64


class PeerWires:
    """The sockets of one shard; `context` also serves the socket to the coordinator."""

    def __init__(self, shard: int, addresses: Sequence[str], keys: ProcessKeys | None) -> None:
        self._shard = shard
        self._addresses = list(addresses)
        self._keys = keys
        self.context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.context.max_sockets = len(addresses) + _OTHER_SOCKETS
        self._senders = Senders()
        self._inlet: LoopSocket | None = None
        self._gatekeeper: Gatekeeper | None = None

    def open(self, on_message: Callable[[list[bytes]], None]) -> str:
        """Listen to the peers. Returns where they reach this shard; empty if they know it."""
        if self._keys is not None:
            self._gatekeeper = Gatekeeper(self.context, admit_shards(self._keys.shards))
        address = self._addresses[self._shard]
        inlet = open_inlet(self.context, address, self._keys)
        self._inlet = LoopSocket(inlet, on_message)
        return "" if is_complete(address) else find_address(inlet)

    def may_speak(self, source: int) -> bool:
        """Whether the message at hand may be taken for one of this peer."""
        return self._inlet is not None and self._senders.may_speak(self._inlet.sender, source)

    def open_outlet(self, number: int) -> "zmq.Socket[bytes] | None":
        """Open the socket to a peer; None while its address is unknown."""
        address = self._addresses[number]
        if not is_complete(address):
            return None
        try:
            return open_outlet(self.context, address, self._keys, self._keys.shards[number] if self._keys else b"")
        except zmq.ZMQError as error:
            _log.warning("shard %d cannot be reached at %r: %s", number, address, error)
            return None

    def move(self, number: int, address: str) -> bool:
        """Note where a peer is now; returns whether that is another address."""
        has_moved = address != self._addresses[number]
        self._addresses[number] = address
        return has_moved

    def close(self) -> None:
        """Close the socket that listens; whoever has opened others closes them, and then ends the context."""
        for opened in (self._inlet, self._gatekeeper):
            if opened is not None:
                opened.close()
