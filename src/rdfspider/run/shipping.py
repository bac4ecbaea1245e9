"""The backup of a running crawl: every so often the state of a shard, or the crawl's small files, goes to the store.

It is sent by a thread of its own, at a pace that leaves the processor and the network to the crawl. While the store is away, the
crawl goes on, and says so.
"""

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from rdfspider.backup.manifests import (
    HEAD,
    Cursor,
    Manifest,
    SupersededError,
    check_head,
    is_same_store,
    list_epochs,
    name_shard,
)
from rdfspider.backup.objects import Objects
from rdfspider.backup.pace import Limits, Pace, StoppedError
from rdfspider.backup.shipment import Shipper, Snapshot, begin_shipper
from rdfspider.config import BackupConfig
from rdfspider.crawl.folder import identify_crawl
from rdfspider.crawl.messages import BackupState
from rdfspider.errors import AwayError
from rdfspider.run.snapshots import HeadSnapshots, ShardSnapshots

_log = logging.getLogger(__name__)

T = TypeVar("T")

# How soon a store that was away is tried again, at the latest.
_RETRY_S = 10.0


class Shipped(NamedTuple):
    """What a shipment was about."""

    manifest: Manifest
    sent_bytes: int
    """What the store did not have yet."""


class Shipping:
    """Sends the states of one member, one after the other, until it is told to finish."""

    def __init__(
        self,
        config: BackupConfig,
        member: str,
        take: Callable[[], Awaitable[Snapshot]],
        *,
        epoch: int = 0,
        crawl: str = "",
        on_shipped: Callable[[Mapping[int, Cursor]], None] = lambda inbox: None,
        release: Callable[[], None] = lambda: None,
        limits: Limits | None = None,
    ) -> None:
        """`take` takes the present state, and `release`, which runs in a thread, is called when it is no longer needed;
        `on_shipped` is called with what other shards have sent, when it is safe in the store. Without an epoch, the store gives
        one at the first shipment. `crawl` is the crawl's identity. `limits` are those of another Shipping, if it shares them."""
        self._config = config
        self._member = member
        self._take = take
        self._epoch = epoch
        self._crawl = crawl
        self._on_shipped = on_shipped
        self._release = release
        self.limits = limits or Limits(config.max_bytes_s, config.cpu_share)
        self._pace = Pace(self.limits)
        self._shipper: Shipper | None = None
        self._shipped: Manifest | None = None
        self._problem = ""
        self._pause_s = 0.0
        self._finishing = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._asked: set[asyncio.Task[Shipped]] = set()
        """Shipments that somebody has asked for."""
        self._turn = asyncio.Lock()
        """Held during a shipment."""

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
        """Send the last state, if that takes no longer than this. The frontier may be closed then."""
        self._finishing.set()
        try:
            async with asyncio.timeout(limit_s):
                if self._loop is not None:
                    await self._loop
                await self._ship()
        except TimeoutError:
            self.stop()
            self._complain("the last pages did not reach it in time")
        finally:
            for task in self._asked:
                task.cancel()
            await asyncio.gather(*self._asked, return_exceptions=True)

    async def _run(self) -> None:
        while not self._finishing.is_set():
            await self._ship()
            wait_s = min(self._config.every_s, _RETRY_S) if self._problem else self._config.every_s
            with suppress(TimeoutError):
                await asyncio.wait_for(self._finishing.wait(), wait_s)

    async def ship_apart(self) -> Shipped:
        """Like `ship`, for somebody who may give up waiting: the shipment goes on then, until the backup is finished."""
        task = asyncio.create_task(self.ship())
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
        return await asyncio.shield(task)

    async def ship(self) -> Shipped:
        """Send the present state at once. AwayError if the store does not answer, SupersededError if it has a later state,
        StoppedError if the shipment was told to end."""
        async with self._turn:
            snapshot = await self._take()
            self._pause_s = max(self._pause_s, snapshot.pause_s)
            before = self._shipper.sent_bytes if self._shipper else 0
            manifest = self._shipped = await run_in_thread(lambda: self._send(snapshot))
            if self._problem:
                _log.warning("the backup of %s goes on", self._member)
            self._problem = ""
            self._on_shipped(manifest.inbox)
            return Shipped(manifest, self._shipper.sent_bytes - before if self._shipper else 0)

    def goes_to(self, url: str) -> bool:
        """Whether the store of this backup is also that of a URL, which may name it in another way; for a thread."""
        if url == self._config.url:
            return True
        other = Objects(url)
        try:
            return is_same_store(Objects(self._config.url, creates=False), other)
        except AwayError:
            # If only the own store is away, this is another one, unless it has what the own one would have.
            if self._epoch in list_epochs(other, self._member):
                raise
            return False

    def stop(self) -> None:
        """End a shipment that is under way."""
        self._pace.stop()

    async def _ship(self) -> None:
        """Send the present state, if that can be done. What the store has not got then is sent the next time."""
        try:
            await self.ship()
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

    def _send(self, snapshot: Snapshot) -> Manifest:
        try:
            if self._shipper is None:
                objects = Objects(self._config.url, creates=not self._epoch)
                if self._epoch:
                    if self._member != HEAD:
                        check_head(objects)
                    self._shipper = Shipper(objects, self._member, self._epoch, self._pace, crawl=self._crawl)
                else:
                    self._shipper = begin_shipper(
                        *(objects, self._member, snapshot.generation, self._pace), crawl=self._crawl
                    )
            with self.limits.share():
                return self._shipper.ship(snapshot)
        finally:
            self._release()

    def _complain(self, problem: str) -> None:
        if not self._problem:
            _log.warning("the backup of %s waits: %s", self._member, problem)
        self._problem = problem


def ship_shard(
    config: BackupConfig,
    number: int,
    snapshots: ShardSnapshots,
    epoch: int,
    on_shipped: Callable[[Mapping[int, Cursor]], None],
    crawl: str = "",
) -> Shipping:
    """The backup of a running shard."""
    return Shipping(
        *(config, name_shard(number), snapshots.take),
        epoch=epoch,
        crawl=crawl,
        on_shipped=on_shipped,
        release=snapshots.clear,
    )


def check_store(config: BackupConfig) -> None:
    """Raise UsageError if the store cannot be reached when a crawl starts, as with a wrong name; later it is waited for."""
    if config.url:
        Objects(config.url).list(f"{HEAD}/epochs/")


def ship_head(config: BackupConfig, folder: Path, epoch: int) -> Shipping:
    """The backup of the crawl's small files."""
    snapshots = HeadSnapshots(folder)
    crawl = identify_crawl(folder)
    return Shipping(config, HEAD, snapshots.take, epoch=epoch, crawl=crawl, release=snapshots.clear)


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
