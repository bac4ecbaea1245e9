"""The pattern of a URL: what URLs of the same kind share, without numbers, dates and names.

A normalised URL enters; its pattern leaves, or a wider one that rare patterns are merged into.
"""

import re
from functools import lru_cache

REST = "…"
"""The end of a pattern that others were merged into."""
_SEGMENTS = 4
_NAMED_SEGMENTS = 2
_PARAMETERS = 6
_MAX_WORD = 24
_WORD = re.compile(r"[A-Za-z]+(?:[-_][A-Za-z]+)?(?:\.[A-Za-z]{1,5})?")
_NUMBER = re.compile(r"[0-9][0-9.:_T+-]*")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_VALUES = re.compile(r"=[^&]*")
_DEEPER = "**"


def find_pattern(url: str) -> str:
    """The pattern of a normalized URL: `/calendar/0/0`, `/products/*.html`, `/search?page&q`.

    Numbers and dates become `0`, the last segment and everything that is not a plain word `*`, and parameters lose their values.
    The last segment before parameters is kept, as it names a program.
    """
    path, _, query = url[url.find("/", 8) :].partition("?")
    parts = path.split("/", _SEGMENTS + 1)
    last = len(parts) - (1 if parts[-1] else 2)
    for place in range(1, last):
        parts[place] = _name_segment(parts[place]) if place <= _NAMED_SEGMENTS else _name_late_segment(parts[place])
    if last > _SEGMENTS:
        parts[last:] = [_DEEPER]
    elif last > 0:
        parts[last] = _name_segment(parts[last]) if query else _name_leaf(parts[last])
    pattern = "/".join(parts)
    return f"{pattern}?{_name_parameters(_VALUES.sub('', query))}" if query else pattern


def widen_query(key: str) -> str:
    """The pattern of all URLs with the same path and several parameters."""
    path, mark, names = key.partition("?")
    return f"{path}{mark}{REST}" if "&" in names else key


def widen_path(key: str) -> str:
    """The pattern of all URLs with the same first segment."""
    first, slash, _ = key[1:].partition("/")
    return f"/{first}/{REST}" if slash else REST


@lru_cache(maxsize=4096)
def _name_segment(part: str) -> str:
    """Keep a plain word with its extension; replace anything else."""
    if len(part) <= _MAX_WORD and _WORD.fullmatch(part):
        return part
    return _name_leaf(part)


@lru_cache(maxsize=1024)
def _name_parameters(names: str) -> str:
    found = {_name_segment(name) for name in names.split("&", 2 * _PARAMETERS)[: 2 * _PARAMETERS]}
    return "&".join(sorted(found)[:_PARAMETERS])


def _name_late_segment(part: str) -> str:
    return "0" if part.isdigit() or _NUMBER.fullmatch(part) else "*"


def _name_leaf(part: str) -> str:
    if part.isdigit():
        return "0"
    found = _EXTENSION.search(part) if "." in part else None
    extension = found[0].lower() if found else ""
    is_number = "0" <= part[:1] <= "9" and _NUMBER.fullmatch(part.removesuffix(found[0]) if found else part)
    return ("0" if is_number else "*") + extension
