"""SIGKILL at random instants: nothing is lost, nobody is asked too often, and every archive is sound.

Ten kills by default; `TEST_KILLS=200` makes it two hundred, with a site to match. `TEST_SEED` repeats a run.
"""

import logging
import os
import random
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from rdfspider.config import RunConfig
from rdfspider.domains import Domains, bundled_suffix_list
from waiting import PATIENCE_S
from web import (
    Answer,
    Crawling,
    Site,
    Web,
    check_address_pace,
    check_archives,
    check_once,
    check_pace,
    make_site,
    pages_of,
    prolong,
    read_outcomes,
    read_responses,
    wait_for_end,
)

KILLS = int(os.environ.get("TEST_KILLS", 10))
SEED = int(os.environ.get("TEST_SEED", random.SystemRandom().randrange(1_000_000)))
PAGES_PER_KILL = 30
DELAY_S, IP_DELAY_S = 0.1, 0.05
SHARDS = 2
HOSTS = [f"www.site{number}.test" for number in range(12)]
# Four hosts share an address, two another one; the others have one each.
PLACING = {host: f"127.0.0.{number}" for host, number in zip(HOSTS, (1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8), strict=True)}
MOST_LOST = SHARDS * (RunConfig().group_pages * 2 + len(HOSTS))
"""Pages that one kill may cost: of each shard the group on its way to the disk, the one that fills, and what is in flight."""
SETTLED_S = PATIENCE_S
"""A page that came this long before a kill is on disk; a group waits for a fifth of a second, but the machine may be busy."""


@pytest.fixture
def site() -> Site:
    site = make_site(HOSTS, KILLS * PAGES_PER_KILL, seed=SEED, delay_s=0.02)
    for number, host in enumerate(HOSTS[:6]):
        # What is no page has its outcome too: a redirect, a page that is not there, one that may not be fetched.
        target = f"http://{HOSTS[(number + 5) % len(HOSTS)]}/behind-{number}"
        site.add(f"http://{host}/moved", Answer(301, headers={"Location": target}))
        site.add(target, Answer(body=b"<title>behind a redirect</title><p itemscope itemprop=x>"))
        site.robots[host] = Answer(body=b"User-agent: *\nDisallow: /private\n", content_type="text/plain")
        links = "".join(f'<a href="{path}">' for path in ("/moved", "/missing", "/private"))
        home = site.answers[host, "/"]
        site.add(f"http://{host}/", Answer(body=home.body + links.encode(), delay_s=home.delay_s))
    return site


def test_the_hosts_are_spread_over_shards_and_share_addresses() -> None:
    domains = Domains(bundled_suffix_list(), SHARDS)
    assert {domains.shard(host) for host in HOSTS} == {0, 1}
    for address in ("127.0.0.1", "127.0.0.2"):
        assert {domains.shard(host) for host in HOSTS if PLACING[host] == address} == {0, 1}


def test_a_crawl_survives_kills_at_any_instant(site: Site, tmp_path: Path) -> None:
    logging.getLogger(__name__).warning("TEST_SEED=%d", SEED)
    chance = random.Random(SEED)
    kills: list[float] = []
    ends: list[Future[float]] = []
    # What a kill leaves alive is only swept away at the very end: the next start has to cope with it.
    with (
        Web(prolong(site, HOSTS[0], lambda: len(kills) == KILLS), sorted(set(PLACING.values()))) as web,
        ThreadPoolExecutor(SHARDS * KILLS) as watch,
        ExitStack() as rest,
    ):
        while True:
            crawling = rest.enter_context(start(web, tmp_path))
            if len(kills) == KILLS:
                assert crawling.wait(180 + KILLS) == 0, crawling.stderr()
                break
            wait_for_moment(crawling, web, chance)
            if chance.random() < 0.7:
                crawling.kill()
            else:
                # Its shards halt when they notice, which is the same to what they had under way.
                ends += [watch.submit(wait_for_end, shard) for shard in crawling.kill_parent()]
            kills.append(time.monotonic())
    judge(site, web, tmp_path / "crawl", sorted([*kills, *(end.result() for end in ends)]))


def start(web: Web, folder: Path) -> Crawling:
    flags = ["--scope", "any", "--delay", DELAY_S, "--shards", SHARDS, *web.resolve(PLACING)]
    seeds = [f"http://{HOSTS[0]}/", f"http://{HOSTS[0]}/more/0"]
    return Crawling(folder / "crawl", *seeds, *flags, frontier_ip_delay_s=IP_DELAY_S)


def wait_for_moment(crawling: Crawling, web: Web, chance: random.Random) -> None:
    """Wait for a moment that chance chooses: mostly after some pages, sometimes while it is still starting."""
    begun = time.monotonic()
    if chance.random() < 0.2:
        after_s = chance.uniform(0, 1.0)
        assert crawling.wait_until(lambda: time.monotonic() > begun + after_s)
        return
    count, more_s = chance.randrange(1, PAGES_PER_KILL * 2 - 10), chance.uniform(0, 0.1)
    assert crawling.wait_until(lambda: web.requests_since(begun) >= count)
    time.sleep(more_s)


def judge(site: Site, web: Web, folder: Path, kills: list[float]) -> None:
    more = {exchange.url for exchange in web.log if exchange.path.startswith("/more/")}
    assert site.urls <= {exchange.url for exchange in pages_of(web.log)}, "a URL was lost"
    assert not [exchange.url for exchange in web.log if exchange.path == "/private"]
    assert check_pace(web.log, DELAY_S) == []
    assert check_address_pace(web.log, IP_DELAY_S) == []
    assert check_once(web.log, kills, most_lost=MOST_LOST, settled_s=SETTLED_S) == []
    check_archives(folder)
    outcomes = [outcome.url for outcome in read_outcomes(folder)]
    assert len(outcomes) == len(set(outcomes)), "an outcome is on record twice"
    private = {f"http://{host}/private" for host in HOSTS[:6]}
    missing = {f"http://{host}/missing" for host in HOSTS[:6]}
    assert set(outcomes) == site.urls | private | missing | more
    structured = {url for url in site.page_urls if "behind" not in url} | more
    responses = read_responses(folder)
    assert structured <= responses.keys(), "a page is missing from the archive"
    assert max(responses.values()) == 1


def test_a_shard_that_is_killed_comes_back_while_the_other_goes_on(site: Site, tmp_path: Path) -> None:
    kills: list[float] = []
    answers = prolong(site, HOSTS[0], lambda: len(kills) == 3)
    with Web(answers, sorted(set(PLACING.values()))) as web, start(web, tmp_path) as crawling:
        for count, shard in ((40, 0), (120, 1), (200, 0)):
            assert crawling.wait_until(lambda: len(crawling.shard_pids()) == SHARDS)
            assert crawling.wait_until(partial(is_visited, web, count))
            kills.append(crawling.kill_process(crawling.shard_pids()[shard]))
        assert crawling.wait(180) == 0, crawling.stderr()
    judge(site, web, tmp_path / "crawl", kills)


def is_visited(web: Web, count: int) -> bool:
    return len(web.log) >= count
