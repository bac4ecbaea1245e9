"""The parent process of a crawl: a folder and its Config enter, the final Status leaves.

It runs the coordinator, starts the shards through a runner and keeps them and the indexer alive; a shard that dies is restarted
while the others continue. The status is written to the crawl's folder every second, and when the state changes. A stop by a
signal, a command or the time limit ends within ten seconds, whatever servers do; a second Ctrl-C stops at once. Neither loses
anything: what was in flight is fetched, and what was not indexed is indexed, when the crawl runs again.
"""

import asyncio
import logging
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from rdfspider.config import Config
from rdfspider.crawl.budgets import SIGNAL_REASONS, EndReason
from rdfspider.crawl.folder import CONTROL, DOCUMENTS, advise_doctor, frontier_folder, make_change, read_seeds
from rdfspider.crawl.history import Recorder
from rdfspider.crawl.lives import Life, begin_life, has_run
from rdfspider.crawl.messages import Beat, Command, CommandAnswer, CommandName, RunState
from rdfspider.crawl.status import Status, end_shards, forget_run, read_status
from rdfspider.disk import write_atomically
from rdfspider.errors import UsageError
from rdfspider.linked_documents import KeptDocuments
from rdfspider.processes.signals import Signals, run_until_end
from rdfspider.processes.supervisor import Exit, Fate, RestartPolicy, SupervisedChild, Supervisor
from rdfspider.run.copies import CrawlCopies
from rdfspider.run.head import find_earliest_start, lead, watch_successor
from rdfspider.run.index_watch import IndexWatch
from rdfspider.run.mirror import Mirror
from rdfspider.run.peers.coordinator import Coordinator, Outgoing
from rdfspider.run.peers.coordinator_hub import CoordinatorHub
from rdfspider.run.peers.messages import Control, ControlCommand
from rdfspider.run.run_status import RunStatus
from rdfspider.run.runners.local import make_local_runner, remove_old_sockets
from rdfspider.run.runners.runner import Runner, ShardExit, ShardOrder
from rdfspider.run.shard_epochs import claim_epoch
from rdfspider.run.shard_watch import ShardWatch
from rdfspider.run.shipping import run_in_thread, ship_head

_log = logging.getLogger(__name__)

_TICK_S = 1.0
# How often to check whether the user has cut short the wait for the index.
_FINISH_POLL_S = 0.1
# Seconds after the end of the crawl at which shards that are still there are killed, and an indexer that catches up after the
# time limit is told to leave; and how long the indexer may take for that. Together they are less than the ten seconds of a stop.
_STOP_S = 6.0
_LEAVE_S = 3.0
# How long the last facts of shards in other places may take to be copied, where nobody waits for the end.
_MIRROR_S = 600.0
# How long the last shipment of a backup may take: at the end of a crawl, or when a person waits for it to stop.
_LAST_SHIPMENT_S = 60.0
_STOPPED_SHIPMENT_S = 1.0
# For shards that die before their first message.
_RESTARTS = RestartPolicy()
# How long the restoration of a shard may take before it is begun again, which goes on where it was.
_RESTORING_S = 6 * 3600.0


def run_crawl(
    folder: Path, config: Config, on_progress: Callable[[Status], None] | None = None, runner: Runner | None = None
) -> Status:
    """Run a crawl until it ends; the caller holds the folder's lock. Returns the final status, and reports it as progress.

    Without a runner, the shards run on this machine."""
    on_progress = on_progress or (lambda status: None)
    remove_old_sockets(folder / CONTROL)
    runner = runner or make_local_runner(folder, config)
    try:
        coordination = _Coordination(folder, config, runner, on_progress)
        status = run_until_end(coordination.run, coordination.signals)
    finally:
        runner.close()
    on_progress(status)
    return status


def _adapt_restarts(lease_s: float, config: Config) -> RestartPolicy:
    """Where shards have leases, one that is silent for its term and the longest pause between two requests to a host asks nobody
    any more, whether it can be reached or not. Hosts that its successor knows get their full pause from it."""
    # With a backup, it may be restoring its state for long before it can be heard.
    policy = replace(_RESTARTS, unheard_s=max(_RESTORING_S, _RESTARTS.unheard_s)) if config.backup.url else _RESTARTS
    if not lease_s:
        return policy
    pace_s = max(config.frontier.delay_s, config.frontier.ip_delay_s)
    return replace(policy, stuck_s=lease_s + pace_s, abandons=True)


class _Coordination:
    def __init__(self, folder: Path, config: Config, runner: Runner, on_progress: Callable[[Status], None]) -> None:
        self._folder = folder
        self._config = config
        self._runner = runner
        self._on_progress = on_progress
        self._restarts = _adapt_restarts(runner.lease_s, config)
        previous = read_status(folder)
        if previous.state == RunState.UNKNOWN:
            _log.warning(
                "the status of earlier runs is lost, so that a limit of time counts from now: %s", previous.reason
            )
        self._previous = tuple(map(forget_run, previous.shards))
        self._started = time.time()
        self._life = lead(folder, config.backup.url)
        wait_s = self._restarts.stuck_s if runner.lease_s else 0.0
        may_overlap = self._life.is_elsewhere and bool(config.backup.url)
        self._earliest_start = find_earliest_start(
            *(previous, time.time(), wait_s), is_first=self._life.is_first, may_overlap=may_overlap
        )
        self._history = Recorder(folder)
        known_bytes = {beat.shard: beat.fetched_bytes for beat in self._previous}
        self._coordinator = Coordinator(config.crawl.shards, config.crawl, previous.elapsed_s, known_bytes)
        self._hub = CoordinatorHub(
            *(self._coordinator, runner.control, self._on_heard, self._change),
            epoch=self._life.epoch,
            shard_address=runner.addresses.coordinator,
            keys=runner.keys.of_coordinator() if runner.keys else None,
        )
        self._shards = [self._make_supervisor(number) for number in range(config.crawl.shards)]
        self._started_shards: set[int] = set()
        """Shards that have been started in this run."""
        self._watch = ShardWatch(folder, self._coordinator, self._shards)
        self._refused: set[int] = set()
        """Shards whose frontier has refused the epoch that was given last."""
        self._mirror: Mirror | None = None
        if runner.has_places and runner.keys is not None:
            beats = self._coordinator.beats
            self._mirror = Mirror(folder, runner.keys.of_coordinator(), lambda: tuple(beats))
        self._index = IndexWatch(folder, config) if config.index.enabled else None
        self._status = RunStatus(folder, previous, self._started, self._coordinator, self._index)
        self._shipping = ship_head(config.backup, folder, self._life.epoch) if config.backup.url else None
        self._copies = CrawlCopies(folder, config, self._coordinator, self._shipping)
        self._ended_at: float | None = None
        """When the crawl was found to be over, by the monotonic clock; None before."""
        self._is_finishing = False
        """Whether all shards have ended and only the indexer still works."""
        self.signals = Signals(self._take_signal)
        self._taken: list[signal.Signals] = []
        """The signals received."""
        self._error = ""

    async def run(self) -> Status:
        """Start all processes, and wait until they have ended."""
        self._hub.open()
        ticks = asyncio.create_task(self._tick())
        ticks.add_done_callback(self._end_without_ticks)
        try:
            write_atomically(self._folder / CONTROL, f"{self._runner.control}\n".encode(), durable=False)
            self.signals.listen()
            if self._shipping is not None:
                self._shipping.start().add_done_callback(self._end_superseded)
                successor = asyncio.create_task(watch_successor(self._config.backup.url, self._life.epoch))
                successor.add_done_callback(self._end_superseded)
            indexing = asyncio.create_task(self._keep_index())
            if self._mirror is not None:
                self._mirror.start()
            await asyncio.gather(*map(self._keep_shard, range(len(self._shards))))
            await self._finish_mirror()
            await self._finish_index(indexing)
        finally:
            if self._index is not None:
                self._index.kill()
            ticks.cancel()
            self._hub.close()
            with suppress(OSError):
                (self._folder / CONTROL).unlink()
        if self._index is not None:
            self._index.look()
        status = end_shards(self._make_status())
        self._status.write(status)
        self._history.write()
        await self._copies.finish()
        if self._shipping is not None:
            await self._shipping.finish(_STOPPED_SHIPMENT_S if self._is_cut_short() else _LAST_SHIPMENT_S)
        if ticks.done() and not ticks.cancelled():
            ticks.result()
        if self._error:
            raise UsageError(self._error)
        return status

    def _change(self, command: Command) -> tuple[CommandAnswer, Outgoing]:
        """Store a change of seeds or filters that a user requests, or send a copy; this process holds the folder's lock."""
        if command.command == CommandName.BACKUP:
            return self._copies.answer(command)
        try:
            count, self._config = make_change(self._folder, self._config, command)
        except (UsageError, OSError) as error:
            return CommandAnswer(False, str(error)), []
        crawl = self._config.crawl
        change = Control(ControlCommand.FILTERS, include=crawl.include, exclude=crawl.exclude)
        if command.command == CommandName.ADD_SEEDS:
            new = tuple(read_seeds(self._folder)[-count:]) if count and self._runner.has_places else ()
            change = Control(ControlCommand.SEEDS, additions=new)
        return CommandAnswer(True, count=count), self._coordinator.announce(change) if count else []

    def _make_supervisor(self, number: int) -> Supervisor:
        start, judge = partial(self._start_shard, number), partial(self._judge_exit, number)
        return Supervisor(f"shard {number}", start, judge, self._restarts)

    async def _keep_shard(self, number: int) -> None:
        """Keep a shard alive until the crawl ends; if that fails, end the crawl."""
        while not self._coordinator.ended and time.time() < self._earliest_start:
            await asyncio.sleep(_FINISH_POLL_S)
        if not await self._shards[number].run():
            self._end_with(
                f"shard {number} cannot be started: it has failed {self._restarts.max_failures} times in a row"
            )

    async def _start_shard(self, number: int) -> SupervisedChild:
        is_again = number in self._started_shards
        self._started_shards.add(number)
        earlier = next((beat for beat in self._previous if beat.shard == number), None)
        last = self._coordinator.beats.get(number, earlier)
        is_known = last is not None or await run_in_thread(lambda: has_run(self._folder, number))
        life = await self._begin_life(number, last)
        self._refused.discard(number)
        self._coordinator.note_start(number, life.epoch)
        addresses = self._runner.addresses._replace(coordinator=self._hub.shard_address)
        order = ShardOrder(number, self._folder, addresses, self._config, is_again, *life, has_run=is_known)
        return await self._runner.start(order)

    async def _begin_life(self, number: int, last: Beat | None) -> Life:
        """Begin a life of a shard. A store may take long to answer; if this is cancelled meanwhile, nothing is written."""
        is_refused, url, is_wanted = number in self._refused, self._config.backup.url, True

        def claim(least: int) -> int:
            epoch = claim_epoch(url, number, least) if url else least
            if not is_wanted:
                raise InterruptedError
            return epoch

        try:
            return await run_in_thread(
                partial(begin_life, self._folder, number, last, is_refused=is_refused, claim=claim)
            )
        finally:
            is_wanted = False

    def _judge_exit(self, number: int, ended: Exit) -> Fate:
        """Decide what follows from the end of a shard: it has failed if it never reported to the coordinator. An error that a
        user must repair ends the crawl."""
        has_arrived = number in self._coordinator.present
        if has_arrived:
            self._watch.note_run(number)
        self._coordinator.note_exit(number)
        if self._coordinator.ended:
            return Fate.OVER
        match ended.code:
            case ShardExit.DAMAGED:
                # Restoring only the frontier from an older copy would cut the archive back to that copy's state.
                self._end_with(
                    f"{frontier_folder(self._folder, number)} is damaged: {advise_doctor(self._folder)}, or put a sound copy "
                    f"of all of {self._folder} in its place"
                )
                return Fate.OVER
            case ShardExit.USAGE:
                self._end_with(f"shard {number} cannot be opened; {advise_doctor(self._folder)}")
                return Fate.OVER
            case ShardExit.UNRESTORED:
                url = self._config.backup.url
                self._end_with(
                    f"shard {number} cannot be restored; `rdfspider verify --backup {url}` tells what is missing"
                )
                return Fate.OVER
            case ShardExit.STALE:
                self._refused.add(number)
                return Fate.FAILED
            case ShardExit.SUPERSEDED:
                self._end_with(f"a later life of shard {number} is in the backup: the crawl goes on elsewhere")
                return Fate.OVER
            case ShardExit.DISK_FAILED:
                return Fate.SUSPENDED
        return Fate.WORKED if has_arrived else Fate.FAILED

    async def _keep_index(self) -> None:
        """Index the crawl, if configured. If the index cannot even be opened, end the crawl; later failures are only logged."""
        if self._index is None:
            return
        await self._index.run()
        if self._index.error and not self._index.has_begun:
            self._end_with(self._index.error)
        elif self._index.error:
            _log.warning("the crawl goes on without its index; bring it up to date later, with `rdfspider index`")

    async def _finish_mirror(self) -> None:
        """Copy the last facts of shards in other places; after a stop only for a moment."""
        if self._mirror is not None:
            patience_s = _LEAVE_S if self._is_cut_short() or self._is_time_over() else _MIRROR_S
            await asyncio.to_thread(self._mirror.finish, patience_s)

    async def _finish_index(self, indexing: asyncio.Task[None]) -> None:
        """Let the indexer index the rest if the crawl has ended by itself; after its time limit only for a moment, and otherwise
        not."""
        if self._index is not None and not indexing.done():
            self._is_finishing = True
            if not self._is_cut_short():
                self._index.finish()
            while not indexing.done() and not (self._is_cut_short() or self._is_time_over()):
                await asyncio.wait([indexing], timeout=_FINISH_POLL_S)
            await self._index.leave(_LEAVE_S)
        await indexing

    def _is_cut_short(self) -> bool:
        """Whether a user or an error has ended the crawl."""
        coordinator = self._coordinator
        return bool(self._taken or self._error) or coordinator.is_told_to_stop or coordinator.ended == EndReason.HALTED

    def _is_time_over(self) -> bool:
        """Whether the crawl has ended by its time limit, and the indexer has had its moment."""
        return self._coordinator.ended == EndReason.TIME and self._has_ended_for(_STOP_S)

    def _is_overdue(self) -> bool:
        """Whether the crawl was stopped, and its shards have had their moment; one that ends by itself waits for them."""
        return self._is_time_over() or (self._is_cut_short() and self._has_ended_for(_STOP_S))

    def _has_ended_for(self, seconds: float) -> bool:
        return self._ended_at is not None and time.monotonic() >= self._ended_at + seconds

    def _end_with(self, error: str) -> None:
        """End the crawl with an error; shards finish what is under way. Only the first error is reported."""
        self._error = self._error or error
        self._end()

    def _end(self) -> None:
        self._hub.send(self._coordinator.end(EndReason.ASKED))
        self._stop_supervisors()

    def _take_signal(self, number: signal.Signals) -> None:
        """Stop the crawl at the first signal, and kill all processes at the second."""
        self._taken.append(number)
        if len(self._taken) == 1:
            self._end()
            return
        for shard in self._shards:
            shard.kill()
        if self._index is not None:
            self._index.kill()

    async def _tick(self) -> None:
        while True:
            self._hub.send(self._coordinator.tick())
            self._hub.tick()
            self._stop_supervisors()
            self._watch.look()
            self._runner.tend()
            self._copies.look()
            if self._index is not None:
                self._index.look()
                self._hub.send(self._coordinator.slow(self._index.find_slow_reason()))
                self._hub.send(self._coordinator.tell_esteem(self._index.read_esteem()))
            status = self._write_present()
            self._history.record(status)
            self._on_progress(status)
            await asyncio.sleep(_TICK_S)

    def _end_without_ticks(self, ticks: asyncio.Task[None]) -> None:
        """End the crawl if the ticks fail, for example by an error in `on_progress`: the time limit depends on them."""
        if not ticks.cancelled() and (error := ticks.exception()):
            self._end_with(f"what watched it failed: {str(error) or type(error).__name__}")
            # The ticks would have killed shards that do not end by themselves, such as one that does not answer.
            asyncio.get_running_loop().call_later(_STOP_S, self._stop_supervisors)

    def _end_superseded(self, task: asyncio.Task[None]) -> None:
        """End the crawl at once if its backup says that it goes on elsewhere."""
        if not task.cancelled() and (error := task.exception()):
            self._error = self._error or str(error)
            self._hub.send(self._coordinator.end(EndReason.HALTED))
            self._stop_supervisors()

    def _on_heard(self) -> None:
        """Store documents that shards have fetched elsewhere, and write the status when the state changes: a user who pauses the
        crawl must not read the status of a second ago."""
        while self._coordinator.documents:
            name, body = self._coordinator.documents.pop()
            KeptDocuments(self._folder / DOCUMENTS).take(name, body)
        self._stop_supervisors()
        if self._coordinator.state != self._status.written_state:
            self._write_present()

    def _stop_supervisors(self) -> None:
        """Restart no shard once the crawl is over. Running ones end by themselves; after a stop, one that does not is killed,
        which loses nothing, and so is one that was started and has not been heard."""
        if not self._coordinator.ended:
            return
        self._ended_at = self._ended_at or time.monotonic()
        for shard in self._shards:
            is_left = bool(shard.unheard_s) and self._has_ended_for(_STOP_S)
            if is_left or self._is_overdue():
                shard.kill()
            else:
                shard.stop()

    def _write_present(self) -> Status:
        indexes_rest = self._is_finishing and not self._is_cut_short()
        return self._status.write_present(self._make_status(), indexes_rest=indexes_rest)

    def _make_status(self) -> Status:
        ended_by = SIGNAL_REASONS[self._taken[0]] if self._taken else None
        return self._status.make(self._config.crawl, ended_by, self._error, self._watch.unheard)
