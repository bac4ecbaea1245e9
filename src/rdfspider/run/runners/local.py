"""Runs shards as processes on this machine that communicate through sockets in a private folder."""

import os
import pickle
import shutil
import socket
import tempfile
from contextlib import suppress
from pathlib import Path

from rdfspider.processes.module_process import ModuleProcess
from rdfspider.run.peers.sockets import AddressBook
from rdfspider.run.runners.runner import ShardOrder

_PREFIX = "rdfspider-"
_SCHEME = "ipc://"
# The system allows about 107 bytes for the path of a socket, including its name in the folder.
_MAX_FOLDER_BYTES = 80


class LocalRunner:
    """The runner for this machine."""

    def __init__(self, shards: int) -> None:
        self._folder = _make_socket_folder()
        self.addresses = AddressBook(
            f"{_SCHEME}{self._folder}/coordinator",
            tuple(f"{_SCHEME}{self._folder}/{number}" for number in range(shards)),
        )

    async def start(self, order: ShardOrder) -> ModuleProcess:
        """Start the process of a shard."""
        order = order._replace(parent_pid=os.getpid())
        return await ModuleProcess.start("rdfspider.run.shard_process", pickle.dumps(order))

    def close(self) -> None:
        """Remove the sockets."""
        remove_socket_folder(self.addresses.coordinator)


def remove_socket_folder(address: str) -> None:
    """Remove the folder of an address, if a runner made it and no process listens there.

    The crawl's folder, from which the address comes, may have been copied, also from another machine.
    """
    path = Path(address.strip().removeprefix(_SCHEME))
    folder = path.parent
    is_ours = folder.name.startswith(_PREFIX) and str(folder.parent) in (tempfile.gettempdir(), "/tmp")
    if is_ours and not _is_listening(path):
        shutil.rmtree(folder, ignore_errors=True)


def remove_old_sockets(control: Path) -> None:
    """Remove what a killed run has left: its sockets and the file with the coordinator's address."""
    with suppress(FileNotFoundError):
        remove_socket_folder(control.read_text())
        control.unlink()


def _make_socket_folder() -> Path:
    """Make a folder for sockets that only this user can access."""
    folder = tempfile.mkdtemp(prefix=_PREFIX)
    if len(folder.encode()) > _MAX_FOLDER_BYTES:
        Path(folder).rmdir()
        folder = tempfile.mkdtemp(prefix=_PREFIX, dir="/tmp")
    return Path(folder)


def _is_listening(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
