"""The live monitor: each sample is rendered once for all watching browsers, and sent to each as server-sent events.

An event is JSON: the HTML of the sections that have changed, by id. Each section records when it last changed, so that a
browser that was slow or disconnected gets what it missed, and nothing waits for it.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from rdfspider.serve.access import find_client, is_loopback
from rdfspider.serve.limits import (
    MAX_CLIENT_WATCHERS,
    MAX_OWN_WATCHERS,
    MAX_WATCHERS,
    ConcurrencyLimit,
    LimitReachedError,
)
from rdfspider.serve.monitor.charts import TIME_RANGES
from rdfspider.serve.monitor.sections import draw_sections, locate_charts
from rdfspider.serve.sampler import MonitorSample
from rdfspider.serve.site import Site

# The interval of keep-alive comments, which show both ends, and proxies between them, that the connection is alive.
_KEEP_ALIVE_S = 15.0
_RETRY_MS = 2000


@dataclass(eq=False, slots=True)
class Watcher:
    """A browser that watches the monitor."""

    span: str
    client: str
    """The client's address."""
    loop: asyncio.AbstractEventLoop
    news: asyncio.Event


def make_routes(site: Site) -> Sequence[BaseRoute]:
    """The route of the monitor's event stream."""
    feed = Feed(site)
    site.sampler.listeners.append(feed.publish)
    site.sampler.end_listeners.append(feed.end)
    return [Route("/monitor/events", feed.answer)]


class Feed:
    """The current sections of the monitor, and the browsers that watch it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._lock = threading.Lock()
        self._watchers: set[Watcher] = set()
        self._limit = ConcurrencyLimit(MAX_WATCHERS, MAX_CLIENT_WATCHERS)
        self._number = 0
        """The number of the last publication."""
        self._sections: dict[str, tuple[int, str]] = {}
        """By id: the number of the publication in which the section last changed, and its HTML."""
        self._encoded: dict[tuple[int, str], bytes] = {}
        """Events of the last publication, by the one last seen and the time range: nearly all watchers get the same."""

    def publish(self, sample: MonitorSample) -> None:
        """Render what has changed, and wake the watchers; costs nothing if there are none."""
        with self._lock:
            watchers = tuple(self._watchers)
        if not watchers:
            return
        sampler = self._site.sampler
        spans = tuple({watcher.span for watcher in watchers})
        drawn = draw_sections(
            self._site, sample, sampler.waiting.find_in_background(sample.status), sampler.copy_history(), spans
        )
        with self._lock:
            self._number += 1
            for name, html in drawn.items():
                if self._sections.get(name, (0, ""))[1] != html:
                    self._sections[name] = (self._number, str(html))
            self._encoded.clear()
        for watcher in watchers:
            _wake(watcher)

    async def answer(self, request: Request) -> Response:
        """Stream events until the browser disconnects or the server ends."""
        if request.method == "HEAD":
            return Response(media_type=_EventStream.media_type)
        span = request.query_params.get("span", "")
        client = find_client(request)
        watcher = Watcher(
            span if span in TIME_RANGES else "minutes", client, asyncio.get_running_loop(), asyncio.Event()
        )
        try:
            with self._lock:
                self._limit.take(client, most_by_client=MAX_OWN_WATCHERS if is_loopback(client) else None)
                self._watchers.add(watcher)
        except LimitReachedError:
            return PlainTextResponse("too many browsers watch already: try again later\n", 503, {"Retry-After": "10"})
        return _EventStream(self._stream(watcher), partial(self._leave, watcher))

    def end(self) -> None:
        """End all streams, because the sampler has ended."""
        with self._lock:
            watchers = tuple(self._watchers)
        for watcher in watchers:
            _wake(watcher)

    def _leave(self, watcher: Watcher) -> None:
        with self._lock:
            self._watchers.discard(watcher)
            self._limit.give_back(watcher.client)

    async def _stream(self, watcher: Watcher) -> AsyncIterator[bytes]:
        yield f"retry: {_RETRY_MS}\n\n".encode()
        seen = 0
        while not self._site.sampler.is_over:
            try:
                await asyncio.wait_for(watcher.news.wait(), _KEEP_ALIVE_S)
            except TimeoutError:
                yield b": still here\n\n"
                continue
            watcher.news.clear()
            seen, event = self._encode(seen, watcher.span)
            if event:
                yield event

    def _encode(self, seen: int, span: str) -> tuple[int, bytes]:
        """The changes since a publication as an event; empty if there are none."""
        with self._lock:
            key = (seen, span)
            if key not in self._encoded:
                others = {locate_charts(other) for other in TIME_RANGES if other != span}
                changed = {
                    name: html
                    for name, (changed_in, html) in self._sections.items()
                    if changed_in > seen and name not in others
                }
                data = msgspec.json.encode(changed)
                self._encoded[key] = b"id: %d\ndata: %s\n\n" % (self._number, data) if changed else b""
            return self._number, self._encoded[key]


class _EventStream(StreamingResponse):
    """A response that calls back when it ends, however that happens."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], on_end: Callable[[], None]) -> None:
        super().__init__(events, headers={"Cache-Control": "no-store"})
        self._on_end = on_end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._on_end()


def _wake(watcher: Watcher) -> None:
    with suppress(RuntimeError):  # Its loop may have just ended.
        watcher.loop.call_soon_threadsafe(watcher.news.set)
