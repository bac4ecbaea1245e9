"""How a process and its child write messages to each other: the length first, then the bytes. And the child's end of it.

It imports next to nothing, so that a child is ready soon. The parent's end is in `processes/child.py`.
"""

import os
import select
import struct

LENGTH = struct.Struct(">Q")
"""Stands before every message, and says how long it is."""
READY = b"ready"
"""The first message of a child, when it has loaded what it needs."""

_CHUNK_BYTES = 1 << 20


class ParentPipe:
    """The child's end: messages of the parent come in, answers go out. What other code in this process reads from stdin or prints
    goes nowhere."""

    def __init__(self) -> None:
        self._input, self._output = os.dup(0), os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        os.close(nowhere)

    def wait(self, seconds: float) -> bool:
        """Whether there is something to receive, within that time."""
        return bool(select.select([self._input], [], [], seconds)[0])

    def receive(self) -> bytes | None:
        """The next message; None once the parent has nothing more to say, or is gone."""
        head = self._read(LENGTH.size)
        return None if head is None else self._read(LENGTH.unpack(head)[0])

    def send(self, message: bytes) -> None:
        """Send a message."""
        for data in (LENGTH.pack(len(message)), message):
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._output, rest[:_CHUNK_BYTES]) :]

    def _read(self, length: int) -> bytes | None:
        parts = []
        while length:
            part = os.read(self._input, min(length, _CHUNK_BYTES))
            if not part:
                return None
            parts.append(part)
            length -= len(part)
        return b"".join(parts)
