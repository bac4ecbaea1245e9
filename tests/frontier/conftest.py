"""A clock that is set by hand, a frontier on a real RocksDB, and a crawler that answers its leases."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rdfspider.config import Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import Refusal, RobotsAnswer
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Addresses, Capture, Failure, Lease, Page, RobotsState, Verdict

DAY_S = 86_400.0


class HandClock(Clock):
    """Moves when it is told to; a reboot starts the monotonic clock anew."""

    def __init__(self) -> None:
        self.wall = 1_700_000_000.0
        self.uptime = 1000.0
        self.boot_id = "first-boot"

    def now(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.uptime

    def advance(self, seconds: float) -> None:
        self.wall += seconds
        self.uptime += seconds

    def reboot(self, wall_shift_s: float = 0.0) -> None:
        self.boot_id += "+"
        self.uptime = 10.0
        self.wall += wall_shift_s


class Crawler:
    """Answers leases of a frontier: names and robots.txt by themselves, pages as the test says."""

    def __init__(self, frontier: Frontier, clock: HandClock) -> None:
        self.frontier = frontier
        self.clock = clock
        self.answers: dict[str, int | Failure] = {}
        """By URL: a status or a failure; 200 where there is none."""
        self.duration_s = 0.0
        """How long answers are said to have taken."""
        self.robots_delay_s: float | None = None
        self.requests: list[tuple[float, str, str]] = []
        """Monotonic time, host and URL of every request, robots.txt included."""
        self.fetched: list[str] = []

    def answer(self, lease: Lease) -> Verdict | None:
        """Do what a lease is for, in no time; pages are recorded, not committed."""
        frontier, now = self.frontier, self.clock.now()
        if lease.kind == "name":
            frontier.release(lease, Addresses(("192.0.2.1",), now + DAY_S))
            return None
        if lease.addresses:
            self.requests.append((self.clock.monotonic(), lease.host, lease.url))
        if lease.kind == "robots":
            frontier.release(
                lease,
                RobotsAnswer(
                    RobotsState("allow", now, now + DAY_S),
                    capture(lease.url, 404, self.duration_s),
                    self.robots_delay_s or 0.0,
                ),
            )
            return None
        verdict = (
            frontier.release(lease, self.exchange(lease)) if lease.addresses else frontier.release(lease, Refusal("?"))
        )
        self.fetched.append(lease.url)
        frontier.finish(lease, verdict)
        return verdict

    def exchange(self, lease: Lease) -> Capture | Failure:
        answer = self.answers.get(lease.url, 200)
        return answer if isinstance(answer, Failure) else capture(lease.url, answer, self.duration_s)

    def next_page(self) -> Lease:
        """The lease of the next page; names and robots.txt before it are answered, waits are waited for."""
        while True:
            lease = self.frontier.lease()
            if lease is None:
                self.wait()
            elif lease.kind == "page":
                if lease.addresses:
                    self.requests.append((self.clock.monotonic(), lease.host, lease.url))
                return lease
            else:
                self.answer(lease)

    def wait(self) -> None:
        self.frontier.commit()
        wait_s = self.frontier.next_lease_in_s()
        assert wait_s is not None, "nothing waits"
        self.clock.advance(wait_s + 1e-6)

    def run(self, pages: int | None = None) -> None:
        """Crawl until nothing waits, or so many pages were asked for."""
        while pages is None or len(self.fetched) < pages:
            lease = self.frontier.lease()
            if lease is not None:
                self.answer(lease)
                continue
            self.frontier.commit()
            wait_s = self.frontier.next_lease_in_s()
            if wait_s is None:
                break
            self.clock.advance(wait_s + 1e-6)
        self.frontier.commit()


def kill(frontier: Frontier) -> None:
    """End a frontier as a killed process does: no mark of a clean end, nothing of what is staged."""
    frontier._store.discard()
    frontier._store.close()


def capture(url: str, status: int = 200, duration_s: float = 0.0, **headers: str) -> Capture:
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Capture(Page(url, b""), status, "", "1.1", fields, (), "192.0.2.1", 0.0, duration_s, 0)


@pytest.fixture(scope="session")
def domains() -> Domains:
    return Domains(bundled_suffix_list(), 1)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


OpenFrontier = Callable[..., Frontier]


@pytest.fixture
def open_frontier(tmp_path: Path, domains: Domains, clock: HandClock) -> Iterator[OpenFrontier]:
    """Opens a frontier; keywords `crawl`, `frontier` and `fetch` hold settings, `folder` another folder."""
    opened: list[Frontier] = []

    def open_one(folder: Path | None = None, **settings: Any) -> Frontier:
        known = {name: settings.pop(name) for name in ("crawl", "frontier", "fetch") if name in settings}
        config = Config()
        config = replace(config, **{name: replace(getattr(config, name), **values) for name, values in known.items()})
        frontier = Frontier(folder or tmp_path / "frontier", config, domains, 0, clock, **settings)
        opened.append(frontier)
        return frontier

    yield open_one
    for frontier in opened:
        frontier.close()
