"""The two levels of queues: the front queues of hosts, and the back queues of each host's URLs. All are on disk.

Front queues hold the hosts with URLs that are not active: by the priority of their best URL and their step (`steps.py`), or by
the time at which their wait ends. An active host keeps its entry until it gets another or has nothing left, so a crash loses
none. Only cursors are in memory: the hosts that they have passed are active.

Back queues hold URLs by priority, then by arrival; they are read in runs, and removed when they are recorded. The new URLs of a
page on one host get consecutive sequences, so an entry is a span: first sequence, count and turn. It is deleted when the last of
its URLs is recorded, and the stored head passes only recorded URLs: leased ones are read again by the next process. Within one
process the cursor is ahead of the head, and reads nothing twice.
"""

from bisect import bisect_left
from collections import deque

from msgspec.msgpack import Decoder, Encoder

from rdfspider.codes import Lane
from rdfspider.frontier.entries import LOWEST_PRIORITY
from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.hosts.steps import Steps
from rdfspider.frontier.keys import (
    GIVEN_UP_QUEUE,
    OVER_BUDGET_QUEUE,
    PRIORITIES,
    WAITING_QUEUE,
    origin_of,
    pack_front_key,
    pack_queue,
    pack_row,
    unpack_front_key,
    unpack_queue,
)
from rdfspider.frontier.store import Store
from rdfspider.frontier.url_rows import SCHEDULED, UrlRow, UrlRows, decode_row, decode_url

# Entries of a back queue per read; most hold several URLs.
_ENTRIES_A_READ = 20
# Entries that are searched for a URL to withdraw, which takes some milliseconds.
_ENTRIES_SEARCHED = 2000
# Entries of a front queue per read.
_HOSTS_A_READ = 64
# The number of front queues.
_FRONT_QUEUES = OVER_BUDGET_QUEUE + 1

_encode_entry = Encoder().encode
decode_entry = Decoder(tuple[int, int, int]).decode


class Span:
    """A queue entry in memory."""

    __slots__ = ("count", "first", "offset", "order", "priority", "turn", "unrecorded")

    def __init__(self, priority: int, order: int, first: int, count: int, turn: int, offset: int) -> None:
        self.priority = priority
        self.order = order
        self.first = first
        self.count = count
        self.turn = turn
        self.offset = offset
        """The number of its URLs that were read."""
        self.unrecorded = count - offset
        """The number of its URLs that still keep it in the queue."""


class Slot:
    """A URL that was read from its queue, and will be leased, is leased or waits to be recorded."""

    __slots__ = (
        "host",
        "is_attempt",
        "is_refused",
        "is_turned_away",
        "lane",
        "leased_at",
        "offset",
        "origin",
        "row",
        "sequence",
        "span",
        "url",
    )

    def __init__(self, host: Host, span: Span, offset: int, row: UrlRow, url: str) -> None:
        self.host = host
        self.span = span
        self.offset = offset
        self.sequence = span.first + offset
        self.row = row
        self.url = url
        self.origin = origin_of(url)
        self.leased_at = 0.0
        self.is_refused = False
        self.is_attempt = False
        self.is_turned_away = False
        self.lane = Lane.OPEN


class BackQueue:
    """The part of a back queue that was read: one priority of a host."""

    __slots__ = ("next_order", "outstanding", "spans", "start_offset")

    def __init__(self, head: tuple[int, int]) -> None:
        self.next_order, self.start_offset = head
        """The order of the next entry to read; the offset applies only to an entry with exactly that order."""
        self.spans: deque[Span] = deque()
        """Entries with URLs that were not read yet."""
        self.outstanding: dict[Slot, None] = {}
        """URLs that were read but not recorded, in order."""

    @property
    def head(self) -> tuple[int, int]:
        """The position at which the next process must begin."""
        for slot in self.outstanding:
            return slot.span.order, slot.offset
        if self.spans:
            return self.spans[0].order, self.spans[0].offset
        return self.next_order, self.start_offset


def find_read(host: Host, sequence: int) -> Slot | None:
    """The slot of a URL that was read from its queue but not recorded yet; None if there is none."""
    outstanding = (slot for queue in host.queues.values() for slot in queue.outstanding)
    return next((slot for slot in outstanding if slot.sequence == sequence), None)


class BackQueues:
    """Reads and writes the back queues of all hosts."""

    def __init__(self, store: Store, url_rows: UrlRows, queued: list[int]) -> None:
        """`queued` is the number of scheduled URLs of all hosts by priority, which this object keeps up to date."""
        self._queued = queued
        self._queue = store.tables["queue"]
        self._url_rows = url_rows

    def put(self, host: Host, priority: int, first: int, count: int = 1, turn: int = 0) -> None:
        """Stage URLs with consecutive sequences at the tail of a queue; they can be read after the commit."""
        record = host.record
        order = record.next_order
        record.next_order += 1
        self._queue.put(pack_queue(host.number, priority, order), _encode_entry((first, count, turn)))
        record.queued[priority] = record.queued.get(priority, 0) + count
        self._queued[priority] += count
        record.heads.setdefault(priority, (order, 0))

    def read_run(self, host: Host, limit: int) -> list[Slot]:
        """Up to `limit` next URLs of a host, all of its best priority, as other hosts may have better URLs than its next
        priority; empty if there are no more."""
        slots: list[Slot] = []
        for priority in sorted(host.record.queued):
            queue = host.queues.get(priority)
            if queue is None:
                queue = host.queues[priority] = BackQueue(host.record.heads[priority])
            while len(slots) < limit:
                if not queue.spans and not self._read_entries(host, priority, queue):
                    break
                self._read_rows(host, queue, limit - len(slots), slots)
            if slots:
                break
        return slots

    def remove(self, slot: Slot) -> None:
        """Stage the removal of a URL from its queue."""
        host, span = slot.host, slot.span
        queued = host.record.queued
        queued[span.priority] -= 1
        self._queued[span.priority] -= 1
        del host.queues[span.priority].outstanding[slot]
        self._leave(host, span)

    def withdraw(self, host: Host, sequence: int, turn: int) -> bool:
        """Stage that an unread URL no longer counts in its queue, where reads will skip it because of its new turn. Returns False
        if it was read, or is not among the next entries."""
        found = self.find_unread(host, {sequence: turn})
        if found:
            self.take_out(host, found[sequence])
        return bool(found)

    def take_out(self, host: Host, priority: int) -> None:
        """Stage that an unread URL of a queue no longer counts there; its row must get a new turn."""
        host.record.queued[priority] -= 1
        self._queued[priority] -= 1

    def find_unread(self, host: Host, turns: dict[int, int]) -> dict[int, int]:
        """The queues of unread URLs, given their sequences and turns: the priority by sequence. Those that were read, or are not
        among the next entries, are left out."""
        wanted = {sequence: turn for sequence, turn in turns.items() if find_read(host, sequence) is None}
        ordered = sorted(wanted)
        found: dict[int, int] = {}
        left = _ENTRIES_SEARCHED
        for priority in sorted(host.record.queued):
            queue = host.queues.get(priority)
            order = queue.head[0] if queue is not None else host.record.heads[priority][0]
            lower, upper = pack_queue(host.number, priority, order), pack_queue(host.number, priority + 1, 0)
            for _, value in (entries := self._queue.scan(lower, upper, left)):
                first, count, turn = decode_entry(value)
                for sequence in ordered[bisect_left(ordered, first) : bisect_left(ordered, first + count)]:
                    if wanted[sequence] == turn:
                        found[sequence] = priority
            left -= len(entries)
            if left <= 0 or len(found) == len(wanted):
                break
        return found

    def stage_heads(self, host: Host) -> None:
        """Write the heads of a host's queues into its record, and drop empty queues."""
        record = host.record
        for priority, queue in host.queues.items():
            record.heads[priority] = queue.head
        for priority in [priority for priority, count in record.queued.items() if not count]:
            # URLs that were taken out have left their entries.
            first, _ = record.heads[priority]
            rows = self._queue.scan(pack_queue(host.number, priority, first), pack_queue(host.number, priority + 1, 0))
            for key, _ in rows:
                self._queue.delete(key)
            del record.queued[priority], record.heads[priority]
            host.queues.pop(priority, None)

    def _read_entries(self, host: Host, priority: int, queue: BackQueue) -> bool:
        lower = pack_queue(host.number, priority, queue.next_order)
        upper = pack_queue(host.number, priority + 1, 0)
        for key, value in self._queue.scan(lower, upper, _ENTRIES_A_READ):
            order = unpack_queue(key)[2]
            offset = queue.start_offset if order == queue.next_order else 0
            queue.spans.append(Span(priority, order, *decode_entry(value), offset))
            queue.next_order, queue.start_offset = order + 1, 0
        return bool(queue.spans)

    def _read_rows(self, host: Host, queue: BackQueue, limit: int, slots: list[Slot]) -> None:
        """Read on in the first span; URLs that were recorded out of order, or queued again since, are skipped."""
        span = queue.spans[0]
        offsets = range(span.offset, min(span.offset + limit, span.count))
        keys = [pack_row(host.number, span.first + offset) for offset in offsets]
        for offset, key, value in zip(offsets, keys, self._url_rows.table.get_many(keys), strict=True):
            row = (self._url_rows.find_changed(key) or decode_row(value)) if value else None
            if row and row.state == SCHEDULED and row.turn == span.turn:
                slot = Slot(host, span, offset, row, decode_url(value))
                queue.outstanding[slot] = None
                slots.append(slot)
            else:
                self._leave(host, span)
        span.offset = offsets.stop
        if span.offset >= span.count:
            queue.spans.popleft()

    def _leave(self, host: Host, span: Span) -> None:
        span.unrecorded -= 1
        if not span.unrecorded:
            self._queue.delete(pack_queue(host.number, span.priority, span.order))


class FrontQueues:
    """Puts hosts into front queues, and takes those whose turn it is."""

    def __init__(self, store: Store, next_order: int, longest_wait_s: float, steps: Steps) -> None:
        self._steps = steps
        self._entries = store.tables["places"]
        self.next_order = next_order
        """The turn of the next host in a front queue; stored with every commit."""
        self._longest_wait_s = longest_wait_s
        self._read: list[deque[bytes]] = [deque() for _ in range(_FRONT_QUEUES)]
        """Keys that were read but not taken, by queue."""
        self._cursors = [pack_front_key(kind, 0, 0) for kind in range(_FRONT_QUEUES)]
        self._may_have_more = [True] * _FRONT_QUEUES
        self._staged: dict[int, bytes] = {}
        """The lowest staged key by queue, as reads before the commit miss staged keys."""
        self._choices = 0

    def choose(self, host: Host) -> int:
        """The front queue of a host: that of its best URL, or some before or behind it if the graph says so. What is to come
        first or last by all means does."""
        best = min(host.record.queued)
        step = self._steps.of(host.record.name)
        return min(max(best + step, 1), LOWEST_PRIORITY - 1) if step and 0 < best < LOWEST_PRIORITY else best

    def put_front(self, host: Host) -> None:
        """Stage a host at the tail of its front queue."""
        self._put(host, self.choose(host), self.next_order)
        self.next_order += 1

    def put_waiting(self, host: Host, kind: int, wake: float) -> None:
        """Stage a host that gets no request before a time (seconds since 1970)."""
        self._put(host, kind, max(int(wake * 1000), 0))

    def remove(self, host: Host) -> None:
        """Stage the removal of a host from its queue."""
        if host.record.front_key:
            self._entries.delete(host.record.front_key)
            host.record.front_key = b""

    def has_front(self) -> bool:
        """Whether an inactive host is in a queue of a priority."""
        return any(self._peek(kind) is not None for kind in range(PRIORITIES))

    def take_front(self) -> tuple[int, bytes] | None:
        """The next host and its key. Every second pick is from the best priority, every second of the rest from the next one,
        and so on: better priorities are picked more often, and none starves."""
        self._choices += 1
        first = min((self._choices & -self._choices).bit_length() - 1, PRIORITIES - 1)
        for kind in (first, *range(PRIORITIES)):
            key = self._peek(kind)
            if key is not None:
                self._read[kind].popleft()
                return unpack_front_key(key)[2], key
        return None

    def take_due(self, now: float) -> tuple[int, bytes] | None:
        """A host whose wait is over, given up or not."""
        for kind in (WAITING_QUEUE, GIVEN_UP_QUEUE):
            key = self._peek(kind)
            if key is not None and not self._left_s(key, now):
                self._read[kind].popleft()
                return unpack_front_key(key)[2], key
        return None

    def has_due(self, now: float) -> bool:
        """Whether the wait of a host is over, except hosts that were given up."""
        return self.next_in_s(now) == 0

    def next_in_s(self, now: float) -> float | None:
        """Seconds until the next wait is over, except those of hosts that were given up; None if none waits."""
        key = self._peek(WAITING_QUEUE)
        return None if key is None else self._left_s(key, now)

    def over_budget(self) -> list[int]:
        """The numbers of all hosts that have reached a page limit."""
        rows = self._entries.scan(pack_front_key(OVER_BUDGET_QUEUE, 0, 0), pack_front_key(_FRONT_QUEUES, 0, 0))
        return [unpack_front_key(key)[2] for key, _ in rows]

    def settle(self) -> None:
        """After a commit, make staged keys readable; a new wait may end before those that were already read."""
        for kind, first in self._staged.items():
            self._may_have_more[kind] = True
            if kind >= PRIORITIES:
                self._cursors[kind] = min(self._cursors[kind], first, *self._read[kind])
                self._read[kind].clear()
        self._staged.clear()

    def _left_s(self, key: bytes, now: float) -> float:
        """Seconds until a host's wait is over. A wait longer than the maximum shows that the clock was set back: then this is 0,
        and the host's own clock decides."""
        left_s = unpack_front_key(key)[1] / 1000 - now
        return left_s if 0 < left_s <= self._longest_wait_s else 0.0

    def _put(self, host: Host, kind: int, turn: int) -> None:
        self.remove(host)
        key = host.record.front_key = pack_front_key(kind, turn, host.number)
        self._entries.put(key, b"")
        self._staged[kind] = min(key, self._staged.get(kind, key))

    def _peek(self, kind: int) -> bytes | None:
        read = self._read[kind]
        if not read and self._may_have_more[kind]:
            rows = self._entries.scan(self._cursors[kind], pack_front_key(kind + 1, 0, 0), _HOSTS_A_READ)
            read.extend(key for key, _ in rows)
            self._may_have_more[kind] = len(rows) == _HOSTS_A_READ
            if rows:
                self._cursors[kind] = rows[-1][0] + b"\0"
        return read[0] if read else None
