"""One side of a line between two processes that loses nothing: messages enter, numbered parcels leave, and the other way round.

A socket may lose messages whenever its connection breaks, without a word. So the parcels between two given epochs are numbered
from 1, and each says up to which one its sender has received the other side's. They are taken in order, repeated ones are
dropped, and a missing one is reported; what is not acknowledged is sent again. With each new epoch of either side a new Line
begins. This is pure state without I/O.
"""

from collections import deque
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

# A parcel that is not acknowledged for this long is sent again.
_RETRY_S = 2.0
# How long to wait before the same parcels are sent again for a gap: reports of it that are under way repeat the first one.
_GAP_S = 0.5
# Parcels that may be under way; what comes after them waits, and then becomes one parcel.
_MAX_UNDER_WAY = 128
# So many parcels are acknowledged at once, fewer with the next message or tick.
_MAX_OWED = 32

Message = TypeVar("Message")
Reply = TypeVar("Reply")


class Parcel(NamedTuple, Generic[Message]):
    """What one send carries."""

    number: int
    """Its place among the parcels of this line; 0 for one that need not arrive, which is taken whenever it does."""
    received: int
    """The last parcel of the other side up to which none is missing."""
    has_gap: bool
    """Whether a later one has come than the next."""
    messages: list[Message]


class Line(Generic[Message]):
    """The messages between this process and one epoch of another."""

    __slots__ = (
        "_gap_at",
        "_has_gap",
        "_is_missed",
        "_owed",
        "_received",
        "_sent",
        "_tried_at",
        "_under_way",
        "pending",
    )

    def __init__(self) -> None:
        self.pending: list[Message] = []
        """Messages for the next parcel."""
        self._sent = 0
        self._under_way: deque[tuple[int, list[Message]]] = deque()
        """Numbered parcels that are not acknowledged, the oldest first."""
        self._tried_at = 0.0
        """When the oldest of them was sent, or an earlier one was acknowledged."""
        self._is_missed = False
        """Whether the other side has reported a gap since."""
        self._gap_at = float("-inf")
        """When a gap last led to sending again."""
        self._received = 0
        self._owed = 0
        """Parcels that came and were not acknowledged yet."""
        self._has_gap = False

    @property
    def is_urgent(self) -> bool:
        """Whether the other side should hear at once what has come, or has not."""
        return self._has_gap or self._owed >= _MAX_OWED

    @property
    def is_quiet(self) -> bool:
        """Whether nothing waits to be sent, acknowledged, or sent again."""
        return not (self.pending or self._under_way or self._owed)

    def flush(self, now: float, send: Callable[[Parcel[Message]], bool]) -> None:
        """Send what is pending; `send` returns False if no process takes it, and then it stays pending."""
        if self.pending and len(self._under_way) < _MAX_UNDER_WAY:
            if send(self._wrap(self._sent + 1, self.pending)):
                self._sent += 1
                if not self._under_way:
                    self._tried_at = now
                self._under_way.append((self._sent, self.pending))
                self.pending = []
                self._settle()
        elif self.is_urgent:
            self._acknowledge(send)

    def tick(self, now: float, send: Callable[[Parcel[Message]], bool]) -> None:
        """Send again what seems lost, then what is pending or owed; must be called several times a second while not quiet."""
        is_late = now >= self._tried_at + _RETRY_S
        if self._under_way and (is_late or (self._is_missed and now >= self._gap_at + _GAP_S)):
            self._tried_at = self._gap_at = now
            self._is_missed = False
            if all(send(self._wrap(number, messages)) for number, messages in self._under_way):
                self._settle()
        self.flush(now, send)
        if self._owed:
            self._acknowledge(send)

    def wrap_loose(self, messages: list[Message]) -> Parcel[Message]:
        """Wrap messages that are not sent again, as the next ones replace them; they acknowledge what has come."""
        self._settle()
        return self._wrap(0, messages)

    def take(self, parcel: Parcel[Reply], now: float) -> list[Reply]:
        """Take a parcel of the other side, and return its messages if they are the next ones."""
        while self._under_way and self._under_way[0][0] <= parcel.received:
            self._under_way.popleft()
            self._tried_at = now
        self._is_missed = self._is_missed or parcel.has_gap
        if not parcel.number:
            return parcel.messages
        self._owed += 1
        if parcel.number == self._received + 1:
            self._received = parcel.number
            self._has_gap = False
            return parcel.messages
        self._has_gap = parcel.number > self._received
        return []

    def _acknowledge(self, send: Callable[[Parcel[Message]], bool]) -> None:
        if send(self._wrap(0, [])):
            self._settle()

    def _wrap(self, number: int, messages: list[Message]) -> Parcel[Message]:
        return Parcel(number, self._received, self._has_gap, messages)

    def _settle(self) -> None:
        """Note that a parcel has told what has come."""
        self._owed = 0
        self._has_gap = False
