"""How long a server is left alone after a request, and after one that failed.

All of it holds for pages and for robots.txt alike, so fetch and frontier have it from here; outside stores use the same header.
"""

from datetime import UTC
from email.utils import parsedate_to_datetime

from rdfspider.config import FrontierConfig
from rdfspider.records import Capture, Failure

# No date is longer; what is longer is not worth a parser's time.
_MAX_DATE_CHARS = 100
_MAX_DIGITS = 12
# The longest gap that follows from a slow answer.
_MAX_DURATION_GAP_S = 60.0
# Doubled so often, any wait is beyond its bound.
_MAX_DOUBLINGS = 30


def read_retry_after(exchange: Capture | Failure | None, now: float) -> float:
    """Seconds that a 429 or an error of the server asks to be left alone, by a number or a date; 0 where it asks nothing."""
    if not isinstance(exchange, Capture) or not (exchange.status == 429 or exchange.status >= 500):
        return 0.0
    return parse_retry_after(exchange.header("Retry-After"), now)


def parse_retry_after(value: str, now: float) -> float:
    """The seconds of a `Retry-After` header, which has a number or a date; 0 where it says nothing."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:_MAX_DIGITS])
    try:
        date = parsedate_to_datetime(value[:_MAX_DATE_CHARS])
        # Dates of HTTP are in GMT (RFC 9110, 5.6.7), also where one does not say so.
        moment = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return max(moment - now, 0.0)


def pace_gap_s(crawl_delay_s: float, duration_s: float, config: FrontierConfig) -> float:
    """The gap that follows every request, at least: by what the host's robots.txt asks for, and by what the answer took."""
    if not config.delay_s:
        return 0.0
    duration_gap_s = min(config.duration_factor * duration_s, _MAX_DURATION_GAP_S)
    return max(config.delay_s, min(crawl_delay_s, config.max_wait_s), duration_gap_s)


def backoff_gap_s(errors: int, retry_after_s: float, config: FrontierConfig) -> float:
    """The gap that follows an error, the nth in a row: the longer of what was asked for and our own, each within its bound."""
    backoff_s = min(config.backoff_s * 2.0 ** min(errors - 1, _MAX_DOUBLINGS), config.max_backoff_s)
    return max(backoff_s, min(retry_after_s, config.max_wait_s))


def longest_wait_s(config: FrontierConfig) -> float:
    """The longest that a host may have to wait, by any of these gaps or because it was given up."""
    return max(config.delay_s, config.max_wait_s, config.max_backoff_s, config.give_up_s)


def explain_pace(gap_s: float, crawl_delay_s: float, duration_s: float, config: FrontierConfig) -> str:
    """Why a gap that `pace_gap_s` gave is as long, in words for people; empty where it is the usual delay."""
    if gap_s <= config.delay_s:
        return ""
    if gap_s == min(crawl_delay_s, config.max_wait_s):
        return f"Crawl-delay: {crawl_delay_s:g} of robots.txt"
    return f"its last answer took {duration_s:.1f} s"


def explain_backoff(
    errors: int, retry_after_s: float, exchange: Capture | Failure | None, config: FrontierConfig
) -> str:
    """Why a gap that `backoff_gap_s` gave is as long, in words for people. Without an exchange, a name could not be looked up."""
    if exchange is None:
        return f"backed off after {_count_errors(errors)} (dns)"
    cause = exchange.code if isinstance(exchange, Failure) else exchange.status
    if min(retry_after_s, config.max_wait_s) >= backoff_gap_s(errors, 0.0, config):
        return f"Retry-After: {retry_after_s:.0f} s ({cause})"
    return f"backed off after {_count_errors(errors)} ({cause})"


def _count_errors(errors: int) -> str:
    return f"{errors} errors in a row" if errors > 1 else "an error"
