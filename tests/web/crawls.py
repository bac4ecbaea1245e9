"""Crawls as a person starts them, by the command line, in a process group of their own that a test can kill."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import psutil
import pytest

from command_line import run_line
from waiting import PATIENCE_S

QUICK = {
    # What a person would set for servers of their own; the defaults would make every error cost ten seconds, and every moment
    # that a busy machine lets an answer wait ten such moments.
    "frontier_backoff_s": 0.2,
    "frontier_duration_factor": 0,
    "run_min_free_bytes": 1_000_000,
    # Most scenarios count requests and pages; those that are about other ways than links turn them on.
    "crawl_ways": "",
    # Likewise for those that are about the index.
    "index_enabled": "false",
}


END_S = 120.0
"""A crawl that has not ended after this time, although it should, never will."""


def crawl(folder: Path, *arguments: object, timeout_s: float = END_S, **settings: Any) -> Crawling:
    """Run a crawl to its end, which must be a good one; it may be one of a web without a single page."""
    with Crawling(folder, *arguments, **settings) as crawling:
        code = crawling.wait(timeout_s)
        is_empty = code == 1 and "not a single page could be fetched" in crawling.stderr()
        assert code == 0 or is_empty, f"the crawl ended with {code}:\n{crawling.stderr()}"
    return crawling


class Crawling:
    """A crawl that was started; when the context ends, nothing of it is left.

    Settings that have no flag are given by their names: `frontier_ip_delay_s=0.1`; None leaves the default.
    Its calendar may be ahead of the machine's, and be set while it runs. What it says is kept beside its folder, or in `logs`.
    """

    def __init__(
        self,
        folder: Path,
        *arguments: object,
        ahead_s: float | None = None,
        logs: Path | None = None,
        **settings: object,
    ) -> None:
        self.folder = folder
        self._ahead = folder.with_name(folder.name + ".ahead")
        self._errors = (logs or folder.parent) / (folder.name + ".stderr")
        self._output = (logs or folder.parent) / (folder.name + ".stdout")
        command = [sys.executable, "-m", "rdfspider", "crawl", "--allow-private", "--contact", "https://example.org/"]
        command += [*map(str, arguments), "--dir", str(folder)]
        for name, value in {**QUICK, **settings}.items():
            if value is None:
                continue
            command += ["--set", f"{name.replace('_', '.', 1)}={value}"]
        with self._errors.open("ab") as errors, self._output.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                env=None if ahead_s is None else self._make_calendar(ahead_s),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def wait(self, timeout_s: float = END_S) -> int:
        """The exit code; a crawl that does not end is killed and told with what it wrote."""
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the crawl did not end within {timeout_s} s:\n{self.stderr()}") from None

    def wait_until(self, condition: Callable[[], bool], timeout_s: float = PATIENCE_S) -> bool:
        """Whether the condition came true before the crawl ended; never longer than the timeout."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            if condition():
                return True
            if self.process.poll() is not None:
                return condition()
            time.sleep(0.01)
        raise AssertionError(f"nothing came of waiting {timeout_s} s:\n{self.stderr()}")

    def kill(self) -> float:
        """SIGKILL to the whole process group; the moment when that was done."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(60)
        return time.monotonic()

    def kill_parent(self) -> list[psutil.Process]:
        """SIGKILL to the process that was started alone, as a person does; its shards, returned, have to notice."""
        shards: list[psutil.Process] = []
        # It must not start another one while we look.
        self.process.send_signal(signal.SIGSTOP)
        with contextlib.suppress(psutil.NoSuchProcess):
            shards = psutil.Process(self.process.pid).children()
        self.process.kill()
        self.process.wait(60)
        return shards

    def kill_process(self, pid: int) -> float:
        """SIGKILL to one of its processes; the moment when that was done."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return time.monotonic()

    def interrupt(self) -> None:
        """What Ctrl-C does: SIGINT to the group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGINT)

    def set_calendar(self, ahead_s: float) -> None:
        """Let its clock be so much ahead of the machine's from now on; it must have been started with a calendar."""
        new = self._ahead.with_suffix(".new")
        new.write_text(str(ahead_s))
        new.replace(self._ahead)

    def stderr(self) -> str:
        """What it has written to stderr, over all restarts in this folder; its end."""
        return self._errors.read_text(errors="replace")[-6000:]

    def stdout(self) -> str:
        """What it has written to stdout."""
        return self._output.read_text(errors="replace")

    def status(self) -> dict[str, Any]:
        """What `rdfspider status --json` says of it from outside."""
        found: dict[str, Any] = json.loads(command(self.folder, "status", "--json"))
        return found

    def shard_pids(self) -> dict[int, int]:
        """The processes of the shards that have been heard, by their numbers."""
        return {beat["shard"]: beat["pid"] for beat in self._read_beats()}

    def count_pages(self) -> int:
        """How many its shards have told of; none while it has not begun."""
        return sum(beat["counts"]["pages"] for beat in self._read_beats())

    def is_resting(self, state: str = "paused") -> bool:
        """Whether the shards have heard that they are to rest, and nothing is under way any more."""
        beats = self._read_beats()
        return bool(beats) and all(beat["state"] == state and not beat["counts"]["in_flight"] for beat in beats)

    def wait_for_beats(self, count: int = 3) -> None:
        """Wait until each shard was heard so many times more: what it has not done by then, it does not do."""
        heard: dict[int, set[float]] = {shard: set() for shard in self.shard_pids()}

        def have_beaten() -> bool:
            for beat in self._read_beats():
                heard.setdefault(beat["shard"], set()).add(beat["time"])
            return all(len(times) > count for times in heard.values())

        assert self.wait_until(have_beaten)

    def _make_calendar(self, ahead_s: float) -> dict[str, str]:
        """The environment for processes with a calendar of their own; see `calendar/sitecustomize.py`."""
        self.set_calendar(ahead_s)
        folders = [str(Path(__file__).with_name("calendar")), *filter(None, [os.environ.get("PYTHONPATH")])]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "CALENDAR_AHEAD": str(self._ahead)}

    def _read_beats(self) -> list[dict[str, Any]]:
        """The last one of each shard that has been heard; read without starting a command, to be quick."""
        try:
            beats: list[dict[str, Any]] = json.loads((self.folder / "status.json").read_bytes())["shards"]
        except (FileNotFoundError, json.JSONDecodeError):
            return []
        return beats


@contextlib.contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Let a process do nothing meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def wait_for_end(process: psutil.Process, timeout_s: float = PATIENCE_S) -> float:
    """The moment when a process that is not our child is found dead, also if nobody has buried it."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
                break
        except psutil.NoSuchProcess:
            break
        time.sleep(0.01)
    else:
        raise AssertionError(f"process {process.pid} is still alive after {timeout_s} s")
    return time.monotonic()


def command(folder: Path, name: str, *flags: str) -> str:
    """Another command for a crawl's folder, which must go well; its stdout."""
    done = run_line(name, "--dir", folder, *flags)
    assert done.returncode == 0, f"{name} ended with {done.returncode}: {done.stderr}"
    return done.stdout


def run_first(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every Python process that is started from now on run this code first; it is kept in the folder."""
    (folder / "sitecustomize.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
