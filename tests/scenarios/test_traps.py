"""Sites without end, crawled until they are: what is learned of their paths ends them, and costs nothing that is worth having."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

import pytest

from rdfspider.config import Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.entries import UrlEntry
from rdfspider.frontier.frontier import Frontier
from web import Answer, Web, crawl, make_page, pages_of

THINGS = 60
FACETS = "colour size material origin season gift weight price".split()
# A crawl has read some more of a host's queue, and has asked for some, before it learns that nothing new comes.
BOUND = 150
MONTHS = "January February March April May June July August September October November December".split()
WORDS = ["".join(random.Random(number).choices("abcdefghijklm", k=7)) for number in range(500)]


def answer(host: str, path: str, headers: Mapping[str, str]) -> Answer:
    """Each host has sixty things with data of their own, and a trap."""
    if path == "/robots.txt" or path.startswith("/sitemap"):
        return Answer(404)
    if path.startswith("/thing/"):
        return make_page(f"http://{host}{path}")
    return TRAPS[host](path)


def write_page(text: str, links: Iterable[str], head: str = "") -> Answer:
    anchors = "".join(f'<a href="{link}">.</a>' for link in links)
    return Answer(body=f"<!doctype html><title>A site</title>{head}<p>{text}</p>{anchors}".encode())


def find_things(numbers: Iterable[int]) -> list[str]:
    return [f"/thing/{number}" for number in numbers]


def show_calendar(path: str) -> Answer:
    """Months without end, and their days; some things are found only there."""
    parts = path.strip("/").split("/")
    if parts[0] != "calendar":
        return write_page("Welcome", [*find_things(range(20)), "/calendar/2024/5"])
    year, month = int(parts[1]), int(parts[2])
    text = f"{MONTHS[month - 1]} {year}: there are no events in this month. Today is another day."
    later, earlier = (year + month // 12, month % 12 + 1), (year - (month == 1), (month - 2) % 12 + 1)
    links = [f"/calendar/{year}/{month}" for year, month in (later, earlier)]
    if len(parts) == 3:
        links += [f"/calendar/{year}/{month}/{day}" for day in range(1, 29)]
        links += find_things(range(20, THINGS)[month * 3 - 3 : month * 3 + 7])
    return write_page(text, links)


def show_shop(path: str) -> Answer:
    """Filters that multiply, each with data that was all seen before, in another order."""
    chance = random.Random(path)
    shown = chance.sample(range(THINGS), 10) if "?" in path else range(THINGS)
    items = ",".join(f'{{"@type": "Product", "name": "thing {number}"}}' for number in shown)
    data = f'<script type="application/ld+json">{{"@context": "https://schema.org", "@graph": [{items}]}}</script>'
    prices = [(chance.randrange(10**6), chance.randrange(10**6)) for _ in range(3)]
    filters = [f"/shop?from={lowest}&to={highest}" for lowest, highest in prices]
    return write_page("All that we have", [*find_things(shown), *filters], data)


def show_facets(path: str) -> Answer:
    """Eight filters with three values each, which can be combined at will and in any order, and a plain list in pages."""
    chosen = dict(parse_qsl(path.partition("?")[2]))
    page = int(chosen.get("page", 0))
    chance = random.Random(str(sorted(chosen.items())))
    is_list = chosen.keys() <= {"page"}
    shown = range(THINGS)[page * 10 : page * 10 + 10] if is_list else chance.sample(range(THINGS), 10)
    kept = {} if is_list else chosen
    offers = [{**kept, name: value} for name in FACETS if name not in kept for value in ("small", "fair", "large")]
    filters = [f"/facets?{urlencode(offer)}" for offer in offers]
    pages = [f"/facets?page={page + 1}"] if is_list and page * 10 + 10 < THINGS else []
    text = f"Chosen: {' '.join(chosen)}. {' '.join(WORDS[number] for number in shown)}"
    return write_page(text, [*find_things(shown), *pages, *filters])


def generate_addresses(path: str) -> Answer:
    """The same page, everywhere."""
    chance = random.Random(path)
    links = [f"/go/{chance.getrandbits(64):x}/{chance.getrandbits(32):x}" for _ in range(5)]
    return write_page("This is always the same page, at another address", links + find_things(range(THINGS)))


def generate_words(path: str) -> Answer:
    """Another text on every page, from words that are not many."""
    chance = random.Random(path)
    links = [f"/wiki/{'_'.join(chance.choices(WORDS, k=2))}" for _ in range(5)]
    return write_page(" ".join(chance.choices(WORDS, k=120)), links + find_things(range(THINGS)))


def show_list(path: str) -> Answer:
    """A list in many pages that differ in nothing, have no data, and lead to what has."""
    number = int(path.rpartition("=")[2]) if "=" in path else 0
    return write_page("A list", [f"/thing/{number}", f"/list?page={number + 1}"] if number < THINGS else [])


TRAPS = {
    "calendar.test": show_calendar,
    "shop.test": show_shop,
    "facets.test": show_facets,
    "addresses.test": generate_addresses,
    "words.test": generate_words,
    "list.test": show_list,
}


class Crawled(NamedTuple):
    """What is left of the crawl."""

    asked: Counter[tuple[str, str]]
    """URLs that were asked for, by host and first segment."""
    folder: Path

    def find(self, urls: Iterable[str]) -> list[UrlEntry]:
        """What is on record of those that were ever seen."""
        frontier = Frontier(self.folder / "shards/000/frontier", Config(), Domains(bundled_suffix_list(), 1), 0)
        try:
            return [entry for entry in map(frontier.find, urls) if entry is not None]
        finally:
            frontier.close()


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    folder = tmp_path_factory.mktemp("traps") / "crawl"
    with Web(answer) as web:
        flags = ["--delay", 0, "--shards", 1, "--scope", "host", *web.resolve({"*.test": "127.0.0.1"})]
        crawl(folder, *(f"http://{host}/" for host in TRAPS), *flags, run_group_pages=8)
    urls = {exchange.url for exchange in pages_of(web.log) if exchange.status == 200}
    return Crawled(Counter((url.split("/")[2], url.split("/")[3].partition("?")[0]) for url in urls), folder)


@pytest.mark.parametrize("host", TRAPS)
def test_what_is_worth_having_is_fetched(crawled: Crawled, host: str) -> None:
    assert crawled.asked[host, "thing"] == THINGS


@pytest.mark.parametrize(
    ("host", "segment"), [("calendar.test", "calendar"), ("shop.test", "shop"), ("addresses.test", "go")]
)
def test_what_has_no_end_is_left_when_it_shows_the_same_again(crawled: Crawled, host: str, segment: str) -> None:
    # On a busy machine more are under way when it shows.
    assert 15 < crawled.asked[host, segment] < 2 * BOUND


def test_filters_that_multiply_end_together(crawled: Crawled) -> None:
    assert 3 * len(FACETS) < crawled.asked["facets.test", "facets"] < 100


def test_a_generator_of_words_ends_when_it_has_said_all_of_them(crawled: Crawled) -> None:
    assert 15 < crawled.asked["words.test", "wiki"] < 4 * BOUND


def test_a_long_list_is_crawled_to_its_end(crawled: Crawled) -> None:
    assert crawled.asked["list.test", "list"] == THINGS


def test_the_rule_is_on_record(crawled: Crawled) -> None:
    days = [f"http://calendar.test/calendar/{year}/{month}/28" for year in (2023, 2024) for month in range(1, 13)]
    refused = [entry for entry in crawled.find(days) if entry.state != "done"]
    assert {(entry.state, entry.reason) for entry in refused} == {("disallowed", "trap")}
    assert all(entry.rule.startswith("pattern /calendar/0/0/0 gave nothing new in ") for entry in refused)
