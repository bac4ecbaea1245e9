"""Shards that come back from a store: what the mark in their folder is for."""

from pathlib import Path

import pytest

from rdfspider.backup.manifests import name_shard
from rdfspider.backup.objects import Objects
from rdfspider.backup.shipment import Shipper, Snapshot
from rdfspider.crawl.folder import RESTORED, shard_folder
from rdfspider.crawl.lives import begin_life, lost_before
from rdfspider.run.backups import restore_shard


def test_a_restored_shard_is_known_as_one_until_that_is_written_down(tmp_path: Path) -> None:
    (tmp_path / "CURRENT").write_text("x")
    objects = Objects(str(tmp_path / "store"))
    Shipper(objects, name_shard(0), 5).ship(Snapshot(1.0, (5, 9), {"frontier/CURRENT": tmp_path / "CURRENT"}))
    folder = tmp_path / "crawl"
    assert restore_shard(objects, folder, 0) is not None
    mark = shard_folder(folder, 0) / RESTORED
    assert mark.exists()
    # The record of its lives cannot be written.
    (folder / "lives").write_text("")
    with pytest.raises(OSError):
        begin_life(folder, 0)
    assert mark.exists()
    (folder / "lives").unlink()
    life = begin_life(folder, 0)
    assert life.heard.generation == lost_before(life.epoch).generation
    assert not mark.exists()
    # From now on, the record says it.
    assert begin_life(folder, 0).heard.generation == life.heard.generation
