"""The file of ranks: whole or not there, whatever is killed or damaged."""

import random
from pathlib import Path

import numpy as np
import pytest
from tests.index.graph.pages import make_history
from tests.index.graph.rated import list_ranks, rate

from rdfspider.errors import UnreadableError
from rdfspider.index.graph.anchor_votes import Votes
from rdfspider.index.graph.fame import MAX_TOP, NAME, Fame, FameReader, hash_page, list_top, write_fame
from rdfspider.index.graph.keys import make_key
from rdfspider.results import Rank


def make_fame(scores: np.ndarray, **fields: object) -> Fame:
    usual = {"state": 1, "made_us": 5_000_000, "links": 3, "top_keys": [], "hosts": [], "centrality": np.empty(0)}
    nothing = np.empty(0, np.int64)
    usual |= {"anchors": Votes(nothing, nothing, nothing, ()), "read_urls": lambda ids: [""] * len(ids)}
    hashes = np.arange(len(scores), dtype=np.uint64)
    return Fame(**{**usual, "hashes": hashes, "scores": scores, "farms": [], **fields})  # type: ignore[arg-type]


def test_without_a_file_there_are_no_ranks(tmp_path: Path) -> None:
    reader = FameReader(tmp_path / "nothing")
    assert (reader.dated, reader.state, reader.links, reader.list_farms()) == (0.0, None, 0, [])
    assert reader.read_rank("http://a.test/") is reader.read_host_rank("a.test") is None
    assert [*reader.list_top_pages(), *reader.list_top_hosts()] == []


def test_a_reader_takes_the_newest_file(tmp_path: Path) -> None:
    reader = FameReader(tmp_path)
    write_fame(tmp_path, make_fame(np.array([1.0])))
    assert (reader.dated, reader.state) == (5.0, 1)
    write_fame(tmp_path, make_fame(np.array([1.0]), made_us=6_000_000, state=2))
    assert (reader.dated, reader.state) == (6.0, 2)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_an_empty_graph_has_no_ranks(tmp_path: Path) -> None:
    write_fame(tmp_path, make_fame(np.empty(0)))
    assert FameReader(tmp_path).read_rank("http://a.test/") is None
    assert list(FameReader(tmp_path).list_top_pages()) == []


def test_ranks_of_all_sizes_are_kept_in_order(tmp_path: Path) -> None:
    scores = np.array([0.0, 1e-300, 1e-9, 1e-5, 0.5, 0.499999])
    urls = [f"http://a.test/{number}" for number in range(6)]
    hashes = np.array([hash_page(make_key(url)) for url in urls], np.uint64)
    write_fame(tmp_path, make_fame(scores, hashes=hashes))
    ranks = [FameReader(tmp_path).read_rank(url) for url in urls]
    # The lowest, and the two highest, which differ by a millionth, are equals. One that has no score has no rank.
    assert ranks[0] is None
    assert [(rank.place, rank.total) for rank in ranks if rank] == [(4, 5), (4, 5), (3, 5), (1, 5), (1, 5)]
    assert [rank.value for rank in ranks[3:] if rank] == pytest.approx([6e-5, 3, 3], rel=0.01)


def test_a_name_of_any_kind_is_kept(tmp_path: Path) -> None:
    hosts = ["[2001:db8::1]", "xn--bcher-kva.test", "\udcff", ""]
    write_fame(tmp_path, make_fame(np.empty(0), hosts=hosts, centrality=np.array([4.0, 3.0, 2.0, 0.0])))
    reader = FameReader(tmp_path)
    assert [reader.read_host_rank(host) for host in hosts] == [
        Rank(4.0, 1, 4),
        Rank(3.0, 2, 4),
        Rank(2.0, 3, 4),
        Rank(0.0, 4, 4),
    ]
    assert [each.name for each in reader.list_top_hosts()] == hosts


def test_the_first_of_many_are_the_greatest() -> None:
    scores = np.random.default_rng(1).random(20_000) ** 8
    found = list_top(scores)
    assert len(found) == MAX_TOP
    assert set(found[:50].tolist()) == set(np.argsort(-scores)[:50].tolist())
    assert list_top(np.full(5, 0.2)).tolist() == [0, 1, 2, 3, 4]


def test_damage_is_told_and_never_a_wrong_rank(tmp_path: Path) -> None:
    reader = rate(tmp_path, make_history(3, 200))
    path = tmp_path / "index" / "graph" / NAME
    sound, whole, chance = list_ranks(reader), path.read_bytes(), random.Random(1)
    told = 0
    for turn in range(120):
        place = chance.randrange(len(whole))
        cut = whole[:place]
        flipped = cut + bytes([whole[place] ^ 1 << chance.randrange(8)]) + whole[place + 1 :]
        path.unlink()
        path.write_bytes(cut if turn % 3 == 0 else flipped)
        try:
            assert list_ranks(FameReader(path.parent)) == sound
        except UnreadableError as error:
            told += 1
            assert "rdfspider index" in str(error)
    assert told > 100
