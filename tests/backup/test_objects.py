"""A folder and an S3 server take the same objects, and say what is wrong in one line."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from object_stores import S3Server, azure_server, every_place, google_server, place, s3_server
from ports import find_free_ports
from rdfspider.backup import objects
from rdfspider.backup.objects import Objects, _shorten
from rdfspider.errors import AwayError, UnreadableError, UsageError

__all__ = ["azure_server", "google_server", "place", "s3_server"]  # fixtures

MB = 1024 * 1024


@every_place
def test_objects_come_back_whole_and_in_ranges(place: str) -> None:
    objects = Objects(place)
    body = os.urandom(19 * MB + 7)
    objects.put("a/long", (body[start : start + MB] for start in range(0, len(body), MB)))
    objects.put("a/empty", iter(()))
    assert objects.read("a/long") == body
    assert b"".join(objects.stream("a/long", 3 * MB - 1, 9 * MB)) == body[3 * MB - 1 : 9 * MB]
    assert b"".join(objects.stream("a/long", 19 * MB)) == body[19 * MB :]
    assert (objects.read("a/empty"), objects.measure("a/empty"), objects.measure("a/long")) == (b"", 0, len(body))


@every_place
def test_an_object_is_created_once(place: str) -> None:
    objects = Objects(place)
    assert objects.create("epochs/7", b"first")
    assert not Objects(place).create("epochs/7", b"second")
    assert objects.read("epochs/7") == b"first"


@every_place
def test_objects_are_listed_and_deleted(place: str) -> None:
    objects = Objects(place)
    assert objects.list("x/") == []
    for key in ("x/1", "x/y/2", "z"):
        objects.put(key, [key.encode()])
    assert objects.list("x/") == [("x/1", 3), ("x/y/2", 5)]
    objects.delete(["x/y/2", "x/never-there"])
    assert [found.key for found in objects.list("x/")] == ["x/1"]
    assert objects.measure("x/y/2") is None


@every_place
def test_what_is_missing_is_named(place: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        Objects(place).read("not/there")
    assert str(caught.value) == f"{place}: not/there is missing"


@every_place
def test_a_source_that_fails_leaves_no_object_and_its_own_error(place: str) -> None:
    def fail() -> Iterator[bytes]:
        yield bytes(9 * MB)
        raise OSError("the disk has failed")

    objects = Objects(place)
    with pytest.raises(OSError, match="the disk has failed"):
        objects.put("half", fail())
    assert objects.list("") == []


def test_a_server_that_is_away_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    (port,) = find_free_ports(1)
    for name, value in {"ACCESS_KEY_ID": "k", "SECRET_ACCESS_KEY": "s", "REGION": "r"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    with pytest.raises(AwayError, match=r"^s3://bucket/x: ") as caught:
        Objects("s3://bucket/x").read("key")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("password", ["PASSWORD", "P@SS:WORD", "PASSWORD" * 40])
def test_no_password_is_told(monkeypatch: pytest.MonkeyPatch, password: str) -> None:
    (port,) = find_free_ports(1)
    for name, value in {"ACCESS_KEY_ID": "k", "SECRET_ACCESS_KEY": "s", "REGION": "r"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://user:{password}@127.0.0.1:{port}")
    monkeypatch.setattr(objects, "_RETRIES", {"max_retries": 0})
    with pytest.raises(AwayError, match=r"^s3://bucket/x: ") as caught:
        Objects("s3://bucket/x").read("key")
    assert not any(part in str(caught.value) for part in ("PASS", "WORD", "SS:"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://user:PASS/WORD@127.0.0.1")
    with pytest.raises(UsageError, match=r"^AWS_ENDPOINT_URL in the environment is not the URL of a server$"):
        Objects("s3://bucket/x")
    assert _shorten(ValueError("in http://host/a?sv=1&sig=PASSWORD&x=1 and https://me@host/")) == (
        "in http://host/a?sv=1&sig=…&x=1 and https://…@host/"
    )


def test_a_bucket_that_is_not_there_is_told(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(AwayError, match=r"^s3://other/x: there is no such bucket or container"):
        Objects("s3://other/x").put("key", [b"1"])


def test_a_folder_that_is_not_there_is_made_only_to_write(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such folder"):
        Objects(str(tmp_path / "none"), creates=False)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(AwayError, match="file"):
        Objects(str(tmp_path / "file"))


def test_the_library_is_imported_on_use() -> None:
    code = "import rdfspider.backup.objects, sys; sys.exit('obstore' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
