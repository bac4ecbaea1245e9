"""The connection of one shard to all others and to the coordinator.

Links enter from the frontier's outbox and leave to the shards that own them; addresses are requested and granted. Every shard has
one socket on which it receives from all its peers, and one to each of them. A peer is met when each side knows the other's epoch:
messages to or from an earlier epoch are dropped, so either side may die and come back at any moment. Between two given epochs,
messages are neither lost nor reordered.
"""

import asyncio
import itertools
import logging
from dataclasses import dataclass, field

import msgspec
import zmq

from rdfspider.config import Config
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import GapError
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.address_clocks import AddressClocks, Grant, Order, Revoke
from rdfspider.run.peers.admission import GRANT_MARGIN_S, AddressGate
from rdfspider.run.peers.claims import Claims
from rdfspider.run.peers.coordinator_client import CoordinatorClient, PeerHandlers
from rdfspider.run.peers.delivery import Delivery, Intake
from rdfspider.run.peers.messages import (
    UNREADABLE,
    Acquire,
    Claimed,
    ContentClaim,
    Cursor,
    Hello,
    Links,
    MessageBatch,
    PeerMessage,
    Received,
    Release,
    Repeated,
    decode_outbox_entry,
)
from rdfspider.run.peers.sockets import AddressBook, LoopSocket, open_inlet, open_outlet

_log = logging.getLogger(__name__)

_TICK_S = 0.1
# How many ticks lie between two signs of life, and between two sweeps of timeouts.
_BEAT_TICKS = 10
_SWEEP_TICKS = 50
# A peer that sends nothing for this long, not even a sign of life, is missing.
_MISSING_S = 5.0
# Links that may wait on disk for shards that are slow or gone; beyond this, no new URLs are leased.
_MAX_OUTBOX_BYTES = 64 * 1024 * 1024

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(MessageBatch)


@dataclass(slots=True)
class _Peer:
    socket: "zmq.Socket[bytes]"
    delivery: Delivery
    intake: Intake
    epoch: int = 0
    """0 before its first message."""
    has_met: bool = False
    """Whether its hello to this shard's epoch has been received."""
    heard_at: float = 0.0
    pending: list[PeerMessage] = field(default_factory=list)


class Peers:
    """The connections of one shard. In a crawl with one shard, it communicates only with the coordinator."""

    def __init__(
        self,
        shard: int,
        addresses: AddressBook,
        frontier: Frontier,
        config: Config,
        handlers: PeerHandlers,
        scope: tuple[str, ...] = (),
        clock: Clock | None = None,
    ) -> None:
        """`scope` has the URLs by which the shard has widened the scope beyond the seeds."""
        shards = len(addresses.shards)
        self.others = tuple(number for number in range(shards) if number != shard)
        self._shard = shard
        self._addresses = addresses.shards
        self._frontier = frontier
        self._handlers = handlers
        self._clock = clock or Clock()
        delay_s = config.frontier.ip_delay_s if config.frontier.delay_s else 0.0
        grant_s = config.fetch.timeout_s + GRANT_MARGIN_S
        self._clocks = AddressClocks(delay_s, grant_s, self._clock, self.others)
        self.gate = AddressGate(shards, delay_s, self._clock, self._send)
        self.claims = Claims(shard, shards, frontier, self._clock, self._send)
        self.coordinator = CoordinatorClient(shard, addresses.coordinator, frontier, config, handlers, scope)
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._peers: dict[int, _Peer] = {}
        self._own: list[PeerMessage] = []
        self._is_flushing = False
        self._inlet: LoopSocket | None = None
        self._ticks: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the sockets, report to the coordinator, and start the ticks."""
        self._loop = asyncio.get_running_loop()
        now = self._clock.monotonic()
        for number in self.others:
            outlet = open_outlet(self._context, self._addresses[number])
            delivery, intake = Delivery(self._frontier, number), Intake(self._frontier, number)
            self._peers[number] = _Peer(outlet, delivery, intake, heard_at=now)
        self._inlet = LoopSocket(open_inlet(self._context, self._addresses[self._shard]), self._read)
        self.coordinator.open(self._context)
        self._ticks = asyncio.create_task(self._tick_forever())

    async def close(self) -> None:
        """Close the sockets; peers resume when this shard is back."""
        if self._ticks is not None:
            self._ticks.cancel()
        self.gate.close()
        self.claims.close()
        self.coordinator.close()
        if self._inlet is not None:
            self._inlet.close()
        for peer in self._peers.values():
            peer.socket.close()
        # Waits, but only for a moment, until the last messages to the coordinator are sent.
        await asyncio.to_thread(self._context.term)

    @property
    def is_outbox_full(self) -> bool:
        """Whether so many links wait for other shards that no new URLs should be leased."""
        return self._frontier.outbox.stored_bytes > _MAX_OUTBOX_BYTES

    @property
    def is_outbox_received(self) -> bool:
        """Whether every committed entry of the outbox is durable at its destination."""
        return all(peer.delivery.is_received for peer in self._peers.values())

    @property
    def missing(self) -> tuple[int, ...]:
        """The shards from which no message has come for a while."""
        late = self._clock.monotonic() - _MISSING_S
        return tuple(number for number, peer in self._peers.items() if peer.heard_at < late)

    def after_commit(self) -> None:
        """Send the links of a durable commit, and acknowledge received ones that it contains; call it before the next commit."""
        for number, peer in self._peers.items():
            if received := peer.intake.settle():
                self._send(number, received)
            self._deliver(number, peer)

    async def _tick_forever(self) -> None:
        for tick in itertools.count():
            for number, peer in self._peers.items():
                if not peer.has_met:
                    self._greet(number, peer)
                if peer.pending or not peer.epoch or tick % _BEAT_TICKS == 0:
                    self._post(peer)
            self.claims.sweep()
            if tick % _BEAT_TICKS == 0:
                self.coordinator.tick()
            if tick % _SWEEP_TICKS == 0:
                self.gate.sweep()
                self._pass_on(self._clocks.due())
                for peer in self._peers.values():
                    peer.intake.forget_gap()
            await asyncio.sleep(_TICK_S)

    def _greet(self, number: int, peer: _Peer) -> None:
        """Send a hello to a known epoch of a peer, with where to resume, and repeat unanswered requests and claims."""
        if peer.epoch and not peer.pending:
            held = self.gate.meet_owner(number)
            peer.pending.append(Hello(peer.intake.durable, held, not peer.has_met))
            self.gate.ask_again(number)
            self.claims.ask_again(number)

    def _read(self, frames: list[bytes]) -> None:
        try:
            batch = _decoder.decode(frames[-1])
            peer = self._peers[batch.source]
        except (*UNREADABLE, KeyError):
            _log.warning("something that is no batch came from a peer")
            return
        if batch.epoch < peer.epoch:
            return
        if batch.epoch > peer.epoch:
            peer.epoch = batch.epoch
            peer.has_met = False
            peer.pending = []
            peer.delivery.suspend()
            self._greet(batch.source, peer)
            self._flush_soon()
        peer.heard_at = self._clock.monotonic()
        if batch.to_epoch == self._frontier.epoch:
            for message in batch.messages:
                if isinstance(message, Hello):
                    self._take_hello(batch.source, peer, message)
                elif peer.has_met:
                    self._take(batch.source, message)

    def _take_hello(self, source: int, peer: _Peer, hello: Hello) -> None:
        if not peer.has_met:
            peer.has_met = True
            self._pass_on(self._clocks.hear(source, hello.held))
        if hello.wants_answer:
            self._greet(source, peer)
        peer.delivery.resume(hello.received)
        self._deliver(source, peer)
        self._flush_soon()
        self._handlers.wake()

    def _take(self, source: int, message: PeerMessage) -> None:
        match message:
            case Acquire(address, ticket):
                self._pass_on(self._clocks.acquire(address, source, ticket))
            case Release(address, wait_s):
                self._pass_on(self._clocks.release(address, source, wait_s))
            case Grant():
                self.gate.take_grant(message)
            case Revoke():
                self.gate.take_revoke(message)
            case ContentClaim():
                self.claims.answer(source, message)
                self._handlers.note()
            case Claimed():
                self.claims.take(source, message)
            case Repeated(origin, other):
                self._frontier.contents.note_repeated(origin, other)
                self._handlers.note()
            case Links():
                self._take_links(source, message)
            case Received(cursor, has_gap):
                self._take_received(source, cursor, has_gap)

    def _take_links(self, source: int, links: Links) -> None:
        intake = self._peers[source].intake
        is_next, answer = intake.judge(links)
        if is_next:
            epoch, sequence = links.cursor
            try:
                entry = decode_outbox_entry(links.payload)
                if isinstance(entry, list):
                    self._handlers.on_links(source, epoch, sequence, entry)
                else:
                    if self._frontier.inbox.accept(source, epoch, sequence):
                        for key, url in entry.items():
                            self._frontier.contents.release(key, url)
                    self._handlers.wake()
            except (GapError, *UNREADABLE):
                # Links that cannot be read were not sent as they are, so they must be sent again, too.
                answer = intake.reject()
        if answer is not None:
            self._send(source, answer)

    def _take_received(self, source: int, cursor: Cursor, has_gap: bool) -> None:
        peer = self._peers[source]
        if has_gap:
            peer.delivery.resume(cursor)
        else:
            peer.delivery.acknowledge(cursor)
        self._deliver(source, peer)
        self._handlers.wake()

    def _deliver(self, number: int, peer: _Peer) -> None:
        for links in peer.delivery.take():
            self._send(number, links)

    def _pass_on(self, orders: list[Order]) -> None:
        for order in orders:
            self._send(order.asker, order)

    def _send(self, destination: int, message: PeerMessage) -> None:
        """Send a message at the end of this loop iteration. To a peer that is not met yet, it is sent again once it is."""
        if destination == self._shard:
            self._own.append(message)
        elif (peer := self._peers.get(destination)) is not None and peer.epoch:
            peer.pending.append(message)
            if isinstance(message, Repeated):
                # No page waits for it, so it goes with the next message or tick.
                return
        else:
            return
        self._flush_soon()

    def _flush_soon(self) -> None:
        if not self._is_flushing:
            self._is_flushing = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        while self._own:
            own, self._own = self._own, []
            for message in own:
                self._take(self._shard, message)
        self._is_flushing = False
        for peer in self._peers.values():
            if peer.pending:
                self._post(peer)

    def _post(self, peer: _Peer) -> None:
        batch = MessageBatch(self._shard, self._frontier.epoch, peer.epoch, peer.pending)
        try:
            peer.socket.send(_encoder.encode(batch), zmq.DONTWAIT)
        except zmq.ZMQError:
            # The peer is absent. Its messages wait; they are few, as the window limits them.
            return
        peer.pending = []
