"""Which domains are doubted: their hosts answered fast, but take long when they have connections for that."""

import pytest
from tests.frontier.hosts.test_shares import make_host, review

from rdfspider.frontier.hosts.hosts import FAST, SLOW, Host
from rdfspider.frontier.hosts.shares import OVER, WITHIN, Shares


def make_false(shares: Shares, *durations_s: float) -> tuple[Host, Host]:
    """Charge a host beside nine small ones for requests after a fast answer; it, and another of its domain."""
    for number in range(9):
        shares.charge(make_host(number, f"d{number}.org"), 0.01)
    host = make_host(100, "farm.org")
    host.record.tempo = FAST
    for duration_s in durations_s:
        shares.charge_exchange(host, duration_s)
    review(shares)
    return host, make_host(101, "farm.org")


@pytest.mark.parametrize(
    ("durations_s", "is_doubted"), [([5.0] * 9, True), ([5.0, 0.1] * 9, True), ([1.9] * 9, True), ([0.2] * 99, False)]
)
def test_a_domain_over_its_share_is_doubted_if_its_fast_hosts_take_long(
    durations_s: list[float], is_doubted: bool
) -> None:
    shares = Shares(64)
    hosts = make_false(shares, *durations_s)
    assert [shares.rate(host) for host in hosts] == [OVER, OVER]
    assert [shares.doubts(host) for host in hosts] == [is_doubted] * 2


def test_hosts_that_are_known_to_be_slow_raise_no_doubts() -> None:
    """A domain may have some that are slow, beside others that are fast."""
    shares = Shares(64)
    fast, slow = make_false(shares, *[0.2] * 9)
    slow.record.tempo = SLOW
    for _ in range(9):
        shares.charge_exchange(slow, 5.0)
        shares.begin(slow, 0.0)
    shares.review(10.0)
    assert (shares.rate(fast), shares.doubts(fast)) == (OVER, False)


def test_doubts_last_until_hosts_answer_fast_again() -> None:
    shares = Shares(64)
    host, _ = make_false(shares, *[5.0] * 9)
    for _ in range(40):
        review(shares)
        for number in range(9):
            shares.charge(make_host(number, f"d{number}.org"), 0.01)
    assert (shares.rate(host), shares.doubts(host)) == (WITHIN, True)
    for _ in range(99):
        shares.charge_exchange(host, 0.1)
    review(shares)
    assert (shares.rate(host), shares.doubts(host)) == (OVER, False)


def test_requests_to_fast_hosts_that_do_not_end_raise_doubts() -> None:
    shares = Shares(64)
    host, _ = make_false(shares, *[0.1] * 9)
    for _ in range(20):
        shares.begin(host, 0.0)
    shares.review(5.0)
    assert shares.doubts(host)
