"""The page inspector: a URL enters, everything known about it leaves: what happened to it and why, how it was found, its
statements by syntax, its problems, its links out and in; and its archived copy, unless the page forbids copies.

URLs that were never fetched are explained, too.
"""

from base64 import b64encode
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, TypedDict

from markupsafe import Markup

from rdfspider.crawl.reports.explanations import Explanation
from rdfspider.errors import UnansweredError, UsageError
from rdfspider.processes.calls import CallError
from rdfspider.results import Rank
from rdfspider.run.page_requests import prepare_address, read_address
from rdfspider.search.found_links import FoundLink
from rdfspider.search.page_record import PageRecord, forbids_copy, read_copy, read_page
from rdfspider.serve.inspections import (
    SYNTAX_NAMES,
    Inspection,
    InspectionData,
    OutLink,
    describe_inspection,
    make_table,
    write_nquads,
)
from rdfspider.serve.page_links import (
    KIND_WORDS,
    LINKS_SHOWN,
    MAX_PAGE,
    WORDS_SHOWN,
    Called,
    CalledData,
    LinksData,
    ShownLinks,
    describe_called,
    describe_links,
    make_called_table,
    make_links_table,
    read_called,
    read_in_links,
    read_out_links,
    read_rank,
)
from rdfspider.serve.rendering import STATIC
from rdfspider.serve.replies import CsvTable, NotFoundError, PageReply, PageRequest, Parameter, SitePage
from rdfspider.serve.sanitized_copies import MAX_BYTES, Copy, make_copy
from rdfspider.serve.site import Site

# As much as search results show.
_BEGINNING_CHARS = 300
# Fields of a fetch in the log that people may want to know, and their display names.
_FETCH_FACTS = {
    "http-version": "HTTP version",
    "fetchTimeMs": "Server took, in ms",
    "wire-bytes": "Bytes on the wire",
    "content-type": "Content-Type",
    "last-modified": "Last-Modified",
    "etag": "ETag",
    "truncated": "Not whole because of",
    "unchanged": "Not changed, by",
}
_FETCH_NUMBERS = {"fetchTimeMs", "wire-bytes"}
_COPY_STYLE = (STATIC / "copy.css").read_text(encoding="utf-8")
# Stricter than for other pages: even if sanitizing failed, a browser runs and loads nothing here. Of styles it takes ours, by
# their hash: they are in the page, because a sandboxed page may not load files of this server.
_COPY_HASH = b64encode(sha256(_COPY_STYLE.encode()).digest()).decode()
_COPY_HEADERS = {
    "Content-Security-Policy": f"sandbox; default-src 'none'; style-src 'sha256-{_COPY_HASH}'",
    "X-Robots-Tag": "noindex, noarchive",
}


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Where a page leads, what leads there, and how it is called."""

    out: ShownLinks
    into: ShownLinks
    called: Called
    rank: Rank | None


class FetchData(TypedDict, total=False):
    """Facts of the fetch, for JSON; empty where there was none."""

    time: float
    status: int
    digest: str
    duplicate: str
    duplicate_of: str
    redirected_from: tuple[str, ...]
    has_copy: bool
    is_cut: bool
    fields: dict[str, str]


class PageData(InspectionData):
    """All that is known of a URL, for JSON."""

    why: Explanation
    fetch: FetchData
    out_links: LinksData
    """The same links as the graph has them, with redirects, canonical addresses and links of the data."""
    in_links: LinksData
    called: CalledData
    rank: Rank | None


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


def show_page(request: PageRequest) -> PageReply:
    """Show everything known about a URL."""
    text = request.get("url")
    if not text:
        return PageReply("", redirect="/inspect")
    why = request.site.live_reports.why(prepare_address(text))
    record, message = find_record(request.site, why.url, why.directives)
    inspection = _inspect_record(record, why.directives) if record else Inspection(why.url)
    links = _read_links(request, why.url, inspection)
    context: dict[str, Any] = {
        "why": why,
        "record": record,
        "message": message,
        "inspection": inspection,
        "links": links,
        "kind_words": KIND_WORDS,
        "words_shown": WORDS_SHOWN,
        "syntax_names": SYNTAX_NAMES,
        "archive": _find_places(request.site.folder, why, record),
        "facts": _list_facts(record),
    }
    return PageReply(
        "page.html",
        context,
        data=lambda: _describe(why, record, inspection, links),
        table=lambda: _make_table(request, inspection, links),
        nquads=lambda: write_nquads(inspection),
    )


def show_copy(request: PageRequest) -> PageReply:
    """Show the copy, below a line that says what it is."""
    text = request.get("url")
    if not text:
        raise UsageError("name a page: /copy?url=…")
    url = read_address(text)
    why = request.site.live_reports.why(prepare_address(text))
    record, message = find_record(request.site, url, why.directives)
    if record is None and why.url != url:
        # The page is known under another spelling of its URL.
        record, message = find_record(request.site, why.url, why.directives)
    if record is None:
        raise NotFoundError(message or f"there is no copy of {why.url}: it is not among the pages that were indexed")
    copy = _read_copy(request, record, why.directives)
    return PageReply(
        "copy.html",
        {
            "copy": copy,
            "style": Markup(_COPY_STYLE),
            "drawn": Markup(copy.html),
            "url": record.url,
            "title": record.title,
            "time": record.outcome.time,
        },
        data=lambda: CopyData(record.url, record.outcome.time, copy.media_type, copy.is_cut, copy.html, copy.source),
        headers=_COPY_HEADERS,
    )


def find_record(site: Site, url: str, directives: str) -> tuple[PageRecord | None, str]:
    """Return the archive's record of a page, or why there is none. No copy is given if the newest response forbids it: if the
    content has not changed since, the stored record has older directives."""
    config = site.crawl.config.extract
    try:
        if site.indexes.is_forgotten(url):
            # An index may take a while to forget.
            return None, "this page was forgotten: nothing that it says is shown"
        if not site.indexes.list_foreign_files():
            found = site.indexes.page(url, config)
        else:
            # Pages of foreign files are extracted again, which may take long or crash.
            found = site.visitor.call(read_page_of, site.folder, url, config)
    except (UsageError, CallError) as error:
        return None, site.tell(error)
    return replace(found, payload=None) if found and forbids_copy(directives) else found, ""


def read_page_of(folder: Path, url: str, config: Any) -> PageRecord | None:
    """`read_page` for the helper process, which passes positional arguments."""
    return read_page(folder, url, config=config)


def _inspect_record(record: PageRecord, newest_directives: str) -> Inspection:
    outcome = record.outcome
    directives = record.fields.get("robots", "")
    text, text_cut = record.text, ""
    # The whole text of a page is a copy of it.
    for forbidden in filter(forbids_copy, (newest_directives, directives)):
        if len(record.text) > _BEGINNING_CHARS:
            text = f"{record.text[:_BEGINNING_CHARS]}…"
            text_cut = f"only the beginning is shown, because the page asks that no copy be kept ({forbidden})"
    return Inspection(
        url=record.url,
        title=record.title,
        media_type=outcome.media_type,
        charset=outcome.charset,
        language=outcome.language,
        canonical=outcome.canonical,
        body_bytes=outcome.body_bytes or 0,
        statements=record.statements,
        problems=record.problems,
        links=[_make_out_link(record, url) for url in record.outlinks],
        text=text,
        text_cut=text_cut,
        directives=tuple(filter(None, directives.split(", "))),
    )


def _make_out_link(record: PageRecord, url: str) -> OutLink:
    relation = record.outcome.relations.get(url, "")
    return OutLink(url, relation, record.outcome.anchors.get(url, ""), "nofollow" in relation.lower().split())


def _read_links(request: PageRequest, url: str, inspection: Inspection) -> PageLinks:
    into = read_in_links(request, url)
    # What is forgotten may still be in the graph for a while.
    out = ShownLinks() if request.site.indexes.is_forgotten(url) else read_out_links(request, url)
    if not out.total and inspection.links:
        # The page is not in the graph yet.
        page = request.get_number("out", 1, MAX_PAGE)
        some = inspection.links[(page - 1) * LINKS_SHOWN : page * LINKS_SHOWN]
        links = tuple(FoundLink(link.url, "", ("link",), link.text, is_indexed=False) for link in some)
        pages = min(-(-len(inspection.links) // LINKS_SHOWN), MAX_PAGE)
        out = ShownLinks(len(inspection.links), links, page, pages)
    return PageLinks(out, into, read_called(request, url, into.total), read_rank(request, url))


def _find_places(folder: Path, why: Explanation, record: PageRecord | None) -> list[tuple[str, str, int]]:
    """Where the archive has records of a page: what each contains, its file in the crawl's folder, and its offset."""
    places = []
    if record and record.payload:
        path = record.payload.path
        # Do not reveal where foreign files are on this machine.
        name = str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name
        places.append(("as the server sent it", name, record.payload.offset))
    if why.segment:
        places.append(("what became of it last", why.segment, why.offset))
    return places


def _list_facts(record: PageRecord | None) -> list[tuple[str, str]]:
    fields = dict(record.fields) if record else {}
    for name in _FETCH_NUMBERS & fields.keys():
        fields[name] = f"{int(fields[name]):,}" if fields[name].isdecimal() else fields[name]
    return [(words, fields[name]) for name, words in _FETCH_FACTS.items() if fields.get(name)]


def _describe(why: Explanation, record: PageRecord | None, inspection: Inspection, links: PageLinks) -> PageData:
    fetch: FetchData = {}
    if record:
        outcome = record.outcome
        fetch = {
            "time": outcome.time,
            "status": outcome.status,
            "digest": outcome.digest,
            "duplicate": outcome.duplicate,
            "duplicate_of": outcome.duplicate_of,
            "redirected_from": outcome.redirected_from,
            "has_copy": record.payload is not None,
            "is_cut": record.is_cut,
            "fields": dict(record.fields),
        }
    return {
        **describe_inspection(inspection),
        "why": why,
        "fetch": fetch,
        "out_links": describe_links(links.out),
        "in_links": describe_links(links.into),
        "called": describe_called(links.called),
        "rank": links.rank,
    }


def _make_table(request: PageRequest, inspection: Inspection, links: PageLinks) -> CsvTable:
    match request.get("part"):
        case "in-links":
            return make_links_table(links.into)
        case "out-links":
            return make_links_table(links.out)
        case "called":
            return make_called_table(links.called)
    return make_table(request, inspection)


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
        "/page",
        show_page,
        "All that is known of a URL: what became of it, what it states by syntax, problems, links, and what others call it.",
        (
            Parameter("url", "The URL, as people write it.", is_required=True),
            Parameter("out", "Which page of the links out.", kind="integer"),
            Parameter("in", "Which page of the links in.", kind="integer"),
            Parameter("part", "For CSV: statements, findings, links, problems, out-links, in-links or called."),
        ),
        # A page of a foreign file is extracted again.
        is_heavy=True,
        answer=PageData,
    ),
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
