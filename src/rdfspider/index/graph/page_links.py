"""The links of a page: an outcome of the log enters, a row of the graph leaves.

A target is a page: what follows `#` is dropped, so a data link to `https://x.org/#me` counts for `https://x.org/`. A link of a
page to itself is none.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rdfspider.archive.outcomes import Effect, Outcome, make_stamp
from rdfspider.index.graph.kinds import LinkKind
from rdfspider.urls import MAX_URL_CHARS, normalise_url, normalise_urls
from rdfspider.vocabulary.prefixes import KNOWN_AS
from rdfspider.vocabulary.terms import RDF_TYPE_TERM, fold_triples, replace_surrogates

MAX_LINKS = 2_000
"""Links of one page, of all kinds; nearly all pages have less than a tenth of it."""
MAX_DATA_LINKS = 200
"""Data links of one page: a catalogue may name thousands of things, but says little of each."""
_MAX_OBJECTS = 2_000
"""Objects of statements that are looked at: to normalise a URL takes some microseconds."""
MAX_ANCHOR_CHARS = 80
MAX_PREDICATE_CHARS = 400
_FETCHED = ("http://", "https://")
_IRIS = ("<http://", "<https://")
# The things of Wikidata and the pages of a wiki are no terms of a vocabulary.
_TERMS = tuple(f"<{name}" for name in KNOWN_AS if not name.endswith(("/entity/", "/wiki/")))
_UNFOLLOWED = re.compile(r"\b(?:nofollow|none)\b", re.IGNORECASE)
_FRAMES = frozenset({"frame", "iframe"})
# Plain numbers: an operation on members of an enum takes twenty times as long.
_DATA, _NOFOLLOW, _SHOWN = int(LinkKind.DATA), int(LinkKind.NOFOLLOW), int(LinkKind.LINK | LinkKind.FRAME)
_BY_TOKEN = {"nofollow": _NOFOLLOW, "ugc": int(LinkKind.UGC), "sponsored": int(LinkKind.SPONSORED)}
_BREAKS = re.compile(r"[\0-\x1f\x7f\x85\u2028\u2029\s]+")


class Stamp(NamedTuple):
    """An outcome's stamp in sixteen bytes: the greater counts, as with `OutcomeStamp`."""

    time_us: int
    tie: int
    """Orders outcomes of the same microsecond: by digest, effect and content, as far as these can be told by their beginnings."""


class PageLinks(NamedTuple):
    """The row of a page."""

    url: str
    stamp: Stamp
    is_removed: bool
    """Whether the page is gone; then it has no links, but older outcomes do not bring it back."""
    kinds: dict[str, int]
    """The targets, with the kind of each link."""
    anchors: Mapping[str, str]
    """The anchor texts of those links that have one."""
    predicates: Mapping[str, str]
    """The first predicate of each data link."""
    is_cut: bool
    """Whether there are more links than are taken."""


def read_page_links(outcome: Outcome) -> PageLinks | None:
    """Read the row of a page; None for an outcome that changes nothing."""
    if outcome.effect == Effect.TOUCH or not outcome.url or len(outcome.url) > MAX_URL_CHARS:
        return None
    url, stamp = replace_surrogates(outcome.url), make_compact(outcome)
    if outcome.effect == Effect.REMOVE:
        target = normalise_url(outcome.target) if outcome.target else None
        kinds = {target: int(LinkKind.REDIRECT)} if target and _is_target(target, url) else {}
        return PageLinks(url, stamp, not kinds, kinds, {}, {}, False)
    # The links that are most telling come first, so that they are never cut.
    kinds = {}
    if outcome.canonical and (canonical := normalise_url(outcome.canonical)) and _is_target(canonical, url):
        kinds[canonical] = int(LinkKind.CANONICAL)
    predicates: dict[str, str] = {}
    is_cut = False
    for target, predicate in _list_data_links(outcome, url):
        if target not in predicates:
            if len(predicates) >= MAX_DATA_LINKS:
                is_cut = True
                break
            predicates[target] = predicate
            kinds[target] = kinds.get(target, 0) | _DATA
    is_cut |= _add_links(kinds, outcome, url)
    anchors = {
        target: text for target, words in outcome.anchors.items() if target in kinds and (text := _fold_text(words))
    }
    return PageLinks(url, stamp, False, kinds, anchors, predicates, is_cut)


def make_compact(outcome: Outcome) -> Stamp:
    """Make the compact stamp of an outcome."""
    stamp = make_stamp(outcome)
    tie = 0
    # Digests are `sha1:` and letters and digits; these are the first thirty bits.
    for character in stamp.digest.rpartition(":")[2][:5].ljust(5):
        tie = tie << 6 | min(max(ord(character) - 32, 0), 63)
    tie = tie << 2 | (stamp.effect == Effect.REPLACE)
    return Stamp(stamp.time_us, tie << 32 | int(stamp.content[:8] or "0", 16))


def _add_links(kinds: dict[str, int], outcome: Outcome, url: str) -> bool:
    """Add the hyperlinks and frames of a page; return whether there are more than are taken."""
    usual = int(LinkKind.LINK)
    more = _NOFOLLOW if _UNFOLLOWED.search(outcome.directives) else 0
    relations = outcome.relations
    # All links of all pages pass here: what hardly any page needs is asked once for the page.
    is_usual = all(map(str.isascii, outcome.outlinks)) and max(map(len, outcome.outlinks), default=0) <= MAX_URL_CHARS
    for target in outcome.outlinks:
        page = target.partition("#")[0] if "#" in target else target
        if not is_usual:
            page = replace_surrogates(page)
        if page == url or not page.startswith(_FETCHED) or (not is_usual and len(page) > MAX_URL_CHARS):
            continue
        kind = (_read_relation(relations[target]) if target in relations else usual) | more
        known = kinds.get(page)
        if known is None:
            if len(kinds) >= MAX_LINKS:
                return True
            kinds[page] = kind
        elif known & _SHOWN:
            # The target was named twice, with and without a fragment: it is followed if either is.
            kinds[page] = (known | kind) & ~(_NOFOLLOW & ~(known & kind))
        else:
            kinds[page] = known | kind
    return False


def _read_relation(relation: str) -> int:
    if relation in _FRAMES:
        return int(LinkKind.FRAME)
    kind = int(LinkKind.LINK)
    for token in relation.lower().split():
        kind |= _BY_TOKEN.get(token, 0)
    return kind


def _list_data_links(outcome: Outcome, url: str) -> Iterator[tuple[str, str]]:
    """The targets of a page's statements with their predicates. Classes and other terms of vocabularies are no targets."""
    found: dict[str, str] = {}
    for triples in fold_triples(outcome.statements, outcome.url).values():
        for _, predicate, obj in triples:
            if (
                obj.startswith(_IRIS)
                and predicate != RDF_TYPE_TERM
                and (page := obj[1:-1].partition("#")[0]) not in found
                and not obj.startswith(_TERMS)
                and len(found) < _MAX_OBJECTS
            ):
                found[page] = predicate
    for target, predicate in zip(normalise_urls(found), found.values(), strict=True):
        if target and _is_target(target, url):
            yield target, _fold_predicate(predicate)


def _fold_predicate(term: str) -> str:
    predicate = replace_surrogates(term[1:-1])
    return "" if len(predicate) > MAX_PREDICATE_CHARS or _BREAKS.search(predicate) else predicate


def _fold_text(text: str) -> str:
    """An anchor text in one line, however it was written; the log has it so."""
    if text.isprintable() and len(text) <= MAX_ANCHOR_CHARS and "  " not in text and text == text.strip():
        return text
    return replace_surrogates(_BREAKS.sub(" ", text[: 4 * MAX_ANCHOR_CHARS]).strip()[:MAX_ANCHOR_CHARS].rstrip())


def _is_target(target: str, url: str) -> bool:
    return target != url and target.startswith(_FETCHED) and len(target) <= MAX_URL_CHARS
