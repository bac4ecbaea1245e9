"""What a crawl's indexes hold in, one file of it out: which pages, in which format, compressed how."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from rdfspider.errors import RdfspiderError, UsageError
from rdfspider.run.files.compression import COMPRESSED, compress
from rdfspider.run.files.output import open_stream
from rdfspider.search.export import FORMAT_BY_SUFFIX, FORMATS, Exported, write_export
from rdfspider.search.names import Names
from rdfspider.search.quads import read_pages
from rdfspider.search.questions import open_store, select_statements
from rdfspider.search.sources import find_time

# Other ways to compress that people may expect.
_NOT_WRITTEN = frozenset({".zip", ".7z", ".br", ".lz4", ".tgz", ".z", ".zstd", ".lzma"})


def choose_format(path: Path | None, asked: str | None) -> str:
    """The format that was asked for, or that the file's name ends with; N-Quads on stdout."""
    ending, inner = _split_endings(path)
    if ending in _NOT_WRITTEN:
        raise UsageError(f"{path}: {ending} cannot be written; compress with one of {', '.join(COMPRESSED)}")
    named = FORMAT_BY_SUFFIX.get(inner)
    if asked is not None and asked not in FORMATS:
        raise UsageError(f"--format: {asked!r} is not one of {', '.join(FORMATS)}")
    if asked is None and path is not None and named is None:
        raise UsageError(f"{path}: its ending tells no format; name one with --format: {', '.join(FORMATS)}")
    file_format = asked or named or "nquads"
    if file_format == "parquet" and ending in COMPRESSED:
        raise UsageError(f"{path}: parquet is compressed inside; leave {ending} out")
    return file_format


def export_crawl(
    folder: Path,
    path: Path | None,
    asked_format: str | None,
    *,
    site: str | None = None,
    type: Names = None,
    ontology: Names = None,
    on_page: Callable[[Exported], None] = lambda exported: None,
) -> Exported:
    """Write what is selected to a file that appears when it is whole; without a path, to stdout."""
    file_format = choose_format(path, asked_format)
    selection, expected = select_statements(folder, site=site, type=type, ontology=ontology)
    ending, _ = _split_endings(path)
    with open_store(folder) as store:
        pages = read_pages(store, selection)
        try:
            with open_stream(path) as stream, compress(stream, ending) as packed:
                return write_export(pages, file_format, packed, partial(find_time, store), on_page, expected)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise RdfspiderError(f"{path or 'stdout'} could not be written: {error.strerror or error}") from error


def _split_endings(path: Path | None) -> tuple[str, str]:
    """How a file is compressed ("" for not) and the ending before that."""
    if path is None:
        return "", ""
    ending = path.suffix.lower()
    if ending in COMPRESSED or ending in _NOT_WRITTEN:
        return ending, path.with_suffix("").suffix.lower()
    return "", ending
