"""What is made durable, and what is told then. Whole crawls are in the scenarios; here is what they cannot time."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from rdfspider.archive.segments import read_committed
from rdfspider.codes import LeaseKind, VerdictState
from rdfspider.config import ArchiveConfig, Config, RunConfig
from rdfspider.discover.scope import Router, Scope
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Capture, Discovered, Finished, Lease, Page, Verdict
from rdfspider.run import commits
from rdfspider.run.commits import Committer, ShardStore
from rdfspider.run.heartbeat import Meter
from rdfspider.run.peers.coordinator_client import PeerHandlers
from rdfspider.run.peers.peers import Peers
from rdfspider.run.peers.sockets import AddressBook
from rdfspider.run.shard_archive import WARC, WARC_LENGTHS, read_lengths
from rdfspider.ways import Way

CONFIG = Config(run=RunConfig(min_free_bytes=1_000_000))
FOUND, HEARD = "http://found.test/", "http://heard.test/"


def open_committer(folder: Path, config: Config = CONFIG) -> tuple[Committer, Frontier, Scope]:
    domains = Domains(bundled_suffix_list(), 2)
    shard = domains.shard("found.test")
    frontier = Frontier(folder / "frontier", config, domains, shard)
    scope = Scope(config.crawl, domains)
    router = Router(scope, domains, shard, Counter())
    store = ShardStore(shard, folder, config, frontier, Meter())
    return Committer(store, frontier, scope, router, config.run.group_pages), frontier, scope


def open_peers(committer: Committer, frontier: Frontier, config: Config) -> Peers:
    """Those of one of two shards, which are never reached."""
    handlers = PeerHandlers(lambda control: None, committer.receive, lambda *asked: None, lambda: False)
    return Peers(0, AddressBook("ipc:///nowhere", ("ipc:///first", "ipc:///second")), frontier, config, handlers)


def test_a_scope_that_grew_here_and_elsewhere_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another shard's addition comes before this shard's own is told: that one is told all the same, and both are kept."""
    told: list[tuple[str, ...]] = []

    async def widen() -> None:
        committer, frontier, _ = open_committer(tmp_path)
        peers = open_peers(committer, frontier, CONFIG)
        monkeypatch.setattr(peers.coordinator, "tell_scope", told.append)
        committer.receive([Discovered(FOUND, found_as="seed")])
        committer.widen_scope((HEARD,))
        committer.finish()
        await committer.run(peers, lambda: None)
        await peers.close()
        committer._store.close()
        frontier.close()

    asyncio.run(widen())
    assert told == [(FOUND,)]

    async def reopen() -> None:
        committer, frontier, scope = open_committer(tmp_path)
        committer.set_scope(())
        assert set(committer.scope_additions) == {FOUND, HEARD}
        assert not scope.find_refusal(FOUND + "page")
        assert not scope.find_refusal(HEARD + "page")
        assert scope.find_refusal("http://other.test/")
        committer._store.close()
        frontier.close()

    asyncio.run(reopen())


def test_a_link_is_judged_by_the_shard_that_found_it(tmp_path: Path) -> None:
    """What widened the scope there may not have been heard here yet."""

    async def receive() -> int:
        committer, frontier, scope = open_committer(tmp_path)
        committer.set_scope([HEARD])
        assert scope.find_refusal(FOUND + "page")
        committer.receive([Discovered(FOUND + "page")])
        frontier.commit()
        known = frontier.counts.known
        committer._store.close()
        frontier.close()
        return known

    assert asyncio.run(receive()) == 1


def test_what_waits_is_committed_in_parts_that_do_not_hold_up_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commits, "_COMMIT_BYTES", 1000)
    monkeypatch.setattr(commits, "_COMMIT_LINKS", 10)
    links = [Discovered(f"http://found.test/{number}", 1) for number in range(10)]
    outcomes = [(300, []), (300, []), (300, []), (5000, []), (100, links), (100, links), (0, [])]

    async def fill() -> None:
        committer, frontier, scope = open_committer(tmp_path)
        scope.extend(FOUND)
        for number, (length, found) in enumerate(outcomes):
            lease = Lease("page", "found.test", 1, f"http://found.test/{number}")
            page = Page(lease.url, bytes(length))
            capture = Capture(page, 200, "OK", "1.1", (), (), "192.0.2.1", 0.0, 0.0, length)
            committer.add(Finished(lease, Verdict("done", "fetched", 200), capture, None, found))
        assert committer.waiting_bytes == 6100
        groups = [committer._take_group() for _ in range(5)]
        assert [[commits.count_bytes(item) for item in group] for group in groups] == [
            [300, 300, 300],
            [5000],
            [100],
            [100],
            [0],
        ]
        committer._store.close()
        frontier.close()

    asyncio.run(fill())


def test_a_scope_of_many_additions_is_found_again(tmp_path: Path) -> None:
    """As many as a long list of seeds has; each is stored once or a few times, not with all others again."""
    urls = [f"http://x{number}.test/" for number in range(2 * 256)]

    async def add(new: list[str]) -> list[str]:
        committer, frontier, _ = open_committer(tmp_path)
        committer.set_scope(())
        committer.widen_scope(new)
        frontier.commit()
        found = committer.scope_additions
        committer._store.close()
        frontier.close()
        return found

    assert asyncio.run(add(urls)) == urls
    assert asyncio.run(add(["http://y.test/"])) == [*urls, "http://y.test/"]
    assert asyncio.run(add([])) == [*urls, "http://y.test/"]


def test_the_last_group_does_not_wait_for_room(tmp_path: Path) -> None:
    """A crawl on a disk that is nearly full can be stopped: the room that is kept free is for its end."""
    full = replace(CONFIG, run=RunConfig(min_free_bytes=1_000_000_000_000_000))

    async def end() -> None:
        committer, frontier, _ = open_committer(tmp_path, full)
        peers = open_peers(committer, frontier, full)
        frontier.meta.put("x", b"1")
        committer.note()
        run = asyncio.create_task(committer.run(peers, lambda: None))
        async with asyncio.timeout(60):
            while "are free" not in committer.suspended:
                await asyncio.sleep(0.01)
        assert frontier.has_staged
        committer.finish()
        await asyncio.wait_for(run, 60)
        assert not frontier.has_staged
        await peers.close()
        committer._store.close()
        frontier.close()

    asyncio.run(end())


def test_lengths_of_segments_that_grow_no_more_are_stored_once(tmp_path: Path) -> None:
    """A shard that is killed every few minutes has thousands of them."""
    config = Config(crawl=CONFIG.crawl, archive=ArchiveConfig(segment_bytes=1))
    frontier = Frontier(tmp_path / "frontier", config, Domains(bundled_suffix_list(), 1), 0)
    store = ShardStore(0, tmp_path, config, frontier, Meter())
    lease = Lease(LeaseKind.PAGE, "a.test", 1, "http://a.test/", 1, 0, Way.SEED)
    outcome = Finished(lease, Verdict(VerdictState.FAILED, "timeout"))
    for _ in range(4):
        asyncio.run(store.commit([outcome], lambda finished, written: None))
    growing = msgspec.msgpack.decode(frontier.meta.get(WARC_LENGTHS) or b"")
    lengths = read_lengths(frontier.meta.get)
    assert lengths == store.read_lengths() == read_committed(tmp_path / WARC)
    assert (len(growing), len(lengths), sum(lengths.values())) == (1, 4, store.archive_bytes)
    store.close()
    frontier.close()
