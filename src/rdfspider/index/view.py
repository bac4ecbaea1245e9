"""The interface of every index: a `View` takes outcomes from the log and commits them together with its position in the log.

The log consists of the archives of all shards, WARC files from elsewhere, and the rules of what is forgotten. A view may be
behind the others. After a crash it may hold outcomes that its cursors have not passed: applying an outcome twice changes
nothing. For each URL the newest outcome wins, so the order in which the log's files are read does not matter.

To add an index, write a class with all of these members and add it to `VIEWS` in `index/indexer.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from rdfspider.archive.outcomes import Outcome

Cursors = Mapping[str, int]
"""Where reading resumes, by source: `000/shard-000-facts-000001.warc.gz` for a shard's segment, an absolute path for a file
from elsewhere, `forgotten.txt` for the forgotten pages (the mark of the rules, and how many were undone). A source's may go
back to 0: then all of it comes again."""


class View(Protocol):
    """One index that follows the log. `index/log/follower.py` calls it from one thread; other threads only read `problem`, and
    may call `close` if the view is an outside store."""

    name: str
    """The name that people see: `quads`, `text`, or the URL of an outside store."""

    removes_forgotten: bool
    """What `apply` gets for forgotten pages. False: nothing, because the view knows all pages that it holds, and `forget` has
    removed them. True: an outcome that removes the page, each time the log mentions it, because the view may hold pages that it
    does not know of, as an outside store does whose records were lost."""

    @property
    def problem(self) -> str:
        """Why the view is not up to date although it still works, in words for people; empty if nothing is wrong. `rdfspider
        status` shows it while it lasts. Errors that end the work are raised instead."""
        ...

    @property
    def has_deferred(self) -> bool:
        """Whether work is left that needs no new outcomes, such as deferred documents or expired pages. While the log has
        nothing new, the follower repeats `commit` with unchanged cursors until this is False; each such commit does a part of
        the work, in about a second at most."""
        ...

    def load_cursors(self) -> dict[str, int]:
        """Where reading resumes, as of the last commit; empty for a new index. Called once, before anything else."""
        ...

    def apply(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes, in the order of the log. They need not be durable or visible before the next commit: after a crash
        they come again. A page's bad data must not raise."""
        ...

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        """Remove all pages whose URL is forgotten. A commit follows immediately; after it no reader may find them."""
        ...

    def commit(self, cursors: Cursors) -> None:
        """Make everything applied durable, together with the cursors in the same store, and show it to readers. After a crash
        at any instant the cursors must claim no more than what is stored. An OSError, or SQLite's `OperationalError`, means
        that a retry may help: the view is closed, and opened again after a pause."""
        ...

    def close(self) -> None:
        """Release files, threads and connections. Uncommitted outcomes are lost; the next process takes them again."""
        ...
