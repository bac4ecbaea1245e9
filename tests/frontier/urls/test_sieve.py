"""Seen or not: exactly, whatever the cache has forgotten and whichever fingerprints are equal."""

import pytest
from tests.frontier.conftest import Crawler, HandClock, OpenFrontier

from rdfspider.frontier.urls import sieve
from rdfspider.records import Discovered


def test_a_small_cache_forgets_and_the_table_does_not(
    open_frontier: OpenFrontier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sieve, "RECENT_URLS", 2)
    frontier = open_frontier()
    links = [Discovered(f"https://a{number % 5}.org/{number}") for number in range(500)]
    for _ in range(2):
        assert frontier.add(links[:250]) in (250, 0)
    frontier.commit()
    assert frontier.add(links) == 250
    assert frontier.add(links) == 0
    frontier.commit()
    assert frontier.add(links) == 0


def test_equal_fingerprints_are_no_equal_urls(
    open_frontier: OpenFrontier, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def few_fingerprints(url: bytes, salt: int) -> int:
        return (int(url.rpartition(b"/")[2]) % 3) << 40 | int(url.rpartition(b"/")[2]) + 1

    monkeypatch.setattr(sieve, "xxh3_64_intdigest", few_fingerprints)
    monkeypatch.setattr(sieve, "RECENT_URLS", 2)
    frontier = open_frontier(frontier={"delay_s": 0.0})
    urls = [f"https://a.org/{number}" for number in range(30)]
    assert frontier.add(Discovered(url) for url in urls[:20]) == 20
    assert frontier.add(Discovered(url) for url in urls[:20]) == 0
    frontier.commit()
    assert frontier.add(Discovered(url) for url in urls) == 10
    frontier.commit()
    assert frontier.add(Discovered(url) for url in urls) == 0
    assert [entry.url for entry in map(frontier.find, urls) if entry] == urls
    assert frontier.find("https://a.org/99") is None
    crawler = Crawler(frontier, clock)
    crawler.run()
    assert sorted(crawler.fetched) == sorted(urls)


def test_very_long_urls_are_dropped(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    assert frontier.add([Discovered("https://a.org/" + "x" * sieve.MAX_URL_CHARS), Discovered("https://a.org/x")]) == 1


def test_urls_differ_by_every_character(open_frontier: OpenFrontier) -> None:
    frontier = open_frontier()
    urls = [
        "http://a.org/",
        "https://a.org/",
        "https://a.org/A",
        "https://a.org/a",
        "https://a.org/a?",
        "https://a.org:81/a",
    ]
    assert frontier.add(Discovered(url) for url in urls) == 6
