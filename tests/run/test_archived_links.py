"""Links are found again in outcomes as they were found in pages."""

from msgspec.structs import replace

from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.archive.outlinks import describe_links
from rdfspider.config import CrawlConfig
from rdfspider.domains import Domains
from rdfspider.records import Link
from rdfspider.run.archived_links import ArchivedLinks, make_extraction

PAGE = Outcome("http://a.test/", 1.0, "", 0, 0, Effect.REPLACE, reason="fetched", status=200)
LINKS = [
    Link("http://a.test/both", "nofollow", "Both", True),
    Link("http://a.test/both"),
    Link("http://a.test/related", "sponsored", nofollow=True),
    Link("http://a.test/related", "noopener"),
    Link("http://a.test/framed", "ugc", nofollow=True),
    Link("http://a.test/framed", "iframe"),
    Link("http://a.test/bought", "sponsored", "Buy", True),
    Link("http://a.test/bought", "ugc", "Buy", True),
    Link("http://a.test/next", "next", "Next"),
]


def make_outcome(links: list[Link]) -> Outcome:
    return replace(PAGE, **describe_links(links)._asdict())


def test_a_target_is_followed_if_one_of_its_links_is() -> None:
    archived = ArchivedLinks(CrawlConfig(), Domains(b"test\n", 1), lambda url: True)
    found = {link.url: link.found_as for link in archived.find(make_outcome(LINKS), 1, is_own=True)}
    names = {url.rpartition("/")[2]: way for url, way in found.items()}
    assert names == {"both": "link", "related": "link", "framed": "link", "next": "next"}


def test_an_outcome_tells_what_its_page_shows_as_links() -> None:
    links = {link.target: link for link in make_extraction(make_outcome(LINKS)).links}
    assert links["http://a.test/both"] == Link("http://a.test/both", text="Both")
    assert links["http://a.test/bought"] == Link("http://a.test/bought", "sponsored ugc", "Buy", True)
    assert links["http://a.test/framed"] == Link("http://a.test/framed", "iframe")
