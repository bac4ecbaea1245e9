"""Seeds that got no answer: the same command, once the trouble is over, fetches them."""

import socket
from pathlib import Path

import pytest

from web import Crawling, Site, Web, check_archives, crawl, make_page, make_site, prolong, read_outcomes

# No name server need be asked to know that a label of 64 characters is no name.
NAMELESS = f"http://{'x' * 64}.test/"
FLAGS = ["--delay", 0, "--shards", 2]


@pytest.mark.parametrize(("seed", "is_final"), [(NAMELESS, True), ("http://a.test/", False)])
def test_a_seed_without_an_answer_is_asked_for_at_the_next_start(seed: str, is_final: bool, tmp_path: Path) -> None:
    site = Site()
    site.add(seed, make_page(seed, ["/next"]))
    site.add(f"{seed}next", make_page(f"{seed}next"))
    site.add("http://well.test/", make_page("http://well.test/"))
    folder = tmp_path / "crawl"
    with socket.socket() as closed, Web(site) as web:
        closed.bind(("127.0.0.1", 0))
        nobody = f"a.test=127.0.0.1:{closed.getsockname()[1]}"
        well = web.resolve({"well.test": "127.0.0.1"})
        quick = {"frontier_backoff_s": 0.01, "frontier_give_up_errors": 3}
        for _ in range(2):
            status = crawl(folder, seed, "http://well.test/", *FLAGS, "--resolve", nobody, *well, **quick).status()
            assert status["totals"]["pages"] == 1
            assert (status["totals"]["failed"], status["totals"]["scheduled"]) == (int(is_final), int(not is_final))
        assert [exchange.host for exchange in web.log if exchange.path != "/robots.txt"] == ["well.test"]
        status = crawl(folder, seed, "http://well.test/", *FLAGS, *web.resolve({"*.test": "127.0.0.1"})).status()
    assert (status["totals"]["pages"], status["totals"]["failed"], status["totals"]["scheduled"]) == (3, 0, 0)
    paths = [exchange.path for exchange in web.log if exchange.host != "well.test"]
    assert paths == ["/robots.txt", "/", "/next"]
    verdicts = [outcome.get("verdict") for outcome in read_outcomes(folder) if outcome.url == seed]
    assert verdicts == ["failed", "failed", "done"] if is_final else ["done"]
    check_archives(folder)


def test_a_shard_that_dies_in_a_run_does_not_try_them_again(tmp_path: Path) -> None:
    """Nobody has mended anything since; and each is counted once."""
    site = make_site(["well.test"], 3)
    folder = tmp_path / "crawl"
    restarted: list[bool] = []
    with Web(prolong(site, "well.test", lambda: bool(restarted))) as web:
        seeds = [NAMELESS, "http://well.test/", "http://well.test/more/0"]
        flags = ["--delay", 0.1, "--shards", 1, *web.resolve({"well.test": "127.0.0.1"})]
        with Crawling(folder, *seeds, *flags, frontier_ip_delay_s=0) as crawling:
            assert crawling.wait_until(lambda: bool(crawling.shard_pids() and failures_of(crawling)))
            pid = crawling.shard_pids()[0]
            crawling.kill_process(pid)
            assert crawling.wait_until(lambda: crawling.shard_pids().get(0, pid) != pid)
            restarted.append(True)
            assert crawling.wait() == 0
        assert failures_of(crawling) == {"nxdomain": 1}
    assert [outcome.get("verdict") for outcome in read_outcomes(folder) if outcome.url == NAMELESS] == ["failed"]


def failures_of(crawling: Crawling) -> dict[str, int]:
    failures: dict[str, int] = crawling.status()["totals"]["failures"]
    return failures
