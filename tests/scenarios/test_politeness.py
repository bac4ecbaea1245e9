"""Politeness as the server's own log shows it, of whole crawls, over shards and restarts."""

import socket
import threading
from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from rdfspider.domains import Domains, bundled_suffix_list
from web import (
    Answer,
    Crawling,
    Exchange,
    Site,
    Web,
    check_address_pace,
    check_once,
    check_pace,
    check_retry_after,
    crawl,
    make_chain,
    make_page,
    make_site,
    pages_of,
    prolong,
    read_outcomes,
)

EVERYWHERE = {"*.test": "127.0.0.1"}


def gaps_of(log: list[Exchange], host: str) -> list[float]:
    """Seconds from the end of each request to the host to the start of the next."""
    own = sorted((exchange for exchange in log if exchange.host == host), key=lambda exchange: exchange.started)
    return [after.started - before.ended for before, after in pairwise(own)]


def count_meanwhile(log: list[Exchange], kind: str, gap_s: float) -> int:
    """How many others were asked at best while one host or address was left alone for a while."""
    return max(
        len({getattr(other, kind) for other in log if 0 < other.started - one.ended < gap_s} - {getattr(one, kind)})
        for one in log
    )


def text(body: str) -> Answer:
    return Answer(body=body.encode(), content_type="text/plain")


def test_many_hosts_on_one_address_over_two_shards(tmp_path: Path) -> None:
    hosts = [f"site{number}.test" for number in range(10)]
    domains = Domains(bundled_suffix_list(), 2)
    assert {domains.shard(host) for host in hosts} == {0, 1}
    site = make_site(hosts, 60, delay_s=0.005)
    flags = ["--scope", "any", "--delay", 1, "--shards", 2]
    with Web(site) as web:
        crawl(tmp_path / "crawl", "http://site0.test/", *flags, *web.resolve(EVERYWHERE), frontier_ip_delay_s=0.05)
    assert {exchange.url for exchange in pages_of(web.log)} == site.urls
    assert check_pace(web.log, 1) == []
    assert check_address_pace(web.log, 0.05) == []
    assert check_once(web.log) == []
    assert count_meanwhile(web.log, "host", 1) >= 3, "the address is left idle although many hosts wait for it"


def test_a_host_that_robots_txt_files_of_others_redirect_to_keeps_its_pace(tmp_path: Path) -> None:
    site = make_site(["www.site.test"], 8)
    aliases = [f"a{number}.site.test" for number in range(5)]
    site.robots["www.site.test"] = Answer(body=b"User-agent: *\nAllow: /\n", content_type="text/plain", delay_s=0.02)
    for host in aliases:
        site.add(f"http://{host}/", make_page(f"http://{host}/"))
        site.robots[host] = Answer(301, headers={"Location": "http://www.site.test/robots.txt"})
    site.add("http://www.site.test/", make_page("http://www.site.test/", sorted(site.urls)))
    with Web(site) as web:
        flags = ["--delay", 0.3, "--shards", 1, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "crawl", "http://www.site.test/", *flags, frontier_ip_delay_s=0.01)
    assert {exchange.url for exchange in pages_of(web.log)} == site.urls
    assert sum(exchange.path == "/robots.txt" and exchange.host == "www.site.test" for exchange in web.log) == 6
    assert check_pace(web.log, 0.3) == []


def test_addresses_do_not_wait_for_each_other(tmp_path: Path) -> None:
    hosts = {f"site{number}.test": f"127.0.0.{number + 1}" for number in range(6)}
    site = make_site(list(hosts), 36)
    flags = ["--scope", "any", "--delay", 0.6, "--shards", 2]
    with Web(site, list(hosts.values())) as web:
        crawl(tmp_path / "crawl", "http://site0.test/", *flags, *web.resolve(hosts), frontier_ip_delay_s=0.6)
    assert {exchange.url for exchange in pages_of(web.log)} == site.urls
    assert check_pace(web.log, 0.6) == []
    assert check_address_pace(web.log, 0.6) == []
    assert count_meanwhile(web.log, "address", 0.6) >= 3, (
        "six addresses took as long as three would one after the other"
    )


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_hosts_share_an_address_of_ipv6_too(tmp_path: Path) -> None:
    site = make_site(["site0.test", "site1.test", "site3.test"], 18)
    with Web(site, ["::1"]) as web:
        flags = ["--scope", "any", "--delay", 0.2, "--shards", 2, *web.resolve({"*.test": "::1"})]
        crawl(tmp_path / "crawl", "http://site0.test/", *flags, frontier_ip_delay_s=0.1)
    assert {exchange.url for exchange in pages_of(web.log)} == site.urls
    assert check_pace(web.log, 0.2) == []
    assert check_address_pace(web.log, 0.1) == []


def test_crawl_delay_holds_where_it_is_longer(tmp_path: Path) -> None:
    site = make_site(["slow.test", "quick.test", "short.test"], 9)
    site.robots["slow.test"] = text("User-agent: *\nCrawl-delay: 1.5\n")
    site.robots["short.test"] = text("User-agent: *\nCrawl-delay: 0.01\n")
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0.2, "--shards", 1, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "crawl", "http://slow.test/", *flags, frontier_ip_delay_s=0.01)
    assert {exchange.url for exchange in pages_of(web.log)} == site.urls
    assert check_pace(web.log, {"": 0.2, "slow.test": 1.5}) == []
    assert len(check_pace(web.log, {"": 0.2, "quick.test": 1.5})) > 0, "the others were slowed down too"


def test_slow_servers_are_asked_less(tmp_path: Path) -> None:
    site = Site()
    site.add("http://a.test/", Answer(body=make_page("http://a.test/", ["/1", "/2"]).body, delay_s=0.1))
    for path in ("/1", "/2"):
        site.add(f"http://a.test{path}", Answer(body=b"<p>slow</p>", delay_s=0.1))
    with Web(site) as web:
        flags = ["--delay", 0.1, "--shards", 1, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "crawl", "http://a.test/", *flags, frontier_duration_factor=10)
    assert len(pages_of(web.log)) == 3
    assert check_pace(web.log, 0.1, duration_factor=10) == []


def test_retry_after_is_obeyed_while_other_hosts_go_on(tmp_path: Path) -> None:
    site = make_site(["a.test", "b.test", "c.test"], 30)
    refusals = {("b.test", "/1"): (503, "2"), ("c.test", "/1"): (429, "1")}
    asked: Counter[str] = Counter()

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        if (host, path) in refusals:
            asked[host] += 1
            if asked[host] == 1:
                status, wait_s = refusals[host, path]
                return Answer(status, headers={"Retry-After": wait_s})
        return site(host, path, headers)

    with Web(prolong(answer, "a.test", lambda: min(asked["b.test"], asked["c.test"]) > 1)) as web:
        flags = ["--scope", "any", "--delay", 0.05, "--shards", 2, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "crawl", "http://a.test/", "http://a.test/more/0", *flags, frontier_ip_delay_s=0.01)
    assert check_retry_after(web.log) == []
    assert {exchange.url for exchange in web.log if exchange.status == 200} >= site.urls, "a refused page was lost"
    (refused,) = [exchange for exchange in web.log if exchange.retry_after_s == 2]
    again = min(page.started for page in web.log if page.url == refused.url and page.started > refused.ended)
    meanwhile = sum(page.host == "a.test" and refused.ended < page.started < again for page in web.log)
    # By the pages of a host that keeps its delay: a busy machine makes them fewer, not more.
    assert 0 < meanwhile < 10 / 0.05, "the wait was much longer than asked for"


def test_errors_double_the_wait_and_a_dead_host_is_given_up(tmp_path: Path) -> None:
    site = make_site(["a.test", "dead.test"], 8)
    alive = {url for url in site.urls if "dead" not in url}

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        is_dead = host == "dead.test" and path != "/robots.txt"
        return Answer(hangs_up=True) if is_dead else site(host, path, headers)

    with Web(answer) as web:
        flags = ["--scope", "any", "--delay", 0.05, "--shards", 1, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "crawl", "http://a.test/", *flags, frontier_give_up_errors=4, frontier_backoff_s=0.3)
    assert {exchange.url for exchange in web.log if exchange.status == 200} >= alive
    tries = [exchange for exchange in pages_of(web.log) if exchange.host == "dead.test"]
    assert len(tries) == 4
    waits = gaps_of(tries, "dead.test")
    assert all(wait >= 0.3 * 2**number - 0.001 for number, wait in enumerate(waits)), waits


def test_an_error_in_between_is_forgiven(tmp_path: Path) -> None:
    site = make_chain("a.test", 6)
    failed: set[str] = set()

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        if path in ("/2", "/4") and path not in failed:
            failed.add(path)
            return Answer(500)
        return site(host, path, headers)

    with Web(answer) as web:
        crawl(tmp_path / "crawl", "http://a.test/", "--delay", 0.05, "--shards", 1, *web.resolve(EVERYWHERE))
    assert {exchange.url for exchange in web.log if exchange.status == 200} == site.urls
    assert sorted(outcome.url for outcome in read_outcomes(tmp_path / "crawl")) == sorted(site.urls)
    assert check_pace([exchange for exchange in web.log if exchange.status == 500], 0.2) == []


def test_without_a_delay_nothing_waits(tmp_path: Path) -> None:
    site = make_site(["a.test"], 300, delay_s=0.01)
    with Web(site) as web:
        crawl(tmp_path / "crawl", "http://a.test/", "--delay", 0, "--shards", 1, *web.resolve(EVERYWHERE))
    pages = pages_of(web.log)
    assert {exchange.url for exchange in pages} == site.urls
    assert len(pages) == 300
    at_once = max(sum(other.started < page.ended and page.started < other.ended for other in pages) for page in pages)
    assert at_once > 1


def test_the_pace_of_a_host_survives_a_kill(tmp_path: Path) -> None:
    """The gap is longer than a start takes, and the last request is not on disk yet: only a full wait can keep it."""
    site = make_chain("wait.test", 4)
    site.robots["wait.test"] = text("User-agent: *\nCrawl-delay: 5\n")
    with Web(site) as web:
        arguments = ["http://wait.test/", "--delay", 0.5, "--shards", 2, *web.resolve(EVERYWHERE)]
        with Crawling(tmp_path / "crawl", *arguments) as crawling:
            assert crawling.wait_until(lambda: len(pages_of(web.log)) == 1)
            crawling.kill()
        with Crawling(tmp_path / "crawl", *arguments) as crawling:
            assert crawling.wait_until(lambda: len(pages_of(web.log)) == 2)
            crawling.kill()
    assert check_pace(web.log, 5.0) == []


def test_the_pace_of_an_address_survives_a_kill(tmp_path: Path) -> None:
    site = make_site(["one.test", "two.test", "three.test"], 3)
    with Web(site) as web:
        seeds = [f"http://{host}/" for host in ("one.test", "two.test", "three.test")]
        arguments = [*seeds, "--delay", 0.1, "--shards", 2, *web.resolve(EVERYWHERE)]
        for count in (1, 2):
            with Crawling(tmp_path / "crawl", *arguments, frontier_ip_delay_s=5) as crawling:
                assert crawling.wait_until(partial(has_been_asked, web, count))
                crawling.kill()
    assert check_address_pace(web.log, 5.0) == []


def has_been_asked(web: Web, count: int) -> bool:
    return len(web.log) >= count


def test_retry_after_survives_a_kill(tmp_path: Path) -> None:
    site = make_chain("a.test", 3)
    site.add("http://a.test/", Answer(503, headers={"Retry-After": "8"}))
    is_killed = threading.Event()
    with Web(prolong(site, "b.test", is_killed.is_set)) as web:
        seeds = ["http://a.test/", "http://b.test/more/0"]
        arguments = [*seeds, "--delay", 0.1, "--shards", 1, *web.resolve(EVERYWHERE)]
        with Crawling(tmp_path / "crawl", *arguments, frontier_ip_delay_s=0.01) as crawling:
            assert crawling.wait_until(lambda: is_refusal_on_disk(web))
            crawling.kill()
        is_killed.set()
        site.add("http://a.test/", make_chain("a.test", 3).answers["a.test", "/"])
        crawl(tmp_path / "crawl", *arguments)
    assert check_retry_after(web.log) == []
    assert {exchange.url for exchange in web.log if exchange.status == 200} >= site.urls


def is_refusal_on_disk(web: Web) -> bool:
    """Each page of a chain is asked for once the one before is on disk, with all that came before that one."""
    refused = next((exchange.ended for exchange in web.log if exchange.retry_after_s), None)
    return refused is not None and sum(page.host == "b.test" and page.started > refused for page in web.log) > 3
