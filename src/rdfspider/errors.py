"""The exceptions that rdfspider raises, by what the caller should do.

    RdfspiderError
    ├── UsageError      the request cannot be met: say why in one line, exit with 2
    │   ├── AwayError   the store of a backup or a shard elsewhere does not answer: try again later
    │   ├── InUseError  another process holds it: try again later
    │   ├── UnfitError  no requested format can hold the answer: ask for another one
    │   ├── UnindexedError  there is no index yet: try again later
    │   └── UnreadableError  files on disk cannot be read: they have to be made again
    │       └── OtherVersionError  because another version made them
    └── UnansweredError a request was given up: ask for less, allow more, or try again later

The content of a page never raises an exception: extraction returns quads and Problems.
"""

import errno
import os

USAGE_EXIT = 2
"""The exit code of a command or a child process that ends with a UsageError: a person has to change something first."""


class RdfspiderError(Exception):
    """The base class of everything that rdfspider raises on purpose."""


class UsageError(RdfspiderError):
    """The request cannot be met; the message says why and what to do, in one line."""


class InUseError(UsageError):
    """Another process holds what is needed."""


class AwayError(UsageError):
    """The store of a backup, or a shard in another place, does not answer now, or refuses."""


class UnfitError(UsageError):
    """None of the requested formats can hold the answer."""


class UnindexedError(UsageError):
    """There is no index yet, or it is empty."""


class UnreadableError(UsageError):
    """An index or the archive is damaged, through no mistake of the user."""


class OtherVersionError(UnreadableError):
    """The index was made by another version."""


class UnansweredError(RdfspiderError):
    """A request was given up: it exceeds its time or memory, others are served first, or the engine fails."""


def is_full_disk(error: BaseException) -> bool:
    """Whether an error, of the system or of a store, says that there is no room: the disk is full, or a quota is used up."""
    return _has_code(error, errno.ENOSPC, errno.EDQUOT)


def is_shortage(error: BaseException) -> bool:
    """Whether an error, of the system or of a store, tells of no room or no file descriptor, so nothing is damaged."""
    return is_full_disk(error) or _has_code(error, errno.EMFILE, errno.ENFILE)


def _has_code(error: BaseException, *codes: int) -> bool:
    return getattr(error, "errno", None) in codes or any(os.strerror(code) in str(error) for code in codes)
