"""Maps host names to registrable domains and to the shards that own them.

The public-suffix list and the number of shards are fixed when a crawl is created, because a host must never move to
another shard.
"""

from functools import lru_cache
from ipaddress import ip_address

from publicsuffixlist import PublicSuffixList
from xxhash import xxh3_64_intdigest


class Domains:
    """The registrable domains and the shards of the hosts of one crawl."""

    def __init__(self, suffix_list: bytes, shards: int) -> None:
        self._suffixes = PublicSuffixList(suffix_list.decode().splitlines(), accept_unknown=True)
        self.shards = shards
        # The links of a page go to few hosts, and a lookup takes some microseconds.
        self.domain = lru_cache(maxsize=65_536)(self._find_domain)
        self.shard = lru_cache(maxsize=65_536)(self._find_shard)

    def _find_domain(self, host: str) -> str:
        """The registrable domain of a host; for an IP address, a public suffix or a name without dots, the host itself."""
        if host.startswith("[") or _is_address(host):
            return host
        return self._suffixes.privatesuffix(host.rstrip(".")) or host

    def _find_shard(self, host: str) -> int:
        return xxh3_64_intdigest(self.domain(host).encode()) % self.shards


def bundled_suffix_list() -> bytes:
    """The public-suffix list for new crawls."""
    from importlib.resources import files

    return files("publicsuffixlist").joinpath("public_suffix_list.dat").read_bytes()


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
