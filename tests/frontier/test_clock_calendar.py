import pytest
from tests.frontier.conftest import HandClock

from rdfspider.frontier.clock import Calendar, Stamp


def test_the_calendar_stays_short(clock: HandClock) -> None:
    stored = None
    for number in range(500):
        calendar = Calendar.open(stored, is_clean=number % 3 != 1, clock=clock)
        stored = calendar.to_bytes()
        clock.advance(1)
    assert calendar.epoch == 500
    assert len(stored or b"") < 400
    clock.reboot(100)
    calendar = Calendar.open(stored, is_clean=True, clock=clock)
    ended = Stamp(500, 1499.0, clock.now() - 103)
    assert calendar.wait_s(ended, 105.0, 1.0) == pytest.approx(2.0)
