"""The archived copy of a page: a URL enters, the sanitized content leaves; never of a page that forbids copies."""

from dataclasses import dataclass

from markupsafe import Markup

from rdfspider.errors import UnansweredError, UsageError
from rdfspider.processes.calls import CallError
from rdfspider.run.visitor import prepare_address, read_address
from rdfspider.search.page_record import PageRecord, forbids_copy, read_copy
from rdfspider.serve.pages.inspector import find_record
from rdfspider.serve.replies import NotFoundError, PageReply, PageRequest, Parameter, SitePage
from rdfspider.serve.sanitized_copies import MAX_BYTES, Copy, make_copy

# Stricter than for other pages: even if sanitizing failed, a browser runs and loads nothing here.
_HEADERS = {"Content-Security-Policy": "sandbox; default-src 'none'", "X-Robots-Tag": "noindex, noarchive"}


@dataclass(frozen=True, slots=True)
class CopyData:
    """The copy of a page, for JSON."""

    url: str
    time: float
    """The time of the fetch, in seconds since 1970."""
    media_type: str
    is_cut: bool
    html: str
    """Sanitized."""
    source: str
    """The decoded text as it was sent: untrusted."""


def show_copy(request: PageRequest) -> PageReply:
    """Show the copy, below a line that says what it is."""
    text = request.get("url")
    if not text:
        raise UsageError("name a page: /copy?url=…")
    url = read_address(text)
    why = request.site.live_reports.why(prepare_address(text))
    record, message = find_record(request.site, url, why.wishes)
    if record is None and why.url != url:
        # The page is known under another spelling of its URL.
        record, message = find_record(request.site, why.url, why.wishes)
    if record is None:
        raise NotFoundError(message or f"there is no copy of {why.url}: it is not among the pages that were indexed")
    copy = _read_copy(request, record, why.wishes)
    return PageReply(
        "copy.html",
        {
            "copy": copy,
            "drawn": Markup(copy.html),
            "url": record.url,
            "title": record.title,
            "time": record.outcome.time,
        },
        data=lambda: CopyData(record.url, record.outcome.time, copy.media_type, copy.is_cut, copy.html, copy.source),
        headers=_HEADERS,
    )


def _read_copy(request: PageRequest, record: PageRecord, newest_directives: str) -> Copy:
    if record.payload is None:
        for directives in filter(forbids_copy, (newest_directives, record.fields.get("robots", ""))):
            raise NotFoundError(f"{record.url} asks that no copy be kept ({directives}), and none is shown")
        raise NotFoundError(
            f"the archive has no copy of {record.url}: bodies of such pages are not kept (archive.keep)"
        )
    capture = read_copy(record.payload, MAX_BYTES)
    if capture is None:
        raise NotFoundError(f"the archive has no copy of {record.url}")
    try:
        copy: Copy = request.site.visitor.call(make_copy, capture)
    except CallError as error:
        raise UnansweredError(f"the copy cannot be shown: {error}") from error
    if copy.is_refused:
        raise NotFoundError(f"{record.url} asks that no copy be shown")
    if copy.is_binary:
        raise NotFoundError(f"this is {copy.media_type}, and only text is shown")
    return copy


PAGES = (
    SitePage(
        "/copy",
        show_copy,
        "The archived copy of a page, without anything that could run or load.",
        (Parameter("url", "The URL of the page.", is_required=True),),
        formats=("html", "json"),
        is_heavy=True,
        answer=CopyData,
    ),
)
