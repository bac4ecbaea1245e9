"""Host names in, registrable domains and shards out: which hosts belong together, and which shard owns them.

The public-suffix list and the number of shards are fixed when a crawl is created, because a host must never change its owner.
"""

from functools import lru_cache
from ipaddress import ip_address

from publicsuffixlist import PublicSuffixList
from xxhash import xxh3_64_intdigest


class Domains:
    """The map from hosts to domains and shards of one crawl."""

    def __init__(self, suffix_list: bytes, shards: int) -> None:
        self._suffixes = PublicSuffixList(suffix_list.decode().splitlines(), accept_unknown=True)
        self.shards = shards
        # Links of one page go to few hosts; looking a domain up costs some microseconds.
        self.domain = lru_cache(maxsize=65_536)(self._find_domain)
        self.shard = lru_cache(maxsize=65_536)(self._find_shard)

    def _find_domain(self, host: str) -> str:
        """The registrable domain of a host; an address, a public suffix and a bare name are their own."""
        if host.startswith("[") or _is_address(host):
            return host
        return self._suffixes.privatesuffix(host.rstrip(".")) or host

    def _find_shard(self, host: str) -> int:
        return xxh3_64_intdigest(self.domain(host).encode()) % self.shards


def bundled_suffix_list() -> bytes:
    """The public-suffix list that a new crawl is given."""
    from importlib.resources import files

    return files("publicsuffixlist").joinpath("public_suffix_list.dat").read_bytes()


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
