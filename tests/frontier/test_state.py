"""What a frontier's state says when it is opened again."""

from pathlib import Path

import pytest

from rdfspider.frontier.clock import Clock, Stamp
from rdfspider.frontier.state import mark_clean, open_state
from rdfspider.frontier.store import Store


class FixedClock(Clock):
    seconds = 1000.0
    boot_id = "boot"
    machine_id = ""

    def __init__(self, machine_id: str) -> None:
        self.machine_id = machine_id

    def now(self) -> float:
        return self.seconds

    monotonic = now


@pytest.mark.parametrize(("machine", "wait_s"), [("one", 2.0), ("two", 10.0)])
def test_hosts_get_their_full_pause_on_another_machine(tmp_path: Path, machine: str, wait_s: float) -> None:
    """Its wall clock may be ahead, and the frontier may have been closed a moment ago."""
    store = Store(tmp_path / "frontier")
    open_state(store, FixedClock("one"))
    mark_clean(store)
    store.close()
    later = FixedClock(machine)
    later.seconds += 8.0
    store = Store(tmp_path / "frontier")
    _, calendar = open_state(store, later)
    assert calendar.wait_s(Stamp(1, 1000.0, 1000.0), 10.0, 1.0) == wait_s
    store.close()
