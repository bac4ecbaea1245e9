"""Actions: the forms of the site that change something. A submitted form enters, a redirect or a JSON answer leaves.

They control the crawl (pause, resume, stop, add seeds, change filters), which needs the token; log in and out with the token;
and choose whether images from other servers are shown. They stand together because all are sent by POST (only the login form
itself is shown by GET) and return the browser to a page of this site.

A control action is done at once, or sent to the crawl. A browser is then redirected to the monitor, with a keyword for the
action in the URL, and a program gets JSON. An action that is not possible is an error in one sentence.
"""

import re
from collections.abc import Callable

from msgspec import Struct

from rdfspider.crawl.seeds import has_scheme
from rdfspider.errors import UsageError
from rdfspider.run.page_requests import read_address
from rdfspider.serve.access import IMAGES_COOKIE
from rdfspider.serve.rendering import make_address, write_number
from rdfspider.serve.replies import PageReply, PageRequest, Parameter, SitePage

_KINDS = ("include", "exclude")
_MAX_SEEDS = 10_000
# The start of a URL without a scheme: a name that contains a dot, which few other things do.
_HOST = re.compile(r"(?://)?[\w-]+(?:\.[\w-]+)+")
_SAID: dict[str, Callable[[int], str]] = {
    "paused": lambda count: "The crawl was told to pause: it finishes what is under way.",
    "resumed": lambda count: "The crawl goes on.",
    "stopped": lambda count: "The crawl was told to stop: it finishes what is under way, and can be run again later.",
    "seeds": lambda count: f"{write_number(count)} new {'seed was' if count == 1 else 'seeds were'} added.",
    "filter-added": lambda count: "The filter holds from now on." if count else "That filter was there before.",
    "filter-removed": lambda count: "The filter is gone." if count else "There was no such filter.",
}
"""Messages by the keyword in the URL; other keywords show nothing."""
_KIND = Parameter("kind", "include (only links that fit are followed) or exclude (those that fit are not).", True)
_PATTERN = Parameter("pattern", "A regular expression, looked for anywhere in a URL.", True)
_CSRF = Parameter("csrf", "What forms of this site carry; programs that send the token need none.")
_NEXT = Parameter("next", "A path of this site to go to then.")


class ControlData(Struct, frozen=True):
    """What a program is told."""

    state: str
    """The current state of the crawl: pausing and stopping last until pending work is finished."""
    count: int = 0
    """How many seeds or filters were added or removed, without those that were present, or absent, before."""


def pause_crawl(request: PageRequest) -> PageReply:
    """Start nothing more until the crawl is resumed."""
    request.site.crawl.pause(wait=False)
    return _answer(request, "paused")


def resume_crawl(request: PageRequest) -> PageReply:
    """Resume the crawl."""
    request.site.crawl.resume()
    return _answer(request, "resumed")


def stop_crawl(request: PageRequest) -> PageReply:
    """Finish pending work and end; the crawl can be run again later."""
    request.site.crawl.stop(wait=False)
    return _answer(request, "stopped")


def add_seeds(request: PageRequest) -> PageReply:
    """Add seeds, one URL per line."""
    urls = [line.strip() for text in request.parameters.get("seeds", ()) for line in text.splitlines() if line.strip()]
    if not urls:
        raise UsageError("name at least one URL to add, a line each")
    if len(urls) > _MAX_SEEDS:
        raise UsageError(f"these are {len(urls):,} URLs, and {_MAX_SEEDS:,} are taken at once")
    # Unlike on the command line, these are never file names, and errors reveal nothing about files.
    return _answer(request, "seeds", request.site.crawl.add_seeds([_read_seed(url) for url in urls]))


def add_filter(request: PageRequest) -> PageReply:
    """Add a regular expression that links must, or must not, match."""
    return _change_filters(request, "filter-added", request.site.crawl.add_filter)


def remove_filter(request: PageRequest) -> PageReply:
    """Remove a filter; URLs that only it excluded come back."""
    return _change_filters(request, "filter-removed", request.site.crawl.remove_filter)


def show_login(request: PageRequest) -> PageReply:
    """Show a form for the token."""
    return PageReply("login.html", {"next": _find_next(request), "message": ""})


def log_in(request: PageRequest) -> PageReply:
    """Check the token, and set a session cookie."""
    access = request.site.access
    if not access.is_token(request.get("token")):
        message = "that is not the token; it was printed when the server started"
        return PageReply("login.html", {"next": _find_next(request), "message": message}, status=403)
    return PageReply("", redirect=_find_next(request), cookies={access.cookie: access.open_session()})


def log_out(request: PageRequest) -> PageReply:
    """End the session and delete its cookie."""
    request.site.access.close_session(request.session)
    return PageReply("", redirect=_find_next(request), cookies={request.site.access.cookie: None})


def choose_images(request: PageRequest) -> PageReply:
    """Store whether images from other servers are shown."""
    return PageReply(
        "", redirect=_find_next(request), cookies={IMAGES_COOKIE: "on" if request.get("show") == "on" else None}
    )


def tell_said(request: PageRequest) -> str:
    """The message for the last action; empty if there was none. A URL can choose one of the messages, but no other text."""
    write = _SAID.get(request.get("said"))
    return write(request.get_number("count", 0, 1_000_000)) if write else ""


def _answer(request: PageRequest, said: str, count: int = 0) -> PageReply:
    if request.format == "html":
        return PageReply("", redirect=make_address("/monitor", said=said, count=count or None))
    return PageReply("", data=lambda: ControlData(request.site.crawl.status().state, count))


def _read_seed(text: str) -> str:
    url = read_address(text)
    if not has_scheme(text) and not _HOST.match(text):
        raise UsageError(f"{text[:200]}: not an http or https URL, nor one without the https:// before it")
    return url


def _change_filters(request: PageRequest, said: str, change: Callable[..., int]) -> PageReply:
    kind, pattern = request.get("kind"), request.get("pattern")
    if kind not in _KINDS:
        raise UsageError("say which kind of filter is meant: include or exclude")
    if not pattern:
        raise UsageError("a filter needs a regular expression")
    try:
        return _answer(request, said, change(**{kind: pattern}))
    except UsageError as error:
        # Without the flags and commands of a terminal.
        text = str(error).removeprefix(f"--{kind} ").partition("; `rdfspider ")[0]
        raise UsageError(f"the filter {text}") from error


def _find_next(request: PageRequest) -> str:
    """Where to redirect afterwards; only within this site."""
    target = request.get("next")
    is_own = target.startswith("/") and not target.startswith(("//", "/\\")) and not any(sign < " " for sign in target)
    return target if is_own else "/monitor"


def _make_page(name: str, show: Callable[[PageRequest], PageReply], about: str, *parameters: Parameter) -> SitePage:
    return SitePage(
        f"/control/{name}",
        show,
        about,
        (*parameters, _CSRF),
        "POST",
        needs_token=True,
        formats=("html", "json"),
        answer=ControlData,
    )


PAGES = (
    _make_page("pause", pause_crawl, "Let the crawl finish what is under way and wait."),
    _make_page("resume", resume_crawl, "Let a paused crawl go on."),
    _make_page("stop", stop_crawl, "Let the crawl end within ten seconds."),
    _make_page("seeds", add_seeds, "Add seeds.", Parameter("seeds", "URLs, a line each.", True)),
    _make_page("add-filter", add_filter, "Add a filter, also for what is already queued.", _KIND, _PATTERN),
    _make_page("remove-filter", remove_filter, "Remove a filter.", _KIND, _PATTERN),
    SitePage("/login", show_login, "A form for the token.", (_NEXT,), formats=("html",)),
    SitePage(
        "/login",
        log_in,
        "Show the token.",
        (Parameter("token", "As printed at the start."), _NEXT),
        "POST",
        formats=("html",),
    ),
    SitePage("/logout", log_out, "Let the token go.", (_NEXT,), "POST", formats=("html",)),
    SitePage(
        "/images",
        choose_images,
        "Say whether images of other servers are shown.",
        (Parameter("show", "on or off."), _NEXT),
        "POST",
        formats=("html",),
    ),
)
