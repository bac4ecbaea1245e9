"""The network or the name servers are lost while a crawl runs, and come back: nobody is blamed, and no page is missing."""

import json
from pathlib import Path

from name_servers import answer_names, set_name_server
from networks import run_in_own_network, set_network
from web import Crawling, Site, Web, check_archives, make_page, make_site, pages_of, read_outcomes

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
            assert crawling.wait_until(lambda: is_suspended(crawling, "there is no network"))
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


def test_name_servers_are_lost_and_come_back(tmp_path: Path) -> None:
    run_in_own_network(lambda: lose_names(tmp_path))


def lose_names(folder: Path) -> None:
    """All names but one are looked up in vain. The first two of them might have no answer at all, so they wait for a minute; the
    crawl ends before."""
    first, others = "http://first.test/", [f"http://h{number}.test/" for number in range(8)]
    site = Site()
    for url in (first, *others):
        site.add(url, make_page(url, others if url == first else ()))
    set_name_server(folder)
    answer_names(1)
    settings = {"frontier_ip_delay_s": 0, "crawl_pages": 7}
    with Web(site, port=80), Crawling(folder / "crawl", first, "--scope", "any", "--shards", 1, **settings) as crawling:
        assert crawling.wait_until(lambda: is_suspended(crawling, "the name servers do not answer"))
        answer_names(20)
        assert crawling.wait() == 0, crawling.stderr()
    outcomes = read_outcomes(folder / "crawl")
    assert len(outcomes) == 7
    assert {outcome.status for outcome in outcomes} == {200}
    assert json.loads((folder / "crawl/status.json").read_bytes())["totals"]["failed"] == 0
    check_archives(folder / "crawl")


def is_suspended(crawling: Crawling, reason: str) -> bool:
    status = crawling.folder / "status.json"
    shards = json.loads(status.read_bytes())["shards"] if status.exists() else []
    return any(reason in beat["reason"] for beat in shards)
