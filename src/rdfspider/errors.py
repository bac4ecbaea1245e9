"""The exceptions that rdfspider raises, by what the caller should do.

    RdfspiderError
    ├── UsageError      a person asked for something that cannot be: say it in one line, exit with 2
    │   ├── InUseError  another process has it: later it can be
    │   └── UnindexedError  there is no index that could answer: later there may be
    │       └── OtherVersionError  there is one that this version cannot read: it has to be made again
    └── UnansweredError a question takes more than it may: ask for less, or allow more

What a page contains is never an exception: extraction answers with quads and Problems.
"""


class RdfspiderError(Exception):
    """Everything that rdfspider raises on purpose."""


class UsageError(RdfspiderError):
    """What was asked cannot be done; the message says why and what to do, in one line."""


class InUseError(UsageError):
    """Another process holds what is needed."""


class UnindexedError(UsageError):
    """There is no index, or none that this version reads."""


class OtherVersionError(UnindexedError):
    """The index was made by another version."""


class UnansweredError(RdfspiderError):
    """A question was given up: it takes more time or memory than it may, or fails in a way of its own."""
