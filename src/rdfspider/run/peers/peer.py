"""One peer of a shard: its epoch, the line to it, what is delivered and received, and the socket on which it is sent to."""

from dataclasses import dataclass, field

import msgspec
import zmq

from rdfspider.frontier.clock import Clock
from rdfspider.run.peers.delivery import Delivery, Intake
from rdfspider.run.peers.line import Line, Parcel
from rdfspider.run.peers.messages import MessageBatch, PeerMessage

_encoder = msgspec.msgpack.Encoder()


@dataclass(slots=True)
class Peer:
    """Another shard, as this one knows it."""

    number: int
    socket: "zmq.Socket[bytes] | None"
    """None while its address is unknown."""
    delivery: Delivery
    intake: Intake
    own: tuple[int, int]
    """The number and the epoch of this shard."""
    clock: Clock
    heard_at: float
    epoch: int = 0
    """0 before its first message."""
    least_epoch: int = 0
    """Nothing is taken from an earlier one."""
    line: Line[PeerMessage] = field(default_factory=Line)
    """The messages between its epoch and this shard's."""
    has_met: bool = False
    """Whether its hello to this shard's epoch has been received."""
    has_told: bool = False
    """Whether any life of it has told which numbers earlier lives of this shard had given out."""
    told_at: float = float("-inf")
    """When something was last sent to it."""

    def send(self, parcel: Parcel[PeerMessage]) -> bool:
        """Send a parcel; False if the peer is absent."""
        if self.socket is None:
            return False
        shard, epoch = self.own
        batch = MessageBatch(shard, epoch, self.epoch, *parcel)
        try:
            self.socket.send(_encoder.encode(batch), zmq.DONTWAIT)
        except zmq.ZMQError:
            return False
        self.told_at = self.clock.monotonic()
        return True

    def begin_epoch(self, epoch: int) -> None:
        """Note that the peer has restarted: what was under way is repeated after its hello."""
        self.epoch = epoch
        self.has_met = False
        self.line = Line()
        self.delivery.suspend()
