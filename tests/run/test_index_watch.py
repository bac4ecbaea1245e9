"""What the parent process reads of the index."""

from dataclasses import replace
from pathlib import Path

import pytest

from rdfspider.config import Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.index.graph.esteem_file import NAME, save_esteem
from rdfspider.index.layout import IndexPaths
from rdfspider.records import Esteem
from rdfspider.run import index_watch
from rdfspider.run.index_watch import IndexWatch
from waiting import ShiftedTime


def test_each_shard_gets_what_the_link_graph_thinks_of_its_own_sites_when_that_is_new(tmp_path: Path) -> None:
    config = Config()
    watch = IndexWatch(tmp_path, replace(config, crawl=replace(config.crawl, shards=3)))
    assert watch.read_esteem() == {}
    folder = IndexPaths(tmp_path).graph
    folder.mkdir(parents=True)
    table = [Esteem(f"s{number}.co.uk", -1, pages=(f"https://www.s{number}.co.uk/",)) for number in range(50)]
    save_esteem(folder, table)
    told = watch.read_esteem()
    domains = Domains(bundled_suffix_list(), 3)
    assert told == {shard: [each for each in table if domains.shard(f"www.{each.site}") == shard] for shard in range(3)}
    assert all(told.values())
    assert watch.read_esteem() == {}
    # What is lost or damaged holds nobody in esteem.
    (folder / NAME).write_bytes(b"damaged")
    assert watch.read_esteem() == {0: [], 1: [], 2: []}
    save_esteem(folder, table[:1])
    assert sum(map(len, watch.read_esteem().values())) == 1
    (folder / NAME).unlink()
    assert watch.read_esteem() == {0: [], 1: [], 2: []}


def test_what_may_have_been_lost_on_its_way_is_told_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ShiftedTime()
    monkeypatch.setattr(index_watch, "time", clock)
    config = Config()
    watch = IndexWatch(tmp_path, replace(config, crawl=replace(config.crawl, shards=1)))
    clock.ahead_s += 3600
    assert watch.read_esteem() == {}, "there is nothing yet"
    folder = IndexPaths(tmp_path).graph
    folder.mkdir(parents=True)
    save_esteem(folder, [Esteem("s.org", -1)])
    told = watch.read_esteem()
    assert told and not watch.read_esteem()
    clock.ahead_s += 3600
    assert watch.read_esteem() == told and not watch.read_esteem()
