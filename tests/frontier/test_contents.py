"""Contents that were seen: who had a body first, which texts of a domain are alike, and what is forgotten when pages change."""

from pathlib import Path

import pytest
from tests.frontier.conftest import DAY_S, Crawler, HandClock, OpenFrontier, capture, kill

from rdfspider.archive.warc import compute_digest
from rdfspider.config import Config, CrawlConfig
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.contents import find_claim_owner, pack_digest
from rdfspider.frontier.entries import PageFacts
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Discovered, Fingerprint, Judgement, Lease
from rdfspider.run.peers.messages import decode_outbox_entry

SIMHASH = 0x0123_4567_89AB_CDEF
REVISIT = {"revisit_s": DAY_S}


def digest_of(text: str) -> str:
    return compute_digest(text.encode())


class Pages:
    """Fetches pages of a frontier that have the contents that a test gives them."""

    def __init__(self, frontier: Frontier, clock: HandClock) -> None:
        self.frontier = frontier
        self.clock = clock
        self.crawler = Crawler(frontier, clock)

    def lease(self, url: str) -> Lease:
        self.frontier.add([Discovered(url)])
        lease = self.crawler.next_page()
        assert lease.url == url
        return lease

    def lease_again(self) -> Lease:
        self.frontier.commit()
        self.clock.advance(DAY_S + 1)
        return self.crawler.next_page()

    def find_alike(self, lease: Lease, simhash: int = SIMHASH) -> list[str]:
        return [url for url, _ in self.frontier.contents.find_alike(lease, Fingerprint(simhash, 1, False))]

    def record(self, lease: Lease, digest: str = "", judgement: Judgement | None = None, status: int = 200) -> None:
        verdict = self.frontier.release(lease, capture(lease.url, status))
        self.frontier.finish(lease, verdict, PageFacts(digest=digest, judgement=judgement or Judgement(digest=digest)))


@pytest.fixture
def pages(open_frontier: OpenFrontier, clock: HandClock) -> Pages:
    return Pages(open_frontier(crawl=REVISIT), clock)


def test_the_first_who_claims_a_content_has_it(pages: Pages, open_frontier: OpenFrontier) -> None:
    key = pack_digest(digest_of("content"))
    claim = pages.frontier.contents.claim
    assert claim(key, "http://a.test/") == "http://a.test/"
    assert claim(key, "http://b.test/") == "http://a.test/"
    pages.frontier.commit()
    kill(pages.frontier)
    claim = open_frontier(crawl=REVISIT).contents.claim
    assert claim(key, "http://b.test/") == "http://a.test/"
    assert claim(key, "http://a.test/") == "http://a.test/"


def test_a_claim_that_was_not_committed_is_free_after_a_kill(pages: Pages, open_frontier: OpenFrontier) -> None:
    key = pack_digest(digest_of("content"))
    pages.frontier.contents.claim(key, "http://a.test/")
    kill(pages.frontier)
    assert open_frontier(crawl=REVISIT).contents.claim(key, "http://b.test/") == "http://b.test/"


@pytest.mark.parametrize(("status", "digest"), [(200, digest_of("new")), (404, ""), (410, "")])
def test_a_page_that_changes_or_goes_releases_its_old_content(pages: Pages, status: int, digest: str) -> None:
    lease, old = pages.lease("http://a.test/"), digest_of("old")
    pages.frontier.contents.claim(pack_digest(old), lease.url)
    pages.record(lease, old)
    again = pages.lease_again()
    assert again.digest == old
    assert pages.frontier.contents.claim(pack_digest(old), "http://b.test/") == "http://a.test/"
    pages.record(again, digest, status=status)
    assert pages.frontier.contents.claim(pack_digest(old), "http://b.test/") == "http://b.test/"


def test_a_page_that_stays_or_cannot_be_had_for_now_keeps_its_content(pages: Pages) -> None:
    lease, old = pages.lease("http://a.test/"), digest_of("old")
    pages.frontier.contents.claim(pack_digest(old), lease.url)
    pages.record(lease, old)
    for status in (304, 503, 200):
        again = pages.lease_again()
        pages.record(again, old if status == 200 else "", status=status)
        assert pages.frontier.contents.claim(pack_digest(old), "http://b.test/") == "http://a.test/"


@pytest.mark.parametrize("is_due", [False, True])
def test_a_page_that_the_archive_has_lost_releases_its_content(pages: Pages, clock: HandClock, is_due: bool) -> None:
    """Also where it waits to be fetched again: it may have other content then, or none."""
    lost, kept = digest_of("lost"), digest_of("kept")
    for number, (name, digest) in enumerate([("kept", kept), ("lost", lost)]):
        lease = pages.lease(f"http://a.test/{name}")
        assert pages.frontier.contents.claim(pack_digest(digest), lease.url) == lease.url
        verdict = pages.frontier.release(lease, capture(lease.url))
        pages.frontier.finish(lease, verdict, PageFacts(digest=digest, position=("facts-1", number * 100)))
    pages.frontier.commit()
    if is_due:
        clock.advance(DAY_S + 1)
        assert pages.frontier.lease() is None
        pages.frontier.commit()
        assert pages.frontier.counts.scheduled == 2
    assert pages.frontier.restarts.reschedule_lost(lambda segment, offset: (segment, offset) >= ("facts-1", 100)) == 1
    assert pages.frontier.contents.claim(pack_digest(lost), "http://b.test/") == "http://b.test/"
    assert pages.frontier.contents.claim(pack_digest(kept), "http://b.test/") == "http://a.test/kept"


def test_a_duplicate_that_changes_releases_nothing(pages: Pages) -> None:
    old = digest_of("old")
    pages.frontier.contents.claim(pack_digest(old), "http://first.test/")
    lease = pages.lease("http://a.test/")
    pages.record(lease, old, Judgement(digest=old, duplicate="exact", original="http://first.test/"))
    pages.record(pages.lease_again(), digest_of("new"))
    assert pages.frontier.contents.claim(pack_digest(old), "http://b.test/") == "http://first.test/"


def test_a_release_that_concerns_another_shard_goes_there_with_the_links(tmp_path: Path, clock: HandClock) -> None:
    shards = Domains(bundled_suffix_list(), 2)
    config = Config(crawl=CrawlConfig(revisit_s=DAY_S))
    sender, receiver = (Frontier(tmp_path / str(number), config, shards, number, clock) for number in range(2))
    old = next(digest_of(str(n)) for n in range(99) if find_claim_owner(pack_digest(digest_of(str(n))), 2) == 1)
    pages = Pages(sender, clock)
    receiver.contents.claim(pack_digest(old), "http://a.test/")
    pages.record(pages.lease("http://a.test/"), old)
    pages.record(pages.lease_again(), digest_of("new"))
    sender.commit()
    [(cursor, payload)] = sender.outbox.read(1, (0, 0), 1_000)
    releases = decode_outbox_entry(payload)
    assert releases == {pack_digest(old): "http://a.test/"}
    for _ in range(2):
        # It may come twice.
        if receiver.inbox.accept(0, cursor, (0, 0)):
            assert isinstance(releases, dict)
            for key, url in releases.items():
                receiver.contents.release(key, url)
    receiver.commit()
    assert receiver.inbox.cursor(0) == cursor
    assert receiver.contents.claim(pack_digest(old), "http://b.test/") == "http://b.test/"
    sender.close()
    receiver.close()


def test_pages_of_one_domain_with_nearly_the_same_text_are_found(pages: Pages, open_frontier: OpenFrontier) -> None:
    first = pages.lease("http://www.a.test/1")
    assert pages.find_alike(first) == []
    # It is not recorded yet, and known all the same.
    second = pages.lease("http://shop.a.test/2")
    for bits in (0, 0b111, 1 << 63 | 1 << 31 | 1, 7 << 47):
        assert pages.find_alike(second, SIMHASH ^ bits) == ["http://www.a.test/1"]
    assert pages.find_alike(second, SIMHASH ^ 0b1111) == []
    pages.record(first, judgement=Judgement(simhash=SIMHASH))
    assert pages.find_alike(second, SIMHASH ^ 1) == ["http://www.a.test/1"]
    pages.frontier.commit()
    kill(pages.frontier)
    pages = Pages(open_frontier(crawl=REVISIT), pages.clock)
    pages.clock.advance(DAY_S / 2)
    second = pages.crawler.next_page()
    assert pages.find_alike(second, SIMHASH ^ 1) == ["http://www.a.test/1"]
    assert pages.find_alike(pages.lease("http://b.test/")) == []


def test_what_was_only_met_is_forgotten_with_the_process(pages: Pages, open_frontier: OpenFrontier) -> None:
    pages.find_alike(pages.lease("http://a.test/1"))
    pages.frontier.commit()
    kill(pages.frontier)
    pages = Pages(open_frontier(crawl=REVISIT), pages.clock)
    pages.crawler.next_page()
    assert pages.find_alike(pages.lease("http://www.a.test/2")) == []


def test_a_page_that_repeats_another_is_not_found_itself(pages: Pages) -> None:
    first, second = pages.lease("http://a.test/1"), pages.lease("http://www.a.test/2")
    pages.find_alike(first)
    pages.record(first, judgement=Judgement(simhash=SIMHASH))
    pages.find_alike(second)
    pages.record(second, judgement=Judgement(simhash=SIMHASH, duplicate="near", original=first.url))
    assert pages.find_alike(pages.lease("http://shop.a.test/3")) == ["http://a.test/1"]


@pytest.mark.parametrize("status", [200, 404])
def test_the_simhash_of_a_page_that_changes_or_goes_is_removed(pages: Pages, status: int) -> None:
    first = pages.lease("http://a.test/1")
    pages.find_alike(first)
    pages.record(first, judgement=Judgement(simhash=SIMHASH))
    again = pages.lease_again()
    new = SIMHASH ^ 0xFFFF if status == 200 else 0
    if new:
        assert pages.find_alike(again, new) == []
    pages.record(again, judgement=Judgement(simhash=new), status=status)
    other = pages.lease("http://www.a.test/2")
    assert pages.find_alike(other) == []
    assert bool(pages.find_alike(other, SIMHASH ^ 0xFFFF)) == bool(new)
    pages.frontier.commit()
    rows = pages.frontier._store.tables["likenesses"].scan(b"", b"\xff" * 12)
    assert len(rows) == (4 if new else 0)


def test_a_row_of_simhashes_does_not_grow_for_ever(pages: Pages) -> None:
    simhashes = pages.frontier.contents._simhashes
    for number in range(1, 40):
        simhashes.meet("a.test", number, Fingerprint(SIMHASH, 0, False))
        simhashes.record("a.test", number, 0, is_kept=True)
    found = simhashes.meet("a.test", 99, Fingerprint(SIMHASH, 0, False))
    assert list(found) == list(range(39, 23, -1))


def test_what_was_taken_for_an_absence_is_compared_with_nothing(pages: Pages) -> None:
    digest = digest_of("is it there?")
    lease = pages.lease("http://a.test/")
    pages.record(lease, digest, Judgement(digest=digest, duplicate="soft-404"))
    lease = pages.lease_again()
    assert lease.digest == "", "if it is a page now, what it says has to come as a whole"
    pages.record(lease, digest)
    assert pages.lease_again().digest == digest
