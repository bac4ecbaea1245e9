"""How an exchange moves the clock of its host: captures and failures in, when the host may be asked again out."""

from rdfspider.config import FrontierConfig
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.hosts.hosts import Host, Hosts
from rdfspider.frontier.hosts.outages import Outages
from rdfspider.pace import backoff_gap_s, explain_backoff, explain_pace, pace_gap_s, read_retry_after
from rdfspider.records import Capture, Failure


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
