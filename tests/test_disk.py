"""Atomic writes, synced folders and locks, with real files and real processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rdfspider import disk
from rdfspider.disk import (
    HeldError,
    add_lines,
    find_holder,
    hold_lock,
    open_alone,
    open_shared,
    read_lines,
    replace_file,
    write_atomically,
)

HOLDER = (
    "import sys; from pathlib import Path; from rdfspider.disk import hold_lock\n"
    "with hold_lock(Path(sys.argv[1]), 'crawl'): print('held', flush=True); sys.stdin.read()"
)


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    write_atomically(path, b"old")
    with pytest.raises(ZeroDivisionError), replace_file(path) as file:
        file.write(b"ne")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["status.json"]


def test_a_durable_write_syncs_the_file_and_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bool] = []
    monkeypatch.setattr(
        disk.os, "fsync", lambda descriptor: synced.append(Path(f"/proc/self/fd/{descriptor}").is_dir())
    )
    write_atomically(tmp_path / "a", b"x", durable=False)
    assert synced == []
    write_atomically(tmp_path / "a", b"x")
    assert synced == [False, True]


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    assert find_holder(lock) is None
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert find_holder(lock) == f"crawl {process.pid}"
        with pytest.raises(HeldError, match=f"crawl {process.pid}"), hold_lock(lock, "import"):
            pass
        process.kill()
    assert find_holder(lock) is None
    with hold_lock(lock, "import"):
        assert find_holder(lock) == f"import {os.getpid()}"


def test_a_folder_that_is_shared_cannot_be_taken_alone(tmp_path: Path) -> None:
    shared = open_shared(tmp_path)
    assert shared is not None
    assert open_alone(tmp_path) is None
    os.close(shared)
    alone = open_alone(tmp_path)
    assert alone is not None
    os.close(alone)
    assert open_shared(tmp_path / "gone") is None


def test_lines_are_added_once(tmp_path: Path) -> None:
    path = tmp_path / "forgotten.txt"
    path.write_text("# a comment\na.example")
    assert add_lines(path, ["b.example", "a.example", "b.example"]) == 1
    assert read_lines(path) == ["a.example", "b.example"]
    assert path.read_text().startswith("# a comment\n")
