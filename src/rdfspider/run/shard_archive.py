"""The archive of a shard, as of its frontier's last commit: what either has lost, the other is told at the start."""

import errno
import logging
import shutil
from pathlib import Path

import msgspec

from rdfspider import __version__
from rdfspider.archive.writer import ArchiveWriter, Written
from rdfspider.config import Config
from rdfspider.crawl.folder import shard_folder
from rdfspider.crawl.status import read_status
from rdfspider.fetch.robots_cache import PRODUCT, make_user_agent
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Finished

_log = logging.getLogger(__name__)

WARC_LENGTHS = "warc-lengths"
"""Where a frontier keeps the lengths of the files, as of its last commit."""


def open_archive(number: int, folder: Path, config: Config, frontier: Frontier) -> ArchiveWriter:
    """The archive of a shard in its folder; URLs whose records were lost are scheduled again."""
    stored = frontier.get_meta(WARC_LENGTHS)
    archive = ArchiveWriter(
        folder / "warc",
        config.archive,
        prefix=f"shard-{number:03}",
        info=_make_info(config.fetch.contact),
        committed=msgspec.msgpack.decode(stored, type=dict[str, int]) if stored else None,
        name=f"{folder.absolute().parents[1].name}-{number:03}",
    )
    for position in archive.lost:
        frontier.reschedule_after(*position)
    if archive.lost:
        frontier.commit()
    return archive


def check_disk(folder: Path, number: int) -> None:
    """A shard that has run before has a frontier; where that is on a disk that is missing, a new one must not take its place."""
    frontier = shard_folder(folder, number) / "frontier"
    if not frontier.is_dir() and any(beat.shard == number for beat in read_status(folder).shards):
        raise FileNotFoundError(errno.ENOENT, "its frontier is missing", str(frontier))


def find_full(folder: Path, archive: ArchiveWriter, least_bytes: int) -> list[str]:
    """What has no room: a shard's folder, where its frontier is, or all volumes of its archive; nothing where work can go on."""
    if shutil.disk_usage(folder).free < least_bytes:
        return [str(folder)]
    return archive.find_full(least_bytes)


def write_outcome(archive: ArchiveWriter, finished: Finished, via: str = "") -> Written:
    """Append all records of one outcome. A page that cannot be written must not stop the shard, now and at each new start: of it
    the verdict alone is written."""
    try:
        return archive.write_outcome(finished, via)
    except OSError:
        raise
    except Exception:
        _log.exception("the records of %s could not be written", finished.lease.url)
        return archive.write_outcome(Finished(finished.lease, finished.verdict), via)


def _make_info(contact: str) -> dict[str, str]:
    """What the archive says of the crawl."""
    return {
        "software": f"{PRODUCT}/{__version__}",
        "operator": contact,
        "http-header-user-agent": make_user_agent(contact),
        "robots": "RFC 9309",
    }
