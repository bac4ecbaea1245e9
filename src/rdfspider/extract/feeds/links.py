"""Where a feed leads: its statements in, links out. Items first of all, then the feed's other pages (RFC 5005) and its site."""

import re
from collections.abc import Iterable

from rdfspider.extract.feeds.dates import read_time
from rdfspider.extract.feeds.vocabulary import DC, DCTERMS, RELATION, RSS
from rdfspider.records import Link
from rdfspider.urls import resolve_links

ITEM = "item"
"""The relation of a feed to what its items link to; the name is that of the register of relations."""

# Other pages of the same feed: RFC 5005, sections 3 and 4.
_PAGES = "next|prev|previous|first|last|next-archive|prev-archive|current"
_LINK = re.compile(rf'(\S+) <{re.escape(RSS)}link> "([^"\\]+)"')
_PAGE = re.compile(rf"\S+ <{re.escape(RELATION)}({_PAGES})> <([^>]+)>")
_DATE = re.compile(rf'(\S+) <(?:{re.escape(DCTERMS)}modified|{re.escape(DC)}date)> "([^"\\]+)"')


def read_feed_links(page: str, base: str, lines: Iterable[str], max_links: int) -> tuple[Link, ...]:
    """The links of a feed, of which `page` is the term, from its statements."""
    targets: list[tuple[str, str, str]] = []
    dates: dict[str, str] = {}
    for line in lines:
        if found := _LINK.match(line):
            targets.append((found[2], "" if found[1] == page else ITEM, found[1]))
        elif found := _PAGE.match(line):
            targets.append((found[2], found[1], ""))
        elif found := _DATE.match(line):
            dates[found[1]] = max(dates.get(found[1], ""), found[2])
    addresses = resolve_links(base, {address for address, *_ in targets})
    return tuple(
        Link(target, relation, modified=read_time(dates.get(subject, "")) if relation == ITEM else 0.0)
        for address, relation, subject in targets[:max_links]
        if (target := addresses[address])
    )
