"""What a crawl asks of whatever starts its shards: start one somewhere, say where all can be reached, end one.

`run/coordination.py` asks for it, and knows nothing of machines. A runner for several machines is another module beside
`run/runners/local.py`.
"""

from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from rdfspider.config import Config
from rdfspider.processes.supervisor import SupervisedChild
from rdfspider.run.peers.sockets import AddressBook


class ShardExit(IntEnum):
    """Exit codes by which the process of a shard tells why it ended."""

    UNUSABLE = 2
    """It cannot begin before a person has mended something, and has said what."""
    DAMAGED = 65
    """Its database cannot be read; that does not get better by itself."""
    DISK_FAILED = 75
    """Its disk is full or missing; it is started again later."""


class ShardOrder(NamedTuple):
    """What the process of a shard must know to begin."""

    number: int
    folder: Path
    """Of the crawl."""
    addresses: AddressBook
    config: Config
    is_again: bool = False
    """Whether the shard had died in this run."""
    parent_pid: int = 0
    """The process that started it, on the same machine; set by the runner. A shard whose parent is another process by now ends:
    nobody could stop it."""


class Runner(Protocol):
    """Starts the processes of shards."""

    addresses: AddressBook
    """Where the coordinator, which is in this process, and each shard listen. A shard that is started again has the same one."""

    async def start(self, order: ShardOrder) -> SupervisedChild:
        """Start the process of a shard. The child can be waited for, and be killed."""
        ...

    def close(self) -> None:
        """Let go of what the addresses needed; no shard runs any more."""
        ...
