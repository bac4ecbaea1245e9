"""The exceptions that rdfspider raises, by what the caller should do.

    RdfspiderError
    ├── UsageError      a person asked for something that cannot be: say it in one line, exit with 2
    │   ├── InUseError  another process has it: later it can be
    │   ├── UnindexedError  there is no index yet that could answer: later there is
    │   └── UnreadableError  what is on disk cannot be read: it has to be made again
    │       └── OtherVersionError  because another version has made it
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
    """There is no index yet, or nothing in it."""


class UnreadableError(UsageError):
    """An index, or the archive, is damaged; nobody who asks has made a mistake."""


class OtherVersionError(UnreadableError):
    """The index was made by another version."""


class UnansweredError(RdfspiderError):
    """A question was given up: it takes more time or memory than it may, or fails in a way of its own."""
