"""Leases: what may be requested now, and what each answer means for the host's pace and for the URL.

A host's addresses come first, then each origin's robots.txt, then pages, one request at a time. With a delay of 0 there are no
gaps, and several requests at once. Leases are not stored: if the process dies, the URL of an open lease is still in its queue.
"""

from math import inf

from msgspec.structs import replace

from rdfspider.codes import DuplicateKind, FailureCode, Lane, LeaseKind, RobotsRule, VerdictState
from rdfspider.frontier.core import Core
from rdfspider.frontier.entries import Refusal, RobotsAnswer
from rdfspider.frontier.hosts.active import FRONT
from rdfspider.frontier.hosts.hosts import OVER_BUDGET, Host
from rdfspider.frontier.hosts.origins import is_silent
from rdfspider.frontier.hosts.queues import Slot
from rdfspider.frontier.keys import OVER_BUDGET_QUEUE, origin_of
from rdfspider.frontier.urls.learned_traps import Traps
from rdfspider.frontier.verdicts import is_error, judge_exchange
from rdfspider.pace import longest_wait_s
from rdfspider.records import Addresses, Capture, Failure, Lease, RobotsState, Verdict

# URLs of a host that are read at once, and requested before other hosts may enter.
RUN_URLS = 20
# Runs without any URL worth a request that are read at once; the host is due again after the next commit.
_UNWANTED_RUNS = 20
# Hosts that one call may find ready that may not have a request all the same; the next call goes on.
_TRIED_HOSTS = 256
# URLs of blocked origins that are kept in memory while other origins of the host go on: the most and the least per host, and
# the limit over all hosts.
_MAX_HELD, _MIN_HELD, _ALL_HELD = 5000, 100, 50_000
# The minimum lifetime of addresses and robots.txt, whatever their own: long enough for a request.
_MIN_ANSWER_S = 30.0
# The maximum lifetime of addresses.
_MAX_ADDRESS_S = 86_400.0
# DNS results that make all URLs of the host fail without a request.
_NO_SUCH_HOST = frozenset({FailureCode.NXDOMAIN, FailureCode.PRIVATE})


class Leases:
    """Gives leases and ends them."""

    def __init__(self, core: Core, traps: Traps, epoch: int, lookup_epoch: int) -> None:
        """`lookup_epoch` is the first epoch whose DNS results are still valid."""
        self._hosts = core.hosts
        self._queues = core.queues
        self._active = core.active
        self._lanes = core.lanes
        self._shares = core.shares
        self._origins = core.origins
        self._outages = core.outages
        self._pacing = core.pacing
        self._foreign = core.foreign
        self._id_of = core.url_rows.id_of
        self._clock = core.clock
        self._counts = core.counts
        self._traps = traps
        self._epoch = epoch
        self._lookup_epoch = lookup_epoch
        config = core.config
        self._config = config.frontier
        self._max_robots_s = max(config.fetch.robots_ttl_s, longest_wait_s(config.frontier)) + _MIN_ANSWER_S
        """The maximum lifetime of a robots.txt."""
        self._host_pages = config.crawl.pages_per_host
        self._domain_pages = config.crawl.pages_per_domain
        self.slots: dict[int, Slot] = {}
        """Pages that were leased but not recorded, by URL id."""
        self._holding: set[Host] = set()
        """Hosts that hold URLs of blocked origins, and some that did."""

    def lease(self) -> Lease | None:
        """The next thing that may be requested now."""
        now = self._clock.monotonic()
        for _ in range(_TRIED_HOSTS):
            host = self._active.pop_ready(now)
            if host is None:
                return None
            lease = self._lease_from(host, now)
            if lease is not None:
                self._counts.in_flight += 1
                return lease
        return None

    def end_name(self, lease: Lease, answer: Addresses) -> None:
        """End a DNS lookup."""
        host = self._take_back(lease)
        host.is_resolving = False
        if answer.addresses or answer.failure in _NO_SUCH_HOST:
            now = self._clock.now()
            expires = min(max(answer.expires, now + _MIN_ANSWER_S), now + _MAX_ADDRESS_S)
            host.record.addresses = replace(answer, expires=expires, epoch=self._epoch)
            self._hosts.mark_changed(host)
        else:
            self._pacing.count_error(host, None, wait_s=answer.expires - self._clock.now())
        self._active.wake(host)

    def end_robots(self, lease: Lease, answer: RobotsAnswer) -> None:
        """End a request for a robots.txt; one that redirects to a busy host is unreachable, but not an error."""
        robots, exchange, crawl_delay_s = answer.state, answer.exchange, answer.crawl_delay_s
        host = self._take_back(lease)
        origin = origin_of(lease.url)
        host.in_flight -= 1
        self._lanes.leave(lease.lane, is_surplus=lease.is_surplus)
        self._shares.end(host)
        host.asking.discard(origin)
        if exchange is not None:
            self._shares.charge_exchange(host, exchange.duration_s)
            # A farm has any number of hosts that send their robots.txt fast, and then pages that are slow.
            may_be_fast = not (lease.is_surplus and self._active.is_awaited(self._clock.monotonic()))
            self._pacing.note_tempo(host, exchange, may_be_fast=may_be_fast)
        if isinstance(exchange, Failure) and exchange.code == FailureCode.TAKEN_BACK:
            # Nothing is known of the robots.txt, so it is asked for again.
            self._pacing.count_taken_back(host, exchange)
            self._release_held(host, origin)
            self._active.wake(host)
            return
        if crawl_delay_s > 0:
            host.record.crawl_delays[origin] = crawl_delay_s
        else:
            host.record.crawl_delays.pop(origin, None)
        is_unreachable = robots.rule == RobotsRule.UNREACHABLE
        is_busy = isinstance(exchange, Failure) and exchange.code == FailureCode.BUSY
        if is_error(exchange) or (is_unreachable and not is_busy):
            if is_unreachable and robots.errors >= self._config.give_up_errors:
                robots = replace(robots, expires=max(robots.expires, self._clock.now() + self._config.give_up_s))
            self._pacing.count_error(host, exchange, is_of_origin=is_unreachable)
        else:
            self._pacing.count_answer(host, exchange.duration_s if exchange else 0.0)
            if not is_unreachable:
                # It must outlive the gap that follows, or a host with a long gap would get no other requests.
                wait_s = max(host.ready_at - self._clock.monotonic(), 0.0)
                robots = replace(robots, expires=max(robots.expires, self._clock.now() + wait_s + _MIN_ANSWER_S))
        self._origins.put(host.number, origin, robots)
        self._release_held(host, origin)
        self._active.wake(host)

    def refuse(self, lease: Lease, refusal: Refusal) -> Verdict:
        """End the lease of a page without a request, so the host's clock stays."""
        slot = self.slots[lease.url_id]
        slot.host.in_flight -= 1
        self._leave_lane(lease)
        self._shares.end(slot.host)
        self._active.wake(slot.host)
        addresses = slot.host.record.addresses
        if not lease.addresses and addresses is not None and addresses.failure:
            return Verdict(VerdictState.FAILED, addresses.failure, error=addresses.failure)
        slot.is_refused = True
        return Verdict(VerdictState.FAILED, refusal.reason, rule=refusal.rule)

    def end_page(self, lease: Lease, exchange: Capture | Failure) -> Verdict:
        """End a request for a page."""
        slot = self.slots[lease.url_id]
        host = slot.host
        host.in_flight -= 1
        self._leave_lane(lease)
        self._shares.end(host)
        self._shares.charge_exchange(host, exchange.duration_s)
        self._pacing.note_tempo(host, exchange)
        judgement = judge_exchange(lease, exchange, slot.row.turned_away, self._config)
        slot.is_attempt = judgement.is_attempt
        slot.is_turned_away = judgement.is_turned_away
        if isinstance(exchange, Failure) and exchange.code == FailureCode.TAKEN_BACK:
            self._pacing.count_taken_back(host, exchange)
        elif not judgement.is_host_error:
            self._pacing.count_answer(host, exchange.duration_s, slot.leased_at)
        else:
            self._pacing.count_error(host, exchange, slot.leased_at)
        self._active.wake(host)
        return judgement.verdict

    def give_back(self, lease: Lease) -> None:
        """End a lease without a request, so that it will be given again; a page becomes the first of its host again."""
        host = self._hosts.get(lease.host_number)
        self._counts.in_flight -= 1
        if lease.kind == LeaseKind.NAME:
            host.is_resolving = False
        else:
            host.in_flight -= 1
            self._leave_lane(lease)
            self._shares.end(host)
        if lease.kind == LeaseKind.ROBOTS:
            host.asking.discard(origin_of(lease.url))
            self._release_held(host, origin_of(lease.url))
        elif lease.kind == LeaseKind.PAGE:
            host.run.appendleft(self._forget(self.slots[lease.url_id]))
        self._active.wake(host)

    def finish(self, slot: Slot) -> None:
        """Forget a page that was recorded."""
        self._counts.in_flight -= 1
        self._forget(slot)
        self._active.settle_leaving(slot.host)

    def _leave_lane(self, lease: Lease) -> None:
        """Free the lane of a request that has ended; that of a heavy page is free when it is recorded."""
        if lease.kind != LeaseKind.PAGE or lease.lane != Lane.HEAVY:
            self._lanes.leave(lease.lane, is_surplus=lease.is_surplus)

    def _take_back(self, lease: Lease) -> Host:
        self._counts.in_flight -= 1
        return self._hosts.get(lease.host_number)

    def _forget(self, slot: Slot) -> Slot:
        del self.slots[self._id_of(slot.host.number, slot.sequence)]
        if slot.lane == Lane.HEAVY:
            self._lanes.leave(slot.lane)
        slot.host.unrecorded -= 1
        slot.host.domain.unrecorded -= 1
        stalled = slot.host.domain.stalled
        while stalled:
            self._active.wake(stalled.pop())
        return slot

    def _lease_from(self, host: Host, now: float) -> Lease | None:
        """The next lease of a host that is due; None if it must wait, and then it is due again by itself, or by `wake` when
        something changes."""
        if host.in_flight >= self._active.max_in_flight:
            return None
        record = host.record
        addresses = record.addresses
        if addresses is None or not self._holds(addresses):
            if host.unrecorded >= host.scheduled:
                return None
            if host.is_surplus and self._lanes.choose(host, now) is None:
                # A farm has more names than can be asked.
                self._active.hold_back(host, now)
                return None
            host.is_resolving = True
            return Lease(LeaseKind.NAME, record.name, host.number, is_surplus=host.is_surplus)
        self._foreign.delay(host, now)
        if addresses.addresses and now < host.ready_at:
            self._active.push(host, host.ready_at)
            return None
        if self._is_over_budget(host):
            return None
        lane = self._lanes.choose(host, now) if addresses.addresses else Lane.OPEN
        if lane is None:
            self._active.hold_back(host, now)
            return None
        slot = self._next_slot(host, now, bool(addresses.addresses))
        if slot is None:
            return None
        origin = slot.origin
        robots = self._origins.get(host.number, origin) if addresses.addresses else None
        host.in_flight += 1
        self._lanes.enter(lane, is_surplus=host.is_surplus)
        self._shares.begin(host, now)
        if addresses.addresses and not self._is_answered(robots):
            host.run.appendleft(slot)
            host.asking.add(origin)
            lease = Lease(
                LeaseKind.ROBOTS,
                record.name,
                host.number,
                origin + "/robots.txt",
                addresses=addresses.addresses,
                robots=robots,
                crawl_delay_s=record.crawl_delay_s,
                lane=lane,
                is_surplus=host.is_surplus,
            )
        else:
            lease = self._lease_page(slot, addresses, robots, lane, now)
        if host.in_flight < self._active.max_in_flight:
            self._active.push(host, now)
        return lease

    def _holds(self, addresses: Addresses) -> bool:
        is_of_now = addresses.epoch >= self._lookup_epoch
        return is_of_now and bool(self._clock.left_s(addresses.expires, _MAX_ADDRESS_S))

    def _is_answered(self, robots: RobotsState | None) -> bool:
        """Whether the state of a robots.txt is valid, so that pages may be leased."""
        if robots is None or robots.rule == RobotsRule.UNREACHABLE:
            return False
        return bool(self._clock.left_s(robots.expires, self._max_robots_s))

    def _lease_page(
        self, slot: Slot, addresses: Addresses, robots: RobotsState | None, lane: Lane, now: float
    ) -> Lease:
        host, row = slot.host, slot.row
        url_id = self._id_of(host.number, slot.sequence)
        # A soft 404 may be judged a real page the next time, and must then be fetched whole.
        is_kept = row.duplicate != DuplicateKind.SOFT_404
        slot.leased_at, slot.lane = now, lane
        host.unrecorded += 1
        host.domain.unrecorded += 1
        self.slots[url_id] = slot
        return Lease(
            LeaseKind.PAGE,
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
            lane=lane,
            heavy=row.heavy,
            is_surplus=host.is_surplus,
        )

    def _next_slot(self, host: Host, now: float, needs_robots: bool) -> Slot | None:
        """The next URL of a host whose origin is not blocked; None if there is none now.

        An origin with an unreachable robots.txt is tried again when its wait is over. After an error all other origins come
        first, so that none that works waits for one that does not, or is given up with it.
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
                if robots is None or robots.rule != RobotsRule.UNREACHABLE:
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
        """Read the next URLs of a host unless other hosts should have their turn; returns whether there are any."""
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
        """Wait for blocked origins, as nothing else is left; if all of them are given up, so is the host."""
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
        """Whether a host may get no more pages: for good, and then it leaves, or until those in flight are recorded."""
        for limit, share in ((self._host_pages, host), (self._domain_pages, host.domain)):
            pages = share.record.fetched_pages if isinstance(share, Host) else share.fetched_pages
            if limit and pages + share.unrecorded >= limit:
                if pages >= limit:
                    self._hosts.set_status(host, OVER_BUDGET)
                    self._active.leave(host, OVER_BUDGET_QUEUE, 0.0)
                else:
                    host.domain.stalled.append(host)
                return True
        return False
