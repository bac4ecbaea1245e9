"""Why a URL was or was not fetched: a URL as a user writes it enters, an Explanation leaves.

It is based on the ledger and the host's entry on disk, whether the crawl runs or not. For a URL that was never seen, it applies
the same rules in the same order as if a page had a plain link to it.
"""

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rdfspider.archive.log import read_fetch
from rdfspider.archive.outcomes import Outcome
from rdfspider.codes import Reason, RobotsRule
from rdfspider.crawl.budgets import EndReason, explain_reached
from rdfspider.crawl.folder import advise_doctor, load_domains, read_seeds, shard_folder
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.reports.explanations import (
    Explanation,
    Obstacles,
    Step,
    answer_done,
    answer_failed,
    answer_refused,
    answer_scheduled,
    answer_unknown,
    write_esteem,
    write_robots,
)
from rdfspider.crawl.reports.frontiers import Frontiers
from rdfspider.crawl.reports.remote_frontiers import RemoteFrontier
from rdfspider.crawl.seeds import has_scheme, normalise_seed
from rdfspider.crawl.status import read_status
from rdfspider.crawl.summary import write_state
from rdfspider.discover.parameters import drop_parameters
from rdfspider.discover.scope import Router, Scope, load_scope_additions
from rdfspider.domains import Domains
from rdfspider.errors import UsageError
from rdfspider.fetch.robots import PRODUCT, RobotsTxt
from rdfspider.frontier.entries import UrlEntry, UrlState
from rdfspider.frontier.keys import UrlIds, origin_of
from rdfspider.frontier.reader import FrontierReader
from rdfspider.index.graph.esteem_file import load_esteem
from rdfspider.index.layout import IndexPaths
from rdfspider.processes.calls import CallFailure
from rdfspider.records import RobotsState
from rdfspider.urls import host_of
from rdfspider.ways import TRAP_EXEMPT_WAYS, Way

# The maximum number of pages to list between a URL and its seed.
_MAX_STEPS = 20
# Problems of pages from which nothing was extracted.
_UNREAD = frozenset(map(str, CallFailure))


def explain_url(frontiers: Frontiers, text: str) -> Explanation:
    """Explain why a URL was or was not fetched, or what would happen to it."""
    url = normalise_seed(text)
    if url is None:
        raise UsageError(f"{text if text.strip() else 'the URL is empty'}: not an http or https URL")
    crawl = frontiers.config.crawl
    domains = load_domains(frontiers.folder, crawl.shards)
    reader = frontiers.of(domains.shard(host_of(url)))
    found, entry = _find_entry(reader, url, has_scheme(text), crawl.drop_parameters)
    notes = (f"{url} was never seen as it stands; this is about {found}",) if found != url else ()
    return _explain(_Case(frontiers, domains, found, entry.found_as if entry else Way.LINK), entry, notes)


def _find_entry(
    reader: FrontierReader | RemoteFrontier | None, url: str, has_scheme: bool, dropped: tuple[str, ...]
) -> tuple[str, UrlEntry | None]:
    """Find the entry of a URL as given, without the parameters that links lose, or with http if no scheme was given; return it
    with its URL, or None with the URL that a link would lead to."""
    short = drop_parameters(url, dropped)
    candidates = [url, short]
    if not has_scheme:
        candidates += [f"http{candidate.removeprefix('https')}" for candidate in candidates]
    for candidate in dict.fromkeys(candidates):
        entry = reader.find(candidate) if reader else None
        if entry is not None:
            return candidate, entry
    return short, None


class _Case:
    """What is known about one URL besides its entry in the ledger."""

    def __init__(self, frontiers: Frontiers, domains: Domains, url: str, found_as: str) -> None:
        self.url = url
        self.folder = frontiers.folder
        self.config = frontiers.config.crawl
        self.frontiers = frontiers
        self.shard = domains.shard(host_of(url))
        self.reader = reader = frontiers.of(self.shard)
        self.status = read_status(self.folder)
        seeds = read_seeds(self.folder)
        self.is_seed = url in seeds
        self.host = reader.find_host(host_of(url)) if reader else None
        self.robots_state = reader.find_robots(url) if reader else None
        self.robots_line = _find_line(self.robots_state, url)
        scope = Scope(self.config, domains)
        for seed in (*seeds, *(load_scope_additions(reader.get_meta) if reader else ())):
            scope.extend(seed)
        router = Router(scope, domains, self.shard, Counter())
        self.refusal = router.find_refusal(Way.SEED if self.is_seed else found_as, url)
        self.trap = reader.find_trap(url) if reader and not self.is_seed else ""
        self.esteem = self._find_esteem(domains)

    def find_obstacles(self) -> Obstacles:
        """Collect what prevents or delays the fetch of the URL."""
        is_forbidden = self.robots_line.startswith("Disallow")
        budget = explain_reached(self.config, self.status)
        if self.reader and not budget:
            budget = self.reader.explain_page_limit(host_of(self.url), "its host")
        return Obstacles(
            refusal=self.refusal,
            prohibition=f"robots.txt of {origin_of(self.url)} says `{self.robots_line}`" if is_forbidden else "",
            trap=self.trap,
            budget=budget,
            halt=self._find_halt(),
            host=self.host,
            robots=self.robots_state,
        )

    def find_way(self, via: int) -> tuple[Step, ...]:
        """Return the pages that led to a URL, starting with the page of this id, on which it was found."""
        steps: list[Step] = []
        while via and len(steps) < _MAX_STEPS:
            entry = self.frontiers.get(via)
            if entry is None:
                break
            steps.append(Step(entry.url, entry.found_as))
            via = entry.via
        return tuple(steps)

    def _find_esteem(self, domains: Domains) -> str:
        if not self.frontiers.config.index.enabled:
            # What an earlier run has left is told to no shard.
            return ""
        host = host_of(self.url)
        site = domains.domain(host)
        table = load_esteem(IndexPaths(self.folder).graph)
        return next((write_esteem(each, host, self.url) for each in table if each.site == site), "")

    def _find_halt(self) -> str:
        """Explain why the crawl or the URL's shard fetches nothing now; empty if it does, or if the crawl has finished without
        this host because of the host's own state."""
        status = self.status
        is_unreachable = self.robots_state is not None and self.robots_state.rule == RobotsRule.UNREACHABLE
        if status.reason == EndReason.FINISHED and (is_unreachable or (self.host and self.host.status)):
            return ""
        if status.is_over:
            return f"the crawl does not run ({write_state(status)})"
        if status.state != RunState.RUNNING:
            return f"the crawl is {write_state(status)}"
        beats = (beat for beat in status.shards if beat.shard == self.shard and beat.state == RunState.SUSPENDED)
        return next((f"its shard is suspended: {beat.reason}" for beat in beats), "")


def _explain(case: _Case, entry: UrlEntry | None, notes: tuple[str, ...]) -> Explanation:
    robots = write_robots(case.robots_state, case.robots_line, time.time())
    if entry is None:
        return Explanation(
            url=case.url,
            answer=answer_unknown(case.find_obstacles(), case.config.depth, is_seed=case.is_seed),
            notes=notes,
            robots=robots,
            refusal=case.refusal,
            trap=case.trap,
            esteem=case.esteem,
            host=case.host,
            crawl=case.status.state,
        )
    place = case.reader.find_place(entry.url_id) if case.reader else None
    segment, offset = entry.position or ("", 0)
    fetch: Outcome | None = None
    if segment:
        segment = str(shard_folder(Path(), UrlIds(case.config.shards).unpack(entry.url_id)[0]) / "warc" / segment)
        fetch = read_fetch(case.folder / segment, offset)
        if fetch is None:
            notes = (*notes, f"its record in {segment} cannot be read: {advise_doctor(case.folder)}")
    return Explanation(
        url=entry.url,
        answer=_answer_known(case, entry, fetch, place),
        notes=notes,
        state=entry.state,
        reason=entry.reason,
        status=entry.status,
        error=entry.error,
        rule=entry.rule,
        attempts=entry.attempts,
        decided=entry.decided,
        found_as=entry.found_as,
        depth=None if entry.found_as == Way.IMPORT else entry.depth,
        way=case.find_way(entry.via),
        redirects=entry.chain,
        target=fetch.target if fetch else "",
        truncated=fetch.truncated if fetch else "",
        directives=fetch.directives if fetch else "",
        captured=entry.captured,
        quads=entry.quads,
        digest=entry.digest,
        duplicate=entry.duplicate,
        original=entry.original,
        segment=segment,
        offset=offset,
        next_visit=entry.next_visit,
        priority=place[0] if place else None,
        before=place[1] if place else None,
        robots=robots,
        refusal=case.refusal,
        trap=case.trap,
        esteem=case.esteem,
        host=case.host,
        crawl=case.status.state,
    )


def _answer_known(case: _Case, entry: UrlEntry, fetch: Outcome | None, place: tuple[int, int] | None) -> str:
    match entry.state:
        case UrlState.DONE:
            if fetch is None:
                return answer_done(entry, "", "")
            unread = next((problem.message for problem in fetch.problems if problem.code in _UNREAD), "")
            return answer_done(entry, fetch.target, fetch.truncated, unread)
        case UrlState.FAILED:
            return answer_failed(entry)
        case UrlState.DISALLOWED:
            return answer_refused(entry, origin_of(entry.url), case.robots_line)
        case _:
            obstacles = case.find_obstacles()
            if entry.found_as in TRAP_EXEMPT_WAYS or entry.captured or entry.reason == Reason.LOST:
                obstacles = replace(obstacles, trap="")
            return answer_scheduled(entry, obstacles, place[1] if place else None, time.time())


def _find_line(state: RobotsState | None, url: str) -> str:
    """Return the line of the stored robots.txt that decides on a URL; empty if none does."""
    return RobotsTxt(state.body).rule_for(url, PRODUCT) if state and state.rule == RobotsRule.RULES else ""
