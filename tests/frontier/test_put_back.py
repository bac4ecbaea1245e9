"""Frontiers whose folder is put back to an older copy, or emptied, while others remember what they have given out."""

import shutil
from pathlib import Path

from tests.frontier.conftest import HandClock

from rdfspider.config import Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.entries import NOTHING_HEARD, LastHeard
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.keys import UrlIds
from rdfspider.records import Addresses, Discovered

DOMAINS = Domains(bundled_suffix_list(), 2)


def test_a_frontier_that_was_put_back_gives_out_no_number_twice(tmp_path: Path, clock: HandClock) -> None:
    def add(frontier: Frontier, name: str) -> list[int]:
        """The ids of a new URL of an old host and of one of a new host."""
        urls = [f"http://www.site0.test/{name}", f"http://{name}.test/"]
        frontier.add([Discovered(url) for url in urls])
        frontier.commit()
        return [entry.url_id for url in urls if (entry := frontier.find(url))]

    folder, copy = tmp_path / "live", tmp_path / "copy"
    frontier = Frontier(folder, Config(), DOMAINS, 0, clock, epoch=1)
    known = add(frontier, "first")
    frontier.close()
    shutil.copytree(folder, copy)
    heard = NOTHING_HEARD
    for epoch in range(2, 6):
        frontier = Frontier(folder, Config(), DOMAINS, 0, clock, epoch=epoch, heard=heard)
        for number in range(3):
            given = add(frontier, f"life{epoch}-{number}")
            assert not set(given) & set(known)
            known += given
        assert frontier.counts.known == 2 + 2 * 3
        heard = LastHeard(frontier.generation, *frontier.numbered)
        frontier.close()
        shutil.rmtree(folder)
        # Put back twice, then emptied.
        if epoch < 4:
            shutil.copytree(copy, folder)
        else:
            frontier = Frontier(folder, Config(), DOMAINS, 0, clock, epoch=10 * epoch, heard=heard)
            given = add(frontier, f"emptied{epoch}")
            assert not set(given) & set(known)
            frontier.close()
            break


def find_ids(frontier: Frontier, *urls: str) -> set[int]:
    """The ids of new URLs."""
    frontier.add([Discovered(url) for url in urls])
    frontier.commit()
    return {entry.url_id for url in urls if (entry := frontier.find(url))}


def test_a_copy_of_which_nothing_was_heard_since_gives_out_no_number_twice(tmp_path: Path, clock: HandClock) -> None:
    """It is less than a second older than what was lost; a crash looks the same."""
    frontier = Frontier(tmp_path / "live", Config(), DOMAINS, 0, clock, epoch=1)
    known = find_ids(frontier, "http://a.test/first")
    heard = LastHeard(frontier.generation, *frontier.numbered)
    shutil.copytree(tmp_path / "live", tmp_path / "copy")
    known |= find_ids(
        frontier, *(f"http://a.test/{n}" for n in range(100)), *(f"http://b{n}.test/" for n in range(100))
    )
    frontier.close()
    frontier = Frontier(tmp_path / "copy", Config(), DOMAINS, 0, clock, epoch=2, heard=heard)
    assert not known & find_ids(frontier, *(f"http://a.test/x{n}" for n in range(100)), "http://c.test/")
    frontier.close()


def test_what_peers_know_of_a_lost_state_is_left_out_once(tmp_path: Path, clock: HandClock) -> None:
    frontier = Frontier(tmp_path / "live", Config(), DOMAINS, 0, clock, epoch=1)
    find_ids(frontier, "http://a.test/first")
    shutil.copytree(tmp_path / "live", tmp_path / "copy")
    lost = find_ids(
        frontier, *(f"http://a.test/{n}" for n in range(1000)), *(f"http://b{n}.test/" for n in range(2000))
    )
    numbered = frontier.committed_numbered
    frontier.close()
    frontier = Frontier(tmp_path / "copy", Config(), DOMAINS, 0, clock, epoch=2)
    # Numbers are given out before any peer is met, and then those that are known to be lost are left out.
    find_ids(frontier, "http://a.test/before", "http://c.test/")
    assert [frontier.leave_out(*numbered), frontier.leave_out(1500, 100), frontier.leave_out(*numbered)] == [
        True,
        False,
        False,
    ]
    assert not lost & find_ids(frontier, *(f"http://a.test/x{n}" for n in range(1000)), "http://d.test/")
    frontier.close()
    frontier = Frontier(tmp_path / "copy", Config(), DOMAINS, 0, clock, epoch=3)
    assert not frontier.leave_out(*numbered)
    frontier.close()


def test_what_peers_know_of_an_emptied_frontier_takes_no_room_of_its_hosts(tmp_path: Path, clock: HandClock) -> None:
    for epoch in (8, 9):
        frontier = Frontier(tmp_path / "f", Config(), DOMAINS, 0, clock, epoch=epoch)
        assert frontier.leave_out(1_000, 30_000_000) == (epoch == 8)
        assert frontier.add([Discovered(f"http://a.test/{epoch}")]) == 1
        frontier.commit()
        entry = frontier.find(f"http://a.test/{epoch}")
        assert entry is not None
        assert entry.url_id & 0xFFFFFF == epoch - 8
        frontier.close()


def test_no_lie_of_a_peer_takes_all_numbers_of_hosts(tmp_path: Path, clock: HandClock) -> None:
    shards = 2000
    most_hosts, most_urls = (1 << 27) - 1, (1 << 52) - 1
    for epoch in range(1, 5):
        frontier = Frontier(tmp_path / "f", Config(), Domains(bundled_suffix_list(), shards), 0, clock, epoch=epoch)
        frontier.leave_out(most_hosts, most_urls)
        (url_id,) = find_ids(frontier, f"http://b{epoch}.test/")
        shard, number, _ = UrlIds(shards).unpack(url_id)
        assert (shard, number) == (0, (1 << 26) + epoch)
        frontier.close()


def test_lives_that_begin_from_one_copy_begin_other_segments(tmp_path: Path, clock: HandClock) -> None:
    """Also with epochs as high as the clock, which a crawl has whose record was lost."""
    first = set()
    for lives in range(1, 4):
        heard = LastHeard((1_790_000_000, 9), 5, 5, lives)
        frontier = Frontier(
            tmp_path / f"{lives}", Config(), DOMAINS, 0, clock, epoch=1_790_000_000 + lives, heard=heard
        )
        first.add(frontier.skipped_segments)
        frontier.close()
    assert len(first) == 3


def test_a_frontier_that_was_emptied_has_room_for_as_many_urls_as_before(tmp_path: Path, clock: HandClock) -> None:
    heard = LastHeard((7, 30), 1_000_000, 100_000_000, 7)
    frontier = Frontier(tmp_path / "f", Config(), DOMAINS, 0, clock, epoch=8, heard=heard)
    assert frontier.add([Discovered("http://a.test/1"), Discovered("http://a.test/2")]) == 2
    frontier.commit()
    frontier.close()
    # And a copy of it that was put back, of which more was heard before.
    frontier = Frontier(tmp_path / "f", Config(), DOMAINS, 0, clock, epoch=12, heard=heard.merge(LastHeard((11, 1))))
    assert frontier.add([Discovered("http://a.test/3"), Discovered("http://b.test/")]) == 2
    frontier.close()


def test_a_life_that_is_not_put_back_leaves_out_no_numbers(tmp_path: Path, clock: HandClock) -> None:
    heard = NOTHING_HEARD
    for epoch in range(1, 4):
        frontier = Frontier(tmp_path / "f", Config(), DOMAINS, 0, clock, epoch=epoch, heard=heard)
        frontier.add([Discovered(f"http://a.test/{epoch}")])
        frontier.commit()
        assert frontier.numbered == (1, epoch)
        heard = LastHeard(frontier.generation, *frontier.numbered)
        frontier.close()


def test_hosts_get_their_full_pause_after_a_frontier_was_put_back(tmp_path: Path, clock: HandClock) -> None:
    frontier = Frontier(tmp_path / "f", Config(), DOMAINS, 0, clock, epoch=1)
    frontier.close()
    heard = LastHeard((1, 99), 1, 1)
    frontier = Frontier(tmp_path / "f", Config(), DOMAINS, 0, clock, epoch=2, heard=heard)
    frontier.add([Discovered("http://a.test/")])
    frontier.commit()
    name = frontier.lease()
    assert name is not None
    frontier.release(name, Addresses(("192.0.2.1",), clock.now() + 3600))
    frontier.commit()
    assert frontier.lease() is None
    wait_s = frontier.next_lease_in_s()
    assert wait_s is not None
    assert wait_s > 0
    frontier.close()
