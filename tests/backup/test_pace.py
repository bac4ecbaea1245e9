"""How fast a backup goes: shares of the network and the processor."""

import sys
import time
from pathlib import Path

import pytest

from rdfspider.backup.objects import Objects
from rdfspider.backup.pace import CpuMeter, Limits, Pace


def burn(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_a_share_of_the_processor_is_kept() -> None:
    pace = Pace(Limits(cpu_share=0.5))
    pace.begin()
    begun, used = time.monotonic(), time.thread_time()
    for _ in range(5):
        burn(0.03)
        pace.wait(1)
    assert time.thread_time() - used <= 0.55 * (time.monotonic() - begun)


def test_a_number_of_bytes_a_second_is_kept() -> None:
    pace = Pace(Limits(bytes_s=10_000))
    pace.begin()
    begun = time.monotonic()
    for _ in range(4):
        pace.wait(500)
    assert time.monotonic() - begun >= 0.19


def test_those_who_send_at_once_share_the_limits(tmp_path: Path) -> None:
    limits = Limits(bytes_s=10_000)
    pace = Pace(limits)
    with limits.share(), limits.share():
        pace.begin()
        begun = time.monotonic()
        for _ in range(4):
            pace.wait(250)
        assert time.monotonic() - begun >= 0.19
    assert limits.senders == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell the processor time of other threads")
def test_threads_that_send_are_counted(tmp_path: Path) -> None:
    objects = Objects(str(tmp_path))
    meter = CpuMeter()
    objects.put("warm", [b"x"])
    meter.measure()
    own_s = time.thread_time()
    # In parts, which are written by threads of the library.
    objects.put("long", (bytes(1024 * 1024) for _ in range(64)))
    assert meter.measure() > time.thread_time() - own_s + 0.001
