"""Jobs in another process: real ones that hang, die, need too much, and are replaced."""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from rdfspider.archive.reader import Archive
from rdfspider.errors import UnansweredError, UsageError
from rdfspider.processes.calls import Helper, JobError
from waiting import PATIENCE_S, wait_until


@pytest.fixture
def helper() -> Iterator[Helper]:
    made = Helper(60)
    yield made
    made.close()


def test_the_process_starts_late_and_stays(helper: Helper) -> None:
    assert helper._process is None
    first = helper.call(os.getpid)
    assert first != os.getpid()
    assert helper.call(os.getpid) == first
    process = helper._process
    helper.close()
    assert process is not None and process.popen.returncode is not None


def test_what_a_function_makes_is_passed_on_whatever_it_is(helper: Helper) -> None:
    assert helper.call(int, "7") == 7
    assert helper.call(divmod, 7, 2) == (3, 1)
    assert isinstance(helper.call(UsageError, "no error, but made"), UsageError)


def test_what_goes_wrong_is_told_apart(helper: Helper) -> None:
    with pytest.raises(UsageError, match=r"^/nowhere/x\.warc: No such file"):
        helper.call(Archive, Path("/nowhere/x.warc"))
    with pytest.raises(JobError, match="ValueError: invalid literal") as failed:
        helper.call(int, "x")
    assert failed.value.code == "crashed"
    with pytest.raises(JobError, match="needed more than") as greedy:
        helper.call(bytes, 2**32)
    assert greedy.value.code == "out-of-memory"
    with pytest.raises(JobError, match="the process that read it was killed by signal") as died:
        helper.call(os.abort)
    assert died.value.code == "crashed"
    assert helper.call(int, "8") == 8


def test_one_that_died_between_two_jobs_is_replaced(helper: Helper) -> None:
    first = helper.call(os.getpid)
    os.kill(first, signal.SIGKILL)
    assert helper._process is not None
    helper._process.popen.wait()
    assert helper.call(os.getpid) != first


def test_one_whose_parent_is_gone_ends(helper: Helper) -> None:
    helper.call(os.getpid)
    process = helper._process
    assert process is not None
    process.connection.close()
    assert process.popen.wait(60) == 0


def test_nobody_waits_for_ever_in_line() -> None:
    helper = Helper(60, turn_s=0.2)
    helper.call(int, "7")

    def take_long() -> None:
        with suppress(JobError):
            helper.call(time.sleep, 600)

    long = threading.Thread(target=take_long)
    long.start()
    wait_until(helper._turn.locked)
    with pytest.raises(UnansweredError, match="try again in a moment") as refused:
        helper.call(int, "8")
    assert not isinstance(refused.value, JobError)
    helper.close()
    long.join(PATIENCE_S)
    assert not long.is_alive()


def test_nothing_is_started_after_the_end(helper: Helper) -> None:
    helper.close()
    with pytest.raises(JobError):
        helper.call(int, "7")
    assert helper._process is None


def test_temporary_files_go_with_the_process_however_it_ends(helper: Helper) -> None:
    left = Path(helper.call(tempfile.mkdtemp))
    assert left.is_dir()
    with pytest.raises(JobError):
        helper.call(os.abort)
    assert not left.parent.exists()
    left = Path(helper.call(tempfile.mkdtemp))
    helper.close()
    assert not left.parent.exists()


def test_temporary_files_go_where_the_parent_is_gone(helper: Helper) -> None:
    left = Path(helper.call(tempfile.mkdtemp))
    process = helper._process
    assert process is not None
    process.connection.close()
    process.popen.wait(60)
    assert not left.parent.exists()


def test_one_that_rests_is_started_again(helper: Helper) -> None:
    first = helper.call(os.getpid)
    helper.rest()
    assert helper._process is None
    assert helper.call(os.getpid) != first
    with helper._turn:
        # Somebody is just being answered.
        helper.rest()
    assert helper._process is not None
