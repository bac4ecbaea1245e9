"""A network that is cut in two, by network namespaces: what is cut off stops by its lease, and its successors are the only ones.

Two of three shards are in a network that reaches the coordinator over one link, and the servers over another. The first is cut,
without a word to any connection; so the shards there could go on asking servers, and each other.
"""

import subprocess
import time
from collections import defaultdict
from contextlib import nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from networks import FarNetwork, run_in_own_network, run_ip
from rdfspider import Crawl, Status
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.hosts.address_clocks import find_owner
from rdfspider.places.keys import load_keys
from rdfspider.run.coordination import run_crawl
from rdfspider.run.runners.local import LocalRunner
from rdfspider.run.runners.places import Place
from rdfspider.run.runners.runner import ShardExit, ShardOrder
from unreachable import Unreachable, find_life, name_life
from web import Answers, Web, check_politeness, make_site, pages_of, prolong
from web.judges import ON_THE_WAY_S

SHARDS = 3
NEAR, FAR = "10.77.1.1", "10.77.1.2"
"""The machine of the coordinator and shard 0, and that of shards 1 and 2."""
SERVERS = "10.77.2."
LEASE_S, DELAY_S, IP_DELAY_S = 3.0, 0.2, 0.05
HOSTS = [f"site{number}.test" for number in range(18)]
DOMAINS = Domains(bundled_suffix_list(), SHARDS)
LONG = [next(host for host in HOSTS if DOMAINS.shard(host) == shard) for shard in range(SHARDS)]
"""A host of each shard, on which something is left to do until the network is healed."""
_is_far: ContextVar[bool] = ContextVar("_is_far", default=False)
"""Whether what the present task starts is to be in the other network."""


def place_hosts() -> dict[str, str]:
    """An address for each host; shards have some in common. Most of their clocks are kept on the side from which they are asked,
    so that a cut does not stop the asking; every third is kept on the other side."""
    owned: dict[int, list[str]] = {number: [] for number in range(SHARDS)}
    for number in range(10, 60):
        owned[find_owner(f"{SERVERS}{number}", SHARDS)].append(f"{SERVERS}{number}")
    is_kept_far = [bool(DOMAINS.shard(host)) != (number % 3 == 0) for number, host in enumerate(HOSTS)]
    placing = {host: owned[is_far][at % 4] for at, (host, is_far) in enumerate(zip(HOSTS, is_kept_far, strict=True))}
    # What a dead shard was granted stays so for a while, so those on which a test waits are shared with nobody.
    return placing | {host: owned[0][4 + shard] for shard, host in enumerate(LONG)}


class PartedRunner(LocalRunner):
    """Starts shards 1 and 2 in the other network; after the cut, shard 1 starts on this side, and shard 2 there again."""

    def __init__(self, folder: Path) -> None:
        self.lives: dict[int, list[Unreachable]] = {number: [] for number in range(SHARDS)}
        self.started: dict[tuple[int, int], float] = {}
        self._near, self._far = Place(NEAR, folder / "near"), Place(FAR, folder / "far")
        super().__init__(SHARDS, [self._near, self._far], load_keys(folder / "crawl", SHARDS), LEASE_S, NEAR)

    def find_place(self, number: int) -> Place:
        return self._near if number == 0 or (number == 1 and self.lives[1]) else self._far

    async def start(self, order: ShardOrder) -> Any:
        number = order.number
        life = len(self.lives[number])
        _is_far.set(self.find_place(number) == self._far)
        self.find_place(number).folder.mkdir(exist_ok=True)
        own = f"tcp://{self.find_place(number).host}:*"
        addresses = tuple(own if number == at else known for at, known in enumerate(order.addresses.shards))
        order = order._replace(addresses=order.addresses._replace(shards=addresses))
        child = Unreachable(await super().start(name_life(order, life)))
        self.started[number, life] = time.monotonic()
        self.lives[number].append(child)
        return child


def test_the_cut_off_side_of_a_network_stops_by_its_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_in_own_network(lambda: part_network(tmp_path, monkeypatch))


def part_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = FarNetwork((NEAR, FAR), (f"{SERVERS}1", f"{SERVERS}2"))
    start_in_networks(network, monkeypatch)
    placing = place_hosts()
    for address in set(placing.values()):
        run_ip("address", "add", f"{address}/24", "dev", "near1")
    site = make_site(HOSTS, 120)
    cut_at: list[float] = []
    healed_at: list[float] = []
    answers: Answers = site
    for host in LONG:
        answers = prolong(answers, host, lambda: bool(healed_at))
    with Web(answers, sorted(set(placing.values()))) as web:
        settings = {"shards": SHARDS, "scope": "any", "ways": (), "index_enabled": False, "min_free_bytes": 0}
        pace = {"delay_s": DELAY_S, "ip_delay_s": IP_DELAY_S, "duration_factor": 0, "allow_private": True}
        backup = {"backup_url": str(folder / "store"), "backup_every_s": 0.5}
        seeds = [f"http://{HOSTS[0]}/", *(f"http://{host}/more/0" for host in LONG)]
        resolve = tuple(web.resolve(placing)[1::2])
        crawl = Crawl.create(folder / "crawl", seeds=seeds, resolve=resolve, **settings, **pace, **backup)
        runner = PartedRunner(folder)

        def part(status: Status) -> None:
            lives = [find_life(exchange) for exchange in web.log]
            if not cut_at and all(lives.count((shard, 0)) > 8 for shard in range(SHARDS)):
                network.cut()
                for shard in (1, 2):
                    runner.lives[shard][0].is_cut = True
                cut_at.append(time.monotonic())
            elif cut_at and not healed_at and (1, 1) in lives and (2, 1) in runner.started:
                network.heal()
                healed_at.append(time.monotonic())

        status = run_crawl(folder / "crawl", crawl.config, part, runner)
    network.close()
    assert (status.state, status.reason) == ("ended", "finished")
    assert site.urls <= {exchange.url for exchange in pages_of(web.log)}
    judge_lives(web, runner, cut_at[0], healed_at[0])
    assert check_politeness(web.log, DELAY_S, IP_DELAY_S) == []


def start_in_networks(network: FarNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the processes of the far place in its network."""

    class Process(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            with network.entered() if _is_far.get() else nullcontext():
                super().__init__(*arguments, **named)

    monkeypatch.setattr(subprocess, "Popen", Process)


def judge_lives(web: Web, runner: PartedRunner, cut_at: float, healed_at: float) -> None:
    asked: dict[tuple[int, bool], list[float]] = defaultdict(list)
    for exchange in web.log:
        shard, life = find_life(exchange)
        asked[shard, life > 0].append(exchange.started)
    assert min(asked[2, True]) > healed_at, "a life that has never heard the coordinator has asked a server"
    for shard in (1, 2):
        last = max(asked[shard, False])
        assert last > cut_at, "it could not have asked anybody, so nothing is shown"
        assert last < cut_at + LEASE_S + ON_THE_WAY_S
        assert last + DELAY_S < runner.started[shard, 1] < min(asked[shard, True])
        assert runner.lives[shard][0].code == ShardExit.LEASE_OVER
    during = [moment for moment in asked[0, False] if cut_at < moment < healed_at]
    assert during, "the side of the coordinator goes on"
