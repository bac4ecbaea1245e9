"""The archive of a shard, as its frontier knows it: a Frontier enters, an ArchiveWriter leaves, cut back to the last commit.

The frontier stores the lengths of the WARC files with each commit, those of files that grow no more only when there are more of
them, and from which number on segments may grow.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from rdfspider import __version__
from rdfspider.archive.segments import SegmentKind, find_newest, segment_prefix
from rdfspider.archive.writer import ArchiveWriter
from rdfspider.config import Config
from rdfspider.fetch.robots import PRODUCT, make_user_agent
from rdfspider.frontier.frontier import Frontier

WARC = "warc"
"""The folder of the archive in a shard's folder."""
WARC_LENGTHS = "warc-lengths"
"""The frontier's key for the lengths of the WARC files that grew until its last commit; `read_lengths` reads those of all."""
CLOSED_LENGTHS = "warc-closed-lengths"
"""The same for files that had stopped growing, of which there may be thousands; it is stored when there are more."""
# The frontier's key for the least number of segments that may grow, and the skipped numbers that it takes into account.
_FIRST_SEGMENT = "first-segment"


def read_lengths(read_meta: Callable[[str], bytes | None]) -> dict[str, int]:
    """Read the length of each WARC file at a frontier's last commit, by the function that reads its values."""
    lengths: dict[str, int] = {}
    for key in (CLOSED_LENGTHS, WARC_LENGTHS):
        if stored := read_meta(key):
            lengths |= msgspec.msgpack.decode(stored, type=dict[str, int])
    return lengths


def open_archive(number: int, folder: Path, config: Config, frontier: Frontier) -> ArchiveWriter:
    """Open the archive of a shard, and reschedule the URLs whose records were lost."""
    committed = read_lengths(frontier.meta.get)
    archive = ArchiveWriter(
        folder / WARC,
        config.archive,
        prefix=segment_prefix(number),
        info=_make_info(config.fetch.contact),
        committed=committed,
        name=f"{folder.absolute().parents[1].name}-{number:03}",
        first_number=_find_first_number(frontier, committed),
    )
    if archive.lost:
        first = dict(archive.lost)
        frontier.restarts.reschedule_lost(lambda segment, offset: segment in first and offset >= first[segment])
    return archive


def _find_first_number(frontier: Frontier, committed: Iterable[str]) -> int:
    """Return the least number of segments that may grow. Those of a frontier that was put back to an older copy may have had more
    records, which readers know: other records must not take their places, nor other segments their names."""
    stored = frontier.meta.get(_FIRST_SEGMENT)
    skipped, first = msgspec.msgpack.decode(stored, type=tuple[int, int]) if stored else (0, 1)
    if frontier.skipped_segments > skipped:
        numbers = [name.number for kind in SegmentKind if (name := find_newest(committed, kind))]
        first = max([first - 1, *numbers]) + frontier.skipped_segments - skipped + 1
        frontier.meta.put(_FIRST_SEGMENT, msgspec.msgpack.encode((frontier.skipped_segments, first)))
        frontier.commit()
    return first


def _make_info(contact: str) -> dict[str, str]:
    """Return the description of the crawl for the WARC files."""
    return {
        "software": f"{PRODUCT}/{__version__}",
        "operator": contact,
        "http-header-user-agent": make_user_agent(contact),
        "robots": "RFC 9309",
    }
