"""Code that takes too long in this process is left, and no other."""

import asyncio
import os
import signal
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
import uvloop

from rdfspider.processes.budgets import OverBudgetError, limit_cpu


def spin(cpu_s: float) -> None:
    """Use the processor for so long; like code that handles its own errors, it handles no interruption."""
    end_s = time.thread_time() + cpu_s
    while time.thread_time() < end_s:
        try:
            sum(range(1000))
        except Exception:
            return


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_code_is_left_when_its_time_is_used_up(run: "Callable[..., None]") -> None:
    async def work() -> None:
        for _ in range(3):
            started_s = time.thread_time()
            with pytest.raises(OverBudgetError), limit_cpu(0.05):
                spin(60.0)
            assert 0.05 <= time.thread_time() - started_s < 10.0
            await asyncio.sleep(0)

    run(work())


def test_what_the_system_does_for_the_code_counts() -> None:
    """As for a page that makes much memory."""
    with Path("/dev/zero").open("rb", buffering=0) as zeros:
        room = bytearray(1 << 20)
        started_s, system_s = time.thread_time(), os.times().system
        with pytest.raises(OverBudgetError), limit_cpu(0.5):
            while time.thread_time() < started_s + 60.0:
                zeros.readinto(room)
        assert os.times().system - system_s > 0.25, "most of it was the system's"
        assert time.thread_time() - started_s < 1.0


def test_code_that_ends_in_time_is_left_alone() -> None:
    for _ in range(100):
        with limit_cpu(0.05):
            spin(0.0)
    spin(0.2)
    with pytest.raises(ValueError, match="of its own"), limit_cpu(0.05):
        raise ValueError("of its own")
    spin(0.2)


def test_other_threads_do_not_count_and_are_not_limited() -> None:
    with limit_cpu(0.2):
        other = threading.Thread(target=spin, args=(1.0,))
        other.start()
        other.join()
    limited: list[BaseException] = []

    def work() -> None:
        try:
            with limit_cpu(0.01):
                spin(0.1)
        except OverBudgetError as error:
            limited.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not limited


def test_a_late_signal_does_nothing() -> None:
    with limit_cpu(60.0):
        pass
    signal.raise_signal(signal.SIGPROF)


class Finalised:
    """Uses up the time where Python discards errors."""

    def __del__(self) -> None:
        spin(0.1)


class Gone:
    """An object that can be referred to weakly."""


def test_no_interruption_is_lost_where_python_discards_errors() -> None:
    for _ in range(3):
        started_s = time.thread_time()
        with pytest.raises(OverBudgetError), limit_cpu(0.05):
            Finalised()
            spin(60.0)
        assert time.thread_time() - started_s < 10.0
    known: weakref.WeakSet[Gone] = weakref.WeakSet()
    with pytest.raises(OverBudgetError), limit_cpu(0.05):
        while True:
            known.add(Gone())
    spin(0.5)
