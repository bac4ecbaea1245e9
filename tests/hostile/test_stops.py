"""A stop is a stop: whatever servers, pages and stores do, the crawl ends, and nothing that was in flight is lost."""

import signal
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from rdfspider import Crawl
from rdfspider.crawl.status import read_status
from web import Answer, Crawling, Site, Web, check_archives, command, crawl, make_page, pages_of, read_outcomes

# Far longer than a test waits for anything: whoever waits for one of these servers does not end in time.
ENDLESS_S = 3000
PATIENT = {
    "fetch_first_byte_timeout_s": ENDLESS_S,
    "fetch_timeout_s": ENDLESS_S,
    "run_extract_timeout_s": ENDLESS_S,
    "extract_transform_seconds": ENDLESS_S,
}
HOSTS = {f"{name}{number}.test": name for name in ("silent", "drip", "robots") for number in range(4)}


class Held:
    """A web that holds its answers back until it is freed: silent pages, bodies that drip, robots.txt that do not come."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.site = Site()
        for host, name in HOSTS.items():
            self.site.add(f"http://{host}/", make_page(f"http://{host}/", ["/next"]))
            self.site.add(f"http://{host}/next", make_page(f"http://{host}/next"))
            if name == "robots":
                self.site.robots[host] = Answer(404)
        self.urls = self.site.page_urls

    def __call__(self, host: str, path: str, headers: Mapping[str, str]) -> Answer:
        answer = self.site(host, path, headers)
        kind = HOSTS.get(host, "")
        is_held = path == "/robots.txt" if kind == "robots" else path != "/robots.txt"
        if self.free.is_set() or not is_held:
            return answer
        if kind == "drip":
            return Answer(body=answer.body, chunks=len(answer.body), chunk_delay_s=10.0)
        return Answer(answer.status, answer.body, until=self.free)


STOPS: dict[str, tuple[Callable[[Crawling], object], int, str]] = {
    "Ctrl-C": (lambda crawling: crawling.interrupt(), 130, "interrupted"),
    "rdfspider stop": (lambda crawling: command(crawling.folder, "stop"), 0, "asked"),
}


def test_a_stop_waits_for_no_server_and_loses_nothing(tmp_path: Path) -> None:
    folder, held = tmp_path / "crawl", Held()
    with Web(held) as web:
        flags = [*(f"http://{host}/" for host in HOSTS), "--scope", "any", "--delay", 0, "--shards", 2]
        flags += web.resolve({"*.test": "127.0.0.1"})
        for stop, code, reason in STOPS.values():
            asked = web.asked
            with Crawling(folder, *flags, **PATIENT) as crawling:
                assert crawling.wait_until(lambda asked=asked: web.asked >= asked + len(HOSTS))  # type: ignore[misc]
                stop(crawling)
                assert crawling.wait() == code, crawling.stderr()
            assert read_status(folder).reason == reason
            assert "Traceback" not in crawling.stderr()
        # The time is counted over all runs, so this one is over as soon as its requests are under way.
        with Crawling(folder, *flags, "--time", read_status(folder).elapsed_s + 4, **PATIENT) as crawling:
            assert crawling.wait() == 1, crawling.stderr()
        assert read_status(folder).reason == "time"
        assert not [exchange for exchange in pages_of(web.log) if not exchange.agent_left and exchange.status == 200]
        held.free.set()
        crawl(folder, *flags, "--time", 0, **PATIENT)
    outcomes = [outcome.url for outcome in read_outcomes(folder) if outcome.get("reason") == "fetched"]
    assert sorted(outcomes) == sorted(held.urls)
    check_archives(folder)


def test_a_stop_waits_for_no_extraction(tmp_path: Path) -> None:
    """A transform of the user's that takes longer than the test waits holds up its shard, which is killed."""
    folder, site = tmp_path / "crawl", Site()
    site.add("http://a.test/", Answer(body=b"slow", content_type="text/x-slow"))
    transforms = tmp_path / "transforms.toml"
    transforms.write_text('[slow]\nmedia_type = "text/x-slow"\ncommand = ["sleep", "90"]\n')
    with Web(site) as web:
        flags = ["http://a.test/", "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        with Crawling(folder, *flags, extract_transforms=transforms, **PATIENT) as crawling:
            assert crawling.wait_until(lambda: bool(pages_of(web.log)))
            crawling.process.send_signal(signal.SIGTERM)
            assert crawling.wait(60) == 143, crawling.stderr()
        transforms.write_text("")
        crawl(folder, *flags, extract_transforms="")
    assert [outcome.url for outcome in read_outcomes(folder)] == ["http://a.test/"]


def test_the_limit_of_time_does_not_wait_for_a_slow_index(tmp_path: Path) -> None:
    """A store that never answers keeps the index from its end; the next run brings it up to date."""
    folder, site, free = tmp_path / "crawl", Site(), threading.Event()
    site.add("http://a.test/", make_page("http://a.test/"))
    with Web(site) as web, Web(lambda *_: Answer(204, until=free)) as store:
        flags = ["http://a.test/", "--shards", 1, "--delay", 0, *web.resolve({"*.test": "127.0.0.1"})]
        endpoint = f"http://127.0.0.1:{store.ports['127.0.0.1']}/"
        more = ["http://a.test/late", "--store", endpoint, "--time", 8]
        site.add("http://a.test/late", Answer(until=free))
        with Crawling(folder, *flags, *more, index_enabled="true", **PATIENT) as crawling:
            assert crawling.wait() == 0, crawling.stderr()
        assert read_status(folder).reason == "time"
        free.set()
        crawl(folder, *flags, "--time", 0, index_enabled="true")
    with Crawl.open(folder) as found:
        assert [hit.label for hit in found.search("thing")] != []
        assert found.status().index.behind_pages == 0  # type: ignore[union-attr]
