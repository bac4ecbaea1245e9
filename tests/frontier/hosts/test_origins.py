"""Hosts that repeat others: when they are taken for mirrors, when no longer, and what that means for their links."""

from collections.abc import Callable

from tests.frontier.conftest import Crawler, HandClock, OpenFrontier, capture

from rdfspider.frontier.entries import LOWEST_PRIORITY, PageFacts
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.hosts.origins import Repeats, describe_mirror, is_mirrored, note_page, note_repeated
from rdfspider.records import Discovered, Judgement

NEW = Judgement()


def repeat(url: str, how: str = "exact") -> Judgement:
    return Judgement(duplicate=how, original=url)


def note(repeats: dict[str, Repeats], origin: str, original: str, numbers: range, how: str = "exact") -> None:
    for number in numbers:
        note_page(repeats, f"{origin}/{number}?x", repeat(f"{original}/{number}?x", how))


def test_ten_pages_of_which_four_in_five_repeat_another_host_make_a_mirror() -> None:
    repeats: dict[str, Repeats] = {}
    note(repeats, "http://b.test", "http://a.test", range(8))
    note_page(repeats, "http://b.test/about", NEW)
    assert describe_mirror("b.test", repeats) == ""
    note_page(repeats, "http://b.test/imprint", NEW)
    assert describe_mirror("b.test", repeats) == "a.test"
    assert is_mirrored(repeats, "http://b.test/further")
    assert not is_mirrored(repeats, "https://b.test/further")


def test_too_few_repetitions_make_none() -> None:
    repeats: dict[str, Repeats] = {}
    for number in range(40):
        note(repeats, "http://b.test", "http://a.test", range(number, number + 1))
        if number % 2:
            note_page(repeats, f"http://b.test/own/{number}", NEW)
    assert describe_mirror("b.test", repeats) == ""


def test_repetitions_at_another_path_or_on_the_same_origin_make_none() -> None:
    repeats: dict[str, Repeats] = {}
    for number in range(20):
        note_page(repeats, f"http://b.test/{number}", repeat(f"http://a.test/other/{number}"))
        note_page(repeats, f"http://b.test/{number}", repeat("http://b.test/first"))
        note_page(repeats, f"http://b.test/{number}", Judgement(duplicate="soft-404"))
    assert repeats == {}


def test_a_mirror_that_has_pages_of_its_own_is_one_no_more() -> None:
    repeats: dict[str, Repeats] = {}
    note(repeats, "http://b.test", "http://a.test", range(30))
    for number in range(10):
        note_page(repeats, f"http://b.test/own/{number}", NEW)
        assert describe_mirror("b.test", repeats) == "a.test"
    note_page(repeats, "http://b.test/own/more", NEW)
    assert describe_mirror("b.test", repeats) == ""
    for number in range(20):
        note_page(repeats, f"http://b.test/own/{number}", NEW)
    assert repeats == {}


def test_the_original_may_turn_out_to_be_another_one() -> None:
    repeats: dict[str, Repeats] = {}
    note(repeats, "http://b.test", "http://c.test", range(1))
    for number in range(3):
        note_page(repeats, f"http://b.test/own/{number}", NEW)
    note(repeats, "http://b.test", "http://a.test", range(10))
    assert describe_mirror("b.test", repeats) == "a.test"


def test_another_scheme_of_the_same_host_is_named_with_it() -> None:
    repeats: dict[str, Repeats] = {}
    for number in range(12):
        note_page(repeats, f"https://a.test/{number}", NEW)
    note(repeats, "http://a.test", "https://a.test", range(12), "near")
    assert describe_mirror("a.test", repeats) == "https://a.test"
    assert is_mirrored(repeats, "http://a.test/further")
    assert not is_mirrored(repeats, "https://a.test/further")


def crawl_mirror(frontier: Frontier, crawler: Crawler) -> None:
    """Fetch twelve pages of b.test, all of which a.test had before."""
    frontier.add([Discovered(f"http://b.test/{number}") for number in range(12)])
    for _ in range(12):
        lease = crawler.next_page()
        verdict = frontier.release(lease, capture(lease.url))
        judgement = Judgement(duplicate="exact", original=lease.url.replace("b.test", "a.test"))
        frontier.finish(lease, verdict, PageFacts(judgement=judgement))
    frontier.commit()


def test_new_links_of_a_mirror_come_last_also_after_a_restart(open_frontier: OpenFrontier, clock: HandClock) -> None:
    frontier = open_frontier()
    crawl_mirror(frontier, Crawler(frontier, clock))
    assert frontier.counts.duplicates == 12
    frontier.close()
    frontier = open_frontier()
    host = frontier._hosts.get(1)
    assert host.record.mirror_of == "a.test"
    frontier.add([Discovered("http://b.test/further", 1), Discovered("http://b.test/seed", 0, "seed")])
    queued = dict(host.record.queued)
    assert queued.pop(LOWEST_PRIORITY) == 1
    assert sum(queued.values()) == 1


def crawl_both(pages: int, is_first: Callable[[int], bool]) -> tuple[dict[str, Repeats], dict[str, Repeats]]:
    """What two sites know of each other that have the same pages, of which some were first on the one, some on the other."""
    one: dict[str, Repeats] = {}
    two: dict[str, Repeats] = {}
    for number in range(pages):
        first, second = ("a", one), ("b", two)
        if not is_first(number):
            first, second = second, first
        note_page(first[1], f"http://{first[0]}.test/{number}", NEW)
        note(second[1], f"http://{second[0]}.test", f"http://{first[0]}.test", range(number, number + 1))
        note_repeated(first[1], f"http://{first[0]}.test", f"http://{second[0]}.test")
    return one, two


def test_of_two_sites_side_by_side_the_mirror_is_the_one_that_is_first_less_often() -> None:
    one, two = crawl_both(30, lambda number: number % 3 == 0)
    assert (describe_mirror("a.test", one), describe_mirror("b.test", two)) == ("b.test", "")
    one, two = crawl_both(30, lambda number: number % 3 != 0)
    assert (describe_mirror("a.test", one), describe_mirror("b.test", two)) == ("", "a.test")
    one, two = crawl_both(30, lambda number: number % 2 == 0)
    assert (describe_mirror("a.test", one), describe_mirror("b.test", two)) == ("", "a.test")
    one, two = crawl_both(30, lambda number: True)
    assert (describe_mirror("a.test", one), describe_mirror("b.test", two)) == ("", "a.test")
