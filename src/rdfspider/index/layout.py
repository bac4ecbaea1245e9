"""The paths of a crawl's indexes, and the check that this version can read them.

mycrawl/
  forgotten.txt         the rules of `rdfspider forget`, one URL or site per line; rebuilds obey them too
  split.txt             the rules of `rdfspider split`: things that are kept apart; rebuilds obey them too
  sources.txt           WARC files from elsewhere that are indexed too, one path per line
  index/version         the version of this layout
  index/lock            held by the one process that writes
  index/status.json     the indexer's progress, at most a second old while it runs
  index/unreadable.txt  records of the archive that could not be read, one position per line
  index/quads/          Oxigraph, for the writer only
  index/snapshots/      the newest copy of it for readers, and those that are being read
  index/snapshots.json  the checksums of their files
  index/text/           tantivy
  index/ledger.sqlite   pages, what each states about which entity, and counts
  index/graph/          who links to whom, and the ranks that follow from it
  index/stores/         the progress of each outside store
"""

from dataclasses import dataclass
from pathlib import Path

from rdfspider.errors import OtherVersionError, UnindexedError, UnreadableError, is_shortage

VERSION = 5
"""The version of the layout. An index of another version is refused until it is rebuilt."""


@dataclass(frozen=True, slots=True)
class IndexPaths:
    """The paths of one crawl's indexes."""

    folder: Path
    """The crawl's folder."""
    name: str = "index"
    """The index folder in it; a rebuild uses another name until it is complete."""

    @property
    def seeds(self) -> Path:
        """The crawl's seeds, one URL a line."""
        return self.folder / "seeds.txt"

    @property
    def index(self) -> Path:
        """Everything that a rebuild makes again."""
        return self.folder / self.name

    @property
    def replaced(self) -> Path:
        """Where a rebuild puts the old index until it is removed."""
        return self.folder / f"{self.name}.old"

    @property
    def quads(self) -> Path:
        """The writer's quad store."""
        return self.index / "quads"

    @property
    def snapshots(self) -> Path:
        """Copies of the quad store for readers."""
        return self.index / "snapshots"

    @property
    def text(self) -> Path:
        """The text index."""
        return self.index / "text"

    @property
    def ledger(self) -> Path:
        """Pages, entities and counts."""
        return self.index / "ledger.sqlite"

    @property
    def graph(self) -> Path:
        """The link graph."""
        return self.index / "graph"

    @property
    def stores(self) -> Path:
        """The progress of each outside store."""
        return self.index / "stores"

    @property
    def status(self) -> Path:
        """The indexer's progress."""
        return self.index / "status.json"

    @property
    def unreadable(self) -> Path:
        """The records of the archive that the indexes lack because they could not be read."""
        return self.index / "unreadable.txt"

    @property
    def lock(self) -> Path:
        """Held by the indexer."""
        return self.index / "lock"

    @property
    def version(self) -> Path:
        """The version of the layout."""
        return self.index / "version"

    @property
    def forgotten(self) -> Path:
        """The rules of what is kept out of the indexes."""
        return self.folder / "forgotten.txt"

    @property
    def splits(self) -> Path:
        """The rules of which things are kept apart."""
        return self.folder / "split.txt"

    @property
    def sources(self) -> Path:
        """WARC files from elsewhere."""
        return self.folder / "sources.txt"


def has_index(paths: IndexPaths) -> bool:
    """Whether there is an index or a part of one, of any version."""
    return bool(_read_version(paths)) or paths.quads.exists()


def check_index(paths: IndexPaths) -> None:
    """Raise UnindexedError if there is no index, UnreadableError if it is damaged, OtherVersionError if its version differs."""
    found = _read_version(paths)
    if not found and paths.quads.exists():
        raise UnreadableError(f"{paths.index} has lost its version: {advise_rebuild(paths.folder)}")
    if not found:
        raise UnindexedError(tell_unindexed(paths.folder))
    if found != str(VERSION):
        raise OtherVersionError(
            f"{paths.index} was made by another version of rdfspider: its layout is {found[:20]!r}, this one reads {VERSION}; "
            f"{advise_rebuild(paths.folder)}"
        )


def tell_unindexed(folder: Path) -> str:
    """The message that a crawl has no index, and what to do about it."""
    return (
        f"{folder} has no index yet: make it with `rdfspider index --dir {folder}`, "
        "or wait some seconds where a crawl has just begun"
    )


def advise_rebuild(folder: Path) -> str:
    """The end of messages about an index of a crawl that cannot be read."""
    return f"make it again with `rdfspider index --rebuild --dir {folder}`"


def _read_version(paths: IndexPaths) -> str:
    """The content of the version file; empty if it is missing or empty, as some disks leave it after a power failure."""
    try:
        return paths.version.read_text("utf-8").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        if is_shortage(error):
            raise
        reason = getattr(error, "strerror", None) or error
        raise UnreadableError(f"{paths.version}: {reason}; {advise_rebuild(paths.folder)}") from error
