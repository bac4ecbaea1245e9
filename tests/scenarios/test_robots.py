"""robots.txt as real servers have it: broken, slow, moved, huge, and well again. The server's log and the archive judge."""

import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from web import (
    Answer,
    Crawling,
    Exchange,
    Outcome,
    Site,
    Web,
    check_once,
    check_pace,
    check_retry_after,
    crawl,
    make_chain,
    make_page,
    make_site,
    pages_of,
    prolong,
    read_outcomes,
    run_first,
)

EVERYWHERE = {"*.test": "127.0.0.1"}
RULES = b"User-agent: *\nDisallow: /private\n"
PATHS = ("/", "/public", "/private/x", "/late")
"""What every host of the one big crawl has."""
# Longer than a busy machine lets an answer wait.
FIRST_BYTE_TIMEOUT_S = 4.0
BACKOFF_S = 1.0


def text(body: bytes, **fields: object) -> Answer:
    return Answer(body=body, content_type="text/plain", **fields)  # type: ignore[arg-type]


def move(target: str) -> Answer:
    return Answer(302, headers={"Location": target})


GOOD = text(RULES)
PADDING = b"# nothing to see here, and that at some length\n" * 12_000
ANSWERS = {
    "rules.test": GOOD,
    "missing.test": Answer(404, b"no such file"),
    # Rules in a page that says that there is no such page are none.
    "forbidden.test": Answer(403, b"User-agent: *\nDisallow: /\n", "text/plain"),
    "empty.test": text(b""),
    "html.test": Answer(body=b"<!doctype html><title>Welcome</title><p>User-agent: all of you. Disallow: nothing.</p>"),
    "bom.test": text(b"\xef\xbb\xbf" + RULES),
    "mac.test": text(RULES.replace(b"\n", b"\r")),
    "huge.test": text(RULES + PADDING + b"Disallow: /late\n"),
    "named.test": text(b"User-agent: *\nDisallow: /\n\nUser-agent: RDFspider\nDisallow: /private\n"),
    "loop.test": move("/elsewhere.txt"),
    "circle.test": move("/robots.txt"),
    "five.test": move("/robots-1"),
    "six.test": move("/robots-1"),
    "away.test": move("http://rules.test/robots.txt"),
    "nowhere.test": move("mailto:webmaster@nowhere.test"),
}
ALL, NOT_PRIVATE = set(PATHS), {"/", "/public", "/late"}
FETCHED = {
    **dict.fromkeys(ANSWERS, ALL),
    **dict.fromkeys(["rules.test", "bom.test", "mac.test", "huge.test", "named.test"], NOT_PRIVATE),
    **dict.fromkeys(["five.test", "away.test"], NOT_PRIVATE),
}
FAULTS = {
    "internal.test": Answer(500),
    "gateway.test": Answer(502, RULES, "text/plain"),
    "unavailable.test": Answer(503),
    "later.test": Answer(503, headers={"Retry-After": "1"}),
    "many.test": Answer(429),
    "many-later.test": Answer(429, headers={"Retry-After": "1"}),
    "mute.test": Answer(body=RULES, delay_s=2 * FIRST_BYTE_TIMEOUT_S),
    "hangs-up.test": Answer(hangs_up=True),
    # The rule that matters has not come yet when the connection ends.
    "half.test": Answer(body=b"User-agent: *\n", headers={"Content-Length": "500"}, closes=True),
    "strange.test": Answer(304),
}
"""What is answered twice, before the rules come."""
DEAD = "dead.test"
GIVE_UP_ERRORS = 4


@dataclass(frozen=True)
class Crawled:
    """The one big crawl: what the server saw of each host, in order, and what is on record."""

    by_host: Mapping[str, list[Exchange]]
    outcomes: Mapping[str, Outcome]
    totals: Mapping[str, int]

    def robots(self, host: str) -> list[Exchange]:
        return [exchange for exchange in self.by_host[host] if exchange.path == "/robots.txt"]

    def pages(self, host: str) -> set[str]:
        return {exchange.path for exchange in self.by_host[host] if exchange.path in PATHS}


class Scenarios:
    """The answers of all hosts; each robots.txt of `FAULTS` fails twice."""

    def __init__(self) -> None:
        self._asked: dict[str, int] = defaultdict(int)
        hosts = [*ANSWERS, *FAULTS, DEAD, "ports.test", "ports.test:8081"]
        self._site = Site()
        for host in hosts:
            for path in PATHS:
                links = [f"http://{host}{link}" for link in PATHS] if path == "/" else []
                self._site.add(f"http://{host}{path}", make_page(f"http://{host}{path}", links))
        self._site.add("http://loop.test/elsewhere.txt", move("/robots.txt"))
        for number in range(1, 6):
            self._site.add(f"http://six.test/robots-{number}", move(f"/robots-{number + 1}"))
            self._site.add(f"http://five.test/robots-{number}", move(f"/robots-{number + 1}") if number < 5 else GOOD)
        self._site.add("http://six.test/robots-6", text(b"User-agent: *\nDisallow: /\n"))
        self.seeds = [f"http://{host}/" for host in hosts]

    def __call__(self, host: str, path: str, headers: Mapping[str, str]) -> Answer:
        host = headers["host"]
        if path != "/robots.txt":
            return self._site(host, path, headers)
        self._asked[host] += 1
        if host == DEAD:
            return Answer(500)
        if host in FAULTS or host == "ports.test:8081":
            return FAULTS.get(host, Answer(500)) if self._asked[host] <= 2 else GOOD
        return ANSWERS.get(host, GOOD)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("robots") / "crawl"
    scenarios = Scenarios()
    with Web(scenarios) as web:
        crawling = crawl(
            folder,
            *scenarios.seeds,
            *("--delay", 0, "--shards", 2, *web.resolve(EVERYWHERE)),
            fetch_first_byte_timeout_s=FIRST_BYTE_TIMEOUT_S,
            frontier_backoff_s=BACKOFF_S,
            frontier_give_up_errors=GIVE_UP_ERRORS,
        )
        # The server notes an answer that nobody waits for when it is due.
        web.wait_until_left()
        log = sorted(web.log, key=lambda exchange: exchange.started)
    by_host: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in log:
        by_host[exchange.headers["host"]].append(exchange)
    outcomes = {outcome.url: outcome for outcome in read_outcomes(folder)}
    yield Crawled(by_host, outcomes, crawling.status()["totals"])


@pytest.mark.parametrize("host", [*ANSWERS, *FAULTS])
def test_what_may_be_fetched_is_and_the_rest_is_on_record(crawled: Crawled, host: str) -> None:
    allowed = FETCHED.get(host, NOT_PRIVATE)
    assert crawled.pages(host) == allowed
    for path in PATHS:
        outcome = crawled.outcomes[f"http://{host}{path}"]
        found = (outcome.get("verdict"), outcome.get("reason"), outcome.status)
        assert found == (("done", "fetched", 200) if path in allowed else ("failed", "disallowed", 0))
    assert check_once(crawled.by_host[host]) == []


@pytest.mark.parametrize("host", ANSWERS)
def test_robots_txt_is_asked_for_once_and_before_anything_else(crawled: Crawled, host: str) -> None:
    assert crawled.by_host[host][0].path == "/robots.txt"
    # That of rules.test is asked for on behalf of away.test, too.
    assert len(crawled.robots(host)) == (2 if host == "rules.test" else 1)


@pytest.mark.parametrize(
    ("host", "hops"),
    [
        ("loop.test", ["/robots.txt", "/elsewhere.txt"]),
        ("circle.test", ["/robots.txt"]),
        ("nowhere.test", ["/robots.txt"]),
        ("five.test", ["/robots.txt", *(f"/robots-{number}" for number in range(1, 6))]),
        ("six.test", ["/robots.txt", *(f"/robots-{number}" for number in range(1, 6))]),
    ],
)
def test_five_redirects_are_followed_and_no_more(crawled: Crawled, host: str, hops: list[str]) -> None:
    assert [exchange.path for exchange in crawled.by_host[host]][: len(hops)] == hops
    assert {exchange.path for exchange in crawled.by_host[host]} - set(hops) <= ALL


@pytest.mark.parametrize("host", FAULTS)
def test_nothing_is_fetched_until_it_answers(crawled: Crawled, host: str) -> None:
    first, second, third, *more = crawled.by_host[host]
    assert [exchange.path for exchange in (first, second, third)] == ["/robots.txt"] * 3
    assert not any(exchange.path == "/robots.txt" for exchange in more)
    # The first wait is the setting's, the second twice that.
    least_s = (1.0, 1.0) if first.retry_after_s else (BACKOFF_S, 2 * BACKOFF_S)
    slack_s = 0.001
    if host == "mute.test":
        # For the crawler it is over before the server answers; it has counted from a little before the server did.
        least_s, slack_s = (FIRST_BYTE_TIMEOUT_S + BACKOFF_S, FIRST_BYTE_TIMEOUT_S + 2 * BACKOFF_S), 2.0
        waits_s = second.started - first.started, third.started - second.started
    else:
        waits_s = second.started - first.ended, third.started - second.ended
    assert all(wait >= least - slack_s for wait, least in zip(waits_s, least_s, strict=True)), waits_s


def test_a_host_whose_robots_txt_never_answers_is_given_up(crawled: Crawled) -> None:
    assert [exchange.path for exchange in crawled.by_host[DEAD]] == ["/robots.txt"] * GIVE_UP_ERRORS
    assert f"http://{DEAD}/" not in crawled.outcomes, "it is no final outcome: the host may come back"
    assert crawled.totals["given_up_hosts"] == 1
    assert crawled.totals["scheduled"] == 1


def test_each_port_has_its_own_robots_txt(crawled: Crawled) -> None:
    """That one of them fails does not keep the other from being crawled, beyond the back-off of their host."""
    assert crawled.pages("ports.test") == crawled.pages("ports.test:8081") == NOT_PRIVATE
    assert len(crawled.robots("ports.test")) == 1
    assert len(crawled.robots("ports.test:8081")) == 3
    well = crawled.robots("ports.test:8081")[-1]
    assert all(page.started >= well.ended for page in crawled.by_host["ports.test:8081"] if page.path in PATHS)
    assert any(page.started < well.started for page in crawled.by_host["ports.test"] if page.path in PATHS)


def test_an_expired_copy_is_used_while_the_server_fails_and_replaced_when_it_is_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site has no end: only the new rules end the crawl."""
    # Every copy is used for half a minute otherwise, whatever is set.
    run_first("from rdfspider.frontier.urls import leases\n\nleases._MIN_ANSWER_S = 2.0\n", tmp_path, monkeypatch)
    asked: list[int] = []

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        if path == "/robots.txt":
            asked.append(len(asked))
            match asked[-1]:
                case 0:
                    return text(RULES + b"Crawl-delay: 0.2\n")
                case 1 | 2 | 3:
                    return Answer(500 + asked[-1])
                case _:
                    return text(b"User-agent: *\nDisallow: /\n")
        number = int(path[1:] or 0)
        return make_page(f"http://{host}{path}", [f"/{number + 1}", f"/private/{number}"])

    folder = tmp_path / "crawl"
    with Web(answer) as web:
        flags = ["--delay", 0.02, "--shards", 1, *web.resolve(EVERYWHERE)]
        crawl(folder, "http://a.test/", *flags, fetch_robots_ttl_s=2, frontier_ip_delay_s=0.001, frontier_backoff_s=0.5)
    log = sorted(web.log, key=lambda exchange: exchange.started)
    robots = [exchange for exchange in log if exchange.path == "/robots.txt"]
    assert [exchange.status for exchange in robots] == [200, 501, 502, 503, 200]
    assert robots[1].started - robots[0].ended >= 2 - 0.001
    pages = pages_of(log)
    assert not any("/private" in page.path for page in pages)
    for before, after in pairwise(robots):
        assert any(before.ended < page.started < after.started for page in pages), "nothing was fetched meanwhile"
    assert max(page.started for page in pages) < robots[-1].started
    assert check_pace(log, 0.2) == [], "the Crawl-delay of the old copy was forgotten"
    outcomes = {outcome.url: outcome for outcome in read_outcomes(folder)}
    assert outcomes[f"http://a.test/{len(pages)}"].get("reason") == "disallowed"
    assert {outcome.get("reason") for url, outcome in outcomes.items() if "/private" in url} == {"disallowed"}


def test_the_crawl_delay_for_this_crawler_is_kept(tmp_path: Path) -> None:
    site = make_chain("named.test", 4)
    for url, page in make_chain("endless.test", 4).answers.items():
        site.answers[url] = page
    site.robots["named.test"] = text(
        b"User-agent: rdfspider\nCrawl-delay: 0.4\nAllow: /\n\nUser-agent: *\nCrawl-delay: 60\nAllow: /\n"
    )
    # Longer than what is taken at its word.
    site.robots["endless.test"] = text(b"User-agent: *\nCrawl-delay: 86400\n")
    with Web(site) as web:
        flags = ["--delay", 0.01, "--shards", 1, *web.resolve(EVERYWHERE)]
        more = {"frontier_max_wait_s": 0.6, "frontier_ip_delay_s": 0.001}
        crawl(tmp_path / "crawl", "http://named.test/", "http://endless.test/", *flags, **more)
    assert {exchange.url for exchange in pages_of(web.log)} == site.urls
    assert check_pace(web.log, {"named.test": 0.4, "endless.test": 0.6}) == []
    assert len(check_pace(web.log, 10)) == 8, "they were asked less often than they wanted"


@pytest.mark.parametrize("target", ["/rules.txt", "http://parking.test/robots.txt"])
def test_redirects_keep_the_pace_of_every_host_on_their_way(target: str, tmp_path: Path) -> None:
    """Of the first host by what its redirect took; of one that is out of scope too, although it is never crawled."""
    hosts = [f"h{number}.test" for number in range(6)]
    site = make_site(hosts, 6)
    for host in hosts:
        site.robots[host] = Answer(301, headers={"Location": target}, delay_s=0.1)
        site.add(f"http://{host}/rules.txt", GOOD)
    site.robots["parking.test"] = GOOD
    with Web(site) as web:
        flags = ["--scope", "host", "--delay", 0.3, "--shards", 1, *web.resolve(EVERYWHERE)]
        more = {"frontier_duration_factor": 10, "frontier_ip_delay_s": 0.001}
        crawl(tmp_path / "crawl", *(f"http://{host}/" for host in hosts), *flags, **more)
    assert sum(exchange.host == "parking.test" for exchange in web.log) in (0, 6)
    assert {exchange.url for exchange in pages_of(web.log)} >= {f"http://{host}/" for host in hosts}
    assert check_pace(web.log, 0.3, duration_factor=10) == []


def test_copies_and_refusals_survive_a_kill(tmp_path: Path) -> None:
    site = make_chain("b.test", 1)
    site.robots["a.test"] = GOOD
    site.robots["b.test"] = Answer(429, headers={"Retry-After": "8"})
    is_killed = threading.Event()

    def is_refusal_on_disk() -> bool:
        """Each page of a chain is asked for once the one before is on disk, with all that came before that one."""
        refused = next((exchange.ended for exchange in web.log if exchange.retry_after_s), None)
        return refused is not None and sum(page.host == "a.test" and page.started > refused for page in web.log) > 3

    with Web(prolong(site, "a.test", is_killed.is_set)) as web:
        arguments = ["http://a.test/more/0", "http://b.test/", "--delay", 0.1, "--shards", 1, *web.resolve(EVERYWHERE)]
        with Crawling(tmp_path / "crawl", *arguments, frontier_ip_delay_s=0.01) as crawling:
            assert crawling.wait_until(is_refusal_on_disk)
            kill = crawling.kill()
        is_killed.set()
        site.robots["b.test"] = GOOD
        crawl(tmp_path / "crawl", *arguments, frontier_ip_delay_s=0.01)
    assert {exchange.url for exchange in pages_of(web.log)} > site.urls
    assert check_retry_after(web.log) == []
    asked = [(exchange.host, exchange.started > kill) for exchange in web.log if exchange.path == "/robots.txt"]
    assert sorted(asked) == [("a.test", False), ("b.test", False), ("b.test", True)]
