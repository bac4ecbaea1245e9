"""Maps host names to registrable domains and to the shards that own them.

The public-suffix list and the number of shards are fixed when a crawl is created, because a host must never move to
another shard.
"""

from functools import lru_cache
from ipaddress import ip_address

from publicsuffixlist import PublicSuffixList, encode_idn
from xxhash import xxh3_64_intdigest


class Domains:
    """The registrable domains and the shards of the hosts of one crawl."""

    def __init__(self, suffix_list: bytes, shards: int) -> None:
        self._suffixes = PublicSuffixList(_list_rules(suffix_list), accept_unknown=True, accept_encoded_idn=False)
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
        return find_shard(self.domain(host), self.shards)


def find_shard(domain: str, shards: int) -> int:
    """The shard that owns all hosts of a registrable domain."""
    return xxh3_64_intdigest(domain.encode()) % shards


def bundled_suffix_list() -> bytes:
    """The public-suffix list for new crawls."""
    from importlib.resources import files

    return files("publicsuffixlist").joinpath("public_suffix_list.dat").read_bytes()


def _list_rules(suffix_list: bytes) -> list[str]:
    """The rules of a list, those beyond ASCII in Punycode, too. The library would encode all of them, for twice the time."""
    words = [line.partition(" ")[0].rstrip() for line in suffix_list.decode().splitlines()]
    rules = [word for word in words if word and not word.startswith("//")]
    # A rule that begins with `!` is an exception.
    return rules + ["!" * (rule[0] == "!") + encode_idn(rule.lstrip("!")) for rule in rules if not rule.isascii()]


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
