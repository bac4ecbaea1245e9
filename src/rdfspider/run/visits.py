"""The visits of a shard: leases enter, outcomes leave for the commit.

A visit resolves a host, or fetches a robots.txt or a page. A page is extracted, judged and searched for links (`_process_page`),
and its outcome waits in a group until it is committed (`run/commits.py`).
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from rdfspider.codes import DuplicateKind, FailureCode, LeaseKind, Reason, Truncation, VerdictState
from rdfspider.crawl.folder import DOCUMENTS, shard_folder
from rdfspider.discover.finder import Finder, follow_redirect
from rdfspider.discover.parameters import ParameterDropper
from rdfspider.discover.scope import Router, Scope
from rdfspider.domains import Domains
from rdfspider.fetch.fetcher import Fetcher
from rdfspider.fetch.robots import RecentRules, make_user_agent
from rdfspider.fetch.shortages import NO_DESCRIPTOR
from rdfspider.frontier.clock import Clock
from rdfspider.frontier.entries import Refusal, RobotsAnswer
from rdfspider.frontier.frontier import Frontier
from rdfspider.judge.judgement import PageJudge, apply_judgement, judge_directives
from rdfspider.linked_documents import KeptDocuments
from rdfspider.records import Capture, Discovered, Extraction, Failure, Finished, Judgement, Lease, Page, Verdict
from rdfspider.run.commits import Committer
from rdfspider.run.extraction import Extractor
from rdfspider.run.heartbeat import Meter
from rdfspider.run.peers.admission import Admission
from rdfspider.run.peers.peers import Peers
from rdfspider.run.prerequisites import Contexts, classify_prerequisite, trim_prerequisite
from rdfspider.run.runners.runner import ShardOrder
from rdfspider.urls import host_of
from rdfspider.ways import Way

_log = logging.getLogger(__name__)

# Links that are scheduled in one step.
_MANY_LINKS = 10_000
# How long no visits start after this machine lacked something that they need.
_SHORTAGE_S = 5.0


@dataclass(frozen=True, slots=True)
class ShardParts:
    """The parts of a shard that its visits share with its main loop."""

    order: ShardOrder
    domains: Domains
    clock: Clock
    meter: Meter
    frontier: Frontier
    scope: Scope
    router: Router
    committer: Committer
    peers: Peers


class Visits:
    """The visits of one shard, and the parts that only they need. Its length is the number of visits under way."""

    def __init__(
        self, parts: ShardParts, wake: Callable[[], None], on_end: Callable[[asyncio.Task[None]], None]
    ) -> None:
        """`wake` is called when a permit is free, `on_end` when a visit has ended, also by an error."""
        order, config = parts.order, parts.order.config
        self._number = order.number
        self._domains = parts.domains
        self._frontier = parts.frontier
        self._scope = parts.scope
        self._router = parts.router
        self._committer = parts.committer
        self._permits = parts.peers.coordinator.permits
        self._meter = parts.meter
        self._on_end = on_end
        self._rules = RecentRules()
        dropper = ParameterDropper(config.crawl.drop_parameters)
        self._finder = Finder(
            config.crawl,
            parts.domains,
            is_inside=self._is_inside,
            list_sitemaps=self._rules.list_sitemaps,
            dropper=dropper,
            turned_away=parts.meter.turned_away,
        )
        self._fetcher = self._make_fetcher(parts)
        self._admission = Admission(
            parts.peers.gate,
            parts.frontier,
            config.fetch,
            flight_bytes=lambda: self._fetcher.flight_bytes,
            kept_bytes=lambda: self.kept_bytes,
            on_enter=self._note_request,
        )
        self._contexts = Contexts(
            KeptDocuments(order.folder / DOCUMENTS, config.extract.documents),
            parts.committer.discover,
            parts.domains.domain,
            attempts=config.frontier.attempts,
            share=parts.peers.coordinator.share_document if order.parcel is not None else None,
        )
        self._extractor = Extractor(
            shard_folder(order.folder, order.number),
            config,
            self._contexts,
            self._permits,
            parts.meter,
            wake,
            parts.frontier.charge,
        )
        self._claims = parts.peers.claims
        self._judge = PageJudge(parts.domains, dropper.drop, self._claims.claim, parts.frontier.contents.find_alike)
        self._under_way: set[asyncio.Task[None]] = set()
        self._shortage = ""
        self._short_until = 0.0
        self.surplus = 0
        """Visits under way to hosts that have had more than their share."""
        self._waiting: dict[asyncio.Task[None] | None, Lease] = {}
        """Visits that have sent no request yet, and so can be cancelled, with their leases."""

    def __len__(self) -> int:
        return len(self._under_way)

    @property
    def kept_bytes(self) -> int:
        """The bytes of bodies, text and statements that wait for another process or for the disk."""
        return self._extractor.waiting_bytes + self._committer.waiting_bytes

    @property
    def shortage(self) -> str:
        """What this machine lacks, so that no visits should start for a moment; empty if it lacks nothing."""
        return self._shortage if asyncio.get_running_loop().time() < self._short_until else ""

    @property
    def has_free_connections(self) -> bool:
        """Whether no request waits for a connection."""
        return not self._admission.has_waiting

    @property
    def open_connections(self) -> int:
        """The number of open connections."""
        return self._fetcher.open_connections

    def start(self, lease: Lease) -> None:
        """Start the visit of a lease."""
        if lease.kind == LeaseKind.PAGE:
            self._permits.reserve()
        self._meter.visits[lease.kind] += 1
        self.surplus += lease.is_surplus
        visit = asyncio.create_task(self._visit(lease))
        self._under_way.add(visit)
        self._waiting[visit] = lease
        visit.add_done_callback(partial(self._end_visit, lease))

    def cancel_waiting(self) -> None:
        """Cancel the visits that have sent no request yet or wait for a context; their URLs can be leased again."""
        self._contexts.call_off()
        for visit in self._waiting:
            if visit is not None:
                visit.cancel()

    def take_document(self, name: str, body: bytes) -> None:
        """Take a context that another shard has fetched."""
        self._contexts.take_shared(name, body)

    def go_on(self) -> None:
        """Allow pages to wait for contexts again, after `cancel_waiting`."""
        self._contexts.go_on()

    def admit(self) -> None:
        """Let requests start that waited for memory, because some was freed."""
        self._admission.admit()

    async def finish(self, timeout_s: float) -> bool:
        """Wait until all visits have ended; False if some take longer than the timeout."""
        late: set[asyncio.Task[None]] = set()
        if self._under_way:
            _, late = await asyncio.wait(self._under_way, timeout=timeout_s)
        return not late

    async def query(self, query: str, page: Page, extraction: Extraction) -> tuple[list[str], Extraction]:
        """Run the user's query over the data of a page that was fetched earlier, as for a new one."""
        return await self._extractor.query(query, page, extraction)

    async def close(self) -> None:
        """Close the connections, and kill the process for large pages."""
        await self._fetcher.close()
        self._extractor.close()

    def _make_fetcher(self, parts: ShardParts) -> Fetcher:
        order, config = parts.order, parts.order.config
        return Fetcher(
            config.fetch,
            make_user_agent(config.fetch.contact),
            parts.clock,
            pace=config.frontier,
            wanted_types=tuple(transform.media_type for transform in config.extract.transforms),
            kept_bytes=self._count_kept_bodies,
            patience_s=lambda: self._admission.patience_s(),
            before_sending=parts.peers.coordinator.check_life if order.lease_s else None,
        )

    def _end_visit(self, lease: Lease, visit: asyncio.Task[None]) -> None:
        self._under_way.discard(visit)
        self._waiting.pop(visit, None)
        self._meter.visits[lease.kind] -= 1
        self.surplus -= lease.is_surplus
        self._meter.end_fetch(lease)
        if visit.cancelled():
            if lease.kind == LeaseKind.PAGE:
                self._permits.give_back()
            self._frontier.release(lease, None)
        self._on_end(visit)

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
        if answer.failure == FailureCode.SHORTAGE:
            self._give_back(lease, self._fetcher.resolver.shortage)
            return
        self._meter.count_failure(answer.failure)
        self._frontier.release(lease, answer)
        self._committer.note()

    async def _fetch_robots(self, lease: Lease) -> None:
        """Fetch a robots.txt; its rules apply to its origin until it expires."""
        state, exchange, delay_s = await self._fetcher.fetch_robots(lease, choose_address(lease), self._admission)
        if isinstance(exchange, Failure) and exchange.code == FailureCode.SHORTAGE:
            self._give_back(lease, exchange.message)
            return
        self._meter.count_failure(exchange.code if isinstance(exchange, Failure) else "")
        if not (isinstance(exchange, Failure) and exchange.code == FailureCode.TAKEN_BACK):
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
        if isinstance(exchange, Failure) and exchange.code == FailureCode.SHORTAGE:
            self._permits.give_back()
            self._give_back(lease, exchange.message)
            return
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
        if isinstance(extraction, Reason):
            # The extractor has already returned its permit.
            self._committer.add(Finished(lease, Verdict(VerdictState.RETRY, extraction)))
            return
        verdict = classify_prerequisite(lease, verdict, extraction, is_inside=is_inside)
        if verdict.is_page:
            self._contexts.take_found(capture.page, extraction.media_type)
            judgement = await self._judge.judge(lease, capture, extraction)
            if judgement.duplicate in (DuplicateKind.EXACT, DuplicateKind.NEAR):
                owner = self._domains.shard(host_of(judgement.original))
                self._claims.tell_owner(owner, lease.url, judgement.original)
            verdict, extraction = apply_judgement(verdict, extraction, judgement)
        else:
            judgement = judge_directives(capture, extraction, capture.started)
            extraction = trim_prerequisite(lease, verdict, extraction, is_inside=is_inside)
        queried, extraction = await self._extractor.query(self._finder.query, capture.page, extraction)
        found = self._finder.find(lease, capture, extraction, judgement, queried)
        self._frontier.charge_links(lease, len(found))
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
            if isinstance(exchange, Capture):
                self._admission.note_duration(exchange.duration_s)
            elif exchange.code == FailureCode.BUSY:
                self._admission.narrow()
            return exchange
        finally:
            self._meter.end_fetch(lease)
            self._admission.release(address)

    def _give_back(self, lease: Lease, shortage: str) -> None:
        """Give back a lease for which this machine lacks something, as if nothing had happened; no visits start for a moment."""
        if not self.shortage:
            _log.warning("shard %d waits: %s", self._number, shortage)
        self._shortage = shortage
        self._short_until = asyncio.get_running_loop().time() + _SHORTAGE_S
        if shortage == NO_DESCRIPTOR:
            self._admission.narrow()
        self._frontier.release(lease, None)

    def _finish(self, finished: Finished) -> None:
        """Count an outcome, and pass it to the committer."""
        if not finished.verdict.is_page:
            self._permits.give_back()
        self._contexts.settle(finished.lease, finished.verdict, finished.found)
        self._meter.count(finished.lease.host, finished.verdict, finished.exchange)
        self._committer.add(finished)

    def _note_request(self) -> None:
        """Note that the current visit sends its request now, so it can no longer be cancelled."""
        if lease := self._waiting.pop(asyncio.current_task(), None):
            self._meter.begin_fetch(lease)

    def _is_inside(self, url: str) -> bool:
        return not self._scope.find_refusal(url)

    def _count_kept_bodies(self) -> int:
        """Count the bodies among them. Only bodies limit further bodies: the statements of one page may be very large."""
        return self._extractor.waiting_body_bytes + self._committer.waiting_body_bytes


def choose_address(lease: Lease) -> str:
    """Choose an address of the host: each further attempt to fetch a page or a robots.txt takes the next one."""
    attempts = lease.attempts
    if lease.kind == LeaseKind.ROBOTS and lease.robots is not None:
        attempts = lease.robots.errors
    return lease.addresses[attempts % len(lease.addresses)]
