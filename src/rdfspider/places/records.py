"""Where shards are: a crawl's folder tells where each of its shards is, and a shard's folder tells whose state it has."""

from pathlib import Path

import msgspec

from rdfspider.disk import write_atomically

STATE = "state.json"
_PLACE = "place.json"


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
    """The last life that was started there."""


def read_place(folder: Path, shard: int) -> PlaceRecord | None:
    """Return where a shard of a crawl is; None if it is in the crawl's folder."""
    try:
        return msgspec.json.decode(_name_file(folder, shard).read_bytes(), type=PlaceRecord)
    except (FileNotFoundError, ValueError):
        return None


def list_away(folder: Path) -> list[int]:
    """Return the shards of a crawl that are in other places."""
    return sorted(
        int(path.parent.name) for path in (folder / "shards").glob(f"*/{_PLACE}") if path.parent.name.isdecimal()
    )


def write_place(folder: Path, shard: int, place: PlaceRecord) -> None:
    """Write where a shard of a crawl is."""
    if read_place(folder, shard) != place:
        write_atomically(_name_file(folder, shard), msgspec.json.encode(place) + b"\n")


def find_state(place: Path, crawl: str, shard: int) -> Path | None:
    """Find the newest state of a shard in a place; None if it never was there."""
    found: list[tuple[int, Path]] = []
    for path in place.glob(f"*/{STATE}"):
        try:
            state = msgspec.json.decode(path.read_bytes(), type=State)
        except (OSError, ValueError):
            continue
        if (state.crawl, state.shard) == (crawl, shard):
            found.append((state.epoch, path.parent))
    return max(found, default=(0, None))[1]


def _name_file(folder: Path, shard: int) -> Path:
    return folder / "shards" / f"{shard:03}" / _PLACE
