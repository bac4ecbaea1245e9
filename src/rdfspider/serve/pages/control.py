"""Control of the crawl, each by a form that takes the token: pause, resume, stop, more seeds, other filters.

Each is done at once, or told to the crawl; a browser is sent back to the monitor with a word for what was done, and a program is
told in JSON. What cannot be done is an error in one sentence.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from rdfspider.crawl.seeds import has_scheme
from rdfspider.errors import UsageError
from rdfspider.run.visitor import read_address
from rdfspider.serve.rendering import make_address, write_number
from rdfspider.serve.replies import PageReply, PageRequest, Parameter, SitePage

_KINDS = ("include", "exclude")
_MAX_SEEDS = 10_000
# What an address without a scheme begins with: a name with a dot in it, which few other things have.
_HOST = re.compile(r"(?://)?[\w-]+(?:\.[\w-]+)+")


class ControlData(Struct, frozen=True):
    """What a program is told."""

    state: str
    """That of the crawl now: pausing and stopping last until what is under way is finished."""
    count: int = 0
    """How many seeds or filters were added or removed; others were there, or gone, before."""


def pause_crawl(request: PageRequest) -> PageReply:
    """Begin nothing more until it is resumed."""
    request.site.crawl.pause(wait=False)
    return _answer(request, "paused")


def resume_crawl(request: PageRequest) -> PageReply:
    """Go on."""
    request.site.crawl.resume()
    return _answer(request, "resumed")


def stop_crawl(request: PageRequest) -> PageReply:
    """Finish what is under way, and end; it can be run again later."""
    request.site.crawl.stop(wait=False)
    return _answer(request, "stopped")


def add_seeds(request: PageRequest) -> PageReply:
    """Take more URLs to start from, a line each."""
    urls = [line.strip() for text in request.parameters.get("seeds", ()) for line in text.splitlines() if line.strip()]
    if not urls:
        raise UsageError("name at least one URL to add, a line each")
    if len(urls) > _MAX_SEEDS:
        raise UsageError(f"these are {len(urls):,} URLs, and {_MAX_SEEDS:,} are taken at once")
    # Not as a command line reads them: no file is looked for, and none is told of.
    return _answer(request, "seeds", request.site.crawl.add_seeds([_read_seed(url) for url in urls]))


def add_filter(request: PageRequest) -> PageReply:
    """Take another regular expression that links must, or must not, fit."""
    kind, pattern = _read_filter(request)
    with _speak_to_browsers(kind):
        return _answer(request, "filter-added", request.site.crawl.add_filter(**{kind: pattern}))


def remove_filter(request: PageRequest) -> PageReply:
    """Let a filter go; URLs that only it kept out come back."""
    kind, pattern = _read_filter(request)
    with _speak_to_browsers(kind):
        return _answer(request, "filter-removed", request.site.crawl.remove_filter(**{kind: pattern}))


_SAID: dict[str, Callable[[int], str]] = {
    "paused": lambda count: "The crawl was told to pause: it finishes what is under way.",
    "resumed": lambda count: "The crawl goes on.",
    "stopped": lambda count: "The crawl was told to stop: it finishes what is under way, and can be run again later.",
    "seeds": lambda count: f"{write_number(count)} new {'seed was' if count == 1 else 'seeds were'} added.",
    "filter-added": lambda count: "The filter holds from now on." if count else "That filter was there before.",
    "filter-removed": lambda count: "The filter is gone." if count else "There was no such filter.",
}
"""By the word that an address has; what is not here is not said."""


def tell_said(request: PageRequest) -> str:
    """The sentence for what was just done; empty where nothing was. An address can choose one, and no other text."""
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


def _read_filter(request: PageRequest) -> tuple[str, str]:
    kind, pattern = request.get("kind"), request.get("pattern")
    if kind not in _KINDS:
        raise UsageError("say which kind of filter is meant: include or exclude")
    if not pattern:
        raise UsageError("a filter needs a regular expression")
    return kind, pattern


@contextmanager
def _speak_to_browsers(kind: str) -> Iterator[None]:
    """What is wrong with a filter, without the flags and commands of a terminal."""
    try:
        yield
    except UsageError as error:
        said = str(error).removeprefix(f"--{kind} ").partition("; `rdfspider ")[0]
        raise UsageError(f"the filter {said}") from error


_KIND = Parameter("kind", "include (only links that fit are followed) or exclude (those that fit are not).", True)
_PATTERN = Parameter("pattern", "A regular expression, looked for anywhere in a URL.", True)
_CSRF = Parameter("csrf", "What forms of this site carry; programs that send the token need none.")


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
    _make_page("stop", stop_crawl, "Let the crawl finish what is under way and end."),
    _make_page("seeds", add_seeds, "Add seeds.", Parameter("seeds", "URLs, a line each.", True)),
    _make_page("add-filter", add_filter, "Add a filter, also for what is already queued.", _KIND, _PATTERN),
    _make_page("remove-filter", remove_filter, "Remove a filter.", _KIND, _PATTERN),
)
