"""The messages between `engine.py` and its worker processes."""

from enum import StrEnum

import msgspec

from rdfspider.results import AnswerKind, Graphs

Found = list[list[tuple[str, float]]]
"""The results of the text index for each of `Reply.words`."""


class ReplyCode(StrEnum):
    """What a reply means."""

    DONE = "done"
    WORDS = "words"
    """The query searches for some texts, and the worker waits for the results."""
    USAGE = "usage"
    """The query is wrong."""
    UNFIT = "unfit"
    """No requested format can hold the answer."""
    UNINDEXED = "unindexed"
    """There are no quads yet."""
    UNREADABLE = "unreadable"
    """The quads are damaged."""
    MEMORY = "memory"
    """The query needs too much memory."""
    FAILED = "failed"


class Job(msgspec.Struct, frozen=True):
    """A query and its limits."""

    query: str
    formats: tuple[str, ...]
    prefixes: dict[str, str]
    max_rows: int
    max_bytes: int
    timeout_s: float
    memory_bytes: int
    graphs: Graphs | None = None
    """None for the graphs that the query names, or else all."""
    base: str = ""
    """The base of relative IRIs; if it is empty, they are an error."""


class Reply(msgspec.Struct, frozen=True):
    """The head of a worker's reply; the bytes of a document follow as a separate message."""

    code: ReplyCode
    message: str = ""
    kind: AnswerKind = AnswerKind.ROWS
    """Only if the code is `done`, like the two that follow."""
    format: str = ""
    is_truncated: bool = False
    words: tuple[tuple[str, int], ...] = ()
    """The words to search for in the text index, each with a limit of results."""
    is_last: bool = False
    """Whether the worker ends after this reply."""
