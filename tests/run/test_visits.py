"""What a visit decides by itself; whole crawls are in the scenarios."""

from rdfspider.records import Lease, RobotsState
from rdfspider.run.visits import choose_address

ADDRESSES = ("192.0.2.1", "192.0.2.2", "192.0.2.3")


def test_each_attempt_takes_the_next_address() -> None:
    pages = [Lease("page", "a.org", 1, attempts=attempts, addresses=ADDRESSES) for attempts in range(4)]
    assert [choose_address(lease) for lease in pages] == [*ADDRESSES, ADDRESSES[0]]


def test_a_robots_txt_is_asked_of_the_next_address_after_an_error() -> None:
    known = [None, *(RobotsState("unreachable", 0.0, 0.0, errors=errors) for errors in (1, 2, 3))]
    leases = [Lease("robots", "a.org", 1, addresses=ADDRESSES, robots=state) for state in known]
    assert [choose_address(lease) for lease in leases] == [*ADDRESSES, ADDRESSES[0]]
