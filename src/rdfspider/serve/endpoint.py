"""The SPARQL 1.1 Protocol at `/sparql`, read-only: a query enters by GET, as a form or as a body, its answer leaves.

Without a query it returns its service description; `/.well-known/void` describes the data. Browsers that prefer HTML get the
editor page. Queries run in their own threads, so pages never wait for them, and end when the client disconnects.
"""

import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import parse_qsl

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from rdfspider.errors import RdfspiderError, UnindexedError, UsageError
from rdfspider.formats import RDF_FORMATS, drop_prefixes
from rdfspider.results import AnswerKind, Graphs
from rdfspider.serve.access import find_client, is_secure
from rdfspider.serve.negotiation import (
    DESCRIPTIONS,
    FORMATS,
    RESULTS,
    TRIPLES,
    disarm_csv,
    find_representations,
    get_accept,
    list_formats,
    make_refusal,
    prefers_html,
    write_content_type,
)
from rdfspider.serve.replies import FormatError, MediaTypeError, RefusedError, find_status
from rdfspider.serve.site import DisconnectedError, Site, run_while_wanted
from rdfspider.urls import is_valid_iri
from rdfspider.vocabulary.labels import RDF_TYPE
from rdfspider.vocabulary.prefixes import DCTERMS, FOAF, VOID, XSD
from rdfspider.vocabulary.terms import FETCHES_GRAPH, VOCABULARY

_log = logging.getLogger(__name__)

PATH, VOID_PATH = "/sparql", "/.well-known/void"
# Some clients add the slash, and not every client resends its body after a redirect.
_PATHS = (PATH, f"{PATH}/")
HEAVY = frozenset((*_PATHS, *(f"{PATH}.{suffix}" for suffix in FORMATS)))
"""Paths that accept a query."""
TRUNCATED = "X-Rdfspider-Truncated"
"""A header that is only sent with answers from which rows or triples were left out."""
_FIELDS = 1000
# For pages of allowed origins: requests from them carry no cookies, and no cookies are read here.
_OPEN = {
    "Access-Control-Expose-Headers": f"{TRUNCATED}, Link, Retry-After",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD, POST, OPTIONS",
    "Access-Control-Allow-Headers": "Accept, Content-Type, X-Requested-With",
    "Access-Control-Max-Age": "86400",
}
_READ_ONLY = "nothing can be changed here, because only the crawl changes the data: send a query, not an update"
_SD, _FORMATS = "http://www.w3.org/ns/sparql-service-description#", "http://www.w3.org/ns/formats/"
_TYPE = NamedNode(RDF_TYPE)
_PREFIXES = {"sd": _SD, "void": VOID, "formats": _FORMATS, "dcterms": DCTERMS, "foaf": FOAF, "rdfspider": VOCABULARY}
_RESULT_FORMATS = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV")
_TRIPLE_FORMATS = ("Turtle", "N-Triples", "RDF_XML", "JSON-LD")
_TEXT_SERVICE = NamedNode("urn:rdfspider:text")
_NAMES_TOLD = 1000
# Counting them takes a fifth of a second.
_TRIPLES_COUNTED = 200_000


@dataclass(frozen=True, slots=True)
class _Question:
    """A parsed protocol request."""

    query: str | None
    """None for a request for the service description."""
    graphs: Graphs | None
    format: str
    """From the parameter or the suffix; empty if neither is given."""


def make_routes(site: Site) -> list[BaseRoute]:
    """The routes of the endpoint and of the VoID description."""
    answer = partial(_share, site, partial(_answer, site))
    methods = ["GET", "POST", "OPTIONS"]
    return [
        *(_ProtocolRoute(path, answer, methods=methods) for path in _PATHS),
        *(Route(path, answer, methods=methods) for path in sorted(HEAVY.difference(_PATHS))),
        Route(VOID_PATH, partial(_share, site, partial(_describe_data, site)), methods=["GET", "OPTIONS"]),
    ]


def is_protocol(request: Request) -> bool:
    """Whether a request is for the endpoint or the VoID description, and not for the page at the same path."""
    path = request.scope["path"]
    if path in _PATHS and request.method in ("GET", "HEAD"):
        return bool(_get_format(request)) or not prefers_html(get_accept(request))
    return path in HEAVY or path == VOID_PATH


def list_open_headers(site: Site, request: Request) -> Mapping[str, str]:
    """CORS headers that let pages of the origins given by --cors read answers and refusals; none for other pages."""
    origins = site.options.origins
    if not origins or not is_protocol(request):
        return {}
    if "*" in origins:
        return {"Access-Control-Allow-Origin": "*"} | _OPEN
    allowed = {"Access-Control-Allow-Origin": request.headers["origin"]} | _OPEN if _is_allowed(site, request) else {}
    return allowed | {"Vary": "Origin"}


def _is_allowed(site: Site, request: Request) -> bool:
    origins = site.options.origins
    return "*" in origins or request.headers.get("origin") in origins


class _ProtocolRoute(Route):
    """Leaves requests of browsers to the page at the same path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        return (Match.NONE, {}) if match is Match.FULL and not is_protocol(Request(scope)) else (match, found)


async def _share(site: Site, answer: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
    """Answer CORS preflight requests; an error of another request becomes a refusal."""
    if request.method == "OPTIONS":
        shared = _PREFLIGHT if _is_allowed(site, request) else {}
        return Response(status_code=204, headers={"Allow": "GET, HEAD, POST, OPTIONS"} | shared)
    try:
        return await answer(request)
    except RdfspiderError as error:
        return make_refusal(request, find_status(error), site.tell(error))


async def _answer(site: Site, request: Request) -> Response:
    question = await _read_question(request)
    if question.query is None:
        return await _send_description(request, question.format, partial(describe_service, find_root(request)))
    _check_sender(site, request)
    return await _ask(site, request, question)


def _check_sender(site: Site, request: Request) -> None:
    """Refuse requests by pages of other sites that may not or cannot read the answer. Following a link to an answer is
    allowed."""
    if _is_allowed(site, request):
        if site.access.is_unseen(request) and request.headers.get("sec-fetch-mode") != "cors":
            raise RefusedError("a page of another site has this loaded without reading it")
    # For servers without TLS on other machines, browsers send no Sec-Fetch headers, but they do send Origin.
    elif site.access.is_unseen(request) or ("origin" in request.headers and site.access.is_foreign(request)):
        raise RefusedError("a page of another site has this loaded; the server allows that with --cors and its origin")


async def _describe_data(site: Site, request: Request) -> Response:
    return await _send_description(request, _get_format(request), partial(describe_data, site, find_root(request)))


async def _read_question(request: Request) -> _Question:
    """Read a query in one of the three ways of the protocol, sections 2.1.1 to 2.1.3."""
    fields = _read_fields(request.scope["query_string"])
    queries = [value for name, value in fields if name == "query"]
    if request.method == "POST":
        kind, charset = _read_content_type(request)
        if kind == "application/x-www-form-urlencoded":
            form = _read_fields(await request.body())
            fields += form
            queries += [value for name, value in form if name == "query"]
        elif kind == "application/sparql-query":
            if charset not in ("", "utf-8", "utf8"):
                raise MediaTypeError(f"a query is sent as UTF-8, not as {charset[:40]}")
            queries.append(_decode(await request.body()))
        elif kind == "application/sparql-update":
            raise RefusedError(_READ_ONLY)
        else:
            raise MediaTypeError(
                "a query is sent as application/x-www-form-urlencoded, in the field query, or as application/sparql-query"
            )
    if any(name == "update" for name, _ in fields):
        raise RefusedError(_READ_ONLY)
    if len(queries) > 1:
        raise UsageError(f"there are {len(queries)} queries, and one at a time is answered")
    if not queries and request.method == "POST":
        raise UsageError("there is no query: send it in the field query")
    default = tuple(value for name, value in fields if name == "default-graph-uri")
    named = tuple(value for name, value in fields if name == "named-graph-uri")
    return _Question(
        queries[0] if queries else None,
        Graphs(default, named) if default or named else None,
        _get_format(request, fields),
    )


async def _ask(site: Site, request: Request, question: _Question) -> Response:
    accept = get_accept(request)
    results = find_representations(question.format, accept, RESULTS)
    triples = find_representations(question.format, accept, TRIPLES)
    if not results and not triples:
        raise FormatError(f"answers are there as {', '.join(_list_main(RESULTS))}, {', '.join(_list_main(TRIPLES))}")
    cancel = threading.Event()
    try:
        answer = await run_while_wanted(
            request,
            site.query_threads,
            cancel,
            # In that thread: opening the index may take a moment.
            lambda: site.indexes.ask(
                question.query or "",
                formats=list_formats((*results, *triples)),
                limits=site.limits,
                graphs=question.graphs,
                base=f"{find_root(request)}{PATH}",
                cancel=cancel,
                client=find_client(request),
            ),
        )
    except DisconnectedError:
        return Response(status_code=499)
    except RdfspiderError:
        raise
    except Exception:
        _log.exception("a query could not be answered")
        return make_refusal(request, 500, "this could not be answered; what went wrong is in the server's log")
    offers = triples if answer.kind == AnswerKind.TRIPLES else results
    media_type = next(offer.media_type for offer in offers if offer.format == answer.format)
    headers = {TRUNCATED: "true"} if answer.is_truncated else {}
    body = answer.body
    if media_type == "text/csv" and (request.headers.get("sec-fetch-mode") == "navigate" or prefers_html(accept)):
        # People open what a browser downloads in a spreadsheet; programs get the values as the standard requires.
        body = await run_in_threadpool(disarm_csv, body)
    return Response(body, headers=headers | {"Content-Type": write_content_type(media_type)})


async def _send_description(request: Request, name: str, describe: Callable[[], Iterable[Triple]]) -> Response:
    offers = find_representations(name, get_accept(request), DESCRIPTIONS)
    if not offers:
        raise FormatError(f"this is there as {', '.join(_list_main(DESCRIPTIONS))}")
    body = await run_in_threadpool(lambda: write_description(describe(), offers[0].format))
    headers = {
        "Content-Type": write_content_type(offers[0].media_type),
        "Link": f'<{VOID_PATH}>; rel="describedby"',
    }
    return Response(body, headers=headers)


def _read_fields(text: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS)
    except UnicodeError as error:
        raise UsageError("the parameters are no UTF-8, escaped by %") from error
    except ValueError as error:
        raise UsageError(f"there are more than the {_FIELDS:,} parameters that are read") from error


def _get_format(request: Request, fields: Sequence[tuple[str, str]] | None = None) -> str:
    """The format that a suffix or a parameter names; empty for HTML, which the page handles."""
    suffix = str(request.scope["path"]).removeprefix(PATH)
    if suffix.startswith("."):
        return suffix[1:]
    pairs = request.query_params.multi_items() if fields is None else fields
    named = next((value for name, value in pairs if name in ("format", "output") and value), "")
    return "" if named in ("html", "text/html") else named


def _read_content_type(request: Request) -> tuple[str, str]:
    kind, *parameters = (part.strip().lower() for part in request.headers.get("content-type", "").split(";"))
    charset = next((part[8:].strip("\"'") for part in parameters if part.startswith("charset=")), "")
    return kind, charset


def _decode(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeError as error:
        raise UsageError("the query is no UTF-8") from error


def find_root(request: Request) -> str:
    """The base URL of this server as the client sees it, without a trailing slash; raises UsageError if it is invalid."""
    root = f"{'https' if is_secure(request) else 'http'}://{request.headers.get('host', '')}"
    if not is_valid_iri(root):
        raise UsageError("the header Host is no name of a server")
    return root


def _list_main(known: Iterable[str]) -> list[str]:
    """The media types that are specific to one kind of answer."""
    return [name for name in known if name not in ("application/json", "application/xml", "text/xml")][:4]


def describe_service(root: str) -> Iterator[Triple]:
    """The SPARQL 1.1 Service Description of the endpoint; `root` is the base URL of the server."""
    service, dataset, fetches = NamedNode(f"{root}/sparql#service"), BlankNode("dataset"), BlankNode("fetches")
    data = _name_data(root)
    yield Triple(service, _TYPE, _sd("Service"))
    yield Triple(service, _sd("endpoint"), NamedNode(f"{root}/sparql"))
    yield Triple(service, _sd("supportedLanguage"), _sd("SPARQL11Query"))
    for name in (*_RESULT_FORMATS, *_TRIPLE_FORMATS):
        yield Triple(service, _sd("resultFormat"), NamedNode(_FORMATS + name))
    # No other SERVICE is supported, so this is not federated query; but clients may want to know about it.
    yield Triple(service, _sd("feature"), _TEXT_SERVICE)
    yield Triple(service, _sd("defaultEntailmentRegime"), NamedNode("http://www.w3.org/ns/entailment/Simple"))
    yield Triple(service, _sd("defaultDataset"), dataset)
    yield Triple(_TEXT_SERVICE, _TYPE, _sd("Feature"))
    yield Triple(dataset, _TYPE, _sd("Dataset"))
    yield Triple(dataset, _sd("defaultGraph"), data)
    # Every page is also a named graph; there are too many to list.
    yield Triple(dataset, _sd("namedGraph"), fetches)
    yield Triple(data, _TYPE, _sd("Graph"))
    yield Triple(data, _TYPE, NamedNode(f"{VOID}Dataset"))
    yield Triple(data, NamedNode(f"{FOAF}isPrimaryTopicOf"), _name_description(root))
    yield Triple(fetches, _TYPE, _sd("NamedGraph"))
    yield Triple(fetches, _sd("name"), NamedNode(FETCHES_GRAPH))


def describe_data(site: Site, root: str) -> Iterator[Triple]:
    """The VoID description of the dataset: its endpoint, its size, its classes and properties."""
    data, description = _name_data(root), _name_description(root)
    yield Triple(description, _TYPE, NamedNode(f"{VOID}DatasetDescription"))
    yield Triple(description, NamedNode(f"{FOAF}primaryTopic"), data)
    yield Triple(data, _TYPE, NamedNode(f"{VOID}Dataset"))
    yield Triple(data, NamedNode(f"{DCTERMS}title"), Literal("Structured data of the web, collected by rdfspider"))
    yield Triple(
        data,
        NamedNode(f"{DCTERMS}description"),
        Literal(
            "The merge of what all crawled pages state; each page is also a named graph, called by its URL. "
            "`rdfspider export` writes all of it to a file."
        ),
    )
    yield Triple(data, NamedNode(f"{FOAF}homepage"), NamedNode(f"{root}/"))
    yield Triple(data, NamedNode(f"{VOID}sparqlEndpoint"), NamedNode(f"{root}/sparql"))
    yield Triple(data, NamedNode(f"{VOID}uriLookupEndpoint"), NamedNode(f"{root}/entity?iri="))
    for name in _TRIPLE_FORMATS:
        yield Triple(data, NamedNode(f"{VOID}feature"), NamedNode(_FORMATS + name))
    try:
        statistics = site.indexes.statistics(_NAMES_TOLD)
        merge = site.indexes.count_merge(_TRIPLES_COUNTED)
    except UnindexedError:
        # Nothing is indexed yet, which is not the client's error.
        return
    yield from statistics.describe(data, merge)


def write_description(triples: Iterable[Triple], format_name: str) -> bytes:
    """Serialize triples without duplicates, in one of `formats.RDF_FORMATS`."""
    prefixes = _PREFIXES | {"xsd": XSD} if format_name in ("turtle", "rdfxml") else None
    body = pyoxigraph.serialize(dict.fromkeys(triples), format=RDF_FORMATS[format_name], prefixes=prefixes) or b""
    return drop_prefixes(body) if format_name == "turtle" else body


def _name_data(root: str) -> NamedNode:
    return NamedNode(f"{root}/.well-known/void#data")


def _name_description(root: str) -> NamedNode:
    return NamedNode(f"{root}/.well-known/void")


def _sd(name: str) -> NamedNode:
    return NamedNode(_SD + name)
