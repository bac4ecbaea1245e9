"""The archive of a shard, as of its frontier's last commit: what either has lost, the other is told at the start."""

from pathlib import Path

import msgspec

from rdfspider import __version__
from rdfspider.archive.writer import ArchiveWriter
from rdfspider.config import Config
from rdfspider.frontier.frontier import Frontier
from rdfspider.run.rules import PRODUCT, make_user_agent

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


def _make_info(contact: str) -> dict[str, str]:
    """What the archive says of the crawl."""
    return {
        "software": f"{PRODUCT}/{__version__}",
        "operator": contact,
        "http-header-user-agent": make_user_agent(contact),
        "robots": "RFC 9309",
    }
