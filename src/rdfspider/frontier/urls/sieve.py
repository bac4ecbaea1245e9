"""The URL-seen test for every link of every page: links enter, those whose URLs were never seen leave.

A cache of recent fingerprints answers most of them. It has one slot of eight bytes per fingerprint, overwrites older ones, and
never grows. The others are looked up in the table, whose keys are short to keep it small and fast: the host's number and 32 bits
of the fingerprint. If a key exists, the URL's row says which URL it is, so that two URLs with the same fingerprint stay two. A
secret of the crawl salts the fingerprints, so that no page can construct such URLs.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from rdfspider.errors import UsageError
from rdfspider.frontier.entries import Counts
from rdfspider.frontier.hosts.hosts import Host, Hosts
from rdfspider.frontier.keys import UrlIds, pack_row, pack_url, unpack_row, unpack_url
from rdfspider.frontier.store import Store, TableRows
from rdfspider.frontier.url_rows import UrlRow, decode_row, decode_url, is_untouched
from rdfspider.records import Discovered
from rdfspider.urls import MAX_URL_CHARS
from rdfspider.ways import REQUESTED_WAYS, Way

RECENT_URLS = 1_000_000
"""Fingerprints in memory per shard, of 8 bytes each; most links of a page were seen recently."""


class NewLinks:
    """Links to one host whose URLs were never seen, and their keys for the table."""

    __slots__ = ("host", "keys", "links")

    def __init__(self, host: Host) -> None:
        self.host = host
        self.keys: list[bytes] = []
        self.links: list[Discovered] = []


class Rediscovered(NamedTuple):
    """A link to a known URL, by a way that may be better than the recorded one."""

    link: Discovered
    number: int
    """The number of its host."""
    sequence: int
    row: UrlRow
    """The committed row, or the one that was staged first."""


class Sieve:
    """The URLs that were seen, staged ones included."""

    def __init__(self, store: Store, hosts: Hosts, salt: int, shard: int, ids: UrlIds) -> None:
        self._ids = ids
        self._shard = shard
        self._urls = store.tables["urls"]
        self._ledger = store.tables["ledger"]
        self._hosts = hosts
        self._salt = salt
        size = 1 << max(RECENT_URLS - 1, 1).bit_length()
        self._mask = size - 1
        self._recent = array("Q", bytes(8 * size))
        self._staged: dict[bytes, Discovered] = {}
        """Links whose URLs are not in the table yet, by their keys."""
        self._sequences: dict[bytes, int] = {}
        """The sequences of these URLs, by the same keys."""

    def sift(self, links: Iterable[Discovered], max_depth: int) -> tuple[Iterable[NewLinks], list[Rediscovered]]:
        """Links to URLs that were never seen, each once, by host, and links to known URLs whose way may be better than the
        recorded one. The new URLs count as seen from now on, and their hosts are created."""
        staged, new, met = self._staged, dict[int, NewLinks](), list[Rediscovered]()
        keys, unsure = self._find_unsure(links, max_depth)
        last_number, group = 0, None
        stored = self._read_stored(keys)
        for key, link in zip(keys, unsure, strict=True):
            found, other = stored.get(key), staged.get(key)
            free_key: bytes | None = key
            if found is not None and decode_url(found[1]) == link.url:
                if max_depth or link.found_as in REQUESTED_WAYS or not is_untouched(found[1]):
                    number, sequence = unpack_row(found[0])
                    met.append(Rediscovered(link, number, sequence, decode_row(found[1])))
                continue
            if other is not None and other.url == link.url:
                is_nearer = link.depth < other.depth or len(link.chain) < len(other.chain)
                if is_nearer or link.found_as in REQUESTED_WAYS:
                    met += self._meet_staged(link, key, other)
                continue
            if found is not None or other is not None:
                free_key = self._find_free_key(key, link.url)
            if free_key:
                number = unpack_url(key)[0]
                if number != last_number:
                    last_number, group = number, new.get(number)
                if group is None:
                    group = new[number] = NewLinks(self._hosts.get(number))
                group.keys.append(free_key)
                group.links.append(link)
                staged[free_key] = link
        return new.values(), met

    def _find_unsure(self, links: Iterable[Discovered], max_depth: int) -> tuple[list[bytes], list[Discovered]]:
        """The links that are not in the cache, and their keys; from now on they are in it."""
        recent, mask, salt = self._recent, self._mask, self._salt
        keys: list[bytes] = []
        unsure: list[Discovered] = []
        last_authority, number = "", 0
        for link in links:
            url = link.url
            fingerprint = xxh3_64_intdigest(url.encode(), salt)
            slot = fingerprint & mask
            # With a depth limit, a URL at another depth counts as unseen. The slot's number restores the bits that XOR changes.
            mark = fingerprint ^ link.depth if max_depth else fingerprint
            if recent[slot] == mark and link.found_as not in REQUESTED_WAYS and not link.modified:
                continue
            if len(url) > MAX_URL_CHARS:
                continue
            if max_depth and link.depth > max_depth:
                continue
            if not link.chain:
                recent[slot] = mark
            authority = url.split("/", 3)[2]
            if authority != last_authority:
                # Most links of a page go to the same host as the link before.
                last_authority = authority
                known_number = self._hosts.number_of(authority)
                number = self._introduce(authority, link) if known_number is None else known_number
            keys.append(pack_url(number, fingerprint >> 32))
            unsure.append(link)
        return keys, unsure

    def _introduce(self, authority: str, link: Discovered) -> int:
        """Create the host of a link, below the domain of the page with the link unless a person named it."""
        line = link.line
        if link.via and not line and link.found_as != Way.SEED:
            shard, number, _ = self._ids.unpack(link.via)
            line = self._hosts.line_below(number) if shard == self._shard else ()
        return self._hosts.create(authority, line).number

    def _read_stored(self, keys: list[bytes]) -> dict[bytes, tuple[bytes, bytes]]:
        """The row keys and rows of the URLs that have these keys in the table; keys that are not there are left out."""
        # Single lookups would take twice the time.
        taken = {key: found for key, found in zip(keys, self._urls.get_many(keys), strict=True) if found is not None}
        rows = [_to_row(key, found) for key, found in taken.items()]
        return dict(zip(taken, zip(rows, self._ledger.get_many(rows), strict=True), strict=True)) if rows else {}

    def _meet_staged(self, link: Discovered, key: bytes, other: Discovered) -> Iterator[Rediscovered]:
        """A link to a URL that was staged since the last commit; nothing if it was found in the same call."""
        sequence = self._sequences.get(key)
        if sequence is not None:
            row = UrlRow(other.via, other.depth, other.found_as, other.chain)
            yield Rediscovered(link, unpack_url(key)[0], sequence, row)

    def put(self, keys: Sequence[bytes], first: int) -> None:
        """Stage the sequences of new URLs of a host: `first` and those that follow."""
        self._sequences.update(zip(keys, count(first), strict=False))
        self._urls.put_many(
            (key, sequence.to_bytes((sequence.bit_length() + 7) // 8, "big"))
            for sequence, key in enumerate(keys, first)
        )

    def add(self, link: Discovered, counts: Counts) -> tuple[int, int]:
        """Stage a URL that is new and in no queue; return its host number and sequence."""
        (new,) = self.sift([link], 0)[0]
        record = new.host.record
        sequence = self._hosts.find_sequence(new.host)
        if sequence >= self._ids.max_sequence:
            raise UsageError(f"{record.name} has more URLs than a crawl can hold")
        self.put(new.keys, sequence)
        record.next_sequence += 1
        counts.known += 1
        return new.host.number, sequence

    def find(self, url: str) -> tuple[int, int] | None:
        """Host number and sequence of a committed URL; None if it was never seen."""
        number = self._hosts.number_of(url.split("/", 3)[2])
        if number is None:
            return None
        sequence = find_sequence(self._urls, self._ledger, self._salt, number, url)
        return None if sequence is None else (number, sequence)

    def settle(self) -> None:
        """After a commit, forget what was staged, as the table has it."""
        self._staged.clear()
        self._sequences.clear()

    def _find_free_key(self, key: bytes, url: str) -> bytes | None:
        """A free key for a URL whose own is taken; None if the URL itself has one."""
        for probe in _probes(key):
            staged = self._staged.get(probe)
            if staged is None:
                found = self._urls.get(probe)
                if found is None:
                    return probe
            other = staged.url if staged else decode_url(self._ledger.get(_to_row(key, found)))
            if other == url:
                return None
        return None


def find_sequence(urls: TableRows, ledger: TableRows, salt: int, number: int, url: str) -> int | None:
    """The sequence of a URL of a host in the tables; None if it was never seen."""
    key = pack_url(number, xxh3_64_intdigest(url.encode(), salt) >> 32)
    for probe in _probes(key):
        found = urls.get(probe)
        if found is None:
            return None
        sequence = int.from_bytes(found, "big")
        if decode_url(ledger.get(pack_row(number, sequence))) == url:
            return sequence
    return None


def _to_row(key: bytes, found: bytes) -> bytes:
    """The key of a URL's row, from its key and value in the table of fingerprints."""
    return pack_row(unpack_url(key)[0], int.from_bytes(found, "big"))


def _probes(key: bytes) -> Iterator[bytes]:
    """A key, and those that are tried next if another URL has it."""
    yield key
    for number in count():
        yield key + number.to_bytes(2, "big")
