"""The interface of runners: start a shard somewhere, and give the addresses of all shards.

`run_crawl` in `run/coordination.py` chooses the runner; everything after that knows nothing about machines. A runner for
several machines is another module beside `run/runners/local.py`.
"""

from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from rdfspider.config import Config
from rdfspider.errors import USAGE_EXIT
from rdfspider.frontier.entries import NOTHING_HEARD, LastHeard
from rdfspider.processes.supervisor import SupervisedChild
from rdfspider.run.peers.sockets import AddressBook


class ShardExit(IntEnum):
    """Exit codes of a shard's process."""

    USAGE = USAGE_EXIT
    """The shard cannot start before a user has repaired something; it has written what."""
    DAMAGED = 65
    """The shard's database is damaged, so a restart would not help."""
    STALE = 66
    """The frontier has had the epoch that it was given, so the shard needs a higher one."""
    DISK_FAILED = 75
    """The shard's disk is full or missing; it is restarted later."""


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


class Runner(Protocol):
    """Starts the processes of shards."""

    addresses: AddressBook
    """Where the coordinator, which is in this process, and each shard listen. A restarted shard keeps its address."""

    async def start(self, order: ShardOrder) -> SupervisedChild:
        """Start the process of a shard. The child can be waited for, and be killed."""
        ...

    def close(self) -> None:
        """Release the resources of the addresses, once no shard runs any more."""
        ...
