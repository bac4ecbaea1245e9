"""A crawl goes on whatever runner starts its shards: nothing else knows where they are."""

import os
import pickle
from pathlib import Path

from ports import find_free_ports
from rdfspider import Crawl
from rdfspider.processes.module_process import ModuleProcess
from rdfspider.run.coordination import run_crawl
from rdfspider.run.peers.sockets import AddressBook
from rdfspider.run.runners.runner import ShardOrder
from web import Web, make_site, read_outcomes


class TcpRunner:
    """Starts shards that reach each other over TCP, each at an address of its own, as on several machines."""

    def __init__(self, shards: int) -> None:
        coordinator, *ports = find_free_ports(shards + 1)
        self.addresses = AddressBook(
            f"tcp://127.0.0.1:{coordinator}",
            tuple(f"tcp://127.0.0.{2 + number}:{port}" for number, port in enumerate(ports)),
        )
        self.control = self.addresses.coordinator
        self.keys = None
        self.lease_s = 0.0
        self.has_places = False
        self.started: list[int] = []
        self.is_closed = False

    async def start(self, order: ShardOrder) -> ModuleProcess:
        self.started.append(order.number)
        order = order._replace(parent_pid=os.getpid())
        return await ModuleProcess.start("rdfspider.run.shard_process", pickle.dumps(order))

    def tend(self) -> None:
        pass

    def close(self) -> None:
        self.is_closed = True


def test_shards_of_another_runner_exchange_links_over_its_addresses(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    hosts = [f"site{number}.test" for number in range(6)]
    site = make_site(hosts, 30)
    with Web(site) as web:
        resolve = tuple(web.resolve({"*.test": "127.0.0.1"})[1::2])
        pace = {"delay_s": 0.01, "ip_delay_s": 0.0, "min_free_bytes": 0, "allow_private": True, "ways": ()}
        crawl = Crawl.create(
            folder, [f"http://{hosts[0]}/"], resolve=resolve, shards=2, scope="any", index_enabled=False, **pace
        )
        runner = TcpRunner(2)
        status = run_crawl(folder, crawl.config, runner=runner)
    assert status.state == "ended"
    assert sorted(runner.started) == [0, 1]
    assert runner.is_closed
    # Both shards own some of the hosts, and only links of others lead to them.
    assert all(shard.pages > 0 for shard in status.shards)
    assert {outcome.url for outcome in read_outcomes(folder)} == site.urls
