from rdfspider.run.peers.calls import Calls


def count_calls(calls: Calls, from_s: float, seconds: float, *, has_met: bool) -> int:
    """How many signs of life are given in this time, with ten ticks a second."""
    ticks = range(int(seconds * 10))
    return sum(len(list(calls.take_due(from_s + tick / 10, lambda number: has_met))) for tick in ticks)


def test_few_peers_hear_every_second() -> None:
    calls = Calls(range(3), 0.0)
    assert count_calls(calls, 0.0, 10.0, has_met=True) == 3 * 10


def test_peers_that_were_never_met_hear_at_growing_intervals() -> None:
    calls = Calls([5], 0.0)
    assert count_calls(calls, 0.0, 13.0, has_met=False) == 8
    assert count_calls(calls, 1000.0, 80.0, has_met=False) == 10
    calls.begin_again(5)
    assert count_calls(calls, 2000.0, 1.0, has_met=False) == 4


def test_calls_do_not_grow_with_the_number_of_peers() -> None:
    for has_met in (True, False):
        few, many = (Calls(range(number), 0.0) for number in (999, 4095))
        for calls in (few, many):
            count_calls(calls, 0.0, 300.0, has_met=has_met)
        counts = [count_calls(calls, 300.0, 100.0, has_met=has_met) for calls in (few, many)]
        assert max(counts) <= 100 * 130, counts


def test_a_peer_that_has_moved_hears_at_once() -> None:
    calls = Calls(range(4), 0.0)
    count_calls(calls, 0.0, 1.0, has_met=True)
    calls.hurry({2}, 0.95)
    assert [number for number, _ in calls.take_due(0.96, lambda number: True)] == [2]
