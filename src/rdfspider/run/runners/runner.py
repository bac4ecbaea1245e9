"""The interface of runners: start a shard somewhere, and give the addresses of all shards.

`run_crawl` in `run/coordination.py` chooses the runner; everything after that knows nothing about machines. A runner for
several machines is another module beside `run/runners/local.py`.
"""

from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from rdfspider.config import Config
from rdfspider.crawl.folder import identify_crawl
from rdfspider.errors import USAGE_EXIT
from rdfspider.frontier.entries import NOTHING_HEARD, LastHeard
from rdfspider.places.keys import CrawlKeys, ProcessKeys
from rdfspider.processes.supervisor import SupervisedChild
from rdfspider.run.peers.coordinator_client import LEASE_OVER
from rdfspider.run.peers.sockets import AddressBook
from rdfspider.run.runners.places import Parcel


class ShardExit(IntEnum):
    """Exit codes of a shard's process."""

    USAGE = USAGE_EXIT
    """The shard cannot start before a user has repaired something; it has written what."""
    DAMAGED = 65
    """The shard's database is damaged, so a restart would not help."""
    STALE = 66
    """The frontier has had the epoch that it was given, so the shard needs a higher one."""
    SUPERSEDED = 67
    """A later life of the shard has begun elsewhere."""
    UNRESTORED = 68
    """The shard's folder is gone, and its backup is not whole; it has written what that lacks."""
    DISK_FAILED = 75
    """The shard's disk is full or missing; it is restarted later."""
    LEASE_OVER = LEASE_OVER
    """The shard has not heard the coordinator for too long."""


class ShardOrder(NamedTuple):
    """What the process of a shard needs to start."""

    number: int
    folder: Path
    """The crawl's folder."""
    addresses: AddressBook
    config: Config
    is_again: bool = False
    """Whether the shard has died in this run."""
    epoch: int = 0
    """The epoch of this life; see `crawl/lives.py`."""
    heard: LastHeard = NOTHING_HEARD
    """What was last heard of the shard's earlier lives."""
    parent_pid: int = 0
    """The process that started it, on the same machine; set by the runner. A shard whose parent has changed ends, because nothing
    could stop it. 0 if the runner watches the shard in another way."""
    lease_s: float = 0.0
    """How long the shard may live without an answer of the coordinator; 0 if for ever (`run/peers/lease.py`)."""
    keys: ProcessKeys | None = None
    """Keys for TCP; None without."""
    has_run: bool = False
    """Whether the shard has run before, so that it has a state somewhere."""
    parcel: Parcel | None = None
    """The files of the crawl, for a shard in a place of its own: then `folder` is the place's. None if it is the crawl's."""

    @property
    def crawl(self) -> str:
        """The identity of the crawl."""
        return self.parcel.crawl if self.parcel else identify_crawl(self.folder)


class Runner(Protocol):
    """Starts the processes of shards."""

    addresses: AddressBook
    """Where the coordinator, which is in this process, and each shard listen."""
    control: str
    """Where the coordinator takes the commands of users; it may be the same address as for shards."""
    keys: CrawlKeys | None
    """Keys for TCP; None without."""

    has_places: bool
    """Whether shards have folders of their own, so that they are sent what changes in the crawl's."""
    lease_s: float
    """How long a shard may live without an answer of the coordinator, which is how long its successor must wait if the runner
    cannot tell whether the process has ended; 0 if it always can."""

    async def start(self, order: ShardOrder) -> SupervisedChild:
        """Start the process of a shard. The child can be waited for, and be killed."""
        ...

    def tend(self) -> None:
        """Look after what runs beside the shards; called every second."""
        ...

    def close(self) -> None:
        """Release the resources of the addresses, once no shard runs any more."""
        ...
