"""Images of the archive: the URL of an image enters, its bytes leave, so that no other server is asked.

A crawl does not fetch images; they come from WARC files that were imported with all bodies (`rdfspider import --archive all`).
Only formats that browsers draw without running anything are served, by their first bytes and never by what a server said:
SVG is none of them.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from rdfspider.errors import RdfspiderError
from rdfspider.search.page_record import Payload, forbids_copy, read_copy
from rdfspider.serve.rendering import make_address
from rdfspider.serve.site import Site
from rdfspider.urls import normalise_url

PATH = "/archived-image"
MAX_BYTES = 5 << 20
"""The longest image that is served."""
_MAX_URL_CHARS = 2_000
_HEAD_BYTES = 32
_SIGNATURES: Sequence[tuple[Callable[[bytes], bool], str]] = (
    (lambda head: head.startswith(b"\x89PNG\r\n\x1a\n"), "image/png"),
    (lambda head: head.startswith(b"\xff\xd8\xff"), "image/jpeg"),
    (lambda head: head.startswith((b"GIF87a", b"GIF89a")), "image/gif"),
    (lambda head: head[:4] == b"RIFF" and head[8:12] == b"WEBP", "image/webp"),
    (lambda head: head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis"), "image/avif"),
)
_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, noarchive",
    "Cache-Control": "private, max-age=3600",
}


def make_routes(site: Site) -> Sequence[BaseRoute]:
    """The route of archived images."""

    async def answer(request: Request) -> Response:
        # Reading waits for the disk, so it is not done in the event loop.
        url = request.query_params.get("url", "")
        return await asyncio.get_running_loop().run_in_executor(site.page_threads, _answer, site, url)

    return [Route(PATH, answer, methods=["GET", "HEAD"])]


def locate_images(site: Site, urls: Iterable[str]) -> dict[str, str]:
    """The URLs of images on this site, by their own URLs; those that are not in the archive are left out."""
    try:
        known = site.indexes.list_indexed(urls)
    except RdfspiderError:
        # Nothing is indexed yet.
        return {}
    return {url: make_address(PATH, url=url) for url in known if _is_image(site, url)}


def _is_image(site: Site, url: str) -> bool:
    try:
        payload = _find_payload(site, url)
        return payload is not None and bool(find_image_type(_read_body(payload, _HEAD_BYTES)))
    except (RdfspiderError, OSError):
        return False


def find_image_type(body: bytes) -> str:
    """The media type of an image, by its first bytes; empty for anything else."""
    return next((media_type for is_one, media_type in _SIGNATURES if is_one(body[:_HEAD_BYTES])), "")


def _answer(site: Site, url: str) -> Response:
    try:
        payload = _find_payload(site, url)
        # The newest response may forbid what an older one allowed.
        is_refused = payload is None or forbids_copy(site.live_reports.why(url).directives)
        body = b"" if payload is None or is_refused else _read_body(payload, MAX_BYTES)
    except (RdfspiderError, OSError):
        body = b""
    media_type = find_image_type(body)
    if not media_type or len(body) > MAX_BYTES:
        return PlainTextResponse("the archive has no such image\n", status_code=404)
    return Response(body, media_type=media_type, headers=_HEADERS)


def _find_payload(site: Site, url: str) -> Payload | None:
    if len(url) > _MAX_URL_CHARS or not (address := normalise_url(url)) or site.indexes.is_forgotten(address):
        return None
    # Pages of imported files would have to be extracted again, which may take long: these have no images here.
    record = site.indexes.page(address, None)
    return record.payload if record else None


def _read_body(payload: Payload, limit: int) -> bytes:
    capture = read_copy(payload, limit)
    return capture.page.body if capture else b""
