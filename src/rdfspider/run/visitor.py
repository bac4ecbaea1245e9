"""A URL enters, a Visit leaves: the page is fetched (`page_requests.py`) and extracted as in a crawl, but nothing is stored.

A visit costs a host two requests more than a running crawl knows of, because a user asked for them.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rdfspider.config import Config
from rdfspider.crawl.folder import DOCUMENTS
from rdfspider.errors import UnansweredError
from rdfspider.judge.judgement import judge_directives
from rdfspider.linked_documents import KeptDocuments
from rdfspider.processes.calls import KillableCalls
from rdfspider.records import Extraction, Page
from rdfspider.run.heavy_pages import extract_by
from rdfspider.run.page_requests import PageAnswer, PageRequests, read_address
from rdfspider.second_reading import SecondReading

# Time limits are short, because a user waits for the answer.
_READ_S = 15.0
_TURN_S = 10.0


@dataclass(frozen=True, slots=True)
class Visit(PageAnswer):
    """The outcome of a visit."""

    extraction: Extraction | None = None
    """The page's Extraction; None if there is no page."""
    directives: tuple[str, ...] = ()
    """The robots directives of the page, and where each comes from."""


class Visitor:
    """Visits pages for users, one at a time, from any thread."""

    def __init__(self, folder: Path, config: Config) -> None:
        self._requests = PageRequests(config)
        # Content that a user pastes is as untrusted as any page, so it is extracted in a process that can be killed.
        self._calls = KillableCalls(min(config.run.extract_timeout_s, _READ_S), _TURN_S)
        self._second = SecondReading(min(config.run.extract_timeout_s, _READ_S), _TURN_S)
        # A process of their own, so that much pasted content does not delay archived pages.
        self._archive_calls = KillableCalls(min(config.run.extract_timeout_s, _READ_S), _TURN_S)
        documents = KeptDocuments(folder / DOCUMENTS, config.extract.documents)
        self._extract = replace(config.extract, documents=documents)
        self._turn = threading.Lock()
        self._end = threading.Event()

    def read(self, page: Page) -> Extraction:
        """Extract a page that a user provides; UnansweredError if too many other calls wait."""
        return extract_by(self._calls, self._second, page, self._extract)[0]

    def call(self, function: Callable[..., Any], *arguments: object) -> Any:
        """Call a module-level function for an archived page in a process that can be killed, as `KillableCalls.call` does."""
        return self._archive_calls.call(function, *arguments)

    def close(self) -> None:
        """Kill the processes, and end the visit under way."""
        self._second.close()
        self._calls.close()
        self._archive_calls.close()
        self.end_visits()

    def end_visits(self) -> None:
        """End the visit under way, and start no other."""
        self._end.set()

    def visit(self, text: str, cancel: threading.Event | None = None) -> Visit:
        """Fetch and extract a page; UsageError if `text` is no URL, UnansweredError if it takes too long or `cancel` is set."""
        url = read_address(text)
        ends = (self._end, cancel or self._end)
        if not self._turn.acquire(timeout=_TURN_S):
            raise UnansweredError("another page is being fetched: try again in a moment")
        try:
            return self._read_answer(self._requests.request(url, ends))
        finally:
            self._turn.release()

    def _read_answer(self, answer: PageAnswer) -> Visit:
        visit = Visit(answer.hops, answer.refusal, answer.failure, answer.capture)
        capture = visit.capture
        if capture is None or visit.failure:
            return visit
        extraction = self.read(capture.page)
        return replace(
            visit, extraction=extraction, directives=judge_directives(capture, extraction, capture.started).directives
        )
