"""Links in, those that were never seen out: the test that every link of every page goes through.

A cache of recent fingerprints answers most of them. It has one place for each and forgets what it must, so that it takes
eight bytes an entry and never grows. The rest is asked of the table, whose keys are the host's number and 32 bits of the
fingerprint: short, so that the table stays small and quick. Where such a key is there, the ledger tells whose it is, so
that two URLs with one fingerprint are still two. A secret of the crawl salts them, so that no page can make such URLs.
"""

from array import array
from collections.abc import Iterable, Iterator
from itertools import count

from xxhash import xxh3_64_intdigest

from rdfspider.frontier.hosts import Host, Hosts
from rdfspider.frontier.keys import pack_row, pack_url, unpack_url
from rdfspider.frontier.ledger import decode_url
from rdfspider.frontier.store import Store
from rdfspider.records import Discovered
from rdfspider.urls import MAX_URL_CHARS


class NewLinks:
    """Links to one host whose URLs were never seen, and the keys of those in the table."""

    __slots__ = ("host", "keys", "links")

    def __init__(self, host: Host) -> None:
        self.host = host
        self.keys: list[bytes] = []
        self.links: list[Discovered] = []


class Sieve:
    """Which URLs were seen, also by what is staged and not committed yet."""

    def __init__(self, store: Store, hosts: Hosts, cache_entries: int, salt: int) -> None:
        self._urls = store.tables["urls"]
        self._ledger = store.tables["ledger"]
        self._hosts = hosts
        self._salt = salt
        size = 1 << max(cache_entries - 1, 1).bit_length()
        self._mask = size - 1
        self._recent = array("Q", bytes(8 * size))
        self._staged: dict[bytes, str] = {}
        """URLs that the table does not know yet, by their keys in it."""

    def find_new(self, links: Iterable[Discovered], max_depth: int) -> Iterable[NewLinks]:
        """Those that were never seen, each once, by host; from now on they are. Their hosts are created."""
        staged, new = self._staged, dict[int, NewLinks]()
        keys, unsure = self._find_unsure(links, max_depth)
        last_number, group = 0, None
        stored = self._read_stored(keys)
        for key, link in zip(keys, unsure, strict=True):
            other = stored.get(key) or staged.get(key)
            if other == link.url:
                continue
            free_key = key if other is None else self._find_free_key(key, link.url)
            if free_key:
                number = unpack_url(key)[0]
                if number != last_number:
                    last_number, group = number, new.get(number)
                if group is None:
                    group = new[number] = NewLinks(self._hosts.get(number))
                group.keys.append(free_key)
                group.links.append(link)
                staged[free_key] = link.url
        return new.values()

    def _find_unsure(self, links: Iterable[Discovered], max_depth: int) -> tuple[list[bytes], list[Discovered]]:
        """Those that the cache has not seen, and their keys; from now on it has."""
        recent, mask, salt = self._recent, self._mask, self._salt
        keys: list[bytes] = []
        unsure: list[Discovered] = []
        last_authority, number = "", 0
        for link in links:
            url = link.url
            fingerprint = xxh3_64_intdigest(url.encode(), salt)
            place = fingerprint & mask
            if recent[place] == fingerprint or (max_depth and link.depth > max_depth) or len(url) > MAX_URL_CHARS:
                continue
            recent[place] = fingerprint
            authority = url.split("/", 3)[2]
            if authority != last_authority:
                # Most links of a page go where the last one went.
                last_authority = authority
                known_number = self._hosts.number_of(authority)
                number = self._hosts.create(authority).number if known_number is None else known_number
            keys.append(pack_url(number, fingerprint >> 32))
            unsure.append(link)
        return keys, unsure

    def _read_stored(self, keys: list[bytes]) -> dict[bytes, str]:
        """Which URLs have these keys in the table; keys that are free are not in it."""
        # All at once: one question for each would take twice the time.
        taken = {key: found for key, found in zip(keys, self._urls.get_many(keys), strict=True) if found is not None}
        rows = [_to_row(key, found) for key, found in taken.items()]
        return dict(zip(taken, map(decode_url, self._ledger.get_many(rows)), strict=True)) if rows else {}

    def put(self, keys: Iterable[bytes], first: int) -> None:
        """Stage under which sequences of their host new URLs are found: this one, and those that follow."""
        self._urls.put_many(
            (key, sequence.to_bytes((sequence.bit_length() + 7) // 8, "big"))
            for sequence, key in enumerate(keys, first)
        )

    def find(self, url: str) -> tuple[int, int] | None:
        """Host number and sequence of a URL that was committed; None when it was never seen."""
        number = self._hosts.number_of(url.split("/", 3)[2])
        if number is None:
            return None
        key = pack_url(number, xxh3_64_intdigest(url.encode(), self._salt) >> 32)
        for probe in _probes(key):
            found = self._urls.get(probe)
            if found is None:
                return None
            sequence = int.from_bytes(found, "big")
            if decode_url(self._ledger.get(pack_row(number, sequence))) == url:
                return number, sequence
        return None

    def settle(self) -> None:
        """After a commit: the table knows what was staged."""
        self._staged.clear()

    def _find_free_key(self, key: bytes, url: str) -> bytes | None:
        """The key for a URL whose own is taken; None when it was taken by the URL itself."""
        for probe in _probes(key):
            other = self._staged.get(probe)
            if other is None:
                found = self._urls.get(probe)
                if found is None:
                    return probe
                other = decode_url(self._ledger.get(_to_row(key, found)))
            if other == url:
                return None
        return None


def _to_row(key: bytes, found: bytes) -> bytes:
    """The key of a URL's row in the ledger, from its key in the table and what is found there."""
    return pack_row(unpack_url(key)[0], int.from_bytes(found, "big"))


def _probes(key: bytes) -> Iterator[bytes]:
    """A key, and those that are tried after it when another URL has it."""
    yield key
    for number in count():
        yield key + number.to_bytes(2, "big")
