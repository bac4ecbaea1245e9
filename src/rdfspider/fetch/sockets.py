"""The sockets that libcurl was given: a new one enters, and how many are open leaves."""

import os
import socket


class Socket(socket.socket):
    """A socket that libcurl takes a duplicate of; this one is closed as soon as it has."""

    def __del__(self) -> None:
        if hasattr(self, "_io_refs"):  # Not where the system had no socket to give.
            self.close()


class OpenSockets:
    """libcurl does not tell when it closes a socket: its descriptor is closed then, or stands for another file."""

    def __init__(self) -> None:
        self.inodes: dict[int, int] = {}
        """Descriptor → which socket it stands for."""

    def add(self, descriptor: int) -> None:
        """Note a descriptor, and keep it from the helper processes, which would hold it open: a duplicate is inherited."""
        os.set_inheritable(descriptor, False)
        self.inodes[descriptor] = _inode(descriptor)

    def count(self) -> int:
        """How many are open now."""
        gone = [descriptor for descriptor, inode in self.inodes.items() if _inode(descriptor) != inode]
        for descriptor in gone:
            del self.inodes[descriptor]
        return len(self.inodes)

    def clear(self) -> None:
        """Forget all of them."""
        self.inodes.clear()


def _inode(descriptor: int) -> int:
    """Which socket a descriptor stands for; 0 when it is closed."""
    try:
        return os.fstat(descriptor).st_ino
    except OSError:
        return 0
