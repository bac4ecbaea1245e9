"""The coordinator: which shards are there, how many pages may still be fetched, and whether the crawl is over.

Heartbeats, requests and answers of the shards enter, and commands of people; permits, questions and commands leave. It is on no
page's path, and it stores nothing: shards tell it again when they arrive.

The end is found in rounds: every shard is asked whether it is idle. When all are, twice in a row and with the same
generations, nothing was committed in between, so nothing can be on its way.
"""

import logging
from collections.abc import Callable, Mapping

import msgspec
import zmq

from rdfspider.config import CrawlConfig
from rdfspider.crawl.budgets import Used, find_reached
from rdfspider.crawl.messages import CHANGES, Answer, Beat, Command, CommandName, EndReason, RunState
from rdfspider.frontier.clock import Clock
from rdfspider.run.peers.messages import (
    Arrival,
    Control,
    ControlCommand,
    CoordinatorMessage,
    Heard,
    Permits,
    PermitsReturned,
    PermitsWanted,
    Recall,
    Round,
    RoundAnswer,
    ScopeFound,
    ShardMessage,
)
from rdfspider.run.peers.permits import PermitBook
from rdfspider.run.peers.sockets import LoopSocket, open_hub

_log = logging.getLogger(__name__)

# A round that is not answered by then is given up; the next beats begin another.
_ROUND_S = 10.0

Outgoing = list[tuple[int, CoordinatorMessage]]
"""Messages, each with the shard that it is for."""


class Coordinator:
    """The soft state of a crawl. Pure logic: messages in, messages out."""

    def __init__(
        self,
        shards: int,
        config: CrawlConfig,
        spent_s: float = 0.0,
        known_bytes: Mapping[int, int] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`spent_s` is the time that earlier runs of this crawl have used, `known_bytes` what each shard had fetched by then."""
        self._shards = shards
        self._config = config
        self._clock = clock or Clock()
        self._spent_s = spent_s
        self._started = self._clock.monotonic()
        self._epochs: dict[int, int] = {}
        self._pages: dict[int, int] = {}
        self._body_bytes: dict[int, int] = dict(known_bytes or {})
        self._scope: dict[str, None] = {}
        self._changes: dict[ControlCommand, Control] = {}
        """What was changed in this run, the last of each kind."""
        self._permits = PermitBook(config.pages, shards)
        self._round = 0
        self._round_started = 0.0
        self._answers: dict[int, RoundAnswer] | None = None
        """Those of the round that is under way; None when there is none."""
        self._last_generations: dict[int, tuple[int, int]] | None = None
        """Those of the round before, if all were idle in it."""
        self.beats: dict[int, Beat] = {}
        """The last one of each shard, also of those that are gone."""
        self._past: dict[int, Beat] = {}
        """The last beat of each shard's earlier epoch, where it had one in this run."""
        self._quiet: set[int] = set()
        """Shards that are told to pause, and have nothing under way any more."""
        self.is_paused = False
        self.is_told_to_stop = False
        """Whether a person has asked for the end."""
        self.slowed = ""
        """Why shards begin nothing new at the moment; empty where they do."""
        self.ended: EndReason | None = None
        """Why the crawl is over; None while it is not."""

    @property
    def ran_s(self) -> float:
        """Seconds that the crawl has run, over all its runs."""
        return self._spent_s + self._clock.monotonic() - self._started

    @property
    def state(self) -> RunState:
        """running, pausing (what is under way is finished), paused or stopping."""
        if self.ended:
            return RunState.STOPPING
        if not self.is_paused:
            return RunState.RUNNING
        # A shard that is not there has nothing under way, and hears of the pause before it begins.
        return RunState.PAUSED if self._quiet >= self._epochs.keys() else RunState.PAUSING

    @property
    def pages(self) -> int:
        """Pages fetched and committed, as far as is known."""
        return sum(self._pages.values())

    @property
    def present(self) -> frozenset[int]:
        """The shards that have arrived and not died since."""
        return frozenset(self._epochs)

    def hear(self, message: ShardMessage) -> Outgoing:
        """Take a message of a shard; messages of an earlier epoch of it are dropped."""
        if isinstance(message, Arrival):
            return self._welcome(message)
        if isinstance(message, ScopeFound):
            return self._widen_scope(message.additions)
        if self._epochs.get(message.shard) != message.epoch:
            return []
        match message:
            case Beat():
                return [(message.shard, Heard(message.epoch)), *self._take_beat(message)]
            case PermitsWanted(shard, _, count):
                self._permits.want(shard, count)
                return self._give_permits()
            case PermitsReturned(shard, _, count):
                self._permits.take_back(shard, count)
                return self._give_permits()
            case RoundAnswer():
                return self._take_answer(message)

    def lose(self, shard: int) -> None:
        """The process of a shard has ended. Its permits stay out until it is back and says what it has committed."""
        self._epochs.pop(shard, None)
        self._quiet.discard(shard)
        self._end_rounds()

    def tick(self) -> Outgoing:
        """What time alone brings; to be called every second or so."""
        if ended := self._check_limits():
            return ended
        if self._answers is not None and self._clock.monotonic() > self._round_started + _ROUND_S:
            self._end_rounds()
        return self._give_permits()

    def obey(self, command: str) -> tuple[Answer, Outgoing]:
        """Do what a person asks."""
        match command:
            case CommandName.STATUS:
                return Answer(True, state=self.state, beats=tuple(self.beats.values())), []
            case CommandName.STOP:
                self.is_told_to_stop = True
                return Answer(True), self.end(EndReason.STOPPED)
            case CommandName.HALT:
                return Answer(True), self.end(EndReason.HALTED)
            case CommandName.PAUSE | CommandName.RESUME if self.ended:
                return Answer(False, "the crawl is ending"), []
            case CommandName.PAUSE:
                self.is_paused = True
                return Answer(True), self._tell_all(Control(ControlCommand.PAUSE))
            case CommandName.RESUME:
                self.is_paused = False
                self._quiet.clear()
                return Answer(True), self._tell_all(Control(ControlCommand.RESUME))
        return Answer(False, f"there is no command {command!r}: pause, resume, stop, halt, status"), []

    def announce(self, change: Control) -> Outgoing:
        """Tell all shards, and those that arrive later, that seeds or filters have changed: there may be work again."""
        self._end_rounds()
        self._changes[change.command] = change
        return self._tell_all(change)

    def slow(self, reason: str) -> Outgoing:
        """Let shards begin nothing new while there is a reason; what is under way goes on, and the crawl may end."""
        if reason == self.slowed:
            return []
        self.slowed = reason
        return self._tell_all(Control(ControlCommand.SLOW, reason))

    def end(self, reason: EndReason) -> Outgoing:
        """Tell all shards to stop, or to halt even if they are stopping already."""
        if self.ended and reason != EndReason.HALTED:
            return []
        self.ended = reason
        return self._tell_all(self._last_word())

    def _welcome(self, arrival: Arrival) -> Outgoing:
        shard = arrival.shard
        self._end_rounds()
        self._epochs[shard] = arrival.epoch
        self._quiet.discard(shard)
        self._pages[shard], self._body_bytes[shard] = arrival.pages, arrival.body_bytes
        self._permits.arrive(shard, arrival.pages)
        outgoing: Outgoing = []
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
        outgoing += [*self._widen_scope(arrival.scope), *self._give_permits(), *self._check_limits()]
        # The shard begins when it hears this, so that it comes after all that may keep it from beginning.
        return [*outgoing, (shard, Heard(arrival.epoch))]

    def _take_beat(self, beat: Beat) -> Outgoing:
        shard = beat.shard
        before = self.beats.get(shard)
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
            # Also from one that waits itself: what it has free since it asked may be for a host that must not be asked now.
            outgoing += [(shard, Recall(epoch)) for shard, epoch in self._epochs.items() if waiting != {shard}]
        return outgoing

    def _start_round(self) -> Outgoing:
        """Ask all whether they are idle, once the beats of all say so."""
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
            return self.end(EndReason.DONE)
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
    """What a shard counts since it was started, and what it had counted before."""
    sums = {}
    for field in ("statuses", "errands", "failures", "robots", "turned_away", "cpu_s"):
        before, since = getattr(past, field), getattr(beat, field)
        sums[field] = {name: before.get(name, 0) + since.get(name, 0) for name in before | since}
    return msgspec.structs.replace(beat, wire_bytes=past.wire_bytes + beat.wire_bytes, **sums)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(ShardMessage)


class CoordinatorHub:
    """The coordinator's socket, for shards and for the command line; it runs in the parent process."""

    def __init__(
        self,
        coordinator: Coordinator,
        address: str,
        on_change: Callable[[], None],
        change: Callable[[Command], tuple[Answer, Outgoing]] | None = None,
    ) -> None:
        """`on_change` is called after everything that was heard, and before a person is answered. `change` does what a person
        asks that is to be kept in the crawl's folder."""
        self._coordinator = coordinator
        self._change = change
        self._address = address
        self._on_change = on_change
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._wire: LoopSocket | None = None

    def open(self) -> None:
        """Bind the socket; needs a running loop."""
        self._wire = LoopSocket(open_hub(self._context, self._address), self._read, linger_ms=500)

    def close(self) -> None:
        """Close the socket, once the last messages are sent."""
        if self._wire is not None:
            self._wire.close()
        self._context.term()

    def send(self, outgoing: Outgoing) -> None:
        """Send what the coordinator wants to be sent; what is for a shard that is gone is lost, as it should be."""
        assert self._wire is not None
        for shard, message in outgoing:
            self._wire.send([str(shard).encode(), _encoder.encode(message)])

    def _read(self, frames: list[bytes]) -> None:
        """Shards send a name and a message; a REQ socket has an empty frame between them."""
        sender, *rest = frames
        try:
            if len(rest) == 1:
                self.send(self._coordinator.hear(_decoder.decode(rest[0])))
                self._on_change()
            else:
                self._answer([sender, *rest[:-1]], rest[-1])
        except msgspec.MsgspecError:
            _log.warning("something that is no message came to the coordinator")

    def _answer(self, envelope: list[bytes], request: bytes) -> None:
        assert self._wire is not None
        try:
            asked = msgspec.json.decode(request, type=Command)
            if self._change is not None and asked.command in CHANGES:
                answer, outgoing = self._change(asked)
            else:
                answer, outgoing = self._coordinator.obey(asked.command)
        except msgspec.MsgspecError as error:
            answer, outgoing = Answer(False, f"this is no command: {error}"), []
        self.send(outgoing)
        # Whoever is answered may look at once.
        self._on_change()
        self._wire.send([*envelope, msgspec.json.encode(answer)])


def send_command(endpoint: str, command: str | Command, timeout_s: float = 5.0) -> Answer | None:
    """Ask the coordinator of a running crawl for something, from another process; None when nobody answers."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.REQ)
    socket.linger = 0
    try:
        socket.connect(endpoint)
        socket.send(msgspec.json.encode(Command(command) if isinstance(command, str) else command))
        if not socket.poll(int(timeout_s * 1000)):
            return None
        return msgspec.json.decode(socket.recv(), type=Answer)
    finally:
        socket.close()
        context.term()
