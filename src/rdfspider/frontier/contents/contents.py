"""Which contents were seen: digests and simhashes enter; who had the content first, and similar pages, leave.

The digest of a body belongs to one shard, whichever shards meet it. Simhashes are compared within a domain: a simhash is cut
into four blocks, and two that differ in three bits at most have one block in common, so each page is in four rows, found by its
domain, the number of a block and its bits. A row holds the newest pages only, so that none grows for ever.
"""

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from msgspec.msgpack import Encoder
from xxhash import xxh3_64_digest, xxh3_64_intdigest, xxh3_128_digest

from rdfspider.frontier.core import Core
from rdfspider.frontier.hosts.back_queues import Slot
from rdfspider.frontier.hosts.origins import describe_mirror, note_page, note_repeated
from rdfspider.frontier.outbox import Outbox
from rdfspider.frontier.store import Store
from rdfspider.records import DuplicateKind, Judgement, Lease, Verdict
from rdfspider.urls import host_of

# The bits in which the simhashes of two pages may differ; one less than there are blocks.
_MAX_DISTANCE = 3
_BLOCKS, _BLOCK_BITS = 4, 16
_ROW_PAGES = 16

_PAGE = Struct(">QQQ?")
_KEY = Struct(">8sBH")


class SimhashEntry(NamedTuple):
    """A page whose text is known."""

    simhash: int
    facts: int
    """A digest of what it states."""
    url_id: int
    is_absence: bool
    """Whether it says that there is no such page."""


class Simhashes:
    """The simhashes of pages, those that are recorded and those that are about to be."""

    def __init__(self, store: Store) -> None:
        self._table = store.tables["likenesses"]
        self._staged: dict[bytes, bytes] = {}
        """Rows that changed since the last commit; an empty one is deleted."""
        self._met: dict[str, dict[int, SimhashEntry]] = {}
        """Pages that are not recorded yet, by domain and id: those that come meanwhile are compared with them too."""

    def meet(self, domain: str, page: SimhashEntry) -> list[SimhashEntry]:
        """Pages of the domain that are like this one, the newest first; it is itself known from now on, for as long as the
        process lives, and longer if it is recorded."""
        met = self._met.setdefault(domain, {})
        found = {known.url_id: known for known in reversed(met.values())}
        for row in self._read(_make_keys(domain, page.simhash)).values():
            for known in _unpack(row):
                found.setdefault(known.url_id, known)
        found.pop(page.url_id, None)
        met[page.url_id] = page
        return [known for known in found.values() if (known.simhash ^ page.simhash).bit_count() <= _MAX_DISTANCE]

    def record(self, domain: str, url_id: int, old_simhash: int, is_kept: bool) -> None:
        """Stage that a page has its old simhash no more, and that it has the one that it was met with, if that is kept."""
        met = self._met.get(domain)
        page = met.pop(url_id, None) if met else None
        if met is not None and not met:
            del self._met[domain]
        if old_simhash:
            for key, row in self._read(_make_keys(domain, old_simhash)).items():
                rest = _leave_out(row, url_id)
                if rest != row:
                    self._put(key, rest)
        if page is not None and is_kept:
            packed = _PAGE.pack(*page)
            for key, row in self._read(_make_keys(domain, page.simhash)).items():
                self._put(key, (packed + _leave_out(row, url_id))[: _ROW_PAGES * _PAGE.size])

    def settle(self) -> None:
        """After a commit: the table knows all rows."""
        self._staged.clear()

    def _read(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """Rows as they will be; those that there are not are empty."""
        rows = dict(zip(keys, self._table.get_many(keys), strict=True))
        return {key: self._staged.get(key, row or b"") for key, row in rows.items()}

    def _put(self, key: bytes, row: bytes) -> None:
        self._staged[key] = row
        if row:
            self._table.put(key, row)
        else:
            self._table.delete(key)


def _make_keys(domain: str, simhash: int) -> list[bytes]:
    place = xxh3_64_digest(domain.encode())
    return [
        _KEY.pack(place, block, simhash >> (block * _BLOCK_BITS) & ((1 << _BLOCK_BITS) - 1)) for block in range(_BLOCKS)
    ]


def _unpack(row: bytes) -> Iterator[SimhashEntry]:
    return (SimhashEntry(*fields) for fields in _PAGE.iter_unpack(row))


def _leave_out(row: bytes, url_id: int) -> bytes:
    return b"".join(_PAGE.pack(*known) for known in _unpack(row) if known.url_id != url_id)


_encode = Encoder().encode


def pack_digest(digest: str) -> bytes:
    """The key of a digest, whichever way an archive writes it: 16 bytes, which no two contents of a crawl share by chance."""
    return xxh3_128_digest(digest.encode())


def find_claim_owner(key: bytes, shards: int) -> int:
    """The shard that knows who had a content first."""
    return xxh3_64_intdigest(key) % shards


class Contents:
    """The contents that this shard's pages have, and the digests that belong to it."""

    def __init__(self, core: Core, outbox: Outbox, shard: int, shards: int) -> None:
        self._digests = core.store.tables["digests"]
        self._hosts = core.hosts
        self._url_of = core.url_rows.url_of
        self._outbox = outbox
        self._shard = shard
        self._shards = shards
        self._simhashes = Simhashes(core.store)
        self._claimed: dict[bytes, str] = {}
        """Digests that were claimed or released since the last commit; an empty URL stands for none."""

    def claim(self, key: bytes, url: str) -> str:
        """The URL that had this content first, by the digests that belong to this shard; where none had, that is this one from
        now on, staged for the next commit."""
        first = self._find_first(key)
        if not first:
            self._digests.put(key, url.encode())
            first = self._claimed[key] = url
        return first

    def release(self, key: bytes, url: str) -> None:
        """Stage that a URL has this content no more; that of another URL is not touched."""
        if self._find_first(key) == url:
            self._digests.delete(key)
            self._claimed[key] = ""

    def forget(self, digest: str, url: str) -> None:
        """Stage that a URL of this shard's has a content no more, whichever shard that belongs to."""
        key = pack_digest(digest)
        owner = find_claim_owner(key, self._shards)
        if owner == self._shard:
            self.release(key, url)
        else:
            self._outbox.put(owner, _encode({key: url}))

    def find_alike(self, lease: Lease, simhash: int, facts: int, is_absence: bool) -> list[tuple[str, SimhashEntry]]:
        """Pages of the same domain with nearly the same text as a leased one, the newest first. The leased one, with the digest
        of what it states and whether it says that there is no such page, is found by others from now on."""
        domain = self._hosts.get(lease.host_number).domain.name
        found = self._simhashes.meet(domain, SimhashEntry(simhash, facts, lease.url_id, is_absence))
        return [(url, known) for known in found if (url := self._url_of(known.url_id))]

    def record(self, slot: Slot, url_id: int, verdict: Verdict, digest: str, judgement: Judgement) -> None:
        """Stage what follows from a page's content, and that its old one is outdated; the row still tells of that one."""
        host, row, url = slot.host, slot.row, slot.url
        if row.digest and row.digest != digest:
            self.forget(row.digest, url)
        # One that repeats another page need not be found: the other one is.
        is_kept = judgement.duplicate in (DuplicateKind.NONE, DuplicateKind.SOFT_404)
        self._simhashes.record(host.domain.name, url_id, row.simhash, is_kept)
        record = host.record
        if verdict.is_page and note_page(record.repeats, url, judgement):
            record.mirror_of = describe_mirror(record.name, record.repeats)

    def note_repeated(self, origin: str, other: str) -> None:
        """Stage that another origin has a page that one of this shard's had first, at the same path."""
        number = self._hosts.number_of(host_of(origin))
        if number is None:
            return
        host = self._hosts.get(number)
        if note_repeated(host.record.repeats, origin, other):
            self._hosts.mark_changed(host)
        host.record.mirror_of = describe_mirror(host.record.name, host.record.repeats)

    def settle(self) -> None:
        """After a commit: the tables know all."""
        self._claimed.clear()
        self._simhashes.settle()

    def _find_first(self, key: bytes) -> str:
        first = self._claimed.get(key)
        if first is None:
            stored = self._digests.get(key)
            first = stored.decode() if stored else ""
        return first
