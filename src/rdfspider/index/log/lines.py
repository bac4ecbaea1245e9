"""Files in a crawl's folder that commands write while an indexer may read them: whole at any time, safe once written."""

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path

from rdfspider.archive.volumes import sync_folder
from rdfspider.errors import UsageError


def read_lines(path: Path) -> list[str]:
    """The lines in their order, none twice; without empty ones and comments. None where there is no file."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    lines = [line.strip() for line in text.split("\n")]
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("#")))


def add_lines(path: Path, lines: Iterable[str]) -> int:
    """Add those that are not there yet, atomically and durably; how many these were."""
    folder = path.parent
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            # Two commands at once must not lose each other's lines.
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            known = set(read_lines(path))
            new = [line for line in dict.fromkeys(lines) if line not in known]
            if new:
                _append(path, new)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    return len(new)


def _append(path: Path, lines: list[str]) -> None:
    before = path.read_text("utf-8") if path.exists() else ""
    if before and not before.endswith("\n"):
        before += "\n"
    replace_file(path, before + "".join(f"{line}\n" for line in lines))


def replace_file(path: Path, text: str) -> None:
    """Write a file in one step, which is safe when this returns."""
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync_folder(path.parent)
