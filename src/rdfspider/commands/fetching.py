"""Sources that are URLs: flags and a URL enter, the fetched Page leaves. For commands that read single pages."""

from collections.abc import Sequence
from functools import cached_property

from rdfspider.codes import Truncation
from rdfspider.commands.options import name_flags
from rdfspider.commands.terminal import say
from rdfspider.crawl.settings import load_flags
from rdfspider.errors import UnansweredError, UsageError
from rdfspider.records import Page
from rdfspider.run.page_requests import PageRequests, read_address

_CUT = {
    Truncation.LENGTH: "it is longer than what is read of a page",
    Truncation.TIME: "it took too long",
    Truncation.DISCONNECT: "the connection ended early",
    Truncation.UNWANTED: "its type is none that is read",
}
"""Why a body is incomplete, in words."""


class PageSource:
    """Fetches pages as a crawl would: robots.txt, pauses and the guard against private addresses apply."""

    def __init__(
        self, *, allow_private: bool | None = None, resolve: Sequence[str] | None = None, contact: str | None = None
    ) -> None:
        self._flags = name_flags(
            {
                "fetch.allow_private": allow_private,
                "fetch.resolve": list(resolve) if resolve else None,
                "fetch.contact": contact,
            }
        )

    @cached_property
    def _requests(self) -> PageRequests:
        return PageRequests(load_flags(self._flags))

    def fetch(self, source: str) -> Page:
        """Fetch a page; UsageError, in one line, if robots.txt forbids it, or it cannot be had."""
        url = read_address(source)
        try:
            answer = self._requests.request(url)
        except UnansweredError as error:
            raise UsageError(str(error)) from error
        last = answer.hops[-1].url
        where = url if last == url else f"{url}, which redirects to {last}"
        if answer.refusal:
            raise UsageError(f"{where}: not fetched: {answer.refusal}")
        if answer.failure or answer.capture is None:
            raise UsageError(f"{where}: not fetched: {answer.failure}")
        page, cut = answer.capture.page, answer.capture.truncated
        if cut:
            say(f"{where}: {_CUT[Truncation(cut)]}: only its first {len(page.body):,} bytes are read")
        return page
