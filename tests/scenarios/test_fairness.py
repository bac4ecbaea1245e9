"""Honest hosts beside slow and hostile ones, in whole crawls."""

import threading
from pathlib import Path

from waiting import wait_until
from web import Answer, Crawling, Web, make_site, pages_of

TARPITS = [f"tarpit{number}.test" for number in range(8)]


def test_hosts_that_stay_silent_leave_connections_to_others_and_are_asked_again(tmp_path: Path) -> None:
    """More silent hosts than connections; they speak only after all honest pages were fetched."""
    honest = make_site(["honest.test"], 30)
    released = threading.Event()
    site = make_site(["honest.test"], 30)
    for host in TARPITS:
        site.robots[host] = Answer(404, until=released)
        site.add(f"http://{host}/", Answer(body=b"<title>late</title>"))
    seeds = [f"http://{host}/" for host in [*TARPITS, "honest.test"]]
    flags = ["--scope", "any", "--delay", 0.05, "--shards", 1]
    with (
        Web(site) as web,
        Crawling(
            tmp_path / "crawl",
            *seeds,
            *flags,
            *web.resolve({"*.test": "127.0.0.1"}),
            fetch_connections=4,
            frontier_ip_delay_s=0,
        ) as crawling,
    ):
        wait_until(lambda: {exchange.url for exchange in pages_of(list(web.log))} >= honest.page_urls)
        released.set()
        assert crawling.wait() == 0
        assert {exchange.url for exchange in pages_of(list(web.log))} == site.page_urls
