"""The gaps between requests to one server: after every request, after an error, and as `Retry-After` asks.

The same rules apply to pages and to robots.txt, so fetch and frontier share them; outside stores send the same header.
"""

from datetime import UTC
from email.utils import parsedate_to_datetime

from rdfspider.config import FrontierConfig
from rdfspider.records import Capture, Failure

# No valid date is longer, so the parser sees no more than this.
_MAX_DATE_CHARS = 100
_MAX_DIGITS = 12
# The longest gap after a slow response.
_MAX_DURATION_GAP_S = 60.0
# An exchange that has taken this long, and brought fewer bytes a second, yields little; most servers answer within a second.
_SHORT_S, _LITTLE_BYTES_S = 2.0, 1000
# After this many doublings every backoff exceeds its maximum.
_MAX_DOUBLINGS = 30


def read_retry_after(exchange: Capture | Failure | None, now: float) -> float:
    """The `Retry-After` of a 429 or 5xx response in seconds; 0 for any other exchange, or without the header."""
    if not isinstance(exchange, Capture) or not (exchange.status == 429 or exchange.status >= 500):
        return 0.0
    return parse_retry_after(exchange.header("Retry-After"), now)


def parse_retry_after(value: str, now: float) -> float:
    """Convert a `Retry-After` header, a number or a date, to seconds; 0 if it is neither."""
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:_MAX_DIGITS])
    try:
        date = parsedate_to_datetime(value[:_MAX_DATE_CHARS])
        # HTTP dates are in GMT (RFC 9110, 5.6.7), even without a zone.
        moment = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    return max(moment - now, 0.0)


def pace_gap_s(crawl_delay_s: float, duration_s: float, config: FrontierConfig) -> float:
    """The minimum gap after a request, from the usual delay, the Crawl-delay of robots.txt and the response time."""
    if not config.delay_s:
        return 0.0
    duration_gap_s = min(config.duration_factor * duration_s, _MAX_DURATION_GAP_S)
    return max(config.delay_s, min(crawl_delay_s, config.max_wait_s), duration_gap_s)


def yields_little(duration_s: float, wire_bytes: int) -> bool:
    """Whether an exchange has brought little for the time that it has held its connection."""
    return duration_s > _SHORT_S and wire_bytes < _LITTLE_BYTES_S * duration_s


def backoff_gap_s(errors: int, retry_after_s: float, config: FrontierConfig) -> float:
    """The gap after the nth error in a row: the longer of Retry-After and our own backoff, each up to its maximum."""
    backoff_s = min(config.backoff_s * 2.0 ** min(errors - 1, _MAX_DOUBLINGS), config.max_backoff_s)
    return max(backoff_s, min(retry_after_s, config.max_wait_s))


def longest_wait_s(config: FrontierConfig) -> float:
    """The longest that a host can wait, through any of these gaps or because it was given up."""
    return max(config.delay_s, config.max_wait_s, config.max_backoff_s, config.give_up_s)


def explain_pace(gap_s: float, crawl_delay_s: float, duration_s: float, config: FrontierConfig) -> str:
    """Explain a gap from `pace_gap_s` to people; empty if it is the usual delay."""
    if gap_s <= config.delay_s:
        return ""
    if gap_s == min(crawl_delay_s, config.max_wait_s):
        return f"Crawl-delay: {crawl_delay_s:g} of robots.txt"
    return f"its last answer took {duration_s:.1f} s"


def explain_taken_back(duration_s: float) -> str:
    """Explain the gap after an exchange whose connection was taken back to people."""
    return f"others waited for its connection after {duration_s:.1f} s: it is asked again in the slow lane"


def explain_backoff(
    errors: int, retry_after_s: float, exchange: Capture | Failure | None, config: FrontierConfig
) -> str:
    """Explain a gap from `backoff_gap_s` to people; no exchange means that the DNS lookup failed."""
    if exchange is None:
        return f"backed off after {_count_errors(errors)} (dns)"
    cause = exchange.code if isinstance(exchange, Failure) else exchange.status
    if min(retry_after_s, config.max_wait_s) >= backoff_gap_s(errors, 0.0, config):
        return f"Retry-After: {retry_after_s:.0f} s ({cause})"
    return f"backed off after {_count_errors(errors)} ({cause})"


def _count_errors(errors: int) -> str:
    return f"{errors} errors in a row" if errors > 1 else "an error"
