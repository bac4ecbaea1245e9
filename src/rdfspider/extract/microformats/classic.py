"""Classic microformats as microformats 2 would name them: one table.

The parsing specification reads a classic root such as `vcard` as `h-card`, and inside it only classic property names
(`fn` as `p-name`). The table has these names by root, including those that the formats define and the specification's
own list leaves out (hCard's `sound`, hNews).
"""

from functools import lru_cache
from typing import NamedTuple

Names = dict[str, tuple[str, str]]
"""A classic class name, and its prefix and name in microformats 2."""

Rels = tuple[tuple[frozenset[str], str, str], ...]
"""Link relations that are all required, and the prefix and name of the property that they make."""


class Rules(NamedTuple):
    """The property names and link relations inside a classic item."""

    names: Names
    rels: Rels = ()


def _names(*groups: str) -> Names:
    """The table of some groups of words: first a prefix, then `name` or `classic=new`."""
    names: Names = {}
    for group in groups:
        prefix, *words = group.split()
        for word in words:
            old, _, new = word.partition("=")
            names[old] = (prefix, new or old)
    return names


_ADDRESS = "p post-office-box extended-address street-address locality region postal-code country-name"
_BOOKMARK = (frozenset({"bookmark"}), "u", "url")
_SELF_BOOKMARK = (frozenset({"self", "bookmark"}), "u", "url")
# The value of rel-tag is the last segment of the link's path, so it needs a prefix of its own.
_TAG = (frozenset({"tag"}), "tag", "category")

ROOTS: dict[str, str] = {
    "adr": "h-adr",
    "geo": "h-geo",
    "hentry": "h-entry",
    "hfeed": "h-feed",
    "hnews": "h-news",
    "hproduct": "h-product",
    "hrecipe": "h-recipe",
    "hresume": "h-resume",
    "hreview": "h-review",
    "hreview-aggregate": "h-review-aggregate",
    "vcard": "h-card",
    "vevent": "h-event",
}
"""Classic root class names and their types."""

ITEM = "item"
"""A class that is a root, of an `h-item`, only where it is a property of a classic review."""

_RULES: dict[str, Rules] = {
    "adr": Rules(_names(_ADDRESS)),
    "geo": Rules(_names("p latitude longitude")),
    "hentry": Rules(
        _names(
            "p entry-title=name entry-summary=summary author category geo",
            "e entry-content=content",
            "dt published updated",
        ),
        (_BOOKMARK, _TAG),
    ),
    "hfeed": Rules(_names("p site-title=name site-description=summary author category", "u url photo"), (_TAG,)),
    "hnews": Rules(
        _names("p entry dateline geo source-org"),
        ((frozenset({"principles"}), "u", "principles"),),
    ),
    "hproduct": Rules(_names("p fn=name brand category description price review", "u photo url identifier")),
    "hrecipe": Rules(
        _names(
            "p fn=name ingredient yield summary author nutrition category review",
            "e instructions",
            "dt duration published",
            "u photo",
        ),
        (_TAG,),
    ),
    "hresume": Rules(_names("p summary contact education experience skill affiliation")),
    "hreview": Rules(
        _names(
            "p summary=name item reviewer=author rating best worst category",
            "e description=content",
            "dt dtreviewed=published",
        ),
        (_SELF_BOOKMARK, _TAG),
    ),
    "hreview-aggregate": Rules(
        _names("p summary=name item rating best worst average count votes category", "e description=content")
    ),
    "vcard": Rules(
        _names(
            _ADDRESS,
            "p fn=name honorific-prefix given-name additional-name family-name honorific-suffix nickname sort-string",
            "p org organization-name organization-unit title=job-title role category note adr label geo latitude",
            "p longitude tel tz mailer agent class key",
            "u email logo photo sound url uid",
            "dt bday rev",
        )
    ),
    "vevent": Rules(
        _names(
            "p summary=name description category location attendee contact organizer status",
            "p geo=location",
            "dt dtstart=start dtend=end duration",
            "u url uid",
        )
    ),
    ITEM: Rules(_names("p fn=name", "u photo url")),
}


@lru_cache(maxsize=256)
def rules_of(roots: tuple[str, ...]) -> Rules:
    """The rules of an element with these classic roots; of two roots with the same name the first counts."""
    names: Names = {}
    rels: Rels = ()
    for root in roots:
        names = _RULES[root].names | names
        rels += tuple(rule for rule in _RULES[root].rels if rule not in rels)
    return Rules(names, rels)
