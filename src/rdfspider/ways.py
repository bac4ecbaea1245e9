"""The ways in which URLs are found, and what each means for them: one row in a table each, which every stage reads."""

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple


class Way(StrEnum):
    """How a URL was found; `Discovered.found_as` and the metadata of archives have it as its text."""

    SEED = "seed"
    """Given by a person, or what such a URL redirects to."""
    LINK = "link"
    """A link of a page."""
    REDIRECT = "redirect"
    """A server sent us on."""
    CANONICAL = "canonical"
    """What a page says its address is."""
    NEXT = "next"
    """Where a page says that a list goes on, or went on before."""
    ALTERNATE = "alternate"
    """What a page says has the same as data."""
    HEADER = "header"
    """A `Link` header."""
    DATA = "data"
    """In statements."""
    LISTED = "listed"
    """In a sitemap."""
    SITEMAP = "sitemap"
    """A sitemap itself."""
    CONTEXT = "context"
    """A context of JSON-LD that a page waits for."""
    ONTOLOGY = "ontology"
    """The namespace of terms that were met."""
    IMPORT = "import"
    """With a page from an archive made elsewhere."""
    UNKNOWN = ""
    """Nobody tells: a name, a robots.txt, a page of a file that is indexed where it is."""

    __repr__ = str.__repr__


class WayRules(NamedTuple):
    """What holds for URLs that were found in one way."""

    rank: int = 0
    """Steps of priority before (below 0) or behind (above 0) a plain link of the same depth."""
    is_scoped: bool = True
    """Whether the scope of the crawl decides on them; what serves the crawl itself may be anywhere."""
    is_followed: bool = True
    """Whether what such a page leads to is followed in turn."""
    is_prerequisite: bool = False
    """Whether it is fetched for the crawl's own use, and counts as no page."""
    is_requested: bool = False
    """Whether a person, or a page that waits, asks for just this URL, so that it counts also where the URL is known already, and
    is taken before the scope is asked."""
    is_trap_exempt: bool = False
    """Whether it is fetched whatever URLs like it have given."""


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


# Where a list goes on, and the other way (HTML, 4.6.7; RFC 5005).
_PAGES = frozenset({"next", "prev", "previous", "next-archive", "prev-archive", "first", "last"})
# Relations to what says the same, or more, of the same thing: data, where its type is that of data. `meta` is how FOAF was found.
_DATA = frozenset({"alternate", "describedby", "meta"})
_NO_DATA_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})


# What is remembered must not be as long as a page likes.
_MAX_CHARS = 100


def name_way(relation: str, media_type: str) -> Way:
    """What a link with such a relation is found as; `media_type` is what it says that its target is."""
    return _name_way(relation[:_MAX_CHARS], media_type[:_MAX_CHARS])


@lru_cache(maxsize=1024)
def _name_way(relation: str, media_type: str) -> Way:
    relations = frozenset(relation.lower().split())
    if "canonical" in relations:
        return Way.CANONICAL
    if not relations.isdisjoint(_PAGES):
        return Way.NEXT
    # Alternates without a type, or of a page's, are the same page in other languages and for other screens.
    if media_type not in _NO_DATA_TYPES and not relations.isdisjoint(_DATA):
        return Way.ALTERNATE
    return Way.LINK
