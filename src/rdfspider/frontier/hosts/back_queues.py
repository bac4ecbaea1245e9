"""The back queues of each host: URLs by priority, then by arrival, read in runs and removed when they are recorded.

The new URLs of a page on one host get consecutive sequences, so a queue entry is a span: first sequence, count and turn. An
entry is deleted when the last of its URLs is recorded, and the stored head passes only recorded URLs: leased ones are read
again by the next process. Within one process the cursor is ahead of the head, and reads nothing twice.
"""

from collections import deque

from msgspec.msgpack import Decoder, Encoder

from rdfspider.frontier.hosts.hosts import Host
from rdfspider.frontier.keys import origin_of, pack_queue, pack_row, unpack_queue
from rdfspider.frontier.store import Store
from rdfspider.frontier.url_rows import SCHEDULED, UrlRow, UrlRows, decode_row, decode_url

# Entries per read; most hold several URLs.
_ENTRIES = 20
# Entries that are searched for a URL to withdraw, which takes some milliseconds.
_ENTRIES_SEARCHED = 2000

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


class Queue:
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


class Queues:
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
                queue = host.queues[priority] = Queue(host.record.heads[priority])
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
        if find_read(host, sequence) is not None:
            return False
        left = _ENTRIES_SEARCHED
        for priority in sorted(host.record.queued):
            queue = host.queues.get(priority)
            order = queue.head[0] if queue is not None else host.record.heads[priority][0]
            lower, upper = pack_queue(host.number, priority, order), pack_queue(host.number, priority + 1, 0)
            for _, value in (entries := self._queue.scan(lower, upper, left)):
                first, count, entry_turn = decode_entry(value)
                if first <= sequence < first + count and entry_turn == turn:
                    host.record.queued[priority] -= 1
                    self._queued[priority] -= 1
                    return True
            left -= len(entries)
            if left <= 0:
                break
        return False

    def stage_heads(self, host: Host) -> None:
        """Write the heads of a host's queues into its record, and drop empty queues."""
        record = host.record
        for priority, queue in host.queues.items():
            record.heads[priority] = queue.head
        for priority in [priority for priority, count in record.queued.items() if not count]:
            del record.queued[priority], record.heads[priority]
            host.queues.pop(priority, None)

    def _read_entries(self, host: Host, priority: int, queue: Queue) -> bool:
        lower = pack_queue(host.number, priority, queue.next_order)
        upper = pack_queue(host.number, priority + 1, 0)
        for key, value in self._queue.scan(lower, upper, _ENTRIES):
            order = unpack_queue(key)[2]
            offset = queue.start_offset if order == queue.next_order else 0
            queue.spans.append(Span(priority, order, *decode_entry(value), offset))
            queue.next_order, queue.start_offset = order + 1, 0
        return bool(queue.spans)

    def _read_rows(self, host: Host, queue: Queue, limit: int, slots: list[Slot]) -> None:
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
