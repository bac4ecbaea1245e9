"""Redirects as whole crawls follow them: each hop is a URL like any other, with the chain that led to it on record."""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from rdfspider.domains import Domains, bundled_suffix_list
from web import Answer, Outcome, Site, Web, check_archives, check_once, crawl, make_page, pages_of, read_outcomes

EVERYWHERE = {"*.test": "127.0.0.1"}
MAX_REDIRECTS = 10
DOMAINS = Domains(bundled_suffix_list(), 2)


def move(target: str, status: int = 302) -> Answer:
    return Answer(status, headers={"Location": target})


def hosts_of(shard: int, count: int) -> list[str]:
    """Hosts, each of a domain of its own, that belong to a shard of two."""
    names = (f"www.domain{number}.test" for number in range(1000))
    return [name for name in names if DOMAINS.shard(name) == shard][:count]


def outcomes_of(folder: Path) -> dict[str, Outcome]:
    """What is on record of each URL, which must be one thing."""
    found = read_outcomes(folder)
    assert max(Counter(outcome.url for outcome in found).values()) == 1
    return {outcome.url: outcome for outcome in found}


def chain_of(outcome: Outcome) -> list[str]:
    return [value for name, value in outcome.fields if name == "redirected-from"]


def state_of(outcome: Outcome) -> tuple[str, str, int]:
    return outcome.get("verdict"), outcome.get("reason"), outcome.status


def test_chains_are_followed_to_their_tenth_redirect_and_on_record(tmp_path: Path) -> None:
    site = Site()
    starts = [
        "/ten-0",
        "/eleven-0",
        "/loop-0",
        "/self",
        "/mail",
        "/empty",
        "/nowhere",
        *map("/by-{}".format, (301, 303)),
    ]
    starts += ["/forbidden", "/by-307", "/by-308", "/by-300", "/utf-8", "/relative/from", "/fragment"]
    site.add("http://a.test/", make_page("http://a.test/", starts))
    for name, length in (("ten", 10), ("eleven", 11)):
        for number in range(length):
            site.add(f"http://a.test/{name}-{number}", move(f"/{name}-{number + 1}"))
        site.add(f"http://a.test/{name}-{length}", make_page(f"http://a.test/{name}-{length}"))
    for number in range(3):
        site.add(f"http://a.test/loop-{number}", move(f"/loop-{(number + 1) % 3}"))
    site.add("http://a.test/self", move("/self"))
    site.add("http://a.test/mail", move("mailto:somebody@a.test"))
    site.add("http://a.test/empty", Answer(302))
    site.add("http://a.test/nowhere", move("/does-not-exist"))
    for status in (300, 301, 303, 307, 308):
        site.add(f"http://a.test/by-{status}", move(f"/target-{status}", status))
        site.add(f"http://a.test/target-{status}", make_page(f"http://a.test/target-{status}"))
    # A header is bytes; what servers mean by those beyond ASCII is UTF-8.
    site.add("http://a.test/utf-8", move("/m\u00fcsli".encode().decode("latin-1")))
    site.add("http://a.test/m%C3%BCsli", make_page("http://a.test/m%C3%BCsli"))
    site.add("http://a.test/relative/from", move("to?x=1"))
    site.add("http://a.test/relative/to?x=1", make_page("http://a.test/relative/to?x=1"))
    site.add("http://a.test/fragment", move("/target-301#part"))
    site.add("http://a.test/forbidden", move("/private/page"))
    site.robots["a.test"] = Answer(body=b"User-agent: *\nDisallow: /private\n", content_type="text/plain")
    folder = tmp_path / "crawl"
    with Web(site) as web:
        crawl(folder, "http://a.test/", "--delay", 0, "--shards", 1, *web.resolve(EVERYWHERE))
    asked = Counter(exchange.path for exchange in pages_of(web.log))
    unasked = {"http://a.test/eleven-11", "http://a.test/target-300"}
    assert {f"http://a.test{path}" for path in asked} == site.urls - unasked | {"http://a.test/does-not-exist"}
    assert check_once(web.log) == []
    found = {url.removeprefix("http://a.test"): outcome for url, outcome in outcomes_of(folder).items()}
    assert set(found) == {*asked, "/private/page"}

    followed, done = ("done", "redirect", 302), ("done", "fetched", 200)
    for number in range(MAX_REDIRECTS):
        assert state_of(found[f"/ten-{number}"]) == state_of(found[f"/eleven-{number}"]) == followed
        assert chain_of(found[f"/ten-{number}"]) == [f"http://a.test/ten-{before}" for before in range(number)]
        assert found[f"/ten-{number}"].get("outlink") == f"http://a.test/ten-{number + 1} R Location:"
    assert state_of(found["/ten-10"]) == done
    assert len(chain_of(found["/ten-10"])) == MAX_REDIRECTS
    assert state_of(found["/eleven-10"]) == ("failed", "too-many-redirects", 302)
    assert {state_of(found[path]) for path in ("/loop-0", "/loop-1", "/loop-2", "/self", "/mail")} == {followed}
    assert chain_of(found["/loop-2"]) == ["http://a.test/loop-0", "http://a.test/loop-1"]
    assert state_of(found["/empty"]) == ("done", "status-302", 302)
    assert state_of(found["/does-not-exist"]) == ("done", "status-404", 404)
    assert state_of(found["/private/page"]) == ("failed", "disallowed", 0)
    assert chain_of(found["/private/page"]) == ["http://a.test/forbidden"]
    assert state_of(found["/by-300"]) == ("done", "status-300", 300)
    for status in (301, 303, 307, 308):
        assert state_of(found[f"/by-{status}"]) == ("done", "redirect", status)
        target = found[f"/target-{status}"]
        assert (target.get("found-as"), target.get("depth")) == ("redirect", "1")
        assert target.get("via") == f"http://a.test/by-{status}"
    assert found["/utf-8"].get("outlink") == "http://a.test/m%C3%BCsli R Location:"
    check_archives(folder)


def test_a_chain_may_cross_the_shards_at_every_hop(tmp_path: Path) -> None:
    hosts = [host for pair in zip(hosts_of(0, 4), hosts_of(1, 4), strict=True) for host in pair]
    urls = [f"http://{host}/" for host in hosts]
    site = Site()
    site.add("http://start.test/", make_page("http://start.test/", urls[:1]))
    for url, target in pairwise(urls):
        site.add(url, move(target))
    site.add(urls[-1], make_page(urls[-1]))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0, "--shards", 2, *web.resolve(EVERYWHERE)]
        crawl(folder, "http://start.test/", *flags)
    assert {exchange.url for exchange in pages_of(web.log)} == site.urls
    found = outcomes_of(folder)
    for number, url in enumerate(urls):
        assert chain_of(found[url]) == urls[:number]
        assert found[url].get("depth") == "1"
    assert state_of(found[urls[-1]]) == ("done", "fetched", 200)


@pytest.mark.parametrize("scope", ["domain", "prefix"])
def test_where_a_seed_leads_is_crawled_and_where_links_lead_is_not(scope: str, tmp_path: Path) -> None:
    """One seed leads to domains of its own shard, one to domains of the other; a third one has links that lead away."""
    (first, second, third, *own), other = hosts_of(0, 5), hosts_of(1, 3)
    away = other.pop()
    site = Site()
    journeys = [(first, *own), (second, *other)]
    for old, middle, new in journeys:
        # In two hops, and the one between is where the seed led, too.
        site.add(f"http://{old}/", move(f"http://{middle}/", 301))
        site.add(f"http://{middle}/", move(f"http://{new}/home/"))
        site.add(f"http://{middle}/page", make_page(f"http://{middle}/page"))
        links = ["1", f"http://{away}/", "leads-away", f"http://{middle}/page", f"http://{old}/page"]
        site.add(f"http://{new}/home/", make_page(f"http://{new}/home/", links))
        site.add(f"http://{new}/home/1", make_page(f"http://{new}/home/1", ["2"]))
        site.add(f"http://{new}/home/2", make_page(f"http://{new}/home/2"))
        site.add(f"http://{new}/home/leads-away", move(f"http://{away}/"))
        site.add(f"http://{old}/page", make_page(f"http://{old}/page"))
    site.add(f"http://{third}/", make_page(f"http://{third}/", ["/away"]))
    site.add(f"http://{third}/away", move(f"http://{away}/"))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        flags = ["--scope", scope, "--delay", 0, "--shards", 2, *web.resolve(EVERYWHERE)]
        crawl(folder, *(f"http://{host}/" for host in (first, second, third)), *flags)
    assert {exchange.url for exchange in pages_of(web.log)} == site.urls
    assert away not in {exchange.host for exchange in web.log}, "a host out of scope was asked for its robots.txt"
    found = outcomes_of(folder)
    for old, middle, new in journeys:
        assert chain_of(found[f"http://{new}/home/"]) == [f"http://{old}/", f"http://{middle}/"]
        assert (found[f"http://{new}/home/"].get("depth"), found[f"http://{new}/home/"].get("found-as")) == (
            "0",
            "seed",
        )
    assert found[f"http://{third}/away"].get("outlink") == f"http://{away}/ R Location:"


def test_a_wider_scope_is_remembered(tmp_path: Path) -> None:
    """The crawl is stopped by its budget right after the redirect; links of the new domain are met in its second life."""
    old, new = hosts_of(0, 1)[0], hosts_of(1, 1)[0]
    site = Site()
    site.add(f"http://{old}/", move(f"http://{new}/"))
    site.add(f"http://{new}/", make_page(f"http://{new}/", ["/1", f"http://{old}/page"]))
    site.add(f"http://{new}/1", make_page(f"http://{new}/1", ["/2"]))
    site.add(f"http://{new}/2", make_page(f"http://{new}/2"))
    site.add(f"http://{old}/page", make_page(f"http://{old}/page", [f"http://{new}/3"]))
    site.add(f"http://{new}/3", make_page(f"http://{new}/3"))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        flags = ["--delay", 0, "--shards", 2, *web.resolve(EVERYWHERE)]
        crawl(folder, f"http://{old}/", *flags, "--pages", 1)
        assert len([exchange for exchange in pages_of(web.log) if exchange.status == 200]) == 1
        crawl(folder, f"http://{old}/", *flags, "--pages", 0)
    assert {exchange.url for exchange in pages_of(web.log)} == site.urls
    assert check_once(web.log) == []


def test_what_a_seed_leads_to_is_in_scope_also_where_a_link_was_there_first(tmp_path: Path) -> None:
    site = Site()
    site.add("http://a.test/page", make_page("http://a.test/page", ["/hub"]))
    site.add("http://a.test/seed", Answer(302, headers={"Location": "/hub"}, delay_s=1.5))
    site.add("http://a.test/hub", move("http://b.test/"))
    site.add("http://b.test/", make_page("http://b.test/", ["/more"]))
    site.add("http://b.test/more", make_page("http://b.test/more"))
    with Web(site) as web:
        seeds = ["http://a.test/page", "http://a.test/seed"]
        crawl(tmp_path / "crawl", *seeds, "--delay", 0, "--shards", 2, *web.resolve(EVERYWHERE))
    found = [outcome.url for outcome in read_outcomes(tmp_path / "crawl")]
    assert {"http://b.test/", "http://b.test/more"} <= set(found)


def test_a_url_that_was_found_becomes_a_seed_when_a_person_names_it(tmp_path: Path) -> None:
    site = Site()
    site.add("http://a.test/", make_page("http://a.test/", ["/hub", "/deep"]))
    site.add("http://a.test/hub", move("http://b.test/"))
    site.add("http://a.test/deep", make_page("http://a.test/deep", ["/deeper"]))
    site.add("http://a.test/deeper", make_page("http://a.test/deeper"))
    site.add("http://b.test/", make_page("http://b.test/"))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        settings = ["--depth", 1, "--delay", 0, "--shards", 2, *web.resolve(EVERYWHERE)]
        crawl(folder, "http://a.test/", *settings)
        assert {exchange.path for exchange in pages_of(web.log)} == {"/", "/hub", "/deep"}
        before = len(web.log)
        crawl(folder, "http://a.test/hub", "http://a.test/deep", *settings)
        asked = Counter(exchange.path for exchange in pages_of(web.log[before:]))
        assert asked == {"/hub": 1, "/deep": 1, "/deeper": 1, "/": 1}, "the last one is that of b.test"
        before = len(web.log)
        crawl(folder, "http://a.test/hub", "http://a.test/deep", *settings)
        assert not pages_of(web.log[before:])
    check_archives(folder)


def test_a_page_behind_too_many_redirects_is_found_by_fewer(tmp_path: Path) -> None:
    site = Site()
    for number in range(1, MAX_REDIRECTS + 3):
        site.add(f"http://a.test/r/{number}", move(f"/r/{number - 1}"))
    site.add("http://a.test/r/0", make_page("http://a.test/r/0"))

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        if not path.startswith("/late"):
            return site(host, path, headers)
        is_lost = any(exchange.path == "/r/2" for exchange in web.log)
        return make_page(f"http://a.test{path}", ["/r/2"] if is_lost else [path + "r"])

    with Web(answer) as web:
        seeds = [f"http://a.test/r/{MAX_REDIRECTS + 2}", "http://a.test/late"]
        crawl(tmp_path / "crawl", *seeds, "--delay", 0, "--shards", 1, *web.resolve(EVERYWHERE))
    outcomes = read_outcomes(tmp_path / "crawl")
    assert [state_of(outcome)[1] for outcome in outcomes if outcome.url == "http://a.test/r/2"] == [
        "too-many-redirects",
        "redirect",
    ]
    assert state_of(next(outcome for outcome in outcomes if outcome.url == "http://a.test/r/0"))[1] == "fetched"
