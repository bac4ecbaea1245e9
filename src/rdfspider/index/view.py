"""The interface of every index: a `View` takes outcomes from the log, and commits them together with its own position in the log.

The log is the archive of all shards, WARC files from elsewhere, and the list of what was forgotten. A view may be behind the
others. After a crash it may also hold outcomes that its cursors do not know of: taking an outcome again changes nothing. For each
URL the newest outcome wins, so the order in which the log's files are read does not matter.

To add an index, write a class that has all of this, and add it to `VIEWS` in `index/indexer.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from rdfspider.archive.outcomes import Outcome

Cursors = Mapping[str, int]
"""Where reading goes on, by source: `000/shard-000-facts-000001.warc.gz` for a shard's segment, an absolute path for a file from
elsewhere, `forgotten.txt` for what was forgotten (the mark of its rules)."""


class View(Protocol):
    """One index that follows the log. `index/log/follower.py` calls it from one thread; only `problem` is read by others, and
    `close` may come from another thread where the view is an outside store."""

    name: str
    """How people refer to it: `quads`, `text`, or the URL of an outside store."""

    removes_forgotten: bool
    """What `apply` gets for pages that were forgotten. False: nothing, because `forget` has removed them from this view, which
    knows all pages that it holds. True: an outcome that removes the page, each time the log mentions it, because the view may
    hold pages that it does not know of. An outside store whose records were lost is such a view."""

    @property
    def problem(self) -> str:
        """Why the view is not up to date although it still works, in words for people; empty where nothing is wrong. It is shown
        in `rdfspider status` while it lasts. Errors that end the work are raised instead."""
        ...

    @property
    def has_deferred(self) -> bool:
        """Whether work is left that needs no new outcomes, such as documents that were put off or pages whose time is up. While
        the log has nothing new, the follower calls `commit` again with unchanged cursors until this is False; each such commit
        does a part of the work, and takes about a second at most."""
        ...

    def load_cursors(self) -> dict[str, int]:
        """Where reading goes on, as of the last commit; empty for a new index. Called once, before anything else."""
        ...

    def apply(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes, in the order of the log. They need not be durable or visible before the next commit, and may be lost
        until then: after a crash they come again. Bad data of a page must not raise."""
        ...

    def forget(self, is_forgotten: Callable[[str], bool]) -> None:
        """Remove all pages whose URL is forgotten. A commit follows at once; from then on no reader may find them."""
        ...

    def commit(self, cursors: Cursors) -> None:
        """Make all that was applied durable, together with the cursors in the same store, and let readers see it. A crash at any
        instant leaves cursors that claim no more than what is stored. An OSError, or an `OperationalError` of SQLite, means that
        it may work later: the view is closed, and opened again after a pause."""
        ...

    def close(self) -> None:
        """Release files, threads and connections. What was not committed is lost, and taken again by the next process."""
        ...
