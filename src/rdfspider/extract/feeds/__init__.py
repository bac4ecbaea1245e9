"""Feeds: RSS 0.9x, 1.0 and 2.0, Atom 0.3 or 1.0 enters as text, a channel and its items in the terms of RSS 1.0 leave.

RSS 1.0 is RDF/XML and is read as such where it is valid. All other feeds are read element by element: `tree` parses
them, `elements` has a reader for each element. docs/feeds.md has the mapping.
"""

import re
from collections.abc import Iterable

from lxml import etree
from pyoxigraph import NamedNode

from rdfspider.extract.datatypes import to_timestamp
from rdfspider.extract.feeds.elements import add_date, add_element, reader_of
from rdfspider.extract.feeds.tree import (
    RELATION,
    RSS,
    XML_LANG,
    FeedScope,
    address,
    children,
    parse_feed,
    plain_text,
    split_tag,
    term,
)
from rdfspider.extract.rdf import read_rdf_xml
from rdfspider.extract.statements import Problems, Statements
from rdfspider.records import Content, Link
from rdfspider.urls import resolve_links
from rdfspider.vocabulary.prefixes import DC, DCTERMS, RDF
from rdfspider.vocabulary.terms import RDF_TYPE_TERM

_ITEMS = frozenset({"item", "entry"})
_ROOTS = frozenset({"rss", "rdf", "feed", "channel"})
_CHANNELS = frozenset({"channel", "feed"})
# The dates of an item that can be its main date (dc:date), the best first.
_DATES = tuple(term(DCTERMS, name) for name in ("issued", "modified", "created"))

ITEM = "item"
"""The relation of a feed to the links of its items; a registered link relation."""

# Other pages of the same feed: RFC 5005, sections 3 and 4.
_PAGES = "next|prev|previous|first|last|next-archive|prev-archive|current"
_LINK = re.compile(rf'(\S+) <{re.escape(RSS)}link> "([^"\\]+)"')
_PAGE = re.compile(rf"\S+ <{re.escape(RELATION)}({_PAGES})> <([^>]+)>")
_DATE = re.compile(rf'(\S+) <(?:{re.escape(DCTERMS)}modified|{re.escape(DC)}date)> "([^"\\]+)"')


def extract_feed(content: Content, out: Statements) -> None:
    """Add the statements of a feed's channel and items."""
    if _add_native(content.text, out):
        return
    root = parse_feed(content.text, out)
    if root is None:
        out.problem("no-feed", "the document has no element that could be read")
        return
    scope = FeedScope(out.page, out.base, None, split_tag(root)[0], out).within(root)
    if _local(root) in _ITEMS:
        _add_item(root, scope, set())
    elif _local(root) in _ROOTS:
        _add_channels(root, scope)
    else:
        out.problem("no-feed", f"no feed has the root {_local(root)[:60]}")


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
        Link(target, relation, modified=to_timestamp(dates.get(subject, "")) if relation == ITEM else 0.0)
        for address, relation, subject in targets[:max_links]
        if (target := addresses[address])
    )


def _add_native(text: str, out: Statements) -> bool:
    """Read RSS 1.0 as RDF/XML; False, and nothing is added, where that gives no feed."""
    if RSS not in text or "RDF" not in text:
        return False
    problems = Problems()
    trial = Statements(out.base, out.base, out.syntax, out.config, problems)
    quads, error = read_rdf_xml(text, trial)
    channel = NamedNode(f"{RSS}channel")
    if error is not None:
        out.problem("invalid-rdf", f"read as any other feed, since it is not RDF: {error}")
        return False
    if not any(quad.object == channel for quad in quads):
        return False
    for problem in problems.listed():
        out.problem(problem.code, problem.message)
    out.add_parsed(quads)
    return True


def _add_channels(root: etree._Element, scope: FeedScope) -> None:
    """Add all channels. The subject of the first is the page; items are in it or, as in RSS 0.90 and 1.0, beside it."""
    found = [child for child in children(root) if _local(child) in _CHANNELS]
    if _local(root) in _CHANNELS or not found:
        _add_channel(root, scope, [], {scope.subject})
        return
    used = {scope.subject}
    beside = [child for child in children(root) if _local(child) in _ITEMS]
    for number, channel in enumerate(found):
        channel_scope = scope if number == 0 else scope.at(scope.out.blank())
        _add_channel(channel, channel_scope.within(channel), beside if number == 0 else [], used)


def _add_channel(channel: etree._Element, scope: FeedScope, beside: list[etree._Element], used: set[str]) -> None:
    scope.add(RDF_TYPE_TERM, term(RSS, "channel"))
    scope.add_language(channel)
    items = []
    for child in children(channel):
        if _local(child) in _ITEMS:
            items.append(child)
        elif not (_local(child) == "items" and len(child)):
            add_element(child, scope)
    if not items and not beside:
        return
    sequence = scope.out.blank()
    scope.add(term(RSS, "items"), sequence)
    scope.out.add(sequence, RDF_TYPE_TERM, f"<{RDF}Seq>")
    for number, item in enumerate(items + beside, start=1):
        if scope.out.full:
            return
        subject = _add_item(item, scope.within(item), used)
        scope.out.add(sequence, f"<{RDF}_{number}>", subject)


def _add_item(item: etree._Element, scope: FeedScope, used: set[str]) -> str:
    """Add one item or entry, and return its subject: its address, unless another item has the same."""
    scope = scope.at(_item_subject(item, scope, used) or scope.out.blank())
    used.add(scope.subject)
    scope.add(RDF_TYPE_TERM, term(RSS, "item"))
    if item.get(XML_LANG) is not None:
        scope.add_language(item)
    for child in children(item):
        add_element(child, scope)
    _add_permalink(item, scope)
    _add_main_date(item, scope)
    return scope.subject


def _add_permalink(item: etree._Element, scope: FeedScope) -> None:
    """Add the permanent link of an item without a link as its link (RSS 2.0, `guid`)."""
    if any(_is_link(child, scope) for child in children(item)):
        return
    for child in children(item):
        if _local(child) == "guid" and (link := _permalink(child, scope)):
            scope.add(term(RSS, "link"), scope.out.literal(link))


def _add_main_date(item: etree._Element, scope: FeedScope) -> None:
    """Add the item's main date as dc:date, which all feeds share, unless it has one."""
    dates = {predicate: child for child in children(item) for _, predicate in [reader_of(child, scope)]}
    if term(DC, "date") not in dates:
        best = next((dates[predicate] for predicate in _DATES if predicate in dates), None)
        if best is not None:
            add_date(best, scope, term(DC, "date"))


def _item_subject(item: etree._Element, scope: FeedScope, used: set[str]) -> str | None:
    """The first of `rdf:about`, link, permanent link and id that no other item has."""
    links, identifiers = [item.get(f"{{{RDF}}}about")], []
    for child in children(item):
        local = _local(child)
        if _is_link(child, scope):
            links.append(address(scope.within(child).base, child.get("href") or plain_text(child)))
        elif local == "guid":
            identifiers.append(_permalink(child, scope))
        elif local == "id" and scope.name(child).core and ":" in plain_text(child):
            identifiers.append(address(scope.base, plain_text(child)))
    for candidate in links + identifiers:
        found = address(scope.base, candidate)
        if found is not None and f"<{found}>" not in used:
            return f"<{found}>"
    return None


def _is_link(element: etree._Element, scope: FeedScope) -> bool:
    """Whether the element is the item's main link, in RSS or in Atom."""
    return _local(element) == "link" and scope.name(element).core and (element.get("rel") or "alternate") == "alternate"


def _permalink(guid: etree._Element, scope: FeedScope) -> str | None:
    if (guid.get("isPermaLink") or "").strip().lower() == "false":
        return None
    text = plain_text(guid)
    return address(scope.within(guid).base, text) if ":" in text or "/" in text else None


def _local(element: etree._Element) -> str:
    return split_tag(element)[1].lower()
