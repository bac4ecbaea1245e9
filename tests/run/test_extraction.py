"""Who reads a page, and what pages hold that wait."""

import asyncio
import gzip
from pathlib import Path

from rdfspider.config import Config, ExtractConfig
from rdfspider.pipeline import extract_from
from rdfspider.records import Page
from rdfspider.run.extraction import Readings, read_page
from rdfspider.run.heartbeat import Meter
from rdfspider.run.heavy_pages import LargePages, Suspects
from rdfspider.run.peers.permits import PermitPool

QUERY = "SELECT ?url { ?thing <http://schema.org/url> ?url }"
BODY = b'<p vocab="http://schema.org/" typeof="Thing"><a property="url" href="/x">x</a>' + b" " * 5000


def test_pages_that_wait_for_a_query_count_with_all_they_hold(tmp_path: Path) -> None:
    page = Page("http://example.org/", BODY, "text/html")
    config = Config()
    permits = PermitPool(False, lambda count: None, lambda count: None)
    readings = Readings(tmp_path, tmp_path, config, Meter(), permits, lambda found: None, str, lambda: None)
    extraction = extract_from(page, config.extract)

    async def ask() -> list[tuple[int, int]]:
        asked = [asyncio.create_task(readings.query(QUERY, page, extraction)) for _ in range(3)]
        await asyncio.sleep(0)
        held = [(readings.waiting_bytes, readings.waiting_body_bytes)]
        assert [found for found, _ in await asyncio.gather(*asked)] == [["http://example.org/x"]] * 3
        return [*held, (readings.waiting_bytes, readings.waiting_body_bytes)]

    held = asyncio.run(ask())
    readings.close()
    statements = 2 * len(extraction.to_nquads())
    assert statements
    assert held == [(3 * (len(BODY) + statements), 3 * len(BODY)), (0, 0)]


def test_what_is_packed_is_read_by_the_helper_however_short_it_is(tmp_path: Path) -> None:
    large_pages, suspects = LargePages(60), Suspects(tmp_path)
    sitemap = b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://example.org/x</loc></url></urlset>"

    def read(body: bytes) -> bool:
        """Whether there is a helper then."""
        page = Page("http://example.org/sitemap.xml", body, "application/xml")
        found = asyncio.run(read_page(page, ExtractConfig(), large_pages, suspects, Meter()))
        assert found.is_sitemap
        return large_pages._helper._process is not None

    assert not read(sitemap)
    assert read(gzip.compress(sitemap))
    large_pages.close()
    suspects.close()
