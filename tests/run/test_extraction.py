"""Who reads a page, and what pages hold that wait."""

import asyncio
import gzip
from pathlib import Path

from rdfspider.codes import Lane, LeaseKind, Reason
from rdfspider.config import Config, ExtractConfig
from rdfspider.frontier.frontier import HEAVY_S
from rdfspider.linked_documents import KeptDocuments
from rdfspider.pipeline import extract_from
from rdfspider.records import Extraction, Lease, Page
from rdfspider.run.extraction import Extractor, extract_page
from rdfspider.run.heartbeat import Meter
from rdfspider.run.heavy_pages import LARGE_PAGE_BYTES, LargePages, PoisonPages
from rdfspider.run.peers.permits import PermitPool
from rdfspider.run.prerequisites import Contexts

QUERY = "SELECT ?url { ?thing <http://schema.org/url> ?url }"
BODY = b'<p vocab="http://schema.org/" typeof="Thing"><a property="url" href="/x">x</a>' + b" " * 5000


def test_pages_that_wait_for_a_query_count_with_all_they_hold(tmp_path: Path) -> None:
    page = Page("http://example.org/", BODY, "text/html")
    config = Config()
    permits = PermitPool(False, lambda count: None, lambda count: None)
    contexts = Contexts(KeptDocuments(tmp_path), lambda found: None, str)
    extractor = Extractor(
        tmp_path, config, contexts, permits, Meter(), wake=lambda: None, charge=lambda lease, seconds: None
    )
    extraction = extract_from(page, config.extract)

    async def ask() -> list[tuple[int, int]]:
        asked = [asyncio.create_task(extractor.query(QUERY, page, extraction)) for _ in range(3)]
        await asyncio.sleep(0)
        held = [(extractor.waiting_bytes, extractor.waiting_body_bytes)]
        assert [found for found, _ in await asyncio.gather(*asked)] == [["http://example.org/x"]] * 3
        return [*held, (extractor.waiting_bytes, extractor.waiting_body_bytes)]

    held = asyncio.run(ask())
    extractor.close()
    statements = 2 * len(extraction.to_nquads())
    assert statements
    assert held == [(3 * (len(BODY) + statements), 3 * len(BODY)), (0, 0)]


def test_what_is_packed_is_read_by_another_process_however_short_it_is(tmp_path: Path) -> None:
    large_pages, poison_pages = LargePages(60, tmp_path / "turn"), PoisonPages(tmp_path)
    sitemap = b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://example.org/x</loc></url></urlset>"

    def read(body: bytes) -> bool:
        """Whether there is another process then."""
        page = Page("http://example.org/sitemap.xml", body, "application/xml")
        found = asyncio.run(extract_page(page, ExtractConfig(), large_pages, poison_pages, Meter()))
        assert found.is_sitemap
        return large_pages._calls.pid is not None

    assert not read(sitemap)
    assert read(gzip.compress(sitemap))
    large_pages.close()
    poison_pages.close()


def test_large_pages_that_cannot_wait_are_fetched_again_in_a_lane_that_is_let_in(tmp_path: Path) -> None:
    charged: list[tuple[str, float]] = []
    permits = PermitPool(False, lambda count: None, lambda count: None)
    extractor = Extractor(
        tmp_path,
        Config(),
        Contexts(KeptDocuments(tmp_path), lambda found: None, str),
        permits,
        Meter(),
        wake=lambda: None,
        charge=lambda lease, seconds: charged.append((lease.lane, seconds)),
    )
    large = Page("http://example.org/", b"<title>Long</title>" + b" " * 12_000_000, "text/html")
    small = Page("http://example.org/small", b"<title>Short</title>", "text/html")

    async def read() -> list[str]:
        jobs = [(Lane.OPEN, large, 0)] * 4 + [(Lane.HEAVY, large, 0), (Lane.OPEN, small, 0), (Lane.HEAVY, small, 0)]
        jobs += [(Lane.OPEN, large, 2), (Lane.OPEN, large, 3)]
        leases = [
            (Lease(LeaseKind.PAGE, "example.org", 1, page.url, lane=lane, heavy=times), page)
            for lane, page, times in jobs
        ]
        found = await asyncio.gather(*(extractor.extract(lease, page) for lease, page in leases))
        return [each if isinstance(each, Reason) else each.title or "" for each in found]

    assert asyncio.run(read()) == ["Long", "Long", "heavy", "heavy", "Long", "Short", "Short", "heavy", "Long"]
    # What is turned away counts as heavy, so that it is asked for in that lane.
    assert [seconds for lane, seconds in charged if lane == Lane.OPEN].count(1.0) == 3
    extractor.close()


def test_a_page_that_takes_long_is_left_to_the_other_process_and_its_host_is_heavy_at_once(tmp_path: Path) -> None:
    charged: list[float] = []
    meter = Meter()
    permits = PermitPool(False, lambda count: None, lambda count: None)
    extractor = Extractor(
        tmp_path,
        Config(),
        Contexts(KeptDocuments(tmp_path), lambda found: None, str),
        permits,
        meter,
        wake=lambda: None,
        charge=lambda lease, seconds: charged.append(seconds),
    )
    item = b'<div itemscope itemtype="https://schema.org/Thing"><p itemprop=name>a thing</p></div>'
    page = Page("http://example.org/", item * (LARGE_PAGE_BYTES // len(item)), "text/html")
    lease = Lease(LeaseKind.PAGE, "example.org", 1, page.url)
    alone = extract_from(page, Config().extract)

    async def read() -> Extraction | Reason:
        job = asyncio.create_task(extractor.extract(lease, page))
        await asyncio.sleep(0)
        assert len(charged) == 1, "before the other process has answered"
        return await job

    found = asyncio.run(read())
    extractor.close()
    assert found == alone
    here, there = charged
    # Other pages wait while a page is extracted here.
    assert HEAVY_S <= here < 20 * HEAVY_S
    assert meter.cpu_s["extract"] < 20 * HEAVY_S
    assert there > HEAVY_S
