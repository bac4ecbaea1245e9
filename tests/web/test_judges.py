"""A judge that cannot find anybody guilty is worth nothing: each is shown a log with one fault, and one without."""

from collections.abc import Iterable

from web import Exchange, check_address_pace, check_once, check_pace, check_politeness, check_retry_after


def ask(
    started: float,
    path: str = "/",
    *,
    host: str = "a.test",
    address: str = "127.0.0.1",
    took_s: float = 0.01,
    status: int = 200,
    retry_after_s: float = 0.0,
    agent_left: bool = False,
) -> Exchange:
    return Exchange(started, started + took_s, host, address, path, status, {}, retry_after_s, agent_left)


def test_hosts_at_their_pace_are_fine() -> None:
    log = [ask(0), ask(0.02, host="b.test"), ask(1.02), ask(2.5)]
    assert check_pace(log, 1.0) == []


def test_a_gap_is_from_the_end_to_the_start() -> None:
    assert check_pace([ask(0, took_s=0.5), ask(1.2)], 1.0) == [
        "a.test: http://a.test/ came 0.300 s too early after http://a.test/"
    ]


def test_requests_at_the_same_time_are_found_in_any_order_of_the_log() -> None:
    assert len(check_pace([ask(0.1, took_s=0.1), ask(0, took_s=5)], 0.01)) == 1


def test_a_long_request_is_not_forgotten_behind_a_short_one() -> None:
    log = [ask(0, "/long", took_s=10), ask(1, "/short", took_s=0.1), ask(5, "/late")]
    assert [line.split()[1] for line in check_pace(log, 1.0)] == ["http://a.test/short", "http://a.test/late"]


def test_hosts_may_have_paces_of_their_own() -> None:
    log = [ask(0), ask(1.5), ask(0, host="slow.test"), ask(1.5, host="slow.test")]
    assert check_pace(log, {"": 1.0}) == []
    assert len(check_pace(log, {"": 1.0, "slow.test": 3.0})) == 1


def test_slow_answers_ask_for_longer_gaps() -> None:
    log = [ask(0, took_s=0.5), ask(2)]
    assert check_pace(log, 1.0) == []
    assert len(check_pace(log, 1.0, duration_factor=10)) == 1
    assert check_pace([ask(0, took_s=30), ask(91)], 1.0, duration_factor=10) == [], "a minute is enough"


def test_a_request_that_nobody_waited_for_says_nothing_of_duration() -> None:
    assert check_pace([ask(0, took_s=5, agent_left=True), ask(7)], 1.0, duration_factor=10) == []


def test_hosts_share_the_pace_of_their_address() -> None:
    log = [ask(0), ask(0.1, host="b.test"), ask(0.1, host="c.test", address="127.0.0.2")]
    assert check_pace(log, 1.0) == []
    assert check_address_pace(log, 0.05) == []
    assert check_address_pace(log, 0.25) == ["127.0.0.1: http://b.test/ came 0.160 s too early after http://a.test/"]


def test_politeness_is_of_hosts_and_of_addresses() -> None:
    log = [ask(0), ask(0.1, host="b.test"), ask(0.6)]
    assert check_politeness(log, 0.5, 0.05) == []
    assert [line.partition(":")[0] for line in check_politeness(log, 0.7, 0.25)] == ["a.test", "127.0.0.1"]


def test_retry_after_is_kept_whatever_came_between() -> None:
    asked = ask(0, status=503, retry_after_s=3.0)
    assert check_retry_after([asked, ask(3.1)]) == []
    assert check_retry_after([asked, ask(1, host="b.test"), ask(3.1)]) == []
    assert len(check_retry_after([asked, ask(1), ask(2)])) == 2


def wrong_of(log: Iterable[Exchange], kills: tuple[float, ...] = (), most_lost: int = 0) -> int:
    return len(check_once(log, kills, most_lost=most_lost))


def test_a_page_is_fetched_once() -> None:
    assert wrong_of([ask(0, "/1"), ask(1, "/2"), ask(2, "/robots.txt"), ask(3, "/robots.txt")]) == 0
    assert wrong_of([ask(0, "/1"), ask(1, "/1")]) == 1


def test_what_did_not_arrive_is_asked_for_again() -> None:
    assert wrong_of([ask(0, "/1", agent_left=True), ask(1, "/1")]) == 0
    assert wrong_of([ask(0, "/1", status=0), ask(1, "/1", status=503), ask(2, "/1")]) == 0


def test_a_kill_excuses_few_pages_and_only_those_before_it() -> None:
    twice = [ask(0, "/1"), ask(0.1, "/2"), ask(5, "/1"), ask(6, "/2")]
    assert wrong_of(twice, kills=(3.0,), most_lost=2) == 0
    assert wrong_of(twice, kills=(3.0,), most_lost=1) == 1
    assert wrong_of(twice, kills=(5.5,), most_lost=5) == 1, "the kill came after /1 was fetched again"
    assert wrong_of([*twice, ask(9, "/1")], kills=(3.0,), most_lost=5) == 1, "nothing excuses the third time"


def test_a_request_may_be_on_its_way_at_the_kill() -> None:
    assert wrong_of([ask(3.05, "/1"), ask(5, "/1")], kills=(3.0,), most_lost=1) == 0
    assert wrong_of([ask(4.5, "/1"), ask(6, "/1")], kills=(3.0,), most_lost=1) == 1


def test_a_kill_does_not_excuse_what_had_been_safe_for_long() -> None:
    log = [ask(0, "/old"), ask(2.9, "/new"), ask(5, "/old"), ask(6, "/new")]
    assert check_once(log, [3.0], most_lost=5, settled_s=4) == []
    assert check_once(log, [3.0], most_lost=5, settled_s=2) == [
        "http://a.test/old was fetched 2.990 s before a kill, and lost"
    ]
