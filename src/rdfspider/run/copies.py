"""Copies of a running crawl that a user asks for, with `rdfspider backup`: a ticket and a URL enter, how the copies stand leaves.

Each shard sends its own state, and the coordinator's process the small files, as for the crawl's own backup, but to any store and
once. No shard is told that anything is safe by such a copy: it may be anywhere, and nobody keeps it up. A copy to the crawl's own
store is a shipment of its backup, as a second life of a member would end the first.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from rdfspider.backup.manifests import HEAD
from rdfspider.backup.objects import Objects
from rdfspider.backup.pace import StoppedError
from rdfspider.backup.shipment import Snapshot
from rdfspider.config import BackupConfig, Config
from rdfspider.crawl.folder import identify_crawl
from rdfspider.crawl.messages import Command, CommandAnswer, CopyState
from rdfspider.errors import UsageError
from rdfspider.run.backups import measure
from rdfspider.run.peers.coordinator import Coordinator, Outgoing
from rdfspider.run.peers.messages import Control, ControlCommand
from rdfspider.run.shipping import Shipped, Shipping, run_in_thread
from rdfspider.run.snapshots import COPY_HEAD_COPIES, HeadSnapshots
from rdfspider.run.store_owner import claim_store

_log = logging.getLogger(__name__)

# Whoever has asked for a copy, and does not ask how it stands for so long, has given up.
_PATIENCE_S = 10.0
# A shard that has died is back before that, unless something is wrong.
_AWAY_S = 60.0


class MemberCopies:
    """Sends copies of one member, one at a time."""

    def __init__(
        self,
        config: BackupConfig,
        member: str,
        take: Callable[[], Awaitable[Snapshot]],
        release: Callable[[], None],
        own: Shipping | None,
    ) -> None:
        """`take` and `release` are those of a Shipping, and use nothing of the crawl's `own` one."""
        self._config = config
        self._member = member
        self._take = take
        self._release = release
        self._own = own
        self._shipping: Shipping | None = None
        """The shipment that is under way, unless it is the crawl's own."""
        self._work: asyncio.Task[None] | None = None
        self._is_over = False
        self.state: CopyState | None = None
        """How the last copy stands."""

    def begin(self, ticket: str, url: str, crawl: str) -> None:
        """Send a copy of this crawl, by its identity, unless that of this ticket has begun already. One of another ticket is
        given up."""
        if self._is_over or (self.state is not None and self.state.ticket == ticket):
            return
        if self._shipping is not None:
            self._shipping.stop()
        self.state = CopyState(ticket)
        self._work = asyncio.create_task(self._copy(ticket, url, crawl, self._work))

    async def finish(self) -> None:
        """End what is under way, as the crawl ends; the frontier may be closed then."""
        self._is_over = True
        if self._shipping is not None:
            self._shipping.stop()
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait([self._work])

    async def _copy(self, ticket: str, url: str, crawl: str, before: asyncio.Task[None] | None) -> None:
        state = CopyState(ticket, problem="the crawl ends")
        try:
            if before is not None:
                # Its thread removes its checkpoint when it ends.
                await asyncio.wait([before])
            shipped = await self._ship(url, crawl)
            state = CopyState(ticket, True, "", measure(shipped.manifest), shipped.sent_bytes)
        except StoppedError:
            pass
        except (UsageError, OSError) as error:
            state = CopyState(ticket, problem=str(error))
        except Exception:
            _log.exception("the copy of %s failed", self._member)
            state = CopyState(ticket, problem="it failed, see the crawl's log")
        finally:
            if self.state is not None and self.state.ticket == ticket:
                self.state = state

    async def _ship(self, url: str, crawl: str) -> Shipped:
        if self._own is not None and await run_in_thread(lambda: self._is_own(url)):
            # The crawl's own backup goes on with it, whatever becomes of this copy.
            return await self._own.ship_apart()
        await run_in_thread(lambda: claim_store(Objects(url), crawl))
        config, limits = replace(self._config, url=url), self._own.limits if self._own else None
        self._shipping = Shipping(
            *(config, self._member, self._take), crawl=crawl, release=self._release, limits=limits
        )
        try:
            return await self._shipping.ship()
        finally:
            self._shipping = None

    def _is_own(self, url: str) -> bool:
        return self._own is not None and self._own.goes_to(url)


class CrawlCopies:
    """Has all members of a crawl send copies; for the coordinator's process."""

    def __init__(self, folder: Path, config: Config, coordinator: Coordinator, own: Shipping | None) -> None:
        """`own` is the crawl's own backup of its small files."""
        snapshots = HeadSnapshots(folder, COPY_HEAD_COPIES)
        snapshots.clear()
        self._head = MemberCopies(config.backup, HEAD, snapshots.take, snapshots.clear, own)
        self._crawl = identify_crawl(folder)
        self._coordinator = coordinator
        self._numbers = range(config.crawl.shards)
        self._shards: dict[int, CopyState] = {}
        """Those that have ended, also if the shard has died since."""
        self._ticket, self._url, self._asked = "", "", 0.0
        """Of the last copy, and when it was asked for."""
        self._present: dict[int, float] = {}
        """When each shard was seen last."""
        self._away = ""
        """What is said of a shard that was waited for in vain."""

    def answer(self, command: Command) -> tuple[CommandAnswer, Outgoing]:
        """Begin a copy, or tell how it stands."""
        if self._coordinator.ended:
            return CommandAnswer(False, "the crawl ends before the copy is complete; try again when it has ended"), []
        if not (command.ticket and command.to):
            return CommandAnswer(False, "a backup needs a ticket, and where it goes (to)"), []
        self.look()
        now = time.monotonic()
        if command.ticket == self._ticket:
            # If nobody has asked for so long, shards that have arrived meanwhile know nothing of it.
            is_late, self._asked = now > self._asked + _PATIENCE_S, now
            is_open = len(self._shards) < len(self._numbers) and not self._find_problem()
            return self._tell(), self._order_copies() if is_late and is_open else []
        if self._ticket and self._list_waiting() and now < self._asked + _PATIENCE_S:
            return CommandAnswer(False, f"a copy to {self._url} is under way"), []
        self._ticket, self._url, self._asked, self._shards = command.ticket, command.to, now, {}
        self._present, self._away = dict.fromkeys(self._numbers, now), ""
        return self._tell(), self._order_copies()

    def look(self) -> None:
        """Note which shards are done. The small files come last, as they make shards a crawl. Shards that arrive later are not
        asked when the copy is complete, cannot be completed, or is given up."""
        if not self._ticket:
            return
        now = time.monotonic()
        for shard, beat in self._coordinator.beats.items():
            if (copy := beat.copy) is not None and copy.ticket == self._ticket and (copy.is_done or copy.problem):
                self._shards[shard] = copy
        self._present |= dict.fromkeys(self._coordinator.present, now)
        for shard in self._numbers:
            if shard not in self._shards and now > self._present[shard] + _AWAY_S:
                self._away = f"shard {shard} has been away for {_AWAY_S:.0f} seconds; try again when it is back"
        is_sent = len(self._shards) == len(self._numbers)
        if is_sent or self._find_problem() or now > self._asked + _PATIENCE_S:
            self._coordinator.withdraw(ControlCommand.COPY)
        if is_sent and not self._find_problem():
            self._head.begin(self._ticket, self._url, self._crawl)

    async def finish(self) -> None:
        """End what is under way."""
        await self._head.finish()

    def _order_copies(self) -> Outgoing:
        return self._coordinator.announce(
            Control(ControlCommand.COPY, self._ticket, additions=(self._url, self._crawl))
        )

    def _list_waiting(self) -> tuple[str, ...]:
        """What is not sent yet; nothing if something cannot be."""
        if self._find_problem():
            return ()
        head = self._head.state
        is_whole = head is not None and head.ticket == self._ticket and head.is_done
        shards = (f"shard {number}" for number in self._numbers if number not in self._shards)
        return (*shards, *(() if is_whole else ("settings and seeds",)))

    def _find_problem(self) -> str:
        problems = [f"shard {shard}: {copy.problem}" for shard, copy in sorted(self._shards.items()) if copy.problem]
        head = self._head.state
        if head is not None and head.ticket == self._ticket and head.problem:
            problems.append(head.problem)
        if self._away:
            problems.append(self._away)
        return problems[0] if problems else ""

    def _tell(self) -> CommandAnswer:
        if problem := self._find_problem():
            return CommandAnswer(False, problem)
        done = [*self._shards.values(), self._head.state or CopyState("")]
        waiting = self._list_waiting()
        size, sent = sum(copy.bytes for copy in done), sum(copy.sent_bytes for copy in done)
        return CommandAnswer(True, count=len(self._numbers), waiting=waiting, bytes=size, sent_bytes=sent)
