"""Pages and robots.txt fetched from a real server on loopback."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from typing import Any

import pytest

from loopback import Answer, Server, ok, run_loop, serving
from rdfspider.config import FetchConfig, FrontierConfig
from rdfspider.fetch import fetcher
from rdfspider.fetch.fetcher import ACCEPT, Fetcher
from rdfspider.records import Capture, Failure, Lease, Page, RobotsState

RULES = b"User-agent: *\nDisallow: /private\nCrawl-delay: 7\n"


class Clock:
    def now(self) -> float:
        return time.time()


class Gate:
    """Notes who was let through, and that each leave was given back before the next was asked for."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def acquire(self, address: str) -> None:
        self.log.append(f"acquire {address}")
        await asyncio.sleep(0)

    def release(self, address: str) -> None:
        self.log.append(f"release {address}")

    async def begin_side_request(self, host: str) -> float:
        self.log.append(f"begin {host}")
        return {"busy.test": 700.0, "dead.test": inf}.get(host, 0.0)

    def end_side_request(self, host: str, exchange: Capture | Failure) -> None:
        self.log.append(f"end {host}")


@asynccontextmanager
async def fetching(
    server: Server, *, delay_s: float = 0.0, wanted: tuple[str, ...] = (), **settings: Any
) -> AsyncIterator[Fetcher]:
    entries = (f"*.test=127.0.0.1:{server.port}", f"two.example=127.0.0.2:{server.port}", "dead.example=127.0.0.1:1")
    config = FetchConfig(**{"resolve": entries, **settings})
    # A name server that does not listen: every other name is an error at once.
    pace = FrontierConfig(delay_s=delay_s)
    fetcher = Fetcher(config, "rdfspider/1 (+x)", Clock(), pace=pace, wanted_types=wanted, nameservers=("127.0.0.1:1",))
    try:
        yield fetcher
    finally:
        await fetcher.close()


def page_lease(url: str, **fields: Any) -> Lease:
    return Lease("page", url.split("/")[2], 1, url, 1, addresses=("127.0.0.1",), **fields)


def robots_lease(previous: RobotsState | None = None, crawl_delay_s: float = 0.0) -> Lease:
    url = "http://a.test/robots.txt"
    return Lease("robots", "a.test", 1, url, addresses=("127.0.0.1",), robots=previous, crawl_delay_s=crawl_delay_s)


def fetch_page(
    answer: Answer, url: str = "http://a.test/page", wanted: tuple[str, ...] = (), **fields: Any
) -> tuple[Any, bytes]:
    async def main() -> tuple[Any, bytes]:
        path = "/" + url.split("/", 3)[3]
        async with serving({path: answer}) as server, fetching(server, wanted=wanted) as fetcher:
            exchange = await fetcher.fetch_page(page_lease(url, **fields), "127.0.0.1")
            return exchange, server.requests[0]

    return run_loop(main())


def fetch_robots(
    answers: dict[str, Answer],
    previous: RobotsState | None = None,
    delay_s: float = 0.0,
    crawl_delay_s: float = 0.0,
) -> tuple[RobotsState, Capture | Failure | None, float | None, list[str], list[bytes]]:
    async def main() -> Any:
        async with serving(answers, "0.0.0.0") as server, fetching(server, delay_s=delay_s) as fetcher:
            gate = Gate()
            lease = robots_lease(previous, crawl_delay_s)
            state, exchange, delay = await fetcher.fetch_robots(lease, "127.0.0.1", gate)
            return state, exchange, delay, gate.log, server.requests

    return run_loop(main())


def moved(location: str, status: int = 301) -> bytes:
    return f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


def test_a_page_is_asked_for_politely() -> None:
    exchange, request = fetch_page(ok(b"<p>", "Content-Type: text/html"))
    assert isinstance(exchange, Capture)
    assert exchange.page == Page("http://a.test/page", b"<p>", "text/html")
    assert f"\r\nAccept: {ACCEPT}\r\n".encode() in request
    assert b"\r\nUser-Agent: rdfspider/1 (+x)\r\n" in request
    assert b"\r\nHost: a.test\r\n" in request
    assert b"If-" not in request
    assert ACCEPT.startswith("text/html,")


def test_a_known_page_is_asked_for_only_if_changed() -> None:
    answer = b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'
    date = "Mon, 01 Jan 2024 00:00:00 GMT"
    exchange, request = fetch_page(answer, etag='W/"x"', last_modified=date)
    assert (exchange.status, exchange.page.body) == (304, b"")
    assert b'\r\nIf-None-Match: W/"x"\r\n' in request
    assert f"\r\nIf-Modified-Since: {date}\r\n".encode() in request


def test_what_a_server_said_once_cannot_add_headers() -> None:
    _, request = fetch_page(ok(b""), etag='"x"\r\nCookie: a=b', last_modified="x\ny: z\0")
    names = [line.split(b":")[0] for line in request.split(b"\r\n")[1:-2]]
    assert b"Cookie" not in names
    assert b"y" not in names


@pytest.mark.parametrize(
    "content_type",
    [
        "image/png",
        "video/mp4",
        "AUDIO/MPEG",
        "font/woff2",
        "text/css",
        "application/javascript; charset=utf-8",
        "application/zip",
        "application/pdf",
        "application/octet-stream",
        "application/vnd.ms-excel",
    ],
)
def test_types_without_statements_are_not_read(content_type: str) -> None:
    exchange, _ = fetch_page(ok(b"x" * 100, f"Content-Type: {content_type}"))
    assert (exchange.truncated, exchange.page.body) == ("unwanted", b"")
    assert exchange.page.content_type == content_type


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html",
        "",
        "nonsense",
        "application/rdf+xml",
        "image/svg+xml",
        "application/ld+json",
        "text/plain",
        "text/csv",
        "application/x-unknown",
        "application/vnd.geo+json",
        "*/*",
    ],
)
def test_other_types_are_read(content_type: str) -> None:
    exchange, _ = fetch_page(ok(b"x" * 100, f"Content-Type: {content_type}"))
    assert (exchange.truncated, len(exchange.page.body)) == ("", 100)


def test_rdf_that_is_sent_as_a_download_is_read() -> None:
    answer = ok(b"<a> <b> <c> .", "Content-Type: application/octet-stream")
    for url, truncated in (("http://a.test/x.TTL?y=1", ""), ("http://a.test/x.exe?y=.ttl", "unwanted")):
        exchange, _ = fetch_page(answer, url)
        assert exchange.truncated == truncated


@pytest.mark.parametrize(
    ("found_as", "best"),
    [("context", b"application/ld+json,"), ("ontology", b"text/turtle,"), ("sitemap", b"application/xml,")],
)
def test_what_is_no_page_for_people_is_asked_for_by_its_own_types(found_as: str, best: bytes) -> None:
    _, request = fetch_page(ok(b"x"), found_as=found_as)
    assert b"\r\nAccept: " + best in request


def test_packed_sitemaps_are_read() -> None:
    for content_type in ("application/gzip", "application/x-gzip", "application/octet-stream"):
        answer = ok(b"\x1f\x8b", f"Content-Type: {content_type}")
        assert not fetch_page(answer, found_as="sitemap")[0].truncated
        assert not fetch_page(answer, "http://a.test/s.xml.gz", found_as="link")[0].truncated
        assert fetch_page(answer, "http://a.test/s.tar.gz", found_as="link")[0].truncated == "unwanted"


def test_a_context_has_a_limit_of_its_own() -> None:
    answer = ok(b"x" * (fetcher.MAX_CONTEXT_BYTES + 1), "Content-Type: application/octet-stream")
    exchange, _ = fetch_page(answer, found_as="context")
    assert (exchange.truncated, len(exchange.page.body)) == ("length", fetcher.MAX_CONTEXT_BYTES)


def test_types_that_a_person_wants_are_read() -> None:
    for wanted in ("image/*", "image/png"):
        exchange, _ = fetch_page(ok(b"png", "Content-Type: image/png"), wanted=(wanted,))
        assert exchange.page.body == b"png"


def test_private_addresses_need_a_static_entry() -> None:
    async def main() -> None:
        async with serving({"/": ok(b"secret")}) as server, fetching(server) as fetcher:
            url = f"http://inside.example:{server.port}/"
            exchange = await fetcher.fetch_page(page_lease(url), "127.0.0.1")
            assert isinstance(exchange, Failure)
            assert exchange.code == "private"
            assert server.requests == []

    run_loop(main())


def test_connections_are_counted() -> None:
    async def main() -> None:
        async with serving({"/": ok(b"")}) as server, fetching(server) as fetcher:
            assert fetcher.open_connections == 0
            await fetcher.fetch_page(page_lease("http://a.test/"), "127.0.0.1")
            assert fetcher.open_connections == 1

    run_loop(main())


def test_robots_rules() -> None:
    state, exchange, delay_s, log, requests = fetch_robots({"/robots.txt": ok(RULES)})
    assert (state.rule, state.body, delay_s) == ("rules", RULES, 7.0)
    assert isinstance(exchange, Capture)
    assert log == ["acquire 127.0.0.1", "release 127.0.0.1"]
    assert b"Accept: text/plain" in requests[0]


def test_robots_that_are_missing_allow() -> None:
    state, _, delay_s, _, _ = fetch_robots({})
    assert (state.rule, delay_s) == ("allow", None)


def test_robots_of_a_failing_server_keep_the_last_good_copy() -> None:
    failing = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
    assert fetch_robots({"/robots.txt": failing})[0].rule == "unreachable"
    previous = RobotsState("rules", 1.0, 2.0, RULES, 1.0)
    state, _, delay_s, _, _ = fetch_robots({"/robots.txt": failing}, previous)
    assert (state.rule, state.body, delay_s) == ("rules", RULES, 7.0)


def test_robots_of_any_type_are_read_as_far_as_need_be() -> None:
    body = b"User-agent: *\nDisallow: /x\n" + b"# padding\n" * 100_000
    state, exchange, _, _, _ = fetch_robots({"/robots.txt": ok(body, "Content-Type: image/png")})
    assert state.rule == "rules"
    assert isinstance(exchange, Capture)
    assert exchange.truncated == "length"
    assert 500 * 1024 <= len(exchange.page.body) < 600 * 1024


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_robots_redirects_are_followed_to_other_hosts(status: int) -> None:
    answers: dict[str, Answer] = {
        "/robots.txt": moved("http://two.example/moved", status),
        "/moved": moved("/again", status),
        "/again": ok(RULES),
    }
    state, exchange, _, log, requests = fetch_robots(answers)
    assert state.body == RULES
    assert isinstance(exchange, Capture)
    assert exchange.page.url == "http://two.example/again"
    aside = ["begin two.example", "acquire 127.0.0.2", "release 127.0.0.2", "end two.example"]
    assert log == ["acquire 127.0.0.1", "release 127.0.0.1", *aside, *aside]
    assert b"Host: two.example\r\n" in requests[1]


def test_a_host_that_is_busy_is_not_asked_for_the_robots_txt_of_another() -> None:
    state, exchange, _, _, requests = fetch_robots({"/robots.txt": moved("http://busy.test/")})
    assert (state.rule, state.errors) == ("unreachable", 0)
    assert 700 <= state.expires - state.fetched <= 700 + FrontierConfig().backoff_s, (
        "it is asked again when that one is free"
    )
    assert isinstance(exchange, Failure) and exchange.code == "busy"
    assert len(requests) == 1


def test_a_robots_txt_that_leads_to_a_host_that_was_given_up_cannot_be_had() -> None:
    state, exchange, _, _, requests = fetch_robots({"/robots.txt": moved("http://dead.test/")})
    assert (state.rule, state.errors) == ("unreachable", 1)
    assert state.expires - state.fetched == pytest.approx(FrontierConfig().backoff_s)
    assert isinstance(exchange, Failure) and exchange.code == "unreachable"
    assert len(requests) == 1


def test_five_robots_redirects_are_followed_and_not_six() -> None:
    answers: dict[str, Answer] = {f"/{number}": moved(f"/{number + 1}") for number in range(1, 10)}
    answers["/robots.txt"] = moved("/1")
    answers["/5"] = ok(RULES)
    assert fetch_robots(answers)[0].rule == "rules"
    answers["/5"] = moved("/6")
    answers["/6"] = ok(RULES)
    state, exchange, _, _, requests = fetch_robots(answers)
    assert state.rule == "allow"
    assert isinstance(exchange, Capture)
    assert exchange.status == 301
    assert len(requests) == 6


def test_a_circle_of_robots_redirects_ends() -> None:
    answers: dict[str, Answer] = {"/robots.txt": moved("/a"), "/a": moved("/b"), "/b": moved("/a")}
    state, _, _, _, requests = fetch_robots(answers)
    assert state.rule == "allow"
    assert len(requests) == 3


@pytest.mark.parametrize("location", ["ftp://a.test/", "javascript:x", "http://", "http://[::1"])
def test_robots_redirects_to_nowhere_count_as_no_robots(location: str) -> None:
    assert fetch_robots({"/robots.txt": moved(location)})[0].rule == "allow"


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("http://unknown.example/", "dns"),
        ("http://127.0.0.1/", "private"),
        ("http://localhost/", "private"),
        ("http://dead.example:81/", "refused"),
    ],
)
def test_robots_redirects_to_what_cannot_be_asked(target: str, reason: str) -> None:
    state, exchange, _, _, requests = fetch_robots({"/robots.txt": moved(target)})
    assert (state.rule, state.reason) == ("unreachable", reason)
    assert isinstance(exchange, Failure)
    assert len(requests) == 1


def test_robots_redirects_wait_on_the_same_host_alone() -> None:
    same: dict[str, Answer] = {"/robots.txt": moved("/a"), "/a": ok(RULES)}
    before = time.monotonic()
    fetch_robots(same, delay_s=0.3)
    assert time.monotonic() - before >= 0.3
    other: dict[str, Answer] = {"/robots.txt": moved("http://two.example/a"), "/a": ok(RULES)}
    assert fetch_robots(other, delay_s=600)[0].rule == "rules", "who waited would not be done in time"


def slow(answer: bytes, duration_s: float) -> Answer:
    async def write(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(duration_s)
        writer.write(answer)
        await writer.drain()

    return write


@pytest.mark.parametrize(
    ("delay_s", "duration_s", "crawl_delay_s", "least_s"),
    [(0.01, 0.05, 0.0, 0.5), (0.01, 0.0, 0.4, 0.4), (0.0, 0.05, 600.0, 0.0)],
)
def test_redirects_on_its_own_host_keep_the_pace_of_pages(
    delay_s: float, duration_s: float, crawl_delay_s: float, least_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what the answer took, and by what its robots.txt asked for when it was last read; with no delay there is no pace."""
    monkeypatch.setattr(fetcher, "_MAX_HOP_S", 600.0)
    answers: dict[str, Answer] = {"/robots.txt": slow(moved("/a"), duration_s), "/a": ok(RULES)}
    before = time.monotonic()
    _, exchange, _, _, _ = fetch_robots(answers, delay_s=delay_s, crawl_delay_s=crawl_delay_s)
    assert time.monotonic() - before >= least_s
    # The clocks of server and crawler differ by a little.
    assert exchange and exchange.duration_s >= 0.9 * duration_s, "the slowest counts, not the last"


@pytest.mark.parametrize(("delay_s", "least_s"), [(0.4, 0.4), (0.01, 0.0)])
def test_what_a_site_asks_for_between_redirects_is_bounded_and_the_delay_is_not(
    delay_s: float, least_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher, "_MAX_HOP_S", 0.1)
    answers: dict[str, Answer] = {"/robots.txt": moved("/a"), "/a": ok(RULES)}
    before = time.monotonic()
    fetch_robots(answers, delay_s=delay_s, crawl_delay_s=600.0)
    assert time.monotonic() - before >= least_s


def test_what_another_host_took_is_not_held_against_the_first() -> None:
    answers: dict[str, Answer] = {"/robots.txt": moved("http://two.example/a"), "/a": slow(ok(RULES), 0.5)}
    before = time.monotonic()
    _, exchange, _, _, _ = fetch_robots(answers)
    # The clocks of server and crawler differ by a little.
    assert exchange and exchange.duration_s < time.monotonic() - before - 0.45


def test_leave_is_given_back_when_the_task_is_cancelled() -> None:
    async def main() -> None:
        async def be_silent(writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(10)

        async with serving({"/robots.txt": be_silent}) as server, fetching(server) as fetcher:
            gate = Gate()
            task = asyncio.create_task(fetcher.fetch_robots(robots_lease(), "127.0.0.1", gate))
            while not server.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert gate.log == ["acquire 127.0.0.1", "release 127.0.0.1"]

    run_loop(main())


@pytest.mark.parametrize(
    ("status", "location", "target"),
    [
        (301, "/b?c#d", "http://a.test/b?c"),
        (302, "//B.test", "http://b.test/"),
        (308, "/caf\u00c3\u00a9", "http://a.test/caf%C3%A9"),
        (200, "/b", None),
        (304, "/b", None),
        (301, "", None),
        (301, "mailto:x@example.org", None),
    ],
)
def test_where_redirects_lead_to(status: int, location: str, target: str | None) -> None:
    page = Page("http://a.test/a", b"")
    capture = Capture(page, status, "", "1.1", (("location", location),), (), "", 0.0, 0.0, 0)
    assert capture.redirect == target
