"""Finds duplicates: digests and simhashes enter; the URL that had a content first, and pages with similar text, leave.

Each digest belongs to one shard, whichever shards find it. Simhashes are compared within a domain: a simhash is cut into four
blocks, and two that differ in at most three bits share at least one block. So each page is in four rows, with its domain, a
block's number and its bits as the key. A row holds only the newest pages, which limits its size.
"""

from collections.abc import Iterator
from struct import Struct

from msgspec.msgpack import Encoder
from xxhash import xxh3_64_digest, xxh3_64_intdigest, xxh3_128_digest

from rdfspider.codes import DuplicateKind
from rdfspider.frontier.core import Core
from rdfspider.frontier.hosts.origins import describe_mirror, note_page, note_repeated
from rdfspider.frontier.hosts.queues import Slot
from rdfspider.frontier.outbox import Outbox
from rdfspider.frontier.store import Store
from rdfspider.records import Fingerprint, Judgement, Lease, Verdict
from rdfspider.urls import host_of

# The bits in which the simhashes of similar pages may differ; one less than there are blocks.
_MAX_DISTANCE = 3
_BLOCKS, _BLOCK_BITS = 4, 16
_ROW_PAGES = 16

# The simhash, the digest of the statements, the number of the URL, and whether the page is a soft 404.
_PAGE = Struct(">QQQ?")
_KEY = Struct(">8sBH")
_encode = Encoder().encode


class Simhashes:
    """The simhashes of recorded pages, and of pages that are about to be recorded."""

    def __init__(self, store: Store) -> None:
        self._rows = store.overlay("likenesses")
        self._met: dict[str, dict[int, Fingerprint]] = {}
        """Pages that are not recorded yet, by domain and id; later pages are compared with them too."""

    def meet(self, domain: str, url_id: int, page: Fingerprint) -> dict[int, Fingerprint]:
        """Pages of the domain with nearly the same text by id, the newest first. The page itself can be found from now on, as
        long as the process lives, and longer if it is recorded."""
        met = self._met.setdefault(domain, {})
        found = dict(reversed(met.items()))
        for row in self._read(_make_keys(domain, page.simhash)).values():
            for known_id, known in _unpack(row):
                found.setdefault(known_id, known)
        found.pop(url_id, None)
        met[url_id] = page
        return {
            key: known for key, known in found.items() if (known.simhash ^ page.simhash).bit_count() <= _MAX_DISTANCE
        }

    def record(self, domain: str, url_id: int, old_simhash: int, is_kept: bool) -> None:
        """Stage the removal of a page's old simhash, and if `is_kept` the one that it was met with."""
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
            packed = _PAGE.pack(page.simhash, page.statements, url_id, page.is_soft_404)
            for key, row in self._read(_make_keys(domain, page.simhash)).items():
                self._put(key, (packed + _leave_out(row, url_id))[: _ROW_PAGES * _PAGE.size])

    def _read(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """Rows with their staged changes; missing ones are empty."""
        return {key: row or b"" for key, row in zip(keys, self._rows.get_many(keys), strict=True)}

    def _put(self, key: bytes, row: bytes) -> None:
        if row:
            self._rows.put(key, row)
        else:
            self._rows.delete(key)


def pack_digest(digest: str) -> bytes:
    """The key of a digest in any archive's notation: 16 bytes, which no two contents of a crawl share by chance."""
    return xxh3_128_digest(digest.encode())


def find_claim_owner(key: bytes, shards: int) -> int:
    """The shard that a digest belongs to, which knows the first URL with that content."""
    return xxh3_64_intdigest(key) % shards


class Contents:
    """The contents of this shard's pages, and the digests that belong to this shard."""

    def __init__(self, core: Core, outbox: Outbox, shard: int, shards: int) -> None:
        self._digests = core.store.overlay("digests")
        self._hosts = core.hosts
        self._url_of = core.url_rows.url_of
        self._outbox = outbox
        self._shard = shard
        self._shards = shards
        self._simhashes = Simhashes(core.store)

    def claim(self, key: bytes, url: str) -> str:
        """The URL that had this content first, for a digest of this shard; if there is none, this URL is staged as the first."""
        first = self._find_first(key)
        if not first:
            self._digests.put(key, url.encode())
            first = url
        return first

    def release(self, key: bytes, url: str) -> None:
        """Stage that a URL no longer has this content; the claim of another URL stays."""
        if self._find_first(key) == url:
            self._digests.delete(key)

    def forget(self, digest: str, url: str) -> None:
        """Stage that a URL of this shard no longer has a content, whichever shard the digest belongs to."""
        key = pack_digest(digest)
        owner = find_claim_owner(key, self._shards)
        if owner == self._shard:
            self.release(key, url)
        else:
            self._outbox.put(owner, _encode({key: url}))

    def find_alike(self, lease: Lease, page: Fingerprint) -> list[tuple[str, Fingerprint]]:
        """Pages of the domain with nearly the same text as a leased one, the newest first. Others find the leased page from now
        on."""
        domain = self._hosts.get(lease.host_number).domain.name
        found = self._simhashes.meet(domain, lease.url_id, page)
        return [(url, known) for url_id, known in found.items() if (url := self._url_of(url_id))]

    def record(self, slot: Slot, url_id: int, verdict: Verdict, digest: str, judgement: Judgement) -> None:
        """Stage the consequences of a page's content, and release the old content, which the row still holds."""
        host, row, url = slot.host, slot.row, slot.url
        if row.digest and row.digest != digest:
            self.forget(row.digest, url)
        # A page that repeats another need not be found, as the other one is.
        is_kept = judgement.duplicate in (DuplicateKind.NONE, DuplicateKind.SOFT_404)
        self._simhashes.record(host.domain.name, url_id, row.simhash, is_kept)
        record = host.record
        if verdict.is_page and note_page(record.repeats, url, judgement):
            record.mirror_of = describe_mirror(record.name, record.repeats)

    def note_repeated(self, origin: str, other: str) -> None:
        """Stage that another origin repeats a page of this shard's origin at the same path."""
        number = self._hosts.number_of(host_of(origin))
        if number is None:
            return
        host = self._hosts.get(number)
        if note_repeated(host.record.repeats, origin, other):
            self._hosts.mark_changed(host)
        host.record.mirror_of = describe_mirror(host.record.name, host.record.repeats)

    def _find_first(self, key: bytes) -> str:
        stored = self._digests.get(key)
        return stored.decode() if stored else ""


def _make_keys(domain: str, simhash: int) -> list[bytes]:
    place = xxh3_64_digest(domain.encode())
    return [
        _KEY.pack(place, block, simhash >> (block * _BLOCK_BITS) & ((1 << _BLOCK_BITS) - 1)) for block in range(_BLOCKS)
    ]


def _unpack(row: bytes) -> Iterator[tuple[int, Fingerprint]]:
    for simhash, statements, url_id, is_soft_404 in _PAGE.iter_unpack(row):
        yield url_id, Fingerprint(simhash, statements, is_soft_404)


def _leave_out(row: bytes, url_id: int) -> bytes:
    return b"".join(_PAGE.pack(*fields) for fields in _PAGE.iter_unpack(row) if fields[2] != url_id)
