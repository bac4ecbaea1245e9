import pytest

from rdfspider.serve.limits import ConcurrencyLimit, LimitReachedError, RateLimit


def test_a_client_may_be_quick_at_first_and_then_at_its_rate() -> None:
    rate = RateLimit(per_s=2, burst=3)
    assert [rate.take("a", now=10) for _ in range(4)] == [0, 0, 0, 0.5]
    assert rate.take("a", now=10.5) == 0
    assert rate.take("a", now=10.5) > 0


def test_clients_do_not_wait_for_each_other() -> None:
    rate = RateLimit(per_s=1, burst=1)
    assert rate.take("a", now=1) == 0
    assert rate.take("b", now=1) == 0


def test_a_million_clients_are_not_remembered() -> None:
    rate = RateLimit(per_s=1, burst=1)
    for number in range(20_000):
        rate.take(str(number), now=1)
    assert len(rate._clients) == 10_000


def test_no_client_has_all_that_there_is() -> None:
    tally = ConcurrencyLimit(most=5, most_by_client=3)
    tally.take("a", 3)
    with pytest.raises(LimitReachedError):
        tally.take("a")
    tally.take("b", 2)
    with pytest.raises(LimitReachedError):
        tally.take("c")
    tally.give_back("a")
    with tally.hold("c"), pytest.raises(LimitReachedError):
        tally.take("a")
    tally.take("a")


def test_clients_that_are_gone_are_forgotten() -> None:
    tally = ConcurrencyLimit(most=5, most_by_client=3)
    with tally.hold("a", 2):
        assert len(tally._clients) == 1
    assert not tally._clients
