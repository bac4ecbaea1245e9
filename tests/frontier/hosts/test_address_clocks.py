import pytest

from rdfspider.frontier.clock import Clock
from rdfspider.frontier.hosts.address_clocks import AddressClocks, Grant, Revoke, address_key, find_owner

DELAY_S = 0.5
GRANT_S = 210.0
IP = "192.0.2.1"


class FakeClock(Clock):
    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def clocks(clock: FakeClock) -> AddressClocks:
    """An owner that has been open for a long time."""
    clocks = AddressClocks(DELAY_S, GRANT_S, clock)
    clock.seconds += 60
    return clocks


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::/64"),
        ("not:an:address", "not:an:address"),
    ],
)
def test_an_ipv6_network_has_one_clock(address: str, key: str) -> None:
    assert address_key(address) == key


def test_owners_are_spread_over_all_shards() -> None:
    assert {find_owner(f"192.0.2.{n}", 3) for n in range(50)} == {0, 1, 2}


def test_a_free_address_is_granted_at_once(clocks: AddressClocks) -> None:
    assert clocks.acquire(IP, 1, 7) == [Grant(1, IP, 7, 0.0)]


def test_the_next_shard_waits_until_the_holder_returns_the_address_and_the_delay_is_over(clocks: AddressClocks) -> None:
    clocks.acquire(IP, 1, 7)
    assert clocks.acquire(IP, 2, 8) == [Revoke(1, IP)]
    assert clocks.acquire(IP, 3, 9) == []
    assert clocks.release(IP, 1, 0.5) == [Grant(2, IP, 8, 0.5), Revoke(2, IP)]
    assert clocks.release(IP, 2, 0.5) == [Grant(3, IP, 9, 0.5)]


def test_the_delay_is_counted_down_while_nobody_asks(clocks: AddressClocks, clock: FakeClock) -> None:
    clocks.acquire(IP, 1, 7)
    clocks.release(IP, 1, 0.5)
    clock.seconds += 0.25
    assert clocks.acquire(IP, 2, 8) == [Grant(2, IP, 8, 0.25)]


def test_shards_take_turns(clocks: AddressClocks) -> None:
    clocks.acquire(IP, 1, 1)
    turns = []
    for ticket in range(2, 8):
        asker = 2 if ticket % 2 == 0 else 1
        clocks.acquire(IP, asker, ticket)
        (grant, *_) = clocks.release(IP, 3 - asker, 0.0)
        turns.append(grant.asker)
    assert turns == [2, 1, 2, 1, 2, 1]


def test_a_holder_that_asks_again_keeps_the_address(clocks: AddressClocks, clock: FakeClock) -> None:
    clocks.acquire(IP, 1, 7)
    clock.seconds += GRANT_S - 1
    assert clocks.acquire(IP, 1, 8) == [Grant(1, IP, 8, 0.0)]
    clock.seconds += GRANT_S - 1
    assert clocks.acquire(IP, 2, 9) == [Revoke(1, IP)]
    assert clocks.acquire(IP, 1, 10) == [Grant(1, IP, 10, 0.0), Revoke(1, IP)]
    clock.seconds += GRANT_S - 1
    assert clocks.due() == []


def test_a_grant_expires(clocks: AddressClocks, clock: FakeClock) -> None:
    clocks.acquire(IP, 1, 7)
    clocks.acquire(IP, 2, 8)
    clock.seconds += GRANT_S - 1
    assert clocks.due() == []
    clock.seconds += 1
    # Its last request may have ended just now.
    assert clocks.due() == [Grant(2, IP, 8, DELAY_S)]
    assert clocks.release(IP, 1, 0.5) == []


def test_a_shard_that_is_back_has_ended_its_requests(clocks: AddressClocks) -> None:
    clocks.acquire(IP, 1, 7)
    clocks.acquire(IP, 2, 8)
    assert clocks.hear(1, ()) == [Grant(2, IP, 8, DELAY_S)]


def test_what_a_shard_asked_in_an_earlier_life_is_forgotten(clocks: AddressClocks) -> None:
    clocks.acquire(IP, 1, 7)
    clocks.acquire(IP, 2, 8)
    clocks.hear(2, ())
    assert clocks.release(IP, 1, 0.0) == []


def test_a_new_owner_grants_nothing_before_all_have_said_what_they_hold(clock: FakeClock) -> None:
    clocks = AddressClocks(DELAY_S, GRANT_S, clock, others=(1, 2))
    assert clocks.acquire(IP, 0, 1) == []
    clock.seconds += 100
    assert clocks.hear(1, ()) == []
    assert clocks.acquire(IP, 1, 1) == []
    clock.seconds += 50
    assert clocks.hear(2, ()) == [Grant(0, IP, 1, DELAY_S), Revoke(0, IP)]


def test_a_new_owner_respects_what_others_hold(clock: FakeClock) -> None:
    clocks = AddressClocks(DELAY_S, GRANT_S, clock, others=(1,))
    clocks.acquire(IP, 0, 1)
    assert clocks.hear(1, (IP,)) == [Revoke(1, IP)]
    assert clocks.release(IP, 1, 3.0) == [Grant(0, IP, 1, 3.0)]


def test_a_new_owner_does_not_wait_longer_than_any_grant_lasts(clock: FakeClock) -> None:
    clocks = AddressClocks(DELAY_S, GRANT_S, clock, others=(1, 2))
    clocks.acquire(IP, 0, 1)
    clocks.hear(1, ())
    clock.seconds += GRANT_S - 1
    assert clocks.due() == []
    clock.seconds += 1
    assert clocks.due() == [Grant(0, IP, 1, 0.0)]


def test_addresses_that_nobody_uses_are_forgotten(clocks: AddressClocks, clock: FakeClock) -> None:
    for n in range(100):
        clocks.acquire(f"192.0.2.{n}", 1, n + 1)
        clocks.release(f"192.0.2.{n}", 1, DELAY_S)
    assert len(clocks) == 100
    clock.seconds += 1
    clocks.due()
    assert len(clocks) == 0
