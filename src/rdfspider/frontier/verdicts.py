"""An exchange in, what becomes of the URL and whether the host is to blame out: what is tried again is decided here alone.

An answer is an answer, also 404: the URL is done. Errors of the server and of the network are tried again, a few times a URL.
A host that says "not now" (429, 503) is not held against the URL, nor is our own lack of room.
"""

from typing import NamedTuple

from rdfspider.config import FrontierConfig
from rdfspider.records import REDIRECTS, Capture, Failure, FailureCode, Lease, Reason, Verdict, VerdictState

# How often a URL may be turned away without a fault of its own: a page that always says 503 must not be asked for ever.
MAX_TURNED_AWAY = 20
# Redirects in a row; browsers stop at 20, honest chains are shorter than 5.
MAX_REDIRECTS = 10

_NOT_NOW = frozenset({429, 503})
# Failures that another try would not mend, and that say nothing of the host.
_FINAL_FAILURES = frozenset({FailureCode.NXDOMAIN, FailureCode.PRIVATE, FailureCode.TOO_LARGE, FailureCode.UNSUPPORTED})


class Ruling(NamedTuple):
    """What follows from an exchange."""

    verdict: Verdict
    is_host_error: bool = False
    is_attempt: bool = False
    """Whether the URL was tried in vain."""
    is_turned_away: bool = False
    """Whether it must come again through no fault of its own."""


def judge_exchange(lease: Lease, exchange: Capture | Failure, turned_away: int, config: FrontierConfig) -> Ruling:
    """What becomes of a page's URL after an exchange."""
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
    """Whether an exchange, of a robots.txt too, shows that the host is in trouble or wants less."""
    if isinstance(exchange, Failure):
        return exchange.code not in _FINAL_FAILURES and exchange.code != FailureCode.BUSY
    return exchange is not None and (exchange.status == 429 or not 200 <= exchange.status < 500)


def _judge_failure(lease: Lease, failure: Failure, turned_away: int, config: FrontierConfig) -> Ruling:
    code = failure.code
    if code in _FINAL_FAILURES:
        return Ruling(Verdict(VerdictState.FAILED, code, error=code))
    verdict = Verdict(VerdictState.RETRY, code, error=code)
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
