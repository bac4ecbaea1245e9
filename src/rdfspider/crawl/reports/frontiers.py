"""The frontiers of all shards of a crawl, looked at from outside; each is opened when it is first asked for."""

from contextlib import ExitStack
from pathlib import Path
from typing import Self

from rdfspider.config import Config
from rdfspider.crawl.folder import shard_folder
from rdfspider.frontier.entries import UrlEntry
from rdfspider.frontier.keys import from_url_id
from rdfspider.frontier.reader import FrontierReader, open_reader


class Frontiers:
    """A context manager; what it gave is of no use afterwards."""

    def __init__(self, folder: Path, config: Config) -> None:
        self._folder = folder
        self.config = config
        self._readers: dict[int, FrontierReader | None] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let them go."""
        self._open.close()

    def of(self, shard: int) -> FrontierReader | None:
        """That of a shard; None where it was not begun yet."""
        if shard not in self._readers:
            reader = open_reader(shard_folder(self._folder, shard) / "frontier", self.config, shard)
            self._readers[shard] = self._open.enter_context(reader) if reader else None
        return self._readers[shard]

    def all(self) -> list[FrontierReader]:
        """Those of all shards that have begun theirs."""
        return [reader for shard in range(self.config.crawl.shards) if (reader := self.of(shard))]

    def get(self, url_id: int) -> UrlEntry | None:
        """What is known of a URL by its id, whichever shard has it; None where that does not know it."""
        reader = self.of(from_url_id(url_id)[0])
        return reader.get(url_id) if reader else None
