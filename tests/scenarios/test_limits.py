"""How much of a web a crawl takes: budgets, which are exact over shards and restarts, and scopes."""

from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from web import (
    Answer,
    Crawling,
    Site,
    Web,
    check_once,
    crawl,
    make_chain,
    make_page,
    make_site,
    pages_of,
    read_outcomes,
)

EVERYWHERE = {"*.test": "127.0.0.1"}
HOSTS = [f"site{number}.test" for number in range(8)]


def count_pages(folder: Path) -> int:
    """Pages on record."""
    return sum(200 <= outcome.status < 300 for outcome in read_outcomes(folder))


def served(web: Web) -> Counter[str]:
    """Pages that the server has given, by URL."""
    return Counter(exchange.url for exchange in pages_of(web.log) if exchange.status == 200)


@pytest.fixture(scope="module")
def site() -> Site:
    site = make_site(HOSTS, 240)
    for host in HOSTS:
        # Links that are no pages must not use the budget up.
        home = site.answers[host, "/"]
        links = "".join(f'<a href="/missing-{number}">' for number in range(5))
        site.add(f"http://{host}/", Answer(body=home.body + links.encode()))
    return site


@pytest.mark.parametrize("pages", [1, 7, 100])
def test_so_many_pages_and_no_more(site: Site, pages: int, tmp_path: Path) -> None:
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0, "--shards", 2, "--pages", pages]
        crawl(tmp_path / "crawl", "http://site0.test/", *flags, *web.resolve(EVERYWHERE))
    assert count_pages(tmp_path / "crawl") == pages
    assert served(web).total() == pages


def test_the_budget_of_pages_is_exact_over_kills_and_can_be_raised(site: Site, tmp_path: Path) -> None:
    kills: list[float] = []
    folder = tmp_path / "crawl"
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0.05, "--shards", 2, *web.resolve(EVERYWHERE)]
        for count in (10, 45, 70):
            with Crawling(folder, "http://site0.test/", *flags, "--pages", 90, frontier_ip_delay_s=0.001) as crawling:
                if crawling.wait_until(partial(has_served, web, count)):
                    kills.append(crawling.kill())
        crawl(folder, "http://site0.test/", *flags, "--pages", 90)
        assert count_pages(folder) == 90
        crawl(folder, "http://site0.test/", *flags, "--pages", 90)
        assert count_pages(folder) == 90
        crawl(folder, "http://site0.test/", *flags, "--pages", 110)
    assert count_pages(folder) == 110
    assert len(kills) == 3
    assert check_once(web.log, kills, most_lost=2 * 80) == []


def has_served(web: Web, count: int) -> bool:
    return served(web).total() >= count


def test_a_site_smaller_than_the_budget_ends_the_crawl(tmp_path: Path) -> None:
    site = make_site(HOSTS[:3], 12)
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0, "--shards", 2, "--pages", 1000]
        crawl(tmp_path / "crawl", "http://site0.test/", *flags, *web.resolve(EVERYWHERE))
    assert served(web) == Counter(site.urls)


def test_depth_counts_links_from_a_seed(tmp_path: Path) -> None:
    site = make_chain("a.test", 8)
    with Web(site) as web:
        flags = ["--delay", 0, "--shards", 1, "--depth", 3, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "crawl", "http://a.test/", *flags)
    assert set(served(web)) == {"http://a.test/", "http://a.test/1", "http://a.test/2", "http://a.test/3"}


def test_redirects_add_no_depth(tmp_path: Path) -> None:
    site = make_chain("a.test", 3)
    site.add("http://a.test/start", Answer(302, headers={"Location": "/hop"}))
    site.add("http://a.test/hop", Answer(307, headers={"Location": "http://a.test/"}))
    with Web(site) as web:
        flags = ["--delay", 0, "--shards", 1, "--depth", 1, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "crawl", "http://a.test/start", *flags)
    assert set(served(web)) == {"http://a.test/", "http://a.test/1"}


def test_time_is_counted_over_restarts(tmp_path: Path) -> None:
    site = make_chain("a.test", 500)
    with Web(site) as web:
        flags = ["--delay", 0.1, "--shards", 1, *web.resolve(EVERYWHERE)]
        status = crawl(tmp_path / "crawl", "http://a.test/", *flags, "--time", 3).status()
        assert status["reason"] == "time"
        assert status["elapsed_s"] >= 3
        # Where the machine is busy, there may be none.
        count = len(served(web))
        crawl(tmp_path / "crawl", "http://a.test/", *flags, "--time", 3)
        assert len(served(web)) == count, "the second run had its three seconds again"
        crawl(tmp_path / "crawl", "http://a.test/", *flags, "--time", 3600, "--pages", count + 5)
    assert len(served(web)) == count + 5
    assert check_once(web.log) == []


def test_bytes_end_a_crawl(tmp_path: Path) -> None:
    site = Site()
    for number in range(100):
        url = f"http://a.test/{number or ''}"
        site.add(url, make_page(url, [f"/{number + 1}"], padding_bytes=20_000))
    with Web(site) as web:
        flags = ["--delay", 0.1, "--shards", 1, *web.resolve(EVERYWHERE)]
        limit = {"frontier_ip_delay_s": 0.02, "crawl_bytes": 200_000}
        status = crawl(tmp_path / "crawl", "http://a.test/", *flags, **limit).status()
    assert status["reason"] == "bytes"
    # It is noticed with the next beat, before the site is at its end.
    assert 10 <= len(served(web)) < 100


def test_each_host_and_domain_has_its_budget(tmp_path: Path) -> None:
    hosts = ["www.one.test", "shop.one.test", "www.two.test", "shop.two.test"]
    site = make_site(hosts, 80)
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0, "--shards", 2, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "host", "http://www.one.test/", *flags, crawl_pages_per_host=5)
        by_host = Counter(exchange.host for exchange in pages_of(web.log) if exchange.status == 200)
        assert by_host == dict.fromkeys(hosts, 5)
        web.log.clear()
        crawl(tmp_path / "domain", "http://www.one.test/", *flags, crawl_pages_per_domain=9)
    by_domain = Counter(exchange.host[-8:] for exchange in pages_of(web.log) if exchange.status == 200)
    assert by_domain == {"one.test": 9, "two.test": 9}


@pytest.fixture
def wide() -> Site:
    """A seed with links to everywhere: its folder, its host, its domain, other domains."""
    site = Site()
    links = ["/docs/a", "/docs/deep/b", "/other", "http://shop.one.test/", "http://two.test/", "/docs/a?x=1"]
    site.add("http://www.one.test/docs/", make_page("http://www.one.test/docs/", links))
    for link in links:
        url = link if link.startswith("http") else f"http://www.one.test{link}"
        site.add(url, make_page(url))
    return site


@pytest.mark.parametrize(
    ("flags", "left_out"),
    [
        (["--scope", "any"], []),
        ([], ["http://two.test/"]),
        (["--scope", "domain"], ["http://two.test/"]),
        (["--scope", "host"], ["http://two.test/", "http://shop.one.test/"]),
        (["--scope", "prefix"], ["http://two.test/", "http://shop.one.test/", "http://www.one.test/other"]),
        (["--exclude", "/deep/", "--exclude", r"\?"], ["/docs/deep/b", "/docs/a?x=1", "http://two.test/"]),
        (["--include", "/docs/a"], ["/docs/deep/b", "/other", "http://two.test/", "http://shop.one.test/"]),
        (["--include", "/docs/", "--exclude", "deep", "--scope", "any"], ["/docs/deep/b", "/other", "http://two.test/", "http://shop.one.test/"]),
    ],
)  # fmt: skip
def test_scopes(wide: Site, flags: list[str], left_out: list[str], tmp_path: Path) -> None:
    with Web(wide) as web:
        more = ["--delay", 0, "--shards", 1, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "crawl", "http://www.one.test/docs/", *flags, *more)
    outside = {url if url.startswith("http") else f"http://www.one.test{url}" for url in left_out}
    assert set(served(web)) == wide.urls - outside
    assert not {exchange.host for exchange in web.log} - {url.split("/")[2] for url in wide.urls - outside}, (
        "a host out of scope was asked for its robots.txt"
    )


def test_what_a_seed_redirects_to_is_in_scope(tmp_path: Path) -> None:
    site = make_chain("www.new.test", 4)
    site.add("http://old.test/", Answer(301, headers={"Location": "http://www.new.test/"}))
    site.add("http://www.new.test/1", make_page("http://www.new.test/1", ["/2", "http://away.test/", "/leads-away"]))
    site.add("http://www.new.test/leads-away", Answer(302, headers={"Location": "http://away.test/"}))
    with Web(site) as web:
        crawl(tmp_path / "crawl", "http://old.test/", "--delay", 0, "--shards", 2, *web.resolve(EVERYWHERE))
    assert set(served(web)) == {f"http://www.new.test/{number}" for number in ("", 1, 2, 3)}
    assert "away.test" not in {exchange.host for exchange in web.log}


def test_a_limit_of_time_or_bytes_that_was_reached_is_still_reached(tmp_path: Path) -> None:
    site = make_site([f"site{number}.test" for number in range(4)], 60)
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0, "--shards", 2, *web.resolve({"*.test": "127.0.0.1"})]
        before = crawl(tmp_path / "crawl", "http://site0.test/", *flags, crawl_bytes=5000).status()["totals"]
        asked = len(web.log)
        after = crawl(tmp_path / "crawl", *flags, crawl_bytes=5000).status()["totals"]
        assert len(web.log) == asked
        assert (after["pages"], after["known"]) == (before["pages"], before["known"])
        again = crawl(tmp_path / "crawl", *flags, "--time", 0.01, crawl_bytes=0).status()
    assert again["reason"] == "time"
    assert again["totals"]["pages"] >= before["pages"]


def test_what_keeps_a_host_from_being_asked_is_counted(tmp_path: Path) -> None:
    flags = ["--shards", 1, "--delay", 0, "--resolve", "dead.test=127.0.0.1:9"]
    crawling = crawl(tmp_path / "crawl", "http://dead.test/", *flags, frontier_give_up_errors=2, frontier_backoff_s=0.1)
    assert crawling.status()["totals"]["errors"] == {"refused": 2}
    assert "1 on hosts that do not answer" in crawling.stderr()


def test_a_port_that_no_crawler_asks_is_final(tmp_path: Path) -> None:
    """Without a robots.txt, which is on the same port, nothing would ever be decided."""
    flags = ["--shards", 1, "--delay", 0, "--allow-private"]
    crawling = crawl(tmp_path / "crawl", "http://127.0.0.5:9/", *flags)
    assert crawling.status()["totals"]["failures"] == {"unsupported": 1}
    assert [outcome.get("error") for outcome in read_outcomes(tmp_path / "crawl")] == ["unsupported"]
