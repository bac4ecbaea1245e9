"""The connection of one shard to all others and to the coordinator.

Links enter from the frontier's outbox and leave to the shards that own them; addresses are requested and granted. Every shard has
one socket on which it receives from all its peers, and one to each of them. A peer is met when each side knows the other's epoch:
messages to or from an earlier epoch are dropped, so either side may die and come back at any moment. Between two given epochs,
messages are neither lost nor reordered, whatever becomes of the connections (`line.py`). Peers that have nothing to say cost next
to nothing, as there may be thousands.
"""

import asyncio
import heapq
import itertools
import logging
from collections.abc import Mapping

import msgspec

from rdfspider.config import Config
from rdfspider.crawl.messages import LinksTo
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.address_clocks import AddressClocks, Grant, Order, Revoke
from rdfspider.frontier.keys import UrlIds
from rdfspider.frontier.outbox import Cursor
from rdfspider.places.keys import ProcessKeys
from rdfspider.run.peers.admission import GRANT_MARGIN_S, AddressGate
from rdfspider.run.peers.calls import Calls
from rdfspider.run.peers.claims import Claims
from rdfspider.run.peers.coordinator_client import CoordinatorClient, PeerHandlers
from rdfspider.run.peers.delivery import Delivery, Intake
from rdfspider.run.peers.line import Parcel
from rdfspider.run.peers.messages import (
    UNREADABLE,
    Acquire,
    Book,
    Claimed,
    ContentClaim,
    Hello,
    Links,
    MessageBatch,
    PeerMessage,
    Received,
    Release,
    Repeated,
    decode_outbox_entry,
)
from rdfspider.run.peers.peer import Peer
from rdfspider.run.peers.sockets import AddressBook, is_told_address
from rdfspider.run.peers.wires import PeerWires

_log = logging.getLogger(__name__)

_TICK_S = 0.1
# How many ticks lie between two looks at the coordinator, and between two sweeps of timeouts.
_BEAT_TICKS = 10
_SWEEP_TICKS = 50
# A peer that sends nothing for so many times as long as signs of life are apart is missing.
_MISSING_LIVES = 5
# Pairs of shards of which a beat tells.
_PAIRS_TOLD = 20
# Messages that wait for one peer; beyond this, those that matter little are dropped.
_MAX_PENDING = 1000
# Links that may wait on disk for shards that are slow or gone; beyond this, no new URLs are leased.
_MAX_OUTBOX_BYTES = 64 * 1024 * 1024
# With a backup, entries stay until a copy has them, also while its store is away.
_MAX_BACKED_OUTBOX_BYTES = 4 * 1024 * 1024 * 1024

_decoder = msgspec.msgpack.Decoder(MessageBatch)


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
        *,
        keys: ProcessKeys | None = None,
        lease_s: float = 0.0,
        has_backup: bool = False,
    ) -> None:
        """`scope` has the URLs by which the shard has widened the scope beyond the seeds. With `keys`, TCP is encrypted;
        `lease_s` is the term of the shard's life. If it `has_backup`, links of others are durable when `note_backup` says so,
        and else with their commit."""
        shards = len(addresses.shards)
        self.others = tuple(number for number in range(shards) if number != shard)
        self._shard = shard
        self._wires = PeerWires(shard, addresses.shards, keys)
        self._frontier = frontier
        self._handlers = handlers
        self._has_backup = has_backup
        self._clock = clock or Clock()
        delay_s = config.frontier.ip_delay_s if config.frontier.delay_s else 0.0
        grant_s = config.fetch.timeout_s + GRANT_MARGIN_S
        self._clocks = AddressClocks(delay_s, grant_s, self._clock, self.others)
        self.gate = AddressGate(shards, delay_s, self._clock, self._send)
        self.claims = Claims(shard, shards, frontier, self._clock, self._send)
        self.coordinator = CoordinatorClient(
            *(shard, addresses.coordinator, frontier, config, handlers, scope, self._clock),
            keys=keys,
            on_book=self._move,
            lease_s=lease_s,
        )
        self._peers: dict[int, Peer] = {}
        self._busy: dict[int, Peer] = {}
        """Peers with whom something waits to be sent or acknowledged."""
        self._calls = Calls(self.others, self._clock.monotonic())
        self._sources: set[int] = set()
        """Peers whose links were taken and are not acknowledged yet."""
        self._own: list[PeerMessage] = []
        self._is_flushing = False
        self._ticks: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Open the sockets, report to the coordinator, and start the ticks."""
        self._loop = asyncio.get_running_loop()
        now = self._clock.monotonic()
        own_address = self._wires.open(self._read)
        for number in self.others:
            outlet = self._wires.open_outlet(number)
            delivery, intake = Delivery(self._frontier, number, now), Intake(self._frontier, number, self._has_backup)
            own = self._shard, self._frontier.epoch
            self._peers[number] = Peer(number, outlet, delivery, intake, own, self._clock, now)
        self.coordinator.open(self._wires.context, own_address)
        self._ticks = asyncio.create_task(self._tick_forever())
        self._ticks.add_done_callback(self._handlers.on_end)

    async def close(self) -> None:
        """Close the sockets; peers resume when this shard is back."""
        if self._ticks is not None:
            self._ticks.cancel()
        self.gate.close()
        self.claims.close()
        self.coordinator.close()
        for peer in self._peers.values():
            if peer.socket is not None:
                peer.socket.close()
        self._wires.close()
        # Waits, but only for a moment, until the last messages to the coordinator are sent.
        await asyncio.to_thread(self._wires.context.term)

    @property
    def is_outbox_full(self) -> bool:
        """Whether so many links wait for other shards that no new URLs should be leased."""
        return self._frontier.outbox.stored_bytes > self._max_outbox_bytes

    @property
    def may_tell_again(self) -> bool:
        """Whether there is room in the outbox for links that were sent before, beside those of new pages."""
        return self._frontier.outbox.stored_bytes < self._max_outbox_bytes // 2

    @property
    def _max_outbox_bytes(self) -> int:
        return _MAX_BACKED_OUTBOX_BYTES if self._has_backup else _MAX_OUTBOX_BYTES

    @property
    def is_settled(self) -> bool:
        """Whether all peers are met, every committed entry of the outbox is received, and no peer has to tell anything again."""
        if self._frontier.outbox.has_fresh or self._frontier.inbox.lacking:
            return False
        return all(peer.has_met and peer.delivery.is_received for peer in self._peers.values())

    @property
    def missing(self) -> tuple[int, ...]:
        """The shards from which no message has come for a while."""
        late = self._clock.monotonic() - _MISSING_LIVES * self._calls.life_s
        return tuple(number for number, peer in self._peers.items() if peer.heard_at < late)

    def after_commit(self) -> None:
        """Send the links of a durable commit, and acknowledge received ones that it contains; call it before the next commit."""
        for number in self._sources:
            if received := self._peers[number].intake.settle():
                self._send(number, received)
        # Some may have come since the commit.
        self._sources = set(filter(self._frontier.inbox.has_staged, self._sources))
        for number in self._frontier.outbox.take_fresh():
            if (peer := self._peers.get(number)) is not None:
                peer.delivery.note_commit(self._clock.monotonic())
                self._deliver(number, peer)

    def list_links(self) -> tuple[LinksTo, ...]:
        """The links for other shards: of some pairs, those that wait longest first."""
        now = self._clock.monotonic()
        pairs = (peer.delivery.count(now) for peer in self._peers.values() if peer.delivery.is_used)
        return tuple(heapq.nlargest(_PAIRS_TOLD, pairs, key=lambda links: (links.oldest_s, links.sent)))

    def note_backup(self, inbox_cursors: Mapping[int, Cursor]) -> None:
        """Acknowledge as durable the links of other shards that a written backup contains."""
        for number, cursor in inbox_cursors.items():
            if (peer := self._peers.get(number)) is not None and (received := peer.intake.note_backup(cursor)):
                self._send(number, received)

    async def _tick_forever(self) -> None:
        for tick in itertools.count():
            now = self._clock.monotonic()
            for number, peer in list(self._busy.items()):
                peer.line.tick(now, peer.send)
                if peer.line.is_quiet:
                    del self._busy[number]
            self._call_peers(now)
            self.claims.sweep()
            if tick % _BEAT_TICKS == 0:
                self.coordinator.tick()
            if tick % _SWEEP_TICKS == 0:
                self.gate.sweep()
                self._pass_on(self._clocks.due())
            await asyncio.sleep(_TICK_S)

    def _call_peers(self, now: float) -> None:
        """Give a sign of life to peers that heard nothing for a while."""
        for number, wait_s in self._calls.take_due(now, lambda number: self._peers[number].has_met):
            peer = self._peers[number]
            if now >= peer.told_at + wait_s / 2:
                peer.send(peer.line.wrap_loose([]))

    def _move(self, book: Book) -> None:
        """Reach shards where they are now."""
        moved: set[int] = set()
        for number, (address, epoch) in book.shards.items():
            peer = self._peers.get(number)
            if peer is None or not is_told_address(address):
                continue
            peer.least_epoch = max(peer.least_epoch, epoch)
            if self._wires.move(number, address):
                if peer.socket is not None:
                    peer.socket.close()
                peer.socket = self._wires.open_outlet(number)
                moved.add(number)
        self._calls.hurry(moved, self._clock.monotonic())

    def _greet(self, number: int, peer: Peer) -> None:
        """Send a hello as the first message to a new epoch of a peer, with where to resume, and repeat unanswered requests and
        claims."""
        held = self.gate.meet_owner(number)
        lacks = number in self._frontier.inbox.lacking
        numbered = self._frontier.inbox.numbered(number)
        peer.line.pending.append(Hello(peer.intake.received, peer.intake.durable, lacks, held, numbered))
        self.gate.ask_again(number)
        self.claims.ask_again(number)
        self._busy[number] = peer
        self._flush_soon()

    def _read(self, frames: list[bytes]) -> None:
        try:
            batch = _decoder.decode(frames[-1])
            peer = self._peers[batch.source]
        except (*UNREADABLE, KeyError):
            _log.warning("something that is no batch came from a peer")
            return
        if not self._wires.may_speak(batch.source):
            return
        if batch.epoch < max(peer.epoch, peer.least_epoch):
            return
        now = self._clock.monotonic()
        if batch.epoch > peer.epoch:
            peer.begin_epoch(batch.epoch)
            self._calls.begin_again(batch.source)
            self._greet(batch.source, peer)
        peer.heard_at = now
        if batch.to_epoch == self._frontier.epoch:
            parcel = Parcel(batch.number, batch.received, batch.has_gap, batch.messages)
            for message in peer.line.take(parcel, now):
                if isinstance(message, Hello):
                    self._take_hello(batch.source, peer, message)
                elif peer.has_met:
                    self._take(batch.source, message)
            if not peer.line.is_quiet:
                self._busy[batch.source] = peer
                if peer.line.is_urgent:
                    self._flush_soon()

    def _take_hello(self, source: int, peer: Peer, hello: Hello) -> None:
        if not peer.has_met:
            peer.has_met = True
            self._pass_on(self._clocks.hear(source, hello.held))
        # Before its first hello it got no links of this life. What a later hello adds, this life has said itself.
        if not peer.has_told:
            peer.has_told = True
            self._leave_out(source, *hello.numbered)
        is_behind = hello.received < self._frontier.outbox.freed(source)
        if is_behind or hello.lacks:
            self._handlers.tell_again(source, hello.received, is_behind)
        peer.delivery.resume(hello.received, hello.durable)
        self._deliver(source, peer)
        self._handlers.wake()

    def _leave_out(self, source: int, hosts: int, urls: int) -> None:
        """Give out no numbers that a lost state of this shard has given out, as a peer says."""
        if not UrlIds(len(self._peers) + 1).could_give(hosts, urls):
            _log.warning("shard %d tells of numbers that no shard gives out: %d hosts, %d URLs", source, hosts, urls)
        elif self._frontier.leave_out(hosts, urls):
            _log.warning("shard %d was put back to an older copy, as shard %d knows", self._shard, source)

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
            case Received(received, durable):
                peer = self._peers[source]
                peer.delivery.acknowledge(received, durable)
                self._deliver(source, peer)
                self._handlers.wake()

    def _take_links(self, source: int, links: Links) -> None:
        try:
            entry = decode_outbox_entry(links.payload)
        except UNREADABLE:
            # It would be the same if it were sent again, and nothing after it may wait for ever.
            _log.warning("links of shard %d cannot be read", source)
            entry = {}
        self._sources.add(source)
        inbox = self._frontier.inbox
        if not inbox.accept(source, links.cursor, links.previous, links.numbered):
            return
        if entry is None:
            inbox.complete(source)
        elif isinstance(entry, list):
            self._handlers.on_links(entry)
        else:
            for key, url in entry.items():
                self._frontier.contents.release(key, url)
        self._handlers.wake()

    def _deliver(self, number: int, peer: Peer) -> None:
        for links in peer.delivery.take():
            self._send(number, links)

    def _pass_on(self, orders: list[Order]) -> None:
        for order in orders:
            self._send(order.asker, order)

    def _send(self, destination: int, message: PeerMessage) -> None:
        """Send a message at the end of this loop iteration. To a peer that was never heard, it is sent again once it is."""
        if destination == self._shard:
            self._own.append(message)
        elif (peer := self._peers.get(destination)) is not None and peer.epoch:
            if isinstance(message, Repeated):
                # No page waits for it, so it goes with the next message or tick.
                if len(peer.line.pending) < _MAX_PENDING:
                    peer.line.pending.append(message)
                    self._busy[destination] = peer
                return
            peer.line.pending.append(message)
            self._busy[destination] = peer
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
        now = self._clock.monotonic()
        for peer in self._busy.values():
            peer.line.flush(now, peer.send)
