"""Broken JSON enters; what it obviously says leaves, with a note on every kind of repair and on every member left out.

Scripts on the web contain comments, trailing commas, raw line breaks, unescaped quotes, tags of templates and wrappers
for old browsers. One pass over the text rewrites it as JSON. Nothing is guessed: a member whose value is unclear is left
out; where it is unclear even where a member ends, reading stops, and what was read before it is kept. Lookahead is
bounded, so time is linear in the length of the text.
"""

import html
import json
import math
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from rdfspider.extract.jsonld import repair_patterns as patterns

_MAX_LOST = 5
_MAX_NAME_CHARS = 40


class Repaired(NamedTuple):
    """The values in order, what was repaired, and which members were left out."""

    values: list[Any]
    notes: list[str]
    lost: list[str]


def repair_json(text: str, max_depth: int) -> Repaired | None:
    """What broken JSON says; None where nothing of it is clear."""
    writer = _Rewriter(_without_surrogates(text), max_depth)
    written = writer.rewrite()
    notes = writer.notes
    try:
        values = [value for value in _load(written, notes) if value]
        if patterns.SURROGATE_ESCAPE.search(written):
            values = json.loads(_without_surrogates(json.dumps(values, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None
    if not values:
        return None
    if not notes and not writer.lost:
        notes["characters that are none"] = None
    return Repaired(values, list(notes), list(writer.lost))


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


class _UnclearError(Exception):
    """From here on, it is unclear what the text says."""


@dataclass(slots=True)
class _Container:
    """An object or array that is being read, with places in what was written."""

    closer: str
    key: str
    """The key of the member that is being read; in an array, that of the array itself."""
    last: int
    """Where the last whole member or item begins, with its comma."""
    start: int
    """Where the one that is being read begins; the end, where none is."""


class _Rewriter:
    """The state of one pass: where it is, what it has written, and what it expects next."""

    def __init__(self, text: str, max_depth: int) -> None:
        self.notes: dict[str, None] = {}
        self.lost: dict[str, None] = {}
        self.text = self._prepare(text)
        self.max_depth = max_depth
        self.at = 0
        self.pieces: list[str] = []
        self.containers: list[_Container] = []
        self.expects = "value"  # or "key", or "end": a comma or a closing bracket
        self.comma = False  # whether one was read after the last member or item
        self.bare_keys = False
        self.drops = False  # whether the value that was read last is to be left out
        self.complete = 0
        self.comment_end = -1  # the first "-->" from some place on: there is none between that place and it

    def rewrite(self) -> str:
        """An array of the values in the text, as JSON."""
        try:
            self._skip()
            while self.at < len(self.text):
                if self.containers:
                    self._step(self.text[self.at])
                elif not self._begin(self.text[self.at]):
                    break
                self._skip()
            if self.containers:
                self._note("a missing end")
            while self.containers:
                self._end_container(implied=True)
        except _UnclearError:
            self._abandon()
        return f"[{''.join(self.pieces[: self.complete])}]"

    def _prepare(self, text: str) -> str:
        """Undo changes to the text as a whole: wrappers and character references."""
        if text[:1] == "\ufeff":
            self._note("a byte order mark")
        text = text.strip(patterns.BLANKS)
        if patterns.ASSIGNMENT.match(text):
            self._note("an assignment before it")
            text = patterns.ASSIGNMENT.sub("", text, count=1)
        if patterns.ESCAPED_START.match(text):
            self._note("quotes written as character references")
            text = html.unescape(text)
        return text

    def _begin(self, character: str) -> bool:
        """Outside of all brackets: begin another value; False at the end of the values."""
        if character in "{[":
            if self.complete:
                self._note("several values in a row")
                self.pieces.append(",")
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
        elif self.expects == "key":
            self._key(character)
        else:
            self._value(character)

    def _open(self, character: str) -> None:
        if len(self.containers) >= self.max_depth:
            raise _UnclearError
        self.pieces.append(character)
        here = len(self.pieces)
        key = self.containers[-1].key if self.containers else ""
        self.containers.append(_Container("}" if character == "{" else "]", key, here, here))
        self._expect_next()
        self.comma = False
        self.at += 1

    def _close(self, character: str) -> None:
        self.at += 1
        if character != self.containers[-1].closer:
            self._note("brackets that do not match")
            if len(self.containers) < 2 or self.containers[-2].closer != character:
                return
            self._end_container(implied=True)
        self._end_container(implied=False)

    def _end_container(self, implied: bool) -> None:
        if self.comma:
            self._note("commas or semicolons at the end")
            self.comma = False
        container = self.containers[-1]
        if self.expects == "value" and container.closer == "}":
            self._write_null()
        elif implied:
            self._leave_out_doubtful()
        self.pieces.append(self.containers.pop().closer)
        self._end_value()
        if not self.containers:
            self.complete = len(self.pieces)

    def _leave_out_doubtful(self) -> None:
        """Where a closing bracket is missing, and the last value ends with one of its kind, it may be that value's that is."""
        container = self.containers[-1]
        if self.pieces[-1] == container.closer and container.start == len(self.pieces):
            container.start = container.last
            self._leave_out()

    def _leave_out(self) -> None:
        """Leave out the member or item that is being read."""
        container = self.containers[-1]
        if len(self.lost) < _MAX_LOST:
            self.lost[repr(container.key[:_MAX_NAME_CHARS])] = None
        del self.pieces[container.start :]
        container.last = container.start

    def _abandon(self) -> None:
        """Leave out what is unclear, an array of texts as a whole; keep what was read before it."""
        while self.containers and self.containers[-1].closer == "]" and self.pieces[-1] != "}":
            self.containers.pop()
        if not self.containers:
            self._note("text after the end")
            return
        container = self.containers[-1]
        if container.start < len(self.pieces):
            self._leave_out()
        else:
            self._leave_out_doubtful()
        self.lost[f"all after {container.key[:_MAX_NAME_CHARS]!r}"] = None
        while self.containers:
            closer = self.containers.pop().closer
            if self.pieces[-1] in ("{", "[") and self.containers:
                del self.pieces[self.containers[-1].start :]
            else:
                self.pieces.append(closer)
        self.complete = len(self.pieces)

    def _separate(self) -> None:
        self.at += 1
        if self.expects == "value" and self.containers[-1].closer == "}":
            self._write_null()
            self._end_value()
        elif self.expects != "end":
            self._note("commas too many")
            return
        self._expect_next()
        self.comma = True

    def _expect_next(self) -> None:
        self.expects = "key" if self.containers[-1].closer == "}" else "value"

    def _key(self, character: str) -> None:
        quoted = patterns.QUOTED_KEY.match(self.text, self.at)
        bare = patterns.BARE_KEY.match(self.text, self.at)
        found = quoted or bare
        if found is None:
            raise _UnclearError
        if bare:
            self._note("keys without quotes")
            self.bare_keys = True
        elif character != '"':
            self._note("single quotes" if character in patterns.SINGLE else "typographic quotes")
        name = found[1].replace("\\/", "/")
        self.containers[-1].key = name
        self._begin_entry()
        self.drops = not name
        self.pieces += (json.dumps(name), ":")
        self.at = found.end()
        self.expects = "value"

    def _value(self, character: str) -> None:
        in_array = self.containers[-1].closer == "]"
        if in_array:
            self._begin_entry()
            self.drops = False
        if character in "{[" and not patterns.TAG.match(self.text, self.at):
            if self.drops:
                raise _UnclearError
            self._open(character)
            return
        if character in patterns.TEXT:
            self._string(character, in_array)
        else:
            self._bare_value(in_array)
        if self.drops:
            self._leave_out()
        self._end_value()

    def _bare_value(self, in_array: bool) -> None:
        """Read a number, a word of JSON, or text without quotes; what comes from a template is left out."""
        text = self.text
        found = patterns.NUMBER.match(text, self.at) or patterns.BARE_VALUE.match(text, self.at)
        tagged = patterns.TAGGED_VALUE.match(text, self.at)
        if patterns.TAG.match(text, self.at) or (tagged and patterns.TAG.search(tagged[0])):
            found, self.drops = tagged, True
            self._note("tags of templates")
        if found is None or not self._ends_value(found.end(), in_array):
            raise _UnclearError
        self.at = found.end()
        value = found[0].strip()
        if self.drops or patterns.EXPRESSION.match(value):
            self.drops = True
        elif value in patterns.NO_VALUES:
            self._write_null()
        elif found.re is patterns.NUMBER:
            self.pieces.append(value)
        elif value in patterns.WORDS:
            self.pieces.append(patterns.WORDS[value])
        elif patterns.BARE_KEY_INSIDE.search(value) or (in_array and patterns.SPACE.search(value)):
            raise _UnclearError
        else:
            self._note("values without quotes")
            self.pieces.append(json.dumps(value))

    def _write_null(self) -> None:
        self._note("missing values")
        if self.drops:
            self._leave_out()
        else:
            self.pieces.append("null")

    def _ends_value(self, at: int, in_array: bool) -> bool:
        """Whether the text after a value goes on as that of an object or array."""
        if in_array:
            return patterns.AFTER_ITEM.match(self.text, at) is not None
        bare = patterns.ANY_BARE_MEMBER if self.bare_keys else patterns.BARE_MEMBER
        return bool(patterns.AFTER_MEMBER.match(self.text, at) or bare.match(self.text, at))

    def _string(self, quote: str, in_array: bool) -> None:
        """Read to the quote after which the text goes on as JSON; quotes before it are unescaped ones of the text."""
        text, at = self.text, self.at + 1
        parts: list[str] = []
        opened = False
        while True:
            run = patterns.TEXT[quote].match(text, at)
            assert run is not None
            parts.append(run[0] if quote == '"' else run[0].replace('"', '\\"'))
            at = run.end()
            if at >= len(text):
                raise _UnclearError
            if text[at] == "\\":
                at = self._escape(at, parts)
                continue
            ends = self._ends_value(at + 1, in_array)
            if not ends and not in_array and not text[at - 1].isdigit():
                ends = patterns.BARE_MEMBER_AFTER_SPACE.match(text, at + 1) is not None
            if ends:
                break
            opened = _pair_quote(text, self.at + 1, at, opened)
            self._note("unescaped quotes")
            parts.append('\\"' if text[at] == '"' else text[at])
            at += 1
        if opened:
            raise _UnclearError
        if quote != '"':
            self._note("single quotes" if quote in patterns.SINGLE else "typographic quotes")
        self.at = at + 1
        self.pieces.append(f'"{self._without_controls("".join(parts))}"')

    def _escape(self, at: int, parts: list[str]) -> int:
        """Read an escape; one that JSON lacks stands for the character, unless other languages read it otherwise."""
        escape = patterns.ESCAPE.match(self.text, at)
        if escape:
            parts.append(escape[0])
            return escape.end()
        character = self.text[at + 1 : at + 2]
        self._note("escapes that JSON does not have")
        self.drops = self.drops or character.isalnum()
        parts.append(character)
        return at + 2

    def _without_controls(self, text: str) -> str:
        if patterns.CONTROL.search(text) is None:
            return text
        self._note("control characters in strings")
        return patterns.CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)

    def _begin_entry(self) -> None:
        self.containers[-1].start = len(self.pieces)
        if self.pieces[-1] not in ("{", "["):
            self.pieces.append(",")
        self.comma = False

    def _end_value(self) -> None:
        self.expects = "end"
        if self.containers:
            container = self.containers[-1]
            container.last, container.start = container.start, len(self.pieces)

    def _skip(self) -> None:
        """Skip white space, comments, markup, and the tags of templates between members."""
        while True:
            space = patterns.SPACE.match(self.text, self.at)
            if space:
                self.at = space.end()
            if self.containers and self.expects != "value" and (tag := patterns.TAG.match(self.text, self.at)):
                self._note("tags of templates")
                self.at = tag.end()
                continue
            markup = patterns.MARKUP.match(self.text, self.at)
            if markup is None:
                return
            self._note("comments or markup")
            self.at = self._comment_end(markup) if markup[0].endswith("<!--") else markup.end()

    def _comment_end(self, opening: re.Match[str]) -> int:
        """The end of a comment; that of its opening alone, where it wraps the values themselves."""
        if self.comment_end < opening.end():
            found = self.text.find("-->", opening.end())
            self.comment_end = found if found >= 0 else len(self.text)
        after = self.comment_end + 3
        if after > len(self.text):
            return opening.end()
        wraps = patterns.BRACKET.match(self.text, opening.end()) and not patterns.BRACKET.match(self.text, after)
        return opening.end() if wraps else after

    def _note(self, what: str) -> None:
        self.notes[what] = None


def _pair_quote(text: str, start: int, at: int, opened: bool) -> bool:
    """Take a quote for one of the text; returns whether a quotation is open after it. Quotations that do not pair are unclear."""
    before, after = text[at - 1 : at] if at > start else "", text[at + 1 : at + 2]
    if text[at] in patterns.SINGLE and before.isalnum() and after.isalnum():
        return opened  # an apostrophe
    if before.isdigit() and not opened and not patterns.LIKE_AN_END.match(text, at + 1):
        return False  # inches
    if patterns.UNCLEAR.match(text, at + 1) or text[max(start, at - 8) : at].rstrip()[-1:] in ("{", "["):
        raise _UnclearError
    closes = not before.isspace() and before != ":"
    opens = before == "=" or not (after.isspace() or after in ",;:.!?)]}")
    if not (closes if opened else opens):
        raise _UnclearError
    return not opened
