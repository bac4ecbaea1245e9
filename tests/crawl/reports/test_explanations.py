"""What became of a URL, in a sentence, where a real crawl gets into such a state by chance alone."""

import msgspec
import pytest

from rdfspider.codes import FailureCode, Reason
from rdfspider.crawl.reports.explanations import Obstacles, answer_done, answer_scheduled
from rdfspider.frontier.entries import HostEntry, UrlEntry

ENTRY = UrlEntry("http://a.test/1", 1, "scheduled", 1, "link", 0)
HOST = HostEntry("a.test", 1, 1, 2, 0, 5, 0.0, "")


def answer(host: HostEntry, before: int = 0, budget: str = "", halt: str = "") -> str:
    return answer_scheduled(ENTRY, Obstacles(budget=budget, halt=halt, host=host), before, now=0.0)


def test_a_soft_404_is_no_plain_answer() -> None:
    entry = msgspec.structs.replace(ENTRY, state="done", reason="soft-404", status=200, duplicate="soft-404")
    assert answer_done(entry, "", "") == "fetched, but it says that nothing is there (soft 404)"


@pytest.mark.parametrize(
    ("reason", "status", "told"),
    [
        ("sitemap", 200, "fetched for the crawl itself, as a sitemap"),
        ("no-sitemap", 404, "fetched for the crawl itself, as a sitemap, which it is not (404)"),
    ],
)
def test_what_was_fetched_for_the_crawl_itself_says_so(reason: str, status: int, told: str) -> None:
    entry = msgspec.structs.replace(ENTRY, state="done", reason=reason, status=status, found_as="sitemap")
    assert answer_done(entry, "", "") == told


@pytest.mark.parametrize(("found_as", "came"), [("link", "fetched"), ("import", "imported")])
def test_a_page_that_asks_not_to_be_indexed_tells_how(found_as: str, came: str) -> None:
    rule = "noindex (X-Robots-Tag); nofollow (meta robots)"
    entry = msgspec.structs.replace(ENTRY, state="done", reason="noindex", status=200, rule=rule, found_as=found_as)
    assert answer_done(entry, "", "") == f"{came}, but nothing of it is kept: it asks for {rule}"


@pytest.mark.parametrize(
    ("wait_s", "before", "told"),
    [
        (0.01, 0, "it is the next of its host; the usual delay"),
        (0.01, 3, "about 3 URLs of its host come first"),
        (9.0, 0, "its host is left alone for another 9.0 s (the usual delay)"),
        (9.0, 3, "about 3 URLs of its host come first, and the host is left alone for another 9.0 s (the usual delay)"),
    ],
)
def test_what_comes_first_is_told_together_with_the_wait(wait_s: float, before: int, told: str) -> None:
    host = msgspec.structs.replace(HOST, wait_s=wait_s, reason="the usual delay")
    assert answer(host, before) == f"scheduled: {told}"


def test_what_holds_the_whole_crawl_is_told_before_what_holds_the_host() -> None:
    lost = msgspec.structs.replace(HOST, wait_s=7200.0, status="given up", reason="given up: it does not answer")
    assert answer(lost, 3) == "scheduled: its host is given up, for another 2 h: it does not answer"
    halted = answer(lost, 3, halt="its shard is suspended: less than 500 MB are free")
    assert halted == "scheduled: its shard is suspended: less than 500 MB are free"
    used_up = answer(lost, 3, budget="the crawl has all its 9 bytes (crawl.bytes)", halt="the crawl is paused")
    assert used_up == "scheduled, but not fetched while the crawl has all its 9 bytes (crawl.bytes)"
    spent = msgspec.structs.replace(HOST, status="over budget", reason="over budget: it has all its pages")
    assert answer(spent) == "scheduled: its host is over budget: it has all its pages"


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            FailureCode.TAKEN_BACK,
            "to be asked again in the slow lane (its server was slow while others waited for the connection)",
        ),
        (Reason.HEAVY, "to be fetched again (too many pages that take long to extract were waiting)"),
    ],
)
def test_a_url_that_made_way_for_others(reason: str, words: str) -> None:
    entry = msgspec.structs.replace(ENTRY, reason=reason)
    assert answer_scheduled(entry, Obstacles(), 0, now=0.0) == f"scheduled, {words}: it is the next of its host"
