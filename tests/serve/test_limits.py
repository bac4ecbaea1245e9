from rdfspider.serve.limits import Rate


def test_a_client_may_be_quick_at_first_and_then_at_its_rate() -> None:
    rate = Rate(per_s=2, burst=3)
    assert [rate.take("a", now=10) for _ in range(4)] == [0, 0, 0, 0.5]
    assert rate.take("a", now=10.5) == 0
    assert rate.take("a", now=10.5) > 0


def test_clients_do_not_wait_for_each_other() -> None:
    rate = Rate(per_s=1, burst=1)
    assert rate.take("a", now=1) == 0
    assert rate.take("b", now=1) == 0


def test_a_million_clients_are_not_remembered() -> None:
    rate = Rate(per_s=1, burst=1)
    for number in range(20_000):
        rate.take(str(number), now=1)
    assert len(rate._clients) == 10_000
