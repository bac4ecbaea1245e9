"""What every page of the site takes and gives: a PageRequest enters, a PageReply leaves, which can be shown in several formats.

A page is a plain function that may block: it is run in a thread. It makes what it shows once; how that becomes HTML, JSON, CSV,
N-Quads or Turtle is decided by `serve/negotiation.py`, by the suffix of the path or the header Accept.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from rdfspider.errors import RdfspiderError, UnindexedError, UnreadableError, UsageError
from rdfspider.fetch.targets import is_private_host
from rdfspider.index.quads.sparql.result_documents import UnfitError
from rdfspider.serve.limits import MAX_BODY_BYTES
from rdfspider.serve.rendering import make_address
from rdfspider.serve.site import Site
from rdfspider.urls import host_of, normalise_url

MAX_VALUE_CHARS = 20_000
"""Of one parameter; longer ones are refused. Queries and pasted pages come in the body."""
_MAX_DIGITS = 10


class NotFoundError(RdfspiderError):
    """There is nothing of that name: 404."""


class RefusedError(RdfspiderError):
    """That takes the token, or is not allowed here at all: 403."""


class TokenError(RefusedError):
    """It would be allowed with the token."""


class FormatError(RdfspiderError):
    """The page is not there in that format: 406."""


class MediaTypeError(RdfspiderError):
    """A body is of a kind that is not read: 415."""


# The first that fits. What is nobody's mistake may be possible later.
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


def find_status(error: RdfspiderError) -> int:
    """The status of an answer that says what is wrong."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 503)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page, as far as pages need to know it."""

    site: Site
    path: str
    """Without a suffix such as `.json`."""
    parameters: Mapping[str, Sequence[str]]
    """Of the query, or of the form that was sent; each may be given several times."""
    formats: Sequence[str] = ()
    """Those that the page has."""
    format: str = "html"
    """What the PageReply will be turned into: html, json, csv, nq or ttl."""
    is_trusted: bool = False
    """Whether the client has shown the token."""
    shows_images: bool = False
    """Whether the person wants to see images of other servers."""
    csrf: str = ""
    """What forms of this person have to carry; empty where they may not send any."""
    session: str = ""
    """What the browser has got for the token, where it has shown it."""
    root: str = ""
    """The address of the server as the client has it, without a slash at the end."""
    nonce: str = ""
    """What the Content-Security-Policy allows a style to carry that a script makes."""

    client: str = ""
    """The address that it comes from."""
    is_secure: bool = False
    """Whether it comes by TLS."""
    is_form: bool = False
    """Whether the parameters are those of a form that was sent, which no address may show: they are long, or secret."""
    cancel: threading.Event = field(default_factory=threading.Event, compare=False)
    """Is set when the client waits no more: queries and requests to other servers end then, other work by its limits."""

    def shows_image(self, url: str) -> bool:
        """Whether an image is shown, and not only linked to. Pages of the web name addresses, and a browser is in the network of
        the person before it: what a crawler may not ask there, it does not ask either."""
        if not self.shows_images:
            return False
        address = normalise_url(url)
        if address is None:
            return False
        host, config = host_of(address), self.site.crawl.config.fetch
        # Names whose address was given by hand are meant; "*" alone names none of them.
        named = (entry.partition("=")[0].strip().lower() for entry in config.resolve)
        is_meant = any(pattern != "*" and fnmatchcase(host, pattern) for pattern in named)
        return config.allow_private or is_meant or not is_private_host(host)

    def locate(self, format_name: str = "") -> str:
        """The address of this page with these parameters, also in another format. What a form has sent is no part of it."""
        path = self.path if not format_name else f"{'/home' if self.path == '/' else self.path}.{format_name}"
        return make_address(path, **({} if self.is_form else self.parameters))

    def change(self, /, **parameters: object) -> str:
        """This address with some parameters changed; without `page`, because the first page of something else is meant."""
        kept = {name: values for name, values in self.parameters.items() if name != "page"}
        return make_address(self.path, **(kept | parameters))

    def get(self, name: str, default: str = "") -> str:
        """The first value of a parameter, without blanks around it."""
        values = self.parameters.get(name)
        return values[0].strip() if values else default

    def get_all(self, name: str) -> tuple[str, ...]:
        """All values of a parameter that are not empty, each once."""
        return tuple(dict.fromkeys(value.strip() for value in self.parameters.get(name, ()) if value.strip()))

    def get_number(self, name: str, default: int, most: int) -> int:
        """A whole number from 1 on; what is too small or too large is as near to it as may be, what is none is the default:
        addresses are shared and cut."""
        text = self.get(name)
        if not (text.isascii() and text.isdigit()):
            return default
        # More digits than any number has that is asked for would take their time, or not be read at all.
        return min(max(int(text.lstrip("0")[:_MAX_DIGITS] or 0), 1), most)


@dataclass(frozen=True, slots=True)
class CsvTable:
    """Rows for CSV, and the names of the columns."""

    heads: Sequence[str]
    rows: Iterable[Sequence[object]]


@dataclass(frozen=True, slots=True)
class PageReply:
    """What a page shows. All but the template's part is made only when it is asked for."""

    template: str
    """A file in `serve/templates`."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """What the template needs, beside `request` and `site`."""
    data: Callable[[], Any] | None = None
    """For JSON: dictionaries, lists, dataclasses, msgspec Structs."""
    table: Callable[[], CsvTable] | None = None
    """For CSV."""
    nquads: Callable[[], bytes] | None = None
    """N-Quads; Turtle is made of them, without the graphs."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str | None] = field(default_factory=dict)
    """Cookies to set for this site alone; None removes one."""
    redirect: str = ""
    """Where to go instead: 303. After a form was taken."""


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
    """For OpenAPI: what is there, in one sentence."""
    parameters: tuple[Parameter, ...] = ()
    method: str = "GET"
    """GET, or POST for what changes something or takes a long text."""
    needs_token: bool = False
    """Whether it is refused to all who have not shown the token. Forms of a browser must carry `csrf` then."""
    formats: tuple[str, ...] = ("html", "json", "csv", "nq", "ttl")
    """Those that its PageReply can be turned into."""
    is_heavy: bool = False
    """Whether few of them may be asked for at once and in a second."""
    most_bytes: int = MAX_BODY_BYTES
    """Of the body of a POST."""
    answer: type | tuple[type, ...] = ()
    """For OpenAPI: the record that its JSON is, or all of them where parameters choose one."""
