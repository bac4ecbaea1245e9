"""Files of an export: a name enters, a stream leaves that is compressed as the name says and appears when it is complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rdfspider.batch.output import COMPRESSED, compress, open_stream
from rdfspider.errors import RdfspiderError, UsageError

# Other compressed formats that people may expect.
_NOT_WRITTEN = frozenset({".zip", ".7z", ".br", ".lz4", ".tgz", ".z", ".zstd", ".lzma"})


def split_endings(path: Path | None) -> tuple[str, str]:
    """Return the suffix of the compression ("" for none) and the suffix before it. UsageError if it cannot be written."""
    if path is None:
        return "", ""
    ending = path.suffix.lower()
    if ending in _NOT_WRITTEN:
        raise UsageError(f"{path}: {ending} cannot be written; compress with one of {', '.join(COMPRESSED)}")
    return (ending, path.with_suffix("").suffix.lower()) if ending in COMPRESSED else ("", ending)


@contextmanager
def open_document(path: Path | None, *, is_packed: bool = False) -> Iterator[BinaryIO]:
    """Open a file, or without a path stdout. A document that `is_packed` by its format is not compressed again."""
    ending = "" if is_packed else split_endings(path)[0]
    try:
        with open_stream(path) as stream, compress(stream, ending) as packed:
            yield packed
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RdfspiderError(f"{path or 'stdout'} could not be written: {error.strerror or error}") from error
