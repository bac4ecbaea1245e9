"""Who may start a request: as many as there are connections, and few while memory is short."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import pairwise
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

from rdfspider.config import Config, FetchConfig
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Capture, Page
from rdfspider.run.peers import admission
from rdfspider.run.peers.admission import AddressGate, Admission
from web import Answer, Web, crawl, make_page, make_site

ADDRESS = "192.0.2.1"


class Loop(asyncio.SelectorEventLoop):
    """A loop whose time a test can put forward."""

    ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self.ahead_s


class Held:
    """What the requests of a test have brought so far, and what is kept of earlier ones."""

    flight_bytes = 0
    kept_bytes = 0


def in_loop(test: Callable[[Admission, list[int]], Awaitable[None]], held: Held | None = None, **sizes: int) -> None:
    """Run a test with a passage of four connections, one while memory is short, and a list that grows with each entry."""
    config = FetchConfig(**{"connections": 4, "max_flight_bytes": 100, "max_body_bytes": 100, **sizes})
    held = held or Held()

    async def run() -> None:
        entered: list[int] = []
        gate = AddressGate(1, 0.0, Clock(), lambda owner, message: None)
        with TemporaryDirectory() as folder:
            frontier = Frontier(Path(folder), Config(), Domains(bundled_suffix_list(), 1), 0)
            road = Admission(
                gate,
                frontier,
                config,
                flight_bytes=lambda: held.flight_bytes,
                kept_bytes=lambda: held.kept_bytes,
                on_enter=lambda: entered.append(1),
            )
            await test(road, entered)
            frontier.close()

    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(run())


def start(road: Admission, count: int) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(road.acquire(ADDRESS)) for _ in range(count)]


async def settle() -> None:
    """Let everybody start who may."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_as_many_as_there_are_connections() -> None:
    async def check(road: Admission, entered: list[int]) -> None:
        waiting = start(road, 6)
        await asyncio.sleep(0)
        assert len(entered) == 4
        road.release(ADDRESS)
        road.release(ADDRESS)
        await asyncio.gather(*waiting)
        assert len(entered) == 6

    in_loop(check)


def test_patience_ends_when_others_wait() -> None:
    async def check(road: Admission, entered: list[int]) -> None:
        tasks = start(road, 4)
        await settle()
        assert road.patience_s() == inf
        tasks += start(road, 1)
        await settle()
        assert road.patience_s() == 2.0
        for _ in range(100):
            road.note_duration(4.0)
        # Where all servers are slow, none is far slower than others.
        assert road.patience_s() > 31.0
        for number in range(400):
            road.note_duration(60.0 if number % 20 == 0 else 0.1)
        assert road.patience_s() < 8.0, "a few that take a minute must not give all others time"
        road.release(ADDRESS)
        await asyncio.gather(*tasks)
        assert road.patience_s() == inf

    in_loop(check)


def test_one_waits_for_a_host_and_the_others_get_a_turn_each() -> None:
    """Thousands of names may lead to one host: they must not all wait where others could be asked."""

    async def check(road: Admission, entered: list[int]) -> None:
        assert await road.begin_side_request("parking.test") == 0
        waiting = asyncio.create_task(road.begin_side_request("parking.test"))
        await asyncio.sleep(0)
        turns = [await road.begin_side_request("parking.test") for _ in range(3)]
        assert all(later >= turn + 0.9 for turn, later in pairwise([0.0, *turns]))
        answer = Capture(Page("http://parking.test/", b""), 200, "OK", "1.1", (), (), ADDRESS, 0.0, 0.01, 0)
        road.end_side_request("parking.test", answer)
        assert await waiting == 0

    in_loop(check)


def test_few_start_while_memory_is_short_and_all_when_it_is_not() -> None:
    async def check(road: Admission, entered: list[int]) -> None:
        await asyncio.gather(*start(road, 4))
        road.narrow()
        waiting = start(road, 5)
        for _ in range(3):
            road.release(ADDRESS)
            await settle()
            assert len(entered) == 4, "one is still under way"
        road.release(ADDRESS)
        await settle()
        assert len(entered) == 5
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Loop)
        loop.ahead_s = admission._NARROW_S
        road.release(ADDRESS)
        await asyncio.gather(*waiting)
        assert len(entered) == 9

    in_loop(check)


def test_what_is_kept_leaves_less_room_until_it_is_let_go_of() -> None:
    held = Held()

    async def check(road: Admission, entered: list[int]) -> None:
        held.kept_bytes = 950
        waiting = start(road, 6)
        await settle()
        assert len(entered) == 0, "no whole body has room"
        for held.kept_bytes, expected in ((890, 1), (799, 2), (650, 3), (500, 4)):
            road.admit()
            await settle()
            assert len(entered) == expected
        held.kept_bytes = 1000
        for _ in range(4):
            road.release(ADDRESS)
        await settle()
        assert len(entered) == 4, "nothing is under way, and still there is no room"
        held.kept_bytes = 0
        road.admit()
        await asyncio.gather(*waiting)

    in_loop(check, held, max_flight_bytes=1000)


def test_what_has_just_come_counts_before_the_next_request_starts() -> None:
    """It is no longer in flight when its connection is free, and kept only when its visit has gone on with it."""
    held = Held()

    async def check(road: Admission, entered: list[int]) -> None:
        held.flight_bytes = 150
        waiting = start(road, 3)
        await settle()
        assert len(entered) == 2
        held.flight_bytes = 75
        road.release(ADDRESS)
        held.kept_bytes = 75
        await settle()
        assert len(entered) == 2
        held.kept_bytes = held.flight_bytes = 0
        road.admit()
        await asyncio.gather(*waiting)

    in_loop(check, held, max_flight_bytes=200)


def test_one_may_always_start_while_nothing_is_kept() -> None:
    """Also where a whole body might have no room: nobody else would ever make any."""
    held = Held()

    async def check(road: Admission, entered: list[int]) -> None:
        held.kept_bytes = 1
        road.narrow()
        (waiting,) = start(road, 1)
        await settle()
        assert not waiting.done()
        held.kept_bytes = 0
        road.admit()
        await waiting

    in_loop(check, held, max_flight_bytes=10)


def test_who_gives_up_waiting_takes_nothing_with_it() -> None:
    async def check(road: Admission, entered: list[int]) -> None:
        await asyncio.gather(*start(road, 4))
        early, late, last = start(road, 3)
        await asyncio.sleep(0)
        early.cancel()
        road.release(ADDRESS)
        # Its turn has come, but it does not know yet.
        late.cancel()
        await asyncio.gather(last)
        assert early.cancelled() and late.cancelled()
        assert len(entered) == 5

    in_loop(check)


def test_who_would_wait_long_for_another_host_is_told_how_long() -> None:
    async def check(road: Admission, entered: list[int]) -> None:
        url = "http://a.test/robots.txt"
        assert await road.begin_side_request("a.test") == 0
        refusal = Capture(Page(url, b""), 429, "", "1.1", (("Retry-After", "700"),), (), ADDRESS, 0.0, 0.0, 0)
        road.end_side_request("a.test", refusal)
        assert 690 < await road.begin_side_request("a.test") <= 700

    in_loop(check)


def test_no_page_is_lost_for_our_own_lack_of_room(tmp_path: Path) -> None:
    hosts = [f"h{number}.test" for number in range(4)]
    site = make_site(hosts, 24)
    for url in sorted(site.urls - {"http://h0.test/"}):
        site.add(url, Answer(body=make_page(url, padding_bytes=300_000).body, chunks=5, chunk_delay_s=0.05))
    site.add("http://h0.test/", make_page("http://h0.test/", sorted(site.urls)))
    with Web(site) as web:
        flags = ["--scope", "any", "--delay", 0, "--shards", 1, *web.resolve({"*.test": "127.0.0.1"})]
        sizes = {"fetch_max_flight_bytes": 1_000_000, "fetch_max_body_bytes": 500_000}
        totals = crawl(tmp_path / "crawl", "http://h0.test/", *flags, **sizes).status()["totals"]
    assert totals["errors"]["busy"], "or this tests nothing"
    assert (totals["pages"], totals["failed"]) == (24, 0)
