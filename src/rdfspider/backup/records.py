"""One record of a shard's archive, from its backup: where it begins enters, its compressed bytes leave, read in ranges."""

from collections.abc import Iterator
from functools import lru_cache

from rdfspider.archive.segments import read_member
from rdfspider.backup.manifests import Manifest, find_newest, name_shard
from rdfspider.backup.objects import Objects
from rdfspider.errors import AwayError, UnreadableError

# Most records are shorter; a range that is too long is read in vain.
_PIECE_BYTES = 256 * 1024
_KEPT_MANIFESTS = 64


def read_record(url: str, shard: int, segment: str, offset: int) -> bytes:
    """Return the record that begins at an offset of a segment. UnreadableError if the backup does not have it, AwayError if the
    store does not answer."""
    known = _Known.of(url, shard)
    for manifest in known.list_manifests():
        try:
            return read_member(_read_pieces(known.objects, manifest, segment, offset), f"{segment} at {offset}")
        except AwayError:
            raise
        except UnreadableError:
            # The crawl goes on, and has replaced the manifest meanwhile, or the record is newer.
            continue
    raise UnreadableError(f"{url} does not have {segment} at {offset}")


class _Known:
    """The last manifest of a member that was read, so that each further record takes one request."""

    def __init__(self, url: str, shard: int) -> None:
        self.objects = Objects(url, creates=False)
        self._member = name_shard(shard)
        self._manifest: Manifest | None = None

    @staticmethod
    @lru_cache(maxsize=_KEPT_MANIFESTS)
    def of(url: str, shard: int) -> "_Known":
        return _Known(url, shard)

    def list_manifests(self) -> Iterator[Manifest]:
        """The manifest that is known, and then the newest, if that is another one."""
        known = self._manifest
        if known is not None:
            yield known
        self._manifest = find_newest(self.objects, self._member)
        if self._manifest is not None and self._manifest != known:
            yield self._manifest


def _read_pieces(objects: Objects, manifest: Manifest, segment: str, offset: int) -> Iterator[bytes]:
    """The bytes of a segment from an offset on."""
    for part in manifest.segments.get(segment, ()):
        while offset < part.end:
            end = min(offset + _PIECE_BYTES, part.end)
            yield b"".join(objects.stream(part.key, offset - part.start, end - part.start))
            offset = end
