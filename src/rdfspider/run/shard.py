"""One shard: it leases URLs from its frontier, visits them, and commits the outcomes, until it is told to stop.

A lease becomes a visit (`_pump`; what a visit does is in `run/visits.py`), and the outcomes of visits are committed in groups
(`run/commits.py`). Commands come from the coordinator (`_apply_control`), beats go to it. Everything runs in one event loop, so
nothing here needs a lock.
"""

import asyncio
import os
import shutil

from rdfspider.backup.manifests import name_shard
from rdfspider.crawl.budgets import EndReason
from rdfspider.crawl.folder import add_seeds, frontier_folder, read_seeds, shard_folder
from rdfspider.crawl.messages import RunState
from rdfspider.discover.filters import Filters
from rdfspider.discover.scope import Router, Scope
from rdfspider.domains import Domains
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.outbox import Cursor
from rdfspider.run.commits import Committer, ShardStore
from rdfspider.run.copies import MemberCopies
from rdfspider.run.heartbeat import Condition, Meter, make_beat
from rdfspider.run.live_changes import LiveChanges
from rdfspider.run.peers.coordinator_client import PeerHandlers
from rdfspider.run.peers.messages import Control, ControlCommand
from rdfspider.run.peers.peers import Peers
from rdfspider.run.retelling import Retelling
from rdfspider.run.runners.runner import ShardOrder
from rdfspider.run.shard_archive import WARC
from rdfspider.run.shipping import Shipping, ship_shard
from rdfspider.run.snapshots import CHECKPOINT, COPY_CHECKPOINT, ShardSnapshots
from rdfspider.run.visits import ShardParts, Visits

# A visit that waits for its address holds no connection, so there are more visits than connections.
_VISITS_PER_CONNECTION = 3
# Fetching pauses when this many groups wait for the disk.
_WAITING_GROUPS = 4
_BEAT_S = 1.0
# In a crawl of more shards than this, only every second beat has what is for display, of twice as many every third, and so on.
_SHARDS_A_DISPLAY = 100
# How long requests and extractions under way may still take at a stop. Most end within it; the others are made again next time.
_FINISH_S = 3.0
# How long the last shipment of a backup may take: at the end of a crawl, or when a person waits for it to stop.
_LAST_SHIPMENT_S = 60.0
_STOPPED_SHIPMENT_S = 2.0
# A turn of the loop that takes longer shows that the processor is busy.
_CALM_S = 0.005
# How the visits to hosts that have had more than their share change with every turn: by how many more, or to which part.
_MORE_SURPLUS, _LESS_SURPLUS = 0.1, 0.8


class Shard:
    """The parts of one shard and its main loop."""

    def __init__(self, order: ShardOrder, domains: Domains) -> None:
        """A shard that is restarted within a run does not retry unanswered seeds: nothing has been repaired since."""
        self._order = order
        number, folder, config = order.number, order.folder, order.config
        clock = Clock()
        self._meter = meter = Meter()
        self._frontier = frontier = Frontier(
            frontier_folder(folder, number), config, domains, number, clock, epoch=order.epoch, heard=order.heard
        )
        self._scope = scope = Scope(config.crawl, domains)
        router = Router(scope, domains, number, meter.turned_away)
        self._store = ShardStore(number, shard_folder(folder, number), config, frontier, meter)
        self._committer = committer = Committer(self._store, frontier, scope, router, config.run.group_pages)
        self._peers = self._make_peers(clock)
        parts = ShardParts(order, domains, clock, meter, frontier, scope, router, committer, self._peers)
        self._visits = Visits(parts, self._wake_up, self._note_failure)
        self._changes = LiveChanges(
            frontier,
            scope,
            router,
            committer.turn,
            read_seeds=self._read_seeds,
            should_stop=lambda: self._is_stopping,
            on_end=self._note_failure,
        )
        self._disk_bytes = shutil.disk_usage(folder).total
        self._new_seeds: list[str] = []
        """Seeds that are not in this shard's folder yet; only if that is not the crawl's."""
        self._retelling = self._make_retelling(domains)
        self._shipping = self._make_shipping()
        self._copies = self._make_copies()
        self._failed: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()
        self._is_ready = False
        """Whether start-up is complete; before that, the shard is never idle."""
        self._was_idle = False
        self._beats = 0
        self._beats_a_display = 1 + config.crawl.shards // _SHARDS_A_DISPLAY
        self._is_paused = False
        self._is_stopping = False
        self._has_ended = False
        """Whether the crawl has ended by itself, so that there is time for the rest."""
        self._surplus = 1.0
        """How many visits to hosts that have had more than their share may be under way."""
        self._slowed = ""
        """Why no new visits are started at the moment; empty if they are."""

    async def run(self) -> None:
        """Crawl until a stop is requested, then finish the visits that end within a moment.

        An error ends the shard without clean-up, like a crash: nothing is lost, and hosts get their full pause at the next start.
        """
        self._committer.set_scope(read_seeds(self._order.folder))
        await self._peers.start()
        beats = asyncio.create_task(self._beat())
        beats.add_done_callback(self._note_failure)
        self._changes.note_seeds()
        await self._changes.finish()
        if not self._order.is_again:
            # By the coordinator's welcome it is known whether the crawl is already over.
            await self._peers.coordinator.welcome.wait()
            await self._changes.retry_seeds()
        if self._shipping is not None:
            self._shipping.start().add_done_callback(self._note_failure)
        self._is_ready = True
        commits = asyncio.create_task(self._committer.run(self._peers, self._after_commit))
        await self._pump(commits)
        await self._changes.finish()
        self._visits.cancel_waiting()
        is_clean = await self._visits.finish(_FINISH_S)
        # Whoever still lacks something asks the next life.
        self._retelling.close()
        self._committer.finish()
        await commits
        await self._copies.finish()
        if self._shipping is not None:
            await self._shipping.finish(_LAST_SHIPMENT_S if self._has_ended else _STOPPED_SHIPMENT_S)
        beats.cancel()
        self._send_beat()
        await self._close(is_clean)

    def _make_peers(self, clock: Clock) -> Peers:
        order, committer = self._order, self._committer
        handlers = PeerHandlers(
            on_control=self._apply_control,
            on_links=committer.receive,
            tell_again=self._tell_again,
            is_idle=self._is_idle,
            wake=self._wake_up,
            on_end=self._note_failure,
            note=committer.note,
            on_document=lambda name, body: self._visits.take_document(name, body),
        )
        return Peers(
            *(order.number, order.addresses, self._frontier, order.config, handlers),
            scope=tuple(committer.scope_additions),
            clock=clock,
            keys=order.keys,
            lease_s=order.lease_s,
            has_backup=bool(order.config.backup.url),
        )

    def _make_retelling(self, domains: Domains) -> Retelling:
        order = self._order
        warc = shard_folder(order.folder, order.number) / WARC
        return Retelling(
            *(order.number, warc, order.config.crawl, domains, self._frontier, self._scope),
            has_room=lambda: self._peers.may_tell_again,
            query=self._visits.query,
            note=self._committer.note,
            on_end=self._note_failure,
        )

    def _make_shipping(self) -> Shipping | None:
        backup = self._order.config.backup
        if not backup.url:
            return None
        number, epoch, crawl = self._order.number, self._frontier.epoch, self._order.crawl
        return ship_shard(backup, number, self._make_snapshots(CHECKPOINT), epoch, self._peers.note_backup, crawl)

    def _make_copies(self) -> MemberCopies:
        """What sends copies that a user asks for."""
        snapshots = self._make_snapshots(COPY_CHECKPOINT)
        backup, member = self._order.config.backup, name_shard(self._order.number)
        return MemberCopies(backup, member, snapshots.take, snapshots.clear, self._shipping)

    def _make_snapshots(self, name: str) -> ShardSnapshots:
        folder = shard_folder(self._order.folder, self._order.number)
        snapshots = ShardSnapshots(folder, self._frontier, self._committer.turn, self._store.read_lengths, name)
        # An earlier life may have left one.
        snapshots.clear()
        return snapshots

    def stop(self) -> None:
        """Start no more visits, and end when everything is durable."""
        self._is_stopping = True
        self._wake.set()

    async def _pump(self, commits: asyncio.Task[None]) -> None:
        """Start a visit for every available lease, then sleep until there may be another."""
        loop = asyncio.get_running_loop()
        while not self._is_stopping:
            self._wake.clear()
            is_calm = await self._share_out(loop)
            for task in (commits, *self._failed):
                if task.done():
                    # Raises if the disk or our code failed: what was not committed is fetched again after a restart.
                    task.result()
            with self._meter.of("lease"):
                while self._may_lease() and (lease := self._frontier.lease()):
                    self._visits.start(lease)
                wait_s = self._frontier.next_lease_in_s() if self._may_lease() else None
            if not self._visits:
                self._committer.hurry()
                self._tell_idleness()
            elif self._frontier.has_staged:
                # Staged URLs may be due, but can only be leased once they are durable.
                self._committer.note()
            if wait_s is not None and not is_calm:
                wait_s = max(wait_s, _CALM_S)
            timer = loop.call_later(wait_s, self._wake.set) if wait_s is not None else None
            await self._wake.wait()
            if timer is not None:
                timer.cancel()

    async def _share_out(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Let hosts that have had more than their share start as many visits as disturb no others; whether there is room.

        A turn of the loop tells how much waits for the processor. Answers that wait make their hosts look slow, so that they are
        asked less often.
        """
        turned_at = loop.time()
        await asyncio.sleep(0)
        is_calm = loop.time() - turned_at < _CALM_S and self._visits.has_free_connections
        most = self._order.config.fetch.connections
        self._surplus = min(self._surplus + _MORE_SURPLUS, most) if is_calm else max(self._surplus * _LESS_SURPLUS, 1.0)
        self._frontier.share_out(int(self._surplus) - self._visits.surplus)
        return is_calm and self._surplus > self._visits.surplus

    def _may_lease(self) -> bool:
        config = self._order.config
        return (
            self._peers.coordinator.may_fetch
            and not (self._is_paused or self._is_stopping or self._slowed or self._visits.shortage)
            and len(self._visits) < _VISITS_PER_CONNECTION * config.fetch.connections
            and self._committer.waiting < _WAITING_GROUPS * config.run.group_pages
            and self._visits.kept_bytes < config.fetch.max_flight_bytes
            and not self._committer.suspended
            and not self._peers.is_outbox_full
            and self._peers.coordinator.permits.has_one()
        )

    def _note_failure(self, task: asyncio.Task[None]) -> None:
        """Record a failed task, and wake the loop, which raises its error."""
        if not task.cancelled() and task.exception():
            self._failed.append(task)
        self._wake.set()

    def _tell_again(self, destination: int, received: Cursor, is_behind: bool) -> None:
        """Tell another shard again what it has lost of this shard's links."""
        self._retelling.ask(destination, received, is_behind)

    def _apply_control(self, control: Control) -> None:
        """Carry out a command that the coordinator sends to all shards."""
        match control.command:
            case ControlCommand.PAUSE:
                self._is_paused = True
                self._visits.cancel_waiting()
            case ControlCommand.RESUME:
                self._is_paused = False
                self._visits.go_on()
            case ControlCommand.SLOW:
                self._slowed = control.reason
            case ControlCommand.STOP:
                self._is_stopping = True
                self._has_ended = control.reason not in (EndReason.ASKED, EndReason.TIME)
                # If the crawl is halted a moment later, no further beat is received.
                self._send_beat()
            case ControlCommand.HALT:
                # Like a power failure, this loses nothing, and hosts get their full pause at the next start.
                os._exit(0)
            case ControlCommand.SCOPE:
                self._committer.widen_scope(control.additions)
                self._changes.note()
            case ControlCommand.FILTERS:
                self._scope.change_filters(Filters(control.include, control.exclude))
                self._changes.note()
            case ControlCommand.SEEDS:
                self._new_seeds += control.additions
                self._changes.note_seeds()
            case ControlCommand.COPY:
                self._copies.begin(control.reason, *control.additions)
        self._wake.set()

    def _read_seeds(self) -> list[str]:
        """Return the seeds, in a thread; those that were sent are stored first."""
        new, self._new_seeds = self._new_seeds, []
        if new and self._order.parcel is not None:
            add_seeds(self._order.folder, new)
        return read_seeds(self._order.folder)

    def _after_commit(self) -> None:
        """Continue with what a durable group makes possible: its memory is free, and the scope may be wider."""
        if self._committer.has_wider_scope:
            self._committer.has_wider_scope = False
            self._changes.note()
        self._visits.admit()
        self._wake.set()

    def _wake_up(self) -> None:
        self._committer.note()
        self._wake.set()

    def _is_idle(self) -> bool:
        """Whether this shard has nothing to do and no links in transit to another shard."""
        return (
            self._is_ready
            and self._changes.are_done
            and not self._visits
            and self._committer.is_settled
            and self._frontier.next_lease_in_s() is None
            and self._retelling.is_done
            and self._peers.is_settled
        )

    def _is_quiet(self) -> bool:
        """Whether this shard is paused and has nothing under way any more."""
        return self._is_paused and not self._visits and self._committer.is_settled

    def _tell_idleness(self) -> None:
        """Send a beat as soon as the shard becomes idle, so that neither the crawl's end nor a pause waits for the next one."""
        is_idle = self._is_idle() or self._is_quiet()
        if is_idle and not self._was_idle:
            self._send_beat()
        self._was_idle = is_idle

    async def _beat(self) -> None:
        while True:
            self._send_beat()
            # URLs also become due merely because time passes.
            self._wake.set()
            await asyncio.sleep(_BEAT_S)

    def _send_beat(self) -> None:
        # The first beat and the last one are whole, too.
        is_brief = self._beats % self._beats_a_display > 0 and not self._is_stopping
        self._beats += 1
        condition = self._find_condition()._replace(is_brief=is_brief)
        self._peers.coordinator.send_beat(
            make_beat(self._order.number, self._frontier, self._meter, self._store.data_counts, condition)
        )

    def _find_condition(self) -> Condition:
        state, reason = RunState.RUNNING, ""
        if self._is_stopping:
            state = RunState.STOPPING
        elif self._is_quiet():
            state = RunState.PAUSED
        elif self._committer.suspended:
            state, reason = RunState.SUSPENDED, self._committer.suspended
        elif shortage := self._visits.shortage:
            state, reason = RunState.SUSPENDED, shortage
        elif self._peers.is_outbox_full:
            state, reason = RunState.SUSPENDED, f"links wait for shards {', '.join(map(str, self._peers.missing))}"
        elif self._is_paused:
            state = RunState.PAUSING
        elif self._slowed:
            state, reason = RunState.SLOWED, self._slowed
        return Condition(
            state,
            reason,
            self._is_idle(),
            self._visits.open_connections,
            self._store.archive_bytes,
            self._store.free_bytes,
            self._disk_bytes,
            self._order.parcel.place if self._order.parcel else "",
            self._peers.list_links(),
            backup=self._shipping.state if self._shipping is not None else None,
            copy=self._copies.state,
        )

    async def _close(self, is_clean: bool) -> None:
        """Close everything. If a visit was abandoned, the frontier stays open, so that the end does not count as clean."""
        await self._visits.close()
        await self._peers.close()
        self._store.close()
        if is_clean:
            self._frontier.close()
