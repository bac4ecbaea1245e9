"""Moves what is damaged out of the way, with the place that it had in the crawl's folder, so that nothing is ever deleted."""

import os
import shutil
import time
from pathlib import Path

FOLDER = "set-aside"


class SetAside:
    """The folder for what one repair replaces: `set-aside/2026-05-01T12-00-00`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.path = folder / FOLDER / time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime())
        """Made when something is moved to it."""
        number = 1
        while self.path.exists():
            number += 1
            self.path = self.path.with_name(f"{self.path.name.partition('.')[0]}.{number}")

    def move(self, path: Path) -> None:
        """Move a file or folder there; nothing happens if there is none."""
        if path.exists() or path.is_symlink():
            # The file itself, if it is on another disk: the link stays, for what takes its place.
            source = path.resolve() if path.is_symlink() else path
            shutil.move(source, self._make_place(path))

    def keep(self, path: Path) -> None:
        """Let a file be there, too, for what will be replaced in one step; nothing happens if there is none."""
        if path.is_file():
            place = self._make_place(path)
            try:
                os.link(path.resolve(), place)
            except OSError:
                # It is on another disk.
                shutil.copy2(path, place)

    def copy(self, path: Path) -> None:
        """Copy a file there that will be changed."""
        if path.is_file():
            shutil.copy2(path, self._make_place(path))

    def _make_place(self, path: Path) -> Path:
        place = self.path / path.relative_to(self._folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place
