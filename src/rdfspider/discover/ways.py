"""How URLs are found, and what each way means for them: one line in a table each."""

from typing import NamedTuple


class Way(NamedTuple):
    """What holds for URLs that were found in one way."""

    rank: int = 0
    """Steps of priority before (below 0) or behind (above 0) a plain link of the same depth."""
    is_scoped: bool = True
    """Whether the scope of the crawl decides on them; what serves the crawl itself may be anywhere."""
    is_followed: bool = True
    """Whether what such a page leads to is followed in turn."""
    is_errand: bool = False
    """Whether it is fetched for the crawl itself, and counts as no page; its name is the verdict's reason then."""


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
    "sitemap": Way(rank=-8, is_scoped=False, is_errand=True),
    "context": Way(rank=-8, is_scoped=False, is_followed=False, is_errand=True),
    "ontology": Way(rank=-1, is_scoped=False, is_followed=False),
}
"""seed: given by a person; link: of a page; redirect: a server sent us on; canonical, next, alternate: what a page says of
itself; header: a `Link` header; data: in statements; listed: in a sitemap; sitemap: such a list itself; context: of JSON-LD;
ontology: the namespace of terms that were met."""
