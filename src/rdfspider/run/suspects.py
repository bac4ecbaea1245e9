"""Which pages may kill their shard: those that were being extracted when it died. The helper process takes them from then on.

The URL of the page under way is in a file, so that it outlives what ends the process: a crash of a native library, a system
without memory, a parent that has heard nothing for too long.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Nobody has more pages that kill; those who kill a shard by hand, a thousand times, can be forgotten.
_MOST = 1_000
_LONGEST_URL_BYTES = 1 << 16


class Suspects:
    """The suspects of one shard."""

    def __init__(self, folder: Path) -> None:
        known = folder / "suspects.txt"
        urls = known.read_bytes().splitlines() if known.exists() else []
        self._file = os.open(folder / "extracting", os.O_RDWR | os.O_CREAT, 0o644)
        url = os.pread(self._file, _LONGEST_URL_BYTES, 0).partition(b"\n")[0]
        if url and url not in urls:
            urls = [*urls, url][-_MOST:]
            known.write_bytes(b"".join(line + b"\n" for line in urls))
        self._urls = frozenset(urls)

    def has(self, url: str) -> bool:
        """Whether a page may kill this process."""
        return bool(self._urls) and url.encode() in self._urls

    @contextmanager
    def watch(self, url: str) -> Iterator[None]:
        """Whoever dies in here dies of this page."""
        self._write(url.encode() + b"\n")
        yield
        self._write(b"\n")

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _write(self, line: bytes) -> None:
        # Without it, a page is only found out when there is room again.
        with suppress(OSError):
            os.pwrite(self._file, line, 0)
