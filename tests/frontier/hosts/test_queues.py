"""Hosts that wait on disk: whoever was put there comes up again."""

from tests.frontier.conftest import HandClock, OpenFrontier

from rdfspider.records import Discovered


def test_a_wait_that_is_read_past_before_its_commit_is_not_forgotten(
    open_frontier: OpenFrontier, clock: HandClock
) -> None:
    frontier = open_frontier()
    frontier.add([Discovered("https://long.org/"), Discovered("https://short.org/")])
    frontier.commit()
    places, hosts = frontier._front_queues, frontier._hosts
    long, short = (hosts.get(hosts.number_of(name) or 0) for name in ("long.org", "short.org"))
    places.put_waiting(long, 8, clock.now() + 3600)
    hosts.mark_changed(long)
    frontier.commit()
    places.put_waiting(short, 8, clock.now() + 100)
    hosts.mark_changed(short)
    # Somebody looks who is next while the short wait is only staged.
    assert places.next_in_s(clock.now()) == 3600
    frontier.commit()
    assert places.next_in_s(clock.now()) == 100
