"""One shard: leases from the frontier enter, outcomes leave for the commit.

A lease becomes a visit (`_pump`). A visit resolves a host, or fetches a robots.txt or a page (`_visit`). A page is extracted,
judged and searched for links (`_process_page`), and its outcome waits in a group until it is committed (`run/commits.py`).
Everything runs in one event loop, so nothing here needs a lock.
"""

import asyncio
import os
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from rdfspider.codes import DuplicateKind, FailureCode, LeaseKind, Reason, Truncation, VerdictState
from rdfspider.crawl.folder import DOCUMENTS, read_seeds, shard_folder
from rdfspider.crawl.messages import RunState
from rdfspider.discover.filters import Filters
from rdfspider.discover.finder import Finder, follow_redirect
from rdfspider.discover.parameters import ParameterDropper
from rdfspider.discover.scope import Router, Scope
from rdfspider.documents import KeptDocuments
from rdfspider.domains import Domains
from rdfspider.fetch.fetcher import Fetcher
from rdfspider.fetch.robots import RecentRules, make_user_agent
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import Refusal, RobotsAnswer
from rdfspider.frontier.frontier import Frontier
from rdfspider.judge.judgement import PageJudge, apply_judgement, judge_directives
from rdfspider.records import Capture, Discovered, Failure, Finished, Judgement, Lease, Verdict
from rdfspider.run.commits import Committer, ShardStore
from rdfspider.run.extraction import Extractor
from rdfspider.run.heartbeat import Condition, Meter, make_beat
from rdfspider.run.live_changes import LiveChanges
from rdfspider.run.peers.admission import Admission
from rdfspider.run.peers.coordinator_client import PeerHandlers
from rdfspider.run.peers.messages import Control, ControlCommand
from rdfspider.run.peers.peers import Peers
from rdfspider.run.prerequisites import Contexts, classify_prerequisite, trim_prerequisite
from rdfspider.run.runners.runner import ShardOrder
from rdfspider.urls import host_of
from rdfspider.ways import Way

# A visit that waits for its address holds no connection, so there are more visits than connections.
_VISITS_PER_CONNECTION = 3
# Fetching pauses when this many groups wait for the disk.
_WAITING_GROUPS = 4
_BEAT_S = 1.0
# Links that are scheduled in one step.
_MANY_LINKS = 10_000


class Shard:
    """The parts of one shard and its main loop."""

    def __init__(self, order: ShardOrder, domains: Domains) -> None:
        """A shard that is restarted within a run does not retry unanswered seeds: nothing has been repaired since."""
        self._number = number = order.number
        self._folder = folder = order.folder
        self._config = config = order.config
        clock = Clock()
        self._meter = Meter()
        self._frontier = Frontier(shard_folder(folder, number) / "frontier", config, domains, number, clock)
        self._domains = domains
        self._scope = scope = Scope(config.crawl, domains)
        self._router = Router(scope, domains, number, self._meter.turned_away)
        self._rules = RecentRules()
        dropper = ParameterDropper(config.crawl.drop_parameters)
        self._finder = Finder(
            config.crawl,
            domains,
            is_inside=self._is_inside,
            list_sitemaps=self._rules.list_sitemaps,
            dropper=dropper,
            turned_away=self._meter.turned_away,
        )
        wanted_types = tuple(transform.media_type for transform in config.extract.transforms)
        self._fetcher = Fetcher(
            config.fetch,
            make_user_agent(config.fetch.contact),
            clock,
            pace=config.frontier,
            wanted_types=wanted_types,
            kept_bytes=self._count_kept_bodies,
        )
        self._store = ShardStore(number, shard_folder(folder, number), config, self._frontier, self._meter)
        self._committer = Committer(self._store, self._frontier, scope, self._router, config.run.group_pages)
        self._peers = Peers(
            number,
            order.addresses,
            self._frontier,
            config,
            PeerHandlers(
                on_control=self._apply_control,
                on_links=self._committer.receive,
                is_idle=self._is_idle,
                wake=self._wake_up,
                note=self._committer.note,
            ),
            scope=tuple(self._committer.scope_additions),
            clock=clock,
        )
        documents = KeptDocuments(folder / DOCUMENTS, config.extract.documents)
        self._contexts = Contexts(
            documents, self._committer.discover, domains.domain, attempts=config.frontier.attempts
        )
        self._extractor = Extractor(
            shard_folder(folder, number), config, self._contexts, self._peers.permits, self._meter, self._wake_up
        )
        self._admission = Admission(
            self._peers.gate,
            self._frontier,
            config.fetch,
            flight_bytes=lambda: self._fetcher.flight_bytes,
            kept_bytes=self._count_kept,
            on_enter=self._note_request,
        )
        self._changes = LiveChanges(
            self._frontier,
            scope,
            self._router,
            self._committer.turn,
            read_seeds=lambda: read_seeds(folder),
            should_stop=lambda: self._is_stopping,
            on_end=self._note_failure,
        )
        self._judge = PageJudge(domains, dropper.drop, self._peers.claims.claim, self._frontier.contents.find_alike)
        self._visits: set[asyncio.Task[None]] = set()
        self._waiting_visits: dict[asyncio.Task[None] | None, Lease] = {}
        """Visits that have sent no request yet, and so can be cancelled, with their leases."""
        self._failed: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()
        self._is_ready = False
        """Whether start-up is complete; before that, the shard is never idle."""
        self._retries_seeds = not order.is_again
        self._was_idle = False
        self._is_paused = False
        self._is_stopping = False
        self._slowed = ""
        """Why no new visits are started at the moment; empty if they are."""

    async def run(self) -> None:
        """Crawl until a stop is requested, then finish the visits under way.

        An error ends the shard without clean-up, like a crash: nothing is lost, and hosts get their full pause at the next start.
        """
        self._committer.set_scope(read_seeds(self._folder))
        await self._peers.start()
        beats = asyncio.create_task(self._beat())
        beats.add_done_callback(self._note_failure)
        self._changes.note_seeds()
        await self._changes.finish()
        if self._retries_seeds:
            # By the coordinator's welcome it is known whether the crawl is already over.
            await self._peers.welcome.wait()
            await self._changes.retry_seeds()
        self._is_ready = True
        commits = asyncio.create_task(self._committer.run(self._peers, self._after_commit))
        await self._pump(commits)
        await self._changes.finish()
        self._cancel_waiting_visits()
        late: set[asyncio.Task[None]] = set()
        if self._visits:
            _, late = await asyncio.wait(self._visits, timeout=self._config.fetch.timeout_s)
        self._committer.finish()
        await commits
        beats.cancel()
        self._send_beat()
        await self._close(is_clean=not late)

    def stop(self) -> None:
        """Start no more visits, and end when everything is durable."""
        self._is_stopping = True
        self._wake.set()

    async def _pump(self, commits: asyncio.Task[None]) -> None:
        """Start a visit for every available lease, then sleep until there may be another."""
        loop = asyncio.get_running_loop()
        while not self._is_stopping:
            self._wake.clear()
            for task in (commits, *self._failed):
                if task.done():
                    # Raises if the disk or our code failed: what was not committed is fetched again after a restart.
                    task.result()
            with self._meter.of("lease"):
                while self._may_lease() and (lease := self._frontier.lease()):
                    self._start_visit(lease)
                wait_s = self._frontier.next_lease_in_s() if self._may_lease() else None
            if not self._visits:
                self._committer.hurry()
                self._tell_idleness()
            elif self._frontier.has_staged:
                # Staged URLs may be due, but can only be leased once they are durable.
                self._committer.note()
            timer = loop.call_later(wait_s, self._wake.set) if wait_s is not None else None
            await self._wake.wait()
            if timer is not None:
                timer.cancel()

    def _may_lease(self) -> bool:
        return (
            self._peers.welcome.is_set()
            and not (self._is_paused or self._is_stopping or self._slowed)
            and len(self._visits) < _VISITS_PER_CONNECTION * self._config.fetch.connections
            and self._committer.waiting < _WAITING_GROUPS * self._config.run.group_pages
            and self._count_kept() < self._config.fetch.max_flight_bytes
            and not self._committer.suspended
            and not self._peers.is_outbox_full
            and self._peers.permits.has_one()
        )

    def _start_visit(self, lease: Lease) -> None:
        if lease.kind == LeaseKind.PAGE:
            self._peers.permits.reserve()
        self._meter.visits[lease.kind] += 1
        visit = asyncio.create_task(self._visit(lease))
        self._visits.add(visit)
        self._waiting_visits[visit] = lease
        visit.add_done_callback(partial(self._end_visit, lease))

    def _end_visit(self, lease: Lease, visit: asyncio.Task[None]) -> None:
        self._visits.discard(visit)
        self._waiting_visits.pop(visit, None)
        self._meter.visits[lease.kind] -= 1
        self._meter.end_fetch(lease)
        if visit.cancelled():
            if lease.kind == LeaseKind.PAGE:
                self._peers.permits.give_back()
            self._frontier.release(lease, None)
        self._note_failure(visit)

    def _cancel_waiting_visits(self) -> None:
        """Cancel the visits that have sent no request yet or wait for a context; their URLs can be leased again."""
        self._contexts.call_off()
        for visit in self._waiting_visits:
            if visit is not None:
                visit.cancel()

    def _note_failure(self, task: asyncio.Task[None]) -> None:
        """Record a failed task, and wake the loop, which raises its error."""
        if not task.cancelled() and task.exception():
            self._failed.append(task)
        self._wake.set()

    async def _visit(self, lease: Lease) -> None:
        """Do the work of a lease, and release it."""
        match lease.kind:
            case LeaseKind.NAME:
                await self._resolve_host(lease)
            case LeaseKind.ROBOTS:
                await self._fetch_robots(lease)
            case _:
                await self._visit_page(lease)

    async def _resolve_host(self, lease: Lease) -> None:
        """Look up a host's addresses."""
        answer = await self._fetcher.resolver.resolve(lease.host)
        self._meter.count_failure(answer.failure)
        self._frontier.release(lease, answer)
        self._committer.note()

    async def _fetch_robots(self, lease: Lease) -> None:
        """Fetch a robots.txt; its rules apply to its origin until it expires."""
        state, exchange, delay_s = await self._fetcher.fetch_robots(lease, choose_address(lease), self._admission)
        self._meter.count_failure(exchange.code if isinstance(exchange, Failure) else "")
        self._meter.count_robots(state)
        self._frontier.release(lease, RobotsAnswer(state, exchange, delay_s or 0.0))
        self._committer.note()

    async def _visit_page(self, lease: Lease) -> None:
        """Fetch and process a page, if filters and robots.txt allow it.

        A host without addresses does not exist or is private; the frontier knows which.
        """
        if refusal := self._router.find_refusal(lease.found_as, lease.url):
            # Filters may have changed since the URL was found.
            self._finish(Finished(lease, self._frontier.release(lease, Refusal(Reason.FILTERED, refusal))))
            return
        if not lease.addresses or not self._rules.allows(lease):
            self._meter.robots["disallowed"] += bool(lease.addresses)
            self._finish(
                Finished(lease, self._frontier.release(lease, Refusal(Reason.DISALLOWED, self._rules.explain(lease))))
            )
            return
        self._meter.robots["allowed"] += 1
        exchange = await self._fetch_page(lease)
        verdict = self._frontier.release(lease, exchange)
        if isinstance(exchange, Capture) and verdict.is_page and exchange.truncated != Truncation.UNWANTED:
            await self._process_page(lease, exchange, verdict)
            return
        self._finish_without_page(lease, exchange, verdict)

    def _finish_without_page(self, lease: Lease, exchange: Capture | Failure, verdict: Verdict) -> None:
        """Finish a visit that gave no page to extract: an error, a redirect, or an unsupported media type."""
        found: Sequence[Discovered] = ()
        judgement = Judgement()
        if isinstance(exchange, Capture):
            judgement = judge_directives(exchange, None, exchange.started)
            if verdict.reason == Reason.REDIRECT:
                found = follow_redirect(lease, exchange.redirect)
                if lease.found_as == Way.CONTEXT:
                    found = self._contexts.lead(lease, found)
            elif verdict.is_page and lease.found_as != Way.CONTEXT:
                # The media type is unsupported, but the origin may have sitemaps.
                found = self._finder.find_sitemaps(lease)
        self._finish(Finished(lease, classify_prerequisite(lease, verdict), exchange, None, found, judgement))

    async def _process_page(self, lease: Lease, capture: Capture, verdict: Verdict) -> None:
        """Extract a page, judge it, and find its links."""
        is_inside = self._is_inside(lease.url)
        if lease.found_as == Way.CONTEXT and (taken := self._contexts.take(lease, capture, is_inside=is_inside)):
            self._finish(Finished(lease, replace(verdict, reason=taken.reason), capture, None, taken.found))
            return
        extraction = await self._extractor.extract(lease, capture.page)
        if extraction is None:
            # The extractor has already returned its permit.
            self._committer.add(Finished(lease, Verdict(VerdictState.RETRY, Reason.CONTEXT)))
            return
        verdict = classify_prerequisite(lease, verdict, extraction, is_inside=is_inside)
        if verdict.is_page:
            self._contexts.take_found(capture.page, extraction.media_type)
            judgement = await self._judge.judge(lease, capture, extraction)
            if judgement.duplicate in (DuplicateKind.EXACT, DuplicateKind.NEAR):
                owner = self._domains.shard(host_of(judgement.original))
                self._peers.claims.tell_owner(owner, lease.url, judgement.original)
            verdict, extraction = apply_judgement(verdict, extraction, judgement)
        else:
            judgement = judge_directives(capture, extraction, capture.started)
            extraction = trim_prerequisite(lease, verdict, extraction, is_inside=is_inside)
        queried, extraction = await self._extractor.query(self._finder.query, capture.page, extraction)
        found = self._finder.find(lease, capture, extraction, judgement, queried)
        while len(found) > _MANY_LINKS:
            # A sitemap may have so many links that scheduling them in one step would stall the loop.
            self._committer.discover(found[-_MANY_LINKS:])
            del found[-_MANY_LINKS:]
            await asyncio.sleep(0)
        self._finish(Finished(lease, verdict, capture, extraction, found, judgement))

    async def _fetch_page(self, lease: Lease) -> Capture | Failure:
        """Send one request, once its address and a connection are free."""
        address = choose_address(lease)
        await self._admission.acquire(address)
        try:
            exchange = await self._fetcher.fetch_page(lease, address)
            if isinstance(exchange, Failure) and exchange.code == FailureCode.BUSY:
                self._admission.narrow()
            return exchange
        finally:
            self._meter.end_fetch(lease)
            self._admission.release(address)

    def _finish(self, finished: Finished) -> None:
        """Count an outcome, and pass it to the committer."""
        if not finished.verdict.is_page:
            self._peers.permits.give_back()
        self._contexts.settle(finished.lease, finished.verdict, finished.found)
        self._meter.count(finished.lease.host, finished.verdict, finished.exchange)
        self._committer.add(finished)

    def _note_request(self) -> None:
        """Note that the current visit sends its request now, so it can no longer be cancelled."""
        if lease := self._waiting_visits.pop(asyncio.current_task(), None):
            self._meter.begin_fetch(lease)

    def _apply_control(self, control: Control) -> None:
        """Carry out a command that the coordinator sends to all shards."""
        match control.command:
            case ControlCommand.PAUSE:
                self._is_paused = True
                self._cancel_waiting_visits()
            case ControlCommand.RESUME:
                self._is_paused = False
                self._contexts.go_on()
            case ControlCommand.SLOW:
                self._slowed = control.reason
            case ControlCommand.STOP:
                self._is_stopping = True
                # If the crawl is halted a moment later, no further beat is received.
                self._send_beat()
            case ControlCommand.HALT:
                # Like a power failure, this loses nothing, and hosts get their full pause at the next start.
                os._exit(0)
            case ControlCommand.SCOPE:
                self._committer.widen_scope(control.additions)
                self._changes.note()
            case ControlCommand.FILTERS:
                self._scope.change_filters(Filters(control.include, control.exclude))
                self._changes.note()
            case ControlCommand.SEEDS:
                self._changes.note_seeds()
        self._wake.set()

    def _is_inside(self, url: str) -> bool:
        return not self._scope.find_refusal(url)

    def _count_kept(self) -> int:
        """Count the bytes of bodies, text and statements that wait for another process or for the disk."""
        return self._extractor.waiting_bytes + self._committer.waiting_bytes

    def _count_kept_bodies(self) -> int:
        """Count the bytes of these bodies. Only bodies limit further bodies: the statements of one page may be very large."""
        return self._extractor.waiting_body_bytes + self._committer.waiting_body_bytes

    def _after_commit(self) -> None:
        """Continue with what a durable group makes possible: its memory is free, and the scope may be wider."""
        if self._committer.has_wider_scope:
            self._committer.has_wider_scope = False
            self._changes.note()
        self._admission.admit()
        self._wake.set()

    def _wake_up(self) -> None:
        self._committer.note()
        self._wake.set()

    def _is_idle(self) -> bool:
        """Whether this shard has nothing to do and no links in transit to another shard."""
        return (
            self._is_ready
            and self._changes.are_done
            and not self._visits
            and self._committer.is_settled
            and self._frontier.next_lease_in_s() is None
            and self._peers.is_outbox_received
        )

    def _is_quiet(self) -> bool:
        """Whether this shard is paused and has nothing under way any more."""
        return self._is_paused and not self._visits and self._committer.is_settled

    def _tell_idleness(self) -> None:
        """Send a beat as soon as the shard becomes idle, so that neither the crawl's end nor a pause waits for the next one."""
        is_idle = self._is_idle() or self._is_quiet()
        if is_idle and not self._was_idle:
            self._send_beat()
        self._was_idle = is_idle

    async def _beat(self) -> None:
        while True:
            self._send_beat()
            # URLs also become due merely because time passes.
            self._wake.set()
            await asyncio.sleep(_BEAT_S)

    def _send_beat(self) -> None:
        condition = self._find_condition()
        self._peers.send_beat(make_beat(self._number, self._frontier, self._meter, self._store.data_counts, condition))

    def _find_condition(self) -> Condition:
        state, reason = RunState.RUNNING, ""
        if self._is_stopping:
            state = RunState.STOPPING
        elif self._is_quiet():
            state = RunState.PAUSED
        elif self._committer.suspended:
            state, reason = RunState.SUSPENDED, self._committer.suspended
        elif self._peers.is_outbox_full:
            state, reason = RunState.SUSPENDED, f"links wait for shards {', '.join(map(str, self._peers.missing))}"
        elif self._is_paused:
            state = RunState.PAUSING
        elif self._slowed:
            state, reason = RunState.SLOWED, self._slowed
        return Condition(
            state,
            reason,
            self._is_idle(),
            self._fetcher.open_connections,
            self._store.archive_bytes,
            self._store.free_bytes,
        )

    async def _close(self, is_clean: bool) -> None:
        """Close everything. If a visit was abandoned, the frontier stays open, so that the end does not count as clean."""
        await self._fetcher.close()
        self._extractor.close()
        await self._peers.close()
        self._store.close()
        if is_clean:
            self._frontier.close()


def choose_address(lease: Lease) -> str:
    """Choose an address of the host: each further attempt to fetch a page or a robots.txt takes the next one."""
    attempts = lease.attempts
    if lease.kind == LeaseKind.ROBOTS and lease.robots is not None:
        attempts = lease.robots.errors
    return lease.addresses[attempts % len(lease.addresses)]
