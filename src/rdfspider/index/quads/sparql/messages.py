"""What `engine.py` and its worker processes say to each other."""

import msgspec

DONE, WORDS, USAGE, UNFIT, MEMORY, FAILED = "done", "words", "usage", "unfit", "memory", "failed"
UNINDEXED, UNREADABLE = "unindexed", "unreadable"
"""What a reply is. `words`: the texts that the query looks for; what was found is asked for. `usage`: the query is wrong.
`unfit`: none of the formats can hold the answer. `unindexed`, `unreadable`: there are no quads to ask, or damaged ones."""

Found = list[list[tuple[str, float]]]
"""What the text index has for each of `Reply.words`."""


class Graphs(msgspec.Struct, frozen=True):
    """Which graphs a query is about, whatever it says itself."""

    default: tuple[str, ...] = ()
    """IRIs of those that are merged to be the default graph; with none it is empty."""
    named: tuple[str, ...] = ()
    """IRIs of those that `GRAPH` knows."""


class Job(msgspec.Struct, frozen=True):
    """A query and what it may cost."""

    query: str
    formats: tuple[str, ...]
    prefixes: dict[str, str]
    max_rows: int
    max_bytes: int
    timeout_s: float
    memory_bytes: int
    graphs: Graphs | None = None
    """None for those that the query names, or else all."""
    base: str = ""
    """What relative IRIs are relative to; they are a mistake where it is empty."""


class Reply(msgspec.Struct, frozen=True):
    """The head of what a worker says; a document's bytes follow as a message of their own."""

    code: str
    message: str = ""
    kind: str = ""
    format: str = ""
    is_truncated: bool = False
    words: tuple[tuple[str, int], ...] = ()
    """What is looked for in the text index, and how much of it."""
    is_last: bool = False
    """Whether the worker ends after this."""
