import time
from pathlib import Path

import pytest

from rdfspider.config import Config, CrawlConfig
from rdfspider.crawl.lives import begin_head, begin_life, find_identity, has_run, note_run, open_frontier
from rdfspider.crawl.messages import Beat
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.entries import LastHeard, StaleLifeError
from rdfspider.frontier.frontier import Frontier

CONFIG = Config(crawl=CrawlConfig(shards=2))
DOMAINS = Domains(bundled_suffix_list(), 2)


def test_each_life_has_a_higher_epoch_whatever_becomes_of_the_shard(tmp_path: Path) -> None:
    assert [begin_life(tmp_path, 0).epoch for _ in range(3)] == [1, 2, 3]
    assert begin_life(tmp_path, 1).epoch == 1
    frontier = open_frontier(tmp_path, 0, CONFIG, DOMAINS)
    assert frontier.epoch == 4
    frontier.close()


def test_a_frontier_refuses_an_epoch_that_it_has_had(tmp_path: Path) -> None:
    for epoch in (5, 9):
        Frontier(tmp_path / "f", CONFIG, DOMAINS, 0, epoch=epoch).close()
    for epoch in (8, 9):
        with pytest.raises(StaleLifeError, match="it has had epoch 9"):
            Frontier(tmp_path / "f", CONFIG, DOMAINS, 0, epoch=epoch)
    frontier = Frontier(tmp_path / "f", CONFIG, DOMAINS, 0, epoch=10)
    assert frontier.epoch == 10
    frontier.close()


def test_a_lost_record_is_followed_by_an_epoch_that_nobody_knows(tmp_path: Path) -> None:
    for _ in range(3):
        open_frontier(tmp_path, 0, CONFIG, DOMAINS).close()
    (tmp_path / "lives/000.json").unlink()
    before = int(time.time())
    life = begin_life(tmp_path, 0)
    assert life.epoch >= before
    (tmp_path / "lives/000.json").write_text("no record")
    assert open_frontier(tmp_path, 0, CONFIG, DOMAINS).epoch > 3


def test_segments_do_not_come_again_if_the_record_is_lost_with_the_shard(tmp_path: Path) -> None:
    """Only a beat in the status tells that there was one."""
    beat = Beat(0, 7, 0.0, 1, (7, 30), False, numbered=(5, 50))
    life = begin_life(tmp_path, 0, beat)
    assert life.epoch > 7
    frontier = Frontier(tmp_path / "f", CONFIG, DOMAINS, 0, epoch=life.epoch, heard=life.heard)
    # No shard has begun a thousand segments a minute.
    assert frontier.skipped_segments > 1000 * (time.time() // 60)
    frontier.close()


def test_a_refused_epoch_is_left_far_behind_also_by_a_clock_that_was_set_back(tmp_path: Path) -> None:
    ahead = int(time.time()) + 1000
    (tmp_path / "shards/000").mkdir(parents=True)
    Frontier(tmp_path / "shards/000/frontier", CONFIG, DOMAINS, 0, epoch=ahead).close()
    frontier = open_frontier(tmp_path, 0, CONFIG, DOMAINS)
    assert frontier.epoch > ahead
    frontier.close()


def test_what_was_heard_last_is_kept_and_never_shrinks(tmp_path: Path) -> None:
    beat = Beat(0, 7, 0.0, 1, (7, 30), False, numbered=(5, 50))
    first = begin_life(tmp_path, 0, beat).heard
    assert (first.generation, first.hosts, first.urls) == ((7, 30), 5, 50)
    older = Beat(0, 7, 0.0, 1, (7, 20), False, numbered=(6, 40))
    assert begin_life(tmp_path, 0, older).heard == LastHeard((7, 30), 6, 50, first.lives + 1)
    assert begin_life(tmp_path, 0).heard == LastHeard((7, 30), 6, 50, first.lives + 2)


def test_that_a_shard_has_run_is_known_from_its_lives_alone(tmp_path: Path) -> None:
    """Also when the status is lost; a life that was begun and never heard is not enough."""
    begin_life(tmp_path, 0)
    begin_life(tmp_path, 0)
    assert not has_run(tmp_path, 0)
    note_run(tmp_path, 0)
    assert begin_life(tmp_path, 0).epoch == 3
    assert has_run(tmp_path, 0)
    assert not has_run(tmp_path, 1)
    note_run(tmp_path, 1)
    assert not (tmp_path / "lives/001.json").exists()
    begin_life(tmp_path, 1, Beat(1, 7, 0.0, 1, (7, 30), False))
    assert has_run(tmp_path, 1)
    open_frontier(tmp_path, 2, CONFIG, DOMAINS).close()
    assert has_run(tmp_path, 2)


def test_the_head_remembers_whose_crawl_it_is(tmp_path: Path) -> None:
    assert find_identity(tmp_path) == ""
    (tmp_path / "crawl.toml").write_text('[fixed]\nid = "0123456789abcdef"\n')
    begin_head(tmp_path, "here")
    (tmp_path / "crawl.toml").unlink()
    assert find_identity(tmp_path) == "0123456789abcdef"
