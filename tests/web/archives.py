"""What a crawl has put on record: its folder in, the outcomes and bodies in its WARC files out."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType


@dataclass(frozen=True, slots=True)
class Outcome:
    """One `metadata` record."""

    url: str
    fields: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str:
        """The first value of a field; empty where there is none."""
        return next((value for key, value in self.fields if key.lower() == name.lower()), "")

    @property
    def status(self) -> int:
        """The HTTP status; 0 where there was none."""
        return int(self.get("status") or self.get("http-status") or 0)


def read_outcomes(folder: Path) -> list[Outcome]:
    """Every outcome on record."""
    return [
        Outcome(record.headers["WARC-Target-URI"], tuple(_read_fields(record.reader.read())))
        for record in _read_records(folder, "facts", WarcRecordType.metadata)
    ]


def read_responses(folder: Path) -> Counter[str]:
    """How often each URL has a `response` record; a record whose body is not the URL's own is an error."""
    found: Counter[str] = Counter()
    for record in _read_records(folder, "pages", WarcRecordType.response):
        url = record.headers["WARC-Target-URI"]
        body = record.reader.read()
        assert b"\r\n\r\n" in body, f"the response of {url} has no head"
        found[url] += 1
    return found


def read_visits(folder: Path) -> dict[str, list[dict[str, str]]]:
    """The WARC headers of the `response` and `revisit` records of each URL, in order of their dates."""
    found: dict[str, list[dict[str, str]]] = {}
    for record in _read_records(folder, "pages", WarcRecordType.response | WarcRecordType.revisit):
        found.setdefault(record.headers["WARC-Target-URI"], []).append(dict(record.headers))
    for visits in found.values():
        visits.sort(key=lambda headers: headers["WARC-Date"])
    return found


def check_archives(folder: Path) -> None:
    """Every WARC file passes `warcio check`, and is not longer than what was committed when the crawl has ended."""
    files = _files(folder, "*")
    assert files, f"{folder} has no archive"
    line = [sys.executable, "-m", "warcio.cli", "check", *map(str, files)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"warcio check: {done.stdout[-3000:]}{done.stderr[-3000:]}"


def _files(folder: Path, kind: str) -> list[Path]:
    pattern = "*.warc.gz" if kind == "*" else f"*-{kind}-*.warc.gz"
    return sorted(folder.glob(f"shards/*/warc/{pattern}"))


def _read_records(folder: Path, kind: str, record_type: WarcRecordType) -> Iterator[WarcRecord]:
    for path in _files(folder, kind):
        with path.open("rb") as stream:
            yield from ArchiveIterator(stream, record_types=record_type, parse_http=False)


def _read_fields(block: bytes) -> Iterator[tuple[str, str]]:
    for line in block.decode("utf-8", "replace").split("\r\n"):
        name, colon, value = line.partition(":")
        if colon:
            yield name, value.strip()
