"""What a crawl fetches for itself: names of outcomes, and pages that wait for contexts."""

import asyncio
from pathlib import Path

import pytest

from rdfspider.domains import Domains
from rdfspider.linked_documents import MAX_KEPT, KeptDocuments
from rdfspider.records import Capture, Discovered, Extraction, Lease, Link, Page, Verdict
from rdfspider.run import prerequisites
from rdfspider.run.prerequisites import (
    MAX_ASKED_BY_SITE,
    WAIT_S,
    Contexts,
    classify_prerequisite,
    is_context,
    trim_prerequisite,
)
from waiting import run_simulated

DOMAINS = Domains(b"org\n", 1)
FETCHED = Verdict("done", "fetched", 200)
URL, OTHER = "https://a.org/context", "https://b.org/context"
BODY = b'{"@context": {"@vocab": "http://v.org/"}}'


def make_lease(found_as: str = "context", url: str = URL, chain: tuple[str, ...] = ()) -> Lease:
    return Lease("page", "a.org", 1, url, url_id=7, depth=2, found_as=found_as, chain=chain)


def make_capture(body: bytes = BODY, headers: tuple[tuple[str, str], ...] = (), truncated: str = "") -> Capture:
    return Capture(Page(URL, body), 200, "OK", "1.1", headers, (), "127.0.0.1", 0.0, 0.0, 0, truncated)


def now() -> float:
    """The seconds that have been waited so far."""
    return asyncio.get_running_loop().time()


def extraction(*relations: str) -> Extraction:
    return Extraction(URL, "text/xml", links=tuple(Link("https://a.org/1", relation) for relation in relations))


@pytest.mark.parametrize(
    ("found_as", "url", "verdict", "relations", "is_inside", "reason"),
    [
        ("link", URL, FETCHED, [""], True, "fetched"),
        ("sitemap", URL, FETCHED, ["listed"], True, "sitemap"),
        ("sitemap", URL, FETCHED, ["", "item"], False, "sitemap"),
        ("sitemap", URL, FETCHED, [""], True, "fetched"),
        ("sitemap", URL, FETCHED, [""], False, "no-sitemap"),
        ("sitemap", "https://a.org/sitemap.xml", FETCHED, [""], True, "fetched"),
        ("sitemap", "https://a.org/sitemap.xml", FETCHED, [""], False, "no-sitemap"),
        ("sitemap", "https://a.org/all.xml.gz?x", FETCHED, [""], True, "fetched"),
        ("sitemap", "https://a.org/sitemap.xml", FETCHED, [], True, "no-sitemap"),
        ("sitemap", "https://a.org/sitemap.xml", Verdict("done", "status-404", 404), None, True, "no-sitemap"),
        ("sitemap", "https://a.org/sitemap.xml", Verdict("failed", "status-500", 500), None, True, "no-sitemap"),
        ("sitemap", "https://a.org/sitemap.xml", Verdict("retry", "status-500", 500), None, True, "status-500"),
        ("sitemap", "https://a.org/sitemap.xml", Verdict("done", "redirect", 302), None, True, "redirect"),
        ("sitemap", URL, Verdict("done", "status-404", 404), None, True, "status-404"),
        ("context", URL, FETCHED, [""], True, "fetched"),
        ("context", URL, FETCHED, [""], False, "no-context"),
        ("context", URL, FETCHED, None, True, "no-context"),
    ],
)
def test_outcomes_are_called_by_what_they_were_for(
    found_as: str, url: str, verdict: Verdict, relations: list[str] | None, is_inside: bool, reason: str
) -> None:
    read = None if relations is None else extraction(*relations)
    named = classify_prerequisite(make_lease(found_as, url), verdict, read, is_inside=is_inside)
    assert named.reason == reason
    assert named.is_page == (reason == "fetched")


def test_an_apology_in_the_place_of_a_sitemap_is_no_page() -> None:
    lease = make_lease("sitemap", "https://a.org/sitemap.xml")
    apology = Extraction(lease.url, "text/html", title="404 Not Found", links=(Link("https://a.org/"),))
    assert classify_prerequisite(lease, FETCHED, apology, is_inside=True).reason == "no-sitemap"
    # Where somebody promised one, it is for the judge of pages to say what it is.
    assert classify_prerequisite(make_lease("sitemap"), FETCHED, apology, is_inside=True).reason == "fetched"


@pytest.mark.parametrize("found_as", ["link", "seed", "listed", "sitemap"])
def test_a_sitemap_is_no_page_if_it_was_asked_for_as_one(found_as: str) -> None:
    empty = Extraction(URL, "application/xml", is_sitemap=True)
    for is_inside in (True, False):
        named = classify_prerequisite(make_lease(found_as), FETCHED, empty, is_inside=is_inside)
        assert named.reason == ("sitemap" if found_as == "sitemap" else "fetched")


def test_no_site_uses_up_the_contexts_of_all(tmp_path: Path) -> None:
    async def scenario() -> None:
        waiting = Waiting(tmp_path)
        waiting.contexts.call_off()

        async def ask(host: str, urls: range) -> int:
            before = len(waiting.scheduled)
            page = Extraction(
                f"https://{host}/", "text/html", missing_documents=tuple(f"https://{host}/{url}" for url in urls)
            )
            lease = Lease("page", host, 1, page.url, url_id=7, found_as="link")
            waiting.contexts.go_on()
            task = asyncio.create_task(waiting.contexts.complete(lease, Page(page.url, b""), page, waiting.read))
            await asyncio.sleep(0)
            waiting.contexts.call_off()
            await task
            return len(waiting.scheduled) - before

        assert sum([await ask("www.a.org", range(5 * page, 5 * page + 5)) for page in range(100)]) == MAX_ASKED_BY_SITE
        assert await ask("shop.a.org", range(5)) == 0
        assert await ask("www.b.org", range(5)) == 5

    run_simulated(scenario())


def test_nothing_is_kept_of_what_is_no_sitemap() -> None:
    read = Extraction(URL, "text/html", statements={"rdfa": "x"}, text="words", links=(Link("https://a.org/1"),))
    lease = make_lease("sitemap")
    nothing = Extraction(URL, "text/html")
    assert trim_prerequisite(lease, Verdict("done", "no-sitemap", 200), read, is_inside=True) == nothing
    assert trim_prerequisite(lease, Verdict("done", "sitemap", 200), read, is_inside=True) is read


@pytest.mark.parametrize("url", ["https://a.org/sitemap.xml", "https://a.org/all.xml.gz?x"])
def test_of_a_page_where_a_list_should_be_only_the_links_count(url: str) -> None:
    lease, links = make_lease("sitemap", url), (Link("https://a.org/1"),)
    home = Extraction(url, "text/html", statements={"rdfa": "x"}, text="words", title="Home", links=links)
    verdict = classify_prerequisite(lease, FETCHED, home, is_inside=True)
    assert verdict.reason == "no-sitemap"
    assert trim_prerequisite(lease, verdict, home, is_inside=True) == Extraction(url, "text/html", links=links)
    assert trim_prerequisite(lease, verdict, home).links == ()
    # A person, or a link, wants the page itself.
    assert classify_prerequisite(make_lease("link", url), FETCHED, home, is_inside=True).reason == "fetched"


@pytest.mark.parametrize(
    ("body", "is_one", "is_alone"),
    [
        (BODY, True, True),
        (b'{"@context": "x", "name": "y"}', True, False),
        (b'[{"@context": {}}]', False, False),
        (b'{"@context": ', False, False),
        (b'{"@context": ' + b"[" * 100_000, False, False),
        (b'\xff{"@context": {}}', False, False),
    ],
)
def test_what_is_a_context(body: bytes, is_one: bool, is_alone: bool) -> None:
    assert (is_context(body), is_context(body, is_alone=True)) == (is_one, is_alone)


class Waiting:
    """Pages of a shard that name contexts; `scheduled` is what was asked for."""

    def __init__(self, folder: Path, attempts: int = 0) -> None:
        self.documents = KeptDocuments(folder / "documents")
        self.scheduled: list[Discovered] = []
        self.contexts = Contexts(self.documents, self.scheduled.extend, DOMAINS.domain, attempts=attempts)

    async def read(self, page: Page) -> Extraction:
        wanted = [url for url in (URL, OTHER) if self.documents(url) is None]
        return Extraction(page.url, "text/html", missing_documents=tuple(wanted), text=f"without {len(wanted)}")

    async def complete(self) -> str | None:
        page = Page("https://c.org/", b"12345")
        found = await self.contexts.complete(make_lease("link"), page, await self.read(page), self.read)
        return None if found is None else found.text


def test_nobody_waits_for_a_context_whose_address_is_too_long(tmp_path: Path) -> None:
    async def scenario() -> None:
        waiting = Waiting(tmp_path)
        page = Extraction(
            "https://c.org/", "text/html", missing_documents=(f"https://a.org/{'x' * 10_000}",), text="as it is"
        )
        lease, body = make_lease("link"), Page("https://c.org/", b"12345")
        assert await waiting.contexts.complete(lease, body, page, waiting.read) is page
        assert now() == 0
        assert not waiting.scheduled

    run_simulated(scenario())


def test_a_page_is_read_again_when_its_contexts_have_come(tmp_path: Path) -> None:
    async def scenario() -> None:
        waiting = Waiting(tmp_path)
        tasks = [asyncio.create_task(waiting.complete()) for _ in range(3)]
        await asyncio.sleep(0.01)
        assert waiting.scheduled == [Discovered(url, 2, "context", 7) for url in (URL, OTHER)]
        assert waiting.contexts.waiting_bytes == 15
        waiting.contexts.take(make_lease(url="https://a.org/moved", chain=(URL,)), make_capture())
        # Another shard writes it.
        KeptDocuments(tmp_path / "documents").keep(OTHER + "#fragment", BODY)
        assert await asyncio.gather(*tasks) == ["without 0"] * 3
        assert not waiting.contexts.waiting_bytes
        assert await waiting.complete() == "without 0"

    run_simulated(scenario())


def test_what_cannot_be_had_is_not_waited_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        waiting = Waiting(tmp_path)
        task = asyncio.create_task(waiting.complete())
        await asyncio.sleep(0.01)
        waiting.contexts.take(make_lease(), make_capture())
        waiting.contexts.settle(make_lease(url=OTHER), Verdict("retry", "timeout"), ())
        assert not waiting.documents.is_known(OTHER)
        waiting.contexts.settle(make_lease(url=OTHER), Verdict("failed", "timeout"), ())
        assert await task == "without 1"
        # Neither now nor in the next life of the shard.
        before = now()
        assert await waiting.complete() == "without 1"
        assert await Waiting(tmp_path).complete() == "without 1"
        assert now() == before
        assert len(waiting.scheduled) == 2

    run_simulated(scenario())


def test_nobody_waits_for_long_nor_do_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(prerequisites, "MAX_WAITING", 2)
        waiting = Waiting(tmp_path)
        tasks = [asyncio.create_task(waiting.complete()) for _ in range(5)]
        await asyncio.sleep(0.01)
        assert sum(task.done() for task in tasks) == 3
        assert await asyncio.gather(*tasks) == ["without 2"] * 5
        assert (before := now()) == pytest.approx(WAIT_S)
        assert await waiting.complete() == "without 2"
        assert now() == before

    run_simulated(scenario())


def test_a_page_is_fetched_again_for_a_context_that_comes_late(tmp_path: Path) -> None:
    async def scenario() -> None:
        waiting = Waiting(tmp_path, attempts=2)
        assert await waiting.complete() is None
        for url in (URL, OTHER):
            waiting.documents.keep(url, BODY)
        assert await waiting.complete() == "without 0"

    run_simulated(scenario())


def test_pages_are_not_fetched_again_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        waiting = Waiting(tmp_path, attempts=2)
        assert [await waiting.complete() for _ in range(3)] == [None, None, "without 2"]
        # From now on nobody waits for these, and no page is sent back.
        before = now()
        assert await waiting.complete() == "without 2"
        assert now() == before
        assert len(waiting.scheduled) == 2
        # What cannot wait because too many do comes again too, and so does not lose its data.
        monkeypatch.setattr(prerequisites, "MAX_WAITING", 0)
        (tmp_path / "other").mkdir()
        full = Waiting(tmp_path / "other", attempts=1)
        assert [await full.complete() for _ in range(2)] == [None, "without 2"]

    run_simulated(scenario())


def test_pages_that_wait_are_fetched_again_when_there_is_no_time(tmp_path: Path) -> None:
    async def scenario() -> None:
        waiting = Waiting(tmp_path)
        task = asyncio.create_task(waiting.complete())
        await asyncio.sleep(0.01)
        waiting.contexts.call_off()
        before = now()
        assert await task is None
        assert await waiting.complete() is None
        assert now() == before
        waiting.contexts.go_on()
        for url in (URL, OTHER):
            waiting.documents.keep(url, BODY)
        assert await waiting.complete() == "without 0"

    run_simulated(scenario())


def test_a_context_may_be_elsewhere(tmp_path: Path) -> None:
    async def scenario() -> None:
        contexts, documents = (waiting := Waiting(tmp_path)).contexts, waiting.documents
        page = make_capture(b"<html>", (("Link", f'<{OTHER}>; rel="alternate"; type="application/ld+json"'),))
        taken = contexts.take(make_lease(), page)
        target = Discovered(OTHER, 2, "context", 7, (URL,))
        assert taken == ("no-context", [target])
        assert contexts.lead(make_lease(), [target]) == [target]
        # What is kept already serves under this name too.
        documents.keep(OTHER, BODY)
        assert contexts.lead(make_lease(), [target]) == ()
        assert documents(URL) == BODY
        # In a circle there is none.
        assert contexts.lead(make_lease(chain=(OTHER,)), [target]) == ()

    run_simulated(scenario())


def test_a_context_that_is_cut_is_none(tmp_path: Path) -> None:
    async def scenario() -> None:
        waiting = Waiting(tmp_path)
        assert waiting.contexts.take(make_lease(), make_capture(truncated="length")) is None
        assert waiting.documents(URL) is None
        assert waiting.documents.is_known(URL)

    run_simulated(scenario())


def test_pure_contexts_are_kept_however_they_were_found(tmp_path: Path) -> None:
    async def scenario() -> None:
        waiting = Waiting(tmp_path)
        waiting.contexts.take_found(Page(URL, BODY), "application/ld+json")
        waiting.contexts.take_found(Page(OTHER, b'{"@context": {}, "name": "x"}'), "application/ld+json")
        assert waiting.documents(URL) == BODY
        assert waiting.documents(OTHER) is None

    run_simulated(scenario())


def test_documents_are_bounded_in_number_and_cannot_leave_their_folder(tmp_path: Path) -> None:
    documents = KeptDocuments(tmp_path / "documents")
    for number, url in enumerate(
        ["http://a.org/../../../x", "http://a.org/" + "x" * 5000, "\0", "http://a.org/%2e%2e/"]
    ):
        assert documents.keep(url, str(number).encode())
        assert documents(url) == str(number).encode()
    assert [path.name for path in tmp_path.iterdir()] == ["documents"]
    for number in range(MAX_KEPT):
        (tmp_path / "documents" / f"{number}.json").touch()
    assert not documents.keep("http://a.org/new", b"x")
    assert documents("http://a.org/new") is None


def test_what_the_user_has_comes_first(tmp_path: Path) -> None:
    documents = KeptDocuments(tmp_path / "documents", {URL: b"own"}.get)
    documents.keep(URL, b"kept")
    assert documents(URL) == b"own"
    assert documents(OTHER) is None
