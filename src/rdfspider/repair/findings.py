"""The Finding: one kind of damage at one place of a crawl's folder; and the table of all kinds, with what is done about each."""

from typing import NamedTuple

from msgspec import Struct


class Kind(NamedTuple):
    """What is wrong, and how it is mended."""

    meaning: str
    mend: str
    """What `rdfspider doctor` does; empty if a person has to decide."""
    is_fault: bool = True
    """Whether data is lost or wrong; otherwise the next crawl or index does the same without being asked."""


_REFETCH = "put filling in the place of what is lost, and schedule its pages again"
_RESTORE = "make the frontier again from the archive of all shards"
_REBUILD = "make the index again from the archive"

KINDS = {
    "settings": Kind("crawl.toml cannot be read", "make it again from the lines that are left; look through it then"),
    "suffixes": Kind(
        "suffixes.dat is not the list of the crawl", "put the list that comes with rdfspider in its place"
    ),
    "other-suffixes": Kind("suffixes.dat is lost, and this version has another one", ""),
    "seeds": Kind("seeds.txt has lost seeds", "make it again from its sound lines and the frontier"),
    "records": Kind("records of the archive cannot be read", _REFETCH),
    "segments": Kind("segments of the archive are missing or too short", _REFETCH),
    "lengths": Kind("the list of readable lengths is damaged or missing", "write it again"),
    "tail": Kind("segments are longer than what was committed", "cut them back", is_fault=False),
    "frontier": Kind("the frontier is missing or cannot be read", _RESTORE),
    "frontier-behind": Kind("the frontier is older than the archive", _RESTORE),
    "unknown-records": Kind("URLs with records have no row in the frontier", _RESTORE),
    "counts": Kind("the counts of the frontier are not those of its rows", _RESTORE),
    "lost-pages": Kind("URLs are done, but their records are not in the archive", "schedule them again"),
    "index": Kind("the index cannot be read, or is not a view of the archive", _REBUILD),
    "unread": Kind("the index lacks pages whose records could not be read", "bring it up to date when they are mended"),
    "index-behind": Kind("the index is not up to date", "bring it up to date", is_fault=False),
    "index-status": Kind("the status of the index cannot be read", "make it again"),
    "status": Kind("status.json is damaged or missing", "make it again from the frontiers"),
    "history": Kind("history.json cannot be read", "set it aside; the next crawl begins another"),
}
"""By code, in the order in which they are mended."""


class Finding(Struct, frozen=True):
    """Damage of one kind at one place."""

    code: str
    """A key of `KINDS`."""
    where: str
    """The file or folder, in the crawl's folder."""
    message: str
    """What exactly is wrong."""
    count: int = 1
    """How many records, pages or files are concerned."""
    shard: int = -1
    """The shard; -1 if it is none's."""

    @property
    def kind(self) -> Kind:
        """What is wrong, and how it is mended."""
        return KINDS[self.code]
