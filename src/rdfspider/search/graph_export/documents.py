"""Files of an export: a name enters, a stream leaves that is compressed as the name says and appears when it is complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rdfspider.batch.output import compress, open_stream
from rdfspider.errors import RdfspiderError


@contextmanager
def open_document(path: Path | None, *, is_packed: bool = False) -> Iterator[BinaryIO]:
    """Open a file, or without a path stdout. A document that `is_packed` by its format is not compressed again."""
    ending = path.suffix.lower() if path is not None and not is_packed else ""
    try:
        with open_stream(path) as stream, compress(stream, ending) as packed:
            yield packed
    except BrokenPipeError:
        raise
    except OSError as error:
        raise RdfspiderError(f"{path or 'stdout'} could not be written: {error.strerror or error}") from error
