"""A watch over the shards of a running crawl: the beats that the coordinator has heard enter, shards that stand still are killed.

Which shards were not heard yet is said, and so is on disk which ones have run.
"""

import logging
import time
from collections.abc import Sequence
from pathlib import Path

from rdfspider.crawl.lives import note_run
from rdfspider.crawl.status import Unheard
from rdfspider.processes.supervisor import Supervisor
from rdfspider.run.peers.coordinator import Coordinator

_log = logging.getLogger(__name__)

# A shard that has not been heard for so long after its start is worth a warning.
_LATE_S = 60.0
# To note that a shard has run takes some milliseconds, once in the life of a crawl.
_NOTED_A_LOOK = 16


class ShardWatch:
    """Watches the processes of all shards."""

    def __init__(self, folder: Path, coordinator: Coordinator, supervisors: Sequence[Supervisor]) -> None:
        self._folder = folder
        self._coordinator = coordinator
        self._supervisors = supervisors
        self._noted: set[int] = set()
        """Shards of which it is on disk that they have run."""
        self._told: dict[int, int] = {}
        """The process of each shard that was named in a warning because it had not been heard."""
        self.unheard: tuple[Unheard, ...] = ()
        """Shards that were started long ago and have not been heard since."""

    def look(self) -> None:
        """Give each supervisor the last beat of its shard as a sign of life; it kills a stuck one. Called each second."""
        unheard, new = [], 0
        for number, supervisor in enumerate(self._supervisors):
            beat = self._coordinator.beats.get(number)
            heard = beat.time if beat is not None and beat.pid == supervisor.pid else None
            supervisor.watch(heard)
            if heard is not None and number not in self._noted and new < _NOTED_A_LOOK:
                # As it has a process, none of its lives begins at this moment.
                self.note_run(number)
                new += 1
            if supervisor.unheard_s > _LATE_S:
                unheard.append(Unheard(number, time.time() - supervisor.unheard_s))
                self._warn(number, supervisor)
        self.unheard = tuple(unheard)

    def note_run(self, number: int) -> None:
        """Note on disk that a shard has run, while none of its lives begins."""
        if number in self._noted:
            return
        try:
            note_run(self._folder, number)
        except OSError as error:
            # The disk is full or missing; it is tried again in a second.
            _log.debug("it cannot be noted that shard %d has run: %s", number, error)
        else:
            self._noted.add(number)

    def _warn(self, number: int, supervisor: Supervisor) -> None:
        pid = supervisor.pid
        if pid is not None and self._told.get(number) != pid:
            self._told[number] = pid
            _log.warning(
                "shard %d (process %d) has not been heard since it was started %.0f s ago",
                number,
                pid,
                supervisor.unheard_s,
            )
