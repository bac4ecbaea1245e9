"""Turns an exchange into a verdict on its URL, and says whether the host is to blame; only this module decides on retries.

Any answer, even a 404, makes the URL done. Errors of the server or the network are retried a few times per URL. A busy host
(429, 503), our own lack of room, or a connection that was taken back for others does not count as an attempt.
"""

from typing import NamedTuple

from rdfspider.codes import FailureCode, Reason, VerdictState
from rdfspider.config import FrontierConfig
from rdfspider.records import REDIRECTS, Capture, Failure, Lease, Verdict

# How often a URL may be turned away through no fault of its own; it keeps a page that always answers 503 from endless retries.
MAX_TURNED_AWAY = 20
# Redirects in a row; browsers stop at 20, and real chains are shorter than 5.
MAX_REDIRECTS = 10

_NOT_NOW = frozenset({429, 503})
# Failures that are our own doing.
_OUR_OWN = frozenset({FailureCode.BUSY, FailureCode.TAKEN_BACK})
# Failures that a retry would not fix, and that are not the host's errors.
_FINAL_FAILURES = frozenset({FailureCode.NXDOMAIN, FailureCode.PRIVATE, FailureCode.TOO_LARGE, FailureCode.UNSUPPORTED})


class Ruling(NamedTuple):
    """The consequences of an exchange."""

    verdict: Verdict
    is_host_error: bool = False
    is_attempt: bool = False
    """Whether it counts as a failed attempt of the URL."""
    is_turned_away: bool = False
    """Whether the URL must be retried through no fault of its own."""


def judge_exchange(lease: Lease, exchange: Capture | Failure, turned_away: int, config: FrontierConfig) -> Ruling:
    """Decide what happens to a page's URL after an exchange."""
    if isinstance(exchange, Failure):
        return _judge_failure(lease, exchange, turned_away, config)
    status = exchange.status
    if 200 <= status < 300:
        return Ruling(Verdict(VerdictState.DONE, Reason.FETCHED, status))
    if status == 304:
        return Ruling(Verdict(VerdictState.DONE, Reason.UNCHANGED, status))
    if status in REDIRECTS and exchange.header("Location"):
        if len(lease.chain) >= MAX_REDIRECTS:
            return Ruling(Verdict(VerdictState.FAILED, Reason.TOO_MANY_REDIRECTS, status))
        return Ruling(Verdict(VerdictState.DONE, Reason.REDIRECT, status))
    reason = f"status-{status}"
    if status in _NOT_NOW:
        return _turn_away(Verdict(VerdictState.RETRY, reason, status), turned_away, is_host_error=True)
    if 300 <= status < 500:
        return Ruling(Verdict(VerdictState.DONE, Reason.GONE if status == 410 else reason, status))
    return _try_again(Verdict(VerdictState.RETRY, reason, status), lease, config)


def is_error(exchange: Capture | Failure | None) -> bool:
    """Whether an exchange, also for a robots.txt, shows that the host has errors or wants fewer requests."""
    if isinstance(exchange, Failure):
        return exchange.code not in _FINAL_FAILURES and exchange.code not in _OUR_OWN
    return exchange is not None and (exchange.status == 429 or not 200 <= exchange.status < 500)


def _judge_failure(lease: Lease, failure: Failure, turned_away: int, config: FrontierConfig) -> Ruling:
    code = failure.code
    if code in _FINAL_FAILURES:
        return Ruling(Verdict(VerdictState.FAILED, code, error=code))
    verdict = Verdict(VerdictState.RETRY, code, error=code)
    if code == FailureCode.TAKEN_BACK:
        # However often: the host's next request is in the slow lane, so that in the end this one is.
        return Ruling(verdict)
    if code == FailureCode.BUSY:
        return _turn_away(verdict, turned_away, is_host_error=False)
    return _try_again(verdict, lease, config)


def _try_again(verdict: Verdict, lease: Lease, config: FrontierConfig) -> Ruling:
    if lease.attempts + 1 >= config.attempts:
        verdict = _fail(verdict)
    return Ruling(verdict, is_host_error=True, is_attempt=True)


def _turn_away(verdict: Verdict, turned_away: int, is_host_error: bool) -> Ruling:
    if turned_away + 1 >= MAX_TURNED_AWAY:
        verdict = _fail(verdict)
    return Ruling(verdict, is_host_error=is_host_error, is_turned_away=True)


def _fail(verdict: Verdict) -> Verdict:
    return Verdict(VerdictState.FAILED, verdict.reason, verdict.status, verdict.error)
