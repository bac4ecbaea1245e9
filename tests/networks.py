"""A network of a test's own, which can be lost and come back; where that is not permitted, the test is skipped and says so."""

import ctypes
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

_NEW_NETWORK = 0x40000000
"""CLONE_NEWNET of Linux."""


def run_in_own_network(test: Callable[[], None]) -> None:
    """Run a function in a thread with a network namespace of its own, which the threads and processes that it starts share. It
    has only the loopback interface, over which there is a route to everywhere."""

    def run() -> None:
        if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK):
            pytest.skip(f"a network cannot be made here: {os.strerror(ctypes.get_errno())}")
        set_network(is_there=True)
        test()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(run).result()


def run_ip(*arguments: str, is_needed: bool = True) -> None:
    """Run the command ip in this thread's network."""
    try:
        subprocess.run(["ip", *arguments], check=is_needed, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("a network cannot be made here: there is no command ip")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"a network cannot be made here: {error.stderr.strip()}")


class FarNetwork:
    """Another network, with two links to this thread's own one: over the first, only machines of the crawl are reached, over
    the second, only servers. Nothing of it is left once its processes have ended."""

    def __init__(self, crawl: tuple[str, str], servers: tuple[str, str]) -> None:
        """Each link has an address here and one there, with 24 bits for the network."""
        with ThreadPoolExecutor(1) as thread:
            self._far = thread.submit(_make_network).result()
        self._near = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        self._crawl = crawl
        with self.entered():
            run_ip("link", "set", "lo", "up")
        for number, (near, far) in enumerate((crawl, servers)):
            run_ip("link", "add", f"near{number}", "type", "veth", "peer", "name", f"far{number}")
            run_ip("link", "set", f"far{number}", "netns", f"/proc/{os.getpid()}/fd/{self._far}")
            self._set_up(f"near{number}", near)
            with self.entered():
                self._set_up(f"far{number}", far)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Let this thread be there meanwhile; the processes that it starts stay there."""
        _enter(self._far)
        try:
            yield
        finally:
            _enter(self._near)

    def cut(self) -> None:
        """Lose whatever is sent over the first link, in both directions, without a word: no connection is told."""
        near, far = self._crawl
        self._lose("near0", far)
        with self.entered():
            self._lose("far0", near)

    def heal(self) -> None:
        """End the cut."""
        near, far = self._crawl
        run_ip("neigh", "del", far, "dev", "near0")
        with self.entered():
            run_ip("neigh", "del", near, "dev", "far0")

    def close(self) -> None:
        """Let go of both networks."""
        os.close(self._far)
        os.close(self._near)

    @staticmethod
    def _set_up(device: str, address: str) -> None:
        run_ip("address", "add", f"{address}/24", "dev", device)
        run_ip("link", "set", device, "up")

    @staticmethod
    def _lose(device: str, address: str) -> None:
        """Frames to a hardware address that nobody has are dropped at the other end."""
        run_ip("neigh", "replace", address, "lladdr", "02:00:00:00:00:99", "dev", device, "nud", "permanent")


def _make_network() -> int:
    """Make a network, in a thread that ends; return a descriptor of it."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK):
        pytest.skip(f"a network cannot be made here: {os.strerror(ctypes.get_errno())}")
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY)


def _enter(network: int) -> None:
    assert ctypes.CDLL(None, use_errno=True).setns(network, _NEW_NETWORK) == 0, os.strerror(ctypes.get_errno())


def has_ipv6() -> bool:
    """Whether ::1 can be listened at."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def set_network(*, is_there: bool) -> None:
    """Let this thread's network be there, or lose it with all routes."""
    run_ip("link", "set", "lo", "up" if is_there else "down")
    if is_there:
        for family in ("-4", "-6"):
            run_ip(family, "route", "replace", "default", "dev", "lo", is_needed=family == "-4")
