"""What links say of pages and hosts, in one file beside the generations: what was computed of one state enters, look-ups leave.

The file says of which state it is and when it was made; it is replaced in one step. Pages are found by the hash of their key, so
ranks are right for every URL that the state had, although newer states have other ids. A page takes ten bytes: its hash, and its
rank in steps of a thousandth of an octave. `anchor_terms.py` adds what other sites call pages. `rating.py` computes all of it.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from rdfspider.errors import UnreadableError
from rdfspider.index.graph.anchor_terms import AnchorTerms, AskedWord, CalledPage, write_anchors
from rdfspider.index.graph.anchor_votes import Votes
from rdfspider.index.graph.keys import make_key, read_key
from rdfspider.index.graph.mirrors import GroupReason
from rdfspider.index.graph.sections import Sections, SectionWriter
from rdfspider.results import Rank

NAME = "fame"
hash_page = xxh3_64_intdigest
"""Returns the hash of a key by which its page is found."""
MAX_TOP = 2_000
"""So many of the first pages, and of the first hosts, can be listed."""
_FORMAT = 2
# A step of a rank: 2^(1/1024), which is 0.07 %. The lowest rank, 2^-16 of the mean, is far below what a page without links has.
_STEPS = 1024
_LOWEST = -16
_MAX_STEP = (1 << 16) - 1


class Ranked(NamedTuple):
    """A page or a host with its rank."""

    name: str
    """The URL, or the host."""
    rank: Rank


class Farm(msgspec.Struct, frozen=True):
    """Hosts that repeat each other."""

    reason: GroupReason
    hosts: tuple[str, ...]
    shared: int
    """How many paths (of mirrors), or pages of other sites (of farms), they share that hardly any other host has."""
    examples: tuple[str, ...]
    """The URLs of a few of these pages; of a mirror, those of its first host."""


@dataclass(frozen=True, slots=True, eq=False)
class Fame:
    """What was computed of one state."""

    state: int
    """The mark of the state (`mark_state` in `rating.py`)."""
    made_us: int
    links: int
    hashes: NDArray[np.uint64]
    """The hashes of the keys of pages, in the order of ids."""
    scores: NDArray[np.float64]
    """The scores of pages, beside them: 0 for those that stand for others and have no rank, and 1 in all with what these have
    passed on."""
    top_keys: Sequence[bytes]
    """The keys of the first pages, as `list_top` finds them."""
    hosts: Sequence[str]
    centrality: NDArray[np.float64]
    """The scores of hosts, beside them."""
    farms: Sequence[Farm]
    anchors: Votes
    read_urls: Callable[[Sequence[int]], Sequence[str]]
    """Gives the URLs of pages by their ids."""


def list_top(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The ids of the first pages by their scores; equals in the order of ids."""
    return _list_first(_quantise(scores))


def write_fame(folder: Path, fame: Fame) -> None:
    """Replace the file in one step. A killed process leaves at most a file that `remove_unfinished` removes."""
    # Two processes may write at a time, if one of them is about to be killed.
    path = folder / f"{NAME}.{os.getpid()}"
    writer = SectionWriter(path)
    try:
        _write_pages(writer, fame)
        _write_hosts(writer, fame)
        writer.write_table("farms", msgspec.json.encode(fame.farms))
        write_anchors(writer, fame.anchors, fame.read_urls)
        writer.finish(
            {
                "format": _FORMAT,
                "state": fame.state,
                "made_us": fame.made_us,
                "links": fame.links,
                "pages": len(fame.hashes),
                "hosts": len(fame.hosts),
            }
        )
        path.replace(folder / NAME)
    except BaseException:
        writer.discard()
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def remove_unfinished(folder: Path) -> None:
    """Remove what killed processes have left; for the one who holds the index."""
    for path in folder.glob(f"{NAME}.*"):
        path.unlink(missing_ok=True)


class FameReader:
    """The newest ranks of a graph, if there are any; for any number of threads. A file of an older format counts as none.

    Everything raises UnreadableError if the file is damaged; the next indexer makes it again."""

    def __init__(self, folder: Path) -> None:
        """`folder` is that of the graph, which need not exist yet."""
        self._path = folder / NAME
        self._opened: tuple[tuple[int, ...], _File | UnreadableError | None] = ((), None)

    @property
    def dated(self) -> float:
        """When the ranks were made, in seconds since 1970; 0 if there are none."""
        found = self._load()
        return found.made_us / 1e6 if found else 0.0

    @property
    def state(self) -> int | None:
        """The mark of the state of which they were made; None if there are none."""
        found = self._load()
        return found.state if found else None

    @property
    def links(self) -> int:
        """How many links that state had."""
        found = self._load()
        return found.links if found else 0

    def read_rank(self, url: str) -> Rank | None:
        """The rank of a page; None if there are no ranks, or none of it: it was not there when they were made, or stands for
        another."""
        found = self._load()
        return found.read_page(make_key(url)) if found else None

    def read_host_rank(self, host: str) -> Rank | None:
        """The rank of a host; None as for pages."""
        found = self._load()
        return found.read_host(host) if found else None

    def list_top_pages(self) -> Iterator[Ranked]:
        """The first pages, at most `MAX_TOP`: the highest rank first, equals in the order of their keys."""
        found = self._load()
        return found.list_top_pages() if found else iter(())

    def list_top_hosts(self) -> Iterator[Ranked]:
        """The first hosts, at most `MAX_TOP`."""
        found = self._load()
        return found.list_top_hosts() if found else iter(())

    def list_farms(self) -> list[Farm]:
        """Groups of hosts that repeat each other, the largest first."""
        found = self._load()
        return found.list_farms() if found else []

    def find_called(self, words: Sequence[AskedWord], limit: int, form_share: float) -> list[CalledPage]:
        """The pages that other sites call by words, as `AnchorTerms.find`; none if there is no file."""
        found = self._load()
        return found.anchors.find(words, limit, form_share) if found else []

    def check(self) -> None:
        """Read all of the file. Raise UnreadableError if it is damaged."""
        if found := self._load():
            found.file.check()

    def _load(self) -> "_File | None":
        """The newest file. Threads that meet here may both open it, and either is right."""
        try:
            stat = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._opened = ((), None)
            return None
        mark = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        known, found = self._opened
        if mark != known:
            try:
                found = _open(self._path)
            except FileNotFoundError:
                # It is replaced at this moment.
                return found if not isinstance(found, UnreadableError) else None
            except UnreadableError as error:
                # It is asked for some fifty times a search.
                found = error
            self._opened = (mark, found)
        if isinstance(found, UnreadableError):
            raise UnreadableError(str(found))
        return found


def _open(path: Path) -> "_File | None":
    file = Sections(path)
    return _File(file) if file.counts.get("format") == _FORMAT else None


class _File:
    """An open file of ranks."""

    def __init__(self, file: Sections) -> None:
        self.file = file
        try:
            self.made_us, self.links = file.counts["made_us"], file.counts["links"]
            self.state = file.counts["state"]
        except KeyError as error:
            raise file.tell_damage(f"it has no {error}") from error
        self._hashes = file.get_table("hashes", np.uint64)
        self._steps = file.get_table("steps", np.uint16)
        self._known_steps = file.get_table("known_steps", np.uint16)
        self._higher = file.get_table("higher", np.uint64)
        self.anchors = AnchorTerms(file)
        self._host_hashes = file.get_table("host_hashes", np.uint64)
        self._host_scores = file.get_table("host_scores", np.float32)
        self._host_places = file.get_table("host_places", np.uint32)
        pages, hosts = len(self._hashes), len(self._host_hashes)
        # Step 0 is that of pages without a rank.
        self._ranked = int(self._higher[0]) if len(self._higher) and not self._known_steps[0] else pages
        if len(self._steps) != pages or len(self._higher) != len(self._known_steps):
            raise file.tell_damage("it has not one rank for each page")
        if len(self._host_scores) != hosts or len(self._host_places) != hosts:
            raise file.tell_damage("it has not one rank for each host")

    def read_page(self, key: bytes) -> Rank | None:
        place = _find(self._hashes, hash_page(key))
        if place is None:
            return None
        step = self._steps[place]
        if not step:
            return None
        known = int(self._known_steps.searchsorted(step))
        if known >= len(self._known_steps):
            raise self.file.tell_damage("a rank has no place")
        return Rank(2.0 ** (int(step) / _STEPS + _LOWEST), int(self._higher[known]) + 1, self._ranked)

    def read_host(self, host: str) -> Rank | None:
        place = _find(self._host_hashes, _hash_host(host))
        if place is None:
            return None
        return Rank(float(self._host_scores[place]), int(self._host_places[place]), len(self._host_hashes))

    def list_top_pages(self) -> Iterator[Ranked]:
        for key in _split(self.file.get_checked("top_pages")):
            if rank := self.read_page(key):
                yield Ranked(read_key(key), rank)

    def list_top_hosts(self) -> Iterator[Ranked]:
        for name in _split(self.file.get_checked("top_hosts")):
            host = name.decode("utf-8", "surrogatepass")
            if rank := self.read_host(host):
                yield Ranked(host, rank)

    def list_farms(self) -> list[Farm]:
        try:
            return msgspec.json.decode(self.file.get_checked("farms"), type=list[Farm])
        except (ValueError, msgspec.MsgspecError) as error:
            raise self.file.tell_damage(error) from error


def _write_pages(writer: SectionWriter, fame: Fame) -> None:
    steps = _quantise(fame.scores)
    order = np.argsort(fame.hashes, kind="stable")
    writer.write_table("hashes", fame.hashes[order])
    writer.write_table("steps", steps[order])
    known, counts = np.unique(steps, return_counts=True)
    writer.write_table("known_steps", known)
    writer.write_table("higher", (len(steps) - np.cumsum(counts)).astype(np.uint64))
    writer.write_table("top_pages", b"\0".join(fame.top_keys))


def _write_hosts(writer: SectionWriter, fame: Fame) -> None:
    scores = fame.centrality.astype(np.float32)
    hashes = np.fromiter(map(_hash_host, fame.hosts), np.uint64, len(fame.hosts))
    order = np.argsort(hashes, kind="stable")
    places = len(scores) - np.searchsorted(np.sort(scores), scores, "right") + 1
    writer.write_table("host_hashes", hashes[order])
    writer.write_table("host_scores", scores[order])
    writer.write_table("host_places", places.astype(np.uint32)[order])
    top = (fame.hosts[host].encode("utf-8", "surrogatepass") for host in _list_first(scores).tolist())
    writer.write_table("top_hosts", b"\0".join(top))


def _quantise(scores: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Ranks as multiples of the mean, in steps; 0 for those that have none."""
    relative = np.maximum(scores * len(scores), 2.0**_LOWEST)
    steps = np.rint((np.log2(relative) - _LOWEST) * _STEPS)
    quantised: NDArray[np.uint16] = np.clip(steps, scores > 0, _MAX_STEP).astype(np.uint16)
    return quantised


def _list_first(values: NDArray[Any]) -> NDArray[np.int64]:
    """The places of the greatest values, at most `MAX_TOP`; equals in their order."""
    places = np.arange(len(values))
    if len(values) > MAX_TOP:
        least = np.partition(values, len(values) - MAX_TOP)[len(values) - MAX_TOP]
        places = np.flatnonzero(values >= least)
    order = np.argsort(-values[places].astype(np.float64), kind="stable")
    return places[order][:MAX_TOP]


def _find(hashes: NDArray[np.uint64], wanted: int) -> int | None:
    place = int(hashes.searchsorted(np.uint64(wanted)))
    return place if place < len(hashes) and int(hashes[place]) == wanted else None


def _hash_host(host: str) -> int:
    return xxh3_64_intdigest(host.encode("utf-8", "surrogatepass"))


def _split(joined: memoryview) -> list[bytes]:
    return bytes(joined).split(b"\0") if joined else []
