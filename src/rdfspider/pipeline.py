"""The entry point for extraction from Python: the bytes of one page enter, its Extraction leaves, through detect and extract."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rdfspider.config import DocumentSource, ExtractConfig
from rdfspider.detect.content import detect_content
from rdfspider.errors import UsageError
from rdfspider.extract.page import SYNTAXES, extract_page
from rdfspider.linked_documents import FolderDocuments
from rdfspider.records import Extraction, Page


def extract(
    body: bytes | str,
    url: str,
    content_type: str | None = None,
    *,
    syntaxes: Iterable[str] | None = None,
    keep_graphs: bool | None = None,
    about_page: bool | None = None,
    documents: DocumentSource | Path | None = None,
    config: ExtractConfig | None = None,
) -> Extraction:
    """Extract all statements, links and text of a page; nothing in a page makes this raise.

    `url` is the page's address: the base of its links and the name of its graph. `content_type` is the header, if there
    was one. `syntaxes` are the names of syntaxes to read (default: all that are on); `documents` supplies JSON-LD contexts and
    other documents that are not bundled: a folder laid out as `host/path`, or a function from a URL to bytes or None.
    `config` has all settings; the other keywords override it.
    """
    settings = config or ExtractConfig()
    if syntaxes is not None:
        settings = replace(settings, syntaxes=check_syntaxes((syntaxes,) if isinstance(syntaxes, str) else syntaxes))
    if keep_graphs is not None:
        settings = replace(settings, keep_graphs=keep_graphs)
    if about_page is not None:
        settings = replace(settings, about_page=about_page)
    if documents is not None:
        settings = replace(settings, documents=FolderDocuments(documents) if isinstance(documents, Path) else documents)
    if isinstance(body, str):
        # Text is already decoded: the byte-order mark makes it UTF-8, whatever the header or a `meta` element claims.
        body = b"\xef\xbb\xbf" + body.removeprefix("\ufeff").encode("utf-8", "replace")
    return extract_from(Page(url, bytes(body), content_type), settings)


def extract_from(page: Page, config: ExtractConfig) -> Extraction:
    """Detect the content of a page, and extract from it."""
    return extract_page(page, detect_content(page, config.max_body_bytes), config)


def check_syntaxes(names: Iterable[str]) -> frozenset[str]:
    """Return the names as a set; raise UsageError if one is unknown or there are none."""
    wanted = frozenset(names)
    if not wanted:
        raise UsageError(f"no syntax is named; known are {', '.join(SYNTAXES)}")
    unknown = sorted(wanted.difference(SYNTAXES))
    if unknown:
        raise UsageError(f"unknown syntax {', '.join(unknown)}; known are {', '.join(SYNTAXES)}")
    return wanted
