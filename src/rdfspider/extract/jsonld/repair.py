"""Broken JSON enters; the values that it obviously means leave, with a note on every kind of repair.

Scripts on the web contain comments, trailing commas, raw line breaks, unescaped quotes and wrappers for old browsers.
One pass over the text rewrites it as JSON. Lookahead is bounded, so time is linear in the length of the text. Where the
meaning is not obvious, the text is refused.
"""

import html
import json
import math
import re
from typing import Any, NamedTuple

_BLANKS = " \t\r\n\f\v\0\ufeff\u00a0\u200b"
_ESCAPED_START = re.compile(r"[\[{\s]*+&(?:quot|#0*34|#x0*22);", re.IGNORECASE)
_TYPOGRAPHIC_START = re.compile(r"[\[{\s]*+[“”„‟″]")
_TYPOGRAPHIC = re.compile(r"[“”„‟″]")
_ASSIGNMENT = re.compile(r"(?:(?:var|let|const)\s++)?[A-Za-z_$][\w.$]{0,80}\s*+=\s*+(?=[\[{])")

_SPACE = re.compile(r"[\s\x00-\x1f\ufeff\u200b]++")
_COMMENT = re.compile(
    r"(?://\s*+)?<!\[CDATA\[|(?://\s*+)?<!--|-->|\]\]>"
    r"|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?|</?[A-Za-z][^<>\"]{0,200}>"
)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?=[\s,}\];]|$)")
_BARE_KEY = re.compile(r"([A-Za-z_@$][\w$-]{0,80})(?=\s*+:)")
_BARE_VALUE = re.compile(r"[^\s,{}\[\]\"'<>:][^,{}\[\]\"<>\r\n]{0,200}")
_WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_NO_VALUES = frozenset({"undefined", "NaN", "Infinity", "-Infinity"})

_TEXT = {'"': re.compile(r'[^"\\]*+'), "'": re.compile(r"[^'\\]*+")}
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})')
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_CONTROL = re.compile(r"[\x00-\x1f]")
# What follows the quote that ends a key, a member's value or an item. Any other quote belongs to the text.
_QUOTED_KEY = r"[\"'][^\"'\r\n]{1,200}[\"']\s*+:"
_END = r"\s*+(?:$|[}\]]|;\s*+[}\]]|//|/\*|\]\]>|-->"
_AFTER_KEY = re.compile(r"\s*+:")
_AFTER_MEMBER = re.compile(rf"{_END}|,\s*+(?:$|[,}}\]]|//|/\*|<br|{_QUOTED_KEY}))|\s*+{_QUOTED_KEY}")
_AFTER_BARE_MEMBER = re.compile(rf"{_END}|,\s*+(?:$|[,}}\]]|//|/\*|<br|{_QUOTED_KEY}|[A-Za-z_@$][\w$-]{{0,80}}\s*+:))")
_AFTER_ITEM = re.compile(rf"{_END}|,\s*+(?:$|[,}}\]\[{{\"'0-9-]|//|/\*|true|false|null))|\s*+\n\s*+\"")


class Repaired(NamedTuple):
    """The values in order, and what was repaired."""

    values: list[Any]
    notes: list[str]


def repair_json(text: str, max_depth: int) -> Repaired | None:
    """The values that broken JSON means; None where the meaning is not obvious."""
    writer = _Rewriter(_without_surrogates(text), max_depth)
    written = writer.rewrite()
    if written is None:
        return None
    notes = writer.notes
    try:
        values = _load(written, notes)
        if _SURROGATE_ESCAPE.search(written):
            values = json.loads(_without_surrogates(json.dumps(values, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None
    return Repaired(values, list(notes) or ["characters that are none"])


def _load(text: str, notes: dict[str, None]) -> list[Any]:
    """Parse JSON; numbers out of range become null."""

    def parse_float(digits: str) -> float | None:
        number = float(digits)
        if math.isfinite(number):
            return number
        parse_constant(digits)
        return None

    def parse_int(digits: str) -> int | float | None:
        return int(digits) if len(digits) < 300 else parse_float(digits)

    def parse_constant(_: str) -> None:
        notes["numbers out of range"] = None

    values: list[Any] = json.loads(text, parse_float=parse_float, parse_int=parse_int, parse_constant=parse_constant)
    return values


def _without_surrogates(text: str) -> str:
    """The text with pairs of surrogates joined, and U+FFFD for those without a partner."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _NotPlainError(Exception):
    """The text cannot be read further."""


class _Rewriter:
    """The state of one pass: where it is, what it has written, and what it expects next."""

    def __init__(self, text: str, max_depth: int) -> None:
        self.notes: dict[str, None] = {}
        self.text = self._prepare(text)
        self.max_depth = max_depth
        self.at = 0
        self.pieces: list[str] = []
        self.closers: list[str] = []
        self.expects = "value"  # or "key", or "end": a comma or a closing bracket
        self.comma = False  # whether one is to be written before the next key or item
        self.bare_keys = False
        self.complete = 0

    def rewrite(self) -> str | None:
        """An array of the values in the text, as JSON; None where there is none."""
        try:
            self._skip()
            while self.at < len(self.text):
                if self.closers:
                    self._step(self.text[self.at])
                elif not self._begin(self.text[self.at]):
                    break
                self._skip()
            self._close_all()
        except _NotPlainError:
            if self.complete:
                self._note("text after the end")
        return f"[{''.join(self.pieces[: self.complete])}]" if self.complete else None

    def _prepare(self, text: str) -> str:
        """Undo changes to the text as a whole: wrappers, character references, typographic quotes."""
        if text[:1] == "\ufeff":
            self._note("a byte order mark")
        text = text.strip(_BLANKS)
        if _ASSIGNMENT.match(text):
            self._note("an assignment before it")
            text = _ASSIGNMENT.sub("", text, count=1)
        if _ESCAPED_START.match(text):
            self._note("quotes written as character references")
            text = html.unescape(text)
        if _TYPOGRAPHIC_START.match(text):
            self._note("typographic quotes")
            text = _TYPOGRAPHIC.sub('"', text)
        return text

    def _begin(self, character: str) -> bool:
        """Outside of all brackets: begin another value; False at the end of the values."""
        if character in "{[":
            if self.complete:
                self._note("several values in a row")
                self.pieces.append(",")
            self.expects = "value"
            self.comma = False
            self._open(character)
            return True
        if character in ",;" and self.complete:
            self._note("commas or semicolons at the end")
            self.at += 1
            return True
        if self.complete:
            self._note("text after the end")
        return False

    def _step(self, character: str) -> None:
        if character in "}]":
            self._close(character)
        elif character == ",":
            self._separate()
        elif character == ";":
            self._note("commas or semicolons at the end")
            self.at += 1
        elif self.expects == "end":
            self._note("missing commas")
            self._expect_next()
            self.comma = True
            if self.expects == "key" and character not in "\"'":
                raise _NotPlainError
        elif self.expects == "key":
            self._key(character)
        else:
            self._value(character)

    def _open(self, character: str) -> None:
        if len(self.closers) >= self.max_depth:
            raise _NotPlainError
        self.pieces.append(character)
        self.closers.append("}" if character == "{" else "]")
        self.expects = "key" if character == "{" else "value"
        self.comma = False
        self.at += 1

    def _close(self, character: str) -> None:
        self.at += 1
        if character != self.closers[-1]:
            self._note("brackets that do not match")
            if character not in self.closers[-2:]:
                return
            self._end_container()
        self._end_container()

    def _end_container(self) -> None:
        if self.comma:
            self._note("commas or semicolons at the end")
            self.comma = False
        if self.expects == "value" and self.closers[-1] == "}":
            self._note("missing values")
            self.pieces.append("null")
        self.pieces.append(self.closers.pop())
        self.expects = "end"
        if not self.closers:
            self.complete = len(self.pieces)

    def _close_all(self) -> None:
        if self.closers:
            self._note("a missing end")
        while self.closers:
            self._end_container()

    def _separate(self) -> None:
        self.at += 1
        if self.expects == "value" and self.closers[-1] == "}":
            self._note("missing values")
            self.pieces.append("null")
        elif self.expects != "end":
            self._note("commas too many")
            return
        self._expect_next()
        self.comma = True

    def _expect_next(self) -> None:
        self.expects = "key" if self.closers[-1] == "}" else "value"

    def _key(self, character: str) -> None:
        self._write_comma()
        bare = _BARE_KEY.match(self.text, self.at)
        if character in "\"'":
            self._string(character, _AFTER_KEY)
        elif bare:
            self._note("keys without quotes")
            self.bare_keys = True
            self.pieces.append(json.dumps(bare[1]))
            self.at = bare.end()
        else:
            raise _NotPlainError
        self._skip()
        if self.text[self.at : self.at + 1] != ":":
            raise _NotPlainError
        self.pieces.append(":")
        self.at += 1
        self.expects = "value"

    def _value(self, character: str) -> None:
        self._write_comma()
        if character in "{[":
            self._open(character)
            return
        if character in "\"'":
            in_array = self.closers[-1] == "]"
            after = _AFTER_ITEM if in_array else _AFTER_BARE_MEMBER if self.bare_keys else _AFTER_MEMBER
            self._string(character, after)
        elif number := _NUMBER.match(self.text, self.at):
            self.pieces.append(number[0])
            self.at = number.end()
        elif bare := _BARE_VALUE.match(self.text, self.at):
            self.pieces.append(self._bare_value(bare[0].rstrip()))
            self.at = bare.end()
        else:
            raise _NotPlainError
        self.expects = "end"

    def _bare_value(self, value: str) -> str:
        if value in _WORDS:
            return _WORDS[value]
        if value in _NO_VALUES:
            self._note("missing values")
            return "null"
        self._note("values without quotes")
        return json.dumps(value)

    def _string(self, quote: str, after: re.Pattern[str]) -> None:
        """Read to the quote after which the text continues as JSON; quotes before it are unescaped ones of the text."""
        text, at = self.text, self.at + 1
        parts: list[str] = []
        while True:
            run = _TEXT[quote].match(text, at)
            assert run is not None
            parts.append(run[0] if quote == '"' else run[0].replace('"', '\\"'))
            at = run.end()
            if at >= len(text):
                raise _NotPlainError
            if text[at] == "\\":
                escape = _ESCAPE.match(text, at)
                if escape:
                    parts.append(escape[0])
                else:
                    self._note("escapes that JSON does not have")
                    parts.append(text[at + 1 : at + 2])
                at = escape.end() if escape else at + 2
                continue
            at += 1
            if after.match(text, at):
                break
            self._note("unescaped quotes")
            parts.append('\\"' if quote == '"' else quote)
        if quote == "'":
            self._note("single quotes")
        self.at = at
        self.pieces.append(f'"{self._without_controls("".join(parts))}"')

    def _without_controls(self, text: str) -> str:
        if _CONTROL.search(text) is None:
            return text
        self._note("control characters in strings")
        return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

    def _write_comma(self) -> None:
        if self.comma:
            self.pieces.append(",")
            self.comma = False

    def _skip(self) -> None:
        """Skip white space, comments and markup."""
        while True:
            space = _SPACE.match(self.text, self.at)
            if space:
                self.at = space.end()
            comment = _COMMENT.match(self.text, self.at)
            if comment is None:
                return
            self._note("comments or markup")
            self.at = comment.end()

    def _note(self, what: str) -> None:
        self.notes[what] = None
