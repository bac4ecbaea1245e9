"""One page through detect and extract: the door of the Python API."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rdfspider.config import DocumentSource, ExtractConfig
from rdfspider.detect.content import detect_content
from rdfspider.documents import FolderDocuments
from rdfspider.errors import UsageError
from rdfspider.extract.page import SYNTAXES, extract_page
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
    """Take every statement, link and word out of a page.

    `url` is the page's address: the base of its links and the name of its graph. `content_type` is the header, if there
    was one. `syntaxes` are the names to read (all by default); `documents` gives JSON-LD contexts and other documents that
    are not bundled: a folder laid out as `host/path`, or a function from a URL to bytes or None.
    `config` has all settings; the keywords before it override it. Whatever the page holds, this does not raise.
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
        # Text is already decoded: whatever its header or its head claim, it travels as UTF-8 from here.
        body = b"\xef\xbb\xbf" + body.removeprefix("\ufeff").encode("utf-8", "replace")
    return extract_from(Page(url, bytes(body), content_type), settings)


def extract_from(page: Page, config: ExtractConfig) -> Extraction:
    """Detect what the page is, and take out what it holds."""
    return extract_page(page, detect_content(page, config.max_body_bytes), config)


def check_syntaxes(names: Iterable[str]) -> frozenset[str]:
    """The names as a set, if all are known."""
    wanted = frozenset(names)
    if not wanted:
        raise UsageError(f"no syntax is named; known are {', '.join(SYNTAXES)}")
    unknown = sorted(wanted.difference(SYNTAXES))
    if unknown:
        raise UsageError(f"unknown syntax {', '.join(unknown)}; known are {', '.join(SYNTAXES)}")
    return wanted
