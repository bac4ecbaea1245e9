"""What is kept out of all indexes: the rules of `forgotten.txt` and a page's URL in, whether it is forgotten out.

A rule is a URL, which means that page alone, or a site, which means that host or domain and all hosts below it.
"""

import re
from hashlib import blake2b

from rdfspider.disk import add_lines, read_lines
from rdfspider.errors import UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.urls import host_of, normalise_url

# Bytes of a mark: it must fit wherever a cursor does, also where numbers are floats.
_MARK_BYTES = 6
# A path, a query, a port or a user is no part of a site; an IPv6 address, in brackets, has colons.
_SITE = re.compile(r"[^/\\?#@%*:\[\]\s]+|\[[0-9a-fA-F:.]+\]")


class Forgotten:
    """The rules as of one reading of the file."""

    def __init__(self, rules: list[str]) -> None:
        """UsageError where one is neither a URL nor a site."""
        self._urls: set[str] = set()
        self._sites: set[str] = set()
        for rule in rules:
            normal = _normalise_rule(rule)
            (self._urls if "://" in normal else self._sites).add(normal)
        told = "\n".join(sorted(self._urls | self._sites))
        self.mark = int.from_bytes(blake2b(told.encode(), digest_size=_MARK_BYTES).digest()) if told else 0
        """For the cursor: which rules these are; 0 where there are none. A person may delete some, and others may come."""

    @classmethod
    def load(cls, paths: IndexPaths) -> "Forgotten":
        """The rules of a crawl; UsageError where the file has a line that is none, since what it means would not be forgotten."""
        try:
            return cls(read_lines(paths.forgotten))
        except UsageError as error:
            where = "" if str(paths.forgotten) in str(error) else f"{paths.forgotten}: "
            raise UsageError(f"{where}{error}") from error

    def matches(self, url: str) -> bool:
        """Whether the page of a URL in normal form is forgotten."""
        if url in self._urls:
            return True
        if not self._sites:
            return False
        host = host_of(url).rstrip(".")
        while host:
            if host in self._sites:
                return True
            host = host.partition(".")[2]
        return False


def add_rule(paths: IndexPaths, text: str) -> str:
    """Note what a person wants forgotten, a URL or a site; what that is, in words. Doing it again changes nothing."""
    rule = _normalise_rule(text)
    add_lines(paths.forgotten, [rule])
    return f"the page {rule}" if "://" in rule else f"all pages of {rule} and of all hosts below it"


def _normalise_rule(text: str) -> str:
    """The rule as it is compared: an address, or a host, as the crawler writes them."""
    text = text.strip()
    if "://" in text:
        url = normalise_url(text)
        if url is None:
            raise UsageError(f"{text[:200]!r} is no http or https address")
        return url
    name = text.removesuffix("/").strip(".")
    address = normalise_url(f"http://{name}/") if _SITE.fullmatch(name) else None
    if address is None:
        raise UsageError(
            f"{text[:200]!r} is neither a page nor a site: write a page with https:// or http:// before it, "
            "and a site as its host or domain alone, such as example.org"
        )
    return host_of(address)
