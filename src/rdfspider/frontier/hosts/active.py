"""The active hosts, which are in memory: a heap by the time of their next request, and which hosts enter and leave.

Hosts enter when no other is ready, and leave when they have nothing left, must wait long, or have had a run while
others wait. So memory depends on the number of connections, not on the number of hosts.
"""

import sys
from collections import deque
from heapq import heapify, heappop, heappush, nlargest

from rdfspider.config import Config
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import Counts, HostEntry
from rdfspider.frontier.hosts.hosts import FAST, NORMAL, UNASKED, Host, Hosts
from rdfspider.frontier.hosts.lanes import Lanes
from rdfspider.frontier.hosts.queues import BackQueues, FrontQueues
from rdfspider.frontier.hosts.shares import OVER, WITHIN, Shares
from rdfspider.frontier.keys import WAITING_QUEUE

# Parallel requests to one host if there is no delay at all.
_PARALLEL_REQUESTS = 8
# Active hosts per connection: the minimum if there are enough hosts, and the maximum while none is ready, because slow hosts
# need gaps of ten times their response times, and connections would idle.
_MIN_ACTIVE, _MAX_ACTIVE = 3, 16
# Hosts that must wait longer than this leave memory when others wait to enter.
_LONG_WAIT_S = 30.0
# How soon hosts come back that left memory because they got no connection: those within their share, and others.
_WITHIN_AWAY_S, _OVER_AWAY_S = 1.0, 2.0
# And how late at most: hosts without number must not keep others away for good.
_MAX_AWAY_S = 300.0
# How soon a host is due again for which there was no connection.
_HOLD_S = 0.25
# How often the waits of all active hosts and the front queues on disk are checked.
_REVIEW_S = 1.0
# Stale heap entries before they are removed.
_MAX_STALE = 1024
_UNLIMITED = sys.maxsize
# How long after a fast host that has not had more than its share was ready others have to leave something for it. Slow hosts, and
# those that have not answered yet, wait for their lane, which is of no use to fast ones: only others like them have to.
_OTHERS_S = 2.0
# Hosts that one call may make active, and how many it may find that have had more than their share.
_INCOMING, _PASSED = 64, 64

FRONT = 0
"""For `leave`: into the front queue of its best URL, not into one with a wait."""


class ActiveHosts:
    """The hosts in memory, ordered by the time of their next request."""

    def __init__(
        self,
        hosts: Hosts,
        front_queues: FrontQueues,
        queues: BackQueues,
        lanes: Lanes,
        shares: Shares,
        config: Config,
        clock: Clock,
        counts: Counts,
    ) -> None:
        self._hosts = hosts
        self._lanes = lanes
        self._shares = shares
        self.surplus = _UNLIMITED
        """How many more hosts may be popped that have had more than their share."""
        self._aside: tuple[deque[tuple[float, Host]], ...] = (deque(), deque(), deque(), deque())
        """Hosts that are ready, but have had more than their share: fast ones of crowded networks, other fast ones, and the same
        for the rest."""
        self._within_at = float("-inf")
        """When a host was last ready that answers fast and has not had more than its share."""
        self._kept_out_at = float("-inf")
        """When a host that has not had more than its share last got no connection, because others have that have had more."""
        self._waited_at = float("-inf")
        """When a host that does not answer fast and has not had more than its share last got no connection, for any reason."""
        self._front_queues = front_queues
        self._queues = queues
        self._clock = clock
        self._counts = counts
        self._min_active = _MIN_ACTIVE * config.fetch.connections
        self._max_active = _MAX_ACTIVE * config.fetch.connections
        self.max_in_flight = 1 if config.frontier.delay_s else _PARALLEL_REQUESTS
        """The maximum of parallel requests to one host."""
        self._active: dict[int, Host] = {}
        self._heap: list[tuple[float, int, Host]] = []
        self._pushes = 0
        self._next_review = 0.0
        self._back_gap_s = 1 / config.fetch.connections
        self._back_at: dict[int, float] = {}
        """When the last of the hosts comes back that were sent away, by those who wait together (`Shares.find_group`)."""

    def push(self, host: Host, at: float) -> None:
        """Make a host due at a monotonic time; an earlier entry for it becomes stale."""
        host.due = at
        self._pushes += 1
        heappush(self._heap, (at, self._pushes, host))
        if len(self._heap) > 2 * len(self._active) + _MAX_STALE:
            # Stale entries, some of them due in a day, keep hosts in memory that have left.
            self._heap = [call for call in self._heap if call[2].due == call[0] and call[2].is_active]
            heapify(self._heap)

    def wake(self, host: Host) -> None:
        """Make a host due when its clock allows, if it may have another request."""
        if host.leaving is not None:
            self.settle_leaving(host)
        elif host.is_active and host.due is None and not host.is_resolving and host.in_flight < self.max_in_flight:
            self.push(host, host.ready_at)

    def pop_ready(self, now: float) -> Host | None:
        """Remove the host that has been ready for longest from the heap; inactive hosts enter if needed. None also means that
        too many have had more than their share: the next call goes on."""
        if now >= self._next_review:
            self._review(now)
        if len(self._active) < self._min_active and self._front_queues.has_front():
            self._bring_in(now, 1)
        for _ in range(_PASSED):
            if (host := self._take_aside(now)) is not None:
                return host
            due = self.next_due()
            if due is None or due > now:
                self._bring_in(now, _INCOMING)
                due = self.next_due()
                if due is None or due > now:
                    return None
            host = heappop(self._heap)[2]
            rating = self._rate(host)
            if rating == WITHIN:
                if host.tempo == FAST:
                    self._within_at = now
                return self._take(host, is_surplus=False)
            is_fast = host.tempo == FAST
            if self._has_surplus(now, is_fast=is_fast):
                return self._take(host, is_surplus=True)
            if rating == OVER and self.wants_out():
                self._send_away(host, now)
            else:
                # It stays due, but lets those pass that have not had more than their share.
                self._aside[2 * (not is_fast) + (rating == OVER)].append((due, host))
        return None

    def _take_aside(self, now: float) -> Host | None:
        """The host that has waited for longest of those that have had more than their share, and may be asked all the same."""
        found = [
            aside
            for is_fast in (True, False)
            if (aside := self._find_aside(is_fast=is_fast)) and self._has_surplus(now, is_fast=is_fast)
        ]
        return self._take(min(found, key=lambda aside: aside[0][0]).popleft()[1], is_surplus=True) if found else None

    def _take(self, host: Host, *, is_surplus: bool) -> Host:
        host.due = None
        host.is_surplus = is_surplus
        self.surplus -= is_surplus
        return host

    def _has_surplus(self, now: float, *, is_fast: bool) -> bool:
        """Whether there is something to give away, or nobody else to give it to; nobody queues before slow hosts that wait."""
        if not is_fast and now - self._kept_out_at <= _OTHERS_S:
            return False
        if self.is_awaited(now) and not self._lanes.has_room:
            return False
        return self.surplus > 0 or now - self._within_at > _OTHERS_S

    def is_awaited(self, now: float) -> bool:
        """Whether hosts within their share that do not answer fast wait for connections."""
        return now - self._waited_at <= _OTHERS_S

    def _bring_back(self, now: float) -> None:
        """Make hosts due, behind others, that are no longer over their share: what they had is forgotten with time."""
        for aside in self._aside:
            for _ in range(len(aside)):
                due, host = aside.popleft()
                if host.due != due or not host.is_active:
                    continue
                if self._rate(host) == WITHIN:
                    self.push(host, now)
                else:
                    aside.append((due, host))

    def _find_aside(self, *, is_fast: bool) -> deque[tuple[float, Host]] | None:
        """Where the next host is that is ready, but has had more than its share."""
        for aside in self._aside[:2] if is_fast else self._aside[2:]:
            while aside and not (aside[0][1].due == aside[0][0] and aside[0][1].is_active):
                aside.popleft()
            if aside:
                return aside
        return None

    def next_due(self) -> float | None:
        """The monotonic time at which the next active host is due; None if the heap is empty."""
        heap = self._heap
        while heap:
            at, _, host = heap[0]
            if host.due == at and host.is_active:
                return at
            heappop(heap)
        return None

    def next_in_s(self) -> float | None:
        """Seconds until a host is due or can enter, except hosts that were given up; None if there is none."""
        now = self._clock.monotonic()
        due = self.next_due()
        waits_s = [] if due is None else [due - now]
        if self._find_aside(is_fast=True):
            waits_s.append(0.0)
        if self._find_aside(is_fast=False):
            waits_s.append(max(self._kept_out_at + _OTHERS_S - now, 0.0))
        if len(self._active) < self._max_active:
            wait_s = self._front_queues.next_in_s(self._clock.now())
            if wait_s is not None:
                waits_s.append(wait_s)
            if self._front_queues.has_front():
                waits_s.append(0.0)
        return max(min(waits_s), 0.0) if waits_s else None

    def find_waiting(self, limit: int) -> list[HostEntry]:
        """The active hosts with the longest waits and their reasons, the longest first, at most `limit`."""
        now = self._clock.monotonic()
        # This runs every second. Few heap entries are stale, so they are filtered last; late entries are at the end.
        calls = nlargest(2 * limit, reversed(self._heap))
        found = [(due, host) for due, _, host in calls if due > now and host.due == due and host.is_active]
        if len(found) < limit < len(calls) and calls[-1][0] > now:
            every = (call for call in self._heap if call[0] > now and call[2].due == call[0] and call[2].is_active)
            found = [(due, host) for due, _, host in nlargest(limit, every)]
        return [_describe_wait(host, due - now) for due, host in found[:limit]]

    def wants_out(self) -> bool:
        """Whether a host should make room for others after its run."""
        return len(self._active) >= self._min_active and self._others_want_in()

    def hold_back(self, host: Host, now: float) -> None:
        """Make a host that got no connection due again soon, or let it wait on disk if others want its place. A host that has not
        answered yet keeps its place unless it is over its share."""
        tempo = host.tempo
        if not host.is_surplus:
            self._shares.expect(host)
            if tempo != FAST:
                self._waited_at = now
        if tempo != FAST and not host.is_surplus and self._lanes.is_kept_out(host):
            self._kept_out_at = now
        if (tempo != UNASKED or host.is_surplus) and host.is_quiet and self.wants_out():
            self._send_away(host, now)
        else:
            self.push(host, now + _HOLD_S)

    def _send_away(self, host: Host, now: float) -> None:
        """Let a host wait on disk for its next chance. Hosts come back one after the other, more often than their lane can serve
        them: a hundred thousand that come at once would be tried in vain, and others would have to wait for that. But nobody
        waits for hosts that are over a share which is not theirs."""
        group = self._shares.find_group(host)
        after_others = min(self._back_at.get(group, 0.0) + self._back_gap_s, now + _MAX_AWAY_S)
        self._back_at[group] = max(after_others, now + (_OVER_AWAY_S if group else _WITHIN_AWAY_S))
        self.leave(host, WAITING_QUEUE, self._back_at[group])

    def leave(self, host: Host, kind: int, until: float) -> None:
        """Move a host to a front queue until a monotonic time, as soon as nothing of it is in flight."""
        host.leaving = (kind, until)
        host.due = None
        self.settle_leaving(host)

    def recall(self, host: Host) -> None:
        """Bring back a host that was given up, or that is still leaving."""
        self._hosts.set_status(host, NORMAL)
        if host.is_active:
            host.leaving = None
        elif host.record.queued:
            self._front_queues.put_front(host)

    def settle_leaving(self, host: Host) -> None:
        """Deactivate a leaving host if nothing of it is in flight any more."""
        if host.leaving is None or not host.is_quiet:
            return
        kind, until = host.leaving
        self._queues.stage_heads(host)
        if host.record.queued:
            if kind == FRONT:
                self._front_queues.put_front(host)
            else:
                self.put_aside(host, kind, until)
        else:
            # The links of its last page are not added yet; they put the host into a queue again.
            self._front_queues.remove(host)
        self._drop(host)

    def put_aside(self, host: Host, kind: int, until: float) -> None:
        """Stage a host in a waiting queue until a monotonic time."""
        self._front_queues.put_waiting(host, kind, self._clock.now() + max(until - self._clock.monotonic(), 0.0))

    def settle_empty(self, host: Host) -> None:
        """Deactivate a host that has nothing left, before a commit, so that the same commit deletes its entry."""
        self._queues.stage_heads(host)
        if not host.record.queued:
            self._hosts.set_status(host, NORMAL)
            self._front_queues.remove(host)
            if host.is_active and host.is_quiet:
                self._drop(host)

    def _drop(self, host: Host) -> None:
        host.forget_run()
        host.is_active = False
        if self._active.pop(host.number, None):
            self._counts.active_hosts -= 1
        self._hosts.mark_changed(host)

    def _bring_in(self, now: float, limit: int) -> None:
        """Make hosts active until one is ready."""
        for _ in range(limit):
            host = self._let_in(now)
            if host is None or host.ready_at <= now:
                return

    def _let_in(self, now: float) -> Host | None:
        """Make a host active, if there is room; one whose wait is over comes before those in front queues."""
        wall = self._clock.now()
        while len(self._active) < self._max_active:
            found = self._front_queues.take_due(wall) or self._front_queues.take_front()
            if found is None:
                return None
            number, key = found
            host = self._hosts.get(number)
            if host.is_active or host.record.front_key != key:
                continue
            self._hosts.set_status(host, NORMAL)
            self._hosts.find_domain(host)
            host.is_active = True
            self._active[number] = host
            self._counts.active_hosts += 1
            # The name can be looked up before the host's clock allows a request.
            self.push(host, now)
            return host
        return None

    def _others_want_in(self) -> bool:
        """Whether a host is in a front queue, or its wait on disk is over."""
        return self._front_queues.has_front() or self._front_queues.has_due(self._clock.now())

    def _has_others(self, now: float) -> bool:
        """Whether slow hosts have to leave connections to others, of which some may wait to enter."""
        if any(map(self._may_be_fast, self._active.values())):
            return True
        for _ in range(_INCOMING):
            host = self._let_in(now)
            if host is None:
                return self._others_want_in()
            if self._may_be_fast(host):
                return True
        return False

    def _may_be_fast(self, host: Host) -> bool:
        """Whether a host is not known to be slow. Farms have any number of hosts without an answer: those over their share do not
        count."""
        rating, tempo = self._rate(host), host.tempo
        return tempo == FAST or (tempo == UNASKED and rating == WITHIN)

    def _rate(self, host: Host) -> int:
        """How much a host has had; also notes whether it is doubted."""
        host.is_doubted = self._shares.doubts(host)
        return self._shares.rate(host)

    def _review(self, now: float) -> None:
        """Note which hosts share the connections, and move hosts with long waits to disk if others wait to enter."""
        self._next_review = now + _REVIEW_S
        self._shares.review(now)
        self._bring_back(now)
        self._back_at = {group: at for group, at in self._back_at.items() if at > now}
        self._lanes.has_others = self._has_others(now)
        if len(self._active) < self._min_active or not self._others_want_in():
            return
        for host in list(self._active.values()):
            if host.due is not None and host.due - now > _LONG_WAIT_S and host.is_quiet:
                self.leave(host, WAITING_QUEUE, host.due)


def _describe_wait(host: Host, wait_s: float) -> HostEntry:
    record = host.record
    reason = record.wait_reason or "the usual delay"
    if host.blocked and host.due == min(host.blocked.values()):
        reason = f"robots.txt of {min(host.blocked, key=host.blocked.__getitem__)} cannot be had"
    return HostEntry(
        record.name,
        record.pages,
        record.structured,
        record.quads,
        record.failed,
        host.scheduled,
        round(wait_s, 3),
        reason,
    )
