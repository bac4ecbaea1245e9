"""Which URLs a crawl is about: a URL enters, what keeps it out leaves, in words for people.

The scope is that of the seeds, and grows with what seeds redirect to. A link is judged by the shard that found it; its owner
takes it as it comes, for it may not have heard yet of what widened the scope.
"""

import re

from rdfspider.config import CrawlConfig
from rdfspider.domains import Domains
from rdfspider.urls import MAX_URL_CHARS, host_of

# Where the path of a URL begins at the latest. No name is longer than 253 characters; what is remembered of each that was met
# would take much memory otherwise.
_MAX_AUTHORITY_END = 300


class Scope:
    """The part of the web that a crawl is about."""

    def __init__(self, config: CrawlConfig, domains: Domains) -> None:
        self._config = config
        self._domains = domains
        self._places: set[str] = set()
        """Hosts, domains or prefixes, by what the scope is."""
        # One by one: put together, they would share the names and numbers of their groups.
        self._include = tuple(map(re.compile, config.include))
        self._exclude = tuple(map(re.compile, config.exclude))

    def extend(self, url: str) -> bool:
        """Take the place of a seed, or of what it redirects to, into the scope; False where it was there."""
        if self._config.scope == "any":
            return False
        place = self._place_of(url)
        if place in self._places:
            return False
        self._places.add(place)
        return True

    def find_refusal(self, url: str) -> str:
        """Why a link is not followed; empty where it is."""
        if len(url) > MAX_URL_CHARS or url.find("/", len("https://")) > _MAX_AUTHORITY_END:
            return "too long"
        if not self._is_inside(url):
            return f"outside the scope ({self._config.scope})"
        if self._include and not any(pattern.search(url) for pattern in self._include):
            return "filter: no --include matches"
        for pattern in self._exclude:
            if pattern.search(url):
                return f"filter: --exclude {pattern.pattern}"
        return ""

    def _is_inside(self, url: str) -> bool:
        match self._config.scope:
            case "any":
                return True
            case "host":
                return host_of(url) in self._places
            case "domain":
                return self._domains.domain(host_of(url)) in self._places
            case _:
                # Prefixes end in a slash, so only the URL's own folders can be one.
                path = url.partition("?")[0]
                end = path.rfind("/")
                while end > len("https://"):
                    if path[: end + 1] in self._places:
                        return True
                    end = path.rfind("/", 0, end)
                return False

    def _place_of(self, url: str) -> str:
        match self._config.scope:
            case "host":
                return host_of(url)
            case "domain":
                return self._domains.domain(host_of(url))
            case _:
                return url.partition("?")[0].rpartition("/")[0] + "/"
