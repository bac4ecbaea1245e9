"""The allow and disallow lines for one crawler enter, the line that decides on a URL leaves: RFC 9309, 2.2.2 and 2.2.3.

Lines and URLs are normalised and then compared octet by octet. Patterns are not turned into regular expressions: the parts
between `*` are searched from left to right without backtracking, so even the worst pattern takes linear time.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_PATH = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.\-]*://[^/?#]*)?([^#]*)")

# Everything but the unreserved and reserved characters of RFC 3986. `*` and `$` are included: in a URL they are literal, so
# they are normalised to `%2A` and `%24`, which is how a rule writes them. A `%` that escapes nothing stays.
_UNUSUAL = re.compile(r"%[0-9A-Fa-f]{2}|[^!&'()+,\-./0-9:;=?@A-Z\[\]_a-z~%]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

# Reserved characters that are no delimiters in a query, where `/` and `%2F` are the same (RFC 9309, 2.2.2, figure 4).
_SAME_IN_QUERY = re.compile(r"%(?:21|27|28|29|2C|2F|3A|3B|3F|40|5B|5D)")
# The limit for patterns × characters of a URL, about ten milliseconds: thousands of patterns for a typical URL.
_MAX_WORK = 4_000_000


class Rule(NamedTuple):
    """One allow or disallow line. Of two that match, the greater one decides: more octets first, then allow."""

    octets: int
    allows: bool
    parts: tuple[str, ...]
    """The normalised text between the `*`."""
    ends: bool
    """Whether the last part must match the end of the URL (`$`)."""
    value: bytes
    """The value as written."""

    def matches(self, target: str) -> bool:
        """Whether a normalised path and query match this rule."""
        first, last = self.parts[0], self.parts[-1]
        if not target.startswith(first):
            return False
        if len(self.parts) == 1:
            return not self.ends or target == first
        position = len(first)
        for part in self.parts[1:-1]:
            found = target.find(part, position)
            if found < 0:
                return False
            position = found + len(part)
        if self.ends:
            return len(target) - len(last) >= position and target.endswith(last)
        return target.find(last, position) >= 0


_TOO_MUCH = Rule(0, False, ("/",), False, b"")
"""The rule for URLs above that limit: disallow, which is the safe choice."""


class Ruleset:
    """All rules for one crawler, arranged so that most are never compared."""

    def __init__(self, lines: Iterable[tuple[bool, bytes]]) -> None:
        """`lines` are pairs: whether it is an allow line, and its value."""
        self._prefixes: dict[str, Rule] = {}
        self._whole: dict[str, Rule] = {}
        patterns = []
        for rule in _compile_rules(lines):
            if len(rule.parts) > 2 or (len(rule.parts) == 2 and (rule.ends or rule.parts[1])):
                patterns.append(rule)
                continue
            # Without `*`, or with one at the end, which only adds an octet.
            table = self._whole if rule.ends else self._prefixes
            table[rule.parts[0]] = max(rule, table.get(rule.parts[0], rule))
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})
        # The longest part is tested first, because it alone rules out most patterns.
        self._patterns = [(max(rule.parts, key=len), rule) for rule in sorted(patterns, reverse=True)]

    def find_rule(self, target: str) -> Rule | None:
        """Return the rule that decides on a path and query from `read_target`; None if no rule matches."""
        if len(self._patterns) * len(target) > _MAX_WORK:
            return _TOO_MUCH
        best = self._find_best(target, None)
        path, mark, query = target.partition("?")
        if "%" in query and (other := _SAME_IN_QUERY.sub(_unescape, query)) != query:
            best = self._find_best(path + mark + other, best)
        return best

    def _find_best(self, target: str, best: Rule | None) -> Rule | None:
        rule = self._whole.get(target)
        if rule is not None and (best is None or rule > best):
            best = rule
        prefixes, target_octets = self._prefixes, len(target)
        for length in self._lengths:
            if length > target_octets:
                break
            rule = prefixes.get(target[:length])
            if rule is not None and (best is None or rule > best):
                best = rule
        for probe, rule in self._patterns:
            if probe in target:
                if best is not None and rule <= best:
                    break
                if rule.matches(target):
                    return rule
        return best


def read_target(url: str) -> str:
    """The normalised path and query of a URL, absolute or relative."""
    match = _PATH.match(url)
    path = match[1] if match else ""
    if not path.isascii():
        path = path.encode("utf-8", "surrogatepass").decode("latin-1")
    path = _normalise(path)
    return path if path.startswith("/") else f"/{path}"


def _compile_rules(lines: Iterable[tuple[bool, bytes]]) -> Iterator[Rule]:
    """Compile the rules. Only a disallow line counts without a slash first, so that no mistake widens what is allowed."""
    for allows, value in dict.fromkeys(lines):
        if allows and not value.startswith(b"/"):
            continue
        for text in _read_octets(value):
            yield _compile_rule(allows, text, value)


def _read_octets(value: bytes) -> list[str]:
    """Decode octets as Latin-1.

    A value that is not UTF-8 is also read as Windows-1252, because pages link to such paths in UTF-8.
    """
    texts = [value.decode("latin-1")]
    if not value.isascii():
        try:
            value.decode()
        except UnicodeDecodeError:
            texts.append(value.decode("cp1252", "replace").encode().decode("latin-1"))
    return texts


def _compile_rule(allows: bool, text: str, value: bytes) -> Rule:
    """Compile a rule; site owners also write `private/` and whole URLs, which both mean exactly one path."""
    if not text.startswith(("/", "*")):
        match = _PATH.match(text)
        text = match[1] if match else text
        text = text if text.startswith(("/", "*")) else f"/{text}"
    ends = text.endswith("$")
    pieces = (text[:-1] if ends else text).split("*")
    parts, in_query = [], False
    for piece in pieces:
        part = _normalise(piece) if piece else ""
        if in_query:
            part = _SAME_IN_QUERY.sub(_unescape, part)
        elif "?" in part:
            path, _, query = part.partition("?")
            part, in_query = f"{path}?{_SAME_IN_QUERY.sub(_unescape, query)}", True
        parts.append(part)
    octets = sum(map(len, parts)) + len(pieces) - 1 + ends
    inner = [part for part in parts[1:-1] if part]
    kept = (parts[0], *inner, parts[-1]) if len(parts) > 1 else (parts[0],)
    return Rule(octets, allows, kept, ends, value)


def _normalise(text: str) -> str:
    """RFC 9309, 2.2.2: unescape unreserved characters, escape those that no URL may contain, keep reserved ones."""
    return _UNUSUAL.sub(_replace, text)


def _replace(match: re.Match[str]) -> str:
    found = match[0]
    if len(found) == 1:
        return f"%{ord(found):02X}"
    character = chr(int(found[1:], 16))
    return character if character in _UNRESERVED else found.upper()


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[0][1:], 16))
