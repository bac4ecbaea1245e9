"""Shards on TCP whose connections are slow and cut again and again: every link arrives, and the end is found.

Six cuts by default, one a second; `TEST_CUTS=60` makes it a minute.
"""

import asyncio
import os
from pathlib import Path

from cut_wires import Wire
from peering import Shard, send_beats, until
from ports import find_free_ports
from rdfspider.config import Config, CrawlConfig, FrontierConfig
from rdfspider.frontier.hosts.address_clocks import find_owner
from rdfspider.run.peers.coordinator import Coordinator
from rdfspider.run.peers.coordinator_hub import CoordinatorHub
from rdfspider.run.peers.sockets import AddressBook

CUTS = int(os.environ.get("TEST_CUTS", 6))
SHARDS = 3
LINKS_A_STEP, STEPS_A_CUT = 10, 20


class CutCrawl:
    """Shards and a coordinator that reach each other through wires."""

    def __init__(self, folder: Path) -> None:
        self.config = Config(crawl=CrawlConfig(shards=SHARDS, pages=10_000), frontier=FrontierConfig(ip_delay_s=0.001))
        self.coordinator = Coordinator(SHARDS, self.config.crawl)
        self.shards: list[Shard] = []
        self.wires: list[Wire] = []
        self._folder = folder
        ports = find_free_ports(SHARDS + 1)
        self._ports, self._hub_port = ports[:SHARDS], ports[SHARDS]
        self.hub = CoordinatorHub(self.coordinator, f"tcp://127.0.0.1:{self._hub_port}", lambda: None)

    async def open(self) -> None:
        self.hub.open()
        for number in range(SHARDS):
            # Its own address is the one that it listens on.
            ways = [await self._wire(port) if other != number else port for other, port in enumerate(self._ports)]
            addresses = AddressBook(
                f"tcp://127.0.0.1:{await self._wire(self._hub_port)}",
                tuple(f"tcp://127.0.0.1:{port}" for port in ways),
            )
            self.shards.append(await Shard(number, self._folder, addresses, self.config).start())

    async def _wire(self, port: int) -> int:
        self.wires.append(Wire(port))
        return await self.wires[-1].open()

    def cut(self) -> None:
        for wire in self.wires:
            wire.cut()

    def beat(self) -> None:
        self.hub.send(self.coordinator.tick())
        self.hub.tick()
        send_beats(self.shards)

    async def close(self) -> None:
        for shard in self.shards:
            await shard.close()
        self.hub.close()
        for wire in self.wires:
            await wire.close()


def test_every_link_grant_and_permit_arrives_although_connections_are_cut(tmp_path: Path) -> None:
    asyncio.run(asyncio.wait_for(_cut_often(tmp_path), 60 + 3 * CUTS))


async def _cut_often(folder: Path) -> None:
    crawl = CutCrawl(folder)
    await crawl.open()
    sent: list[list[str]] = [[] for _ in range(SHARDS)]
    visits = [asyncio.create_task(_visit(shard)) for shard in crawl.shards]
    for step in range(CUTS * STEPS_A_CUT):
        for shard in crawl.shards:
            for to in shard.peers.others:
                urls = [f"http://s{shard.number}-{to}.test/{step}/{n}" for n in range(LINKS_A_STEP)]
                sent[to] += urls
                shard.send(to, *urls)
        if step % STEPS_A_CUT == STEPS_A_CUT - 1:
            crawl.cut()
        if step % 10 == 0:
            crawl.beat()
        await asyncio.sleep(1 / STEPS_A_CUT)
    for shard in crawl.shards:
        shard.is_idle = True
    while not all(shard.controls for shard in crawl.shards):
        crawl.beat()
        await asyncio.sleep(0.2)
    await asyncio.gather(*visits)
    try:
        assert sum(wire.cuts for wire in crawl.wires) >= CUTS * SHARDS
        for shard, urls in zip(crawl.shards, sent, strict=True):
            assert not [url for url in urls if not shard.knows(url)]
            assert shard.frontier.counts.known == len(urls)
            assert [control.reason for control in shard.controls] == ["finished"]
    finally:
        await crawl.close()


async def _visit(shard: Shard) -> None:
    """Ask for permits, for addresses of other shards, and for the first URLs with some contents, until the shard is idle."""
    permits = shard.peers.coordinator.permits
    number = 0
    while not shard.is_idle:
        await until(permits.has_one)
        permits.reserve()
        number += 1
        address = f"192.0.2.{number % 250}"
        if find_owner(address, SHARDS) == shard.number:
            continue
        await shard.peers.gate.acquire(address)
        shard.peers.gate.release(address)
        await asyncio.sleep(0.02)
