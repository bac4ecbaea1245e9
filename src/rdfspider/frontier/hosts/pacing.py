"""How an exchange moves the clock of its host: captures and failures enter, when the host may be asked again leaves.

A side request is made without a lease: it goes to a host because the robots.txt of another host redirects there. A host of this
frontier uses its own clock for it. A foreign host has no record in this frontier: its pace is kept only in memory, for a limited
number of hosts. Requests of other shards to the same host are not known here; between shards, the clocks of addresses keep the
pace.
"""

from dataclasses import dataclass
from math import inf

from rdfspider.codes import FailureCode
from rdfspider.config import FrontierConfig
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.hosts.active import ActiveHosts
from rdfspider.frontier.hosts.hosts import FAST, SLOW, TAKEN_BACK, Host, Hosts
from rdfspider.frontier.hosts.outages import Outages
from rdfspider.frontier.verdicts import is_error
from rdfspider.pace import (
    backoff_gap_s,
    explain_backoff,
    explain_pace,
    explain_taken_back,
    pace_gap_s,
    read_retry_after,
    yields_little,
)
from rdfspider.records import Capture, Failure

# How soon to check again whether a host with requests in flight is free.
_RECHECK_S = 0.1
_MAX_FOREIGN = 4096
# Failures that show a slow server; others come fast, and show nothing.
_SLOW_FAILURES = frozenset(
    {FailureCode.CONNECT_TIMEOUT, FailureCode.FIRST_BYTE_TIMEOUT, FailureCode.SLOW, FailureCode.TIMEOUT}
)


class Pacing:
    """Takes every request that has ended, of a page, a robots.txt or a name, and decides when the host may be asked again."""

    def __init__(self, hosts: Hosts, outages: Outages, config: FrontierConfig, clock: Clock) -> None:
        self._hosts = hosts
        self._outages = outages
        self._config = config
        self._clock = clock

    def count_answer(self, host: Host, duration_s: float, leased_at: float | None = None) -> None:
        """The host has answered. An answer to what was asked before the last error does not make up for that error."""
        if leased_at is None or leased_at >= host.error_at:
            host.record.errors = 0
        delay_s = host.record.crawl_delay_s
        gap_s = pace_gap_s(delay_s, duration_s, self._config)
        self._hosts.end_request(host, gap_s, explain_pace(gap_s, delay_s, duration_s, self._config))

    def count_taken_back(self, host: Host, failure: Failure) -> None:
        """The host was slow while others waited for its connection. That is neither an answer nor an error."""
        gap_s = pace_gap_s(host.record.crawl_delay_s, failure.duration_s, self._config)
        self._hosts.end_request(host, gap_s, explain_taken_back(failure.duration_s))

    def note_tempo(self, host: Host, exchange: Capture | Failure, *, may_be_fast: bool = True) -> None:
        """Record whether the host was slow, which decides in which lane it is asked the next time; that it was fast only if
        `may_be_fast`."""
        record = host.record
        if isinstance(exchange, Capture):
            if yields_little(exchange.duration_s, exchange.wire_bytes):
                record.tempo = SLOW
            elif may_be_fast:
                record.tempo = FAST
        elif exchange.code == FailureCode.TAKEN_BACK:
            record.tempo = TAKEN_BACK
        elif exchange.code in _SLOW_FAILURES:
            record.tempo = SLOW

    def count_error(
        self,
        host: Host,
        exchange: Capture | Failure | None,
        leased_at: float | None = None,
        *,
        wait_s: float = 0.0,
        is_of_origin: bool = False,
    ) -> None:
        """An error of the host: a longer wait, or the end of it for now. Parallel requests that fail count as one error.

        One that is an origin's alone costs the host a pause and no more: the origin has its own wait, and others may be well.
        """
        now = self._clock.monotonic()
        host.record.failed += 1
        if leased_at is None or leased_at >= host.error_at:
            host.record.errors += 1
            host.error_at = now
        wait_s = max(wait_s, read_retry_after(exchange, self._clock.now()))
        gap_s = backoff_gap_s(host.record.errors, wait_s, self._config)
        duration_s = exchange.duration_s if exchange else 0.0
        pace_s = pace_gap_s(host.record.crawl_delay_s, duration_s, self._config)
        if pace_s > gap_s:
            gap_s, reason = pace_s, explain_pace(pace_s, host.record.crawl_delay_s, duration_s, self._config)
        else:
            reason = explain_backoff(host.record.errors, wait_s, exchange, self._config)
        is_over = host.record.errors >= self._config.give_up_errors
        if is_over and not is_of_origin:
            gap_s = max(gap_s, self._config.give_up_s)
        self._hosts.end_request(host, gap_s, reason)
        if is_over:
            until = max(host.ready_at, now + self._config.give_up_s)
            self._outages.give_up(host, until, is_silent=not isinstance(exchange, Capture))


@dataclass(slots=True)
class _ForeignHost:
    in_flight: int = 0
    ready_at: float = 0.0
    """Monotonic time before which no request may start."""
    errors: int = 0
    """Errors in a row."""


class ForeignHosts:
    """The clocks of foreign hosts; those whose wait is over are dropped when there are too many."""

    def __init__(self, config: FrontierConfig, clock: Clock, max_in_flight: int) -> None:
        self._config = config
        self._clock = clock
        self._max_in_flight = max_in_flight
        self._by_name: dict[str, _ForeignHost] = {}

    def begin(self, name: str) -> float:
        """0 if a request may start, and then `end` must follow; otherwise the seconds after which to try again."""
        now = self._clock.monotonic()
        wait_s = self.ready_at(name, now) - now
        if wait_s > 0:
            return wait_s
        self._find(name).in_flight += 1
        return 0.0

    def end(self, name: str, exchange: Capture | Failure) -> None:
        """Count a request that has just ended."""
        host = self._find(name)
        # A host that was dropped meanwhile starts anew.
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
        """The monotonic time at which to check again whether a request may start; not after `now` if it may."""
        host = self._by_name.get(name)
        if host is None:
            return 0.0
        return max(host.ready_at, now + _RECHECK_S if host.in_flight >= self._max_in_flight else 0.0)

    def delay(self, host: Host, now: float) -> None:
        """Apply the wait of a foreign host to the same host, after this frontier has got a record of it."""
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
    """Admits requests without a lease at the pace of their hosts."""

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
        """0 if a request to a host may start, and then `end` must follow; otherwise the seconds after which to try again,
        infinite for a host that was given up. None of this is durable."""
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
        """End a request that `begin` admitted, and stage the new time of the host's clock."""
        host = self._find(name)
        if host is None or not host.side_requests:
            # The host has no record, or had none when the request began.
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
