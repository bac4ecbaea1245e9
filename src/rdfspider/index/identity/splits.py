"""The rules of `rdfspider split`: lines of `split.txt` enter, pairs of entities that are kept apart leave.

A line has one or two IRIs, or IDs as search shows them. Two: these things are never joined. One: the thing is joined with
nothing.
"""

import logging
from pathlib import Path

from rdfspider.disk import add_lines, read_lines, write_atomically
from rdfspider.errors import UsageError
from rdfspider.index.entities.contributions import find_entity
from rdfspider.urls import is_valid_iri

_log = logging.getLogger(__name__)


class SplitRules:
    """The rules in a file, read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: object = None
        self._pairs: list[tuple[bytes, bytes]] = []

    def has_changed(self) -> bool:
        """Whether the file has changed since it was last read."""
        return self._find_stamp() != self._stamp

    def load(self) -> list[tuple[bytes, bytes]]:
        """Pairs of entities; the second is empty if a thing is joined with nothing. An unreadable file changes nothing."""
        stamp = self._find_stamp()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._pairs = [_read_rule(line) for line in read_lines(self._path)]
            except UsageError as error:
                _log.warning("%s: %s; what it said before still holds", self._path, error)
        return self._pairs

    def _find_stamp(self) -> object:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns


def add_split(path: Path, names: list[str]) -> None:
    """Add a rule; adding it again changes nothing."""
    rule = _write_rule(names)
    _read_rule(rule)
    add_lines(path, [rule])


def remove_split(path: Path, names: list[str]) -> None:
    """Take a rule back. Raise UsageError if there is none like it."""
    rule = _write_rule(names)
    lines = read_lines(path)
    if rule not in lines:
        raise UsageError(f"{path} has no rule {rule!r:.300}: nothing to undo")
    write_atomically(path, "".join(f"{line}\n" for line in lines if line != rule).encode())


def _write_rule(names: list[str]) -> str:
    for name in names:
        if not is_valid_iri(name) or " " in name:
            raise UsageError(f"{name!r:.200} is no IRI: take it as `rdfspider entity` or `rdfspider search` prints it")
    if len(set(names)) < len(names):
        raise UsageError("a thing cannot be split from itself: give two different IRIs, or one")
    return " ".join(sorted(names))


def _read_rule(line: str) -> tuple[bytes, bytes]:
    names = line.split()
    entities = [find_entity(name) for name in names]
    if not 1 <= len(names) <= 2 or None in entities:
        raise UsageError(f"{line[:200]!r} is no rule: a line has one IRI, or two with a space between")
    one, other = entities[0] or b"", (entities[1] or b"") if len(entities) > 1 else b""
    return (min(one, other), max(one, other)) if other else (one, b"")
