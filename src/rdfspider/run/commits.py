"""What came of visits, made durable in groups: WARC first, then the frontier, then the world is told.

A crash at any instant leaves either both or neither of a page's archive records and its state: the frontier's commit holds the
lengths of the WARC files, and what is beyond them is cut off at the next start.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from rdfspider.archive.writer import Written
from rdfspider.config import Config
from rdfspider.discover.routing import Router
from rdfspider.discover.scope import Scope, load_scope_additions, stage_scope_addition
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Capture, Discovered, Extraction, Finished
from rdfspider.run.data_counts import Survey
from rdfspider.run.heartbeat import Meter
from rdfspider.run.peers.messages import encode_links
from rdfspider.run.peers.peers import Peers
from rdfspider.run.shard_archive import WARC_LENGTHS, find_full, open_archive, write_outcome

# How long something waits for others to be made durable with it.
_GROUP_S = 0.2
_ROOM_POLL_S = 1.0
# What one commit takes of what waits, and so for how long it holds up the loop and how much memory it needs: bytes of bodies
# and statements, and links, each of which may be to a host of its own.
_COMMIT_BYTES = 16 * 1024 * 1024
_COMMIT_LINKS = 10_000


class Committer:
    """The group that waits, and the way to the disk."""

    def __init__(
        self,
        number: int,
        folder: Path,
        config: Config,
        frontier: Frontier,
        scope: Scope,
        router: Router,
        meter: Meter,
    ) -> None:
        self._number = number
        self._folder = folder
        self._config = config
        self._frontier = frontier
        self._scope = scope
        self._router = router
        self._meter = meter
        self.scope_additions: list[str] = load_scope_additions(frontier.get_meta)
        """URLs that seeds redirected to: they widen the scope."""
        self.suspended = ""
        """Why nothing can be made durable now; empty when it can."""
        self._archive = open_archive(number, folder, config, frontier)
        self.archive_bytes = sum(self._archive.positions().values())
        """The length of its files as of the last commit."""
        self.survey = Survey(frontier)
        """What the pages that are on record state."""
        self._new_scope: list[str] = []
        self._group: deque[Finished] = deque()
        self._in_commit = 0
        self.waiting_bytes = 0
        """Bodies and statements that are not durable yet."""
        self.waiting_body_bytes = 0
        """Of these, the bodies."""
        self._is_finishing = False
        self.has_wider_scope = False
        """Whether the scope has grown by what seeds redirect to; who asks turns it off."""
        self.turn = asyncio.Lock()
        """Held by whoever commits: others are told of all that is committed by then, and it must be durable first."""
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
        """Begin with the scope of the seeds, and of what they were found to redirect to."""
        for url in (*seeds, *self.scope_additions):
            self._scope.extend(url)

    def add(self, finished: Finished) -> None:
        """Take an outcome into the group."""
        self._group.append(finished)
        self.waiting_bytes += count_bytes(finished)
        self.waiting_body_bytes += count_body_bytes(finished)
        if len(self._group) >= self._config.run.group_pages or self.waiting_bytes >= _COMMIT_BYTES:
            self._due.set()
        else:
            self.note()

    def receive(self, source: int, epoch: int, sequence: int, links: list[Discovered]) -> None:
        """Links that another shard found; they are acknowledged when they are durable."""
        for link in links:
            if link.found_as == "seed":
                self._take_into_scope(link.url)
        # Whether they are in scope was judged by who found them, who may know already what widens it.
        self._frontier.receive(source, epoch, sequence, links)
        self.note()

    def discover(self, found: Sequence[Discovered]) -> None:
        """Stage URLs before the page that they were found on: because it waits for them, or because they are very many."""
        self._schedule(found)
        self.note()

    def widen_scope(self, additions: Iterable[str]) -> None:
        """Other shards found that seeds lead there; this shard's links may go there too."""
        told = dict.fromkeys(additions)
        for url in told:
            self._take_into_scope(url)
        # What this shard found itself meanwhile is still to be told.
        self._new_scope = [url for url in self._new_scope if url not in told]

    def note(self) -> None:
        """Something was staged in the frontier: it is made durable soon."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_GROUP_S, self._due.set)

    def hurry(self) -> None:
        """Nothing else is under way, so nothing is worth waiting for."""
        if not self.is_settled:
            self._due.set()

    async def run(self, peers: Peers, tell: Callable[[], None]) -> None:
        """Commit whenever a group is due, and tell when it is done; raises when the disk fails."""
        try:
            while not (self._is_finishing and self.is_settled):
                await self._due.wait()
                await self._wait_for_room()
                async with self.turn:
                    await self._commit(peers)
                tell()
            self.survey.stage(float("inf"))
            self._frontier.commit()
            await asyncio.to_thread(self._frontier.sync)
        finally:
            tell()

    @property
    def free_bytes(self) -> int:
        """The room for what is to be archived."""
        return self._archive.free_bytes

    def finish(self) -> None:
        """Nothing more will come: `run` returns when all is durable."""
        self._is_finishing = True
        self._due.set()

    def close(self) -> None:
        """Close the archive; what was not committed is cut off at the next start."""
        self._archive.close()

    async def _commit(self, peers: Peers) -> None:
        """Make durable all that is finished or staged now."""
        self._due.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        group = self._take_group()
        self._in_commit = len(group)
        with self._meter.of("archive"):
            written = [self._write(item) for item in group]
            self._archive.flush()
            lengths = self._archive.positions()
        await asyncio.to_thread(self._archive.sync)
        if group:
            with self._meter.of("survey"):
                self.survey.add((item.extraction for item in group if item.extraction is not None), time.time())
                self.survey.stage(time.monotonic())
        with self._meter.of("frontier"):
            for item, record in zip(group, written, strict=True):
                self._stage(item, record)
            if group:
                self._frontier.put_meta(WARC_LENGTHS, msgspec.msgpack.encode(lengths))
            self._frontier.commit()
        await asyncio.to_thread(self._frontier.sync)
        self._archive.publish()
        self.archive_bytes = sum(lengths.values())
        self._in_commit = 0
        self.waiting_bytes -= sum(map(count_bytes, group))
        self.waiting_body_bytes -= sum(map(count_body_bytes, group))
        peers.permits.spend(sum(item.verdict.is_page for item in group))
        if self._new_scope:
            peers.tell_scope(tuple(self._new_scope))
            self._new_scope.clear()
        peers.after_commit()

    def _take_group(self) -> list[Finished]:
        """The oldest outcomes, as many as one commit may take, one at least; the rest follows at once."""
        group: list[Finished] = []
        load = 0.0
        while self._group:
            load += count_bytes(self._group[0]) / _COMMIT_BYTES + len(self._group[0].found) / _COMMIT_LINKS
            if group and load > 1.0:
                self._due.set()
                break
            group.append(self._group.popleft())
        return group

    def _write(self, item: Finished) -> Written | None:
        if not item.verdict.is_final:
            return None
        via = (self._frontier.url_of(item.lease.via) if item.lease.via else None) or ""
        return write_outcome(self._archive, item, via)

    def _stage(self, item: Finished, written: Written | None) -> None:
        """All that follows from one outcome, in the frontier's next commit."""
        if written is not None and isinstance(item.exchange, Capture):
            # An answer "not modified" need not repeat what it was asked by.
            is_same = item.exchange.status == 304
            etag = item.exchange.header("etag") or (item.lease.etag if is_same else "")
            last_modified = item.exchange.header("last-modified") or (item.lease.last_modified if is_same else "")
            # Nothing is kept of what is not there, or asks for that: when it is back it must come as a whole, the same or not.
            is_kept = 200 <= item.exchange.status < 300 and not item.judgement.robots.noindex
            self._frontier.record(
                item.lease,
                item.verdict,
                digest=written.digest if is_kept else "",
                etag=etag if is_kept else "",
                last_modified=last_modified if is_kept else "",
                captured=written.captured if is_kept else 0.0,
                body_bytes=len(item.exchange.page.body),
                quads=count_quads(item.extraction),
                position=written.position,
                judgement=item.judgement,
            )
        else:
            self._frontier.record(item.lease, item.verdict, position=written.position if written else None)
        self._schedule(item.found)

    def _schedule(self, found: Sequence[Discovered]) -> None:
        for link in found:
            if link.found_as == "seed":
                self._take_into_scope(link.url)
        routed = self._router.route(found)
        self._frontier.add(routed.own)
        for shard, links in routed.others.items():
            self._frontier.put_outbox(shard, encode_links(links))

    def _take_into_scope(self, url: str) -> None:
        """A seed leads to this URL: from now on its place is in scope, here and, once it is durable, in all shards."""
        if self._scope.extend(url):
            self.has_wider_scope = True
            self.scope_additions.append(url)
            stage_scope_addition(self._frontier.put_meta, self.scope_additions)
            self._new_scope.append(url)

    async def _wait_for_room(self) -> None:
        """Hold everything while disks are nearly full; the last group takes what room there is, or is fetched again later."""
        least = self._config.run.min_free_bytes
        while (full := find_full(self._folder, self._archive, least)) and not self._is_finishing:
            self.suspended = f"less than {least // 1_000_000:,} MB are free on the disk of {' and of '.join(full)}"
            await asyncio.sleep(_ROOM_POLL_S)
        self.suspended = ""


def count_quads(extraction: Extraction | None) -> int:
    """Statements of all syntaxes."""
    return sum(nquads.count("\n") for nquads in extraction.statements.values()) if extraction else 0


def count_bytes(finished: Finished) -> int:
    """What an outcome holds in memory, but for its links."""
    return count_body_bytes(finished) + (count_read_bytes(finished.extraction) if finished.extraction else 0)


def count_read_bytes(extraction: Extraction) -> int:
    """What was read from a page: its words and statements."""
    return len(extraction.text) + sum(map(len, extraction.statements.values()))


def count_body_bytes(finished: Finished) -> int:
    """Of that, the body."""
    return len(finished.exchange.page.body) if isinstance(finished.exchange, Capture) else 0
