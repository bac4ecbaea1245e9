"""Write the fragments of pages as one document, to a file that appears only when it is complete, or to stdout."""

import bz2
import io
import lzma
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from rdfspider.disk import replace_output
from rdfspider.errors import UsageError
from rdfspider.formats import FRAMES, ExtractFormat, Frame, open_parquet, to_arrow

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
"""The suffixes of compressed files."""

Write = Callable[[bytes], None]


@contextmanager
def open_output(path: Path | None, file_format: str) -> Iterator[Write]:
    """Yield a function that writes one page's fragment (`formats.page_fragment`); without a path, to stdout."""
    if path is None and file_format == ExtractFormat.PARQUET and sys.stdout is not None and sys.stdout.isatty():
        raise UsageError("parquet is not for a terminal: name a file with --output, or redirect stdout")
    if path is None and sys.stdout is None:
        raise UsageError("stdout is closed: name a file with --output")
    with open_stream(path) as stream:
        if file_format == ExtractFormat.PARQUET:
            with _write_parquet(stream) as write:
                yield write
        else:
            with _write_text(stream, FRAMES[file_format]) as write:
                yield write


@contextmanager
def open_stream(path: Path | None) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when it is complete; without a path, stdout."""
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = path.resolve()
    if path.exists() and not path.is_file():
        if path.is_dir():
            raise UsageError(f"{path}: it is a folder; name a file")
        with path.open("wb") as device:
            yield device
        return
    with replace_output(path) as file:
        yield file


@contextmanager
def _write_text(stream: BinaryIO, frame: Frame) -> Iterator[Write]:
    between = b""

    def write(fragment: bytes) -> None:
        nonlocal between
        if fragment:
            stream.write(between + fragment)
            between = frame.between.encode()

    stream.write(frame.start.encode())
    yield write
    stream.write(frame.end.encode())


@contextmanager
def _write_parquet(stream: BinaryIO) -> Iterator[Write]:
    from pyarrow import ipc

    with open_parquet(stream, to_arrow({}).schema) as write_table:

        def write(fragment: bytes) -> None:
            if fragment:
                write_table(ipc.open_stream(io.BytesIO(fragment)).read_all(), len(fragment))

        yield write


@contextmanager
def compress(stream: BinaryIO, ending: str) -> Iterator[BinaryIO]:
    """Compress what is written as the suffix says; any other suffix means no compression."""
    if ending == ".gz":
        from isal import igzip

        # Without a name and a time, the same data give the same file.
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
