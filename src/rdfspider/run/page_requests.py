"""A URL enters, the response of its page leaves, or why there is none: single requests for people who wait, outside of any crawl.

The rules of a crawl apply: robots.txt is fetched first and followed, private addresses are refused, hosts get a pause between
requests, and every redirect is checked like the first URL. A running crawl does not know of these requests.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rdfspider.codes import FailureCode, LeaseKind, RobotsRule, Truncation
from rdfspider.config import Config, FetchConfig
from rdfspider.crawl.reports.explanations import explain_failure, write_robots
from rdfspider.crawl.seeds import has_scheme, normalise_seed
from rdfspider.errors import UnansweredError, UsageError
from rdfspider.fetch.fetcher import Fetcher
from rdfspider.fetch.robots import PRODUCT, RobotsTxt, make_user_agent
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.keys import origin_of
from rdfspider.pace import pace_gap_s
from rdfspider.records import Capture, Failure, Lease, RobotsState
from rdfspider.urls import MAX_URL_CHARS, host_of
from rdfspider.ways import Way

MAX_REDIRECTS = 5
# Time limits are short, because a user waits for the answer.
_REQUEST_S = 45.0
_MAX_WAIT_S = 15.0
_CONNECT_S, _FIRST_BYTE_S, _EXCHANGE_S = 8.0, 12.0, 20.0
_KNOWN_ORIGINS = 200
# How often a request checks whether it was cancelled.
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Hop:
    """A URL that was requested, or was refused."""

    url: str
    robots: str = ""
    """The decision of its robots.txt, in words."""
    status: int = 0
    """0 if there was no response."""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """The outcome of a request for a page."""

    hops: tuple[Hop, ...]
    """The URL, and those that it redirects to."""
    refusal: str = ""
    """Why the last URL was not requested, in words: a rule of robots.txt, a private address. Empty if it was."""
    failure: str = ""
    """Why there is no page, in words."""
    capture: Capture | None = None
    """The last response."""


class PageRequests:
    """Requests pages, one at a time; it remembers robots.txt files, and when each host was last asked."""

    def __init__(self, config: Config) -> None:
        self._config = replace(config, fetch=_shorten_timeouts(config.fetch))
        self._robots: OrderedDict[str, RobotsState] = OrderedDict()
        self._free_at: OrderedDict[str, float] = OrderedDict()
        """When the next request to a host may start, by `time.monotonic()`."""

    def request(self, url: str, ends: Sequence[threading.Event] = ()) -> PageAnswer:
        """Fetch a page; UnansweredError if it takes too long, or one of the events is set."""
        try:
            return _judge_answer(asyncio.run(self._request_in_time(url, ends)))
        except TimeoutError:
            if any(end.is_set() for end in ends):
                raise UnansweredError(
                    "the visit was ended: nobody waits for it, or the server is being ended"
                ) from None
            raise UnansweredError(f"{url} took more than {_REQUEST_S:g} s") from None

    async def _request_in_time(self, url: str, ends: Sequence[threading.Event]) -> PageAnswer:
        wanted = tuple(transform.media_type for transform in self._config.extract.transforms)
        agent = make_user_agent(self._config.fetch.contact)
        fetcher = Fetcher(self._config.fetch, agent, Clock(), pace=self._config.frontier, wanted_types=wanted)
        try:
            async with asyncio.timeout(_REQUEST_S) as limit:
                watching = asyncio.create_task(_watch(ends, limit))
                try:
                    return await self._follow(fetcher, url)
                finally:
                    watching.cancel()
        finally:
            await fetcher.close()

    async def _follow(self, fetcher: Fetcher, url: str) -> PageAnswer:
        hops: list[Hop] = []
        while True:
            exchange, robots, refusal = await self._ask(fetcher, url)
            hops.append(Hop(url, robots, exchange.status if isinstance(exchange, Capture) else 0))
            if exchange is None:
                return PageAnswer(tuple(hops), refusal=refusal)
            if isinstance(exchange, Failure):
                return PageAnswer(tuple(hops), failure=explain_failure(exchange.code))
            target = exchange.redirect
            if target is None:
                return PageAnswer(tuple(hops), capture=exchange)
            if len(hops) > MAX_REDIRECTS or any(hop.url == target for hop in hops):
                return PageAnswer(tuple(hops), failure=f"it redirects on and on, to {target}", capture=exchange)
            url = target

    async def _ask(self, fetcher: Fetcher, url: str) -> tuple[Capture | Failure | None, str, str]:
        """Return the response of one URL, the decision of its robots.txt, and if it was not requested, why."""
        host = host_of(url)
        found = await fetcher.resolver.resolve(host)
        if not found.addresses:
            code = FailureCode(found.failure or FailureCode.DNS)
            if code is FailureCode.PRIVATE:
                return None, "", explain_failure(code)
            return Failure(url, code), "", ""
        address = found.addresses[0]
        lease = Lease(LeaseKind.PAGE, host, 0, url, found_as=Way.SEED, addresses=found.addresses)
        state = await self._find_robots(fetcher, lease, address)
        rules = RobotsTxt(state.body) if state.rule == RobotsRule.RULES else None
        line = rules.rule_for(url, PRODUCT) if rules else ""
        robots = write_robots(state, line, time.time())
        if state.rule == RobotsRule.UNREACHABLE:
            return None, robots, f"robots.txt of {origin_of(url)} {robots}"
        if rules and not rules.allows(url, PRODUCT):
            return None, robots, f"robots.txt of {origin_of(url)} says `{line}`"
        await self._wait(host)
        exchange = await fetcher.fetch_page(lease, address)
        self._set_pause(host, exchange.duration_s, (rules.crawl_delay(PRODUCT) if rules else None) or 0.0)
        return exchange, robots, ""

    async def _find_robots(self, fetcher: Fetcher, lease: Lease, address: str) -> RobotsState:
        """Return the state of the origin's robots.txt, fetching it if it is unknown or expired."""
        origin = origin_of(lease.url)
        state = self._robots.pop(origin, None)
        if state is None or state.expires <= time.time():
            await self._wait(lease.host)
            asked = Lease(
                LeaseKind.ROBOTS, lease.host, 0, f"{origin}/robots.txt", addresses=lease.addresses, robots=state
            )
            state, exchange, delay_s = await fetcher.fetch_robots(asked, address, _OpenGate())
            self._set_pause(lease.host, exchange.duration_s if exchange else 0.0, delay_s or 0.0)
        self._robots[origin] = state
        while len(self._robots) > _KNOWN_ORIGINS:
            self._robots.popitem(last=False)
        return state

    async def _wait(self, host: str) -> None:
        wait_s = self._free_at.get(host, 0.0) - time.monotonic()
        if wait_s > _MAX_WAIT_S:
            raise UnansweredError(f"{host} is left alone for another {wait_s:.0f} s, as it asks for: try again then")
        await asyncio.sleep(max(wait_s, 0.0))

    def _set_pause(self, host: str, duration_s: float, crawl_delay_s: float) -> None:
        self._free_at.pop(host, None)
        self._free_at[host] = time.monotonic() + pace_gap_s(crawl_delay_s, duration_s, self._config.frontier)
        while len(self._free_at) > _KNOWN_ORIGINS:
            self._free_at.popitem(last=False)


def _judge_answer(answer: PageAnswer) -> PageAnswer:
    """Say why a response is no page."""
    capture = answer.capture
    if capture is None or answer.failure:
        return answer
    if not 200 <= capture.status < 300:
        return replace(answer, failure=f"the server answered {capture.status}")
    if capture.truncated == Truncation.UNWANTED:
        return replace(answer, failure="its type is none that is read")
    return answer


async def _watch(ends: Sequence[threading.Event], limit: asyncio.Timeout) -> None:
    """End the time limit when one of the events is set."""
    while not any(end.is_set() for end in ends):
        await asyncio.sleep(_LOOK_S)
    limit.reschedule(asyncio.get_running_loop().time())


class _OpenGate:
    """Admission without limits, as there is one request at a time."""

    async def acquire(self, address: str) -> None:
        """Return at once."""

    def release(self, address: str) -> None:
        """Do nothing."""

    async def begin_side_request(self, host: str) -> float:
        """Allow the request at once."""
        return 0.0

    def end_side_request(self, host: str, exchange: Capture | Failure) -> None:
        """Do nothing."""


def read_address(text: str) -> str:
    """Normalise a URL as users write it; UsageError if it is none. Local files are never considered."""
    url = normalise_seed(prepare_address(text))
    if url is None or len(url) > MAX_URL_CHARS:
        raise UsageError(f"{text[:200] or 'the URL is empty'}: not an http or https URL that could be asked for")
    return url


def prepare_address(text: str) -> str:
    """Prefix an address without a scheme with `//`, so that it cannot be taken for a file name."""
    text = text.strip()
    return text if not text or has_scheme(text) else f"//{text.lstrip('/')}"


def _shorten_timeouts(config: FetchConfig) -> FetchConfig:
    return replace(
        config,
        connect_timeout_s=min(config.connect_timeout_s, _CONNECT_S),
        first_byte_timeout_s=min(config.first_byte_timeout_s, _FIRST_BYTE_S),
        timeout_s=min(config.timeout_s, _EXCHANGE_S),
    )
