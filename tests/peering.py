"""Shards as far as others notice them, in one process: real frontiers, real sockets, and links that a test chooses."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from rdfspider.config import Config
from rdfspider.crawl.messages import Beat
from rdfspider.domains import Domains
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.outbox import Cursor
from rdfspider.places.keys import ProcessKeys
from rdfspider.records import Discovered
from rdfspider.run.peers.coordinator import Coordinator
from rdfspider.run.peers.coordinator_client import PeerHandlers
from rdfspider.run.peers.coordinator_hub import CoordinatorHub
from rdfspider.run.peers.messages import Control, encode_links
from rdfspider.run.peers.peers import Peers
from rdfspider.run.peers.sockets import AddressBook


def make_domains(shards: int) -> Domains:
    return Domains(b"// ===BEGIN ICANN DOMAINS===\ntest\n// ===END ICANN DOMAINS===\n", shards)


class Shard:
    """As much of a shard as the others notice: it stages what it is sent, and commits it soon."""

    def __init__(
        self,
        number: int,
        folder: Path,
        addresses: AddressBook,
        config: Config,
        *,
        epoch: int = 0,
        has_backup: bool = False,
        keys: ProcessKeys | None = None,
    ) -> None:
        self.number = number
        path = folder / str(number)
        path.mkdir(exist_ok=True)
        self.frontier = Frontier(path / "frontier", config, make_domains(len(addresses.shards)), number, epoch=epoch)
        self.controls: list[Control] = []
        self.asked: list[tuple[int, Cursor, bool]] = []
        """What others have lost, as they say."""
        self.is_idle = False
        self.holds_commits = False
        self.taken = 0
        """Entries of other shards' outboxes."""
        self.peers = Peers(
            number,
            addresses,
            self.frontier,
            config,
            PeerHandlers(
                on_control=self.controls.append,
                on_links=self._take_links,
                tell_again=lambda *asked: self.asked.append(asked),
                is_idle=lambda: self.is_idle and self.peers.is_settled and not self.frontier.has_staged,
                wake=self._commit_soon,
                note=self._commit_soon,
            ),
            has_backup=has_backup,
            keys=keys,
        )

    async def start(self) -> "Shard":
        await self.peers.start()
        return self

    async def close(self) -> None:
        await self.peers.close()
        self.frontier.close()

    def send(self, destination: int, *urls: str) -> None:
        self.frontier.outbox.put(destination, encode_links([Discovered(url) for url in urls]))
        self._commit_soon()

    def knows(self, url: str) -> bool:
        return self.frontier.find(url) is not None

    def commit(self) -> None:
        if self.frontier.has_staged:
            self.frontier.commit()
            self.frontier.sync()
            self.peers.after_commit()

    def _take_links(self, links: list[Discovered]) -> None:
        self.frontier.add(links)
        self.taken += 1
        self._commit_soon()

    def _commit_soon(self) -> None:
        if not self.holds_commits:
            asyncio.get_running_loop().call_soon(self.commit)


class Crawl:
    """A folder, addresses, and shards that can be opened and closed."""

    def __init__(self, folder: Path, addresses: AddressBook, config: Config) -> None:
        self.folder, self.addresses, self.config = folder, addresses, config
        self.open: list[Shard] = []
        self.coordinator = Coordinator(len(addresses.shards), config.crawl)
        self.hub = CoordinatorHub(self.coordinator, addresses.coordinator, lambda: None)
        self.hub.open()

    async def start(self, number: int, *, epoch: int = 0, has_backup: bool = False) -> Shard:
        shard = Shard(number, self.folder, self.addresses, self.config, epoch=epoch, has_backup=has_backup)
        self.open.append(shard)
        return await shard.start()

    async def stop(self, shard: Shard) -> None:
        self.open.remove(shard)
        await shard.close()
        self.coordinator.note_exit(shard.number)

    async def stop_all(self) -> None:
        for shard in list(self.open):
            await self.stop(shard)
        self.hub.close()


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(0.005)


def send_beats(shards: list[Shard]) -> None:
    for shard in shards:
        frontier = shard.frontier
        shard.peers.coordinator.send_beat(
            Beat(shard.number, frontier.epoch, 0.0, 1, frontier.generation, shard.is_idle)
        )
