"""Where shards are: a crawl's folder tells where each of its shards is, and a shard's folder tells whose state it has.

A folder for a new state is claimed before anything is written there, and is marked as the state of a life once that has opened
its frontier. So no crawl enters another one's folder, and a life that could not begin leaves no mark that looks like a newer
state.
"""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from rdfspider.disk import is_locked, sync_folder, write_atomically
from rdfspider.errors import UsageError

STATE = "state.json"
CLAIM = "claim.json"
"""The file that says for whom a folder is in which no state has begun yet."""
_PLACE = "place.json"
_SHARDS = "shards"
# How the names of files begin or end without which a frontier has no tables.
_TABLES = (".sst",)
_DESCRIPTIONS = ("CURRENT", "MANIFEST")

Measure = Callable[[Path], tuple[int, int]]
"""Returns the generation of the frontier in a folder: its last epoch, and its commits."""


class PlaceRecord(msgspec.Struct, frozen=True):
    """Where a shard is that is not in the crawl's folder."""

    crawl: str
    """The identity of the crawl."""
    host: str
    """The address of the place."""
    folder: str
    """The place's folder, on its machine."""
    address: str
    """Where the process listens that answers for the place while the crawl runs."""
    key: str
    """The public key of that process."""
    backup: str = ""
    """The store that has copies of its archive, too; empty if there is none."""


class State(msgspec.Struct, frozen=True):
    """Whose state a folder has."""

    crawl: str
    shard: int
    epoch: int
    """The last life that has opened its frontier there; 0 if none has."""


def read_place(folder: Path, shard: int) -> PlaceRecord | None:
    """Return where a shard of a crawl is; None if it is in the crawl's folder."""
    try:
        return msgspec.json.decode(_name_file(folder, shard).read_bytes(), type=PlaceRecord)
    except (FileNotFoundError, ValueError):
        return None


def list_away(folder: Path) -> list[int]:
    """Return the shards of a crawl that are in other places."""
    return sorted(
        int(path.parent.name) for path in (folder / _SHARDS).glob(f"*/{_PLACE}") if path.parent.name.isdecimal()
    )


def write_place(folder: Path, shard: int, place: PlaceRecord) -> None:
    """Write where a shard of a crawl is."""
    if read_place(folder, shard) != place:
        write_atomically(_name_file(folder, shard), msgspec.json.encode(place) + b"\n")


def find_state(place: Path, crawl: str, shard: int, measure: Measure) -> Path | None:
    """Find the newest state of a shard in a place; None if there is none. Folders may have been copied: of those with the same
    last life, it is the one that a process has open, or else that with the most commits. UsageError if that cannot be told."""
    found: list[tuple[int, Path]] = []
    for path in place.glob(f"*/{STATE}"):
        state = _read_mark(path)
        if _is_of(state, crawl, shard) and _has_frontier(path.parent, shard):
            found.append((state.epoch if state else 0, path.parent))
    last = max((epoch for epoch, _ in found), default=0)
    newest = sorted(root for epoch, root in found if epoch == last)
    return _choose(newest, shard, measure) if len(newest) > 1 else next(iter(newest), None)


def _choose(roots: list[Path], shard: int, measure: Measure) -> Path:
    used = [root for root in roots if is_locked(_name_frontier(root, shard) / "LOCK")]
    if len(used) == 1:
        return used[0]
    try:
        return max(roots, key=lambda root: measure(_name_frontier(root, shard)))
    except UsageError as error:
        raise UsageError(
            f"{' and '.join(map(str, roots))} may each have the newest state of shard {shard}, and one cannot be read "
            f"({error}): move the other one elsewhere"
        ) from error


def claim_folder(folder: Path, crawl: str, shard: int) -> bool:
    """Claim a folder for a new state of a shard, durably; False if it has something of others, or it is not known whose."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        return False
    for path in (folder / STATE, folder / CLAIM):
        if path.exists():
            return _is_of(_read_mark(path), crawl, shard)
    if (folder / _SHARDS).exists():
        return False
    try:
        # Of two crawls that do this at the same time, one makes the file.
        descriptor = os.open(folder / CLAIM, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        return False
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(State(crawl, shard, 0)))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        # The disk is full; the next attempt is to find the folder as it was.
        (folder / CLAIM).unlink(missing_ok=True)
        raise
    sync_folder(folder)
    return True


def mark_state(folder: Path, crawl: str, shard: int, epoch: int) -> None:
    """Mark a folder as the state of a shard's life, which has opened its frontier there."""
    write_atomically(folder / STATE, msgspec.json.encode(State(crawl, shard, epoch)))
    (folder / CLAIM).unlink(missing_ok=True)


def _read_mark(path: Path) -> State | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=State)
    except (OSError, ValueError):
        return None


def _is_of(state: State | None, crawl: str, shard: int) -> bool:
    return state is not None and (state.crawl, state.shard) == (crawl, shard)


def _has_frontier(root: Path, shard: int) -> bool:
    try:
        names = [path.name for path in _name_frontier(root, shard).iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return False
    return any(name.startswith(_DESCRIPTIONS) or name.endswith(_TABLES) for name in names)


def _name_frontier(root: Path, shard: int) -> Path:
    return root / _SHARDS / f"{shard:03}" / "frontier"


def _name_file(folder: Path, shard: int) -> Path:
    return folder / _SHARDS / f"{shard:03}" / _PLACE
