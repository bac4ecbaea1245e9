"""Parameters that do not change the content: a URL enters, the same URL without those that only track or name a session leaves.

The list is `crawl.drop_parameters`: names, whose case does not matter, with `*` for any characters. What stays keeps its order
and its escapes.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

# What ends the name of a parameter, in the query (`?sid=1&a=2`) as in the path (`/a;sid=1/b`).
_NAME_CHARACTER = r"[^=&;?/\n]"
_SEPARATOR = re.compile("([&;])")
_IN_PATH = re.compile(r";([^;/=]*)[^;/]*")


class ParameterDropper:
    """Cuts parameters with certain names out of URLs in normal form."""

    def __init__(self, patterns: Iterable[str]) -> None:
        names = "|".join(_to_expression(pattern.lower()) for pattern in dict.fromkeys(patterns) if pattern)
        # One look at the whole URL tells of nearly all that nothing is to be done; without names nothing ever is.
        self._suspect = re.compile(rf"[?&;](?:{names or '(?!)'})(?=[=&;?/\n]|$)").search
        self._is_dropped = re.compile(names or "(?!)").fullmatch

    def is_needed(self, urls: str) -> bool:
        """Whether something may have to be dropped from a URL, or from one of several, a line each."""
        return ("?" in urls or ";" in urls) and self._suspect(urls.lower()) is not None

    def drop(self, url: str) -> str:
        """The URL without these parameters; a query that has none left loses its `?`. Twice is once."""
        if not self.is_needed(url):
            return url
        path, mark, query = url.partition("?")
        if ";" in path:
            start = path.find("/", len("https://"))
            path = path[:start] + _IN_PATH.sub(self._cut, path[start:])
        kept = self._drop_from_query(query)
        return path if query and not kept else path + mark + kept

    def _cut(self, parameter: re.Match[str]) -> str:
        return "" if self._is_dropped(parameter[1].lower()) else parameter[0]

    def _drop_from_query(self, query: str) -> str:
        """Each parameter goes with the separator before it; the first one that stays needs none."""
        pieces = _SEPARATOR.split(query)
        kept: list[str] = []
        for separator, parameter in zip(("", *pieces[1::2]), pieces[::2], strict=True):
            if not self._is_dropped(parameter.partition("=")[0].lower()):
                kept += (separator, parameter) if kept else (parameter,)
        return "".join(kept)


def drop_parameters(url: str, patterns: tuple[str, ...]) -> str:
    """One URL without the parameters of a list."""
    return _make_dropper(patterns).drop(url)


_make_dropper = lru_cache(maxsize=4)(ParameterDropper)


def _to_expression(pattern: str) -> str:
    """A name with `*` as a regular expression. What a `*` has passed is never tried again, so that no list can stall a crawl."""
    first, *rest = pattern.split("*")
    if not rest:
        return re.escape(first)
    *middle, last = rest
    parts = "".join(f"(?>{_NAME_CHARACTER}*?{re.escape(part)})" for part in middle if part)
    return f"{re.escape(first)}{parts}{_NAME_CHARACTER}*{re.escape(last)}"
