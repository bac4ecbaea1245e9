"""Hosts that are asked although nothing of them is to be fetched: the robots.txt of others lead there.

The frontier has no record of them, or another shard's has it. Their pace is kept in memory alone, a small number of them: what
this shard asked a moment ago. What other shards ask of the same host is not known here; pace by address holds between shards.
"""

from dataclasses import dataclass

from rdfspider.config import FrontierConfig
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.verdicts import is_error
from rdfspider.pace import backoff_gap_s, pace_gap_s, read_retry_after
from rdfspider.records import Capture, Failure

RECHECK_S = 0.1
"""How often it is looked whether a host that is being asked is free."""

_MAX_STRANGERS = 4096


@dataclass(slots=True)
class _Stranger:
    in_flight: int = 0
    ready_at: float = 0.0
    """Monotonic time before which no request may start."""
    errors: int = 0
    """In a row."""


class ForeignHosts:
    """When each may be asked again; whoever may be is forgotten as soon as there are many."""

    def __init__(self, config: FrontierConfig, clock: Clock, max_in_flight: int) -> None:
        self._config = config
        self._clock = clock
        self._max_in_flight = max_in_flight
        self._by_name: dict[str, _Stranger] = {}

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
        stranger = self._find(name)
        # One that had to leave for others begins anew.
        stranger.in_flight = max(stranger.in_flight - 1, 0)
        gap_s = pace_gap_s(0.0, exchange.duration_s, self._config)
        if is_error(exchange):
            stranger.errors += 1
            retry_after_s = read_retry_after(exchange, self._clock.now())
            gap_s = max(gap_s, backoff_gap_s(stranger.errors, retry_after_s, self._config))
        else:
            stranger.errors = 0
        stranger.ready_at = max(stranger.ready_at, self._clock.monotonic() + gap_s)

    def ready_at(self, name: str, now: float) -> float:
        """The monotonic time at which to look whether a host may be asked; one that is over when it may."""
        stranger = self._by_name.get(name)
        if stranger is None:
            return 0.0
        return max(stranger.ready_at, now + RECHECK_S if stranger.in_flight >= self._max_in_flight else 0.0)

    def _find(self, name: str) -> _Stranger:
        stranger = self._by_name.get(name)
        if stranger is None:
            if len(self._by_name) >= _MAX_STRANGERS:
                now = self._clock.monotonic()
                kept = {name: known for name, known in self._by_name.items() if known.in_flight or known.ready_at > now}
                self._by_name = kept
                while len(kept) >= _MAX_STRANGERS:
                    del kept[next(iter(kept))]
            stranger = self._by_name[name] = _Stranger()
        return stranger
