"""What came of visits, made durable in groups: WARC first, then the frontier, then the world is told.

A crash at any instant leaves either both or neither of a page's archive records and its state: the frontier's commit holds the
lengths of the WARC files, and what is beyond them is cut off at the next start.
"""

import asyncio
import logging
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from xxhash import xxh3_64_hexdigest

from rdfspider import __version__
from rdfspider.archive.writer import ArchiveWriter, Written
from rdfspider.config import Config
from rdfspider.discover.scope import Scope
from rdfspider.frontier.frontier import Frontier
from rdfspider.records import Capture, Discovered, Extraction, Failure, Judgement, Lease, Verdict
from rdfspider.run.heartbeat import Meter
from rdfspider.run.peers.messages import encode_links
from rdfspider.run.peers.peers import Peers
from rdfspider.run.routes import Router
from rdfspider.run.rules import PRODUCT, make_user_agent

_log = logging.getLogger(__name__)

# How long something waits for others to be made durable with it.
_GROUP_S = 0.2
# Seeds that are put into the frontier in one batch.
_SEED_BATCH = 2_000
_ROOM_POLL_S = 1.0
# What one commit takes of what waits, and so for how long it holds up the loop and how much memory it needs: bytes of bodies
# and statements, and links, each of which may be to a host of its own.
_COMMIT_BYTES = 16 * 1024 * 1024
_COMMIT_LINKS = 10_000
# Additions to the scope that are stored together: a list of a million seeds may have nearly as many.
_SCOPE_PART = 256
# What the frontier keeps for us with each commit.
_WARC_LENGTHS, _SEEDS_MARK, _SCOPE_ADDITIONS = "warc-lengths", "seeds-mark", "scope-additions"


class Finished(NamedTuple):
    """What came of one lease."""

    lease: Lease
    verdict: Verdict
    exchange: Capture | Failure | None = None
    extraction: Extraction | None = None
    found: Sequence[Discovered] = ()
    judgement: Judgement = Judgement()


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
        self.scope_additions: list[str] = self._load_scope()
        """URLs that seeds redirected to: they widen the scope."""
        self.suspended = ""
        """Why nothing can be made durable now; empty when it can."""
        self._archive = self._open_archive()
        self._new_scope: list[str] = []
        self._group: deque[Finished] = deque()
        self._in_commit = 0
        self.waiting_bytes = 0
        """Bodies and statements that are not durable yet."""
        self.waiting_body_bytes = 0
        """Of these, the bodies."""
        self._is_finishing = False
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

    async def add_seeds(self, seeds: Sequence[str], should_stop: Callable[[], bool]) -> None:
        """Schedule the seeds that this shard owns, unless all of them were put in before."""
        mark = xxh3_64_hexdigest("\n".join(seeds).encode()).encode()
        if self._frontier.get_meta(_SEEDS_MARK) == mark:
            return
        for start in range(0, len(seeds), _SEED_BATCH):
            if should_stop():
                return
            batch = (Discovered(url, found_as="seed") for url in seeds[start : start + _SEED_BATCH])
            self._frontier.add(self._router.route(batch).own)
            self._frontier.commit()
            await asyncio.sleep(0)
        self._frontier.put_meta(_SEEDS_MARK, mark)
        self._frontier.commit()
        await asyncio.to_thread(self._frontier.sync)

    async def retry_seeds(self, should_stop: Callable[[], bool]) -> None:
        """Schedule the seeds again that failed without an answer."""
        while not should_stop() and self._frontier.retry_seeds(_SEED_BATCH):
            self._frontier.commit()
            await asyncio.sleep(0)

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
                await self._commit(peers)
                tell()
        finally:
            tell()

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
        with self._meter.of("frontier"):
            for item, record in zip(group, written, strict=True):
                self._stage(item, record)
            if group:
                self._frontier.put_meta(_WARC_LENGTHS, msgspec.msgpack.encode(lengths))
            self._frontier.commit()
        await asyncio.to_thread(self._frontier.sync)
        self._archive.publish()
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
        try:
            return self._archive.write_outcome(item.lease, item.verdict, item.exchange, item.extraction, via=via)
        except OSError:
            raise
        except Exception:
            # A page that cannot be written must not stop the shard, now and at each new start.
            _log.exception("the records of %s could not be written", item.lease.url)
            return self._archive.write_outcome(item.lease, item.verdict, None, None, via=via)

    def _stage(self, item: Finished, written: Written | None) -> None:
        """All that follows from one outcome, in the frontier's next commit."""
        if written is not None and isinstance(item.exchange, Capture):
            # An answer "not modified" need not repeat what it was asked by.
            is_same = item.exchange.status == 304
            self._frontier.record(
                item.lease,
                item.verdict,
                digest=written.digest,
                etag=item.exchange.header("etag") or (item.lease.etag if is_same else ""),
                last_modified=item.exchange.header("last-modified") or (item.lease.last_modified if is_same else ""),
                captured=written.captured,
                body_bytes=len(item.exchange.page.body),
                quads=count_quads(item.extraction),
                position=written.position,
                judgement=item.judgement,
            )
        else:
            self._frontier.record(item.lease, item.verdict, position=written.position if written else None)
        for link in item.found:
            if link.found_as == "seed":
                self._take_into_scope(link.url)
        routed = self._router.route(item.found)
        self._frontier.add(routed.own)
        for shard, links in routed.others.items():
            self._frontier.put_outbox(shard, encode_links(links))

    def _take_into_scope(self, url: str) -> None:
        """A seed leads to this URL: from now on its place is in scope, here and, once it is durable, in all shards."""
        if self._scope.extend(url):
            self.scope_additions.append(url)
            number = (len(self.scope_additions) - 1) // _SCOPE_PART
            last = self.scope_additions[number * _SCOPE_PART :]
            self._frontier.put_meta(f"{_SCOPE_ADDITIONS}-{number}", msgspec.msgpack.encode(last))
            self._new_scope.append(url)

    async def _wait_for_room(self) -> None:
        """Hold everything while the disk is nearly full; the last group takes what room there is, or is fetched again later."""
        least = self._config.run.min_free_bytes
        while not self._is_finishing and shutil.disk_usage(self._folder).free < least:
            self.suspended = f"less than {least // 1_000_000:,} MB are free where {self._folder} is"
            await asyncio.sleep(_ROOM_POLL_S)
        self.suspended = ""

    def _open_archive(self) -> ArchiveWriter:
        """The archive as of the frontier's last commit; URLs whose records were lost are scheduled again."""
        stored = self._frontier.get_meta(_WARC_LENGTHS)
        archive = ArchiveWriter(
            self._folder / "warc",
            self._config.archive,
            prefix=f"shard-{self._number:03}",
            info=_make_info(self._config.fetch.contact),
            committed=msgspec.msgpack.decode(stored, type=dict[str, int]) if stored else None,
        )
        for position in archive.lost:
            self._frontier.reschedule_after(*position)
        if archive.lost:
            self._frontier.commit()
        return archive

    def _load_scope(self) -> list[str]:
        found: list[str] = []
        while stored := self._frontier.get_meta(f"{_SCOPE_ADDITIONS}-{len(found) // _SCOPE_PART}"):
            found += msgspec.msgpack.decode(stored, type=list[str])
            if len(found) % _SCOPE_PART:
                break
        return found


def _make_info(contact: str) -> dict[str, str]:
    """What the archive says of the crawl."""
    agent = make_user_agent(contact)
    return {
        "software": f"{PRODUCT}/{__version__}",
        "operator": contact,
        "http-header-user-agent": agent,
        "robots": "RFC 9309",
    }


def count_quads(extraction: Extraction | None) -> int:
    """Statements of all syntaxes."""
    return sum(nquads.count("\n") for nquads in extraction.statements.values()) if extraction else 0


def count_bytes(finished: Finished) -> int:
    """What an outcome holds in memory, but for its links."""
    extraction = finished.extraction
    read_bytes = len(extraction.text) + sum(map(len, extraction.statements.values())) if extraction else 0
    return count_body_bytes(finished) + read_bytes


def count_body_bytes(finished: Finished) -> int:
    """Of that, the body."""
    return len(finished.exchange.page.body) if isinstance(finished.exchange, Capture) else 0
