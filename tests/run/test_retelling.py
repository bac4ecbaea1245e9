"""A shard tells others again what its archive says: real frontiers and a real archive, without sockets."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from rdfspider.config import Config, CrawlConfig
from rdfspider.crawl.folder import frontier_folder, load_domains, shard_folder
from rdfspider.discover.scope import Scope
from rdfspider.frontier.frontier import Frontier
from rdfspider.run.commits import WARC
from rdfspider.run.peers.messages import decode_outbox_entry
from rdfspider.run.retelling import Retelling
from web import Web, crawl, make_site

HOSTS = [f"www.site{number}.test" for number in range(8)]
SHARDS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has ended."""
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    with Web(make_site(HOSTS, 60)) as web:
        resolve = web.resolve(dict.fromkeys(HOSTS, "127.0.0.1"))
        crawl(folder, f"http://{HOSTS[0]}/", "--scope", "any", "--delay", 0, "--shards", SHARDS, *resolve)
    return folder


def retell(folder: Path, ask: Callable[[Retelling], None]) -> dict[int, list[set[str] | None]]:
    """What shard 0 tells each other shard: sets of URLs, and None at the end."""
    config = Config(crawl=CrawlConfig(shards=SHARDS, scope="any"))
    domains = load_domains(folder, SHARDS)
    frontier = Frontier(frontier_folder(folder, 0), config, domains, 0)
    before = {number: frontier.outbox.last(number) for number in (1, 2)}

    async def tell() -> None:
        done = asyncio.Event()
        warc = shard_folder(folder, 0) / WARC
        scope = Scope(config.crawl, domains)
        retelling = Retelling(
            *(0, warc, config.crawl, domains, frontier, scope),
            has_room=lambda: True,
            note=lambda: None,
            on_end=lambda task: done.set(),
        )
        ask(retelling)
        assert not retelling.is_done
        await done.wait()
        assert retelling.is_done

    asyncio.run(tell())
    frontier.commit()
    told: dict[int, list[set[str] | None]] = {}
    for number, after in before.items():
        entries = [decode_outbox_entry(payload) for _, payload in frontier.outbox.read(number, after, 1 << 30)]
        told[number] = [{link.url for link in entry} if isinstance(entry, list) else None for entry in entries]
    frontier.outbox.free(1, frontier.outbox.last(1))
    frontier.outbox.free(2, frontier.outbox.last(2))
    frontier.commit()
    frontier.close()
    return told


def test_a_shard_is_told_all_links_for_its_hosts_and_then_the_end(folder: Path) -> None:
    told = retell(folder, lambda retelling: retelling.ask(1, (0, 0), is_behind=True))
    assert told[2] == []
    assert told[1][-1] is None
    urls = set[str]().union(*(entry for entry in told[1] if entry))
    domains = load_domains(folder, SHARDS)
    assert urls
    assert {domains.shard(url.split("/")[2]) for url in urls} == {1}


def test_one_pass_serves_all_that_ask_and_repeated_questions_change_nothing(folder: Path) -> None:
    def ask(retelling: Retelling) -> None:
        retelling.ask(1, (0, 0), is_behind=True)
        retelling.ask(1, (0, 0), is_behind=False)
        retelling.ask(2, (0, 0), is_behind=False)

    told = retell(folder, ask)
    assert [told[number].count(None) for number in (1, 2)] == [1, 1]
