"""Sources that are URLs: flags and a URL enter, the fetched Page leaves. For commands that read single pages."""

from collections.abc import Sequence
from functools import cached_property

from rdfspider.commands.options import name_flags
from rdfspider.crawl.settings import load_flags
from rdfspider.errors import UnansweredError, UsageError
from rdfspider.records import Page
from rdfspider.run.page_requests import PageRequests, read_address


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
            hint = "; --allow-private allows it" if "private" in answer.refusal else ""
            raise UsageError(f"{where}: not fetched: {answer.refusal}{hint}")
        if answer.failure or answer.capture is None:
            raise UsageError(f"{where}: not fetched: {answer.failure}")
        return answer.capture.page
