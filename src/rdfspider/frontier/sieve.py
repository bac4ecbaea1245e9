"""Links in, those that were never seen out: the test that every link of every page goes through.

A cache of recent fingerprints answers most of them. It has one place for each and forgets what it must, so that it takes
eight bytes an entry and never grows. The rest is asked of the table, by host number and fingerprint: those keys are short, so
that the table stays small and quick. Fingerprints are salted by a secret of the crawl, so that no page can make two URLs equal.
"""

from array import array
from collections.abc import Iterable
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from rdfspider.frontier.hosts import Host, Hosts
from rdfspider.frontier.keys import pack_url
from rdfspider.frontier.store import Store
from rdfspider.records import Discovered

# Longer URLs are dropped: common servers refuse request lines of more than 8 KB.
MAX_URL_CHARS = 8192


class NewLink(NamedTuple):
    """A link whose URL was never seen."""

    host: Host
    key: bytes
    link: Discovered


class Sieve:
    """Which URLs were seen, also by what is staged and not committed yet."""

    def __init__(self, store: Store, hosts: Hosts, cache_entries: int, salt: int) -> None:
        self._urls = store.tables["urls"]
        self._hosts = hosts
        self._salt = salt
        size = 1 << max(cache_entries - 1, 1).bit_length()
        self._mask = size - 1
        self._recent = array("Q", bytes(8 * size))
        self._staged: set[bytes] = set()

    def find_new(self, links: Iterable[Discovered], max_depth: int) -> list[NewLink]:
        """Those that were never seen, each once; from now on they are. Their hosts are created."""
        recent, mask, salt, staged = self._recent, self._mask, self._salt, self._staged
        number_of, get_host, is_known = self._hosts.number_of, self._hosts.get, self._urls.get
        new: list[NewLink] = []
        for link in links:
            url = link.url
            fingerprint = xxh3_64_intdigest(url.encode(), salt)
            place = fingerprint & mask
            if recent[place] == fingerprint or (max_depth and link.depth > max_depth) or len(url) > MAX_URL_CHARS:
                continue
            authority = url.split("/", 3)[2]
            number = number_of(authority)
            if number is None:
                host = self._hosts.create(authority)
                key = pack_url(host.number, fingerprint)
                new.append(NewLink(host, key, link))
                staged.add(key)
            else:
                key = pack_url(number, fingerprint)
                if key not in staged and is_known(key) is None:
                    new.append(NewLink(get_host(number), key, link))
                    staged.add(key)
            recent[place] = fingerprint
        return new

    def put(self, key: bytes, sequence: int) -> None:
        """Stage under which sequence of its host a new URL is found."""
        self._urls.put(key, sequence.to_bytes(4, "big"))

    def find(self, url: str) -> tuple[int, int] | None:
        """Host number and sequence of a URL that was committed; None when it was never seen."""
        number = self._hosts.number_of(url.split("/", 3)[2])
        if number is None:
            return None
        found = self._urls.get(pack_url(number, xxh3_64_intdigest(url.encode(), self._salt)))
        return (number, int.from_bytes(found, "big")) if found else None

    def settle(self) -> None:
        """After a commit: the table knows what was staged."""
        self._staged.clear()
