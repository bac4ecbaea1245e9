"""The interface of every page: a PageRequest enters, a PageReply leaves, which can be shown in several formats.

A page is a plain function that may block: it runs in a thread. It makes its content once; `serve/negotiation.py` then writes
it as HTML, JSON, CSV, N-Quads or Turtle, by the path's suffix or the Accept header.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from rdfspider.errors import RdfspiderError, UnfitError, UnindexedError, UnreadableError, UsageError
from rdfspider.fetch.targets import is_private_host
from rdfspider.serve.archived_images import locate_images
from rdfspider.serve.limits import MAX_BODY_BYTES
from rdfspider.serve.rendering import make_address
from rdfspider.serve.site import Site
from rdfspider.urls import host_of, normalise_url

MAX_VALUE_CHARS = 20_000
"""The longest parameter; longer ones are refused. Queries and pasted pages are sent in the body."""
_MAX_DIGITS = 10


class NotFoundError(RdfspiderError):
    """There is nothing by that name: 404."""


class RefusedError(RdfspiderError):
    """The request requires the token, or is not allowed at all: 403."""


class TokenError(RefusedError):
    """The request would be allowed with the token."""


class FormatError(RdfspiderError):
    """The page is not available in that format: 406."""


class MediaTypeError(RdfspiderError):
    """The media type of the body is not supported: 415."""


# The first match applies. Errors that are not the client's may be temporary.
_STATUSES: tuple[tuple[type[RdfspiderError], int], ...] = (
    (NotFoundError, 404),
    (RefusedError, 403),
    (FormatError, 406),
    (UnfitError, 406),
    (MediaTypeError, 415),
    (UnindexedError, 503),
    (UnreadableError, 503),
    (UsageError, 400),
)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page, with what pages need to know."""

    site: Site
    path: str
    """Without a suffix such as `.json`."""
    parameters: Mapping[str, Sequence[str]]
    """From the query string or the submitted form; each may be repeated."""
    formats: Sequence[str] = ()
    """The formats that the page supports."""
    format: str = "html"
    """The format of the response: html, json, csv, nq or ttl."""
    is_trusted: bool = False
    """Whether the client has authenticated."""
    shows_images: bool = False
    """Whether the user wants to see images from other servers."""
    csrf: str = ""
    """The CSRF token that forms must carry; empty if the client may not send any."""
    session: str = ""
    """The session id of an authenticated browser."""
    root: str = ""
    """The base URL of the server as the client sees it, without a trailing slash."""
    nonce: str = ""
    """The nonce of the Content-Security-Policy for styles that a script creates."""

    images: dict[str, str] = field(default_factory=dict)
    """What `find_image` has found."""
    client: str = ""
    """The address of the client."""
    is_secure: bool = False
    """Whether the client uses TLS."""
    is_form: bool = False
    """Whether the parameters come from a submitted form; they are long or secret, and must not appear in a URL."""
    cancel: threading.Event = field(default_factory=threading.Event, compare=False)
    """Set when the client no longer waits: queries and requests to other servers end then, other work ends by its limits."""

    def find_image(self, url: str) -> str:
        """The URL from which an image is displayed: of the archive if it is there, of its own server if the user wants that;
        empty if it is only linked."""
        if url not in self.images:
            self.find_images([url])
        return self.images.get(url, "")

    def find_images(self, urls: Iterable[str]) -> None:
        """Find several images at once, which takes one look into the index."""
        unknown = {url for url in urls if url.startswith(("http://", "https://"))} - self.images.keys()
        archived = locate_images(self.site, unknown) if unknown else {}
        self.images.update((url, archived.get(url) or (url if self.shows_image(url) else "")) for url in unknown)

    def list_unshown(self, urls: Iterable[str]) -> list[str]:
        """Those of some images that are only linked."""
        return [url for url in urls if url.startswith(("http://", "https://")) and not self.find_image(url)]

    def shows_image(self, url: str) -> bool:
        """Whether an image of another server is displayed and not just linked. Web pages can name any address, and the browser is
        inside the user's network: it requests no address that the crawler would refuse."""
        if not self.shows_images:
            return False
        address = normalise_url(url)
        if address is None:
            return False
        host, config = host_of(address), self.site.crawl.config.fetch
        # Hosts with a configured address are allowed; the pattern "*" alone does not count.
        named = (entry.partition("=")[0].strip().lower() for entry in config.resolve)
        is_meant = any(pattern != "*" and fnmatchcase(host, pattern) for pattern in named)
        return config.allow_private or is_meant or not is_private_host(host)

    def locate(self, format_name: str = "") -> str:
        """The URL of this page with these parameters, in this or another format. Form fields are not included."""
        path = self.path if not format_name else f"{'/home' if self.path == '/' else self.path}.{format_name}"
        return make_address(path, **({} if self.is_form else self.parameters))

    def change(self, /, **parameters: object) -> str:
        """This URL with some parameters changed, and without `page`, so that it starts at the first page."""
        kept = {name: values for name, values in self.parameters.items() if name != "page"}
        return make_address(self.path, **(kept | parameters))

    def get(self, name: str, default: str = "") -> str:
        """The first value of a parameter, stripped."""
        values = self.parameters.get(name)
        return values[0].strip() if values else default

    def get_all(self, name: str) -> tuple[str, ...]:
        """All non-empty values of a parameter, without duplicates."""
        return tuple(dict.fromkeys(value.strip() for value in self.parameters.get(name, ()) if value.strip()))

    def get_number(self, name: str, default: int, most: int) -> int:
        """A whole number from 1 to `most`; numbers out of range are clamped, anything else gives the default, because URLs
        get shared and cut."""
        text = self.get(name)
        if not (text.isascii() and text.isdigit()):
            return default
        # Reading more digits than any valid number has would be slow, or fail.
        return min(max(int(text.lstrip("0")[:_MAX_DIGITS] or 0), 1), most)


@dataclass(frozen=True, slots=True)
class CsvTable:
    """Rows for CSV, and the column names."""

    heads: Sequence[str]
    rows: Iterable[Sequence[object]]


@dataclass(frozen=True, slots=True)
class PageReply:
    """The content of a page. Everything but the template's context is made on demand."""

    template: str
    """A file in `serve/templates`."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """The template's variables, in addition to `request` and `site`."""
    data: Callable[[], Any] | None = None
    """For JSON: dictionaries, lists, dataclasses, msgspec Structs."""
    table: Callable[[], CsvTable] | None = None
    """For CSV."""
    nquads: Callable[[], bytes] | None = None
    """N-Quads; Turtle is made from them, without graph names."""
    documents: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)
    """Whole documents by format, for formats that the above does not give."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str | None] = field(default_factory=dict)
    """Cookies to set for this site only; None deletes one."""
    redirect: str = ""
    """Where to redirect with 303, after a form was processed."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a page, for OpenAPI."""

    name: str
    about: str
    is_required: bool = False
    kind: str = "string"
    """string or integer."""
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class SitePage:
    """A page of the site."""

    path: str
    show: Callable[[PageRequest], PageReply]
    about: str
    """For OpenAPI: the content in one sentence."""
    parameters: tuple[Parameter, ...] = ()
    method: str = "GET"
    """GET, or POST to change something or to send a long text."""
    needs_token: bool = False
    """Whether clients without the token are refused. Browser forms must then carry `csrf`."""
    formats: tuple[str, ...] = ("html", "json", "csv", "nq", "ttl")
    """The formats that its PageReply supports."""
    is_heavy: bool = False
    """Whether it has stricter limits on its rate and on concurrent requests."""
    most_bytes: int = MAX_BODY_BYTES
    """The longest body of a POST."""
    answer: type | tuple[type, ...] = ()
    """For OpenAPI: the record that its JSON represents, or all of them if parameters choose one."""


def find_status(error: RdfspiderError) -> int:
    """The HTTP status for an error."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 503)
