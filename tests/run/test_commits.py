"""What is made durable, and what is told then. Whole crawls are in the scenarios; here is what they cannot time."""

import asyncio
from pathlib import Path

import pytest

from rdfspider.config import Config, RunConfig
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered
from rdfspider.run.commits import Committer
from rdfspider.run.heartbeat import Meter
from rdfspider.run.peers import Peers
from rdfspider.run.scope import Router, Scope

CONFIG = Config(run=RunConfig(min_free_bytes=1_000_000))
FOUND, HEARD = "http://found.test/", "http://heard.test/"


def open_committer(folder: Path) -> tuple[Committer, Frontier, Scope]:
    domains = Domains(bundled_suffix_list(), 2)
    shard = domains.shard("found.test")
    frontier = Frontier(folder / "frontier", CONFIG, domains, shard)
    scope = Scope(CONFIG.crawl, domains)
    router = Router(scope, domains, shard, 0)
    return Committer(shard, folder, CONFIG, frontier, scope, router, Meter()), frontier, scope


def test_a_scope_that_grew_here_and_elsewhere_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another shard's addition comes before this shard's own is told: that one is told all the same, and both are kept."""
    told: list[tuple[str, ...]] = []

    async def widen() -> None:
        committer, frontier, _ = open_committer(tmp_path)
        peers = Peers(
            0,
            2,
            str(tmp_path),
            frontier,
            CONFIG,
            on_control=lambda control: None,
            on_links=committer.receive,
            is_idle=lambda: False,
        )
        monkeypatch.setattr(peers, "tell_scope", told.append)
        committer.receive(1, 1, 1, [Discovered(FOUND, found_as="seed")])
        committer.widen_scope((HEARD,))
        committer.finish()
        await committer.run(peers, lambda: None)
        await peers.close()
        committer.close()
        frontier.close()

    asyncio.run(widen())
    assert told == [(FOUND,)]

    async def reopen() -> None:
        committer, frontier, scope = open_committer(tmp_path)
        committer.set_scope(())
        assert set(committer.scope_additions) == {FOUND, HEARD}
        assert scope.admits(FOUND + "page")
        assert scope.admits(HEARD + "page")
        assert not scope.admits("http://other.test/")
        committer.close()
        frontier.close()

    asyncio.run(reopen())
