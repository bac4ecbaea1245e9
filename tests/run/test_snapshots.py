"""States of a running shard: what waits for what."""

import asyncio
import threading
from pathlib import Path

import pytest

from loopback import run_loop
from rdfspider.config import BackupConfig, Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.frontier import Frontier
from rdfspider.run.shipping import ship_shard
from rdfspider.run.snapshots import ShardSnapshots


def test_a_stop_waits_for_a_flush_however_short_its_time_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Because the frontier is closed next."""
    (tmp_path / "shard").mkdir()
    frontier = Frontier(tmp_path / "shard" / "frontier", Config(), Domains(bundled_suffix_list(), 1), 0)
    flush, has_begun, may_end = frontier.flush, threading.Event(), threading.Event()

    def flush_slowly() -> None:
        has_begun.set()
        assert may_end.wait(60)
        flush()

    monkeypatch.setattr(frontier, "flush", flush_slowly)

    async def run() -> None:
        snapshots = ShardSnapshots(tmp_path / "shard", frontier, asyncio.Lock(), dict)
        config = BackupConfig(url=str(tmp_path / "store"))
        shipping = ship_shard(config, 0, snapshots, frontier.epoch, lambda inbox: None)
        loop = shipping.start()
        while not has_begun.is_set():
            await asyncio.sleep(0.001)
        finishing = asyncio.create_task(shipping.finish(0.0))
        while not loop.cancelling():
            await asyncio.sleep(0.001)
        for _ in range(100):
            await asyncio.sleep(0)
        assert not finishing.done()
        may_end.set()
        await finishing
        assert loop.cancelled()
        assert shipping.state.problem == "the last pages did not reach it in time"

    run_loop(run())
    frontier.close()
