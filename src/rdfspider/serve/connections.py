"""Connection limits: a connection is closed if its client has too many, or sends or reads too slowly.

uvicorn has no such limits, and the guard sees a request only when its headers are complete.
"""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from rdfspider.serve import limits

_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class SiteProtocol(H11Protocol):
    """HTTP/1.1 with deadlines."""

    _is_refused = False
    _reading: asyncio.TimerHandle | None = None
    """Closes a connection whose request does not complete in time."""
    _writing: asyncio.TimerHandle | None = None
    """Closes a connection whose client does not read."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept or refuse a connection."""
        super().connection_made(transport)
        host = self.client and self.client[0]
        same = sum(1 for other in self.connections if isinstance(other, SiteProtocol) and _find_host(other) == host)
        if len(self.connections) > limits.MAX_CONNECTIONS or same > limits.MAX_CLIENT_CONNECTIONS:
            self._is_refused = True
            self.connections.discard(self)
            transport.write(_BUSY)
            transport.close()
            return
        # Watch any unsent data: a client that reads nothing of a short response would keep the connection for ever.
        transport.set_write_buffer_limits(high=0)
        self._watch_reading()

    def data_received(self, data: bytes) -> None:
        """Handle received data."""
        if not self._is_refused:
            super().data_received(data)
            self._watch_reading()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._watch_reading()

    def pause_writing(self) -> None:
        """Start the timer for a client that does not read."""
        super().pause_writing()
        if self._writing is None:
            self._writing = self.loop.call_later(limits.WRITE_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer: the client has read what was sent."""
        super().resume_writing()
        _stop(self._writing)
        self._writing = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        for timer in (self._reading, self._writing):
            _stop(timer)
        super().connection_lost(exc)

    def _watch_reading(self) -> None:
        """Run a timer from the start of a request to the end of its headers, and while an unneeded body is still being sent."""
        is_answered = self.cycle is not None and self.cycle.response_complete
        state = self.conn.their_state
        # Between requests, uvicorn has its own keep-alive timer.
        is_late = state is h11.IDLE and self.timeout_keep_alive_task is None
        if is_late or (state is h11.SEND_BODY and is_answered):
            if self._reading is None:
                self._reading = self.loop.call_later(limits.HEADERS_S, self.transport.abort)
        else:
            _stop(self._reading)
            self._reading = None


def _find_host(connection: H11Protocol) -> str | None:
    return connection.client and connection.client[0]


def _stop(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
