"""What the link graph answers with: links with titles, kinds and words, and paths; with their form in HTML, for notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import overload

from rdfspider.drawing import cut_text, draw_link, draw_table


class Direction(StrEnum):
    """The direction of a page's links."""

    IN = "in"
    OUT = "out"

    __repr__ = str.__repr__


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link, from the view of one of its ends."""

    url: str
    """The other end."""
    title: str
    """The title of the other end; empty if it has none, or is not indexed."""
    kinds: tuple[str, ...]
    """link, nofollow, ugc, sponsored, redirect, canonical, data, frame: what kinds of link it is (docs/graph.md)."""
    anchor: str = ""
    """The words of the link; empty if it has none."""
    predicate: str = ""
    """The property of a data link (an IRI); of several, the first."""
    is_followed: bool = True
    """Whether the page vouches for it: not if the link says nofollow, ugc or sponsored, or its page nofollow."""
    is_indexed: bool = True
    """Whether the other end is an indexed page."""


@dataclass(frozen=True, slots=True)
class FoundLinks(Sequence[FoundLink]):
    """Some of the links of a page, or to it."""

    url: str
    """The page."""
    direction: Direction
    links: tuple[FoundLink, ...]
    total: int
    """How many there are in all."""
    offset: int = 0
    """How many come before these."""
    passed_over: int = 0
    """How many links that are not followed were left out among those that had to be read."""

    @overload
    def __getitem__(self, at: int) -> FoundLink: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[FoundLink, ...]: ...
    def __getitem__(self, at: int | slice) -> FoundLink | tuple[FoundLink, ...]:
        return self.links[at]

    def __len__(self) -> int:
        return len(self.links)

    def _repr_html_(self) -> str:
        lines = escape(tell_links(self))
        return f"<p>{lines}</p>{_draw_links(self.links)}"


@dataclass(frozen=True, slots=True)
class LinkPath:
    """A shortest path from one page to another."""

    source: str
    target: str
    links: tuple[FoundLink, ...]
    """Its steps, each with the page to which it leads."""
    is_found: bool
    is_given_up: bool = False
    """Whether there may be a path that is longer than was looked for, or takes too much to find."""

    def _repr_html_(self) -> str:
        return f"<p>{escape(tell_path(self))}</p>{_draw_links(self.links)}"


def tell_links(found: FoundLinks) -> str:
    """Say in a line how many links there are, and how many of them are shown."""
    noun = "page" if found.total == 1 else "pages"
    if found.direction is Direction.IN:
        told = f"{found.total:,} {noun} {'links' if found.total == 1 else 'link'} to {found.url}"
    else:
        told = f"{found.url} links to {found.total:,} {noun}"
    if len(found) < found.total - found.passed_over:
        told += f"; {found.offset + 1:,} to {found.offset + len(found):,}" if found.links else "; no more"
    return told + (f"; {found.passed_over:,} not followed left out" if found.passed_over else "")


def tell_path(path: LinkPath) -> str:
    """Say in a line how long a path is, or that none was found."""
    ends = f"from {path.source} to {path.target}"
    if path.is_found:
        return f"{len(path.links):,} {'step' if len(path.links) == 1 else 'steps'} {ends}"
    if path.is_given_up:
        return f"no path {ends} was found within the limit; there may be a longer one"
    return f"no path leads {ends}"


def _draw_links(links: Sequence[FoundLink]) -> str:
    rows = [
        (draw_link(link.url), escape(cut_text(link.title)), escape(link.anchor), escape(" ".join(link.kinds)))
        for link in links
    ]
    return draw_table(("page", "title", "words", "kinds"), rows) if rows else ""
