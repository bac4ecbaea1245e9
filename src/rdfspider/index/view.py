"""What every view of the log can do: take outcomes, make them durable together with its own cursor, and forget pages.

A view may be behind others, or have taken outcomes that its cursor does not know of yet, after a crash: taking an outcome again
changes nothing. The newest time of a URL wins, so the order of the log's files does not matter.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from rdfspider.archive.outcomes import Outcome

Cursors = Mapping[str, int]
"""Where reading goes on, by source: `000/shard-000-facts-000001.warc.gz` for a shard's segment, an absolute path for a file from
elsewhere, `forgotten.txt` for what was forgotten (the mark of its rules)."""


class View(Protocol):
    """One index that follows the log."""

    name: str
    """What people know it by: quads, text, or the URL of an outside store."""

    def load_cursors(self) -> dict[str, int]:
        """Where reading goes on, as of the last commit; empty for a new index."""
        ...

    def apply(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes, in the order of the log; durable with the next commit."""
        ...

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        """Remove all pages whose URL is forgotten."""
        ...

    def commit(self, cursors: Cursors) -> None:
        """Make all that was applied durable, together with the cursors, and let readers see it."""
        ...

    def close(self) -> None:
        """Leave; what was not committed is taken again."""
        ...
