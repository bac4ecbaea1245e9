"""The status of a crawl that runs: what the coordinator and the indexer know enters, `status.json` leaves."""

import logging
import time
from pathlib import Path

import msgspec

from rdfspider.config import CrawlConfig
from rdfspider.crawl.budgets import EndReason, list_limits
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.status import Speed, Status, Unheard, forget_run, strip_beat, sum_beats, write_status
from rdfspider.run.index_watch import IndexWatch
from rdfspider.run.peers.coordinator import Coordinator

_log = logging.getLogger(__name__)


class RunStatus:
    """Makes and writes the status of one run."""

    def __init__(
        self, folder: Path, previous: Status, started: float, coordinator: Coordinator, index: IndexWatch | None
    ) -> None:
        """`previous` is the status of the last run, and `started` when this one began."""
        self._folder = folder
        self._coordinator = coordinator
        self._index = index
        self._previous = tuple(map(forget_run, previous.shards))
        self._spent_s = previous.elapsed_s
        self._started = started
        self._speed = Speed()
        self.written_state: RunState | None = None
        """The state in the last status that was written, or should have been."""
        self._is_written = True
        """Whether the last status could be written."""

    def write_present(self, status: Status, *, indexes_rest: bool) -> Status:
        """Write and return a status, in which a crawl that is ending has not ended yet. `indexes_rest` tells whether only the
        indexer still works."""
        if self._coordinator.ended:
            status = msgspec.structs.replace(status, state=self._coordinator.state)
            if indexes_rest:
                behind = status.index.behind_pages if status.index else 0
                what = f"indexing the last pages, about {behind:,}" if behind else "the index is brought up to date"
                status = msgspec.structs.replace(status, reason=what)
        self.write(status)
        return status

    def write(self, status: Status) -> None:
        """Write a status; failures are only logged, as the crawl waits for a full or missing disk to come back."""
        self.written_state = status.state
        try:
            write_status(self._folder, status)
        except OSError as error:
            if self._is_written:
                _log.warning("the status cannot be written: %s", error)
            self._is_written = False
        else:
            self._is_written = True

    def make(
        self,
        crawl: CrawlConfig,
        ended_by: EndReason | None = None,
        error: str = "",
        unheard: tuple[Unheard, ...] = (),
    ) -> Status:
        """Make the present status. `ended_by` is a reason that goes before the coordinator's, as of a signal."""
        beats = self._coordinator.beats
        # Until a shard sends a beat, that of the previous run stands in for it.
        earlier = [beat for beat in self._previous if beat.shard not in beats]
        known = sorted((*beats.values(), *earlier), key=lambda beat: beat.shard)
        totals = sum_beats(known)
        pages_s, bytes_s = self._speed.measure(time.monotonic(), totals)
        state, reason = self._coordinator.state, ""
        if ended := self._coordinator.ended:
            ended = ended_by or ended
            state, reason = ended.state, ended.value
            if error:
                state, reason = RunState.STOPPED, error
        return Status(
            state=state,
            reason=reason,
            started=self._started,
            updated=time.time(),
            run_s=self._coordinator.ran_s - self._spent_s,
            elapsed_s=self._coordinator.ran_s,
            pages_s=pages_s,
            bytes_s=bytes_s,
            limits=list_limits(crawl),
            totals=totals,
            shards=tuple(map(strip_beat, known)),
            unheard=unheard,
            index=self._index.status if self._index else None,
        )
