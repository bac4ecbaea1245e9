"""The network is lost while a crawl runs, and comes back: nobody is blamed, and no page is missing in the end."""

import json
from pathlib import Path

from networks import run_in_own_network, set_network
from web import Crawling, Web, check_archives, make_site, pages_of, read_outcomes

HOSTS = ["a.test", "b.test", "c.test"]
PAGES = 150


def test_a_network_is_lost_and_comes_back(tmp_path: Path) -> None:
    run_in_own_network(lambda: lose_network(tmp_path / "crawl"))


def lose_network(folder: Path) -> None:
    site = make_site(HOSTS, PAGES)
    with Web(site) as web:
        flags = ["http://a.test/", "--scope", "any", "--delay", 0.1, "--shards", 1]
        flags += web.resolve({"*.test": "127.0.0.1"})
        settings = {
            "frontier_ip_delay_s": 0,
            "fetch_timeout_s": 5,
            "fetch_connect_timeout_s": 2,
            "frontier_attempts": 2,
        }
        with Crawling(folder, *flags, **settings) as crawling:
            assert crawling.wait_until(lambda: len(pages_of(web.log)) >= 10)
            set_network(is_there=False)
            assert crawling.wait_until(lambda: is_suspended(crawling))
            fetched = len(web.log)
            crawling.wait_for_beats(5)
            assert len(web.log) == fetched < PAGES
            set_network(is_there=True)
            assert crawling.wait() == 0, crawling.stderr()
    outcomes = read_outcomes(folder)
    assert {outcome.url for outcome in outcomes} == site.urls
    assert {outcome.status for outcome in outcomes} == {200}
    assert json.loads((folder / "status.json").read_bytes())["totals"]["failed"] == 0
    check_archives(folder)


def is_suspended(crawling: Crawling) -> bool:
    shards = json.loads((crawling.folder / "status.json").read_bytes())["shards"]
    return any("there is no network" in beat["reason"] for beat in shards)
