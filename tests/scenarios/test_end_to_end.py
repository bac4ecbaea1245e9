"""Whole crawls, as a person starts them: what is fetched, what is on record, and how they are told what to do."""

import gzip
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from rdfspider import Crawl, __version__
from web import (
    Answer,
    Crawling,
    Outcome,
    Site,
    Web,
    check_archives,
    check_once,
    command,
    crawl,
    make_chain,
    make_page,
    make_site,
    pages_of,
    prolong,
    read_outcomes,
    read_responses,
)

EVERYWHERE = {"*.test": "127.0.0.1"}
QUICK = ["--delay", 0, "--shards", 1]
TWO_SHARDS = ["--delay", 0, "--shards", 2]


def outcomes_of(folder: Path) -> dict[str, Outcome]:
    return {outcome.url: outcome for outcome in read_outcomes(folder)}


def test_every_kind_of_outcome_is_on_record(tmp_path: Path) -> None:
    site = Site()
    site.robots["a.test"] = Answer(body=b"User-agent: *\nDisallow: /private", content_type="text/plain")
    links = [
        "/page",
        "/missing",
        "/gone",
        "/private/x",
        "/moved",
        "/image",
        "http://nowhere.invalid/",
        "/plain",
        "/dead",
    ]
    site.add("http://a.test/", make_page("http://a.test/", links))
    site.add("http://a.test/page", make_page("http://a.test/page"))
    site.add("http://a.test/gone", Answer(410))
    site.add("http://a.test/moved", Answer(302, headers={"Location": "/page?from=moved"}))
    site.add("http://a.test/page?from=moved", make_page("http://a.test/page?from=moved"))
    site.add("http://a.test/image", Answer(body=b"\x89PNG" * 1000, content_type="image/png"))
    site.add("http://a.test/plain", Answer(body=b"nothing structured here", content_type="text/plain"))
    site.add("http://a.test/dead", Answer(500))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        crawl(folder, "http://a.test/", "--scope", "any", *TWO_SHARDS, *web.resolve(EVERYWHERE))
    found = outcomes_of(folder)
    states = {url.removeprefix("http://a.test"): (found[url].get("verdict"), found[url].status) for url in found}
    assert states == {
        "/": ("done", 200),
        "/page": ("done", 200),
        "/missing": ("done", 404),
        "/gone": ("done", 410),
        "/private/x": ("failed", 0),
        "/moved": ("done", 302),
        "/page?from=moved": ("done", 200),
        "/image": ("done", 200),
        "/plain": ("done", 200),
        "/dead": ("failed", 500),
        "http://nowhere.invalid/": ("failed", 0),
    }
    assert found["http://a.test/private/x"].get("reason") == "disallowed"
    assert found["http://a.test/page?from=moved"].get("redirected-from") == "http://a.test/moved"
    assert found["http://a.test/page"].get("via") == "http://a.test/"
    assert "/private/x" not in {exchange.path for exchange in web.log}
    assert sum(exchange.path == "/dead" for exchange in web.log) == 3
    check_archives(folder)
    assert set(read_responses(folder)) == {f"http://a.test{path}" for path in ("/", "/page", "/page?from=moved")}


def test_running_it_again_asks_nobody_anything(tmp_path: Path) -> None:
    site = make_site(["a.test", "b.test"], 20)
    with Web(site) as web:
        arguments = ["http://a.test/", "--scope", "any", *TWO_SHARDS, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "crawl", *arguments)
        asked = len(web.log)
        before = read_responses(tmp_path / "crawl")
        crawl(tmp_path / "crawl", *arguments)
    assert len(web.log) == asked
    assert read_responses(tmp_path / "crawl") == before
    assert set(before) == site.urls


def test_new_seeds_are_added_to_a_crawl(tmp_path: Path) -> None:
    site = make_chain("a.test", 3)
    for url, answer in ((url, make_page(url)) for url in ("http://b.test/", "http://c.test/")):
        site.add(url, answer)
    with Web(site) as web:
        crawl(tmp_path / "crawl", "http://a.test/", *TWO_SHARDS, *web.resolve(EVERYWHERE))
        (tmp_path / "more.txt").write_text("# two more\nhttp://b.test/\n\nhttp://c.test/\n")
        crawl(tmp_path / "crawl", "--seeds", tmp_path / "more.txt", *TWO_SHARDS, *web.resolve(EVERYWHERE))
    assert sorted(exchange.url for exchange in pages_of(web.log)) == sorted(site.urls)


def test_bodies_come_whole_whatever_their_length_and_encoding(tmp_path: Path) -> None:
    site = Site()
    large = make_page("http://a.test/large", padding_bytes=1_500_000)
    site.add("http://a.test/", make_page("http://a.test/", ["/large", "/zipped", "/endless"]))
    site.add("http://a.test/large", large)
    zipped = make_page("http://a.test/zipped", padding_bytes=100_000)
    site.add("http://a.test/zipped", Answer(body=gzip.compress(zipped.body), headers={"Content-Encoding": "gzip"}))
    site.add("http://a.test/endless", make_page("http://a.test/endless", padding_bytes=3_000_000))
    folder = tmp_path / "crawl"
    with Web(site) as web:
        crawl(folder, "http://a.test/", *QUICK, *web.resolve(EVERYWHERE), fetch_max_body_bytes=2_000_000)
    bodies: dict[str, bytes] = {}
    for path in folder.glob("shards/*/warc/*-pages-*.warc.gz"):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream, record_types=WarcRecordType.response):
                bodies[record.headers["WARC-Target-URI"]] = record.reader.read()
    assert bodies["http://a.test/large"] == large.body
    assert bodies["http://a.test/zipped"] == zipped.body
    assert len(bodies["http://a.test/endless"]) == 2_000_000
    assert outcomes_of(folder)["http://a.test/endless"].get("truncated") == "length"
    assert all(outcome.get("quads") == "jsonld 2" for outcome in read_outcomes(folder))
    check_archives(folder)


def test_addresses_that_differ_only_in_how_they_are_escaped_are_one_page(tmp_path: Path) -> None:
    """The server sees them in the form in which they are on record."""
    site = Site()
    site.add("http://a.test/", make_page("http://a.test/", ["/caf%c3%a9", "/caf%C3%A9", "/%7eme", "/~me"]))
    for url in ("http://a.test/caf%C3%A9", "http://a.test/~me"):
        site.add(url, make_page(url))
    with Web(site) as web:
        crawl(tmp_path / "crawl", "http://a.test/", *QUICK, *web.resolve(EVERYWHERE))
    assert sorted(exchange.url for exchange in pages_of(web.log)) == sorted(site.urls)
    assert {outcome.url for outcome in read_outcomes(tmp_path / "crawl")} == site.urls


def test_the_pages_of_a_host_come_over_one_connection_while_it_lasts(tmp_path: Path) -> None:
    site = Site()
    urls = ["http://a.test/", *(f"http://a.test/{number}" for number in range(1, 15))]
    for url in urls:
        site.add(url, make_page(url, urls))
    with Web(site) as web:
        flags = ["--delay", 0.03, "--shards", 1, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "kept", "http://a.test/", *flags, frontier_ip_delay_s=0.01)
        kept = list(web.log)
        site.add("http://a.test/7", Answer(body=site.answers["a.test", "/7"].body, closes=True))
        crawl(tmp_path / "closed", "http://a.test/", *flags, frontier_ip_delay_s=0.01)
    assert sorted(exchange.url for exchange in pages_of(kept)) == sorted(urls)
    assert {exchange.connection for exchange in pages_of(kept)} == {kept[-1].connection}
    closed = pages_of(web.log[len(kept) :])
    assert sorted(exchange.url for exchange in closed) == sorted(urls)
    assert len({exchange.connection for exchange in closed}) == 2


def test_an_archive_says_who_made_it(tmp_path: Path) -> None:
    with Web(make_chain("a.test", 1)) as web:
        flags = [*QUICK, *web.resolve(EVERYWHERE), "--contact", "me@example.org"]
        crawl(tmp_path / "crawl", "http://a.test/", *flags)
    for path in (tmp_path / "crawl").glob("shards/*/warc/*.warc.gz"):
        with path.open("rb") as stream:
            info = next(iter(ArchiveIterator(stream, record_types=WarcRecordType.warcinfo))).reader.read().decode()
        assert f"software: rdfspider/{__version__}\r\n" in info
        assert "operator: me@example.org\r\n" in info
        assert f"http-header-user-agent: rdfspider/{__version__} (+me@example.org)\r\n" in info


def test_what_was_archived_can_be_extracted_again(tmp_path: Path) -> None:
    site = make_site(["a.test"], 10)
    with Web(site) as web:
        crawl(tmp_path / "crawl", "http://a.test/", *QUICK, *web.resolve(EVERYWHERE))
    files = sorted(map(str, (tmp_path / "crawl").glob("shards/*/warc/*-pages-*.warc.gz")))
    line = [sys.executable, "-m", "rdfspider", "extract", *files]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=True)
    names = {line.split('"')[1] for line in done.stdout.splitlines() if '"the thing of ' in line}
    assert names == {f"the thing of {url}" for url in site.urls}


def test_ctrl_c_finishes_what_is_under_way(tmp_path: Path) -> None:
    site = make_site(["a.test", "b.test", "c.test"], 120, delay_s=0.05)
    is_stopped = threading.Event()
    with Web(prolong(site, "a.test", is_stopped.is_set)) as web:
        seeds = ["http://a.test/", "http://a.test/more/0"]
        arguments = [*seeds, "--scope", "any", "--delay", 0.02, "--shards", 2, *web.resolve(EVERYWHERE)]
        with Crawling(tmp_path / "crawl", *arguments, frontier_ip_delay_s=0.001) as crawling:
            assert crawling.wait_until(lambda: len(web.log) >= 20)
            crawling.interrupt()
            crawling.wait()
            assert crawling.status()["state"] == "stopped"
        stopped_at = len(pages_of(web.log))
        assert len(read_outcomes(tmp_path / "crawl")) == stopped_at, "what was fetched was not put on record"
        is_stopped.set()
        crawl(tmp_path / "crawl", *arguments)
    assert {exchange.url for exchange in pages_of(web.log)} >= site.urls
    assert check_once(web.log) == [], "nothing was in flight, so nothing may be asked for again"


def test_a_second_ctrl_c_stops_at_once_and_loses_nothing(tmp_path: Path) -> None:
    placing = {"a.test": "127.0.0.1", "slow.test": "127.0.0.2"}
    site = make_site(list(placing), 40)
    slow, asked = {"slow.test": 600.0}, set()

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        found = site(host, path, headers)
        if path == "/robots.txt":
            return found
        asked.add(host)
        return Answer(found.status, found.body, delay_s=slow.get(host, 0.0))

    with Web(answer, list(placing.values())) as web:
        arguments = ["http://a.test/", "--scope", "any", "--delay", 0.02, "--shards", 2, *web.resolve(placing)]
        with Crawling(tmp_path / "crawl", *arguments, fetch_first_byte_timeout_s=150) as crawling:
            assert crawling.wait_until(lambda: "slow.test" in asked and len(web.log) >= 6)
            crawling.interrupt()
            assert crawling.wait_until(lambda: "Ctrl-C once more stops at once" in crawling.stderr())
            crawling.interrupt()
            crawling.wait()
        slow.clear()
        crawl(tmp_path / "crawl", *arguments)
    assert set(outcomes_of(tmp_path / "crawl")) == site.urls


def test_pause_resume_and_stop_from_another_terminal(tmp_path: Path) -> None:
    site = make_chain("a.test", 2000)
    folder = tmp_path / "crawl"
    with Web(site) as web:
        arguments = ["http://a.test/", "--delay", 0.02, "--shards", 2, *web.resolve(EVERYWHERE)]
        with Crawling(folder, *arguments, frontier_ip_delay_s=0.02) as crawling:
            assert crawling.wait_until(lambda: len(web.log) >= 5)
            command(folder, "pause")
            assert crawling.wait_until(crawling.is_resting)
            paused_at = web.asked
            crawling.wait_for_beats()
            assert web.asked == paused_at
            assert crawling.status()["state"] == "paused"
            command(folder, "resume")
            assert crawling.wait_until(lambda: web.asked > paused_at + 5)
            command(folder, "stop")
            assert crawling.wait() == 0
            assert crawling.status()["state"] == "stopped"
    assert len(read_outcomes(folder)) == len(pages_of(web.log))


def test_status_tells_how_it_goes_and_how_it_went(tmp_path: Path) -> None:
    site = make_site(["a.test", "b.test"], 60)
    folder = tmp_path / "crawl"
    is_told = threading.Event()
    with Web(prolong(site, "a.test", is_told.is_set)) as web:
        seeds = ["http://a.test/", "http://a.test/more/0"]
        arguments = [*seeds, "--scope", "any", "--delay", 0.05, "--shards", 2, "--json", *web.resolve(EVERYWHERE)]
        with Crawling(folder, *arguments, frontier_ip_delay_s=0.01) as crawling:
            assert crawling.wait_until(lambda: len(crawling.shard_pids()) == 2 and len(web.log) > 10)
            status = crawling.status()
            is_told.set()
            assert status["state"] == "running"
            for beat in status["shards"]:
                assert beat["memory_used_bytes"] > 1e6
                assert beat["memory_total_bytes"] >= beat["memory_free_bytes"] > 0
            assert crawling.wait() == 0
            status = crawling.status()
    assert status["state"] == "ended"
    assert status["totals"]["pages"] == len(pages_of(web.log)) >= 60
    assert status["totals"]["done"] == len(read_outcomes(folder))
    assert status["totals"]["scheduled"] == status["totals"]["in_flight"] == 0
    lines = [json.loads(line) for line in crawling.stdout().splitlines()]
    assert lines
    assert lines[-1]["totals"] == status["totals"]


def test_shards_are_heard_of_every_second(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    delay_s = 0.25
    heard: dict[int, dict[float, int]] = {0: {}, 1: {}}
    """Of each shard the moments when it told, and how much had been asked for when that was seen."""
    with Web(make_chain("a.test", 1000)) as web:
        arguments = ["http://a.test/", "--delay", delay_s, "--shards", 2, *web.resolve(EVERYWHERE)]
        with Crawling(folder, *arguments, frontier_ip_delay_s=delay_s) as crawling:
            assert crawling.wait_until(lambda: len(crawling.shard_pids()) == 2)

            def have_beaten() -> bool:
                for beat in Crawl.open(folder).status().shards:
                    heard[beat.shard].setdefault(beat.time, web.asked)
                return all(len(times) >= 5 for times in heard.values())

            assert crawling.wait_until(have_beaten)
    for seen in heard.values():
        # They also beat when they become idle.
        assert median(later - earlier for earlier, later in pairwise(seen)) >= 0.3
        # A busy machine is late with both: beats are counted by the pages that come between them, of which none comes too early.
        assert median(later - earlier for earlier, later in pairwise(seen.values())) <= 2 / delay_s


def test_a_folder_that_is_in_use_says_so(tmp_path: Path) -> None:
    site = make_chain("a.test", 1000)
    with Web(site) as web:
        arguments = ["http://a.test/", "--delay", 0.1, "--shards", 1, *web.resolve(EVERYWHERE)]
        with Crawling(tmp_path / "crawl", *arguments) as crawling:
            assert crawling.wait_until(lambda: len(web.log) >= 2)
            line = [sys.executable, "-m", "rdfspider", "crawl", "--dir", str(tmp_path / "crawl")]
            second = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
            assert crawling.process.poll() is None
    assert second.returncode == 2
    assert len(second.stderr.strip().splitlines()) == 1
    assert "use" in second.stderr


def test_pages_are_asked_for_again_with_conditions(tmp_path: Path) -> None:
    """Nothing else is left to do in the second run, also where there is a limit: it must not be over before it has begun."""
    site = make_chain("a.test", 3)
    changed = make_page("http://a.test/1", ["/2"], padding_bytes=100)

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        found = site(host, path, headers)
        tag = f'"{hash(found.body)}"'
        if found.status == 200 and headers.get("if-none-match") == tag:
            return Answer(304, headers={"ETag": tag})
        return Answer(found.status, found.body, headers={"ETag": tag})

    folder = tmp_path / "crawl"
    with Web(answer) as web:
        arguments = ["http://a.test/", *QUICK, *web.resolve(EVERYWHERE)]
        crawl(folder, *arguments, crawl_revisit_s=86_400)
        assert len(pages_of(web.log)) == 3
        site.add("http://a.test/1", changed)
        for pages in (0, 100):
            again = shutil.copytree(folder, tmp_path / f"again-{pages}")
            before = len(web.log)
            crawl(again, *arguments, "--pages", pages, ahead_s=86_401)
            statuses = {exchange.path: exchange.status for exchange in pages_of(web.log[before:])}
            assert statuses == {"/": 304, "/1": 200, "/2": 304}
            assert read_responses(again) == {"http://a.test/": 1, "http://a.test/1": 2, "http://a.test/2": 1}
            check_archives(again)


def test_an_archive_that_lost_its_end_is_filled_again(tmp_path: Path) -> None:
    site = make_site(["a.test"], 30)
    folder = tmp_path / "crawl"
    with Web(site) as web:
        arguments = ["http://a.test/", *QUICK, *web.resolve(EVERYWHERE)]
        crawl(folder, *arguments)
        assert len(pages_of(web.log)) == 30
        for number, kind in enumerate(("*", "*-pages-*", "*-facts-*")):
            damaged = shutil.copytree(folder, tmp_path / f"damaged-{number}")
            for path in damaged.glob(f"shards/*/warc/{kind}.warc.gz"):
                with path.open("r+b") as stream:
                    stream.truncate(path.stat().st_size * 2 // 3)
            before = len(web.log)
            crawl(damaged, *arguments)
            assert 0 < len(pages_of(web.log[before:])) < 30, "only what was lost is asked for again"
            check_archives(damaged)
            assert set(read_responses(damaged)) == site.urls
            assert set(outcomes_of(damaged)) == site.urls


def test_what_was_never_committed_is_cut_off(tmp_path: Path) -> None:
    site = make_site(["a.test"], 10)
    folder = tmp_path / "crawl"
    with Web(site) as web:
        arguments = ["http://a.test/", *QUICK, *web.resolve(EVERYWHERE)]
        crawl(folder, *arguments)
        for path in folder.glob("shards/*/warc/*.warc.gz"):
            with path.open("ab") as stream:
                stream.write(path.read_bytes()[:500])
        crawl(folder, *arguments)
    assert len(pages_of(web.log)) == 10
    check_archives(folder)
    assert read_responses(folder) == dict.fromkeys(site.urls, 1)


@pytest.mark.parametrize("shards", [1, 3])
def test_any_number_of_shards_gives_the_same_crawl(shards: int, tmp_path: Path) -> None:
    site = make_site([f"site{number}.test" for number in range(9)], 90)
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0, "--shards", shards, *web.resolve(EVERYWHERE)]
        crawl(tmp_path / "crawl", "http://site0.test/", *flags)
    assert sorted(exchange.url for exchange in pages_of(web.log)) == sorted(site.urls)
    assert set(outcomes_of(tmp_path / "crawl")) == site.urls


def test_a_page_of_the_web_does_not_lead_into_private_networks(tmp_path: Path) -> None:
    with Web(make_chain("127.0.0.1", 2)) as web:
        private = f"http://127.0.0.1:{web.ports['127.0.0.1']}/secret"
        site = Site()
        site.add("http://a.test/", make_page("http://a.test/", [private]))
        site.add("http://127.0.0.1/secret", make_page(private))
        web.answers = site
        # Only the name that was given by hand may be at a private address.
        arguments = ["http://a.test/", "--scope", "any", *QUICK, *web.resolve(EVERYWHERE), "--no-allow-private"]
        crawl(tmp_path / "refused", *arguments)
        assert [exchange.url for exchange in pages_of(web.log)] == ["http://a.test/"]
        outcome = outcomes_of(tmp_path / "refused")[private]
        assert (outcome.get("verdict"), outcome.get("reason")) == ("failed", "private")
        crawl(tmp_path / "allowed", *arguments, "--allow-private")
        assert len(pages_of(web.log)) == 3
