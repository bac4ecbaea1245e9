"""What the link graph says reaches the shards of a crawl, also in places of their own, and decides where hosts stand."""

from pathlib import Path

from rdfspider.config import Config
from rdfspider.crawl.folder import frontier_folder
from rdfspider.frontier.hosts.hosts import decode_host
from rdfspider.frontier.keys import PRIORITIES
from rdfspider.frontier.reader import FrontierReader
from rdfspider.index.graph.esteem_file import NAME, save_esteem
from rdfspider.index.layout import IndexPaths
from rdfspider.records import Esteem
from web import Site, Web, crawl, make_page

LATE, OTHERS = [f"a{number}.test" for number in range(40)], [f"b{number}.test" for number in range(40)]
PAGES = 4


def make_hosts() -> Site:
    site = Site()
    for host in (*LATE, *OTHERS):
        first, *others = (f"http://{host}/{number or ''}" for number in range(PAGES + 1))
        site.add(first, make_page(first, others))
        for url in others:
            site.add(url, make_page(url))
    return site


def list_fronts(place: Path, shard: int) -> dict[str, int]:
    """The front queues of the hosts of a shard."""
    folder = frontier_folder(place / f"crawl-{shard:03}", shard)
    with FrontierReader(folder, Config(), shard, tables=("meta", "hosts")) as reader:
        records = [decode_host(value) for _, value in reader._tables["hosts"].scan(b"", b"\xff" * 9)]
    return {record.name: record.front_key[0] for record in records if b"" < record.front_key < bytes((PRIORITIES,))}


def test_hosts_that_are_to_come_later_stand_behind_the_others(tmp_path: Path) -> None:
    folder, seeds = tmp_path / "crawl", [f"http://{host}/" for host in (*LATE, *OTHERS)]
    places = [tmp_path / "place0", tmp_path / "place1"]
    flags: list[object] = ["--delay", 0, "--shards", 2]
    flags += ["--place", f"127.0.0.2={places[0]}", "--place", f"127.0.0.3={places[1]}"]
    settings = {"frontier_ip_delay_s": 0, "fetch_connections": 1, "index_enabled": "true"}
    with Web(make_hosts()) as web:
        flags += web.resolve({"*.test": "127.0.0.1"})
        crawl(folder, *seeds, "--pages", len(seeds), *flags, **settings)
        graph = IndexPaths(folder).graph
        assert (graph / NAME).exists()
        save_esteem(graph, [Esteem(host, 2) for host in LATE])
        crawl(folder, "--pages", len(seeds) + len(LATE), *flags, **settings)
    for shard, place in enumerate(places):
        fronts = list_fronts(place, shard)
        late, others = (max(fronts[host] for host in hosts if host in fronts) for hosts in (LATE, OTHERS))
        assert late >= others + 2, fronts
