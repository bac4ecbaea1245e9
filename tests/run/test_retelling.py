"""A shard tells others again what its archive says: real frontiers and a real archive, without sockets."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from rdfspider.config import Config, CrawlConfig
from rdfspider.crawl.folder import frontier_folder, load_domains, shard_folder
from rdfspider.discover.data_links import run_query
from rdfspider.discover.scope import Scope
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Extraction, Page
from rdfspider.run.archived_links import list_facts, read_segments
from rdfspider.run.peers.messages import decode_outbox_entry
from rdfspider.run.retelling import Retelling
from rdfspider.run.shard_archive import WARC
from web import Answer, Site, Web, crawl, make_site
from web.server import Answers

QUERY = "SELECT ?url WHERE { ?page <http://example.org/p> ?url }"
HOSTS = [f"www.site{number}.test" for number in range(8)]
NEXT = dict(zip(HOSTS, [*HOSTS[1:], HOSTS[0]], strict=True))
SHARDS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has ended."""
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    with Web(lead_on(make_site(HOSTS, 60))) as web:
        flags = ("--scope", "any", "--delay", 0, "--shards", SHARDS, *web.resolve(dict.fromkeys(HOSTS, "127.0.0.1")))
        crawl(folder, f"http://{HOSTS[0]}/", *flags, crawl_data_links=QUERY, crawl_ways="sitemaps headers data")
    return folder


def lead_on(site: Site) -> Answers:
    """The site, whose pages also lead to all hosts by their headers and data, and by sitemaps that robots.txt names."""

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        found = site(host, path, headers)
        if path == "/robots.txt":
            return Answer(body=f"Sitemap: http://{NEXT[host]}/named.xml\n".encode())
        if path == "/named.xml":
            urls = "".join(f"<url><loc>http://{other}/listed-by-{host}</loc></url>" for other in HOSTS)
            body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
            return Answer(body=body.encode(), content_type="application/xml")
        if found.status != 200:
            return found
        link = ", ".join(f'<http://{other}/by-header>; rel="next"' for other in HOSTS)
        data = [{"@id": "", "http://example.org/p": {"@id": f"http://{other}/by-data"}} for other in HOSTS]
        script = f'<script type="application/ld+json">{json.dumps(data)}</script>'
        return replace(found, body=found.body + script.encode(), headers={"Link": link})

    return answer


async def query(text: str, page: Page, extraction: Extraction) -> tuple[list[str], Extraction]:
    return run_query(text, page.url, extraction.to_nquads()), extraction


def retell(folder: Path, ask: Callable[[Retelling], None]) -> dict[int, list[set[str] | None]]:
    """What shard 0 tells each other shard: sets of URLs, and None at the end."""
    config = Config(crawl=CrawlConfig(shards=SHARDS, scope="any", data_links=(QUERY,)))
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
            query=query,
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


def test_a_shard_is_told_what_headers_data_and_sitemaps_lead_to(folder: Path) -> None:
    told = retell(folder, lambda retelling: retelling.ask(1, (0, 0), is_behind=True))
    domains = load_domains(folder, SHARDS)
    own, others = ([host for host in HOSTS if domains.shard(host) == shard] for shard in (0, 1))
    named = {f"http://{NEXT[host]}/named.xml" for host in own if NEXT[host] in others}
    # A sitemap may list URLs of those that name it.
    listed = {f"http://{host}/listed-by-{NEXT[host]}" for host in others if NEXT[host] in own}
    followed = {f"http://{host}/{path}" for host in others for path in ("by-header", "by-data")}
    assert named
    assert listed
    assert named | listed | followed <= set[str]().union(*(entry for entry in told[1] if entry))


def test_one_pass_serves_all_that_ask_and_repeated_questions_change_nothing(folder: Path) -> None:
    def ask(retelling: Retelling) -> None:
        retelling.ask(1, (0, 0), is_behind=True)
        retelling.ask(1, (0, 0), is_behind=False)
        retelling.ask(2, (0, 0), is_behind=False)

    told = retell(folder, ask)
    assert [told[number].count(None) for number in (1, 2)] == [1, 1]


def test_a_segment_that_cannot_be_read_is_left_out(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    segments = list_facts(shard_folder(folder, 0) / WARC)
    lost = {"shard-000-facts-000000.warc.gz": (tmp_path / "nothing", 1000)}
    urls = [outcome.url for outcome in read_segments(segments)]
    assert urls
    assert [outcome.url for outcome in read_segments(lost | segments)] == urls
    assert "the links of a segment are left out: " in caplog.text
