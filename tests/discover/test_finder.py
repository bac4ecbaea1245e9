"""What pages and redirects lead to."""

from collections import Counter

import pytest

from rdfspider.config import CrawlConfig
from rdfspider.discover.finder import LAST, Finder, follow_redirect
from rdfspider.domains import Domains
from rdfspider.records import Capture, Discovered, Extraction, Judgement, Lease, Link, Page, Robots

SEED = "https://www.example.org/shop/tea.html"
DOMAINS = Domains(b"org\n", 1)
PAGE = Lease("page", "www.example.org", 1, SEED, url_id=7, found_as="link")
NONE = CrawlConfig(ways=())
NOTHING_ASKED = Judgement()


def find(
    config: CrawlConfig,
    *links: Link,
    lease: Lease = PAGE,
    judgement: Judgement = NOTHING_ASKED,
    headers: tuple[tuple[str, str], ...] = (),
    nquads: str = "",
    turned_away: Counter[str] | None = None,
) -> list[Discovered]:
    capture = Capture(Page(lease.url, b""), 200, "OK", "1.1", headers, (), "127.0.0.1", 0.0, 0.0, 0)
    statements = {"rdf": nquads} if nquads else {}
    is_sitemap = any(link.relation == "listed" for link in links)
    extraction = Extraction(lease.url, "text/html", links=links, statements=statements, is_sitemap=is_sitemap)
    finder = Finder(config, DOMAINS, is_inside=lambda url: "example.org" in url, turned_away=turned_away)
    return finder.find(lease, capture, extraction, judgement)


def ways(found: list[Discovered]) -> dict[str, str]:
    return {link.url: link.found_as for link in found}


def test_a_page_gives_each_link_once_one_step_deeper() -> None:
    links = [Link(f"https://example.org/{path}", nofollow=path == "c") for path in "abac"]
    lease = Lease("page", "example.org", 1, SEED, url_id=7, depth=2)
    found = find(CrawlConfig(ways=(), depth=3), *links, lease=lease)
    assert found == [Discovered(f"https://example.org/{path}", 3, "link", 7) for path in "ab"]


def test_a_page_that_is_deep_enough_or_says_nofollow_gives_none() -> None:
    link, config = Link("https://example.org/a"), CrawlConfig(ways=(), depth=2)
    assert find(config, link, lease=Lease("page", "example.org", 1, SEED, depth=2)) == []
    assert find(config, link, judgement=Judgement(robots=Robots(nofollow=True))) == []


@pytest.mark.parametrize(
    ("relation", "depth", "robots", "expected"),
    [
        ("", 0, Robots(), {"nofollow": 1}),
        ("", 0, Robots(nofollow=True), {"nofollow": 3}),
        ("", 2, Robots(), {"depth": 3}),
        ("", 2, Robots(nofollow=True), {"nofollow": 3}),
        ("listed", 0, Robots(nofollow=True), {"nofollow": 3}),
        ("listed", 2, Robots(), {"depth": 3}),
        ("listed", 0, Robots(), {}),
    ],
)
def test_links_that_are_not_followed_are_counted(
    relation: str, depth: int, robots: Robots, expected: dict[str, int]
) -> None:
    links = [Link(f"https://example.org/{path}", relation, nofollow=path == "c") for path in "abacc"]
    lease = Lease("page", "example.org", 1, SEED, url_id=7, depth=depth)
    turned_away = Counter[str]()
    config = CrawlConfig(ways=("sitemaps",), depth=2)
    find(config, *links, lease=lease, judgement=Judgement(robots=robots), turned_away=turned_away)
    assert turned_away == expected


def test_the_links_of_a_page_that_repeats_another_come_last_but_for_its_own_address() -> None:
    links = [Link("https://example.org/a"), Link("https://example.org/b", "canonical")]
    found = find(NONE, *links, judgement=Judgement(duplicate="canonical"))
    assert [(link.found_as, link.rank) for link in found] == [("link", LAST), ("canonical", 0)]


@pytest.mark.parametrize(
    ("relation", "media_type", "way"),
    [
        ("", "", "link"),
        ("iframe", "", "link"),
        ("Next", "", "next"),
        ("prev", "", "next"),
        ("canonical", "", "canonical"),
        ("alternate", "text/turtle", "alternate"),
        ("alternate home", "application/rss+xml", "alternate"),
        ("describedby", "application/ld+json", "alternate"),
        ("meta", "application/rdf+xml", "alternate"),
        # The same page in another language.
        ("alternate", "", "link"),
        ("alternate", "text/html", "link"),
    ],
)
def test_relations_tell_how_a_link_was_found(relation: str, media_type: str, way: str) -> None:
    link = Link("https://example.org/a", relation, media_type=media_type)
    assert ways(find(NONE, link)) == {link.target: way}
    # A plain link to the same page does not hide it.
    assert ways(find(NONE, Link(link.target), link, Link(link.target))) == {link.target: way}


def test_a_canonical_address_on_another_site_is_a_link() -> None:
    assert ways(find(NONE, Link("https://other.org/", "canonical"))) == {"https://other.org/": "link"}


def test_parameters_that_track_are_dropped() -> None:
    links = [Link("https://example.org/a?id=1&utm_source=x"), Link("https://example.org/a?id=1", "next")]
    assert ways(find(NONE, *links)) == {"https://example.org/a?id=1": "next"}
    assert len(find(CrawlConfig(ways=(), drop_parameters=()), *links)) == 2


def test_headers_count_as_links_do() -> None:
    headers = (
        ("link", '</next>; rel=next, </data>; rel="alternate"; type="text/turtle", </page>; rel=describedby'),
        ("Link", "</hidden>; rel='nofollow'"),
    )
    found = find(CrawlConfig(ways=("headers",)), headers=headers)
    assert ways(found) == {
        "https://www.example.org/page": "header",
        "https://www.example.org/next": "next",
        "https://www.example.org/data": "alternate",
    }
    assert find(NONE, headers=headers) == []


def test_data_leads_on_where_the_way_is_on() -> None:
    nquads = "".join(
        f"<{SEED}#it> <http://schema.org/url> <{target}> <{SEED}> .\n" for target in ("https://example.org/b#it", SEED)
    )
    assert ways(find(CrawlConfig(ways=("data",)), nquads=nquads)) == {"https://example.org/b": "data"}
    assert find(NONE, nquads=nquads) == []


def test_ontologies_are_found_whatever_the_depth_and_lead_nowhere() -> None:
    config = CrawlConfig(ways=("data", "ontologies"), depth=1)
    nquads = f'<{SEED}> <http://v.org/ns#name> "x" <{SEED}> .\n'
    assert find(config, lease=Lease("page", "a.org", 1, SEED, depth=1), nquads=nquads) == [
        Discovered("http://v.org/ns", 1, "ontology")
    ]
    for url, way in (("http://v.org/ns", []), ("https://example.org/ns/", ["https://a.org/"])):
        lease = Lease("page", "v.org", 1, url, found_as="ontology")
        assert [link.url for link in find(NONE, Link("https://a.org/"), lease=lease)] == way


def test_a_redirect_keeps_its_depth_and_its_chain() -> None:
    lease = Lease("page", "b.org", 1, "https://b.org/", url_id=9, depth=4, found_as="link", chain=("https://a.org/",))
    chain = ("https://a.org/", "https://b.org/")
    assert follow_redirect(lease, "https://c.org/") == [Discovered("https://c.org/", 4, "redirect", 9, chain)]
    assert follow_redirect(lease, None) == []


@pytest.mark.parametrize("way", ["context", "sitemap", "ontology", "seed"])
def test_an_errand_stays_one_where_it_is_redirected(way: str) -> None:
    lease = Lease("page", "a.org", 1, "https://a.org/c.jsonld", url_id=9, found_as=way)
    assert follow_redirect(lease, "https://b.org/c.jsonld")[0].found_as == way
