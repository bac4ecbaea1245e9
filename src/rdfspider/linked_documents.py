"""Documents that pages refer to, read from a folder: the URL of a context, vocabulary or transformation enters, its bytes leave.

A user's folder mirrors the web: `https://example.org/ns/context.jsonld` is `example.org/ns/context.jsonld`. A crawl stores the
contexts that it fetched under the digests of their URLs, so that no URL can name a path outside the folder.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rdfspider.config import DocumentSource
from rdfspider.disk import write_atomically
from rdfspider.urls import FETCHED_SCHEMES, normalise_url

MAX_KEPT = 1_000
"""How many documents a crawl keeps, and for how many it notes that they are unavailable; real crawls meet some dozens."""
_MAX_BYTES = 16 * 1024 * 1024
_NAME = re.compile(r"[0-9a-f]{64}\.(?:json|none)")
# Endings to try for the file of a URL, the exact path first.
_ENDINGS = ("", ".jsonld", ".json", ".ttl", ".rdf", ".xsl", "/index.jsonld", "/index.json", "/index")


@dataclass(frozen=True, slots=True)
class FolderDocuments:
    """A document source (`ExtractConfig.documents`) that can be sent to other processes."""

    folder: Path

    def __call__(self, url: str) -> bytes | None:
        """Return the bytes of the document with this URL; None if the folder has none."""
        try:
            parts = urlsplit(url)
            root = self.folder.resolve()
            place = unquote(parts.path).strip("/")
            if parts.scheme not in FETCHED_SCHEMES or not parts.hostname or "\0" in place:
                return None
            for ending in _ENDINGS:
                path = (root / parts.hostname / (place + ending).lstrip("/")).resolve()
                if path.is_relative_to(root) and path.is_file():
                    with path.open("rb") as file:
                        return file.read(_MAX_BYTES)
        except (OSError, ValueError):
            return None
        return None


@dataclass(frozen=True, slots=True)
class KeptDocuments:
    """A document source with the user's documents first, then those that the crawl fetched. It can be sent to other processes;
    all shards of a crawl share the folder, where each file is written once, atomically."""

    folder: Path
    own: DocumentSource | None = None

    def __call__(self, url: str) -> bytes | None:
        """Return the bytes of the document with this URL; None if there is none."""
        found = self.own(url) if self.own is not None else None
        if found is not None:
            return found
        try:
            return _read_kept(self._place(url))
        except (OSError, ValueError):
            return None

    def is_known(self, url: str) -> bool:
        """Whether the document is kept, or known to be unavailable."""
        return self._place(url).exists() or self._mark(url).exists()

    def keep(self, url: str, body: bytes) -> bool:
        """Keep a document under one of its URLs; return False if there are too many."""
        return self.is_known(url) or self._write(self._place(url), body)

    def take(self, name: str, body: bytes) -> None:
        """Take a document, or a note that one is unavailable, that another folder has under this name."""
        if _NAME.fullmatch(name) and not (self.folder / name).exists():
            self._write(self.folder / name, body)

    def name(self, url: str, *, is_kept: bool) -> str:
        """Return the name of the file of a document, or of the note that it is unavailable."""
        return (self._place(url) if is_kept else self._mark(url)).name

    def give_up(self, url: str) -> bool:
        """Note that a document is unavailable, so that no page waits for it; return False if there are too many notes."""
        return self.is_known(url) or self._write(self._mark(url), b"")

    def _write(self, path: Path, body: bytes) -> bool:
        """Write a file atomically, even in a power failure."""
        self.folder.mkdir(exist_ok=True)
        if sum(other.suffix == path.suffix for other in self.folder.iterdir()) >= MAX_KEPT:
            return False
        write_atomically(path, body, shared=True)
        return True

    def _place(self, url: str) -> Path:
        return self.folder / f"{_digest(url)}.json"

    def _mark(self, url: str) -> Path:
        return self.folder / f"{_digest(url)}.none"


def _digest(url: str) -> str:
    return sha256((normalise_url(url) or url).encode("utf-8", "replace")).hexdigest()


@lru_cache(maxsize=16)
def _read_kept(path: Path) -> bytes:
    """Read a file through a cache: files never change, and most pages of a site refer to the same ones."""
    return path.read_bytes()
