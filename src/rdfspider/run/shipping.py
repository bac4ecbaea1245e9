"""The backup of a running crawl: every so often the state of a shard, or the crawl's small files, goes to the store.

A shard's tables are flushed in a thread; then, between two commits, a checkpoint takes some milliseconds. It is sent by a thread
of its own, at a pace that leaves the processor and the network to the crawl. While the store is away, the crawl goes on, and
says so.
"""

import asyncio
import logging
import os
import shutil
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from rdfspider.backup.manifests import HEAD, Cursor, Manifest, SupersededError, begin_epoch, name_shard
from rdfspider.backup.objects import Objects
from rdfspider.backup.pace import Pace, StoppedError
from rdfspider.backup.shipment import Shipper, Snapshot
from rdfspider.config import BackupConfig
from rdfspider.crawl.messages import BackupState
from rdfspider.errors import AwayError
from rdfspider.frontier.frontier import Frontier
from rdfspider.run.backups import list_database, take_head
from rdfspider.run.commits import WARC

_log = logging.getLogger(__name__)

T = TypeVar("T")

# How soon a store that was away is tried again, at the latest.
_RETRY_S = 10.0
_CHECKPOINT, _HEAD_COPIES = "checkpoint", "head-copies"
# The part of a core that the thread which sends may use: what takes longer, as on a slow disk, is waited for.
_CPU_SHARE = 0.2


class Shipping:
    """Sends the states of one member, one after the other, until it is told to finish."""

    def __init__(
        self,
        config: BackupConfig,
        member: str,
        take: Callable[[], Awaitable[Snapshot]],
        *,
        epoch: int = 0,
        on_shipped: Callable[[Mapping[int, Cursor]], None] = lambda inbox: None,
        release: Callable[[], None] = lambda: None,
    ) -> None:
        """`take` takes the present state, and `release`, which runs in a thread, is called when it is no longer needed;
        `on_shipped` is called with what other shards have sent, when it is safe in the store. Without an epoch, the store gives
        one at the first shipment."""
        self._config = config
        self._member = member
        self._take = take
        self._epoch = epoch
        self._on_shipped = on_shipped
        self._release = release
        self._pace = Pace(config.max_bytes_s, _CPU_SHARE)
        self._shipper: Shipper | None = None
        self._shipped: Manifest | None = None
        self._problem = ""
        self._pause_s = 0.0
        self._finishing = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None

    @property
    def state(self) -> BackupState:
        """How the backup stands."""
        taken = self._shipped.taken if self._shipped else 0.0
        return BackupState(taken, self._problem, self._shipper.sent_bytes if self._shipper else 0, self._pause_s)

    def start(self) -> asyncio.Task[None]:
        """Begin to send; the task fails if a later life of the member has begun."""
        self._loop = asyncio.create_task(self._run())
        return self._loop

    async def finish(self, limit_s: float) -> None:
        """Send the last state, if that takes no longer than this."""
        self._finishing.set()
        try:
            async with asyncio.timeout(limit_s):
                if self._loop is not None:
                    await self._loop
                await self._ship()
        except TimeoutError:
            self._pace.stop()
            self._complain("the last pages did not reach it in time")

    async def _run(self) -> None:
        while not self._finishing.is_set():
            await self._ship()
            wait_s = min(self._config.every_s, _RETRY_S) if self._problem else self._config.every_s
            with suppress(TimeoutError):
                await asyncio.wait_for(self._finishing.wait(), wait_s)

    async def _ship(self) -> None:
        """Send the present state. What the store has not got then is sent the next time."""
        try:
            snapshot = await self._take()
            self._pause_s = max(self._pause_s, snapshot.pause_s)
            manifest = await run_in_thread(lambda: self._send(snapshot))
        except SupersededError:
            raise
        except (AwayError, OSError) as error:
            self._complain(str(error))
        except StoppedError:
            pass
        except Exception:
            # A backup that fails must not end the crawl.
            _log.exception("the backup of %s failed", self._member)
            self._complain("it failed, see the log")
        else:
            if self._problem:
                _log.warning("the backup of %s goes on", self._member)
            self._problem = ""
            self._shipped = manifest
            self._on_shipped(manifest.inbox)

    def _send(self, snapshot: Snapshot) -> Manifest:
        try:
            if self._shipper is None:
                objects = Objects(self._config.url)
                epoch = self._epoch or begin_epoch(objects, self._member, 1)
                self._shipper = Shipper(objects, self._member, epoch, self._pace)
            return self._shipper.ship(snapshot)
        finally:
            self._release()

    def _complain(self, problem: str) -> None:
        if not self._problem:
            _log.warning("the backup of %s waits: %s", self._member, problem)
        self._problem = problem


class ShardSnapshots:
    """Takes the states of a running shard."""

    def __init__(
        self, folder: Path, frontier: Frontier, turn: asyncio.Lock, read_lengths: Callable[[], Mapping[str, int]]
    ) -> None:
        """`turn` is held during commits; `read_lengths` returns the lengths of the segments at the last one."""
        self._folder = folder
        self._frontier = frontier
        self._turn = turn
        self._read_lengths = read_lengths

    async def take(self) -> Snapshot:
        """Make a checkpoint of what is committed; it replaces the last one."""
        checkpoint = self._folder / _CHECKPOINT
        await asyncio.to_thread(shutil.rmtree, checkpoint, ignore_errors=True)
        await asyncio.to_thread(self._frontier.flush)
        async with self._turn:
            # What was committed meanwhile is little, but a checkpoint would write it while everything waits.
            await asyncio.to_thread(self._frontier.flush)
            begun = time.monotonic()
            self._frontier.create_checkpoint(checkpoint)
            snapshot = Snapshot(
                taken=time.time(),
                generation=self._frontier.generation,
                archive=self._folder / WARC,
                lengths=dict(self._read_lengths()),
                inbox=self._frontier.inbox.cursors(),
                files=list_database(checkpoint),
            )
            return replace(snapshot, pause_s=time.monotonic() - begun)

    def clear(self) -> None:
        """Remove the last checkpoint, whose files are links to those of the tables, and keep them on the disk."""
        shutil.rmtree(self._folder / _CHECKPOINT, ignore_errors=True)


def ship_shard(
    config: BackupConfig,
    number: int,
    snapshots: ShardSnapshots,
    epoch: int,
    on_shipped: Callable[[Mapping[int, Cursor]], None],
) -> Shipping:
    """The backup of a running shard."""
    member = name_shard(number)
    return Shipping(config, member, snapshots.take, epoch=epoch, on_shipped=on_shipped, release=snapshots.clear)


def check_store(config: BackupConfig) -> None:
    """Raise UsageError if the store cannot be reached when a crawl starts, as with a wrong name; later it is waited for."""
    if config.url:
        Objects(config.url).list(f"{HEAD}/epochs/")


def ship_head(config: BackupConfig, folder: Path, epoch: int) -> Shipping:
    """The backup of the crawl's small files."""

    copies = folder / _HEAD_COPIES

    async def take() -> Snapshot:
        return await asyncio.to_thread(_copy_head, folder, copies)

    return Shipping(config, HEAD, take, epoch=epoch, release=lambda: shutil.rmtree(copies, ignore_errors=True))


def _copy_head(folder: Path, copies: Path) -> Snapshot:
    """Take the small files by links: the crawl replaces them as a whole, and what has a link stays as it is."""
    shutil.rmtree(copies, ignore_errors=True)
    snapshot = take_head(folder)
    files = {}
    for name, path in snapshot.files.items():
        copy = copies / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # It was removed meanwhile.
            os.link(path, copy)
            files[name] = copy
    return replace(snapshot, files=files)


async def run_in_thread(work: Callable[[], T]) -> T:
    """Run something that may wait for a store for long; unlike those of a pool, the thread does not keep the process from
    ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]  # there is one without an error

    def run() -> None:
        result, error = None, None
        try:
            result = work()
        except BaseException as caught:
            error = caught
        with suppress(RuntimeError):  # The loop is closed.
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="shipping", daemon=True).start()
    return await done
