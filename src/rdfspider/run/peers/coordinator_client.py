"""A shard's connection to the coordinator: permits, questions and commands enter, beats and answers leave."""

import asyncio
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import zmq

from rdfspider.config import Config
from rdfspider.crawl.messages import Beat
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.outbox import Cursor
from rdfspider.places.keys import ProcessKeys
from rdfspider.records import Discovered
from rdfspider.run.peers.lease import LifeLease
from rdfspider.run.peers.line import Line, Parcel
from rdfspider.run.peers.messages import (
    UNREADABLE,
    Arrival,
    Book,
    Control,
    ControlCommand,
    CoordinatorBatch,
    CoordinatorMessage,
    Document,
    DocumentStored,
    EsteemTable,
    Heard,
    Permits,
    PermitsReturned,
    PermitsWanted,
    Recall,
    Round,
    RoundAnswer,
    ScopeFound,
    ShardBatch,
    ShardMessage,
    Welcome,
)
from rdfspider.run.peers.permits import PermitPool
from rdfspider.run.peers.sockets import LoopSocket, open_line

_log = logging.getLogger(__name__)

# Seconds without a message from the coordinator, which answers every beat, after which a shard halts.
_MAX_SILENT_TICKS = 20
# How long the last messages may take when a shard ends.
_LINGER_MS = 500

LEASE_OVER = 76
"""The exit code of a shard that has not heard the coordinator for so long that another life of it may have been started."""

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(CoordinatorBatch)


@dataclass(frozen=True, slots=True)
class PeerHandlers:
    """A shard's callbacks for messages from its peers and the coordinator."""

    on_control: Callable[[Control], None]
    on_links: Callable[[list[Discovered]], None]
    """Adds links of another shard to the frontier."""
    tell_again: Callable[[int, Cursor, bool], None]
    """Takes `(destination, received, is_behind)`: another shard has lost links of this one. If it is behind, its cursor is
    `received` again, and what was told again after that is lost, too."""
    is_idle: Callable[[], bool]
    """Returns whether the shard has nothing to do."""
    wake: Callable[[], None] = lambda: None
    """Called when there may be work, because permits or links have come."""
    on_document: Callable[[str, bytes], None] = lambda name, body: None
    """Takes a file of the crawl's documents that another shard has stored."""
    on_end: Callable[[asyncio.Task[None]], None] = lambda task: None
    """Takes the task that watches over the connections when it has ended, which only an error or `close` does."""
    note: Callable[[], None] = lambda: None
    """Called when something was staged in the frontier that should be committed soon, but there is no new work."""


class CoordinatorClient:
    """The connection of one shard to the coordinator."""

    def __init__(
        self,
        shard: int,
        address: str,
        frontier: Frontier,
        config: Config,
        handlers: PeerHandlers,
        scope: tuple[str, ...],
        clock: Clock | None = None,
        *,
        keys: ProcessKeys | None = None,
        on_book: Callable[[Book], None] = lambda book: None,
        lease_s: float = 0.0,
    ) -> None:
        """`on_book` takes the addresses of shards that have moved; `lease_s` is the term of the shard's life, 0 without one."""
        self._shard = shard
        self._keys = keys
        self._on_book = on_book
        self.lease = LifeLease(lease_s)
        self._clock = clock or Clock()
        self._address = address
        self._frontier = frontier
        self._handlers = handlers
        self._scope = scope
        self.permits = PermitPool(config.crawl.pages > 0, self._ask_permits, self._return_permits)
        """Permits to fetch pages, if the crawl has a limit of pages."""
        self._parent_pid = os.getppid()
        self._silent_ticks = 0
        self._has_beaten = False
        self.welcome = asyncio.Event()
        """Set when the coordinator has answered this shard's arrival, and its commands have been received. Before that nothing is
        fetched, as the crawl may be paused or over."""
        self._wire: LoopSocket | None = None
        self._own_address = ""
        self._epoch = 0
        """The coordinator's; 0 before its first message."""
        self._line: Line[ShardMessage] = Line()

    def open(self, context: "zmq.Context[zmq.Socket[bytes]]", own_address: str = "") -> None:
        """Connect, and report this shard's arrival, how many pages it has, and where it is reached, if that is not known."""
        socket = open_line(context, self._address, self._keys)
        self._wire = LoopSocket(socket, self._read, _LINGER_MS)
        self._own_address = own_address
        self._arrive()

    def _arrive(self) -> None:
        counts = self._frontier.counts
        self._send(
            Arrival(
                self._shard,
                self._frontier.epoch,
                counts.fetched_pages,
                counts.fetched_bytes,
                self._scope,
                self._own_address,
                self.permits.reserved,
            )
        )

    def close(self) -> None:
        """Close the connection, once the last messages are sent."""
        if self._wire is not None:
            self._wire.close()

    def send_beat(self, beat: Beat) -> None:
        """Send a beat; an idle shard also returns its free permits."""
        self._has_beaten = True
        self.lease.note_beat(beat.time)
        if beat.is_idle:
            self.permits.return_free()
        # The next one replaces it, so it need not arrive.
        self._transmit(self._line.wrap_loose([beat]))

    def tell_scope(self, additions: tuple[str, ...]) -> None:
        """Tell all shards, through the coordinator, which URLs widen the scope."""
        self._send(ScopeFound(self._shard, self._frontier.epoch, additions))

    def share_document(self, name: str, body: bytes) -> None:
        """Send a file of the crawl's documents to the coordinator and all shards."""
        self._send(DocumentStored(self._shard, self._frontier.epoch, name, body))

    @property
    def may_fetch(self) -> bool:
        """Whether servers may be asked: the coordinator has answered, and said nothing against it."""
        return self.welcome.is_set() and self.lease.has_begun

    def check_life(self) -> None:
        """End this process at once if the coordinator has not answered for too long; called before each request is sent."""
        if self.lease.is_over:
            _log.warning("shard %d ends: the coordinator has not been heard, and may have started another", self._shard)
            # Like a power failure, this loses nothing.
            os._exit(LEASE_OVER)

    def tick(self) -> None:
        """Send again, every second, what the coordinator did not acknowledge, and check that it is alive; a shard without one
        halts, because nothing could stop it."""
        self.check_life()
        self._line.tick(self._clock.monotonic(), self._transmit)
        self._silent_ticks += self._has_beaten
        if os.getppid() != self._parent_pid or self._silent_ticks == _MAX_SILENT_TICKS:
            self._handlers.on_control(Control(ControlCommand.HALT, "the coordinator is gone"))

    def _read(self, frames: list[bytes]) -> None:
        try:
            batch = _decoder.decode(frames[-1])
        except UNREADABLE:
            _log.warning("something that is no message came from the coordinator")
            return
        if batch.epoch < self._epoch or batch.to_epoch != self._frontier.epoch:
            return
        self._silent_ticks = 0
        if batch.epoch > self._epoch > 0:
            # Another coordinator, which knows nothing yet.
            self._line = Line()
            self._epoch = batch.epoch
            self.permits.begin_again()
            self._arrive()
        self._epoch = batch.epoch
        parcel = Parcel(batch.number, batch.received, batch.has_gap, batch.messages)
        for message in self._line.take(parcel, self._clock.monotonic()):
            self._take(message)
        if self._line.is_urgent:
            self._flush()

    def _take(self, message: CoordinatorMessage) -> None:
        match message:
            case Permits(count=count):
                self.permits.receive(count)
                self._handlers.wake()
            case Recall():
                self.permits.return_free()
            case Round(number):
                is_idle, generation = self._handlers.is_idle(), self._frontier.generation
                self._send(RoundAnswer(self._shard, self._frontier.epoch, number, is_idle, generation))
            case Control() as control:
                self._handlers.on_control(control)
            case Document(name, body):
                self._handlers.on_document(name, body)
            case EsteemTable(sites):
                self._frontier.take_esteem(sites)
                self._handlers.wake()
            case Book() as book:
                self._on_book(book)
            case Welcome() if not self.welcome.is_set():
                self.welcome.set()
                self._handlers.wake()
            case Heard(time=beat_time):
                self.lease.renew(beat_time)
                self._handlers.wake()
            case Welcome():
                pass

    def _ask_permits(self, count: int) -> None:
        self._send(PermitsWanted(self._shard, self._frontier.epoch, count))

    def _return_permits(self, count: int) -> None:
        self._send(PermitsReturned(self._shard, self._frontier.epoch, count))

    def _send(self, message: ShardMessage) -> None:
        self._line.pending.append(message)
        self._flush()

    def _flush(self) -> None:
        self._line.flush(self._clock.monotonic(), self._transmit)

    def _transmit(self, parcel: Parcel[ShardMessage]) -> bool:
        if self._wire is None:
            return False
        return self._wire.send([_encoder.encode(ShardBatch(self._shard, self._frontier.epoch, self._epoch, *parcel))])
