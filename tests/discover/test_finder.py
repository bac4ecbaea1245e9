"""What pages and redirects lead to."""

from rdfspider.discover.finder import LAST, Finder, follow_redirect
from rdfspider.records import Capture, Discovered, Extraction, Judgement, Lease, Link, Page, Robots

SEED = "https://www.example.org/shop/tea.html"


def find(lease: Lease, judgement: Judgement, max_depth: int, *links: Link) -> list[Discovered]:
    capture = Capture(Page(SEED, b""), 200, "OK", "1.1", (), (), "127.0.0.1", 0.0, 0.0, 0)
    return Finder(max_depth).find(lease, capture, Extraction(SEED, "text/html", links=links), judgement)


def test_a_page_gives_each_link_once_one_step_deeper() -> None:
    links = [Link(f"https://example.org/{path}", nofollow=path == "c") for path in "abac"]
    found = find(Lease("page", "example.org", 1, SEED, url_id=7, depth=2), Judgement(), 3, *links)
    assert found == [Discovered(f"https://example.org/{path}", 3, "link", 7) for path in "ab"]


def test_a_page_that_is_deep_enough_or_says_nofollow_gives_none() -> None:
    link = Link("https://example.org/a")
    assert find(Lease("page", "example.org", 1, SEED, depth=2), Judgement(), 2, link) == []
    assert find(Lease("page", "example.org", 1, SEED, depth=1), Judgement(robots=Robots(nofollow=True)), 2, link) == []


def test_the_links_of_a_page_that_repeats_another_come_last() -> None:
    lease = Lease("page", "example.org", 1, SEED, url_id=7)
    (found,) = find(lease, Judgement(duplicate="exact"), 0, Link("https://example.org/a"))
    assert found.rank == LAST


def test_a_redirect_keeps_its_depth_and_its_chain() -> None:
    lease = Lease("page", "b.org", 1, "https://b.org/", url_id=9, depth=4, found_as="link", chain=("https://a.org/",))
    chain = ("https://a.org/", "https://b.org/")
    assert follow_redirect(lease, "https://c.org/") == [Discovered("https://c.org/", 4, "redirect", 9, chain)]
    assert follow_redirect(lease, None) == []


def test_an_errand_stays_one_where_it_is_redirected() -> None:
    lease = Lease("page", "a.org", 1, "https://a.org/c.jsonld", url_id=9, found_as="context")
    assert follow_redirect(lease, "https://b.org/c.jsonld")[0].found_as == "context"
