"""Jobs in another process: real ones that hang, die, need too much, and are replaced."""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from rdfspider.archive.warc_file import WarcFile
from rdfspider.errors import UnansweredError, UsageError
from rdfspider.processes.calls import CallError, KillableCalls
from waiting import PATIENCE_S, wait_until


@pytest.fixture
def calls() -> Iterator[KillableCalls]:
    made = KillableCalls(60)
    yield made
    made.close()


def test_the_process_starts_late_and_stays(calls: KillableCalls) -> None:
    assert calls._child.pid is None
    first = calls.call(os.getpid)
    assert first != os.getpid()
    assert calls.call(os.getpid) == first
    calls.close()
    assert not psutil.pid_exists(first)


def test_what_a_function_makes_is_passed_on_whatever_it_is(calls: KillableCalls) -> None:
    assert calls.call(int, "7") == 7
    assert calls.call(divmod, 7, 2) == (3, 1)
    assert isinstance(calls.call(UsageError, "no error, but made"), UsageError)


def test_what_goes_wrong_is_told_apart(calls: KillableCalls) -> None:
    with pytest.raises(UsageError, match=r"^/nowhere/x\.warc: No such file"):
        calls.call(WarcFile, Path("/nowhere/x.warc"))
    with pytest.raises(CallError, match="ValueError: invalid literal") as failed:
        calls.call(int, "x")
    assert failed.value.code == "crashed"
    with pytest.raises(CallError, match="needed more than") as greedy:
        calls.call(bytes, 2**32)
    assert greedy.value.code == "out-of-memory"
    with pytest.raises(CallError, match="the process that read it was killed by signal") as died:
        calls.call(os.abort)
    assert died.value.code == "crashed"
    assert calls.call(int, "8") == 8


def test_processor_time_is_limited_and_waiting_is_not() -> None:
    """A busy machine lets a process wait, too."""
    calls = KillableCalls(600, cpu_s=0.5)
    try:
        assert calls.call(time.sleep, 1.0) is None
        with pytest.raises(CallError, match=r"^it took more than 0\.5 s of processor time$") as slow:
            calls.call(sum, range(10**12))
        assert slow.value.code == "too-slow"
        assert calls.call(int, "8") == 8
    finally:
        calls.close()


def test_one_that_died_between_two_jobs_is_replaced(calls: KillableCalls) -> None:
    first = calls.call(os.getpid)
    os.kill(first, signal.SIGKILL)
    assert calls._child._child is not None
    calls._child._child._popen.wait()
    assert calls.call(os.getpid) != first


def test_one_whose_parent_is_gone_ends(calls: KillableCalls) -> None:
    calls.call(os.getpid)
    child = calls._child._child
    assert child is not None
    child._input.close()
    assert child._popen.wait(60) == 0


def test_nobody_waits_for_ever_in_line() -> None:
    calls = KillableCalls(60, wait_turn_s=0.2)
    calls.call(int, "7")

    def take_long() -> None:
        with suppress(CallError):
            calls.call(time.sleep, 600)

    long = threading.Thread(target=take_long)
    long.start()
    wait_until(calls._child._turn.locked)
    with pytest.raises(UnansweredError, match="try again in a moment") as refused:
        calls.call(int, "8")
    assert not isinstance(refused.value, CallError)
    calls.close()
    long.join(PATIENCE_S)
    assert not long.is_alive()


def test_nothing_is_started_after_the_end(calls: KillableCalls) -> None:
    calls.close()
    with pytest.raises(CallError):
        calls.call(int, "7")
    assert calls._child.pid is None


def test_temporary_files_go_with_the_process_however_it_ends(calls: KillableCalls) -> None:
    left = Path(calls.call(tempfile.mkdtemp))
    assert left.is_dir()
    with pytest.raises(CallError):
        calls.call(os.abort)
    assert not left.parent.exists()
    left = Path(calls.call(tempfile.mkdtemp))
    calls.close()
    assert not left.parent.exists()


def test_temporary_files_go_where_the_parent_is_gone(calls: KillableCalls) -> None:
    left = Path(calls.call(tempfile.mkdtemp))
    child = calls._child._child
    assert child is not None
    child._input.close()
    child._popen.wait(60)
    assert not left.parent.exists()


def test_one_that_rests_is_started_again(calls: KillableCalls) -> None:
    first = calls.call(os.getpid)
    calls.rest()
    assert calls._child.pid is None
    assert calls.call(os.getpid) != first
    with calls._child._turn:
        # Somebody is just being answered.
        calls.rest()
    assert calls._child.pid is not None
