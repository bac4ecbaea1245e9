"""Free ports for servers that cannot choose one themselves, and waiting until such a server listens. For tests only."""

import random
import socket
import subprocess
from collections.abc import Iterator

from waiting import wait_until

# Below the ports that systems give to whoever asks for any port: those may be taken again before the server has started.
_RANGE = range(10_000, 30_000)


def find_free_ports(count: int) -> list[int]:
    """So many ports of 127.0.0.1 on which nobody listens."""
    free = _try_ports()
    return [next(free) for _ in range(count)]


def wait_for_ports(process: subprocess.Popen[bytes], *ports: int) -> None:
    """Wait until a server that was started listens on all of these; it must not end meanwhile."""

    def do_listen() -> bool:
        assert process.poll() is None, f"{process.args} has ended with {process.returncode}"
        return all(_is_open(port) for port in ports)

    wait_until(do_listen)


def _try_ports() -> Iterator[int]:
    for port in random.SystemRandom().sample(_RANGE, len(_RANGE)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        yield port


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
