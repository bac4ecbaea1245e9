"""A network of a test's own, which can be lost and come back; where that is not permitted, the test is skipped and says so."""

import ctypes
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

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


def set_network(*, is_there: bool) -> None:
    """Let this thread's network be there, or lose it with all routes."""
    _run_ip("link", "set", "lo", "up" if is_there else "down")
    if is_there:
        for family in ("-4", "-6"):
            _run_ip(family, "route", "replace", "default", "dev", "lo", is_needed=family == "-4")


def _run_ip(*arguments: str, is_needed: bool = True) -> None:
    try:
        subprocess.run(["ip", *arguments], check=is_needed, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("a network cannot be made here: there is no command ip")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"a network cannot be made here: {error.stderr.strip()}")
