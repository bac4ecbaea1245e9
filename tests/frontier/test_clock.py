import pytest
from tests.frontier.conftest import HandClock

from rdfspider.frontier.clock import Clock, Moment


def test_the_machine_has_clocks() -> None:
    clock = Clock()
    assert clock.now() > 1_700_000_000
    assert clock.monotonic() <= clock.monotonic()
    assert clock.moment().boot_id == clock.boot_id == Clock().boot_id


@pytest.mark.parametrize(("passed_s", "wait_s"), [(0, 10), (4, 6), (10, 0), (50, 0)])
def test_within_a_boot_the_monotonic_clock_counts(clock: HandClock, passed_s: float, wait_s: float) -> None:
    then = clock.moment()
    clock.advance(passed_s)
    clock.wall -= 10_000
    assert clock.wait_s(then, 10.0) == wait_s


@pytest.mark.parametrize(("wall_shift_s", "wait_s"), [(3, 7), (20, 0), (-500, 10)])
def test_after_a_reboot_the_wall_counts_and_no_wait_exceeds_the_gap(
    clock: HandClock, wall_shift_s: float, wait_s: float
) -> None:
    then = clock.moment()
    clock.reboot(wall_shift_s)
    assert clock.wait_s(then, 10.0) == pytest.approx(wait_s)


def test_an_unknown_boot_is_never_the_same(clock: HandClock) -> None:
    clock.boot_id = ""
    then = Moment("", clock.monotonic(), clock.now() - 4)
    assert clock.wait_s(then, 10.0) == pytest.approx(6)
