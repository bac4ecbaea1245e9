"""The present state of a running shard, or of the crawl's small files: what is committed enters, a Snapshot leaves.

A shard's tables are flushed and then, between two commits, a checkpoint is made, all of it in a thread, so that fetching goes on.
Its files are links to those of the tables, and keep them on the disk until it is removed.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rdfspider.backup.shipment import Snapshot
from rdfspider.frontier.frontier import Frontier
from rdfspider.run.backups import list_database, take_head
from rdfspider.run.shard_archive import WARC

CHECKPOINT, COPY_CHECKPOINT = "checkpoint", "copy-checkpoint"
"""The folders of checkpoints in that of a shard: for its own backup, and for a copy that a user asks for."""
HEAD_COPIES, COPY_HEAD_COPIES = "head-copies", "copy-head-copies"
"""The same for the small files, in the crawl's folder."""


class ShardSnapshots:
    """Takes the states of a running shard."""

    def __init__(
        self,
        folder: Path,
        frontier: Frontier,
        turn: asyncio.Lock,
        read_lengths: Callable[[], Mapping[str, int]],
        name: str = CHECKPOINT,
    ) -> None:
        """`turn` is held during commits; `read_lengths` returns the lengths of the segments at the last one. `name` is the folder
        of the checkpoint."""
        self._folder = folder
        self._checkpoint = folder / name
        self._frontier = frontier
        self._turn = turn
        self._read_lengths = read_lengths

    async def take(self) -> Snapshot:
        """Make a checkpoint of what is committed; it replaces the last one."""
        await asyncio.to_thread(self.clear)
        await finish_in_thread(self._frontier.flush)
        async with self._turn:
            begun = time.monotonic()
            await finish_in_thread(lambda: self._frontier.create_checkpoint(self._checkpoint))
            pause_s = time.monotonic() - begun
            snapshot = Snapshot(
                taken=time.time(),
                generation=self._frontier.generation,
                archive=self._folder / WARC,
                lengths=dict(self._read_lengths()),
                inbox=self._frontier.inbox.cursors(),
                pause_s=pause_s,
            )
        return replace(snapshot, files=await asyncio.to_thread(list_database, self._checkpoint))

    def clear(self) -> None:
        """Remove the last checkpoint."""
        shutil.rmtree(self._checkpoint, ignore_errors=True)


class HeadSnapshots:
    """Takes the small files of a running crawl."""

    def __init__(self, folder: Path, name: str = HEAD_COPIES) -> None:
        self._folder = folder
        self._copies = folder / name

    async def take(self) -> Snapshot:
        """Make links to the files: the crawl replaces them as a whole, and what has a link stays as it is."""
        return await asyncio.to_thread(self._take)

    def _take(self) -> Snapshot:
        self.clear()
        snapshot = take_head(self._folder)
        files = {}
        for name, path in snapshot.files.items():
            copy = self._copies / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # It was removed meanwhile.
                os.link(path, copy)
                files[name] = copy
        return replace(snapshot, files=files)

    def clear(self) -> None:
        """Remove the last links."""
        shutil.rmtree(self._copies, ignore_errors=True)


async def finish_in_thread(work: Callable[[], None]) -> None:
    """Run something in a thread that must not be left alone: whoever cancels this waits for its end. So nobody closes a frontier
    that is being flushed."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
