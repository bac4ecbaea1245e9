"""The URL-seen test, which every link of every page goes through: links in, those that were never seen out.

A cache of recent fingerprints answers most of them. It has one slot for each and forgets what it must, so that it takes
eight bytes an entry and never grows. The rest is asked of the table, whose keys are the host's number and 32 bits of the
fingerprint: short, so that the table stays small and quick. Where such a key is there, the URL's row tells whose it is, so
that two URLs with one fingerprint are still two. A secret of the crawl salts them, so that no page can make such URLs.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from rdfspider.frontier.hosts.hosts import Host, Hosts
from rdfspider.frontier.keys import pack_row, pack_url, unpack_row, unpack_url
from rdfspider.frontier.store import Rows, Store
from rdfspider.frontier.url_rows import Row, decode_row, decode_url, is_untouched
from rdfspider.records import Discovered
from rdfspider.urls import MAX_URL_CHARS
from rdfspider.ways import REQUESTED_WAYS

RECENT_URLS = 1_000_000
"""Fingerprints in memory, a shard, of 8 bytes each: most links of a page were seen just before."""


class NewLinks:
    """Links to one host whose URLs were never seen, and the keys of those in the table."""

    __slots__ = ("host", "keys", "links")

    def __init__(self, host: Host) -> None:
        self.host = host
        self.keys: list[bytes] = []
        self.links: list[Discovered] = []


class Rediscovered(NamedTuple):
    """A link to a URL that is known, by a way that may be better than the one on record."""

    link: Discovered
    number: int
    """That of its host."""
    sequence: int
    row: Row
    """As it is on record, or was staged first."""


class Sieve:
    """Which URLs were seen, also by what is staged and not committed yet."""

    def __init__(self, store: Store, hosts: Hosts, salt: int) -> None:
        self._urls = store.tables["urls"]
        self._ledger = store.tables["ledger"]
        self._hosts = hosts
        self._salt = salt
        size = 1 << max(RECENT_URLS - 1, 1).bit_length()
        self._mask = size - 1
        self._recent = array("Q", bytes(8 * size))
        self._staged: dict[bytes, Discovered] = {}
        """Links whose URLs the table does not know yet, by their keys in it."""
        self._sequences: dict[bytes, int] = {}
        """The sequences of the same URLs."""

    def sift(self, links: Iterable[Discovered], max_depth: int) -> tuple[Iterable[NewLinks], list[Rediscovered]]:
        """Links to URLs that were never seen, each once, by host; from now on they are. Their hosts are created.
        And of the links to known ones those whose way may be better than the one on record."""
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
        """Those that the cache has not seen, and their keys; from now on it has."""
        recent, mask, salt = self._recent, self._mask, self._salt
        keys: list[bytes] = []
        unsure: list[Discovered] = []
        last_authority, number = "", 0
        for link in links:
            url = link.url
            fingerprint = xxh3_64_intdigest(url.encode(), salt)
            slot = fingerprint & mask
            # What was seen at another depth is another matter where there is a limit. The slot tells the bits that this takes.
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
                # Most links of a page go where the last one went.
                last_authority = authority
                known_number = self._hosts.number_of(authority)
                number = self._hosts.create(authority).number if known_number is None else known_number
            keys.append(pack_url(number, fingerprint >> 32))
            unsure.append(link)
        return keys, unsure

    def _read_stored(self, keys: list[bytes]) -> dict[bytes, tuple[bytes, bytes]]:
        """The rows, with their keys, of the URLs that have these keys in the table; not all may be taken."""
        # All at once: one question for each would take twice the time.
        taken = {key: found for key, found in zip(keys, self._urls.get_many(keys), strict=True) if found is not None}
        rows = [_to_row(key, found) for key, found in taken.items()]
        return dict(zip(taken, zip(rows, self._ledger.get_many(rows), strict=True), strict=True)) if rows else {}

    def _meet_staged(self, link: Discovered, key: bytes, other: Discovered) -> Iterator[Rediscovered]:
        """A link to a URL that another has brought since the last commit; none where that was in the same call."""
        sequence = self._sequences.get(key)
        if sequence is not None:
            row = Row(other.via, other.depth, other.found_as, other.chain)
            yield Rediscovered(link, unpack_url(key)[0], sequence, row)

    def put(self, keys: Sequence[bytes], first: int) -> None:
        """Stage under which sequences of their host new URLs are found: this one, and those that follow."""
        self._sequences.update(zip(keys, count(first), strict=False))
        self._urls.put_many(
            (key, sequence.to_bytes((sequence.bit_length() + 7) // 8, "big"))
            for sequence, key in enumerate(keys, first)
        )

    def find(self, url: str) -> tuple[int, int] | None:
        """Host number and sequence of a URL that was committed; None when it was never seen."""
        number = self._hosts.number_of(url.split("/", 3)[2])
        if number is None:
            return None
        sequence = find_sequence(self._urls, self._ledger, self._salt, number, url)
        return None if sequence is None else (number, sequence)

    def settle(self) -> None:
        """After a commit: the table knows what was staged."""
        self._staged.clear()
        self._sequences.clear()

    def _find_free_key(self, key: bytes, url: str) -> bytes | None:
        """The key for a URL whose own is taken; None when it was taken by the URL itself."""
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


def find_sequence(urls: Rows, ledger: Rows, salt: int, number: int, url: str) -> int | None:
    """The sequence of a URL of a host, as the tables have it; None when it was never seen."""
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
    """The key of a URL's row, from its key in the table of fingerprints and what is found there."""
    return pack_row(unpack_url(key)[0], int.from_bytes(found, "big"))


def _probes(key: bytes) -> Iterator[bytes]:
    """A key, and those that are tried after it when another URL has it."""
    yield key
    for number in count():
        yield key + number.to_bytes(2, "big")
