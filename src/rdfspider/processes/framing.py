"""The message format between a process and its child, length first and then the bytes, and the child's end of the pipes.

It imports next to nothing, so that a child starts fast. The parent's end is in `processes/child.py`.
"""

import os
import select
import struct

LENGTH = struct.Struct(">Q")
"""The length of a message, which precedes it."""
READY = b"ready"
"""The first message of a child, sent when it is loaded."""

_CHUNK_BYTES = 1 << 20


class ParentPipe:
    """The child's end: receives messages from the parent and sends answers. For other code in this process, stdin is empty and
    stdout is discarded."""

    def __init__(self) -> None:
        self._input, self._output = os.dup(0), os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        os.close(nowhere)

    def wait(self, seconds: float) -> bool:
        """Wait until there is something to receive; False if nothing comes within that time."""
        return bool(select.select([self._input], [], [], seconds)[0])

    def receive(self) -> bytes | None:
        """Receive the next message; None if the parent has closed the pipe or is gone."""
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
