"""Which contents were seen: who had a body first, over the whole crawl, and which texts of a domain are alike.

The digest of a body belongs to one shard, whichever shards meet it. It is claimed at once, and released with the commit of the
page that has other content now; a release that concerns another shard goes there with the links. What is told to be first may
have changed since, so only the order of what is fetched depends on it.
"""

from msgspec.msgpack import Encoder
from xxhash import xxh3_64_intdigest, xxh3_128_digest

from rdfspider.frontier.contents.simhashes import SimhashEntry, Simhashes
from rdfspider.frontier.core import Core
from rdfspider.frontier.hosts.back_queues import Slot
from rdfspider.frontier.hosts.mirrors import describe_mirror, note_page, note_repeated
from rdfspider.frontier.outbox import Outbox
from rdfspider.records import DuplicateKind, Judgement, Lease, Verdict
from rdfspider.urls import host_of

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
