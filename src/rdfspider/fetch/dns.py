"""A host name enters, vetted addresses leave: from DNS, the machine's hosts file and static entries.

Private, loopback, link-local and cloud metadata addresses are refused here, unless the configuration allows them. Failures
are cached for a while, just like addresses.
"""

import asyncio
import re
import socket
from fnmatch import fnmatchcase
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from secrets import token_hex
from typing import NamedTuple, Protocol

import aiodns
import pycares

from rdfspider.codes import FailureCode
from rdfspider.config import FetchConfig
from rdfspider.errors import UsageError
from rdfspider.fetch import targets
from rdfspider.fetch.shortages import NO_NAMES, Shortages, find_routes_out
from rdfspider.records import Addresses
from rdfspider.urls import normalise_url

MIN_TTL_S = 60.0
"""The shortest time that an answer is cached: some names have a TTL of 0, and a page needs its address only once."""
MAX_TTL_S = 86_400.0
"""The longest time that an answer is cached: addresses move, and a TTL of a week is a common mistake."""
NO_NAME_TTL_S = 3_600.0
"""How long a nonexistent name is cached: RFC 2308 recommends one to three hours."""
ERROR_TTL_S = 60.0
"""How long to wait before asking again when the name servers do not answer."""
MAX_ADDRESSES = 16
"""The most addresses kept per name; an answer may contain thousands."""
TRY_S = 2.0
"""The first timeout for a name server; it grows with each of the `TRIES`."""
TRIES = 3
CACHED_NAMES = 10_000
"""The number of answers kept in memory; hosts that a robots.txt redirects to have no host record of their own."""

_NO_SORT = 1 << 7
"""Otherwise c-ares would open a socket to each address to sort them."""
_ENTRY = re.compile(
    r"""
    \[?(?P<pattern>[^\s=\[\]]+)\]? \s*=\s*
    (?: (?P<plain>[0-9.]+) (?: :(?P<port>[0-9]{1,5}) )?          # IPv4
      | \[(?P<inner>[^\]]+)\] (?: :(?P<inner_port>[0-9]{1,5}) )?  # IPv6 in brackets
      | (?P<bare>[0-9A-Fa-f:.]+)                                 # IPv6, which leaves no place for a port
    )""",
    re.VERBOSE,
)
_NO_NAME = frozenset(
    {aiodns.error.ARES_ENOTFOUND, aiodns.error.ARES_ENODATA, aiodns.error.ARES_EBADNAME, aiodns.error.ARES_ENONAME}
)
# What only a name server can say.
_ANSWERS = _NO_NAME | {
    aiodns.error.ARES_ESERVFAIL,
    aiodns.error.ARES_EFORMERR,
    aiodns.error.ARES_ENOTIMP,
    aiodns.error.ARES_EREFUSED,
}


class Clock(Protocol):
    """A source of the current time, such as the frontier's clock."""

    def now(self) -> float:
        """Seconds since 1970."""


class StaticEntry(NamedTuple):
    """A configured address for the hosts that match a pattern."""

    pattern: str
    address: str
    port: int | None


class Resolver:
    """Resolves host names. It belongs to the event loop in which it is first used."""

    def __init__(
        self,
        config: FetchConfig,
        clock: Clock,
        nameservers: tuple[str, ...] = (),
        shortages: Shortages | None = None,
    ) -> None:
        """`nameservers` are `ADDRESS[:PORT]`; if empty, the machine's own are used. Raises UsageError for a bad static entry."""
        self._shortages = shortages or Shortages()
        self.shortage = ""
        """What this machine lacked when a lookup last failed for that."""
        self._config = config
        self._clock = clock
        self._nameservers = nameservers
        self._entries = tuple(map(read_static_entry, config.resolve))
        self._find_static = lru_cache(maxsize=CACHED_NAMES)(self._match_entries)
        self._cares: aiodns.DNSResolver | None = None
        self._families: tuple[socket.AddressFamily, ...] = ()
        self._known: dict[str, Addresses] = {}
        self._under_way: dict[str, asyncio.Task[Addresses]] = {}

    async def resolve(self, host: str) -> Addresses:
        """Return the host's vetted addresses, or why there are none. Never raises; `host` is written as in a URL."""
        now = self._clock.now()
        static = self._find_static(host)
        if static is not None:
            return Addresses((static.address,), now + MIN_TTL_S)
        literal = _read_literal(host)
        if literal is not None:
            return self._vet([literal], now + MAX_TTL_S)
        known = self._known.get(host)
        # An answer that expires after MAX_TTL_S was cached before the clock was set back.
        if known is not None and now < known.expires <= now + MAX_TTL_S:
            return known
        task = self._under_way.get(host)
        if task is None:
            task = self._under_way[host] = asyncio.create_task(self._look_up(host))
            task.add_done_callback(lambda _: self._under_way.pop(host, None))
        # Several callers may wait for one lookup; cancelling one must not cancel it for the others.
        return await asyncio.shield(task)

    def static_port(self, host: str) -> int | None:
        """The port that a static entry maps this host to; None means the URL's own port."""
        static = self._find_static(host)
        return None if static is None else static.port

    def is_static(self, host: str) -> bool:
        """Whether the host has a static entry, which counts as vetted."""
        return self._find_static(host) is not None

    def is_refused(self, address: str) -> bool:
        """Whether the crawl must not send requests to this address."""
        return not self._config.allow_private and targets.is_refused(address)

    async def close(self) -> None:
        """Cancel all lookups in progress."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._cares is not None:
            await self._cares.close()
            self._cares = None

    async def _look_up(self, host: str) -> Addresses:
        answer = await self._ask_families(host)
        self._known.pop(host, None)
        self._known[host] = answer
        if len(self._known) > CACHED_NAMES:
            del self._known[next(iter(self._known))]
        return answer

    async def _ask_families(self, host: str) -> Addresses:
        """Ask for IPv4 first, and for IPv6 only if there is none: most hosts with IPv6 have both, so this halves the queries."""
        name = _to_ascii(host)
        failure = Addresses((), self._clock.now() + NO_NAME_TTL_S, FailureCode.NXDOMAIN)
        if not name:
            return failure
        self._families = self._families or _find_families()
        for family in self._families:
            answer = await self._ask(name, family)
            if answer.addresses or answer.failure in (FailureCode.DNS, FailureCode.SHORTAGE):
                return answer
            if answer.failure == FailureCode.PRIVATE:
                failure = answer
        return failure

    async def _ask(self, name: str, family: socket.AddressFamily) -> Addresses:
        if self._cares is None:
            # Names are already complete: the machine's search domains would turn them into other names.
            flags = pycares.ARES_FLAG_NOSEARCH
            self._cares = aiodns.DNSResolver(self._nameservers or None, flags=flags, timeout=TRY_S, tries=TRIES)
        try:
            result = await self._cares.getaddrinfo(name, family, type=socket.SOCK_STREAM, flags=_NO_SORT)
        except aiodns.error.DNSError as error:
            code = error.args[0] if error.args else None
            is_missing = code in _NO_NAME
            if code in _ANSWERS:
                self._shortages.note_answer()
            elif (lack := self._shortages.find_of_name(name)) and not (lack == NO_NAMES and await self._is_answered()):
                self.shortage = lack
                # It is over at once, so that the name is looked up again as soon as somebody asks.
                return Addresses((), self._clock.now(), FailureCode.SHORTAGE)
            lifetime_s = NO_NAME_TTL_S if is_missing else ERROR_TTL_S
            return Addresses(
                (), self._clock.now() + lifetime_s, FailureCode.NXDOMAIN if is_missing else FailureCode.DNS
            )
        self._shortages.note_answer()
        ttl_s = min([node.ttl for node in result.nodes] + [alias.ttl for alias in result.cnames], default=0)
        found = [ip_address(node.addr[0].decode()) for node in result.nodes]
        return self._vet(found, self._clock.now() + min(max(ttl_s, MIN_TTL_S), MAX_TTL_S))

    async def _is_answered(self) -> bool:
        """Whether name servers answer about a name that nobody has: then names without an answer are at fault themselves, and
        somebody may have thousands of those, for which the crawl would wait."""
        assert self._cares is not None
        try:
            await self._cares.getaddrinfo(f"{token_hex(8)}.invalid", socket.AF_INET, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError as error:
            if not error.args or error.args[0] not in _ANSWERS:
                return False
        self._shortages.note_answer()
        return True

    def _vet(self, found: list[IPv4Address | IPv6Address], expires: float) -> Addresses:
        """Keep the allowed addresses, without duplicates; an IPv4-mapped IPv6 address counts as its IPv4 address."""
        texts = dict.fromkeys(str(getattr(address, "ipv4_mapped", None) or address) for address in found)
        vetted = tuple(text for text in texts if not self.is_refused(text))
        if vetted:
            return Addresses(vetted[:MAX_ADDRESSES], expires)
        return Addresses((), expires, FailureCode.PRIVATE if texts else FailureCode.NXDOMAIN)

    def _match_entries(self, host: str) -> StaticEntry | None:
        name = host.strip("[]").rstrip(".").lower()
        return next((entry for entry in self._entries if fnmatchcase(name, entry.pattern)), None)


def read_static_entry(text: str) -> StaticEntry:
    """Parse `PATTERN=ADDRESS[:PORT]`, an IPv6 address with a port in brackets; raises UsageError for anything else."""
    match = _ENTRY.fullmatch(text.strip())
    address = _read_literal(match["plain"] or match["inner"] or match["bare"]) if match else None
    port = (match["port"] or match["inner_port"]) if match else None
    if match is None or address is None or (port is not None and not 0 < int(port) < 65_536):
        raise UsageError(f"resolve: {text!r} is not PATTERN=ADDRESS[:PORT], such as '*.test=127.0.0.1:8085'")
    return StaticEntry(match["pattern"].rstrip(".").lower(), str(address), int(port) if port else None)


def _read_literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


def _to_ascii(host: str) -> str:
    """The name as sent in a DNS query; empty if it is invalid."""
    name = host.rstrip(".").lower()
    if not name.isascii():
        url = normalise_url(f"http://{name}/") or "http:///"
        name = url[len("http://") : -1]
    is_name = 0 < len(name) <= 253 and all(0 < len(label) <= 63 for label in name.split("."))
    return name if is_name and not any(c <= " " or c in "/@:?#\\\x7f" for c in name) else ""


def _find_families() -> tuple[socket.AddressFamily, ...]:
    """The address families to query, in order: those that the machine has a route for come first."""
    is_v6_alone = find_routes_out() == (False, True)
    return (socket.AF_INET6, socket.AF_INET) if is_v6_alone else (socket.AF_INET, socket.AF_INET6)
