"""Leases: what may be asked now, and what each answer means for the host's pace and for the URL.

A host is first asked for its addresses, then each origin for its robots.txt, then for pages, one request at a time. With no
delay at all there are no gaps, and several at once. Nothing here is stored at once: a lease that is out when the process dies
was never given, as its URL is still in its queue.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from msgspec.structs import replace

from rdfspider.config import Config
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import Counts
from rdfspider.frontier.hosts.active import FRONT, ActiveHosts
from rdfspider.frontier.hosts.back_queues import Queues, Slot
from rdfspider.frontier.hosts.foreign_hosts import RECHECK_S, ForeignHosts
from rdfspider.frontier.hosts.hosts import OVER_BUDGET as IS_OVER_BUDGET
from rdfspider.frontier.hosts.hosts import Host, Hosts
from rdfspider.frontier.hosts.origins import Origins, is_silent
from rdfspider.frontier.hosts.outages import Outages
from rdfspider.frontier.keys import OVER_BUDGET, origin_of
from rdfspider.frontier.urls.learned_traps import Traps
from rdfspider.frontier.verdicts import is_error, judge_exchange
from rdfspider.pace import backoff_gap_s, explain_backoff, explain_pace, pace_gap_s, read_retry_after
from rdfspider.records import Addresses, Capture, Failure, Lease, RobotsState, Verdict

# URLs of a host that are read at once, and that it is asked for before others may come in.
RUN_URLS = 20
# Runs of which nothing is wanted that are read at once; the host comes up again after the next commit.
_UNWANTED_RUNS = 20
# Requests to one host at once, where there is no delay at all.
_PARALLEL_REQUESTS = 8
# URLs of origins that cannot be asked which are kept in memory while others of the same host go on: of one host at most, of
# one host at least, and of all hosts.
_MAX_HELD, _MIN_HELD, _ALL_HELD = 5000, 100, 50_000
# An address and a robots.txt hold at least so long, whatever they say: long enough for a request.
_MIN_ANSWER_S = 30.0
# And an address no longer than this.
_MAX_ADDRESS_S = 86_400.0
# Answers to a name that hold for all URLs of the host: they fail without a request.
_NO_SUCH_HOST = frozenset({"nxdomain", "private"})


@dataclass(frozen=True, slots=True)
class Parts:
    """What leases are made from."""

    hosts: Hosts
    active: ActiveHosts
    queues: Queues
    origins: Origins
    outages: Outages
    traps: Traps
    to_url_id: Callable[[int, int], int]
    """The id of a URL from host number and sequence."""
    epoch: int
    lookup_epoch: int
    """The first epoch whose answers to names are still true."""


class Leases:
    """Gives leases and takes them back."""

    def __init__(self, parts: Parts, config: Config, clock: Clock, counts: Counts) -> None:
        self._hosts = parts.hosts
        self._active = parts.active
        self._queues = parts.queues
        self._origins = parts.origins
        self._outages = parts.outages
        self._traps = parts.traps
        self._to_url_id = parts.to_url_id
        self._epoch = parts.epoch
        self._lookup_epoch = parts.lookup_epoch
        self._config = config.frontier
        self._clock = clock
        self._counts = counts
        self._max_in_flight = 1 if config.frontier.delay_s else _PARALLEL_REQUESTS
        self._strangers = ForeignHosts(config.frontier, clock, self._max_in_flight)
        pace = config.frontier
        longest_gap_s = max(pace.delay_s, pace.max_wait_s, pace.max_backoff_s, pace.give_up_s)
        self._max_robots_s = max(config.fetch.robots_ttl_s, longest_gap_s) + _MIN_ANSWER_S
        """How long what is known of a robots.txt can hold."""
        self._host_pages = config.crawl.pages_per_host
        self._domain_pages = config.crawl.pages_per_domain
        self.slots: dict[int, Slot] = {}
        """Pages that were leased and not recorded, by URL id."""
        self._holding: set[Host] = set()
        """Hosts that hold URLs back, and some that did."""

    def lease(self) -> Lease | None:
        """The next thing that may be asked now."""
        now = self._clock.monotonic()
        while True:
            host = self._active.pop_ready(now)
            if host is None:
                return None
            lease = self._lease_from(host, now)
            if lease is not None:
                self._counts.in_flight += 1
                return lease

    def resolved(self, lease: Lease, answer: Addresses) -> None:
        """A name was looked up."""
        host = self._take_back(lease)
        host.is_resolving = False
        if answer.addresses or answer.failure in _NO_SUCH_HOST:
            now = self._clock.now()
            expires = min(max(answer.expires, now + _MIN_ANSWER_S), now + _MAX_ADDRESS_S)
            host.record.addresses = replace(answer, expires=expires, epoch=self._epoch)
            self._hosts.mark_changed(host)
        else:
            self._count_error(host, None, wait_s=answer.expires - self._clock.now())
        self.wake(host)

    def learned(
        self, lease: Lease, robots: RobotsState, exchange: Capture | Failure | None, crawl_delay_s: float | None
    ) -> None:
        """A robots.txt was asked for. One that is unreachable because the host that it leads to is busy is no error."""
        host = self._take_back(lease)
        origin = origin_of(lease.url)
        host.in_flight -= 1
        host.asking.discard(origin)
        if crawl_delay_s and crawl_delay_s > 0:
            host.record.crawl_delays[origin] = crawl_delay_s
        else:
            host.record.crawl_delays.pop(origin, None)
        is_unreachable = robots.rule == "unreachable"
        is_busy = isinstance(exchange, Failure) and exchange.code == "busy"
        if is_error(exchange) or (is_unreachable and not is_busy):
            if is_unreachable and robots.errors >= self._config.give_up_errors:
                robots = replace(robots, expires=max(robots.expires, self._clock.now() + self._config.give_up_s))
            self._count_error(host, exchange, is_of_origin=is_unreachable)
        else:
            self._count_answer(host, exchange.duration_s if exchange else 0.0)
            if not is_unreachable:
                # It must outlive the gap that follows it, or a host with a long one would be asked for nothing else.
                wait_s = max(host.ready_at - self._clock.monotonic(), 0.0)
                robots = replace(robots, expires=max(robots.expires, self._clock.now() + wait_s + _MIN_ANSWER_S))
        self._origins.put(host.number, origin, robots)
        self._release_held(host, origin)
        self.wake(host)

    def refuse(self, lease: Lease, reason: str, rule: str) -> Verdict:
        """A page is not asked for: the host's clock stays."""
        slot = self.slots[lease.url_id]
        slot.host.in_flight -= 1
        self.wake(slot.host)
        addresses = slot.host.record.addresses
        if not lease.addresses and addresses is not None and addresses.failure:
            return Verdict("failed", addresses.failure, error=addresses.failure)
        slot.is_refused = True
        return Verdict("failed", reason, rule=rule)

    def release(self, lease: Lease, exchange: Capture | Failure) -> Verdict:
        """A page was asked for."""
        slot = self.slots[lease.url_id]
        host = slot.host
        host.in_flight -= 1
        judgement = judge_exchange(lease, exchange, slot.row.turned_away, self._config)
        slot.is_attempt = judgement.is_attempt
        slot.is_turned_away = judgement.is_turned_away
        if not judgement.is_host_error:
            self._count_answer(host, exchange.duration_s, slot.leased_at)
        else:
            self._count_error(host, exchange, slot.leased_at)
        self.wake(host)
        return judgement.verdict

    def give_back(self, lease: Lease) -> None:
        """Nothing was asked: a page is the first of its host again."""
        host = self._hosts.get(lease.host_number)
        self._counts.in_flight -= 1
        if lease.kind == "name":
            host.is_resolving = False
        else:
            host.in_flight -= 1
        if lease.kind == "robots":
            host.asking.discard(origin_of(lease.url))
            self._release_held(host, origin_of(lease.url))
        elif lease.kind == "page":
            host.run.appendleft(self._forget(self.slots[lease.url_id]))
        self.wake(host)

    def begin_aside(self, name: str) -> float:
        """A request besides the leases of a host (the robots.txt of another one leads there) is to start: 0 when it may, and
        then `end_aside` has to follow; else the seconds after which to ask again, infinite for a host that was given up."""
        host = self._find(name)
        if host is None:
            return self._strangers.begin(name)
        now = self._clock.monotonic()
        self._heed_stranger(host, now)
        if host.ready_at > now and self._outages.is_out(host):
            return inf
        if host.ready_at > now or host.in_flight >= self._max_in_flight:
            return max(host.ready_at - now, RECHECK_S)
        host.in_flight += 1
        host.asides += 1
        return 0.0

    def end_aside(self, name: str, exchange: Capture | Failure) -> None:
        """Such a request has ended: the host's clock moves."""
        host = self._find(name)
        if host is None or not host.asides:
            # Not known, or not when it began.
            self._strangers.end(name, exchange)
            return
        host.in_flight -= 1
        host.asides -= 1
        if is_error(exchange):
            self._count_error(host, exchange)
        else:
            self._count_answer(host, exchange.duration_s)
        self.wake(host)

    def _find(self, name: str) -> Host | None:
        number = self._hosts.number_of(name)
        return None if number is None else self._hosts.get(number)

    def _heed_stranger(self, host: Host, now: float) -> None:
        """A host may have been asked before it was known."""
        host.ready_at = max(host.ready_at, self._strangers.ready_at(host.record.name, now))

    def finish(self, slot: Slot) -> None:
        """A page was recorded."""
        self._counts.in_flight -= 1
        self._forget(slot)
        self._active.settle_leaving(slot.host)

    def wake(self, host: Host) -> None:
        """Have a host come up when it may be asked, if there is room for another request of it."""
        if host.leaving is not None:
            self._active.settle_leaving(host)
        elif host.is_active and host.due is None and not host.is_resolving and host.in_flight < self._max_in_flight:
            self._active.push(host, host.ready_at)

    def _take_back(self, lease: Lease) -> Host:
        self._counts.in_flight -= 1
        return self._hosts.get(lease.host_number)

    def _forget(self, slot: Slot) -> Slot:
        del self.slots[self._to_url_id(slot.host.number, slot.sequence)]
        slot.host.unrecorded -= 1
        slot.host.domain.unrecorded -= 1
        stalled = slot.host.domain.stalled
        while stalled:
            self.wake(stalled.pop())
        return slot

    def _lease_from(self, host: Host, now: float) -> Lease | None:
        """What may be asked of a host that has come up; None when it must wait, and then it comes up by itself, or by `wake`
        when something of it has changed."""
        if host.in_flight >= self._max_in_flight:
            return None
        record = host.record
        addresses = record.addresses
        if addresses is None or not self._holds(addresses):
            if host.unrecorded >= host.scheduled:
                return None
            host.is_resolving = True
            return Lease("name", record.name, host.number)
        self._heed_stranger(host, now)
        if addresses.addresses and now < host.ready_at:
            self._active.push(host, host.ready_at)
            return None
        if self._is_over_budget(host):
            return None
        slot = self._next_slot(host, now, bool(addresses.addresses))
        if slot is None:
            return None
        origin = slot.origin
        robots = self._origins.get(host.number, origin) if addresses.addresses else None
        host.in_flight += 1
        if addresses.addresses and not self._is_answered(robots):
            host.run.appendleft(slot)
            host.asking.add(origin)
            lease = Lease(
                "robots",
                record.name,
                host.number,
                origin + "/robots.txt",
                addresses=addresses.addresses,
                robots=robots,
                crawl_delay_s=record.crawl_delay_s,
            )
        else:
            lease = self._lease_page(slot, addresses, robots, now)
        if host.in_flight < self._max_in_flight:
            self._active.push(host, now)
        return lease

    def _holds(self, addresses: Addresses) -> bool:
        is_of_now = addresses.epoch >= self._lookup_epoch
        return is_of_now and bool(self._clock.left_s(addresses.expires, _MAX_ADDRESS_S))

    def _is_answered(self, robots: RobotsState | None) -> bool:
        """Whether what is known of a robots.txt lets pages be asked for."""
        if robots is None or robots.rule == "unreachable":
            return False
        return bool(self._clock.left_s(robots.expires, self._max_robots_s))

    def _lease_page(self, slot: Slot, addresses: Addresses, robots: RobotsState | None, now: float) -> Lease:
        host, row = slot.host, slot.row
        url_id = self._to_url_id(host.number, slot.sequence)
        # One that was taken for the absence of a page may be taken for a page the next time, and must come as a whole then.
        is_kept = row.duplicate != "soft-404"
        slot.leased_at = now
        host.unrecorded += 1
        host.domain.unrecorded += 1
        self.slots[url_id] = slot
        return Lease(
            "page",
            host.record.name,
            host.number,
            slot.url,
            url_id,
            row.depth,
            row.found_as,
            row.via,
            row.chain,
            row.attempts,
            addresses.addresses,
            robots,
            row.etag,
            row.last_modified,
            row.digest if is_kept else "",
            row.captured if is_kept else 0.0,
        )

    def _next_slot(self, host: Host, now: float, needs_robots: bool) -> Slot | None:
        """The next URL of a host whose origin may be asked; None when there is none now.

        An origin whose robots.txt could not be had is tried again when its time has come. After an error all others go
        before it, so that none that is well waits for one that is not, or is given up with it.
        """
        is_well = not host.record.errors
        due = now if needs_robots else inf
        if is_well or not needs_robots:
            self._release_due(host, due)
        while host.run or self._read_run(host):
            slot = host.run.popleft()
            if not needs_robots:
                return slot
            origin = slot.origin
            if origin not in host.asking:
                robots = self._origins.get(host.number, origin)
                if robots is None or robots.rule != "unreachable":
                    return slot
                left_s = self._clock.left_s(robots.expires, self._max_robots_s)
                if is_well and not left_s:
                    return slot
                host.blocked[origin] = now + left_s
            host.held.setdefault(origin, []).append(slot)
            self._holding.add(host)
        if host.blocked and not host.asking:
            self._release_due(host, due)
            if host.run:
                return host.run.popleft()
            self._wait_for_origins(host)
        return None

    def _read_run(self, host: Host) -> bool:
        """Read the next URLs of a host, unless others should have their turn; whether there are any."""
        if host.asking:
            return False
        if not host.held and host.queues and self._active.wants_out():
            self._active.leave(host, FRONT, 0.0)
            return False
        if not host.held or self._may_hold_more(host):
            for _ in range(_UNWANTED_RUNS):
                read = self._queues.read_run(host, RUN_URLS)
                host.run.extend(self._traps.sift(read))
                if host.run or not read:
                    break
        return bool(host.run)

    def _may_hold_more(self, host: Host) -> bool:
        self._holding = {other for other in self._holding if other.held}
        return sum(map(len, host.held.values())) < max(min(_MAX_HELD, _ALL_HELD // len(self._holding)), _MIN_HELD)

    def _wait_for_origins(self, host: Host) -> None:
        """Nothing is left but URLs of origins that must wait; where all of those were given up, so is the host."""
        wake_at = min(host.blocked.values())
        known = [self._origins.get(host.number, origin) for origin in host.blocked]
        if all(robots and robots.errors >= self._config.give_up_errors for robots in known):
            silent = any(robots and is_silent(robots) for robots in known)
            self._outages.give_up(host, wake_at, is_silent=silent)
        else:
            self._active.push(host, max(host.ready_at, wake_at))

    def _release_due(self, host: Host, now: float) -> None:
        for origin in [origin for origin, until in host.blocked.items() if until <= now]:
            self._release_held(host, origin)

    def _release_held(self, host: Host, origin: str) -> None:
        host.blocked.pop(origin, None)
        host.run.extendleft(reversed(host.held.pop(origin, ())))

    def _is_over_budget(self, host: Host) -> bool:
        """Whether a host may have no more pages: for good, and then it goes, or until those in flight are recorded."""
        for limit, share in ((self._host_pages, host), (self._domain_pages, host.domain)):
            pages = share.record.fetched_pages if isinstance(share, Host) else share.fetched_pages
            if limit and pages + share.unrecorded >= limit:
                if pages >= limit:
                    self._hosts.set_status(host, IS_OVER_BUDGET)
                    self._active.leave(host, OVER_BUDGET, 0.0)
                else:
                    host.domain.stalled.append(host)
                return True
        return False

    def _count_answer(self, host: Host, duration_s: float, leased_at: float | None = None) -> None:
        if leased_at is None or leased_at >= host.error_at:
            host.record.errors = 0
        delay_s = host.record.crawl_delay_s
        gap_s = pace_gap_s(delay_s, duration_s, self._config)
        self._hosts.end_request(host, gap_s, explain_pace(gap_s, delay_s, duration_s, self._config))

    def _count_error(
        self,
        host: Host,
        exchange: Capture | Failure | None,
        leased_at: float | None = None,
        *,
        wait_s: float = 0.0,
        is_of_origin: bool = False,
    ) -> None:
        """An error of the host: a longer wait, or the end of it for now. Requests side by side that fail are one error.

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
