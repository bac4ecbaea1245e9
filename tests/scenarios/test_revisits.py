"""Pages that are fetched again: what is asked, what is on record when nothing has changed, and when something has."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from rdfspider.domains import Domains, bundled_suffix_list
from web import (
    Answer,
    Exchange,
    Outcome,
    Site,
    Web,
    check_archives,
    crawl,
    make_page,
    pages_of,
    read_outcomes,
    read_visits,
)

EVERYWHERE = {"*.test": "127.0.0.1"}
PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
DAY_S = 86_400
LIVES = 3
DATES = [f"Mon, 0{day} Jan 2024 00:00:00 GMT" for day in range(1, 9)]


def page(path: str, version: int = 0, links: tuple[str, ...] = (), **headers: str) -> Answer:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(body=make_page(f"http://a.test{path}", links, padding_bytes=50 * version).body, headers=fields)


PLAIN = Answer(body=b"nothing structured here", content_type="text/plain")
PAGES: dict[str, Callable[[int], Answer]] = {
    "/tagged": lambda life: page("/tagged", ETag='"one"'),
    "/weak": lambda life: page("/weak", ETag='W/"weak"'),
    "/dated": lambda life: page("/dated", Last_Modified=DATES[0]),
    "/both": lambda life: page("/both", ETag='"both"', Last_Modified=DATES[0]),
    "/bare": lambda life: page("/bare"),
    # A server that sends a new tag each time, although nothing has changed.
    "/restless": lambda life: page("/restless", ETag=f'"{life}"'),
    "/changing": lambda life: page("/changing", life, ETag=f'"{life}"', Last_Modified=DATES[life]),
    "/changing-bare": lambda life: page("/changing-bare", life),
    # It is as it was in its first life, but what was captured last is something else.
    "/back-again": lambda life: page("/back-again", life % 2),
    "/growing": lambda life: page("/growing", links=tuple(f"/found-{number}" for number in range(life))),
    "/going": lambda life: page("/going", ETag='"going"') if life < 1 else Answer(410),
    "/coming": lambda life: Answer(404) if life < 1 else page("/coming", ETag='"coming"'),
    "/moving": lambda life: page("/moving", ETag='"moving"') if life < 1 else Answer(301, headers={"Location": "/new"}),
    "/plain": lambda life: PLAIN,
    "/plain-tagged": lambda life: Answer(body=PLAIN.body, content_type="text/plain", headers={"ETag": '"plain"'}),
    "/new": lambda life: page("/new"),
    "/found-0": lambda life: page("/found-0"),
    "/found-1": lambda life: page("/found-1"),
}
SEEDS = [f"http://a.test{path}" for path in PAGES if path not in ("/new", "/found-0", "/found-1")]


class Changing:
    """A site that is another in each life of the crawl, and answers conditional requests as a good server does."""

    def __init__(self) -> None:
        self.life = 0

    def __call__(self, host: str, path: str, headers: Mapping[str, str]) -> Answer:
        found = PAGES[path](self.life) if path in PAGES else Answer(404)
        if found.status == 200:
            tag, date = found.headers.get("ETag"), found.headers.get("Last-Modified")
            # The tag goes first: RFC 9110, 13.2.2.
            asked, known = (headers.get("if-none-match"), tag) if tag else (headers.get("if-modified-since"), date)
            if known and asked == known:
                return Answer(304, headers={"ETag": tag} if tag else {})
        return found


class Crawled:
    """Three lives of one crawl: what was asked in each, and what is on record."""

    def __init__(self, lives: list[list[Exchange]], folder: Path) -> None:
        self.lives = lives
        self.visits = read_visits(folder)
        self.outcomes: dict[str, list[Outcome]] = {}
        for outcome in read_outcomes(folder):
            self.outcomes.setdefault(outcome.url, []).append(outcome)

    def requests(self, path: str) -> list[Exchange]:
        return [exchange for life in self.lives for exchange in life if exchange.path == path]

    def records(self, path: str) -> list[str]:
        """The kinds of records of a URL in the order of its visits: response, or the profile of a revisit."""
        visits = self.visits.get(f"http://a.test{path}", [])
        return [visit.get("WARC-Profile", "").removeprefix(PROFILES) or visit["WARC-Type"] for visit in visits]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder = tmp_path_factory.mktemp("revisits") / "crawl"
    site, lives = Changing(), []
    with Web(site) as web:
        for site.life in range(LIVES):
            arguments = [*SEEDS, "--delay", 0, "--shards", 1, *web.resolve(EVERYWHERE)]
            crawl(folder, *arguments, ahead_s=site.life * (DAY_S + 1), crawl_revisit_s=DAY_S)
            lives.append(pages_of(web.log))
            web.log.clear()
    check_archives(folder)
    return Crawled(lives, folder)


def test_every_page_is_asked_for_once_in_each_life(crawled: Crawled) -> None:
    for number, life in enumerate(crawled.lives):
        late = {"/new": 1, "/found-0": 1, "/found-1": 2}
        assert sorted(exchange.path for exchange in life) == sorted(
            path for path in PAGES if late.get(path, 0) <= number
        )


@pytest.mark.parametrize(
    ("path", "tags", "dates"),
    [
        ("/tagged", [None, '"one"', '"one"'], [None] * 3),
        ("/weak", [None, 'W/"weak"', 'W/"weak"'], [None] * 3),
        ("/dated", [None] * 3, [None, DATES[0], DATES[0]]),
        ("/both", [None, '"both"', '"both"'], [None, DATES[0], DATES[0]]),
        ("/bare", [None] * 3, [None] * 3),
        ("/changing", [None, '"0"', '"1"'], [None, DATES[0], DATES[1]]),
        ("/restless", [None, '"0"', '"1"'], [None] * 3),
        # What is gone, or was not there, has no tag.
        ("/going", [None, '"going"', None], [None] * 3),
        ("/coming", [None, None, '"coming"'], [None] * 3),
        ("/moving", [None, '"moving"', None], [None] * 3),
    ],
)
def test_conditions_are_those_of_the_last_answer(
    crawled: Crawled, path: str, tags: list[str | None], dates: list[str | None]
) -> None:
    asked = crawled.requests(path)
    assert [exchange.headers.get("if-none-match") for exchange in asked] == tags
    assert [exchange.headers.get("if-modified-since") for exchange in asked] == dates


SAME, NOT_MODIFIED = "identical-payload-digest", "server-not-modified"


@pytest.mark.parametrize(
    ("path", "statuses", "records"),
    [
        ("/tagged", [200, 304, 304], ["response", NOT_MODIFIED, NOT_MODIFIED]),
        ("/weak", [200, 304, 304], ["response", NOT_MODIFIED, NOT_MODIFIED]),
        ("/dated", [200, 304, 304], ["response", NOT_MODIFIED, NOT_MODIFIED]),
        ("/both", [200, 304, 304], ["response", NOT_MODIFIED, NOT_MODIFIED]),
        ("/bare", [200, 200, 200], ["response", SAME, SAME]),
        ("/restless", [200, 200, 200], ["response", SAME, SAME]),
        ("/changing", [200, 200, 200], ["response", "response", "response"]),
        ("/changing-bare", [200, 200, 200], ["response", "response", "response"]),
        ("/back-again", [200, 200, 200], ["response", "response", "response"]),
        ("/growing", [200, 200, 200], ["response", "response", "response"]),
        ("/going", [200, 410, 410], ["response"]),
        ("/coming", [404, 200, 304], ["response", NOT_MODIFIED]),
        ("/moving", [200, 301, 301], ["response"]),
        # Pages without structured data are not kept, so there is nothing to refer to.
        ("/plain", [200, 200, 200], []),
        ("/plain-tagged", [200, 304, 304], []),
    ],
)
def test_what_has_not_changed_is_a_revisit(
    crawled: Crawled, path: str, statuses: list[int], records: list[str]
) -> None:
    assert [exchange.status for exchange in crawled.requests(path)] == statuses
    outcomes = crawled.outcomes[f"http://a.test{path}"]
    assert [outcome.status for outcome in outcomes] == statuses, "a visit is not on record"
    assert crawled.records(path) == records
    unchanged = [outcome.get("unchanged") for outcome in outcomes if outcome.status in (200, 304)]
    kinds = [kind if kind != "response" else "" for kind in records]
    if records:
        assert unchanged == kinds
    else:
        assert all(unchanged[1:]), "that it has not changed is known, although it is not kept"


@pytest.mark.parametrize("path", ["/tagged", "/dated", "/bare", "/restless", "/coming"])
def test_revisits_name_what_they_refer_to(crawled: Crawled, path: str) -> None:
    first, *again = crawled.visits[f"http://a.test{path}"]
    for visit in again:
        assert visit["WARC-Refers-To-Target-URI"] == f"http://a.test{path}"
        assert visit["WARC-Refers-To-Date"] == first["WARC-Date"]
        assert visit["WARC-Payload-Digest"] == first["WARC-Payload-Digest"]


def test_visits_come_due_while_a_crawl_runs_and_do_not_keep_it_alive(tmp_path: Path) -> None:
    """A host keeps the crawl alive until both pages were visited again: one of its shard, one of a shard with nothing to do."""
    domains = Domains(bundled_suffix_list(), 2)
    hosts = [f"domain{number}.test" for number in range(100)]
    ill, own = [host for host in hosts if domains.shard(host) == 0][:2]
    other = next(host for host in hosts if domains.shard(host) == 1)
    site = Site()
    for host in (ill, own, other):
        site.add(f"http://{host}/", make_page(f"http://{host}/"))

    def visits(host: str) -> list[Exchange]:
        return [exchange for exchange in pages_of(web.log) if exchange.host == host and exchange.status == 200]

    def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
        is_ill = host == ill and path == "/" and min(len(visits(own)), len(visits(other))) < 3
        return Answer(500) if is_ill else site(host, path, headers)

    with Web(answer) as web:
        flags = ["--delay", 0.01, "--shards", 2, *web.resolve(EVERYWHERE)]
        patient = {f"frontier_{name}": 1000 for name in ("attempts", "give_up_errors")}
        crawl(
            tmp_path / "crawl", *sorted(site.urls), *flags, crawl_revisit_s=0.5, frontier_max_backoff_s=0.4, **patient
        )
    for host in (own, other):
        assert all(after.started - before.ended >= 0.5 - 0.001 for before, after in pairwise(visits(host)))
    assert len(read_outcomes(tmp_path / "crawl")) == sum(map(len, map(visits, (ill, own, other))))
