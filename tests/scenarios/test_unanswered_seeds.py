"""Seeds that got no answer: the same command, once the trouble is over, fetches them."""

import socket
from pathlib import Path

from web import Crawling, Site, Web, check_archives, crawl, make_page, make_site, pages_of, prolong, read_outcomes

# No name server need be asked to know that a label of 64 characters is no name.
NAMELESS = f"http://{'x' * 64}.test/"
FLAGS = ["--delay", 0, "--shards", 2]


def test_a_seed_without_an_answer_is_asked_for_at_the_next_start(tmp_path: Path) -> None:
    """One whose name does not exist has failed; one whose server does not listen is still to be fetched."""
    site, unanswered, well = Site(), [NAMELESS, "http://a.test/"], "http://well.test/"
    for seed in unanswered:
        site.add(seed, make_page(seed, ["/next"]))
        site.add(f"{seed}next", make_page(f"{seed}next"))
    site.add(well, make_page(well))
    folder = tmp_path / "crawl"
    with socket.socket() as closed, Web(site) as web:
        closed.bind(("127.0.0.1", 0))
        nobody = ["--resolve", f"a.test=127.0.0.1:{closed.getsockname()[1]}", *web.resolve({"well.test": "127.0.0.1"})]
        quick = {"frontier_backoff_s": 0.01, "frontier_give_up_errors": 3}
        for _ in range(2):
            totals = crawl(folder, *unanswered, well, *FLAGS, *nobody, **quick).status()["totals"]
            assert (totals["pages"], totals["failed"], totals["scheduled"]) == (1, 1, 1)
        assert [exchange.host for exchange in pages_of(web.log)] == ["well.test"]
        totals = crawl(folder, *unanswered, well, *FLAGS, *web.resolve({"*.test": "127.0.0.1"})).status()["totals"]
    assert (totals["pages"], totals["failed"], totals["scheduled"]) == (5, 0, 0)
    outcomes = read_outcomes(folder)
    for seed, verdicts in zip(unanswered, (["failed", "failed", "done"], ["done"]), strict=True):
        paths = [exchange.path for exchange in web.log if exchange.url.startswith(seed)]
        assert paths == ["/robots.txt", "/", "/next"]
        assert [outcome.get("verdict") for outcome in outcomes if outcome.url == seed] == verdicts
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
