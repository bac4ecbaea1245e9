"""The query language: typed text enters, a Question leaves: words, "phrases", prefixes, fields (`type:person`), exclusions.

Any text becomes a Question. Text that breaks a rule of the language is searched as plain words, and a note says so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from rdfspider.index.text.fields import AFTER, ASKED, BEFORE, YEAR
from rdfspider.results import HitKind, Role
from rdfspider.vocabulary.terms import replace_surrogates

MAX_CHARS = 1_000
MAX_CLAUSES = 32
MAX_PREFIXES = 8
"""A prefix stands for thousands of words, and costs as much."""
WORDS, VALUE = "words", "value"
"""Clauses for any text, and for a property's value: a name before a colon that is not in `ASKED` is a property's."""
KINDS = tuple(HitKind)
WORD = re.compile(r"[^\W_]+")
"""Adjacent letters and digits."""

# A name begins with a letter, so that times (12:30) are words.
_NAME = r"[^\W\d_][\w.-]*"
# The name of a property may have a prefix: schema:author:melville.
_TERM = re.compile(
    rf"(?P<minus>-)?(?:(?P<name>(?:(?!(?i:{'|'.join(ASKED)}):){_NAME}:)?{_NAME}):)?"
    r'(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]+))'
)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_YEAR = re.compile(r"[0-9]{4}")
_QUOTES = str.maketrans("“”„‟«»＂", '"' * 7)


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition that a result meets, or if excluded does not meet."""

    field: str
    """One of `ASKED`, `words` for any text, or `value` for the value of the property `name`."""
    text: str
    name: str = ""
    is_phrase: bool = False
    is_prefix: bool = False
    is_excluded: bool = False
    start: int = 0
    """The position of `text` in the typed text; -1 for a filter."""


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed query: a result meets at least one clause of every group."""

    text: str
    groups: tuple[tuple[Clause, ...], ...]
    note: str = ""
    """Which parts were not understood as typed; empty if none."""


class _BrokenRuleError(Exception):
    """The text breaks a rule of the language; the message goes into the note."""


def parse_question(text: str) -> Question:
    """Parse typed text; never fails."""
    # Lone surrogates come from command lines that are not UTF-8.
    text = replace_surrogates(text)
    notes = []
    if len(text) > MAX_CHARS:
        text = text[:MAX_CHARS]
        notes.append(f"only the first {MAX_CHARS:,} characters were searched for")
    try:
        groups = tuple(_group(text))
        if sum(clause.is_prefix for group in groups for clause in group) > MAX_PREFIXES:
            raise _BrokenRuleError(f"more than {MAX_PREFIXES} words end with *")
    except _BrokenRuleError as error:
        groups = tuple((word,) for word in _split_words(text))
        notes.append(f"searched as plain words: {error}")
    if len(groups) > MAX_CLAUSES:
        groups = groups[:MAX_CLAUSES]
        notes.append(f"only the first {MAX_CLAUSES} words were searched for")
    return Question(text, groups, "; ".join(notes))


def parse_date(text: str) -> datetime | None:
    """Return the first instant of a year, a month or a day; None for other text."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    try:
        return datetime(*(int(part or 1) for part in match.groups()), tzinfo=UTC)  # type: ignore[misc, arg-type]
    except ValueError:
        return None


def _group(text: str) -> Iterator[tuple[Clause, ...]]:
    """Yield groups of clauses; OR joins clauses into one group."""
    plain = text.translate(_QUOTES)
    if plain.count('"') % 2:
        raise _BrokenRuleError("a quotation mark has no partner")
    group: list[Clause] = []
    is_open = False
    for match in _TERM.finditer(plain):
        if match[0] in ("OR", "|"):
            if not group or is_open:
                raise _BrokenRuleError("OR stands between two words")
            is_open = True
            continue
        clause = _read_clause(match)
        if clause is None:
            continue
        if group and not is_open:
            yield tuple(group)
            group = []
        group.append(clause)
        is_open = False
        if len(group) > MAX_CLAUSES:
            raise _BrokenRuleError(f"OR joins more than {MAX_CLAUSES} words")
        if len(group) > 1 and any(one.is_excluded for one in group):
            raise _BrokenRuleError("OR and a minus do not go together")
    if is_open:
        raise _BrokenRuleError("OR stands between two words")
    if group:
        yield tuple(group)


def _read_clause(match: re.Match[str]) -> Clause | None:
    """Read one term; None if it has nothing to search for, like a dash between words."""
    name, quoted, bare = match["name"] or "", match["quoted"], match["bare"]
    start = match.start("bare" if quoted is None else "quoted")
    value = bare if quoted is None else quoted
    if match[0] == "AND":
        return None
    if bare is not None and name and value.startswith("//"):
        # A web address is not a field.
        start = match.start("name")
        name, value = "", f"{name}:{value}"
    if bare is not None and not name and bare.endswith(":") and WORD.fullmatch(bare[:-1]):
        raise _BrokenRuleError(f"nothing stands behind {bare[:40]!r}")
    if not WORD.search(value):
        if name:
            raise _BrokenRuleError(f"nothing stands behind {name[:40] + ':'!r}")
        return None
    is_excluded = bool(match["minus"])
    field = name.lower()
    if field in ASKED:
        _check_field(field, value)
        return Clause(field, value, is_excluded=is_excluded, start=start)
    is_prefix = quoted is None and value.endswith("*")
    return Clause(
        VALUE if name else WORDS,
        value.rstrip("*") if is_prefix else value,
        name,
        is_phrase=quoted is not None,
        is_prefix=is_prefix,
        is_excluded=is_excluded,
        start=start,
    )


def _check_field(field: str, value: str) -> None:
    if field in (BEFORE, AFTER) and parse_date(value) is None:
        raise _BrokenRuleError(f"{value[:40]!r} is no date; {field}:2024, {field}:2024-05 and {field}:2024-05-01 are")
    if field == YEAR and not _YEAR.fullmatch(value):
        raise _BrokenRuleError(f"{value[:40]!r} is no year; year:2024 is")
    if field == "kind" and value.lower() not in KINDS:
        raise _BrokenRuleError(f"{value[:40]!r} is no kind; kind:page and kind:entity are")
    if field == "role" and value.lower() not in tuple(Role):
        raise _BrokenRuleError(f"{value[:40]!r} is no role; {', '.join(Role)} are")


def _split_words(text: str) -> Iterator[Clause]:
    for match in WORD.finditer(text):
        yield Clause(WORDS, match[0], start=match.start())
