"""The ways in which URLs are found, and the rules for each: one table row per way, which every stage reads."""

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

# Relations between the pages of a list, in both directions (HTML, 4.6.7; RFC 5005).
_PAGES = frozenset({"next", "prev", "previous", "next-archive", "prev-archive", "first", "last"})
# Relations to another description of the same thing, which is data if its media type is. FOAF files were linked by `meta`.
_DATA = frozenset({"alternate", "describedby", "meta"})
_NO_DATA_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})
UNFOLLOWED = frozenset({"nofollow", "ugc", "sponsored"})
"""Relations by which a page does not vouch for what it links to."""
# Limits the memory of the cache, as pages choose the length of these values.
_MAX_CHARS = 100


# Frontiers store the values, and an rdfspider that does not know a value cannot read its row. So a new, renamed or removed way
# needs a higher `VERSION` in `crawl/folder.py`, which must still accept the older layouts. An older rdfspider then refuses the
# folder: "mycrawl was made by another version of rdfspider: its layout is 2, this one reads 1".
class Way(StrEnum):
    """How a URL was found; `Discovered.found_as` and archive metadata hold the value."""

    SEED = "seed"
    """Given by a person, or the redirect target of such a URL."""
    LINK = "link"
    """A link on a page."""
    REDIRECT = "redirect"
    """The target of a redirect."""
    CANONICAL = "canonical"
    """The canonical URL that a page declares."""
    NEXT = "next"
    """The next or previous page of a list, by a link relation."""
    ALTERNATE = "alternate"
    """A data version of a page, by a link relation."""
    HEADER = "header"
    """A `Link` header."""
    DATA = "data"
    """A URL in extracted statements."""
    LISTED = "listed"
    """An entry of a sitemap."""
    SITEMAP = "sitemap"
    """A sitemap itself."""
    CONTEXT = "context"
    """A JSON-LD context that a page waits for."""
    ONTOLOGY = "ontology"
    """The namespace of terms in extracted data."""
    IMPORT = "import"
    """Imported with a page from another archive."""
    UNKNOWN = ""
    """Not known: for a DNS name, a robots.txt, or a page of a file that is indexed in place."""

    __repr__ = str.__repr__


class WayRules(NamedTuple):
    """The rules for URLs that were found in one way."""

    rank: int = 0
    """Priority steps before (below 0) or behind (above 0) a plain link of the same depth."""
    is_scoped: bool = True
    """Whether the crawl's scope applies; URLs that serve the crawl itself may be anywhere."""
    is_followed: bool = True
    """Whether links from such a page are followed."""
    is_prerequisite: bool = False
    """Whether it is fetched for the crawl's own use, and does not count as a page."""
    is_requested: bool = False
    """Whether a person or a waiting page requests exactly this URL: it then counts even if the URL is known, and is accepted
    before the scope check."""
    is_trap_exempt: bool = False
    """Whether it is fetched even if similar URLs gave nothing new."""


WAYS = {
    Way.SEED: WayRules(rank=-8, is_requested=True, is_trap_exempt=True),
    Way.LINK: WayRules(),
    Way.REDIRECT: WayRules(),
    Way.CANONICAL: WayRules(rank=-1),
    Way.NEXT: WayRules(rank=-1),
    Way.ALTERNATE: WayRules(rank=-1),
    Way.HEADER: WayRules(),
    Way.DATA: WayRules(rank=-1),
    Way.LISTED: WayRules(),
    Way.SITEMAP: WayRules(rank=-8, is_scoped=False, is_prerequisite=True, is_trap_exempt=True),
    Way.CONTEXT: WayRules(
        rank=-8,
        is_scoped=False,
        is_followed=False,
        is_prerequisite=True,
        is_requested=True,
        is_trap_exempt=True,
    ),
    Way.ONTOLOGY: WayRules(rank=-1, is_scoped=False, is_followed=False, is_trap_exempt=True),
    Way.IMPORT: WayRules(),
    Way.UNKNOWN: WayRules(),
}
UNSCOPED_WAYS = frozenset(way for way, rules in WAYS.items() if not rules.is_scoped)
PREREQUISITE_WAYS = frozenset(way for way, rules in WAYS.items() if rules.is_prerequisite)
REQUESTED_WAYS = frozenset(way for way, rules in WAYS.items() if rules.is_requested)
TRAP_EXEMPT_WAYS = frozenset(way for way, rules in WAYS.items() if rules.is_trap_exempt)


def name_way(relation: str, media_type: str) -> Way:
    """The way for a link with this relation; `media_type` is the type that the link declares for its target."""
    return _name_way(relation[:_MAX_CHARS], media_type[:_MAX_CHARS])


@lru_cache(maxsize=1024)
def _name_way(relation: str, media_type: str) -> Way:
    relations = frozenset(relation.lower().split())
    if "canonical" in relations:
        return Way.CANONICAL
    if not relations.isdisjoint(_PAGES):
        return Way.NEXT
    # Alternates without a type, or with an HTML type, are the same page in other languages or for other screens.
    if media_type not in _NO_DATA_TYPES and not relations.isdisjoint(_DATA):
        return Way.ALTERNATE
    return Way.LINK


def is_unfollowed(relation: str) -> bool:
    """Whether a link with this relation is not to be followed."""
    return _has_unfollowed(relation) if len(relation) <= _MAX_CHARS else _has_unfollowed.__wrapped__(relation)


@lru_cache(maxsize=1024)
def _has_unfollowed(relation: str) -> bool:
    return not UNFOLLOWED.isdisjoint(relation.lower().split())
