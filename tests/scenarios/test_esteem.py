"""What the link graph says reaches the shards of a crawl, also in places of their own, and decides which hosts come first."""

from pathlib import Path

from rdfspider.index.graph.esteem_file import NAME, save_esteem
from rdfspider.index.layout import IndexPaths
from rdfspider.records import Esteem
from web import Site, Web, crawl, make_page, pages_of

LATE, OTHERS = [f"a{number}.test" for number in range(24)], [f"b{number}.test" for number in range(24)]
PAGES = 4


def make_hosts() -> Site:
    site = Site()
    for host in (*LATE, *OTHERS):
        first, *others = (f"http://{host}/{number or ''}" for number in range(PAGES + 1))
        site.add(first, make_page(first, others))
        for url in others:
            site.add(url, make_page(url))
    return site


def test_hosts_that_are_to_come_later_do(tmp_path: Path) -> None:
    folder, seeds = tmp_path / "crawl", [f"http://{host}/" for host in (*LATE, *OTHERS)]
    flags: list[object] = ["--delay", 0, "--shards", 2]
    flags += ["--place", f"127.0.0.2={tmp_path}/place0", "--place", f"127.0.0.3={tmp_path}/place1"]
    settings = {"frontier_ip_delay_s": 0, "fetch_connections": 1, "index_enabled": "true"}
    with Web(make_hosts()) as web:
        flags += web.resolve({"*.test": "127.0.0.1"})
        crawl(folder, *seeds, "--pages", len(seeds), *flags, **settings)
        graph = IndexPaths(folder).graph
        assert (graph / NAME).exists()
        save_esteem(graph, [Esteem(host, 2) for host in LATE])
        before = len(web.log)
        crawl(folder, "--pages", 2 * len(seeds), *flags, **settings)
        fetched = [exchange.host for exchange in pages_of(web.log[before:])]
    assert len(fetched) == len(seeds)
    # Without the table it is half of them.
    assert sum(host in OTHERS for host in fetched) > 2 / 3 * len(fetched)
