"""Children that answer, are silent, say too much, stop reading or die: real processes."""

import os
import signal
import sys
import time
from collections.abc import Iterator

import pytest

from rdfspider.processes.child import (
    Child,
    DiedError,
    NotStartedError,
    RestartedChild,
    TooLongError,
    make_command,
    wait_seconds,
)
from rdfspider.processes.framing import READY

LONG_S = 60.0


@pytest.fixture
def echo() -> Iterator[Child]:
    """Answers each message with itself, and is ready; `die` makes it die, and `chatter` makes it read and print by itself."""
    child = start_echo()
    assert child.receive(wait_seconds(LONG_S)) == READY
    yield child
    child.end()


def start_echo() -> Child:
    script = """
import sys
from rdfspider.processes.framing import READY, ParentPipe
pipe = ParentPipe()
pipe.send(READY)
while (message := pipe.receive()) is not None:
    if message == b"die":
        sys.exit("these are my last words")
    if message == b"chatter":
        print("nobody hears", sys.stdin.read(), flush=True)
    pipe.send(message)
"""
    return Child([sys.executable, "-c", script], keeps_errors=True)


def test_messages_of_any_length_come_back(echo: Child) -> None:
    for message in (b"", b"a", os.urandom(5_000_000)):
        echo.send(message, wait_seconds(LONG_S))
        assert echo.receive(wait_seconds(LONG_S)) == message
    assert echo.is_alive()


def test_what_a_child_prints_or_reads_by_itself_is_no_message(echo: Child) -> None:
    for message in (b"chatter", b"next"):
        echo.send(message, wait_seconds(LONG_S))
        assert echo.receive(wait_seconds(LONG_S)) == message


def test_nobody_waits_longer_than_allowed(echo: Child) -> None:
    with pytest.raises(TimeoutError):
        echo.receive(wait_seconds(0.05))
    os.kill(echo.pid, signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        echo.send(bytes(5_000_000), wait_seconds(0.05))
    assert echo.end() == -signal.SIGKILL


def test_too_long_an_answer_is_not_read(echo: Child) -> None:
    echo.send(b"four", wait_seconds(LONG_S))
    with pytest.raises(TooLongError):
        echo.receive(wait_seconds(LONG_S), max_bytes=3)


def test_one_that_dies_tells_how_and_its_last_words(echo: Child) -> None:
    echo.send(b"die", wait_seconds(LONG_S))
    with pytest.raises(DiedError, match=r"^ended with exit status 1$") as died:
        echo.receive(wait_seconds(LONG_S))
    assert died.value.last_words == "these are my last words\n"
    # Nobody is there to read it, which shows when the answer is read.
    echo.send(b"more", wait_seconds(LONG_S))
    with pytest.raises(DiedError):
        echo.receive(wait_seconds(LONG_S))


def test_one_that_knows_no_messages_is_given_bytes_and_ends() -> None:
    script = (
        "import sys; sys.stderr.write('so far'); sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1]); sys.exit(3)"
    )
    child = Child([sys.executable, "-c", script], keeps_errors=True)
    data = os.urandom(1_000_000)
    assert child.exchange(data, wait_seconds(LONG_S), max_bytes=len(data)) == (data[::-1], 3, "so far")
    child.end()


def test_a_child_that_has_ended_is_never_killed_again(echo: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its id may be that of another group by then."""
    echo.send(b"die", wait_seconds(LONG_S))
    with pytest.raises(DiedError):
        echo.receive(wait_seconds(LONG_S))
    killed: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, number: killed.append(group))
    echo.kill()
    assert not echo.is_alive()
    assert echo.end() == 1
    assert killed == []


def test_what_a_child_has_started_ends_with_it() -> None:
    script = "import subprocess, sys; subprocess.Popen(['sleep', '600'], stdout=sys.stdout); sys.exit(0)"
    child = Child([sys.executable, "-c", script])
    while child.is_alive():
        time.sleep(0.01)
    # The pipe is closed only when the last process that holds it has ended.
    with pytest.raises(DiedError, match=r"^ended with exit status 0$"):
        child.receive(wait_seconds(LONG_S))
    child.end()


def test_a_child_that_did_not_answer_is_replaced() -> None:
    restarted = RestartedChild(start_echo, lambda answer: answer == b"last")
    assert restarted.pid is None
    assert restarted.ask(b"a", LONG_S) == b"a"
    first = restarted.pid
    assert restarted.ask(b"b", LONG_S) == b"b"
    assert restarted.pid == first
    with pytest.raises(DiedError):
        restarted.ask(b"die", LONG_S)
    assert restarted.pid is None
    assert restarted.ask(b"last", LONG_S) == b"last"
    assert restarted.pid is None, "it said itself that it should answer no more"
    with pytest.raises(TooLongError):
        restarted.ask(b"long", LONG_S, max_bytes=3)
    assert restarted.pid is None
    assert restarted.ask(b"c", LONG_S) == b"c"
    restarted.close()
    assert restarted.pid is None
    with pytest.raises(NotStartedError, match="not needed any more"):
        restarted.ask(b"d", LONG_S)


def test_one_that_cannot_be_started_is_told_so() -> None:
    missing = RestartedChild(lambda: Child(["/nowhere/python"]), lambda answer: False)
    with pytest.raises(NotStartedError, match="No such file"):
        missing.ask(b"a", LONG_S)
    failing = RestartedChild(lambda: Child(make_command("rdfspider.no_such_module")), lambda answer: False)
    with pytest.raises(NotStartedError, match="ended with exit status 1"):
        failing.ask(b"a", LONG_S)
