"""A place for objects: a folder, `s3://`, `gs://` or `az://`. Bytes enter under a key and leave again, whole or in ranges.

This is the only module that imports obstore. Credentials come from the environment, as the tools of each service expect them;
none is ever written down. A place that does not answer, or refuses, is an AwayError of one line.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from rdfspider.disk import sync_folder
from rdfspider.errors import AwayError, UnreadableError, UsageError

# Objects that are longer than this are sent in parts of this size; S3 takes ten thousand of them.
_PART_BYTES = 8 * 1024 * 1024
_PARTS_AT_ONCE = 2
_STREAM_BYTES = 1024 * 1024
# S3 deletes a thousand objects with one request.
_DELETED_AT_ONCE = 1000
_TIMEOUTS = {"connect_timeout": "10s", "read_timeout": "60s", "timeout": "10m"}
_RETRIES: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=30)}
# Where users name a server of their own; one that they name without TLS is asked without.
_ENDPOINTS = (
    *("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT"),
    *("AZURE_ENDPOINT", "AZURE_STORAGE_ENDPOINT"),
    "GOOGLE_BASE_URL",
)
_CREDENTIALS = re.compile("credential|accesskey|unauthenticated|forbidden|denied|metadata", re.IGNORECASE)
# What stands before the host of a URL, and in the tokens of Azure.
_USER = re.compile(r"://[^/\s\"'<>]*@")
_SIGNATURE = re.compile(r"(\bsig(?:nature)?=)[^&\s\"')]+", re.IGNORECASE)
_MAX_REASON_CHARS = 200

T = TypeVar("T")


class ObjectInfo(NamedTuple):
    """An object in a list."""

    key: str
    size: int


class Objects:
    """The objects below one URL."""

    def __init__(self, url: str, *, creates: bool = True) -> None:
        """`creates` makes a folder that is not there; without it, that is an AwayError."""
        # Imported here, because most crawls have no backup.
        from obstore.store import LocalStore, from_url

        self.url = url
        self._folder = None if is_service(url) else Path(url)
        if self._folder is not None:
            if not (creates or self._folder.is_dir()):
                raise AwayError(f"{url}: there is no such folder")
            self._store: Any = self._ask(lambda: LocalStore(url, mkdir=True))
        else:
            _check_endpoints()
            is_plain = any(os.environ.get(name, "").startswith("http://") for name in _ENDPOINTS)
            options: Any = {**_TIMEOUTS, "allow_http": is_plain}
            self._store = self._ask(lambda: from_url(url, client_options=options, retry_config=_RETRIES))

    def put(self, key: str, chunks: Iterable[bytes]) -> None:
        """Store an object, in parts if it is long; it is there as a whole or not at all."""
        import obstore

        source = _Source(chunks)
        rest = iter(source)
        first, is_long = b"", False
        for chunk in rest:
            first += chunk
            if is_long := len(first) > _PART_BYTES:
                break
        try:
            if is_long:
                body = chain((first,), rest)
                options: Any = {"chunk_size": _PART_BYTES, "max_concurrency": _PARTS_AT_ONCE}
                self._ask(lambda: obstore.put(self._store, key, body, **options))
            else:
                # In parts, it would take three requests.
                self._ask(lambda: obstore.put(self._store, key, first, use_multipart=False))
        except AwayError:
            if source.error is not None:
                raise source.error from None
            raise
        self._sync(key)

    def create(self, key: str, body: bytes) -> bool:
        """Store a short object unless there is one already; whether that was done."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        def attempt() -> bool:
            try:
                obstore.put(self._store, key, body, mode="create")
            except AlreadyExistsError:
                return False
            return True

        if is_new := self._ask(attempt):
            self._sync(key)
        return is_new

    def read(self, key: str) -> bytes:
        """Return a whole object; UnreadableError if it is missing."""
        return b"".join(self.stream(key))

    def stream(self, key: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Return the bytes of an object from `start` on, before `end`, in pieces; UnreadableError if it is missing."""
        import obstore

        if end is not None and end <= start:
            return
        options: Any = {"range": (start, end)} if end is not None else {"range": {"offset": start}} if start else {}
        pieces = iter(self._ask(lambda: obstore.get(self._store, key, options=options).stream(_STREAM_BYTES), key))
        while (piece := self._ask(lambda: next(pieces, None), key)) is not None:
            yield bytes(piece)

    def measure(self, key: str) -> int | None:
        """Return the size of an object; None if there is none."""
        import obstore

        with suppress(UnreadableError):
            return int(self._ask(lambda: obstore.head(self._store, key), key)["size"])
        return None

    def list(self, prefix: str) -> list[ObjectInfo]:
        """List the objects below a prefix, which ends at a slash."""
        import obstore

        found = self._ask(lambda: [entry for page in obstore.list(self._store, prefix=prefix) for entry in page])
        return sorted(ObjectInfo(entry["path"], entry["size"]) for entry in found)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects, some of which may be gone already."""
        import obstore

        rest = list(keys)
        while rest:
            batch, rest = rest[:_DELETED_AT_ONCE], rest[_DELETED_AT_ONCE:]
            if self._folder is not None:
                for key in batch:
                    self._delete_file(self._folder / key)
            else:
                try:
                    self._ask(partial(obstore.delete, self._store, batch), batch[0])
                except UnreadableError:
                    # Unlike S3, Azure and Google tell that one is gone; whether the others are is not said.
                    for key in batch:
                        with suppress(UnreadableError):
                            self._ask(partial(obstore.delete, self._store, [key]), key)

    def _delete_file(self, path: Path) -> None:
        """Delete the file of an object, and folders that it leaves empty: a service has none."""
        self._ask(lambda: path.unlink(missing_ok=True))
        with suppress(OSError):
            for folder in path.parents:
                if folder == self._folder:
                    break
                folder.rmdir()

    def _sync(self, key: str) -> None:
        """Let an object in a folder survive a loss of power, as those of a service do."""
        if self._folder is None:
            return
        path = self._folder / key

        def sync() -> None:
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            for folder in path.parents:
                sync_folder(folder)
                if folder == self._folder:
                    break

        self._ask(sync)

    def _ask(self, request: Callable[[], T], key: str = "") -> T:
        """Make a request; what goes wrong is told in one line."""
        from obstore.exceptions import BaseError

        try:
            return request()
        except FileNotFoundError as error:
            if key:
                raise UnreadableError(f"{self.url}: {key} is missing") from error
            raise AwayError(f"{self.url}: {_shorten(error)}") from error
        except (BaseError, OSError, ValueError) as error:
            raise AwayError(f"{self.url}: {_shorten(error)}") from error


def is_service(url: str) -> bool:
    """Whether a place is a service rather than a folder."""
    return "://" in url


def _check_endpoints() -> None:
    """Raise UsageError if what should name a server is no URL, at which the library would panic."""
    for name in _ENDPOINTS:
        try:
            _ = urlsplit(os.environ.get(name, "")).port
        except ValueError:
            raise UsageError(f"{name} in the environment is not the URL of a server") from None


class _Source:
    """Chunks, and the error that ended them, which is not the fault of the place where they are sent."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.error: BaseException | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._chunks
        except BaseException as error:
            self.error = error
            raise


def _shorten(error: BaseException) -> str:
    """The first line of an error, without the document that the service has sent, and without what nobody else may read: such
    texts are shown and stored."""
    text = " ".join(str(error).partition("\n\n")[0].partition("<?xml")[0].split())
    text = _SIGNATURE.sub(r"\1…", _USER.sub("://…@", text))[:_MAX_REASON_CHARS]
    if " 404 " in text:
        return "there is no such bucket or container, or nobody may know of it"
    hint = "; credentials come from the environment, see docs/backup.md" if _CREDENTIALS.search(text) else ""
    return f"{text or type(error).__name__}{hint}"
