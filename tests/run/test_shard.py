"""What a shard decides itself; whole crawls are in the scenarios."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from rdfspider import Crawl
from rdfspider.crawl.folder import load_domains
from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.hosts.shares import LINK_S, Shares
from rdfspider.run.peers.coordinator import Coordinator
from rdfspider.run.peers.coordinator_hub import CoordinatorHub
from rdfspider.run.runners.local import LocalRunner
from rdfspider.run.runners.runner import ShardOrder
from rdfspider.run.shard import Shard
from web import Site, Web, make_page


@pytest.mark.parametrize("room_bytes", [8_000_000, 2_000_000])
def test_bodies_share_one_room_until_they_are_durable(room_bytes: int, tmp_path: Path) -> None:
    """The process for large pages is slower than the network, so they would pile up before it. With the smaller room each body
    waits until the one before is on disk, and still all come."""
    site = Site()
    urls = [f"http://h{number}.site{number}.test/" for number in range(30)]
    for url in urls:
        site.add(url, make_page(url, head=f"<!--{'x' * 1_500_000}-->"))
    with Web(site) as web:
        crawl = Crawl.create(
            tmp_path / "crawl",
            urls,
            resolve=tuple(web.resolve({"*.test": "127.0.0.1"})[1::2]),
            shards=1,
            delay_s=0,
            backoff_s=0.2,
            min_free_bytes=0,
            fetch_max_flight_bytes=room_bytes,
            fetch_max_body_bytes=2_000_000,
        )
        most, pages = asyncio.run(asyncio.wait_for(watch_shard(crawl), 60))
    assert pages == 30
    # Statements are counted as well.
    assert 1_500_000 < most < room_bytes + 100_000


def test_the_links_of_a_page_count_against_its_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take longer to schedule than the page to extract."""
    site = Site()
    url = "http://a.test/"
    site.add(url, make_page(url, links=[f"/{number}" for number in range(5_000)]))
    charged: list[float] = []
    charge = Shares.charge

    def record(shares: Shares, host: Host, cost_s: float, requests: int = 0, held_s: float = 0.0) -> None:
        charged.append(cost_s)
        charge(shares, host, cost_s, requests, held_s)

    monkeypatch.setattr(Shares, "charge", record)
    with Web(site) as web:
        crawl = Crawl.create(
            tmp_path / "crawl", [url], resolve=tuple(web.resolve({"*.test": "127.0.0.1"})[1::2]), shards=1, pages=1
        )
        asyncio.run(asyncio.wait_for(watch_shard(crawl), 60))
    # Its sitemap is one more.
    assert 5_001 in [round(cost / LINK_S, 6) for cost in charged]


async def watch_shard(crawl: Crawl) -> tuple[int, int]:
    """Run the only shard of a crawl to the end: the most bytes that it held at any time, and its pages."""
    runner = LocalRunner(1)
    coordinator = Coordinator(1, crawl.config.crawl)
    hub = CoordinatorHub(coordinator, runner.addresses.coordinator, lambda: None)
    hub.open()
    shard = Shard(ShardOrder(0, crawl.folder, runner.addresses, crawl.config), load_domains(crawl.folder, 1))
    running = asyncio.create_task(shard.run())
    most = 0
    while not running.done():
        most = max(most, shard._visits.kept_bytes + shard._visits._fetcher.flight_bytes)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(running), 0.002)
    hub.close()
    runner.close()
    return most, coordinator.pages
