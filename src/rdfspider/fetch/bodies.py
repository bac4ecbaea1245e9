"""The pieces of a body as libcurl gives them enter, the decoded body leaves: within its limit, and within the memory that all
bodies in flight share."""

from collections.abc import Callable, Iterable
from io import BytesIO

from rdfspider.fetch.encodings import BROKEN, Decoder, make_decoder

_EXTRA_BYTES = 65_536
"""By so much may encoded bytes be more than the decoded ones may be; without it a server could send padding for ever."""


class Flight:
    """Decoded bytes of all bodies under way, and how many there may be."""

    def __init__(self, limit_bytes: int, kept_bytes: Callable[[], int] = lambda: 0) -> None:
        """`kept_bytes` tells the size of bodies that have come and are still held; they share the room."""
        self.limit_bytes = limit_bytes
        self.kept_bytes = kept_bytes
        self.body_bytes = 0


class Body:
    """The body of one exchange, as far as it came."""

    def __init__(self, flight: Flight, limit_bytes: int = 0) -> None:
        self.limit_bytes = limit_bytes
        self.content_encoding = ""
        """To be set before the first piece."""
        self.body_bytes = 0
        self.message = ""
        """What is wrong with the encoding."""
        self._flight = flight
        # Not a list of pieces: a server may send millions of them, of a byte or two each.
        self._content = BytesIO()
        self._encoded_bytes = 0
        self._decoder: Decoder | None = None

    def add(self, chunk: bytes) -> str:
        """Take what libcurl gives; the result says why it is the last: `length`, `busy` or `protocol`, empty while it is not."""
        try:
            if not self._encoded_bytes:
                self._decoder = make_decoder(self.content_encoding)
            self._encoded_bytes += len(chunk)
            return self._keep((chunk,) if self._decoder is None else self._decoder.decode(chunk))
        except BROKEN as error:
            self.message = f"the body is not encoded as it says: {error}"
            return "protocol"

    @property
    def is_whole(self) -> bool:
        """No encoding waits for more."""
        return self._decoder is None or self._decoder.is_whole

    def read(self) -> bytes:
        """All that was kept."""
        return self._content.getvalue()

    def close(self) -> None:
        """Give the memory back to the other bodies."""
        self._flight.body_bytes -= self.body_bytes
        self.body_bytes = 0

    def _keep(self, pieces: Iterable[bytes]) -> str:
        flight = self._flight
        for piece in pieces:
            room = self.limit_bytes - self.body_bytes
            is_last = len(piece) > room
            if is_last:
                piece = piece[:room]
            if flight.body_bytes + flight.kept_bytes() + len(piece) > flight.limit_bytes:
                return "busy"
            flight.body_bytes += len(piece)
            self.body_bytes += len(piece)
            self._content.write(piece)
            if is_last:
                return "length"
        return "length" if self._encoded_bytes > self.limit_bytes + _EXTRA_BYTES else ""
