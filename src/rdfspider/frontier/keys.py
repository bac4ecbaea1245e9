"""Packs numbers and texts into table keys, and unpacks them. Numbers are big-endian, so that keys sort in their order.

A host has a number, and a URL has a sequence within its host. The id of a URL is its shard, host number and sequence.
"""

from struct import Struct

# The bits of host numbers and sequences in ids, by the number of shards of which the rest is enough. It never changes in a crawl.
_BITS = ((1 << 10, 28, 26), (1 << 12, 27, 25))
MAX_SHARDS = _BITS[-1][0]
MAX_HOSTS = 1 << 28
"""No host has a higher number, however many shards there are."""
PRIORITIES = 8

# The front queues: 0 to 7 by priority, then those of hosts that wait for a time, were given up, or are over budget.
WAITING_QUEUE, GIVEN_UP_QUEUE, OVER_BUDGET_QUEUE = 8, 9, 10

_ROW = Struct(">II")
_QUEUE = Struct(">IBI")
_FRONT_KEY = Struct(">BQI")
_VISIT = Struct(">QQ")
_OUTBOX = Struct(">III")

pack_row = _ROW.pack
"""Host number and sequence: the key of a URL's row."""
pack_url = _ROW.pack
"""Host number and the first 32 bits of a URL's fingerprint: the key in the table of seen URLs."""
pack_queue = _QUEUE.pack
"""Host number, priority and order: the key of an entry in a back queue."""
pack_front_key = _FRONT_KEY.pack
"""Front queue, turn (an order or a time in milliseconds) and host number: the key of a host that is not in memory."""
pack_visit = _VISIT.pack
"""Time in milliseconds and URL id: the key of a future visit."""
pack_outbox = _OUTBOX.pack
"""Destination, epoch and sequence: the key of an outbox entry."""

unpack_row = _ROW.unpack
unpack_url = _ROW.unpack
unpack_queue = _QUEUE.unpack
unpack_front_key = _FRONT_KEY.unpack
unpack_visit = _VISIT.unpack
unpack_outbox = _OUTBOX.unpack


def pack_host(number: int) -> bytes:
    """The key of a host's record."""
    return number.to_bytes(4, "big")


def pack_name(host: str) -> bytes:
    """The key of a host's number: its labels in reverse, so that the hosts of a domain are neighbours."""
    return ",".join(reversed(host.split("."))).encode()


def pack_meta(key: str) -> bytes:
    """The key of a value that the frontier keeps for its caller."""
    return b"user/" + key.encode()


class UrlIds:
    """The ids of URLs, unique over all shards of a crawl."""

    __slots__ = ("_host_bits", "_sequence_bits", "max_sequence")

    def __init__(self, shards: int) -> None:
        self._host_bits, self._sequence_bits = next(bits[1:] for bits in _BITS if shards <= bits[0])
        self.max_sequence = 1 << self._sequence_bits
        """How many URLs a host may have."""

    def could_give(self, hosts: int, urls: int) -> bool:
        """Whether one shard can have given out so many numbers of hosts, and sequences over all hosts."""
        return 0 <= hosts < 1 << self._host_bits and 0 <= urls < 1 << (self._host_bits + self._sequence_bits)

    def pack(self, shard: int, number: int, sequence: int) -> int:
        """The id of a URL."""
        return shard << (self._host_bits + self._sequence_bits) | number << self._sequence_bits | sequence

    def unpack(self, url_id: int) -> tuple[int, int, int]:
        """Split an id into shard, host number and sequence."""
        return (
            url_id >> (self._host_bits + self._sequence_bits),
            url_id >> self._sequence_bits & ((1 << self._host_bits) - 1),
            url_id & (self.max_sequence - 1),
        )


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL, to which one robots.txt applies."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.split('/', 1)[0].rpartition('@')[2]}"
