"""Group commit: the outcomes of leases enter and become durable, first in the WARC files, then in the frontier.

A ShardStore commits a shard's archive and frontier together. After a crash at any instant, a page has both its archive records
and its state, or neither: the frontier's commit contains the lengths of the WARC files, and what is beyond them is cut off at
the next start. Readers do not read beyond the published lengths. A Committer gathers the outcomes of a running shard into
groups; an import gathers its own.
"""

import asyncio
import errno
import logging
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from rdfspider.archive.writer import Written
from rdfspider.config import Config
from rdfspider.crawl.folder import advise_doctor, frontier_folder
from rdfspider.crawl.lives import has_run
from rdfspider.crawl.status import read_status
from rdfspider.discover.scope import Router, Scope, load_scope_additions, stage_scope_addition
from rdfspider.frontier.entries import PageFacts
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Capture, Discovered, Finished
from rdfspider.run.heartbeat import DataCounts, Meter
from rdfspider.run.peers.messages import encode_links
from rdfspider.run.peers.peers import Peers
from rdfspider.run.shard_archive import CLOSED_LENGTHS, WARC_LENGTHS, open_archive
from rdfspider.vocabulary.mechanics import count_data
from rdfspider.ways import Way

_log = logging.getLogger(__name__)

# Looked up once: an attribute of an enumeration takes longer than to compare with it.
_SEED = Way.SEED
# How long a group waits for more outcomes.
_GROUP_S = 0.2
_ROOM_POLL_S = 1.0
# Limits of one commit, which bound its memory and the time for which it blocks the loop: bytes of bodies, text and statements,
# and links, each of which may be to another host.
_COMMIT_BYTES = 16 * 1024 * 1024
_COMMIT_LINKS = 10_000


class ShardStore:
    """The archive and the frontier of a shard, which are always committed together."""

    def __init__(self, number: int, folder: Path, config: Config, frontier: Frontier, meter: Meter) -> None:
        """Open the archive; URLs whose archive records were lost are scheduled again."""
        self._folder = folder
        self._frontier = frontier
        self._meter = meter
        self._least_bytes = config.run.min_free_bytes
        self._archive = open_archive(number, folder, config, frontier)
        self._closed_bytes, self._stored_segments = sum(self._archive.closed_positions().values()), -1
        self.archive_bytes = self._closed_bytes + sum(self._archive.growing_positions().values())
        """The total length of the archive's files at the last commit."""
        self.data_counts = DataCounts(frontier)
        """Counts of the data on the committed pages."""

    async def commit(
        self,
        group: Sequence[Finished],
        stage: Callable[[Finished, Written | None], None],
        *,
        stores_names: bool = False,
    ) -> None:
        """Make a group of outcomes durable, and everything that is staged in the frontier by then.

        `stage` adds one outcome to the frontier's commit; it gets the outcome's archive record, or None if the outcome is not
        final. With `stores_names`, the counts of names are stored at once, otherwise every few seconds.
        """
        with self._meter.of("archive"):
            written = [self._write(finished) for finished in group]
            self._archive.flush()
            lengths = self._archive.growing_positions()
        await asyncio.to_thread(self._archive.sync)
        if group:
            # `cpu_s` of status.json has this name.
            with self._meter.of("survey"):
                self.data_counts.add((item.extraction for item in group if item.extraction is not None), time.time())
                self.data_counts.stage(float("inf") if stores_names else time.monotonic())
        with self._meter.of("frontier"):
            for finished, record in zip(group, written, strict=True):
                stage(finished, record)
            if group:
                self._stage_lengths(lengths)
            self._frontier.commit()
        await asyncio.to_thread(self._frontier.sync)
        self._archive.publish()
        self.archive_bytes = self._closed_bytes + sum(lengths.values())

    def _stage_lengths(self, growing: dict[str, int]) -> None:
        self._frontier.meta.put(WARC_LENGTHS, msgspec.msgpack.encode(growing))
        if self._archive.closed_segments != self._stored_segments:
            closed = self._archive.closed_positions()
            self._frontier.meta.put(CLOSED_LENGTHS, msgspec.msgpack.encode(closed))
            self._stored_segments, self._closed_bytes = len(closed), sum(closed.values())

    def read_lengths(self) -> dict[str, int]:
        """Return the length of each of the archive's files at the last commit."""
        return self._archive.positions()

    async def store_counts(self) -> None:
        """Make the counts durable, at the end of a run."""
        self.data_counts.stage(float("inf"))
        self._frontier.commit()
        await asyncio.to_thread(self._frontier.sync)

    @property
    def free_bytes(self) -> int:
        """The free disk space for the archive."""
        return self._archive.free_bytes

    def find_full(self) -> str:
        """Describe which disks are full: that of the shard's folder with the frontier, or all volumes of the archive. Empty if
        work can continue."""
        is_full = shutil.disk_usage(self._folder).free < self._least_bytes
        full = [str(self._folder)] if is_full else self._archive.find_full(self._least_bytes)
        if not full:
            return ""
        return f"less than {self._least_bytes // 1_000_000:,} MB are free on the disk of {' and of '.join(full)}"

    def close(self) -> None:
        """Close the archive; uncommitted records are cut off at the next start."""
        self._archive.close()

    def _write(self, finished: Finished) -> Written | None:
        """Append all records of one outcome. A page whose records cannot be encoded must not stop the shard now and after every
        restart, so only its verdict is written."""
        lease, verdict = finished.lease, finished.verdict
        if not verdict.is_final:
            return None
        via = (self._frontier.url_of(lease.via) if lease.via else None) or ""
        try:
            return self._archive.write_outcome(finished, via)
        except OSError:
            raise
        except Exception:
            _log.exception("the records of %s could not be written", lease.url)
            return self._archive.write_outcome(Finished(lease, verdict), via)


class Committer:
    """Gathers outcomes into groups and commits them."""

    def __init__(self, store: ShardStore, frontier: Frontier, scope: Scope, router: Router, group_pages: int) -> None:
        """A group is committed when it has `group_pages` outcomes, or after a moment."""
        self._store = store
        self._frontier = frontier
        self._scope = scope
        self._router = router
        self._group_pages = group_pages
        self.scope_additions: list[str] = load_scope_additions(frontier.meta.get)
        """URLs that seeds redirect to, which widen the scope."""
        self.suspended = ""
        """Why nothing can be committed at the moment; empty if it can."""
        self._new_scope: list[str] = []
        self._group: deque[Finished] = deque()
        self._in_commit = 0
        self.waiting_bytes = 0
        """Bodies, text and statements that are not durable yet."""
        self.waiting_body_bytes = 0
        """The bodies among them."""
        self._is_finishing = False
        self.has_wider_scope = False
        """Whether the scope has grown by redirects of seeds; the reader resets it."""
        self.turn = asyncio.Lock()
        """Held during a commit: peers hear of everything committed by then, so it must be durable first."""
        self._due = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        """Outcomes that are not durable yet."""
        return len(self._group) + self._in_commit

    @property
    def is_settled(self) -> bool:
        """Whether nothing waits to be made durable."""
        return not self.waiting and not self._frontier.has_staged

    def set_scope(self, seeds: Iterable[str]) -> None:
        """Initialise the scope with the seeds and the URLs that they redirect to."""
        for url in (*seeds, *self.scope_additions):
            self._scope.extend(url)

    def add(self, finished: Finished) -> None:
        """Add an outcome to the group."""
        self._group.append(finished)
        self.waiting_bytes += count_bytes(finished)
        self.waiting_body_bytes += count_body_bytes(finished)
        if len(self._group) >= self._group_pages or self.waiting_bytes >= _COMMIT_BYTES:
            self._due.set()
        else:
            self.note()

    def receive(self, links: list[Discovered]) -> None:
        """Take links that another shard found; they are acknowledged when they are committed."""
        for link in links:
            if link.found_as == _SEED:
                self._take_into_scope(link.url)
        # The sender has checked that they are in scope; it may know of a wider scope than this shard.
        self._frontier.add(links)
        self.note()

    def discover(self, found: Sequence[Discovered]) -> None:
        """Stage URLs before the page on which they were found, because it waits for them or they are too many for one step."""
        self._schedule(found)
        self.note()

    def widen_scope(self, additions: Iterable[str]) -> None:
        """Widen the scope by URLs that seeds redirect to, as other shards have found."""
        told = dict.fromkeys(additions)
        for url in told:
            self._take_into_scope(url)
        # What this shard has found itself in the meantime must still be sent.
        self._new_scope = [url for url in self._new_scope if url not in told]

    def note(self) -> None:
        """Note that something was staged in the frontier, so that it is committed soon."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GROUP_S, self._due.set)

    def hurry(self) -> None:
        """Commit at once, because no visit is under way that could add to the group."""
        if not self.is_settled:
            self._due.set()

    async def run(self, peers: Peers, tell: Callable[[], None]) -> None:
        """Commit whenever a group is due, and call `tell` after each commit; raises when the disk fails."""
        try:
            while not (self._is_finishing and self.is_settled):
                await self._due.wait()
                await self._wait_for_room()
                async with self.turn:
                    await self._commit(peers)
                tell()
            await self._store.store_counts()
        finally:
            tell()

    def finish(self) -> None:
        """Expect no more outcomes: `run` returns when all is durable."""
        self._is_finishing = True
        self._due.set()

    async def _commit(self, peers: Peers) -> None:
        """Commit the next group and all that is staged, then inform the peers."""
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        group = self._take_group()
        self._in_commit = len(group)
        await self._store.commit(group, self._stage)
        self._in_commit = 0
        self.waiting_bytes -= sum(map(count_bytes, group))
        self.waiting_body_bytes -= sum(map(count_body_bytes, group))
        peers.coordinator.permits.spend(sum(item.verdict.is_page for item in group))
        if self._new_scope:
            peers.coordinator.tell_scope(tuple(self._new_scope))
            self._new_scope.clear()
        peers.after_commit()

    def _take_group(self) -> list[Finished]:
        """Take the oldest outcomes, as many as one commit may have, at least one; the rest is committed right after."""
        group: list[Finished] = []
        load = 0.0
        while self._group:
            load += count_bytes(self._group[0]) / _COMMIT_BYTES + len(self._group[0].found) / _COMMIT_LINKS
            if group and load > 1.0:
                self._due.set()
                break
            group.append(self._group.popleft())
        return group

    def _stage(self, item: Finished, written: Written | None) -> None:
        """Stage everything that follows from one outcome for the frontier's next commit."""
        self._frontier.finish(item.lease, item.verdict, make_facts(item, written))
        self._schedule(item.found)

    def _schedule(self, found: Sequence[Discovered]) -> None:
        for link in found:
            if link.found_as == _SEED:
                self._take_into_scope(link.url)
        routed = self._router.route(found)
        self._frontier.add(routed.own)
        for shard, links in routed.others.items():
            self._frontier.outbox.put(shard, encode_links(self._frontier.introduce(links)))

    def _take_into_scope(self, url: str) -> None:
        """Widen the scope by a URL that a seed redirects to: here at once, in all shards when it is durable."""
        if self._scope.extend(url):
            self.has_wider_scope = True
            self.scope_additions.append(url)
            stage_scope_addition(self._frontier.meta.put, self.scope_additions)
            self._new_scope.append(url)

    async def _wait_for_room(self) -> None:
        """Wait while disks are nearly full; but the last group uses the room that is left, or is fetched again later."""
        while (full := self._store.find_full()) and not self._is_finishing:
            self.suspended = full
            await asyncio.sleep(_ROOM_POLL_S)
        self.suspended = ""


def make_facts(item: Finished, written: Written | None) -> PageFacts:
    """Collect what the frontier stores about an outcome, which is little if there was no response."""
    if written is None or not isinstance(item.exchange, Capture):
        return PageFacts(position=written.position if written else None)
    exchange = item.exchange
    # Errors and noindex pages keep no digest or validators: the next request must bring the whole body, changed or not.
    is_kept = 200 <= exchange.status < 300 and not item.judgement.robots.noindex
    return PageFacts(
        digest=written.digest if is_kept else "",
        etag=exchange.header("etag") if is_kept else "",
        last_modified=exchange.header("last-modified") if is_kept else "",
        captured=written.captured if is_kept else 0.0,
        body_bytes=len(exchange.page.body),
        quads=count_data(item.extraction.statements) if item.extraction else 0,
        position=written.position,
        judgement=item.judgement,
    )


def count_bytes(finished: Finished) -> int:
    """Count the memory that an outcome holds, without its links: its body, text and statements."""
    total = count_body_bytes(finished)
    if extraction := finished.extraction:
        total += len(extraction.text) + sum(map(len, extraction.statements.values()))
    return total


def count_body_bytes(finished: Finished) -> int:
    """Count the body of an outcome."""
    return len(finished.exchange.page.body) if isinstance(finished.exchange, Capture) else 0


def check_disk(folder: Path, number: int) -> None:
    """Raise FileNotFoundError if a shard that has run before has no frontier: no new one may replace one on a missing disk."""
    frontier = frontier_folder(folder, number)
    is_known = has_run(folder, number) or any(beat.shard == number for beat in read_status(folder).shards)
    if not frontier.is_dir() and is_known:
        advice = (
            f"its frontier is missing: mount its disk, or {advise_doctor(folder)}; with run.replace_lost it begins anew"
        )
        raise FileNotFoundError(errno.ENOENT, advice, str(frontier))
