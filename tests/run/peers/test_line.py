"""Two sides of a line on simulated time, with a wire that loses what chance chooses."""

import random

import pytest

from rdfspider.run.peers.line import Line, Parcel


class Wire:
    """Carries parcels one way, in order, as long as the connection holds."""

    def __init__(self) -> None:
        self.under_way: list[Parcel[int]] = []
        self.is_connected = True

    def send(self, parcel: Parcel[int]) -> bool:
        if self.is_connected:
            self.under_way.append(parcel)
        return self.is_connected

    def deliver(self, line: Line[int], now: float) -> list[int]:
        parcels, self.under_way = self.under_way, []
        return [message for parcel in parcels for message in line.take(parcel, now)]


def test_messages_of_one_moment_are_one_parcel_and_are_acknowledged() -> None:
    near, far, there, back = Line[int](), Line[int](), Wire(), Wire()
    near.pending += [1, 2, 3]
    near.flush(0.0, there.send)
    assert [parcel.messages for parcel in there.under_way] == [[1, 2, 3]]
    assert there.deliver(far, 0.0) == [1, 2, 3]
    assert not near.is_quiet
    far.tick(0.1, back.send)
    assert back.deliver(near, 0.1) == []
    assert near.is_quiet
    assert far.is_quiet


def test_a_lost_parcel_is_sent_again_after_a_while_and_only_taken_once() -> None:
    near, far, there = Line[int](), Line[int](), Wire()
    near.pending.append(1)
    near.flush(0.0, there.send)
    there.under_way.clear()
    near.tick(1.9, there.send)
    assert there.under_way == []
    near.tick(2.0, there.send)
    near.tick(4.0, there.send)
    assert len(there.under_way) == 2
    assert there.deliver(far, 4.0) == [1]


def test_a_gap_is_told_at_once_and_what_follows_it_waits() -> None:
    near, far, there, back = Line[int](), Line[int](), Wire(), Wire()
    for message in (1, 2, 3):
        near.pending.append(message)
        near.flush(0.0, there.send)
    del there.under_way[0]
    assert there.deliver(far, 0.0) == []
    assert far.is_urgent
    far.flush(0.0, back.send)
    back.deliver(near, 0.0)
    near.tick(0.1, there.send)
    assert there.deliver(far, 0.1) == [1, 2, 3]


def test_what_nobody_takes_stays_pending_and_becomes_one_parcel() -> None:
    near, there = Line[int](), Wire()
    there.is_connected = False
    for message in (1, 2, 3):
        near.pending.append(message)
        near.flush(0.0, there.send)
    there.is_connected = True
    near.tick(0.1, there.send)
    assert [(parcel.number, parcel.messages) for parcel in there.under_way] == [(1, [1, 2, 3])]


def test_only_so_many_parcels_are_under_way() -> None:
    near, there = Line[int](), Wire()
    for message in range(1000):
        near.pending.append(message)
        near.flush(0.0, there.send)
    assert len(there.under_way) == 128
    assert len(near.pending) == 1000 - 128


def test_loose_messages_arrive_out_of_turn_or_never() -> None:
    near, far, there = Line[int](), Line[int](), Wire()
    near.pending.append(1)
    near.flush(0.0, there.send)
    there.under_way.clear()
    there.send(near.wrap_loose([7]))
    assert there.deliver(far, 0.0) == [7]
    assert far.is_quiet


@pytest.mark.parametrize("seed", range(20))
def test_everything_arrives_in_order_whatever_is_lost(seed: int) -> None:
    chance = random.Random(seed)
    sides, wires = (Line[int](), Line[int]()), (Wire(), Wire())
    heard: tuple[list[int], list[int]] = ([], [])
    said = [0, 0]
    for step in range(3000):
        now = step / 10
        for side, wire, number in zip(sides, wires, (0, 1), strict=True):
            if step < 2000 and chance.random() < 0.5:
                side.pending.append(said[number])
                said[number] += 1
                side.flush(now, wire.send)
            if step < 2000 and chance.random() < 0.05:
                # The connection breaks: its end is lost, as TCP keeps the order.
                wire.under_way = wire.under_way[: chance.randrange(len(wire.under_way) + 1)]
                wire.is_connected = False
            elif chance.random() < 0.5:
                wire.is_connected = True
            side.tick(now, wire.send)
        heard[0].extend(wires[0].deliver(sides[1], now))
        heard[1].extend(wires[1].deliver(sides[0], now))
    assert heard == (list(range(said[0])), list(range(said[1])))
    assert all(side.is_quiet for side in sides)
