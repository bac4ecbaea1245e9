"""A lease enters, a Capture or a Failure leaves: combines DNS, robots.txt and the transport of the URL's scheme.

The frontier, not this module, decides what to do after a failure.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace as replace_fields
from fnmatch import fnmatchcase
from functools import lru_cache
from math import inf
from typing import Protocol

from msgspec.structs import replace

from rdfspider.codes import FailureCode, Lane, RobotsRule
from rdfspider.config import FetchConfig, FrontierConfig
from rdfspider.fetch.bodies import Flight
from rdfspider.fetch.dns import Clock, Resolver
from rdfspider.fetch.http import HttpTransport
from rdfspider.fetch.robots import MAX_ROBOTS_BYTES, RobotsTxt, judge_robots
from rdfspider.fetch.shortages import Shortages
from rdfspider.fetch.transport import Request, Transport
from rdfspider.pace import pace_gap_s
from rdfspider.records import Capture, Failure, Lease, RobotsState
from rdfspider.urls import host_of
from rdfspider.ways import Way

TRANSPORTS: Mapping[str, type[Transport]] = {"http": HttpTransport, "https": HttpTransport}
"""Scheme → the transport of its URLs. Schemes with the same class share its connections."""
ACCEPT = (
    "text/html, application/xhtml+xml;q=0.9, text/turtle;q=0.8, application/ld+json;q=0.8, application/rdf+xml;q=0.8, "
    "application/n-triples;q=0.7, application/n-quads;q=0.7, application/trig;q=0.7, application/xml;q=0.6, */*;q=0.1"
)
"""HTML comes first, because most pages embed their data in it; RDF comes next."""
_ACCEPTS = {
    Way.SITEMAP: "application/xml, text/xml, application/rss+xml;q=0.9, application/atom+xml;q=0.9, text/plain;q=0.8, */*;q=0.1",
    Way.CONTEXT: "application/ld+json, application/json;q=0.9, */*;q=0.1",
    Way.ONTOLOGY: "text/turtle, application/rdf+xml, application/ld+json, application/n-triples;q=0.9, application/trig;q=0.8, "
    "application/xhtml+xml;q=0.4, text/html;q=0.3, */*;q=0.1",
}
"""The Accept header for URLs that are not pages for people, by how the URL was found."""
MAX_CONTEXT_BYTES = 1024 * 1024
"""The largest JSON-LD contexts in use have a few hundred kilobytes."""
MAX_ROBOTS_REDIRECTS = 5
"""RFC 9309, 2.3.1.2: crawlers should follow at least five consecutive redirects."""

# The longest wait that a Crawl-delay or a slow response can cause between two redirects of one robots.txt on its own host:
# nothing can cancel this wait.
_MAX_HOP_S = 60.0
# A server may send a header of any length, and the verdicts on types are cached.
_MAX_TYPE_CHARS = 200

# Media types without structured data. `application/octet-stream` is what servers send for downloads.
_UNWANTED = frozenset(
    "text/css text/javascript application/javascript application/x-javascript application/ecmascript application/wasm "
    "application/pdf application/postscript application/epub+zip application/zip application/gzip application/x-gzip "
    "application/x-tar application/x-gtar application/x-compressed application/x-compress application/x-bzip "
    "application/x-bzip2 application/x-xz application/zstd application/x-7z-compressed application/x-rar-compressed "
    "application/vnd.rar application/x-rar application/java-archive application/x-iso9660-image application/msword "
    "application/vnd.ms-excel application/vnd.ms-powerpoint application/x-msdownload application/x-msdos-program "
    "application/x-executable application/x-shockwave-flash application/x-debian-package application/x-rpm "
    "application/vnd.android.package-archive application/x-apple-diskimage application/font-woff application/x-font-ttf "
    "application/vnd.ms-fontobject application/ogg application/mp4 application/vnd.apple.mpegurl application/dash+xml "
    "application/x-protobuf application/grpc application/octet-stream binary/octet-stream application/x-binary "
    "application/force-download application/download application/x-download".split()
)
_UNWANTED_STARTS = (
    "image/",
    "video/",
    "audio/",
    "font/",
    "model/",
    "application/vnd.openxmlformats-",
    "application/vnd.oasis.opendocument.",
    "application/vnd.ms-",
)
_DOWNLOADS = frozenset({"application/octet-stream", "binary/octet-stream", "application/x-download"})

# Servers that do not know RDF send it as a download; the file extension identifies it.
_DATA_ENDINGS = tuple(".ttl .nt .nq .n3 .trig .rdf .owl .rdfs .jsonld .xml .html .htm .xhtml".split())
# Large sites compress their sitemaps. Other compressed data is not decompressed.
_PACKED_ENDINGS = (".xml.gz", ".txt.gz")
_PACKED = frozenset({*_DOWNLOADS, "application/gzip", "application/x-gzip"})
# Failures before anything was asked, which a lost network brings about; an interface that is down drops what is sent.
_UNCONNECTED = (FailureCode.UNREACHABLE, FailureCode.CONNECT_TIMEOUT)


class Gate(Protocol):
    """The politeness of a shard: permission to send a request to an address."""

    async def acquire(self, address: str) -> None:
        """Wait until a request may be sent to the address."""

    def release(self, address: str) -> None:
        """Report that the request to the address has ended."""

    async def begin_side_request(self, host: str) -> float:
        """Wait until a host without a lease may be asked, and return 0. If that would take too long, return the seconds after
        which to try again; infinity for a host that was given up."""

    def end_side_request(self, host: str, exchange: Capture | Failure) -> None:
        """Report that the side request to the host has ended."""


class Fetcher:
    """Fetches everything for one shard. It belongs to the event loop in which it is first used.

    `pace` sets the wait after a robots.txt that cannot be fetched, and between its redirects. `kept_bytes` returns the size
    of fetched bodies that are still held; they count towards the same limit as those in flight. `wanted_types` are media
    types, with `*` as a wildcard, that are kept although they normally are not, because a user's transform reads them.
    `patience_s` returns for how long an exchange outside of the slow lane may yield little. `before_sending` is called before
    each request is sent.
    """

    def __init__(
        self,
        config: FetchConfig,
        user_agent: str,
        clock: Clock,
        *,
        pace: FrontierConfig,
        wanted_types: Sequence[str] = (),
        nameservers: tuple[str, ...] = (),
        kept_bytes: Callable[[], int] = lambda: 0,
        patience_s: Callable[[], float] | None = None,
        before_sending: Callable[[], None] | None = None,
    ) -> None:
        self._shortages = Shortages()
        self.resolver = Resolver(config, clock, nameservers, self._shortages)
        self._flight = Flight(config.max_flight_bytes, kept_bytes)
        by_class = {kind: kind(config, user_agent, self._flight) for kind in set(TRANSPORTS.values())}
        self._transports = {scheme: by_class[kind] for scheme, kind in TRANSPORTS.items()}
        self._config = config
        self._user_agent = user_agent
        self._clock = clock
        self._pace = pace
        self._patience_s = patience_s
        self._before_sending = before_sending
        self._wanted_types = tuple(name.lower() for name in wanted_types)
        self._judge_known_type = lru_cache(maxsize=1024)(self._judge_type)

    async def fetch_page(self, lease: Lease, address: str) -> Capture | Failure:
        """Request the lease's page, conditionally if it is known. The caller already has permission to ask the address."""
        headers = {"Accept": _ACCEPTS.get(lease.found_as, ACCEPT)}
        if lease.etag:
            headers["If-None-Match"] = lease.etag
        if lease.last_modified:
            headers["If-Modified-Since"] = lease.last_modified
        max_body_bytes = None
        keeps = self._keeps_data if _is_named(lease.url, _DATA_ENDINGS) else self._keeps
        if lease.found_as == Way.SITEMAP or _is_named(lease.url, _PACKED_ENDINGS):
            keeps = self._keeps_packed
        elif lease.found_as == Way.CONTEXT:
            keeps, max_body_bytes = self._keeps_data, min(MAX_CONTEXT_BYTES, self._config.max_body_bytes)
        return await self._get(lease.url, lease.host, address, lease.lane, headers, max_body_bytes, keeps)

    async def fetch_robots(
        self, lease: Lease, address: str, gate: Gate
    ) -> tuple[RobotsState, Capture | Failure | None, float | None]:
        """Return the state of the origin's robots.txt, the last exchange for it, and its Crawl-delay in seconds, if any.

        Follows redirects, including to other hosts (RFC 9309, 2.3.1.2). Acquires and releases permission to ask an address
        for every request, including the first. The exchange's duration is that of the slowest response from the lease's own
        host.
        """
        exchange, busy_s = await self._follow_robots(lease, address, gate)
        state = judge_robots(lease.robots, exchange, self._clock.now(), self._config, self._pace, busy_s)
        delay_s = RobotsTxt(state.body).crawl_delay(self._user_agent) if state.rule == RobotsRule.RULES else None
        return state, exchange, delay_s

    @property
    def open_connections(self) -> int:
        """The number of open sockets, including idle ones."""
        return sum(transport.open_connections for transport in set(self._transports.values()))

    @property
    def flight_bytes(self) -> int:
        """The decoded bytes of all bodies in flight."""
        return self._flight.body_bytes

    async def close(self) -> None:
        """End all exchanges and lookups."""
        for transport in set(self._transports.values()):
            await transport.close()
        await self.resolver.close()

    async def _follow_robots(self, lease: Lease, address: str, gate: Gate) -> tuple[Capture | Failure, float]:
        """Return the response at the end of the redirects, or the last redirect if there are too many, a loop, or no target;
        and the seconds to wait if a host on the way must not be asked yet."""
        loop = asyncio.get_running_loop()
        url, host = lease.url, lease.host
        asked_urls = {url}
        longest_s = free_at = 0.0
        for hop in range(MAX_ROBOTS_REDIRECTS + 1):
            if host == lease.host:
                await asyncio.sleep(max(free_at - loop.time(), 0.0))
                exchange = await self._ask_robots(url, host, address, lease.lane, gate)
                longest_s = max(longest_s, exchange.duration_s)
                gap_s = pace_gap_s(lease.crawl_delay_s, exchange.duration_s, self._pace)
                free_at = loop.time() + max(min(gap_s, _MAX_HOP_S), self._pace.delay_s)
            elif wait_s := await gate.begin_side_request(host):
                if wait_s == inf:
                    return Failure(
                        url, FailureCode.UNREACHABLE, f"{host}, where it leads to, is given up", longest_s
                    ), 0.0
                return Failure(url, FailureCode.BUSY, f"{host}, where it leads to, must wait", longest_s), wait_s
            else:
                exchange = Failure(url, FailureCode.RESET)
                try:
                    exchange = await self._ask_robots(url, host, address, lease.lane, gate)
                finally:
                    gate.end_side_request(host, exchange)
            target = exchange.redirect if isinstance(exchange, Capture) else None
            if target is None or target in asked_urls or hop == MAX_ROBOTS_REDIRECTS:
                return _set_duration(exchange, longest_s), 0.0
            url, host = target, host_of(target)
            answer = await self.resolver.resolve(host)
            if not answer.addresses:
                return Failure(
                    url, FailureCode(answer.failure or FailureCode.DNS), f"{host}, where it leads to", longest_s
                ), 0.0
            address = answer.addresses[0]
            asked_urls.add(url)
        raise AssertionError("the loop above ends by itself")

    async def _ask_robots(self, url: str, host: str, address: str, lane: Lane, gate: Gate) -> Capture | Failure:
        await gate.acquire(address)
        try:
            return await self._get(url, host, address, lane, {"Accept": "text/plain, */*;q=0.1"}, MAX_ROBOTS_BYTES)
        finally:
            gate.release(address)

    async def _get(
        self,
        url: str,
        host: str,
        address: str,
        lane: Lane,
        headers: dict[str, str],
        max_body_bytes: int | None = None,
        keeps: Callable[[str], bool] | None = None,
    ) -> Capture | Failure:
        transport = self._transports.get(url.partition(":")[0])
        if transport is None:
            return Failure(url, FailureCode.UNSUPPORTED, "nothing here fetches URLs of its scheme", address=address)
        request = Request(
            url,
            address,
            self.resolver.static_port(host),
            headers,
            max_body_bytes,
            keeps,
            is_vetted=self.resolver.is_static(host),
            patience_s=None if lane == Lane.SLOW else self._patience_s,
            before_sending=self._before_sending,
        )
        exchange = await transport.get(request)
        is_unconnected = isinstance(exchange, Failure) and exchange.code in _UNCONNECTED
        if is_unconnected and (lack := self._shortages.find_of_connection()):
            return Failure(url, FailureCode.SHORTAGE, lack, address=address)
        return exchange

    def _judge_type(self, content_type: str) -> bool:
        media_type = _read_type(content_type)
        if any(fnmatchcase(media_type, wanted) for wanted in self._wanted_types):
            return True
        if media_type.endswith(("+xml", "+json")):
            return True  # SVG sometimes contains RDF.
        return media_type not in _UNWANTED and not media_type.startswith(_UNWANTED_STARTS)

    def _keeps(self, content_type: str) -> bool:
        return self._judge_known_type(content_type[:_MAX_TYPE_CHARS])

    def _keeps_data(self, content_type: str) -> bool:
        return self._keeps(content_type) or _read_type(content_type) in _DOWNLOADS

    def _keeps_packed(self, content_type: str) -> bool:
        return self._keeps(content_type) or _read_type(content_type) in _PACKED


def _read_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _is_named(url: str, endings: tuple[str, ...]) -> bool:
    return url.partition("?")[0].lower().endswith(endings)


def _set_duration(exchange: Capture | Failure, duration_s: float) -> Capture | Failure:
    if isinstance(exchange, Failure):
        return replace(exchange, duration_s=duration_s)
    return replace_fields(exchange, duration_s=duration_s)
