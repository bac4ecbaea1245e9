"""The messages between `engine.py` and its worker processes."""

import msgspec

DONE, WORDS, USAGE, UNFIT, MEMORY, FAILED = "done", "words", "usage", "unfit", "memory", "failed"
UNINDEXED, UNREADABLE = "unindexed", "unreadable"
"""The codes of a reply. `words`: the query searches for these texts, and the worker waits for the results. `usage`: the query
is wrong. `unfit`: no format can hold the answer. `unindexed`, `unreadable`: there are no quads, or damaged ones."""

Found = list[list[tuple[str, float]]]
"""The results of the text index for each of `Reply.words`."""


class Graphs(msgspec.Struct, frozen=True):
    """The graphs of a query, which replace those that it names."""

    default: tuple[str, ...] = ()
    """IRIs of the graphs that are merged into the default graph; with none it is empty."""
    named: tuple[str, ...] = ()
    """IRIs of the graphs that `GRAPH` can use."""


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

    code: str
    message: str = ""
    kind: str = ""
    format: str = ""
    is_truncated: bool = False
    words: tuple[tuple[str, int], ...] = ()
    """The words to search for in the text index, each with a limit of results."""
    is_last: bool = False
    """Whether the worker ends after this reply."""
