"""Pages that repeat others, in whole crawls of two shards: what is on record, and when their links are fetched."""

import json
import random
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.judge.simhash import compute_simhash
from web import (
    Answer,
    Crawling,
    Outcome,
    Site,
    Web,
    check_archives,
    command,
    crawl,
    make_page,
    pages_of,
    prolong,
    read_outcomes,
)

EVERYWHERE = {"*.test": "127.0.0.1"}
SHARDS = 2
FLAGS = ["--scope", "any", "--shards", SHARDS]
# With small groups, slow enough that a crawl learns from its pages before it has asked for all of them.
LEARNING = {"frontier_delay_s": 0.02, "frontier_ip_delay_s": 0, "run_group_pages": 4}
WORDS = ["".join(random.Random(n).choices("abcdefghijklmnopqrstuvwxyz", k=6)) for n in range(2000)]


def hosts_of(shard: int, count: int) -> list[str]:
    """Hosts that a shard owns."""
    domains = Domains(bundled_suffix_list(), SHARDS)
    names = (f"site{number}.test" for number in range(1000))
    return [name for name in names if domains.shard(name) == shard][:count]


def outcomes_of(folder: Path) -> dict[str, Outcome]:
    """Those of pages: a crawl also looks for sitemaps."""
    return {outcome.url: outcome for outcome in read_outcomes(folder) if not outcome.url.endswith("/sitemap.xml")}


def duplicates_of(folder: Path) -> dict[str, tuple[str, str]]:
    found = outcomes_of(folder)
    return {url: (found[url].get("duplicate"), found[url].get("duplicate-of")) for url in found}


def make_text(words: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def make_article(title: str, text: str, data: str = "", links: tuple[str, ...] = ()) -> Answer:
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    script = f'<script type="application/ld+json">{{"@context": "https://schema.org", {data}}}</script>' if data else ""
    return Answer(body=f"<!doctype html><title>{title}</title>{script}<main><p>{text}</p></main>{anchors}".encode())


def test_the_same_bytes_on_hosts_of_two_shards_are_one_page_and_its_copy(tmp_path: Path) -> None:
    (first,), (second,) = hosts_of(0, 1), hosts_of(1, 1)
    paths = [f"/{word}" for word in WORDS[:20]]
    site = Site()
    for host in (first, second):
        site.add(f"http://{host}/", make_page(f"http://{host}/", paths))
        for path in paths:
            site.add(f"http://{host}/{path[1:]}", make_page(f"http://any.test{path}"))
        site.add(f"http://{host}/small", Answer(body=b"<p>too small"))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        seeds = [f"http://{host}{path}" for host in (first, second) for path in ("/", "/small")]
        crawl(folder, *seeds, *FLAGS, "--delay", 0, *web.resolve(EVERYWHERE))
    found = duplicates_of(folder)
    for path in paths:
        pair = [f"http://{host}{path}" for host in (first, second)]
        # Whichever came first: one is new, the other repeats it.
        [copy] = [url for url in pair if found[url][0]]
        [original] = [url for url in pair if url != copy]
        assert found[copy] == ("exact", original)
    for host in (first, second):
        assert found[f"http://{host}/"] == found[f"http://{host}/small"] == ("", "")
    outcomes = outcomes_of(folder)
    # What a copy states is on record all the same.
    assert all(outcome.get("quads") for url, outcome in outcomes.items() if not url.endswith("small"))
    check_archives(folder)


def test_a_page_that_has_changed_or_is_gone_is_no_original_any_more(tmp_path: Path) -> None:
    """In its second life the crawl finds the old contents elsewhere, on hosts of both shards: they are nobody's copies."""
    hosts, folder, day_s = [*hosts_of(0, 1), *hosts_of(1, 1)], tmp_path / "crawl", 86_400
    old = {host: [make_page(f"http://any.test/{host}/{number}") for number in range(8)] for host in hosts}
    for life in range(2):
        site = Site()
        for host in hosts:
            for number, answer in enumerate(old[host]):
                changed = make_page(f"http://any.test/{host}/new{number}") if number % 2 else Answer(410)
                site.add(f"http://{host}/a{number}", changed if life else answer)
                if life:
                    site.add(f"http://{host}/b{number}", answer)
        with Web(site) as web:
            seeds = [url for url in sorted(site.urls) if life == 0 or "/a" in url]
            flags = [*FLAGS, "--delay", 0, *web.resolve(EVERYWHERE)]
            crawl(folder, *seeds, *flags, ahead_s=life * (day_s + 1), crawl_revisit_s=day_s)
            if life:
                later = [url for url in sorted(site.urls) if "/b" in url]
                crawl(folder, *later, *flags, ahead_s=day_s + 2, crawl_revisit_s=day_s)
    found = duplicates_of(folder)
    assert {found[f"http://{host}/b{number}"] for host in hosts for number in range(8)} == {("", "")}


def test_links_of_a_copy_come_last(tmp_path: Path) -> None:
    (host,) = hosts_of(0, 1)
    children = [f"child-{number}" for number in range(15)]
    site = Site()
    site.add(f"http://{host}/", make_page(f"http://{host}/", ["/x/page", "/y/page"]))
    for folder_name in "xy":
        site.add(f"http://{host}/{folder_name}/page", make_page("http://any.test/", children))
        for child in children:
            url = f"http://{host}/{folder_name}/{child}"
            site.add(url, make_page(url))
    with Web(site) as web:
        crawl(tmp_path / "crawl", f"http://{host}/", *FLAGS, "--delay", 0.05, *web.resolve(EVERYWHERE))
    assert duplicates_of(tmp_path / "crawl")[f"http://{host}/y/page"] == ("exact", f"http://{host}/x/page")
    asked = [exchange.path for exchange in pages_of(web.log) if "child" in exchange.path]
    assert [path[:3] for path in asked] == ["/x/"] * 15 + ["/y/"] * 15


def test_pages_with_nearly_the_same_text_are_duplicates_unless_their_data_differs(tmp_path: Path) -> None:
    (host,) = hosts_of(1, 1)
    text, template = make_text(200, 5), make_text(200, 3)
    site = Site()
    links = ["/article", "/article?print=1", *(f"/product/{number}" for number in range(5))]
    site.add(f"http://{host}/", make_page(f"http://{host}/", links))
    site.add(f"http://{host}/article", make_article("An article", text + " 17 readers"))
    site.add(f"http://{host}/article?print=1", make_article("An article", text + " 18 readers"))
    for number in range(5):
        # They differ by one word for people, and in what they state.
        data = f'"@type": "Product", "name": "A thing", "offers": {{"@type": "Offer", "price": "{number}.99"}}'
        site.add(f"http://{host}/product/{number}", make_article("A thing", f"{template} {number}.99", data))
    likenesses = [compute_simhash(f"{template} {number}.99") for number in range(5)]
    assert all((likenesses[0] ^ likeness).bit_count() <= 3 for likeness in likenesses)
    with Web(site) as web:
        crawl(tmp_path / "crawl", f"http://{host}/", *FLAGS, "--delay", 0, *web.resolve(EVERYWHERE))
    found = {url.removeprefix(f"http://{host}"): how for url, how in duplicates_of(tmp_path / "crawl").items()}
    kinds = sorted(found[path][0] for path in ("/article", "/article?print=1"))
    assert kinds == ["", "near"]
    assert [found[f"/product/{number}"] for number in range(5)] == [("", "")] * 5


def test_pages_that_say_they_are_not_there_are_called_so(tmp_path: Path) -> None:
    (host,) = hosts_of(0, 1)
    site = Site()
    site.add(f"http://{host}/", make_page(f"http://{host}/", ["/a/gone", "/b/lost", "/c/there"]))
    organization = '"@type": "Organization", "name": "A shop"'
    for path in ("/a/gone", "/b/lost"):
        site.add(f"http://{host}{path}", make_article("Page not found – A shop", f"No {path} here", organization))
    site.add(f"http://{host}/c/there", make_article("Things", "Some things", organization))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        crawl(folder, f"http://{host}/", *FLAGS, "--delay", 0, *web.resolve(EVERYWHERE))
    found = outcomes_of(folder)
    reasons = {url.removeprefix(f"http://{host}"): outcome.get("reason") for url, outcome in found.items()}
    assert reasons == {"/": "fetched", "/a/gone": "soft-404", "/b/lost": "soft-404", "/c/there": "fetched"}
    # What they state is kept, but they are no find.
    assert found[f"http://{host}/a/gone"].get("quads")
    status = command(folder, "status", "--json")
    assert '"structured":2' in status.replace(" ", "")


def test_what_has_the_text_of_pages_that_are_not_there_is_not_there_either(tmp_path: Path) -> None:
    (host,) = hosts_of(0, 1)
    text = make_text(100, 7)
    site = Site()
    titles = {"/a/x": "Page not found", "/b/x": "Page not found", "/c/x": "A shop", "/d/x": "A shop"}
    site.add(f"http://{host}/", make_page(f"http://{host}/", list(titles)))
    for path, title in titles.items():
        data = '"@type": "Movie", "name": "Lost"' if path == "/d/x" else ""
        site.add(f"http://{host}{path}", make_article(title, text, data))
    with Web(site) as web:
        # One after the other, in the order of the links.
        crawl(tmp_path / "crawl", f"http://{host}/", *FLAGS, "--delay", 0.02, *web.resolve(EVERYWHERE))
    found = outcomes_of(tmp_path / "crawl")
    assert [found[f"http://{host}{path}"].get("reason") for path in titles] == ["soft-404"] * 3 + ["fetched"]
    assert found[f"http://{host}/c/x"].get("duplicate-of") == f"http://{host}/a/x"


def test_a_mirror_in_another_shard_is_noticed(tmp_path: Path) -> None:
    (first,), (second,) = hosts_of(0, 1), hosts_of(1, 1)
    paths = [f"/{word}" for word in WORDS[:25]]
    site = Site()
    for host, delay_s in ((first, 0.0), (second, 0.05)):
        for path in ("/", *paths):
            page = make_page(f"http://any.test{path}", paths if path == "/" else ())
            site.add(f"http://{host}{path}", Answer(body=page.body, delay_s=delay_s))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        seeds = [f"http://{host}/" for host in (first, second)]
        crawl(folder, *seeds, *FLAGS, "--delay", 0.02, *web.resolve(EVERYWHERE))
    hosts = map(json.loads, command(folder, "hosts", "--json").splitlines())
    assert {host["host"]: host["reason"] for host in hosts} == {first: "", second: f"mirror of {first}"}


def test_a_site_that_names_its_home_page_everywhere_loses_no_page(tmp_path: Path) -> None:
    (host,) = hosts_of(0, 1)
    paths = [f"/product/{number}" for number in range(55)]
    head = '<link rel="canonical" href="/">'
    site = Site()
    for path in ("/", *paths):
        site.add(f"http://{host}{path}", make_page(f"http://{host}{path}", paths if path == "/" else (), head=head))
    with Web(site) as web:
        crawl(tmp_path / "crawl", f"http://{host}/", *FLAGS, *web.resolve(EVERYWHERE), **LEARNING)
    found = duplicates_of(tmp_path / "crawl")
    assert found == {f"http://{host}/": ("", "")} | {
        f"http://{host}{path}": ("canonical", f"http://{host}/") for path in paths
    }


def test_a_mirror_that_is_added_later_is_fetched_and_a_site_that_repeats_itself_ends(tmp_path: Path) -> None:
    (first,), (second,) = hosts_of(0, 1), hosts_of(1, 1)
    paths = [f"/product/{number}" for number in range(55)]
    # So many that it has learned before it has asked for all of them, also where the machine is busy.
    copies = [f"/s/{number}{path}" for number, path in enumerate(4 * paths)]
    site = Site()
    for host in (first, second):
        for path in ("/", *paths):
            site.add(f"http://{host}{path}", make_page(f"http://any.test{path}", paths if path == "/" else ()))
    site.add(f"http://{first}/copies", make_page(f"http://{first}/copies", copies))
    for path, copy in zip(4 * paths, copies, strict=True):
        site.add(f"http://{first}{copy}", make_page(f"http://any.test{path}"))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        for seeds in ([f"http://{first}/"], [f"http://{second}/", f"http://{first}/copies"]):
            crawl(folder, *seeds, *FLAGS, *web.resolve(EVERYWHERE), **LEARNING)
    asked = [exchange.url for exchange in pages_of(web.log)]
    found = duplicates_of(folder)
    for path in paths:
        assert asked.count(f"http://{second}{path}") == 1
        assert found[f"http://{second}{path}"] == ("exact", f"http://{first}{path}")
    assert 15 <= len([url for url in asked if "/s/" in url]) < len(copies) - 5


def test_a_shard_that_is_killed_costs_no_page_and_copies_are_found_again(tmp_path: Path) -> None:
    (first,), (second,) = hosts_of(0, 1), hosts_of(1, 1)
    hosts, paths = (first, second), [f"/{word[:2]}/{word}" for word in WORDS[:200]]
    site = Site()
    for host in hosts:
        site.add(f"http://{host}/", make_page(f"http://{host}/", paths))
        for path in paths:
            site.add(f"http://{host}{path}", make_page(f"http://any.test{path}"))
    kills: list[float] = []
    are_both_there = threading.Event()
    are_both_there.set()

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        """Nothing comes while a shard is missing: how many pages came meanwhile would depend on the machine."""
        return replace(site(host, path, headers), until=are_both_there)

    folder = tmp_path / "crawl"
    with Web(prolong(answer, first, lambda: len(kills) == 2)) as web:
        seeds = [*(f"http://{host}/" for host in hosts), f"http://{first}/more/0"]
        flags = [*FLAGS, "--delay", 0.01, *web.resolve(EVERYWHERE)]
        settings = {"frontier_ip_delay_s": 0, "fetch_first_byte_timeout_s": 150}
        with Crawling(folder, *seeds, *flags, **settings) as crawling:
            for count, shard in ((60, 0), (160, 1)):
                assert crawling.wait_until(lambda: len(crawling.shard_pids()) == SHARDS)
                assert crawling.wait_until(partial(is_visited, web, count))
                pid = crawling.shard_pids()[shard]
                are_both_there.clear()
                kills.append(crawling.kill_process(pid))
                assert crawling.wait_until(partial(is_replaced, crawling, shard, pid))
                are_both_there.set()
            assert crawling.wait() == 0, crawling.stderr()
    found = duplicates_of(folder)
    assert {url for url in found if "/more/" not in url} == site.urls
    copies = {url: original for url, (how, original) in found.items() if how}
    for copy, original in copies.items():
        assert original.partition(".test")[2] == copy.partition(".test")[2] != "/"
        assert original not in copies, "two pages are copies of each other"
    # Only what was claimed around a kill may have been forgotten.
    assert len(copies) >= 3 * len(paths) // 4
    check_archives(folder)


def is_replaced(crawling: Crawling, shard: int, pid: int) -> bool:
    return crawling.shard_pids().get(shard, pid) != pid


def is_visited(web: Web, count: int) -> bool:
    return len(web.log) >= count
