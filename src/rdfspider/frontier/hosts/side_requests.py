"""Requests and the clocks of hosts: how an exchange moves the clock of its host, and requests that are made without a lease.

Such a side request is made because the robots.txt of another host redirects there. A host of this frontier keeps its usual
clock for them. A foreign host is one that this frontier has no record of: its pace is kept in memory alone, for a small number
of hosts. What other shards ask of the same host is not known here; pace by address holds between shards.
"""

from dataclasses import dataclass
from math import inf

from rdfspider.config import FrontierConfig
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.hosts.active import ActiveHosts
from rdfspider.frontier.hosts.hosts import Host, Hosts
from rdfspider.frontier.hosts.outages import Outages
from rdfspider.frontier.hosts.pacing import Pacing
from rdfspider.frontier.verdicts import is_error
from rdfspider.pace import backoff_gap_s, pace_gap_s, read_retry_after
from rdfspider.records import Capture, Failure

# How often it is looked whether a host that is being asked is free.
_RECHECK_S = 0.1
_MAX_FOREIGN = 4096


@dataclass(slots=True)
class _ForeignHost:
    in_flight: int = 0
    ready_at: float = 0.0
    """Monotonic time before which no request may start."""
    errors: int = 0
    """In a row."""


class ForeignHosts:
    """When each may be asked again; those that may be are forgotten as soon as there are many."""

    def __init__(self, config: FrontierConfig, clock: Clock, max_in_flight: int) -> None:
        self._config = config
        self._clock = clock
        self._max_in_flight = max_in_flight
        self._by_name: dict[str, _ForeignHost] = {}

    def begin(self, name: str) -> float:
        """0 when a request may start, and then `end` has to follow; else the seconds after which to ask again."""
        now = self._clock.monotonic()
        wait_s = self.ready_at(name, now) - now
        if wait_s > 0:
            return wait_s
        self._find(name).in_flight += 1
        return 0.0

    def end(self, name: str, exchange: Capture | Failure) -> None:
        """A request has ended now."""
        host = self._find(name)
        # One that had to leave for others begins anew.
        host.in_flight = max(host.in_flight - 1, 0)
        gap_s = pace_gap_s(0.0, exchange.duration_s, self._config)
        if is_error(exchange):
            host.errors += 1
            retry_after_s = read_retry_after(exchange, self._clock.now())
            gap_s = max(gap_s, backoff_gap_s(host.errors, retry_after_s, self._config))
        else:
            host.errors = 0
        host.ready_at = max(host.ready_at, self._clock.monotonic() + gap_s)

    def ready_at(self, name: str, now: float) -> float:
        """The monotonic time at which to look whether a host may be asked; one that is over when it may."""
        host = self._by_name.get(name)
        if host is None:
            return 0.0
        return max(host.ready_at, now + _RECHECK_S if host.in_flight >= self._max_in_flight else 0.0)

    def delay(self, host: Host, now: float) -> None:
        """A host of this frontier may have been asked before it was known here: let it wait as long as it had to then."""
        host.ready_at = max(host.ready_at, self.ready_at(host.record.name, now))

    def _find(self, name: str) -> _ForeignHost:
        host = self._by_name.get(name)
        if host is None:
            if len(self._by_name) >= _MAX_FOREIGN:
                now = self._clock.monotonic()
                kept = {name: known for name, known in self._by_name.items() if known.in_flight or known.ready_at > now}
                self._by_name = kept
                while len(kept) >= _MAX_FOREIGN:
                    del kept[next(iter(kept))]
            host = self._by_name[name] = _ForeignHost()
        return host


class SideRequests:
    """Admits requests without a lease, one host at a time, at the pace of that host."""

    def __init__(
        self,
        hosts: Hosts,
        active: ActiveHosts,
        outages: Outages,
        pacing: Pacing,
        foreign: ForeignHosts,
        clock: Clock,
    ) -> None:
        self._hosts = hosts
        self._active = active
        self._outages = outages
        self._pacing = pacing
        self._foreign = foreign
        self._clock = clock

    def begin(self, name: str) -> float:
        """Ask to send a request to a host now. 0 means that it may start, and then `end` has to follow; else it is the number
        of seconds after which to ask again, infinite for a host that was given up. Nothing of this is durable."""
        host = self._find(name)
        if host is None:
            return self._foreign.begin(name)
        now = self._clock.monotonic()
        self._foreign.delay(host, now)
        if host.ready_at > now and self._outages.is_out(host):
            return inf
        if host.ready_at > now or host.in_flight >= self._active.max_in_flight:
            return max(host.ready_at - now, _RECHECK_S)
        host.in_flight += 1
        host.side_requests += 1
        return 0.0

    def end(self, name: str, exchange: Capture | Failure) -> None:
        """A request that `begin` admitted has ended: the host's clock moves, staged for the next commit."""
        host = self._find(name)
        if host is None or not host.side_requests:
            # Not known, or not when it began.
            self._foreign.end(name, exchange)
            return
        host.in_flight -= 1
        host.side_requests -= 1
        if is_error(exchange):
            self._pacing.count_error(host, exchange)
        else:
            self._pacing.count_answer(host, exchange.duration_s)
        self._active.wake(host)

    def _find(self, name: str) -> Host | None:
        number = self._hosts.number_of(name)
        return None if number is None else self._hosts.get(number)
