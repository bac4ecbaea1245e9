"""Where the indexes of a crawl are, and whether this version can read them.

mycrawl/
  forgotten.txt         what `rdfspider forget` was told, a URL or a site a line; a rebuild keeps to it
  sources.txt           WARC files from elsewhere that are indexed too, a path a line
  index/version         of this layout
  index/lock            held by the one process that writes
  index/status.json     how far the indexer is, a second old at most while it runs
  index/quads/          Oxigraph, the writer's own
  index/snapshots/      copies of it for readers, the newest two
  index/text/           tantivy
  index/ledger.sqlite   pages, what each says of which entity, and counts
  index/stores/         how far each outside store is
"""

from dataclasses import dataclass
from pathlib import Path

from rdfspider.errors import OtherVersionError, UnindexedError, UnreadableError

VERSION = 2
"""Of the layout; an index of another one is refused, and made again on request."""


@dataclass(frozen=True, slots=True)
class IndexPaths:
    """The paths of one crawl's indexes."""

    folder: Path
    """The crawl's folder."""
    name: str = "index"
    """The folder in it; another one while a rebuild is under way."""

    @property
    def index(self) -> Path:
        """All that a rebuild makes again."""
        return self.folder / self.name

    @property
    def replaced(self) -> Path:
        """Where the index goes that a rebuild replaces, until it is removed."""
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
    def stores(self) -> Path:
        """How far each outside store is."""
        return self.index / "stores"

    @property
    def status(self) -> Path:
        """How far the indexer is."""
        return self.index / "status.json"

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
        """What is to be kept out of the indexes."""
        return self.folder / "forgotten.txt"

    @property
    def sources(self) -> Path:
        """WARC files from elsewhere."""
        return self.folder / "sources.txt"


def has_index(paths: IndexPaths) -> bool:
    """Whether there is an index, of whatever version, or a part of one."""
    return bool(_read_version(paths)) or paths.quads.exists()


def check_index(paths: IndexPaths) -> None:
    """UnindexedError where there is no index, UnreadableError where it is damaged or of another version."""
    found = _read_version(paths)
    if not found and paths.quads.exists():
        raise UnreadableError(
            f"{paths.index} has lost its version: make it again with `rdfspider index --rebuild --dir {paths.folder}`"
        )
    if not found:
        raise UnindexedError(
            f"{paths.folder} has no index yet: make it with `rdfspider index --dir {paths.folder}`, "
            "or wait some seconds where a crawl has just begun"
        )
    if found != str(VERSION):
        raise OtherVersionError(
            f"{paths.index} was made by another version of rdfspider: its layout is {found[:20]!r}, this one reads {VERSION}; "
            f"make it again with `rdfspider index --rebuild --dir {paths.folder}`"
        )


def _read_version(paths: IndexPaths) -> str:
    """What the file says; empty where there is none, or where it is empty, as some disks leave it after a power failure."""
    try:
        return paths.version.read_text("utf-8").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableError(f"{paths.version}: {getattr(error, 'strerror', None) or error}") from error
