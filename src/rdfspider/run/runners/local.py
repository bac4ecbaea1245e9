"""Runs shards as processes on this machine.

They share the crawl's folder and communicate through sockets in a private folder. With places, each has a folder and an address
of its own, with TCP and keys, as if it were on another machine; that is for several disks.
"""

import asyncio
import logging
import os
import pickle
import select
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import zmq

from rdfspider.config import Config
from rdfspider.crawl.folder import frontier_folder
from rdfspider.errors import UsageError
from rdfspider.places.keys import CrawlKeys, ProcessKeys, load_keys
from rdfspider.places.records import PlaceRecord, list_away, write_place
from rdfspider.processes.module_process import ModuleProcess, start_beside
from rdfspider.run.peers.sockets import AddressBook, check_endpoint, name_endpoint
from rdfspider.run.runners.places import Place, pack_files, read_places
from rdfspider.run.runners.runner import ShardOrder

_log = logging.getLogger(__name__)

_PREFIX = "rdfspider-"
# How long the process that answers for a place may take to start.
_DESK_S = 60.0
# How long to wait from one start of it to the next, if it dies, and after which life the waiting begins from the first again.
_FIRST_PAUSE_S, _MAX_PAUSE_S, _SETTLED_S = 1.0, 30.0, 60.0
_SCHEME = "ipc://"
# The system allows about 107 bytes for the path of a socket, including its name in the folder.
_MAX_FOLDER_BYTES = 80


class LocalRunner:
    """The runner for this machine."""

    def __init__(
        self,
        shards: int,
        places: Sequence[Place] = (),
        keys: CrawlKeys | None = None,
        lease_s: float = 0.0,
        address: str = "127.0.0.1",
    ) -> None:
        """Shards run in the places in turn; without any, in the crawl's folder. Places need keys, a lease, and an address of this
        machine at which they reach the coordinator."""
        self._sockets = _make_socket_folder()
        self._desks: dict[Place, _Desk] = {}
        self._turn = threading.Lock()
        """Held while one is started: the shards of a place are started at the same time."""
        self._noted: dict[int, _Noted] = {}
        self._moved: set[Place] = set()
        """Places whose process listens at another address than is written."""
        self._noting = threading.Lock()
        """Held while it is written where shards are."""
        self._places = places
        self.has_places = bool(places)
        self.keys = keys
        self.lease_s = lease_s
        self.control = f"{_SCHEME}{self._sockets}/coordinator"
        if places:
            hosts = (self.find_place(number).host for number in range(shards))
            self.addresses = AddressBook(name_endpoint(address), tuple(map(name_endpoint, hosts)))
        else:
            numbers = range(shards)
            self.addresses = AddressBook(
                self.control, tuple(f"{_SCHEME}{self._sockets}/{number}" for number in numbers)
            )

    def find_place(self, number: int) -> Place:
        """Return the place of a shard."""
        return self._places[number % len(self._places)]

    async def start(self, order: ShardOrder) -> ModuleProcess:
        """Start the process of a shard."""
        order = order._replace(parent_pid=os.getpid())
        if self._places:
            assert self.keys is not None
            place = self.find_place(order.number)
            parcel = await asyncio.to_thread(pack_files, order.folder, order.config, order.number, place)
            await asyncio.to_thread(self._note_place, place, order, parcel.crawl)
            order = order._replace(
                folder=place.folder,
                parcel=parcel,
                keys=self.keys.of_shard(order.number),
                lease_s=self.lease_s,
            )
        return await ModuleProcess.start("rdfspider.run.shard_process", pickle.dumps(order))

    def tend(self) -> None:
        """Start the processes again that answer for places and have died."""
        for place, desk in list(self._desks.items()):
            if desk.tend():
                self._moved.add(place)
        if self._moved:
            with self._noting:
                try:
                    for number, noted in self._noted.items():
                        if noted.place in self._moved:
                            self._write_place(number)
                except OSError as error:
                    _log.debug("it cannot be written where places listen now: %s", error)
                else:
                    self._moved.clear()

    def close(self) -> None:
        """Remove the sockets, and end the processes that answer for places."""
        for desk in self._desks.values():
            desk.close()
        remove_socket_folder(self.control)

    def _note_place(self, place: Place, order: ShardOrder, crawl: str) -> None:
        """Start the process that answers for a place, and write where the shard is; this blocks for a moment."""
        assert self.keys is not None
        with self._turn:
            if place not in self._desks:
                keys = self.keys.of_shard(order.number)
                endpoint = name_endpoint(place.host)
                self._desks[place] = _Desk(PlaceOrder(place.folder, crawl, order.config, keys, endpoint))
        with self._noting:
            self._noted[order.number] = _Noted(place, order.folder, crawl, order.config.backup.url)
            self._write_place(order.number)

    def _write_place(self, number: int) -> None:
        """Write where a shard is, and where the process listens that answers for it."""
        place, folder, crawl, backup = self._noted[number]
        desk = self._desks[place]
        write_place(folder, number, PlaceRecord(crawl, place.host, str(place.folder), desk.address, desk.key, backup))


class _Noted(NamedTuple):
    """What is written of where a shard is, beside what its place's process tells."""

    place: Place
    folder: Path
    """The crawl's."""
    crawl: str
    backup: str


class _Desk:
    """The process that answers for a place. When it is started again, it listens at the same address, if that is still free."""

    def __init__(self, order: "PlaceOrder") -> None:
        self._order = order
        self.key = order.keys.own.public.decode()
        self.address = ""
        """Where it listens; empty while it has never told."""
        self._pause_s = _FIRST_PAUSE_S
        self._start()
        self._hear_address(_DESK_S)

    def tend(self) -> bool:
        """Start the process again if it has died, after longer and longer pauses; called every second. Whether it listens at
        another address now."""
        now = time.monotonic()
        if self._process.poll() is not None:
            if now < self._started + self._pause_s:
                return False
            is_settled = now > self._started + _SETTLED_S
            self._pause_s = _FIRST_PAUSE_S if is_settled else min(2 * self._pause_s, _MAX_PAUSE_S)
            self._reap()
            self._start()
        return not self._has_told and self._hear_address(0.0)

    def _start(self) -> None:
        order = self._order._replace(address=self.address or self._order.address)
        self._process = start_beside("rdfspider.run.place_process", pickle.dumps(order))
        self._started = time.monotonic()
        self._has_told = False

    def _hear_address(self, patience_s: float) -> bool:
        """Read the address in full, which is the first line, if it is told in time. Whether it is another one."""
        stdout = self._process.stdout
        assert stdout is not None
        if not select.select([stdout], [], [], patience_s)[0]:
            return False
        before, told = self.address, stdout.readline().decode().strip()
        # One that dies has told nothing.
        self._has_told = True
        self.address = told or before
        return self.address != before

    def close(self) -> None:
        self._process.kill()
        self._reap()

    def _reap(self) -> None:
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


class PlaceOrder(NamedTuple):
    """What the process that answers for a place needs to start."""

    folder: Path
    """The place's."""
    crawl: str
    """The identity of the crawl."""
    config: Config
    keys: ProcessKeys
    address: str
    """Where to listen; the address in full is the first line on stdout."""


def make_local_runner(folder: Path, config: Config) -> LocalRunner:
    """Make the runner for a crawl on this machine; UsageError if its shards are elsewhere than the settings say."""
    shards, places = config.crawl.shards, read_places(config.run.places)
    if not places:
        if away := list_away(folder):
            raise UsageError(
                f"run.places: not allowed; shard {away[0]} of this crawl is in another place, see place.json"
            )
        return LocalRunner(shards)
    if any(frontier_folder(folder, number).exists() for number in range(shards)):
        raise UsageError(f"run.places: not allowed; the shards of this crawl are in {folder} already")
    _check_host("run.address", config.run.address)
    for place in places:
        _check_host("run.places", place.host)
        try:
            place.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"run.places {place.folder}: {error.strerror}") from error
    return LocalRunner(shards, places, load_keys(folder, shards), config.run.lease_s, config.run.address)


def _check_host(setting: str, host: str) -> None:
    try:
        check_endpoint(name_endpoint(host))
    except zmq.ZMQError as error:
        raise UsageError(f"{setting}: nobody can listen at {host} on this machine: {error.strerror}") from error


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
