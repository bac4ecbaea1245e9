"""The coordinator: it knows which shards are present, how many pages may still be fetched, and whether the crawl is over.

Beats, requests and answers of shards and commands of users enter; permits, questions and commands leave. No page passes through
it, and it stores nothing: arriving shards report their state again.

Rounds detect the end: every shard is asked whether it is idle. If all are, twice in a row and with the same generations, nothing
was committed in between, so nothing can be in transit.
"""

import logging
from collections.abc import Mapping

import msgspec

from rdfspider.config import CrawlConfig
from rdfspider.crawl.budgets import EndReason, Used, find_reached
from rdfspider.crawl.messages import DISPLAYED, RUN_COUNTS, Beat, CommandAnswer, CommandName, RunState
from rdfspider.frontier.clock import Clock
from rdfspider.records import Esteem
from rdfspider.run.peers.messages import (
    Arrival,
    Book,
    Control,
    ControlCommand,
    CoordinatorMessage,
    Document,
    DocumentStored,
    EsteemTable,
    Heard,
    Permits,
    PermitsReturned,
    PermitsWanted,
    Recall,
    Round,
    RoundAnswer,
    ScopeFound,
    ShardMessage,
    Welcome,
)
from rdfspider.run.peers.permits import PermitBook

_log = logging.getLogger(__name__)

# A round that is not answered within this time is given up; the next beats start another.
_ROUND_S = 10.0
# Documents that are sent again to shards that arrive later; others are fetched again at need.
_RECENT_DOCUMENT_BYTES = 16 * 1024 * 1024

Outgoing = list[tuple[int, CoordinatorMessage]]
"""Messages, each with its destination shard."""


class Coordinator:
    """The soft state of a crawl, without I/O: messages in, messages out."""

    def __init__(
        self,
        shards: int,
        config: CrawlConfig,
        spent_s: float = 0.0,
        known_bytes: Mapping[int, int] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`spent_s` is the running time of earlier runs of this crawl, `known_bytes` what each shard had fetched by then."""
        self._shards = shards
        self._config = config
        self._clock = clock or Clock()
        self._spent_s = spent_s
        self._started = self._clock.monotonic()
        self._epochs: dict[int, int] = {}
        self._newest: dict[int, int] = {}
        """The highest epoch of each shard that was given out or has arrived; earlier ones are refused."""
        self._book: dict[int, tuple[str, int]] = {}
        """The address and epoch of each shard that has told its address."""
        self._pages: dict[int, int] = {}
        self._body_bytes: dict[int, int] = dict(known_bytes or {})
        self._scope: dict[str, None] = {}
        self._changes: dict[ControlCommand, Control] = {}
        """The last change of each kind in this run."""
        self.documents: list[tuple[str, bytes]] = []
        """Documents that shards have fetched, by file name; the reader stores and removes them."""
        self._recent_documents: list[Document] = []
        """Those of this run, for shards that are just being started."""
        self._esteem: dict[int, EsteemTable] = {}
        """The newest table of each shard."""
        self._permits = PermitBook(config.pages, shards)
        self._round = 0
        self._round_started = 0.0
        self._answers: dict[int, RoundAnswer] | None = None
        """The answers of the current round; None if there is none."""
        self._last_generations: dict[int, tuple[int, int]] | None = None
        """The generations of the previous round, if all shards were idle in it."""
        self.beats: dict[int, Beat] = {}
        """The last beat of each shard, also of those that are gone."""
        self._past: dict[int, Beat] = {}
        """The last beat of each shard's previous epoch in this run, if it had one."""
        self._quiet: set[int] = set()
        """Paused shards that have nothing under way any more."""
        self.is_paused = False
        self.is_told_to_stop = False
        """Whether a user has stopped the crawl."""
        self.slowed = ""
        """Why shards start no new visits at the moment; empty if they do."""
        self.ended: EndReason | None = None
        """Why the crawl is over; None while it is not."""

    @property
    def ran_s(self) -> float:
        """The total running time of the crawl, over all its runs."""
        return self._spent_s + self._clock.monotonic() - self._started

    @property
    def state(self) -> RunState:
        """Running, pausing (visits under way are finished), paused or stopping."""
        if self.ended:
            return RunState.STOPPING
        if not self.is_paused:
            return RunState.RUNNING
        # An absent shard has nothing under way, and hears of the pause before it starts visits.
        return RunState.PAUSED if self._quiet >= self._epochs.keys() else RunState.PAUSING

    @property
    def pages(self) -> int:
        """Pages fetched and committed, as far as is known."""
        return sum(self._pages.values())

    @property
    def present(self) -> frozenset[int]:
        """The shards that have arrived and not died since."""
        return frozenset(self._epochs)

    def find_epoch(self, shard: int) -> int:
        """Return the epoch of a shard that is present; 0 if it is not."""
        return self._epochs.get(shard, 0)

    def is_superseded(self, shard: int, epoch: int) -> bool:
        """Whether a later epoch of a shard has been started."""
        return epoch < self._newest.get(shard, 0)

    def note_start(self, shard: int, epoch: int) -> None:
        """Note that a shard is started in an epoch: from now on, nothing is taken from an earlier one."""
        self._newest[shard] = max(epoch, self._newest.get(shard, 0))

    def receive(self, message: ShardMessage) -> Outgoing:
        """Handle a message from a shard; messages from an earlier epoch of it are dropped."""
        if isinstance(message, Arrival):
            if self.is_superseded(message.shard, message.epoch):
                _log.warning("shard %d is refused in epoch %d: there is a later one", message.shard, message.epoch)
                return []
            return self._welcome(message)
        if self._epochs.get(message.shard) != message.epoch:
            return []
        match message:
            case DocumentStored():
                return self._pass_on_document(message)
            case ScopeFound():
                return self._widen_scope(message.additions)
            case Beat():
                return [(message.shard, Heard(message.epoch, message.time)), *self._take_beat(message)]
            case PermitsWanted(shard, _, count):
                self._permits.want(shard, count)
                return self._give_permits()
            case PermitsReturned(shard, _, count):
                self._permits.take_back(shard, count)
                return self._give_permits()
            case RoundAnswer():
                return self._take_answer(message)

    def note_exit(self, shard: int) -> None:
        """Note that a shard's process has ended. Its permits stay given out until it is back and reports its committed pages."""
        self._epochs.pop(shard, None)
        self._quiet.discard(shard)
        self._end_rounds()

    def tick(self) -> Outgoing:
        """Check the limits, the current round and the permits; must be called about every second."""
        if ended := self._check_limits():
            return ended
        if self._answers is not None and self._clock.monotonic() > self._round_started + _ROUND_S:
            self._end_rounds()
        return self._give_permits()

    def execute(self, command: str) -> tuple[CommandAnswer, Outgoing]:
        """Carry out a user's command."""
        match command:
            case CommandName.STATUS:
                return CommandAnswer(True, state=self.state, beats=tuple(self.beats.values())), []
            case CommandName.STOP:
                self.is_told_to_stop = True
                return CommandAnswer(True), self.end(EndReason.ASKED)
            case CommandName.HALT:
                return CommandAnswer(True), self.end(EndReason.HALTED)
            case CommandName.PAUSE | CommandName.RESUME if self.ended:
                return CommandAnswer(False, "the crawl is ending"), []
            case CommandName.PAUSE:
                self.is_paused = True
                return CommandAnswer(True), self._tell_all(Control(ControlCommand.PAUSE))
            case CommandName.RESUME:
                self.is_paused = False
                self._quiet.clear()
                return CommandAnswer(True), self._tell_all(Control(ControlCommand.RESUME))
        return CommandAnswer(False, f"there is no command {command!r}: pause, resume, stop, halt, status"), []

    def announce(self, change: Control) -> Outgoing:
        """Tell all shards, including those that arrive later, that seeds or filters have changed, so there may be new work."""
        self._end_rounds()
        if change.command == ControlCommand.SEEDS and (before := self._changes.get(change.command)):
            # A shard that is being started has missed the earlier ones, too.
            change = msgspec.structs.replace(change, additions=before.additions + change.additions)
        self._changes[change.command] = change
        return self._tell_all(change)

    def withdraw(self, command: ControlCommand) -> None:
        """Tell shards that arrive from now on nothing of a change, which is over."""
        self._changes.pop(command, None)

    def slow(self, reason: str) -> Outgoing:
        """Let shards start no new visits while there is a reason; visits under way continue, and the crawl may end."""
        if reason == self.slowed:
            return []
        self.slowed = reason
        return self._tell_all(Control(ControlCommand.SLOW, reason))

    def tell_esteem(self, tables: Mapping[int, list[Esteem]]) -> Outgoing:
        """Tell each shard, also those that arrive later, what the link graph says of its sites."""
        self._esteem.update((shard, EsteemTable(sites)) for shard, sites in tables.items())
        return [(shard, self._esteem[shard]) for shard in tables if shard in self._epochs]

    def end(self, reason: EndReason) -> Outgoing:
        """Tell all shards to stop, or to halt, even if they are already stopping."""
        if self.ended and reason != EndReason.HALTED:
            return []
        self.ended = reason
        return self._tell_all(self._last_word())

    def _welcome(self, arrival: Arrival) -> Outgoing:
        shard = arrival.shard
        self._end_rounds()
        self.note_start(shard, arrival.epoch)
        self._epochs[shard] = arrival.epoch
        self._quiet.discard(shard)
        self._pages[shard], self._body_bytes[shard] = arrival.pages, arrival.body_bytes
        self._permits.arrive(shard, arrival.pages + arrival.reserved)
        outgoing = self._note_address(arrival)
        if self.is_paused:
            outgoing.append((shard, Control(ControlCommand.PAUSE)))
        if self.slowed:
            outgoing.append((shard, Control(ControlCommand.SLOW, self.slowed)))
        if self.ended:
            outgoing.append((shard, self._last_word()))
        known = set(arrival.scope)
        if missed := tuple(addition for addition in self._scope if addition not in known):
            outgoing.append((shard, Control(ControlCommand.SCOPE, additions=missed)))
        outgoing += [(shard, change) for change in self._changes.values()]
        outgoing += [(shard, document) for document in self._recent_documents]
        outgoing += [(shard, self._esteem[shard])] if shard in self._esteem else []
        outgoing += [*self._widen_scope(arrival.scope), *self._give_permits(), *self._check_limits()]
        # The shard starts visits when it receives this, so it must follow every message that may prevent them.
        return [*outgoing, (shard, Welcome(arrival.epoch))]

    def _pass_on_document(self, stored: DocumentStored) -> Outgoing:
        document = Document(stored.name, stored.body)
        self.documents.append((stored.name, stored.body))
        if sum(len(known.body) for known in self._recent_documents) + len(stored.body) < _RECENT_DOCUMENT_BYTES:
            self._recent_documents.append(document)
        return [(shard, document) for shard in self._epochs if shard != stored.shard]

    def _note_address(self, arrival: Arrival) -> Outgoing:
        """Tell the others where a shard is reached now, and the shard where they are."""
        if not arrival.address:
            return []
        place = self._book[arrival.shard] = (arrival.address, arrival.epoch)
        others = [shard for shard in self._epochs if shard != arrival.shard]
        return [(arrival.shard, Book(dict(self._book))), *((shard, Book({arrival.shard: place})) for shard in others)]

    def _take_beat(self, beat: Beat) -> Outgoing:
        shard = beat.shard
        before = self.beats.get(shard)
        if beat.is_brief and before is not None:
            beat = msgspec.structs.replace(beat, **{name: getattr(before, name) for name in DISPLAYED})
        if before is not None and before.epoch != beat.epoch:
            self._past[shard] = before
        self.beats[shard] = _add_counts(self._past[shard], beat) if shard in self._past else beat
        (self._quiet.add if beat.state == RunState.PAUSED else self._quiet.discard)(shard)
        self._pages[beat.shard], self._body_bytes[beat.shard] = beat.fetched_pages, beat.fetched_bytes
        return self._check_limits() or self._start_round()

    def _check_limits(self) -> Outgoing:
        used = Used(self.pages, sum(self._body_bytes.values()), self.ran_s)
        reached = find_reached(self._config, used)
        return self.end(reached.reason) if reached is not None else []

    def _give_permits(self) -> Outgoing:
        given = self._permits.give_out()
        outgoing: Outgoing = [(shard, Permits(self._epochs[shard], count)) for shard, count in given.items()]
        if waiting := self._permits.waiting:
            # Waiting shards are included: permits may have become free there, but only for hosts that must not be asked now.
            outgoing += [(shard, Recall(epoch)) for shard, epoch in self._epochs.items() if waiting != {shard}]
        return outgoing

    def _start_round(self) -> Outgoing:
        """Ask all shards whether they are idle, once all their beats say so."""
        if self._answers is not None or self.ended or len(self._epochs) < self._shards:
            return []
        beats = [self.beats.get(shard) for shard in self._epochs]
        if not all(beat and beat.is_idle and beat.epoch == self._epochs[beat.shard] for beat in beats):
            self._last_generations = None
            return []
        self._round += 1
        self._round_started = self._clock.monotonic()
        self._answers = {}
        return self._tell_all(Round(self._round))

    def _take_answer(self, answer: RoundAnswer) -> Outgoing:
        if self._answers is None or answer.number != self._round:
            return []
        if not answer.is_idle:
            self._end_rounds()
            return []
        self._answers[answer.shard] = answer
        if len(self._answers) < self._shards:
            return []
        generations = {shard: answer.generation for shard, answer in self._answers.items()}
        self._answers = None
        if generations == self._last_generations:
            return self.end(EndReason.FINISHED)
        self._last_generations = generations
        return self._start_round()

    def _end_rounds(self) -> None:
        self._answers = None
        self._last_generations = None

    def _widen_scope(self, additions: tuple[str, ...]) -> Outgoing:
        new = tuple(addition for addition in additions if addition not in self._scope)
        self._scope.update(dict.fromkeys(new))
        return self._tell_all(Control(ControlCommand.SCOPE, additions=new)) if new else []

    def _last_word(self) -> Control:
        command = ControlCommand.HALT if self.ended == EndReason.HALTED else ControlCommand.STOP
        return Control(command, self.ended or "")

    def _tell_all(self, message: CoordinatorMessage) -> Outgoing:
        return [(shard, message) for shard in self._epochs]


def _add_counts(past: Beat, beat: Beat) -> Beat:
    """Add the counts of a shard's earlier epochs in this run to those of its beat."""
    sums = {}
    for counts in RUN_COUNTS:
        before, since = getattr(past, counts), getattr(beat, counts)
        sums[counts] = {name: before.get(name, 0) + since.get(name, 0) for name in before | since}
    return msgspec.structs.replace(beat, wire_bytes=past.wire_bytes + beat.wire_bytes, **sums)
