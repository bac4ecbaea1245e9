"""A pasted page, or the URL of one, enters; what is extracted from it leaves. No crawl is needed, and nothing is stored.

Any visitor of the site may paste a text: it is as untrusted as any page, and is read in a process that can be killed. A
request to another server requires the token; robots.txt and the rules on private addresses apply.
"""

from typing import Any

from rdfspider.detect.content import detect_content
from rdfspider.errors import UsageError
from rdfspider.records import Page
from rdfspider.run.page_requests import Hop, read_address
from rdfspider.run.visitor import Visit
from rdfspider.serve.inspections import (
    SYNTAX_NAMES,
    Inspection,
    InspectionData,
    describe_inspection,
    inspect_extraction,
    make_table,
    write_nquads,
)
from rdfspider.serve.limits import MAX_BODY_BYTES
from rdfspider.serve.replies import PageReply, PageRequest, Parameter, SitePage

_DEFAULT_BASE = "https://example.org/"
TYPES = {
    "": "Find out by itself",
    "text/html": "HTML",
    "application/xhtml+xml": "XHTML",
    "application/ld+json": "JSON-LD",
    "text/turtle": "Turtle",
    "application/trig": "TriG",
    "application/n-quads": "N-Triples or N-Quads",
    "application/rdf+xml": "RDF/XML",
    "application/atom+xml": "Atom or RSS",
}
"""The media types that a pasted text can be declared as."""
_PART = Parameter("part", "For CSV: statements, findings, links or problems.")


class VisitData(InspectionData):
    """What came of a visit to a page, for JSON."""

    hops: tuple[Hop, ...]
    status: int
    fetched: float
    """In seconds since 1970."""
    headers: tuple[tuple[str, str], ...]
    truncated: str
    """Why the body is incomplete; empty if it is complete."""


def show_form(request: PageRequest) -> PageReply:
    """Show two forms: one for a text, one for a URL."""
    return _make_view(request, url=request.get("url"))


def inspect_text(request: PageRequest) -> PageReply:
    """Show what a pasted text contains."""
    text = next(iter(request.parameters.get("html", ())), "")
    if not text.strip():
        raise UsageError("there is nothing to read: paste a page, or its data")
    media_type = request.get("type")
    if media_type not in TYPES:
        raise UsageError(f"type {media_type[:60]}: not known here; known are {', '.join(filter(None, TYPES))}")
    base = read_address(request.get("base") or _DEFAULT_BASE)
    # It is already decoded: whatever encoding it declares, it is passed on as UTF-8.
    body = text.removeprefix("\ufeff").encode("utf-8", "replace")
    found = request.site.visitor.read(Page(base, b"\xef\xbb\xbf" + body, media_type or None))
    return _make_view(
        request, inspect_extraction(found, len(body), source=text), text=text, base=base, media_type=media_type
    )


def inspect_address(request: PageRequest) -> PageReply:
    """Fetch a page now, and show what it contains."""
    visit = request.site.visitor.visit(request.get("url"), request.cancel)
    inspection = None
    if visit.extraction is not None and visit.capture is not None:
        page = visit.capture.page
        source = detect_content(page, MAX_BODY_BYTES).text
        inspection = inspect_extraction(visit.extraction, len(page.body), visit.directives, source)
    return _make_view(request, inspection, visit, url=visit.hops[0].url)


def _make_view(
    request: PageRequest,
    inspection: Inspection | None = None,
    visit: Visit | None = None,
    *,
    text: str = "",
    base: str = "",
    media_type: str = "",
    url: str = "",
) -> PageReply:
    context: dict[str, Any] = {"inspection": inspection, "visit": visit, "types": TYPES, "syntax_names": SYNTAX_NAMES}
    context |= {"pasted": text, "base": base, "media_type": media_type, "url": url}
    found = inspection or Inspection(visit.hops[-1].url if visit else "")
    status = 403 if visit and visit.refusal else 502 if visit and visit.failure else 200
    return PageReply(
        "inspect.html",
        context,
        data=lambda: _describe_visit(visit) | (dict(describe_inspection(inspection)) if inspection else {}),
        table=lambda: make_table(request, found),
        nquads=lambda: write_nquads(found),
        status=status,
    )


def _describe_visit(visit: Visit | None) -> dict[str, Any]:
    if visit is None:
        return {}
    capture = visit.capture
    described: dict[str, Any] = {"hops": visit.hops}
    if error := visit.refusal or visit.failure:
        described["error"] = error
    if capture is not None:
        described |= {
            "status": capture.status,
            "fetched": capture.started,
            "headers": capture.headers,
            "truncated": capture.truncated,
        }
    return described


PAGES = (
    SitePage(
        "/inspect",
        show_form,
        "Forms for a text, or an address, to be read without a crawl.",
        (Parameter("url", "An address to begin with."),),
        formats=("html",),
    ),
    SitePage(
        "/inspect",
        inspect_text,
        "What a text says: statements by syntax, problems, links. Nothing of it is kept.",
        (
            Parameter("html", "The text: HTML, or data in any syntax that is read.", is_required=True),
            Parameter("base", "The address that it is from: links and names start there."),
            Parameter("type", "Its media type; without it, it is found out."),
            _PART,
        ),
        "POST",
        is_heavy=True,
        # URL encoding turns most of its characters into three.
        most_bytes=3 * MAX_BODY_BYTES,
        answer=InspectionData,
    ),
    SitePage(
        "/inspect/url",
        show_form,
        "The same forms.",
        (Parameter("url", "An address to begin with."),),
        formats=("html",),
    ),
    SitePage(
        "/inspect/url",
        inspect_address,
        "What a page says that is fetched now, as robots.txt allows. Nothing of it is kept.",
        (Parameter("url", "Its address.", is_required=True), _PART),
        "POST",
        needs_token=True,
        is_heavy=True,
        answer=VisitData,
    ),
)
