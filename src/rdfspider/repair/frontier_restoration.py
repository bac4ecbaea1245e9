"""Makes the frontier of a shard again from the archives of all shards, as far as they tell.

The outcomes of the shard's own URLs become rows again. The links of all pages of the crawl are followed again, and those that
were never fetched are scheduled; links to other shards are sent again, which know most of them. What only the frontier knew is
found again when the crawl goes on: addresses, robots.txt files, sitemaps (they are fetched again), what was learned about hosts.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from rdfspider.archive.log import Segment, list_segments
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.archive.recovery import find_damages
from rdfspider.codes import PREREQUISITE_REASONS, Reason, VerdictState
from rdfspider.crawl.folder import load_domains, read_seeds
from rdfspider.crawl.lives import open_frontier
from rdfspider.discover.scope import Router, Scope, stage_scope_addition
from rdfspider.domains import Domains
from rdfspider.errors import UnreadableError
from rdfspider.frontier.contents import find_claim_owner, pack_digest
from rdfspider.frontier.entries import PageFacts
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.keys import UrlIds
from rdfspider.records import Discovered, Extraction, Judgement, Verdict
from rdfspider.repair.shard_checks import ShardFolder
from rdfspider.run.archived_links import ArchivedLinks, read_duplicate, read_segments, read_way
from rdfspider.run.heartbeat import DataCounts
from rdfspider.run.peers.messages import encode_links
from rdfspider.run.shard_archive import WARC_LENGTHS
from rdfspider.urls import host_of
from rdfspider.vocabulary.mechanics import count_data
from rdfspider.ways import Way

_OUTCOMES_A_COMMIT = 500


def restore_frontier(shard: ShardFolder, lengths: Mapping[str, int], folder: Path) -> int:
    """Make the frontier of a shard in a folder that does not exist, and return how many URLs it has. `lengths` are those that the
    shard's segments should have. Pages whose records are damaged are scheduled again."""
    domains = load_domains(shard.folder, shard.config.crawl.shards)
    frontier = open_frontier(shard.folder, shard.number, shard.config, domains, at=folder)
    with closing(frontier):
        frontier.meta.put(WARC_LENGTHS, msgspec.msgpack.encode(dict(lengths)))
        _resume_inbox(frontier, shard)
        frontier.commit()
        _Rows(frontier, shard).restore()
        _Links(frontier, shard, domains).restore()
        frontier.commit()
        frontier.sync()
        return frontier.counts.known


class _Rows:
    """Makes the rows of the URLs that the shard has visited."""

    def __init__(self, frontier: Frontier, shard: ShardFolder) -> None:
        self._frontier = frontier
        self._shard = shard
        self._counts = DataCounts(frontier)

    def restore(self) -> None:
        staged: set[str] = set()
        damages = {path.name: find_damages(path, length) for path, length in _list_own(self._shard).values()}
        for outcome in read_segments(_list_own(self._shard)):
            if outcome.reason in PREREQUISITE_REASONS:
                continue
            if outcome.url in staged or len(staged) >= _OUTCOMES_A_COMMIT:
                self._frontier.commit()
                staged.clear()
            staged.add(outcome.url)
            if any(start < outcome.end and stop > outcome.offset for start, stop in damages[outcome.source]):
                self._frontier.add([_find_link(outcome, self._frontier, self._shard)])
            else:
                self._record(outcome)
        self._counts.stage(float("inf"))
        self._frontier.commit()

    def _record(self, outcome: Outcome) -> None:
        verdict = Verdict(VerdictState(outcome.verdict), outcome.reason, outcome.status, outcome.error, outcome.rule)
        is_kept = 200 <= outcome.status < 300 and outcome.reason != Reason.NOINDEX
        judgement = Judgement(duplicate=read_duplicate(outcome), original=outcome.duplicate_of)
        facts = PageFacts(
            digest=outcome.digest if is_kept else "",
            etag=outcome.etag if is_kept else "",
            last_modified=outcome.last_modified if is_kept else "",
            captured=outcome.time if is_kept and (outcome.payload or outcome.reason == Reason.IMPORTED) else 0.0,
            body_bytes=outcome.body_bytes or 0,
            quads=count_data(outcome.statements),
            position=(outcome.source, outcome.offset),
            judgement=judgement,
        )
        self._frontier.restoration.record(
            _find_link(outcome, self._frontier, self._shard), verdict, facts, outcome.time
        )
        if outcome.effect == Effect.REPLACE:
            extraction = Extraction(
                outcome.url, outcome.media_type, statements=outcome.statements, problems=outcome.problems
            )
            self._counts.add([extraction], outcome.time)


class _Links:
    """Follows the links of all pages of the crawl once more."""

    def __init__(self, frontier: Frontier, shard: ShardFolder, domains: Domains) -> None:
        self._frontier = frontier
        self._shard = shard
        self._domains = domains
        crawl = shard.config.crawl
        self._scope = Scope(crawl, domains)
        self._additions: list[str] = []
        for seed in read_seeds(shard.folder):
            self._scope.extend(seed)
        self._router = Router(self._scope, domains, shard.number, Counter())
        self._links = ArchivedLinks(crawl, domains, lambda url: not self._scope.find_refusal(url))

    def restore(self) -> None:
        # Links may be in scope because of a redirect that comes later in the log.
        for outcome in _read_all(self._shard.folder):
            if outcome.found_as == Way.SEED and outcome.target:
                self._extend(outcome.target)
        for count, outcome in enumerate(_read_all(self._shard.folder)):
            is_own = self._domains.shard(host_of(outcome.url)) == self._shard.number
            self._follow(outcome, is_own=is_own)
            self._claim(outcome)
            if count % _OUTCOMES_A_COMMIT == 0:
                self._frontier.commit()

    def _follow(self, outcome: Outcome, *, is_own: bool) -> None:
        routed = self._router.route(self._find(outcome, is_own))
        self._frontier.add(routed.own)
        if is_own:
            for other, links in routed.others.items():
                self._frontier.outbox.put(other, encode_links(links))

    def _find(self, outcome: Outcome, is_own: bool) -> list[Discovered]:
        entry = self._frontier.find(outcome.url) if is_own else None
        return self._links.find(outcome, entry.url_id if entry else 0, is_own=is_own)

    def _claim(self, outcome: Outcome) -> None:
        """Note the first URL with each content that belongs to this shard, whichever shard fetched it."""
        if outcome.digest and not outcome.duplicate and outcome.effect == Effect.REPLACE:
            key = pack_digest(outcome.digest)
            if find_claim_owner(key, self._shard.config.crawl.shards) == self._shard.number:
                self._frontier.contents.claim(key, outcome.url)

    def _extend(self, url: str) -> None:
        if self._scope.extend(url):
            self._additions.append(url)
            stage_scope_addition(self._frontier.meta.put, self._additions)


def _resume_inbox(frontier: Frontier, shard: ShardFolder) -> None:
    """Let the other shards go on sending where their outboxes begin: what they have freed is read from their archives."""
    for number in range(shard.config.crawl.shards):
        if number == shard.number:
            continue
        try:
            with shard._replace(number=number).open_frontier() as other:
                freed, unsent = other.find_freed(shard.number), other.find_unsent(shard.number)
        except UnreadableError:
            # It is made again, too, and then sends everything from its first entry on.
            continue
        if unsent is not None:
            # Before the entry that was sent first, for a crawl that did not store yet what was freed.
            freed = max(freed, (unsent[0], unsent[1] - 1))
        frontier.inbox.resume(number, freed)


def _list_own(shard: ShardFolder) -> dict[str, Segment]:
    segments = list_segments(shard.folder).values()
    return {segment.path.name: segment for segment in segments if segment.path.parent == shard.warc}


def _read_all(folder: Path) -> Iterator[Outcome]:
    return read_segments({segment.path.name: segment for segment in list_segments(folder).values()})


def _find_link(outcome: Outcome, frontier: Frontier, shard: ShardFolder) -> Discovered:
    """The link that led to the URL of an outcome. The ids of the lost frontier's URLs mean nothing any more."""
    via = outcome.via_id
    if not via or UrlIds(shard.config.crawl.shards).unpack(via)[0] == shard.number:
        entry = frontier.find(outcome.via) if outcome.via else None
        via = entry.url_id if entry else 0
    return Discovered(outcome.url, outcome.depth or 0, read_way(outcome), via, outcome.redirected_from)
