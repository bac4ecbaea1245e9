import pytest
from tests.frontier.conftest import capture

from rdfspider.config import FrontierConfig
from rdfspider.frontier.verdicts import MAX_REDIRECTS, MAX_TURNED_AWAY, is_error, judge_exchange
from rdfspider.records import Failure, Lease, Verdict

CONFIG = FrontierConfig(attempts=3)
URL = "https://a.org/"


def page(attempts: int = 0, chain: tuple[str, ...] = ()) -> Lease:
    return Lease("page", "a.org", 1, URL, 1, attempts=attempts, chain=chain)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (200, Verdict("done", "fetched", 200)),
        (206, Verdict("done", "fetched", 206)),
        (304, Verdict("done", "unchanged", 304)),
        (300, Verdict("done", "status-300", 300)),
        (302, Verdict("done", "status-302", 302)),
        (404, Verdict("done", "status-404", 404)),
        (410, Verdict("done", "gone", 410)),
    ],
)
def test_an_answer_is_final(status: int, verdict: Verdict) -> None:
    judgement = judge_exchange(page(), capture(URL, status), 0, CONFIG)
    assert judgement == (verdict, False, False, False)


def test_redirects_are_done_until_there_are_too_many() -> None:
    moved = capture(URL, 301, Location="/other")
    assert judge_exchange(page(chain=("a",) * (MAX_REDIRECTS - 1)), moved, 0, CONFIG).verdict == Verdict(
        "done", "redirect", 301
    )
    assert judge_exchange(page(chain=("a",) * MAX_REDIRECTS), moved, 0, CONFIG).verdict == Verdict(
        "failed", "too-many-redirects", 301
    )


@pytest.mark.parametrize("exchange", [capture(URL, 500), capture(URL, 502), Failure(URL, "reset"), Failure(URL, "dns")])
def test_errors_are_tried_again_and_blamed_on_both(exchange: Failure) -> None:
    first, last = (judge_exchange(page(attempts), exchange, 0, CONFIG) for attempts in (0, 2))
    assert (first.verdict.state, last.verdict.state) == ("retry", "failed")
    assert first[1:] == last[1:] == (True, True, False)
    assert is_error(exchange)


@pytest.mark.parametrize("status", [429, 503])
def test_not_now_is_the_hosts_affair(status: int) -> None:
    judgement = judge_exchange(page(attempts=2), capture(URL, status), 0, CONFIG)
    assert judgement == (Verdict("retry", f"status-{status}", status), True, False, True)
    assert judge_exchange(page(), capture(URL, status), MAX_TURNED_AWAY - 1, CONFIG).verdict.state == "failed"


def test_our_lack_of_room_is_nobodys_fault() -> None:
    judgement = judge_exchange(page(attempts=2), Failure(URL, "busy"), 0, CONFIG)
    assert judgement == (Verdict("retry", "busy", error="busy"), False, False, True)
    assert not is_error(Failure(URL, "busy"))


@pytest.mark.parametrize("code", ["private", "nxdomain", "too-large", "unsupported"])
def test_some_failures_are_final(code: str) -> None:
    assert judge_exchange(page(), Failure(URL, code), 0, CONFIG) == (
        Verdict("failed", code, error=code),
        False,
        False,
        False,
    )


def test_no_page_fails_because_its_connection_was_taken_back() -> None:
    judgement = judge_exchange(page(attempts=2), Failure(URL, "taken-back"), MAX_TURNED_AWAY, CONFIG)
    assert judgement == (Verdict("retry", "taken-back", error="taken-back"), False, False, False)
