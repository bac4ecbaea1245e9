"""A crawl as a whole, for Python and for the command line: make or find its folder, run it, ask it, tell it.

crawl = Crawl.create("mycrawl", ["https://example.org/"], pages=100, contact="me@example.org")
status = crawl.run()
"""

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from rdfspider.config import Config
from rdfspider.errors import RdfspiderError, UsageError
from rdfspider.run.folder.layout import (
    CONTROL,
    add_seeds,
    change_settings,
    check_folder,
    hold_lock,
    is_in_use,
    make_folder,
)
from rdfspider.run.folder.layout import read_seeds as read_known_seeds
from rdfspider.run.folder.seeds import read_seeds
from rdfspider.run.folder.settings import ask_config, ask_flags, load_config
from rdfspider.run.folder.status import Status, read_status
from rdfspider.run.peers.messages import Answer

_ANSWER_S = 10.0
_POLL_S = 0.1


class Crawl:
    """A crawl in its folder, running or not."""

    def __init__(self, folder: Path, config: Config | None = None) -> None:
        self.folder = folder
        self._config = config

    @classmethod
    def create(
        cls,
        dir: str | Path,
        seeds: Iterable[str] = (),
        *,
        seeds_file: Path | None = None,
        config: Config | None = None,
        **settings: object,
    ) -> "Crawl":
        """Make a crawl, or take up the one that is in the folder; more seeds and other settings become part of it.

        Settings are named `section_field`, or just `field` where one section alone has it; they win over `config`, and are
        kept in the folder's crawl.toml. A mistake is a UsageError, and changes nothing.
        """
        folder = Path(dir)
        asked = (ask_config(config) if config else {}) | ask_flags(settings)
        check_folder(folder)
        # Everything is checked before anything is made.
        found = load_config(folder, asked)
        urls = read_seeds((seeds,) if isinstance(seeds, str) else seeds, seeds_file, found.fetch)
        if not urls and not (folder.is_dir() and read_known_seeds(folder)):
            raise UsageError(f"{folder} has no seeds yet: name at least one URL to start from")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder} cannot be made: {error.strerror}") from error
        with hold_lock(folder):
            if check_folder(folder):
                change_settings(folder, asked)
            else:
                make_folder(folder, found.crawl.shards, _name_software(), asked)
            add_seeds(folder, urls)
        return cls(folder, found)

    @classmethod
    def open(cls, dir: str | Path) -> "Crawl":
        """The crawl that is in the folder, as it is."""
        folder = Path(dir)
        if not check_folder(folder):
            if not folder.exists():
                raise UsageError(f"{folder}: there is no such folder")
            raise UsageError(f"{folder} is not a crawl: it has no crawl.toml that `rdfspider crawl` has made")
        return cls(folder)

    @property
    def config(self) -> Config:
        """Its settings; the environment counts too."""
        if self._config is None:
            self._config = load_config(self.folder)
        return self._config

    def run(self, on_progress: Callable[[Status], None] | None = None) -> Status:
        """Crawl until nothing is left, a limit is reached or somebody stops it; returns how it ended.

        `on_progress` is told every second, and at last what is returned.
        """
        # Not at the top: it brings the whole crawler, of which who only extracts has no use.
        from rdfspider.run.local import run_local

        with hold_lock(self.folder):
            return run_local(self.folder, self.config, on_progress)

    def status(self) -> Status:
        """How it goes, or how it ended."""
        return read_status(self.folder)

    def pause(self) -> None:
        """Let a running crawl finish what is under way and wait; returns when it does."""
        self._tell("pause")
        # No request takes longer; what came of it has to be made durable.
        limit_s = self.config.fetch.timeout_s + _ANSWER_S
        end = time.monotonic() + limit_s
        while (state := self._tell("status").state) == "pausing":
            if time.monotonic() > end:
                raise RdfspiderError(
                    f"{self.folder}: what is under way is not finished after {limit_s:g} s; "
                    "the crawl pauses when it is, and starts nothing until then"
                )
            time.sleep(_POLL_S)
        if state != "paused":
            raise UsageError(f"{self.folder}: the crawl is {state} meanwhile")

    def resume(self) -> None:
        """Let a paused crawl go on."""
        self._tell("resume")

    def stop(self) -> None:
        """Let a running crawl finish what is under way and end; returns when it has."""
        self._tell("stop")
        while is_in_use(self.folder):
            time.sleep(_POLL_S)

    def _tell(self, command: str) -> Answer:
        if not is_in_use(self.folder):
            raise UsageError(f"{self.folder}: no crawl runs there")
        try:
            endpoint = (self.folder / CONTROL).read_text("utf-8").strip()
        except FileNotFoundError:
            raise UsageError(f"{self.folder}: the crawl is starting; try again in a moment") from None
        from rdfspider.run.peers.coordinator import send_command

        answer = send_command(endpoint, command, _ANSWER_S)
        if answer is None:
            raise UsageError(f"{self.folder}: the crawl does not answer")
        if not answer.is_done:
            raise UsageError(f"{self.folder}: {answer.message}")
        return answer


def _name_software() -> str:
    from rdfspider import __version__

    return f"rdfspider {__version__}"
