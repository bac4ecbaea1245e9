"""How URLs are found, and what each way means for them: one line in a table each."""

from functools import lru_cache
from typing import NamedTuple


class Way(NamedTuple):
    """What holds for URLs that were found in one way."""

    rank: int = 0
    """Steps of priority before (below 0) or behind (above 0) a plain link of the same depth."""
    is_scoped: bool = True
    """Whether the scope of the crawl decides on them; what serves the crawl itself may be anywhere."""
    is_followed: bool = True
    """Whether what such a page leads to is followed in turn."""


WAYS = {
    "seed": Way(rank=-8),
    "link": Way(),
    "redirect": Way(),
    "canonical": Way(rank=-1),
    "next": Way(rank=-1),
    "alternate": Way(rank=-1),
    "header": Way(),
    "data": Way(rank=-1),
    "listed": Way(),
    "sitemap": Way(rank=-8, is_scoped=False),
    "context": Way(rank=-8, is_scoped=False, is_followed=False),
    "ontology": Way(rank=-1, is_scoped=False, is_followed=False),
}
"""seed: given by a person; link: of a page; redirect: a server sent us on; canonical, next, alternate: what a page says of
itself; header: a `Link` header; data: in statements; listed: in a sitemap; sitemap: such a list itself; context: of JSON-LD;
ontology: the namespace of terms that were met."""


# Where a list goes on, and the other way (HTML, 4.6.7; RFC 5005).
_PAGES = frozenset({"next", "prev", "previous", "next-archive", "prev-archive", "first", "last"})
# Relations to what says the same, or more, of the same thing: data, where its type is that of data. `meta` is how FOAF was found.
_DATA = frozenset({"alternate", "describedby", "meta"})
_NO_DATA_TYPES = frozenset({"", "text/html", "application/xhtml+xml"})


# What is remembered must not be as long as a page likes.
_MAX_CHARS = 100


def name_way(relation: str, media_type: str) -> str:
    """What a link with such a relation is found as; `media_type` is what it says that its target is."""
    return _name_way(relation[:_MAX_CHARS], media_type[:_MAX_CHARS])


@lru_cache(maxsize=1024)
def _name_way(relation: str, media_type: str) -> str:
    relations = frozenset(relation.lower().split())
    if "canonical" in relations:
        return "canonical"
    if not relations.isdisjoint(_PAGES):
        return "next"
    # Alternates without a type, or of a page's, are the same page in other languages and for other screens.
    if media_type not in _NO_DATA_TYPES and not relations.isdisjoint(_DATA):
        return "alternate"
    return "link"
