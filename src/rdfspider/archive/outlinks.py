"""The links of a page in its metadata record: Links enter and the fields `outlink` and `anchors` leave, or the other way round.

Each link is a line as Heritrix writes it: URL, hop (L link, E embedded, R redirect) and context. The texts of all links are one
field after these lines, so that other tools read the lines as they always did. Every page is written and read by this, and
has hundreds of links: they are joined and split without a step a link where possible.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import compress
from typing import NamedTuple

from rdfspider.archive.warc import make_fields_block
from rdfspider.records import Link
from rdfspider.ways import UNFOLLOWED, is_unfollowed

ANCHORS = "anchors"
"""The name of the field with the texts of all links."""

MAX_ANCHOR_CHARS = 80
"""Characters kept of the text of a link; 97 % are shorter, and others are whole paragraphs inside a link."""

_MAX_RELATION_CHARS = 100
_FRAMES = frozenset({"iframe", "frame"})
_LINE_END = "\r\n"
_LINK_START = f"{_LINE_END}outlink: "
_ANCHORS_START = f"{_LINE_END}{ANCHORS}: ".encode()
_PLAIN_END = " L a/@href"
_REDIRECT = "R Location:"
_RELATION = "@href rel="
_FRAME_CONTEXTS = {f"E {frame}/@src": frame for frame in _FRAMES}
# A link as `write_links` writes it.
_OWN_LINE = re.compile(
    r"outlink: ([^ \r\n]*) (?:L (?:a/@href|\*/@href rel=([^\r\n]*))|E (i?frame)/@src)\r\n",
)
# Characters that nobody sees as text, or that turn the direction of what follows: controls that are no white space, halves of
# characters, glyphs of icon fonts, soft hyphens, spaces without width. Joiners are parts of words in Persian and Indic scripts.
_UNSEEN = re.compile(
    "[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ud800-\uf8ff\ufeff]+"
)


class PageLinks(NamedTuple):
    """What a metadata record says of the links of its page; the fields are those of Outcome."""

    outlinks: tuple[str, ...]
    relations: dict[str, str]
    anchors: dict[str, str]
    target: str


def write_links(links: Sequence[Link]) -> bytes:
    """Write links and their texts, each link once.

    The element of a link with a relation is unknown, so it is `*`, and the relation follows. Texts are in the order of targets,
    without repetition, separated by tabs: the first of each target, or an empty one. Links without a relation come first.
    """
    plain: dict[str, str] = {}
    related: list[Link] = []
    for link in links:
        if link.relation:
            related.append(link)
        elif not plain.get(link.target):
            plain[link.target] = link.text
    block = _write_lines(plain, list(dict.fromkeys(map(_write_related, related))))
    texts = plain
    for link in related:
        if not texts.get(link.target):
            texts[link.target] = "" if link.is_title else link.text
    anchors = _write_anchors(texts.values())
    if anchors is None:
        anchors = _write_anchors(_clean_texts(texts, links), is_clean=True)
    return block + (anchors or b"")


def write_target(url: str) -> str:
    """Write the value of an `outlink` to the target of a redirect."""
    return f"{url} {_REDIRECT}"


def describe_links(links: Sequence[Link]) -> PageLinks:
    """What is read of these links after they were written, for pages that were not crawled."""
    return separate_links(write_links(links))[1]


def separate_links(block: bytes) -> tuple[list[str], PageLinks]:
    """Separate a metadata record into the lines of its other fields and what it says of links.

    If a page has several links to a target, those count that are followed, and before frames those that are links.
    """
    block, column = _take_anchors(block)
    lines, plain, rest = _split_lines(block)
    redirects: list[str] = []
    others = [(target, relation or frame) for target, relation, frame in _OWN_LINE.findall(rest)]
    if len(others) != rest.count(_LINE_END) or not rest.endswith(_LINE_END):
        # Not only links as ours are there: it is the record of a redirect, or another tool wrote it.
        fields, others, redirects = _sort_lines(rest.split(_LINE_END))
        lines += fields
    targets = dict.fromkeys(plain)
    relations: dict[str, str] = {}
    for target, relation in others:
        if target in targets:
            relation = _merge_relations(relations.pop(target, ""), relation)
        else:
            targets[target] = None
        if relation:
            relations[target] = relation
    anchors = _read_anchors(column, targets)
    if redirects:
        targets = dict.fromkeys([*redirects, *targets])
    return lines, PageLinks(tuple(targets), relations, anchors, redirects[-1] if redirects else "")


def _write_related(link: Link) -> str:
    if link.relation in _FRAMES:
        return f"{link.target} E {link.relation}/@src"
    relation = link.relation
    return (
        f"{link.target} L */@href rel={relation if len(relation) <= _MAX_RELATION_CHARS else _cut_relation(relation)}"
    )


def _cut_relation(relation: str) -> str:
    """Shorten a relation; that the link is not followed stays."""
    unfollowed = dict.fromkeys(word for word in relation.lower().split() if word in UNFOLLOWED)
    return " ".join([*unfollowed, relation])[:_MAX_RELATION_CHARS]


def _write_lines(plain: Collection[str], others: Collection[str]) -> bytes:
    addresses = "".join(plain)
    if addresses.isascii() and not ("\n" in addresses or "\r" in addresses) and "".join(others).isprintable():
        # Most links have no relation: one join writes all of these.
        lines = f"outlink: {f'{_PLAIN_END}{_LINK_START}'.join(plain)}{_PLAIN_END}{_LINE_END}" if plain else ""
        rest = f"outlink: {_LINK_START.join(others)}{_LINE_END}" if others else ""
        return (lines + rest).encode()
    # An address in normal form is ASCII without a line end, but a relation may be anything.
    return make_fields_block([("outlink", value) for value in (*(target + _PLAIN_END for target in plain), *others)])


def _write_anchors(texts: Collection[str], *, is_clean: bool = False) -> bytes | None:
    """Write the texts of links; None if they must be cleaned first, which few pages need: all texts at once show that."""
    column = "\t".join([text if len(text) <= MAX_ANCHOR_CHARS else text[:MAX_ANCHOR_CHARS].rstrip() for text in texts])
    seen = column.replace("\t", "")
    if not is_clean and not (seen.isprintable() and len(column) - len(seen) == len(texts) - 1):
        return None
    return f"{ANCHORS}: {column}{_LINE_END}".encode("utf-8", "replace") if seen else b""


def _clean_texts(targets: Iterable[str], links: Iterable[Link]) -> Collection[str]:
    """The first text of each target without what is not seen; links without a relation come first."""
    texts = dict.fromkeys(targets, "")
    for link in sorted(links, key=lambda link: bool(link.relation)):
        if not (link.is_title or texts[link.target]):
            texts[link.target] = _clean_text(link.text)
    return texts.values()


def _clean_text(text: str) -> str:
    text = text[: 4 * MAX_ANCHOR_CHARS]
    if not text.isprintable():
        text = _UNSEEN.sub("", text)
    return " ".join(text.split())[:MAX_ANCHOR_CHARS].rstrip()


def _take_anchors(block: bytes) -> tuple[bytes, str]:
    """Return a record without the texts of its links, and these; "" if they are not whole."""
    start = block.rfind(_ANCHORS_START)
    if start < 0:
        return block, ""
    column, end, rest = block[start + len(_ANCHORS_START) :].partition(_LINE_END.encode())
    return block[: start + 2] + rest, column.decode("utf-8", "replace") if end else ""


def _read_anchors(column: str, targets: Collection[str]) -> dict[str, str]:
    texts = column.split("\t") if column else []
    if not texts or len(texts) != len(targets):
        # Lines were lost, or added: no text is said to be that of another link.
        return {}
    if max(map(len, texts)) > MAX_ANCHOR_CHARS:
        texts = [text[:MAX_ANCHOR_CHARS] for text in texts]
    return dict(compress(zip(targets, texts, strict=True), texts))


def _split_lines(block: bytes) -> tuple[list[str], list[str], str]:
    """Split a record into the lines before its links, the targets of plain links, and the lines after these.

    A page has some dozen fields and hundreds of links, most of them plain and consecutive: one split separates these. Links are
    ASCII, and are decoded apart from titles: texts of ASCII alone are split faster.
    """
    if block.startswith(_LINK_START[2:].encode()):
        block = _LINE_END.encode() + block
    head, mark, tail = block.partition(_LINK_START.encode())
    lines, links = head.decode("utf-8", "replace").split(_LINE_END), tail.decode("utf-8", "replace")
    *plain, rest = links.split(_PLAIN_END + _LINK_START)
    if links.count("\n") != len(plain) + rest.count("\n"):
        # Other lines are between the links, as in the record of a redirect.
        plain, rest = [], links
    return lines, plain, _LINK_START[2:] + rest if mark else ""


def _sort_lines(lines: Iterable[str]) -> tuple[list[str], list[tuple[str, str]], list[str]]:
    """Sort lines into those of other fields, links with their relations, and the targets of redirects."""
    fields: list[str] = []
    links: list[tuple[str, str]] = []
    redirects: list[str] = []
    for line in lines:
        name, _, value = line.partition(": ")
        if name != "outlink":
            fields.append(line)
            continue
        target, _, context = value.partition(" ")
        if context == _REDIRECT:
            redirects.append(target)
        else:
            links.append((target, _FRAME_CONTEXTS.get(context) or context.partition(_RELATION)[2]))
    return fields, links, redirects


def _merge_relations(one: str, other: str) -> str:
    """The relation of two links to the same target."""
    first, second = _rate(one), _rate(other)
    if first != second or one == other or one in _FRAMES:
        return one if first >= second else other
    words = " ".join(dict.fromkeys(f"{one} {other}".split()))
    return words if len(words) <= _MAX_RELATION_CHARS else one


def _rate(relation: str) -> int:
    """How much a link with this relation says: 0 if it is not followed, 1 if it is a frame."""
    return 0 if is_unfollowed(relation) else 1 if relation in _FRAMES else 2
