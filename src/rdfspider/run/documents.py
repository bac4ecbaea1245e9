"""Documents that pages refer to, from a folder: the URL of a context, vocabulary or transformation in, its bytes out.

The folder is laid out as the web is: `https://example.org/ns/context.jsonld` is the file `example.org/ns/context.jsonld`.
"""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

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
            if parts.scheme not in ("http", "https") or not parts.hostname or "\0" in place:
                return None
            for ending in _ENDINGS:
                path = (root / parts.hostname / (place + ending).lstrip("/")).resolve()
                if path.is_relative_to(root) and path.is_file():
                    with path.open("rb") as file:
                        return file.read(_MAX_BYTES)
        except (OSError, ValueError):
            return None
        return None
