"""A stream and a file's ending in, a stream that compresses out."""

import bz2
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
"""The endings that say how a file is compressed."""


@contextmanager
def compress(stream: BinaryIO, ending: str) -> Iterator[BinaryIO]:
    """What is written is compressed as the ending says; as it is for any other one."""
    if ending == ".gz":
        from isal import igzip

        # Without a name and a time the same data make the same file.
        gzip: Any = igzip.IGzipFile
        with gzip(filename="", mode="wb", fileobj=stream, mtime=0) as file:
            yield cast(BinaryIO, file)
    elif ending == ".bz2":
        with bz2.BZ2File(stream, "wb") as packed:
            yield cast(BinaryIO, packed)
    elif ending == ".xz":
        with lzma.LZMAFile(stream, "wb") as packed_better:
            yield cast(BinaryIO, packed_better)
    elif ending == ".zst":
        import pyarrow

        with pyarrow.CompressedOutputStream(pyarrow.PythonFile(stream, "w"), "zstd") as file:
            yield cast(BinaryIO, file)
    else:
        yield stream
