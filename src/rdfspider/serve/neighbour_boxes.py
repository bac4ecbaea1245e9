"""Boxes around a name enter, a picture leaves, as SVG without scripts or fixed colours.

What leads to the name is on the left, where it leads on the right, so labels never overlap; each label is in a box that clips it.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from rdfspider.serve.rendering import clean_text

MAX_A_SIDE = 11
_BOX, _MIDDLE, _SPACE, _HEIGHT, _ROW = 166, 128, 40, 34, 42
_PIXELS = 1.3
_TITLE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Box:
    """A neighbour."""

    address: str
    """Where a click leads, on this site."""
    label: str
    by: str
    """A few words on what joins it with the name in the middle."""
    title: str
    """All of it, uncut."""


def draw_boxes(name: str, left: Sequence[Box], right: Sequence[Box], about: str) -> Markup:
    """Draw a name between its neighbours; `about` says what the picture shows. Empty if there are none."""
    if not (left or right):
        return Markup("")
    rows = max(len(left), len(right))
    height = max(rows * _ROW, 2 * _ROW)
    start = -(_BOX + _SPACE) if left else -8
    width = _MIDDLE + (_BOX + _SPACE if left else 8) + (_BOX + _SPACE if right else 8)
    parts = [
        *_draw_side(left, -(_BOX + _SPACE), height, is_left=True),
        *_draw_side(right, _MIDDLE + _SPACE, height, is_left=False),
        _draw_middle(name, height),
    ]
    return Markup(
        '<svg class="neighbourhood{}" role="group" aria-label="{}" '
        'viewBox="{} 0 {} {}" width="{:.0f}" height="{:.0f}">'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="head" d="M0 0L8 4L0 8z"/></marker></defs>{}</svg>'
    ).format(
        " both" if left and right else "",
        about,
        *(start, width, height, width * _PIXELS, height * _PIXELS),
        Markup("").join(parts),
    )


def _draw_side(boxes: Sequence[Box], x: float, height: float, *, is_left: bool) -> Iterator[Markup]:
    top = (height - len(boxes) * _ROW) / 2 + (_ROW - _HEIGHT) / 2
    middle = height / 2
    for at, one in enumerate(boxes):
        y = top + at * _ROW
        begin, end = (
            ((x + _BOX, y + _HEIGHT / 2), (0.0, middle))
            if is_left
            else ((float(_MIDDLE), middle), (x, y + _HEIGHT / 2))
        )
        bend = _SPACE * 0.6
        yield Markup(
            '<path class="edge" marker-end="url(#arrow)" d="M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}"/>'
            '<a href="{}"><title>{}</title><svg x="{:.1f}" y="{:.1f}" width="{}" height="{}">'
            '<rect class="box" x="0.5" y="0.5" width="{}" height="{}" rx="6"/>'
            '<text class="by" x="8" y="13">{}</text><text class="name" x="8" y="27">{}</text></svg></a>'
        ).format(
            *(*begin, begin[0] + bend, begin[1], end[0] - bend, end[1], *end),
            one.address,
            clean_text(one.title)[:_TITLE_CHARS],
            *(x, y, _BOX, _HEIGHT, _BOX - 1, _HEIGHT - 1),
            _fit(one.by, 9.5, _BOX - 16),
            _fit(one.label, 12, _BOX - 16),
        )


def _draw_middle(name: str, height: float) -> Markup:
    # Bold text is wider.
    lines = _wrap(name, 12.8, _MIDDLE - 16, 3)
    tall = 16 * len(lines) + 14
    y = (height - tall) / 2
    texts = Markup("").join(
        Markup('<text class="name" x="{}" y="{}">{}</text>').format(_MIDDLE / 2, 19 + 16 * at, line)
        for at, line in enumerate(lines)
    )
    return Markup(
        '<svg class="self" x="0" y="{:.1f}" width="{}" height="{}"><rect class="box" x="1" y="1" width="{}" height="{}" rx="8"/>'
        "{}</svg>"
    ).format(y, _MIDDLE, tall, _MIDDLE - 2, tall - 2, texts)


def _wrap(text: str, size: float, width: float, most: int) -> list[str]:
    """Wrap words into at most `most` lines; the last one is cut."""
    lines: list[str] = []
    words = clean_text(text[:_TITLE_CHARS]).split() or ["?"]
    while words and len(lines) < most:
        line = words.pop(0)
        while words and _measure(f"{line} {words[0]}", size) <= width:
            line += f" {words.pop(0)}"
        if len(lines) == most - 1 and words:
            line = " ".join((line, *words))
        lines.append(_fit(line, size, width))
    return lines


def _fit(text: str, size: float, width: float) -> str:
    """Cut a text to the available width."""
    clean = " ".join(clean_text(text[:_TITLE_CHARS]).split())
    if _measure(clean, size) <= width:
        return clean
    while clean and _measure(f"{clean}…", size) > width:
        clean = clean[:-1]
    return f"{clean.rstrip()}…"


def _measure(text: str, size: float) -> float:
    """Estimate the width of a text: fonts differ, and the box clips what is wider."""
    return size * sum(_measure_sign(sign) for sign in text)


def _measure_sign(sign: str) -> float:
    if unicodedata.east_asian_width(sign) in "WF":
        return 1.05
    if sign in "iIjl.,:;'|!ftr ()[]":
        return 0.36
    return 0.76 if sign.isupper() or sign in "mwMW@" else 0.61
