"""One pass over broken JSON: its text enters; JSON leaves, with notes on what was repaired and what was left out.

Lookahead is bounded, so time is linear in the length of the text.
"""

import html
import json
import re
from dataclasses import dataclass

from rdfspider.extract.jsonld import repair_patterns as patterns

TAGS = "tags of templates"
"""The note on a text that a template has made, or has not finished."""
_MAX_LOST = 5
_MAX_NAME_CHARS = 40


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


class Rewriter:
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
                self.note("a missing end")
            while self.containers:
                self._end_container(implied=True)
        except _UnclearError:
            self._abandon()
        return f"[{''.join(self.pieces[: self.complete])}]"

    def _prepare(self, text: str) -> str:
        """Undo changes to the text as a whole: wrappers and character references."""
        if text[:1] == "\ufeff":
            self.note("a byte order mark")
        text = text.strip(patterns.BLANKS)
        if patterns.ASSIGNMENT.match(text):
            self.note("an assignment before it")
            text = patterns.ASSIGNMENT.sub("", text, count=1)
        if patterns.ESCAPED_START.match(text):
            self.note("quotes written as character references")
            text = html.unescape(text)
        return text

    def _begin(self, character: str) -> bool:
        """Outside of all brackets: begin another value; False at the end of the values."""
        if character in "{[":
            if self.complete:
                self.note("several values in a row")
                self.pieces.append(",")
            self._open(character)
            return True
        if character in ",;" and self.complete:
            self.note("commas or semicolons at the end")
            self.at += 1
            return True
        if self.complete:
            self.note("text after the end")
        return False

    def _step(self, character: str) -> None:
        if character in "}]":
            self._close(character)
        elif character == ",":
            self._separate()
        elif character == ";":
            self.note("commas or semicolons at the end")
            self.at += 1
        elif self.expects == "end":
            self.note("missing commas")
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
            self.note("brackets that do not match")
            if len(self.containers) < 2 or self.containers[-2].closer != character:
                return
            self._end_container(implied=True)
        self._end_container(implied=False)

    def _end_container(self, implied: bool) -> None:
        if self.comma:
            self.note("commas or semicolons at the end")
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
        self.tell_lost(container.key)
        del self.pieces[container.start :]
        container.last = container.start

    def _abandon(self) -> None:
        """Leave out what is unclear, an array of texts as a whole; keep what was read before it."""
        while self.containers and self.containers[-1].closer == "]" and self.pieces[-1] != "}":
            self.containers.pop()
        if not self.containers:
            self.note("text after the end")
            return
        container = self.containers[-1]
        if container.start < len(self.pieces):
            self._leave_out()
        elif not self.comma and self.pieces[-1][:1] == '"':
            # What follows may belong to that text, which did not end where it seemed to.
            container.start = container.last
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
            self.note("commas too many")
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
            self.note("keys without quotes")
            self.bare_keys = True
        elif character != '"':
            self.note("single quotes" if character in patterns.SINGLE else "typographic quotes")
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
            self.note(TAGS)
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
        elif (
            patterns.BARE_KEY_INSIDE.search(value)
            or patterns.QUOTE_OF_PAIR.search(value)
            or (in_array and patterns.SPACE.search(value))
        ):
            raise _UnclearError
        else:
            self.note("values without quotes")
            self.pieces.append(json.dumps(value))

    def _write_null(self) -> None:
        self.note("missing values")
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
            self.note("unescaped quotes")
            parts.append('\\"' if text[at] == '"' else text[at])
            at += 1
        if opened:
            raise _UnclearError
        if quote != '"':
            self.note("single quotes" if quote in patterns.SINGLE else "typographic quotes")
        self.at = at + 1
        self.pieces.append(f'"{self._without_controls("".join(parts))}"')

    def _escape(self, at: int, parts: list[str]) -> int:
        """Read an escape; one that JSON lacks stands for the character, unless other languages read it otherwise."""
        escape = patterns.ESCAPE.match(self.text, at)
        if escape:
            parts.append(escape[0])
            return escape.end()
        character = self.text[at + 1 : at + 2]
        self.note("escapes that JSON does not have")
        self.drops = self.drops or character.isalnum()
        parts.append(character)
        return at + 2

    def _without_controls(self, text: str) -> str:
        if patterns.CONTROL.search(text) is None:
            return text
        self.note("control characters in strings")
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
                self.note(TAGS)
                self.at = tag.end()
                continue
            markup = patterns.MARKUP.match(self.text, self.at)
            if markup is None:
                return
            self.note("comments or markup")
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

    def tell_lost(self, key: str) -> None:
        """Note the key of a member that is left out."""
        if len(self.lost) < _MAX_LOST:
            self.lost[repr(key[:_MAX_NAME_CHARS])] = None

    def note(self, what: str) -> None:
        """Note a kind of repair."""
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
    opens = before == "=" or not (after.isspace() or after in ",;:.!?)]}" or after == text[at])
    if not (closes if opened else opens):
        raise _UnclearError
    return not opened
