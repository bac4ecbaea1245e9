"""The coordinator's sockets: what shards and users send enters the coordinator, its messages leave on numbered lines.

Where shards come over TCP, users have a socket of their own, which nobody but they can reach.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import msgspec
import zmq

from rdfspider.crawl.messages import CHANGES, Command, CommandAnswer, CommandName
from rdfspider.frontier.clock import Clock
from rdfspider.places.keys import ProcessKeys
from rdfspider.run.peers.coordinator import Coordinator, Outgoing
from rdfspider.run.peers.gatekeeper import Gatekeeper, Senders, admit_shards
from rdfspider.run.peers.line import Line, Parcel
from rdfspider.run.peers.messages import (
    UNREADABLE,
    CoordinatorBatch,
    CoordinatorMessage,
    EsteemTable,
    Heard,
    ShardBatch,
)
from rdfspider.run.peers.sockets import LoopSocket, find_address, open_hub

_log = logging.getLogger(__name__)

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(ShardBatch)


@dataclass(slots=True)
class _ShardLine:
    epoch: int
    route: bytes = b""
    """The connection by which it was heard last; a shard that connects again has another."""
    line: Line[CoordinatorMessage] = field(default_factory=Line)


class CoordinatorHub:
    """The coordinator's socket for shards and the command line, in the parent process."""

    def __init__(
        self,
        coordinator: Coordinator,
        address: str,
        on_change: Callable[[], None],
        change: Callable[[Command], tuple[CommandAnswer, Outgoing]] | None = None,
        *,
        epoch: int = 1,
        shard_address: str = "",
        keys: ProcessKeys | None = None,
    ) -> None:
        """`on_change` is called after every message, and before a user gets an answer. `change` carries out the commands that
        need the crawl's folder. `epoch` is higher than that of any earlier run, which shards may still remember. If shards come
        to an address of their own, users give commands at the other one only, which nobody but the user can reach."""
        self._coordinator = coordinator
        self._change = change
        self._address = address
        self.shard_address = shard_address or address
        """Where shards connect to, once the hub is open."""
        self._keys = keys
        self._on_change = on_change
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._gatekeeper: Gatekeeper | None = None
        self._wire: LoopSocket | None = None
        self._shard_wire: LoopSocket | None = None
        self._senders = Senders()
        self._clock = Clock()
        self._epoch = epoch
        self._lines: dict[int, _ShardLine] = {}
        """The line to the last epoch of each shard that was heard."""

    def open(self) -> None:
        """Bind the sockets; needs a running loop."""
        if self._keys is not None:
            self._gatekeeper = Gatekeeper(self._context, admit_shards(self._keys.shards))
        self._wire = self._shard_wire = LoopSocket(open_hub(self._context, self._address), self._read, linger_ms=500)
        if self.shard_address != self._address:
            socket = open_hub(self._context, self.shard_address, self._keys)
            self.shard_address = find_address(socket)
            self._shard_wire = LoopSocket(socket, self._read_shard, linger_ms=500)

    def close(self) -> None:
        """Close the sockets, once the last messages are sent."""
        for opened in (self._wire, self._shard_wire, self._gatekeeper):
            if opened is not None:
                opened.close()
        self._context.term()

    def send(self, outgoing: Outgoing) -> None:
        """Send the coordinator's messages; those to a shard that is gone are lost, as intended."""
        told: dict[int, _ShardLine] = {}
        for shard, message in outgoing:
            if (to := self._lines.get(shard)) is None:
                continue
            if isinstance(message, Heard | EsteemTable):
                # The answer to the next beat, or the next table, replaces it.
                self._transmit(shard, to.line.wrap_loose([message]))
            else:
                to.line.pending.append(message)
                told[shard] = to
        now = self._clock.monotonic()
        for shard, to in told.items():
            to.line.flush(now, partial(self._transmit, shard))

    def tick(self) -> None:
        """Send again what shards did not acknowledge; must be called every second."""
        now = self._clock.monotonic()
        for shard in self._coordinator.present & self._lines.keys():
            self._lines[shard].line.tick(now, partial(self._transmit, shard))

    def _read(self, frames: list[bytes]) -> None:
        """Handle a message: shards send a batch, a REQ socket has an empty frame before it."""
        sender, *rest = frames
        if len(rest) == 1:
            self._read_shard(frames)
        else:
            self._answer([sender, *rest[:-1]], rest[-1])

    def _read_shard(self, frames: list[bytes]) -> None:
        """Handle a message of a shard, which speaks for nobody else."""
        try:
            batch = _decoder.decode(frames[-1])
        except UNREADABLE:
            _log.warning("something that is no message came to the coordinator")
            return
        assert self._shard_wire is not None
        if self._senders.may_speak(self._shard_wire.sender, batch.shard):
            self._take(frames[0], batch)

    def _take(self, route: bytes, batch: ShardBatch) -> None:
        known = self._lines.get(batch.shard)
        is_late = known is not None and batch.epoch < known.epoch
        if is_late or self._coordinator.is_superseded(batch.shard, batch.epoch):
            return
        if known is None or batch.epoch > known.epoch:
            known = self._lines[batch.shard] = _ShardLine(batch.epoch)
        known.route = route
        if batch.to_epoch not in (0, self._epoch):
            # It was for an earlier run; the answer tells the shard to arrive again.
            self._transmit(batch.shard, Parcel(0, 0, False, []))
            return
        parcel = Parcel(batch.number, batch.received, batch.has_gap, batch.messages)
        for message in known.line.take(parcel, self._clock.monotonic()):
            if (message.shard, message.epoch) == (batch.shard, batch.epoch):
                self.send(self._coordinator.receive(message))
        if known.line.is_urgent:
            known.line.flush(self._clock.monotonic(), partial(self._transmit, batch.shard))
        self._on_change()

    def _transmit(self, shard: int, parcel: Parcel[CoordinatorMessage]) -> bool:
        assert self._shard_wire is not None
        to = self._lines[shard]
        return self._shard_wire.send([to.route, _encoder.encode(CoordinatorBatch(self._epoch, to.epoch, *parcel))])

    def _answer(self, envelope: list[bytes], request: bytes) -> None:
        assert self._wire is not None
        try:
            asked = msgspec.json.decode(request, type=Command)
            if self._change is not None and asked.command in (*CHANGES, CommandName.BACKUP):
                answer, outgoing = self._change(asked)
            else:
                answer, outgoing = self._coordinator.execute(asked.command)
        except UNREADABLE as error:
            answer, outgoing = CommandAnswer(False, f"this is no command: {error}"), []
        self.send(outgoing)
        # The user may read the status as soon as the answer arrives.
        self._on_change()
        self._wire.send([*envelope, msgspec.json.encode(answer)])


def send_command(endpoint: str, command: str | Command, timeout_s: float = 5.0) -> CommandAnswer | None:
    """Send a command to the coordinator of a running crawl from another process; None if there is no answer."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.REQ)
    socket.linger = 0
    try:
        socket.connect(endpoint)
        socket.send(msgspec.json.encode(Command(command) if isinstance(command, str) else command))
        if not socket.poll(int(timeout_s * 1000)):
            return None
        return msgspec.json.decode(socket.recv(), type=CommandAnswer)
    finally:
        socket.close()
        context.term()
