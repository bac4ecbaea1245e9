"""The keys of a crawl: its folder enters, the CURVE key pairs of its processes leave.

A crawl whose shards communicate over TCP has a pair for the coordinator and one for each shard, made at first need. CURVE alone
lets in whoever knows a server's public key, so every socket that listens admits only the keys of this crawl
(`run/peers/gatekeeper.py`).
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec
import zmq

from rdfspider.disk import NEW, sync_folder
from rdfspider.errors import UsageError

KEYS = "keys"
"""The folder of the keys, which only its owner can open."""
_FILE = "curve.json"


class KeyPair(NamedTuple):
    """A public and a secret key of CURVE, in the encoding Z85."""

    public: bytes
    secret: bytes


class ProcessKeys(NamedTuple):
    """What one process of a crawl needs for its sockets."""

    own: KeyPair
    coordinator: bytes
    """The coordinator's public key: commands come only from where it is."""
    shards: tuple[bytes, ...]
    """The public keys of the shards, by number."""


class CrawlKeys(NamedTuple):
    """All key pairs of a crawl."""

    coordinator: KeyPair
    shards: tuple[KeyPair, ...]

    def of_coordinator(self) -> ProcessKeys:
        """Return the keys of the coordinator's process."""
        return ProcessKeys(self.coordinator, self.coordinator.public, self._list_public())

    def of_shard(self, number: int) -> ProcessKeys:
        """Return the keys of a shard's process, with no secret of another one."""
        return ProcessKeys(self.shards[number], self.coordinator.public, self._list_public())

    def _list_public(self) -> tuple[bytes, ...]:
        return tuple(pair.public for pair in self.shards)


class _Secrets(msgspec.Struct, frozen=True):
    """The file of the keys: a public key follows from its secret one."""

    coordinator: str
    shards: list[str]


def make_keys(shards: int) -> CrawlKeys:
    """Make the key pairs of a crawl."""
    coordinator, *others = (KeyPair(*zmq.curve_keypair()) for _ in range(shards + 1))
    return CrawlKeys(coordinator, tuple(others))


def load_keys(folder: Path, shards: int) -> CrawlKeys:
    """Load the keys of a crawl; make and store them if there are none."""
    path = folder / KEYS / _FILE
    try:
        _check_private((path.parent, path))
        stored = msgspec.json.decode(path.read_bytes(), type=_Secrets)
        keys = CrawlKeys(_make_pair(stored.coordinator), tuple(map(_make_pair, stored.shards)))
    except FileNotFoundError:
        keys = make_keys(shards)
        _write_keys(path, keys)
    except (ValueError, zmq.ZMQError) as error:
        raise UsageError(f"{path}: it has no keys ({error}); remove it, and new ones are made") from error
    if len(keys.shards) != shards:
        raise UsageError(f"{path}: it has keys for {len(keys.shards)} shards; remove it, and new ones are made")
    return keys


def _make_pair(secret: str) -> KeyPair:
    return KeyPair(zmq.curve_public(secret.encode()), secret.encode())


def _check_private(paths: Iterable[Path]) -> None:
    """Refuse keys that other users can read: a copy of the folder may have lost its permissions."""
    for path in paths:
        if path.stat().st_mode & 0o077:
            raise UsageError(f"{path}: other users may read it; allow that to nobody, with `chmod -R go= {path}`")


def _write_keys(path: Path, keys: CrawlKeys) -> None:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.parent.chmod(0o700)
    secrets = _Secrets(keys.coordinator.secret.decode(), [pair.secret.decode() for pair in keys.shards])
    new = path.with_name(path.name + NEW)
    new.unlink(missing_ok=True)
    # No other user can read it at any moment, whatever the umask is.
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(secrets))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_folder(path.parent)
