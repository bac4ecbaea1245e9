"""Parameters that do not change the content: a URL enters, the same URL without tracking and session parameters leaves.

The list is `crawl.drop_parameters`: names, whose case does not matter, with `*` for any characters. The other parameters keep
their order and escapes.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

# A character that does not end the name of a parameter, in the query (`?sid=1&a=2`) or in the path (`/a;sid=1/b`).
_NAME_CHARACTER = r"[^=&;?/\n]"
_SEPARATOR = re.compile("([&;])")
_IN_PATH = re.compile(r";([^;/=]*)[^;/]*")


class ParameterDropper:
    """Removes parameters with certain names from URLs in normal form."""

    def __init__(self, patterns: Iterable[str]) -> None:
        names = "|".join(_to_expression(pattern.lower()) for pattern in dict.fromkeys(patterns) if pattern)
        # One search shows for nearly all URLs that there is nothing to drop; without names it never matches.
        self._suspect = re.compile(rf"[?&;](?:{names or '(?!)'})(?=[=&;?/\n]|$)").search
        self._is_dropped = re.compile(names or "(?!)").fullmatch

    def is_needed(self, urls: str) -> bool:
        """Whether a URL, or one of several, one per line, may have a parameter to drop."""
        return ("?" in urls or ";" in urls) and self._suspect(urls.lower()) is not None

    def drop(self, url: str) -> str:
        """Return the URL without these parameters, and without `?` if no parameter is left. It is idempotent."""
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
        """Drop each parameter with the separator before it; the first that stays has none."""
        pieces = _SEPARATOR.split(query)
        kept: list[str] = []
        for separator, parameter in zip(("", *pieces[1::2]), pieces[::2], strict=True):
            if not self._is_dropped(parameter.partition("=")[0].lower()):
                kept += (separator, parameter) if kept else (parameter,)
        return "".join(kept)


def drop_parameters(url: str, patterns: tuple[str, ...]) -> str:
    """Return a URL without the parameters in `patterns`."""
    return _make_dropper(patterns).drop(url)


_make_dropper = lru_cache(maxsize=4)(ParameterDropper)


def _to_expression(pattern: str) -> str:
    """Convert a name with `*` to a regular expression. Atomic groups prevent backtracking, so that no list can stall a crawl."""
    first, *rest = pattern.split("*")
    if not rest:
        return re.escape(first)
    *middle, last = rest
    parts = "".join(f"(?>{_NAME_CHARACTER}*?{re.escape(part)})" for part in middle if part)
    return f"{re.escape(first)}{parts}{_NAME_CHARACTER}*{re.escape(last)}"
