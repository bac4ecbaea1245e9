"""Documents that pages refer to, from a folder: the URL of a context, vocabulary or transformation in, its bytes out.

A folder of the user's is laid out as the web is: `https://example.org/ns/context.jsonld` is `example.org/ns/context.jsonld`. A
crawl keeps the contexts that it fetched under the digests of their URLs, so that no URL can name a place outside of its folder.
"""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import unquote, urlsplit

from rdfspider.config import DocumentSource
from rdfspider.disk import write_atomically
from rdfspider.urls import FETCHED_SCHEMES, normalise_url

MAX_KEPT = 1_000
"""Documents that a crawl keeps, and as many that it remembers not to have got; real crawls meet some dozens."""
_MAX_BYTES = 16 * 1024 * 1024
# What a URL that names no file may be called on disk: the URL itself comes first.
_ENDINGS = ("", ".jsonld", ".json", ".ttl", ".rdf", ".xsl", "/index.jsonld", "/index.json", "/index")


@dataclass(frozen=True, slots=True)
class FolderDocuments:
    """A document source (`ExtractConfig.documents`) that can be sent to other processes."""

    folder: Path

    def __call__(self, url: str) -> bytes | None:
        """The bytes of the document with this URL; None where the folder has none."""
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
    """What a crawl has fetched of such documents, after those of the user. It can be sent to other processes, and all shards of a
    crawl share the folder: each file is written once, in one step."""

    folder: Path
    own: DocumentSource | None = None

    def __call__(self, url: str) -> bytes | None:
        """The bytes of the document with this URL; None where there is none."""
        found = self.own(url) if self.own is not None else None
        if found is not None:
            return found
        try:
            return _read_kept(self._place(url))
        except (OSError, ValueError):
            return None

    def is_known(self, url: str) -> bool:
        """Whether it is kept, or is known not to be had."""
        return self._place(url).exists() or self._mark(url).exists()

    def keep(self, url: str, body: bytes) -> bool:
        """Keep a document under one of its URLs; False where there are too many."""
        return self.is_known(url) or self._write(self._place(url), body)

    def give_up(self, url: str) -> bool:
        """It cannot be had: nobody need wait for it; False where there are too many to note it."""
        return self.is_known(url) or self._write(self._mark(url), b"")

    def _write(self, path: Path, body: bytes) -> bool:
        """Make a file that is there as a whole or not at all, also after a loss of power."""
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
    """Files do not change once they are there, and most pages of a site refer to the same."""
    return path.read_bytes()
