"""Gates and the owner of an address on simulated time: messages take a while, shards die and come back."""

import asyncio
import itertools
import random
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from rdfspider.frontier.clock import Clock
from rdfspider.frontier.hosts.address_clocks import AddressClocks, Grant, Order, find_owner
from rdfspider.run.peers.admission import GRANT_MARGIN_S, AddressGate
from rdfspider.run.peers.messages import Acquire, Release
from waiting import SimulatedLoop

DELAY_S = 0.25
TIMEOUT_S = 180.0
SHARDS = 3
IP = next(f"192.0.2.{n}" for n in range(50) if find_owner(f"192.0.2.{n}", SHARDS) == 0)


class SimulatedClock(Clock):
    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def monotonic(self) -> float:
        return self._loop.time()


class Machine:
    """The gates of three shards and the owner's clocks, with a wire in between that keeps the order."""

    def __init__(self, loop: SimulatedLoop, seed: int = 1) -> None:
        self.loop = loop
        self.clock = SimulatedClock(loop)
        self.random = random.Random(seed)
        self.epochs = dict.fromkeys(range(SHARDS), 1)
        self.dead: set[int] = set()
        self.sent = 0
        self._last_arrival: dict[tuple[int, int], float] = {}
        self.clocks = AddressClocks(DELAY_S, TIMEOUT_S + GRANT_MARGIN_S, self.clock)
        self.gates = [self.make_gate(number) for number in range(SHARDS)]
        self.requests: list[tuple[float, float]] = []

    def make_gate(self, number: int) -> AddressGate:
        def send(owner: int, message: Acquire | Release) -> None:
            self.say(number, owner, lambda: self.take(number, message))

        return AddressGate(SHARDS, DELAY_S, self.clock, send)

    def say(self, source: int, destination: int, act: Callable[[], None]) -> None:
        """Both epochs must be the same when it arrives, as `Peers` sees to it."""
        self.sent += 1
        pair = (source, destination)
        epochs = self.epochs[source], self.epochs[destination]
        latency_s = self.random.choice([0.0, 0.001, 0.05])
        # The loop does not keep the order of timers of the same moment.
        arrival = max(self._last_arrival.get(pair, 0.0) + 1e-6, self.loop.time() + latency_s)
        self._last_arrival[pair] = arrival

        def arrive() -> None:
            if epochs == (self.epochs[source], self.epochs[destination]) and not self.dead & {source, destination}:
                act()

        self.loop.call_at(arrival, arrive)

    def take(self, source: int, message: Acquire | Release) -> None:
        if isinstance(message, Acquire):
            self.order(self.clocks.acquire(message.address, source, message.ticket))
        else:
            self.order(self.clocks.release(message.address, source, message.wait_s))

    def order(self, orders: list[Order]) -> None:
        for order in orders:
            gate = self.gates[order.asker]
            act = gate.take_grant if isinstance(order, Grant) else gate.take_revoke
            self.say(0, order.asker, lambda act=act, order=order: act(order))

    def greet(self, number: int) -> None:
        held = self.gates[number].meet_owner(0)
        self.say(number, 0, lambda: self.order(self.clocks.hear(number, held)))
        self.gates[number].ask_again(0)

    def kill(self, number: int) -> None:
        """What it held is not given back, what it said is lost."""
        self.epochs[number] += 1
        self.dead.add(number)
        self.gates[number].close()
        self.gates[number] = self.make_gate(number)

    def restart(self, number: int) -> None:
        self.dead.discard(number)
        if number:
            self.greet(number)
            return
        self.clocks = AddressClocks(DELAY_S, TIMEOUT_S + GRANT_MARGIN_S, self.clock, others=range(1, SHARDS))
        for user in range(1, SHARDS):
            self.greet(user)

    async def fetch(self, number: int, duration_s: float) -> None:
        gate = self.gates[number]
        await gate.acquire(IP)
        start = self.loop.time()
        try:
            await asyncio.sleep(duration_s)
        finally:
            # Killed with its shard, a request ends too, but nobody hears of it.
            self.requests.append((start, self.loop.time()))
            if gate is self.gates[number]:
                gate.release(IP)

    async def look_after(self) -> None:
        while True:
            await asyncio.sleep(5)
            for gate in self.gates:
                gate.sweep()
            self.order(self.clocks.due())

    def check_pace(self) -> None:
        requests = sorted(self.requests)
        for (_, end), (start, _) in itertools.pairwise(requests):
            assert start >= end + DELAY_S - 1e-9


@pytest.fixture
def machine() -> Iterator[Machine]:
    loop = SimulatedLoop()
    yield Machine(loop)
    loop.close()


def run(machine: Machine, story: Coroutine[Any, Any, None]) -> None:
    async def tell() -> None:
        care = asyncio.create_task(machine.look_after())
        await story
        care.cancel()

    machine.loop.run_until_complete(tell())


def test_three_shards_ask_one_address_one_at_a_time(machine: Machine) -> None:
    async def story() -> None:
        await asyncio.gather(*(machine.fetch(number, 0.1) for number in range(SHARDS) for _ in range(20)))

    run(machine, story())
    assert len(machine.requests) == 60
    machine.check_pace()
    assert machine.loop.time() < 60 * (0.1 + DELAY_S + 3 * 0.05) + 1


def test_a_sole_user_does_not_speak_to_the_owner_again(machine: Machine) -> None:
    async def story() -> None:
        await asyncio.gather(*(machine.fetch(1, 0.1) for _ in range(20)))

    run(machine, story())
    machine.check_pace()
    assert machine.sent == 2  # an ask, and a grant


def test_a_sole_user_keeps_an_address_for_as_long_as_it_likes(machine: Machine) -> None:
    async def story() -> None:
        await asyncio.gather(*(machine.fetch(1, 2.0) for _ in range(200)))

    run(machine, story())
    machine.check_pace()
    # Renewals are asked for ahead of time, so they cost no time.
    assert machine.loop.time() < 200 * (2.0 + DELAY_S) + 1
    assert machine.sent < 100


def test_a_long_request_keeps_its_grant(machine: Machine) -> None:
    async def story() -> None:
        await asyncio.gather(machine.fetch(1, 1000.0), machine.fetch(2, 0.1))

    run(machine, story())
    machine.check_pace()


def test_an_address_that_is_not_used_goes_back(machine: Machine) -> None:
    async def story() -> None:
        await machine.fetch(1, 0.1)
        await asyncio.sleep(20)
        assert not machine.gates[1]._holds
        assert not len(machine.clocks)

    run(machine, story())


def test_a_request_that_is_called_off_makes_room(machine: Machine) -> None:
    async def story() -> None:
        first, second = (asyncio.create_task(machine.fetch(1, 1.0)) for _ in range(2))
        third = asyncio.create_task(machine.fetch(2, 1.0))
        await asyncio.sleep(0.5)
        second.cancel()
        await asyncio.gather(first, third)

    run(machine, story())
    assert len(machine.requests) == 2
    machine.check_pace()


def test_a_request_that_is_called_off_when_its_turn_comes_makes_room(machine: Machine) -> None:
    async def story() -> None:
        waiting = asyncio.create_task(machine.gates[1].acquire(IP))
        while not machine.gates[1]._holds or not machine.gates[1]._holds[IP].is_busy:
            await asyncio.sleep(0)
            if machine.loop.time() < 1:
                machine.loop.put_forward(0.001)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await machine.fetch(1, 0.1)

    run(machine, story())
    assert len(machine.requests) == 1


def test_a_user_that_its_new_owner_cannot_hear_stops_before_others_begin(machine: Machine) -> None:
    async def story() -> None:
        user = [asyncio.create_task(machine.fetch(1, 1.0)) for _ in range(300)]
        await asyncio.sleep(10)
        machine.kill(0)
        machine.dead.add(1)
        machine.restart(0)
        await machine.fetch(2, 1.0)
        assert machine.loop.time() > 10 + TIMEOUT_S
        machine.dead.discard(1)
        machine.greet(1)
        await asyncio.gather(*user)

    run(machine, story())
    machine.check_pace()


def test_without_a_delay_the_gate_is_open() -> None:
    async def story() -> None:
        gate = AddressGate(1, 0.0, Clock(), lambda owner, message: pytest.fail("a message was sent"))
        for _ in range(3):
            await gate.acquire(IP)
        gate.release(IP)

    asyncio.run(story())


@pytest.mark.parametrize("seed", range(20))
def test_the_pace_holds_while_shards_die_and_come_back(seed: int) -> None:
    loop = SimulatedLoop()
    machine = Machine(loop, seed)
    chance = machine.random

    async def story() -> None:
        visits: dict[int, set[asyncio.Task[None]]] = {number: set() for number in range(SHARDS)}
        for _ in range(200):
            await asyncio.sleep(chance.choice([0.0, 0.1, 1.0, 20.0]))
            number = chance.randrange(SHARDS)
            if chance.random() < 0.1:
                machine.kill(number)
                for visit in visits[number]:
                    visit.cancel()
                await asyncio.gather(*visits[number], return_exceptions=True)
                visits[number].clear()
                await asyncio.sleep(chance.choice([0.0, 1.0, 60.0, 300.0]))
                machine.restart(number)
            else:
                duration_s = chance.choice([0.0, 0.1, 0.1, 0.1, 2.0, TIMEOUT_S])
                visits[number].add(asyncio.create_task(machine.fetch(number, duration_s)))
        await asyncio.gather(*itertools.chain(*visits.values()))

    run(machine, story())
    loop.close()
    machine.check_pace()
    assert len(machine.requests) > 20
