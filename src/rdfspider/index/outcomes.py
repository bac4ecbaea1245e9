"""A record of the log, as the indexes take it: what became of a URL once, and what its page says."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rdfspider.archive.segments import Position
from rdfspider.records import Problem

REPLACE, TOUCH, REMOVE = "replace", "touch", "remove"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A metadata record and the conversions after it; or a page of an archive from elsewhere, as if it had been crawled."""

    url: str
    time: float
    """When it was asked for, in seconds since 1970: WARC-Date."""
    source: str
    """The log's file: a key of `views.Cursors`."""
    offset: int
    """Where its first record begins in that file."""
    end: int
    """Where the next outcome begins."""
    effect: str
    """replace: the page says this now. touch: what it says is as before (304, the same bytes, a failure that may pass).
    remove: it is no longer there (gone, 404, a redirect) or asks not to be indexed."""
    verdict: str = "done"
    reason: str = "fetched"
    status: int = 0
    error: str = ""
    media_type: str = ""
    charset: str = ""
    language: str = ""
    title: str = ""
    canonical: str = ""
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    body_bytes: int = 0
    digest: str = ""
    payload: Position | None = None
    """Where the archive holds the body; None where it does not."""
    redirected_from: tuple[str, ...] = ()
    duplicate: str = ""
    duplicate_of: str = ""
    problems: tuple[Problem, ...] = ()
    statements: Mapping[str, str] = field(default_factory=dict)
    """N-Quads by syntax, as in `Extraction.statements`; empty unless the effect is `replace`."""
    text: str = ""
    outlinks: tuple[str, ...] = ()
