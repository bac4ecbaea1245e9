"""Sitemaps: the text of one enters, the addresses that it lists leave, with their dates and priorities.

The protocol of sitemaps.org as sites use it: lists of pages (`urlset`) and of other sitemaps (`sitemapindex`), with or
without its namespace, under any prefix, and text with one address per line. Extensions for images, news and videos are
ignored.
"""

from collections.abc import Iterator
from math import isfinite

from rdfspider.extract.datatypes import to_timestamp
from rdfspider.extract.feeds.tree import children, parse_feed, plain_text
from rdfspider.extract.statements import Statements
from rdfspider.records import Content, Link
from rdfspider.urls import resolve_links

LISTED = "listed"
"""The relation of a page that a sitemap lists."""
SITEMAP = "sitemap"
"""The relation of another sitemap that it lists."""
MAX_LISTED = 50_000
"""Addresses read of one sitemap: the protocol allows no more."""

# From the first priority on, a page is fetched a step earlier; up to the second, a step later. The protocol's default is 0.5.
_HIGH, _LOW = 0.8, 0.2

_Entry = tuple[str, str, str, str]
"""Address, relation, date of the last change and priority, as they are written; empty where they are missing."""


def read_sitemap(content: Content, out: Statements) -> tuple[Link, ...]:
    """The links of a sitemap, in its order."""
    entries = list(_read_lines(content.text) if content.root is None else _read_xml(content.text, out))
    if len(entries) > MAX_LISTED:
        out.problem("too-many-links", f"more than {MAX_LISTED} addresses were cut")
        del entries[MAX_LISTED:]
    # The protocol asks for absolute addresses; some sitemaps have relative ones all the same.
    targets = resolve_links(out.base, {address for address, *_ in entries})
    return tuple(
        Link(target, relation, rank=_read_rank(priority), modified=to_timestamp(modified))
        for address, relation, modified, priority in entries
        if (target := targets[address])
    )


def _read_lines(text: str) -> Iterator[_Entry]:
    for number, line in enumerate(text.split("\n")):
        if number > 2 * MAX_LISTED:
            return
        if address := line.strip():
            yield address, LISTED, "", ""


def _read_xml(text: str, out: Statements) -> Iterator[_Entry]:
    root = parse_feed(text, out)
    if root is None:
        return
    # Elements of extensions have the same local names in other namespaces.
    own, brace, _ = str(root.tag).rpartition("}")
    relations = {f"{own}{brace}url": LISTED, f"{own}{brace}sitemap": SITEMAP}
    fields = {f"{own}{brace}{name}": name for name in ("loc", "lastmod", "priority")}
    for number, entry in enumerate(children(root)):
        if number > MAX_LISTED:
            return
        relation = relations.get(str(entry.tag))
        if relation is not None:
            found = {fields[child.tag]: plain_text(child) for child in entry if child.tag in fields}
            if address := found.get("loc"):
                yield address, relation, found.get("lastmod", ""), found.get("priority", "")


def _read_rank(priority: str) -> int:
    try:
        value = float(priority) if priority else 0.5
    except ValueError:
        return 0
    if not isfinite(value):
        return 0
    return -1 if value >= _HIGH else 1 if value <= _LOW else 0
