"""The site as an application: which page answers which path, and the order of the checks on a request.

A request is refused if it has the wrong Host, comes too fast or is too long; otherwise its page is made in a thread and
written in the requested format. Errors use that format too, and never contain a traceback.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from rdfspider.errors import RdfspiderError, UnansweredError, UsageError
from rdfspider.serve import archived_images, endpoint
from rdfspider.serve.access import IMAGES_COOKIE, find_client, is_secure
from rdfspider.serve.guard import NONCE, Guard
from rdfspider.serve.monitor import event_stream, metrics
from rdfspider.serve.negotiation import (
    MEDIA_TYPES,
    choose_format,
    get_accept,
    make_refusal,
    make_response,
    split_suffix,
)
from rdfspider.serve.openapi import describe_api
from rdfspider.serve.pages import (
    actions,
    editor,
    entity,
    home,
    inspector,
    links,
    monitor,
    paste,
    profiles,
    search,
    things,
)
from rdfspider.serve.rendering import STATIC
from rdfspider.serve.replies import (
    MAX_VALUE_CHARS,
    FormatError,
    PageReply,
    PageRequest,
    RefusedError,
    SitePage,
    TokenError,
    find_status,
)
from rdfspider.serve.site import DisconnectedError, Site, run_while_wanted

_log = logging.getLogger(__name__)

PAGES: tuple[SitePage, ...] = (
    *home.PAGES,
    *search.PAGES,
    *entity.PAGES,
    *inspector.PAGES,
    *paste.PAGES,
    *profiles.PAGES,
    *things.PAGES,
    *links.PAGES,
    *editor.PAGES,
    *monitor.PAGES,
    *actions.PAGES,
)
"""All pages, in the order of the documentation."""
ROUTES: tuple[Callable[[Site], Sequence[BaseRoute]], ...] = (
    archived_images.make_routes,
    endpoint.make_routes,
    event_stream.make_routes,
    metrics.make_routes,
)
"""Endpoints that are not pages and have rules of their own."""
# No page normally takes this long; the request is then given up, and its thread ends by its own limits.
_PAGE_S = 60.0
_FIELDS = 1000


def make_app(site: Site) -> Starlette:
    """The application for one crawl."""

    @asynccontextmanager
    async def live(app: Starlette) -> AsyncIterator[None]:
        site.sampler.start()
        yield
        site.close()

    # Before pages, because an endpoint may leave some requests for its path to a page.
    routes: list[BaseRoute] = [route for make_routes in ROUTES for route in make_routes(site)]
    for path in dict.fromkeys(page.path for page in PAGES):
        pages = {page.method: page for page in PAGES if page.path == path}
        answer = partial(_answer, site, pages)
        methods = [*(("GET", "HEAD") if "GET" in pages else ()), *(("POST",) if "POST" in pages else ())]
        suffixes = {name for page in pages.values() for name in page.formats if name != "html"}
        base = "/home" if path == "/" else path
        for address in (path, *({base} - {path}), *(f"{base}.{name}" for name in sorted(suffixes))):
            routes.append(Route(address, answer, methods=methods))
    routes.append(Route("/openapi.json", lambda request: JSONResponse(describe_api(PAGES))))
    routes.append(Mount("/static", StaticFiles(directory=STATIC)))
    app = Starlette(
        routes=routes, lifespan=live, exception_handlers={404: partial(_miss, site), 405: partial(_miss, site)}
    )
    app.add_middleware(
        Guard,
        site=site,
        heavy={(method, path) for method in ("GET", "POST") for path in (*endpoint.HEAVY, endpoint.VOID_PATH)}
        | {(page.method, page.path) for page in PAGES if page.is_heavy},
        most_bytes={(page.method, page.path): page.most_bytes for page in PAGES},
        show=partial(_show_error, site),
        list_open_headers=partial(endpoint.list_open_headers, site),
    )
    return app


async def _answer(site: Site, pages: Mapping[str, SitePage], request: Request) -> Response:
    page = pages.get("GET" if request.method == "HEAD" else request.method) or next(iter(pages.values()))
    page_request = _make_page_request(site, page, request)
    try:
        page_request = replace(page_request, root=endpoint.find_root(request))
        if page.method == "POST":
            page_request = replace(page_request, parameters=await _read_form(request), formats=(), is_form=True)
        _check_rights(page_request, page, request)
        if not page_request.format:
            raise FormatError(f"this page is there as {', '.join(MEDIA_TYPES[name] for name in page.formats)}")
        make = partial(_make, page, page_request)
        if page.is_heavy:
            return await run_while_wanted(request, site.heavy_threads, page_request.cancel, make, _PAGE_S)
        run = asyncio.get_running_loop().run_in_executor(site.page_threads, make)
        return await asyncio.wait_for(run, _PAGE_S)
    except DisconnectedError:
        return Response(status_code=499)
    except TimeoutError:
        page_request.cancel.set()
        return _fail(page_request, 503, f"this has taken more than {_PAGE_S:g} s: ask for less")
    except FormatError as error:
        return _show_error(site, request, 406, str(error))
    except RdfspiderError as error:
        return _fail(page_request, find_status(error), site.tell(error), isinstance(error, TokenError))
    except Exception:
        _log.exception("%s could not be shown", request.scope["path"])
        return _fail(page_request, 500, "this could not be shown; what went wrong is in the server's log")


def _make(page: SitePage, page_request: PageRequest) -> Response:
    if page_request.cancel.is_set():
        raise UnansweredError("the client has disconnected")
    return make_response(page_request, page.show(page_request))


def _make_page_request(site: Site, page: SitePage, request: Request) -> PageRequest:
    path, suffix = split_suffix(request.scope["path"])
    path = "/" if path == "/home" else path
    wanted = suffix or choose_format(get_accept(request), page.formats)
    session = site.access.find_session(request)
    return PageRequest(
        site=site,
        path=path,
        parameters=_collect(request.query_params.multi_items()),
        formats=page.formats,
        format=wanted if wanted in page.formats else "",
        is_trusted=site.access.is_trusted(request),
        shows_images=request.cookies.get(IMAGES_COOKIE) == "on",
        csrf=site.access.find_csrf(session),
        session=session,
        nonce=request.scope.get(NONCE, ""),
        client=find_client(request),
        is_secure=is_secure(request),
    )


async def _read_form(request: Request) -> dict[str, list[str]]:
    """Read the fields of a form; a long field is a pasted text. The guard has already limited the length."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in ("application/x-www-form-urlencoded", ""):
        raise UsageError("send it as application/x-www-form-urlencoded")
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return _collect(await asyncio.to_thread(parse_qsl, body, keep_blank_values=True, max_num_fields=_FIELDS))
    except ValueError as error:
        raise UsageError(f"that form has too many fields: at most {_FIELDS:,} are read") from error


def _check_rights(page_request: PageRequest, page: SitePage, request: Request) -> None:
    if page.method == "GET" and any(
        len(value) > MAX_VALUE_CHARS for values in page_request.parameters.values() for value in values
    ):
        raise UsageError(f"a parameter is longer than the {MAX_VALUE_CHARS:,} characters that are read")
    if page.method == "POST" and page_request.site.access.is_foreign(request):
        raise RefusedError("a page of another site has sent this form, which is not taken")
    if page.method == "GET" and page.is_heavy and page_request.site.access.is_unseen(request):
        raise RefusedError("a page of another site has this loaded where nobody sees it")
    if not page.needs_token:
        return
    if not page_request.site.access.is_control_allowed:
        raise RefusedError(
            "this server can be reached by others, and was not started with --public: it can only be read"
        )
    if not page_request.is_trusted:
        raise TokenError("this takes the token that was printed when the server started: show it at /login")
    if page.method == "POST" and not page_request.site.access.is_own_form(request, page_request.get("csrf")):
        raise RefusedError("this form is not one of this server's, or is too old: load the page again")


def _collect(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs[:_FIELDS]:
        found.setdefault(name, []).append(value)
    return found


def _fail(page_request: PageRequest, status: int, message: str, wants_token: bool = False) -> Response:
    """Report an error in the requested format."""
    known = "html" if page_request.format in ("", "html") else "json"
    context = {"status": status, "message": message, "wants_token": wants_token}
    reply = PageReply("error.html", context, data=lambda: {"error": message}, status=status)
    # Other formats have no error page.
    return make_response(replace(page_request, format=known, formats=()), reply)


async def _miss(site: Site, request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    message = "there is no such page" if status == 404 else f"{request.method} is not answered here"
    response = _show_error(site, request, status, message)
    # The Allow header.
    response.headers.update(getattr(error, "headers", None) or {})
    return response


def _show_error(site: Site, request: Request, status: int, message: str) -> Response:
    """Report an error in a request that reached no page."""
    if endpoint.is_protocol(request):
        return make_refusal(request, status, message)
    path = request.scope["path"]
    wanted = split_suffix(path)[1] or choose_format(get_accept(request), ("html", "json"))
    nonce = request.scope.get(NONCE, "")
    return _fail(
        PageRequest(site, path, {}, format="html" if wanted == "html" else "json", nonce=nonce), status, message
    )
