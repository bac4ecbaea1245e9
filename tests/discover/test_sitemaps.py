"""Where sitemaps are looked for, and what they may say."""

from collections.abc import Sequence

from rdfspider.config import CrawlConfig
from rdfspider.discover.finder import Finder
from rdfspider.discover.sitemaps import MAX_FILES, MAX_NAMED
from rdfspider.domains import Domains
from rdfspider.records import Capture, Discovered, Extraction, Judgement, Lease, Link, Page, Robots

DOMAINS = Domains(b"org\n", 1)
PAGE = Lease("page", "a.org", 1, "https://a.org/x", url_id=7, depth=3, found_as="link")
NOW = 1_700_000_000.0
REVISITING = CrawlConfig(ways=("sitemaps",), revisit_s=60)


def make_finder(named: Sequence[str] = (), config: CrawlConfig = REVISITING) -> Finder:
    return Finder(config, DOMAINS, list_sitemaps=lambda lease: named)


def find(finder: Finder, lease: Lease, *links: Link) -> list[Discovered]:
    capture = Capture(Page(lease.url, b""), 200, "OK", "1.1", (), (), "127.0.0.1", NOW, 0.0, 0)
    is_sitemap = any(link.relation in ("listed", "sitemap") for link in links)
    extraction = Extraction(lease.url, "application/xml", links=links, is_sitemap=is_sitemap)
    return finder.find(lease, capture, extraction, Judgement())


def listed(*urls: str) -> list[Link]:
    return [Link(url, "listed") for url in urls]


def make_lease(url: str = "https://a.org/s.xml", depth: int = 0, chain: tuple[str, ...] = ()) -> Lease:
    return Lease("page", "a.org", 1, url, url_id=9, depth=depth, found_as="sitemap", chain=chain)


def test_an_origin_is_asked_for_its_sitemap_once() -> None:
    finder = make_finder()
    assert find(finder, PAGE) == [Discovered("https://a.org/sitemap.xml", 0, "sitemap", 7)]
    assert find(finder, PAGE) == []
    other = Lease("page", "a.org", 1, "http://a.org:8080/x", found_as="link")
    assert [link.url for link in find(finder, other)] == ["http://a.org:8080/sitemap.xml"]


def test_robots_txt_names_others() -> None:
    finder = make_finder(["/1.xml", "https://cdn.org/2.xml", "/1.xml", "mailto:me", "http://" + "a." * 200 + "org/"])
    assert find(finder, PAGE) == [
        Discovered("https://a.org/1.xml", 0, "sitemap", 7),
        Discovered("https://cdn.org/2.xml", 0, "sitemap", 7, ("https://a.org/robots.txt",)),
    ]
    assert len(find(make_finder([f"/{number}.xml" for number in range(1000)]), PAGE)) == MAX_NAMED


def test_none_are_found_where_depth_is_limited_or_the_way_is_off() -> None:
    for config in (CrawlConfig(depth=9), CrawlConfig(ways=("data",))):
        assert find(make_finder(["/1.xml"], config), PAGE) == []


def test_a_list_speaks_for_its_own_domain_and_for_who_led_to_it() -> None:
    urls = ["https://a.org/1", "http://www.a.org/2", "https://b.org/3", "https://c.org/4"]
    assert [link.url for link in find(make_finder(), make_lease(), *listed(*urls))] == urls[:2]
    vouched = make_lease("https://c.org/s.xml", chain=("https://a.org/robots.txt",))
    found = find(make_finder(), vouched, *listed(*urls), Link("https://c.org/more.xml", "sitemap"))
    assert [link.url for link in found] == [urls[0], urls[1], urls[3], "https://c.org/more.xml"]
    assert found[-1].chain == vouched.chain


def test_priority_and_dates_are_hints() -> None:
    links = [
        Link("https://a.org/1", "listed", rank=-1, modified=NOW - 1000),
        Link("https://a.org/2", "listed", rank=1, modified=NOW - 1000),
        Link("https://a.org/3", "listed", rank=1, modified=NOW - 1e8),
        Link("https://a.org/4", "listed", modified=NOW + 1000),
    ]
    found = find(make_finder(), make_lease(), *links)
    assert [link.rank for link in found] == [-1, 0, 1, -1]
    # A date that is still to come is not believed; and dates are of use where pages are visited again.
    assert [link.modified for link in found] == [NOW - 1000, NOW - 1000, NOW - 1e8, 0.0]
    once = find(make_finder(config=CrawlConfig(ways=("sitemaps",))), make_lease(), *links)
    assert [link.modified for link in once] == [0.0] * 4


def test_lists_of_lists_end() -> None:
    link = Link("https://a.org/next.xml", "sitemap")
    assert find(make_finder(), make_lease(depth=1), link)[0].depth == 2
    assert find(make_finder(), make_lease(depth=2), link) == []
    finder = make_finder()
    many = [Link(f"https://a.org/{number}.xml", "sitemap") for number in range(600)]
    assert len(find(finder, make_lease(), *many)) == MAX_FILES
    # Those that are known are found again when the list is; others are not.
    assert len(find(finder, make_lease(), *many[:300])) == 300
    assert find(finder, make_lease(), *many[550:]) == []
    assert len(find(finder, make_lease("https://b.org/s.xml"), Link("https://b.org/1.xml", "sitemap"))) == 1


def test_a_list_that_a_page_links_to_is_one_too() -> None:
    found = find(make_finder(), PAGE, Link("https://a.org/more.xml", "sitemap"), *listed("https://a.org/1"))
    assert found == [
        Discovered("https://a.org/more.xml", 1, "sitemap", 7),
        Discovered("https://a.org/1", PAGE.depth + 1, "listed", 7),
    ]


def test_a_page_that_links_to_a_sitemap_is_none() -> None:
    links = (
        Link("https://a.org/map", "sitemap"),
        Link("https://a.org/secret", "nofollow", nofollow=True),
        Link("https://b.org/"),
    )
    capture = Capture(Page(PAGE.url, b""), 200, "OK", "1.1", (), (), "127.0.0.1", NOW, 0.0, 0)
    found = make_finder().find(PAGE, capture, Extraction(PAGE.url, "text/html", links=links), Judgement())
    assert [link.url for link in found] == ["https://a.org/sitemap.xml", "https://a.org/map", "https://b.org/"]


def test_parameters_that_track_are_dropped() -> None:
    links = listed("https://a.org/1?utm_source=map&x=1", "https://a.org/1?x=1", "https://a.org/2?utm_source=map")
    for config in (REVISITING, CrawlConfig(ways=("sitemaps",), depth=3)):
        found = find(make_finder(config=config), make_lease(), *links)
        assert [link.url for link in found] == ["https://a.org/1?x=1", "https://a.org/2"]


def test_a_list_may_be_kept_elsewhere() -> None:
    finder = make_finder()
    far = [Link(f"https://{number}.cdn{number}.org/s.xml", "sitemap") for number in range(MAX_FILES + 10)]
    found = find(finder, make_lease(depth=0), *far, Link("https://cdn.org/page", "listed"))
    assert found[0] == Discovered("https://0.cdn0.org/s.xml", 1, "sitemap", 9, ("https://a.org/s.xml",))
    # No list sends us to hosts without end, nor does one that was itself named from elsewhere.
    assert len(found) == MAX_FILES
    vouched = make_lease("https://c.org/s.xml", depth=1, chain=("https://a.org/s.xml",))
    assert find(make_finder(), vouched, far[0]) == []


def test_a_list_that_asks_not_to_be_followed_is_not() -> None:
    capture = Capture(Page("https://a.org/s.xml", b""), 200, "OK", "1.1", (), (), "127.0.0.1", NOW, 0.0, 0)
    extraction = Extraction("https://a.org/s.xml", "application/xml", links=tuple(listed("https://a.org/1")))
    asked = Judgement(robots=Robots(nofollow=True))
    assert make_finder().find(make_lease(), capture, extraction, asked) == []
