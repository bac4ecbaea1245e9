"""Judges over the server's log: exchanges in, a list of what is wrong out, empty when all is well.

They know nothing of the crawler but what it promised: from the end of one request to the start of the next, a host and an
address are left alone for a while, also across restarts.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from web.server import Exchange

MAX_DURATION_GAP_S = 60.0
"""The longest gap that a slow answer asks for."""
ON_THE_WAY_S = 1.0
"""A request that was on its way when the crawler was killed is read by the server a little later; hardly a start is so quick."""
TOLERANCE_S = 0.001
"""The clocks of crawler and server are the same; this is for the rounding of timers."""
MEASURING_S = 0.03
"""On a busy machine a server notes the end of an answer so much later than the crawler, which measures by itself."""


def check_pace(
    log: Iterable[Exchange], delay_s: float | Mapping[str, float], *, duration_factor: float = 0.0
) -> list[str]:
    """Hosts that were asked too early: before `delay_s` (by host, where they differ; "" is for the others) had passed since
    the last answer, or that many times what it took."""

    def gap_s(before: Exchange) -> float:
        asked = delay_s if isinstance(delay_s, int | float) else delay_s.get(before.host, delay_s.get("", 0.0))
        took_s = 0.0 if before.agent_left else max(0.0, before.ended - before.started - MEASURING_S)
        return max(asked, min(duration_factor * took_s, MAX_DURATION_GAP_S))

    return _check_gaps(log, lambda exchange: exchange.host, gap_s)


def check_address_pace(log: Iterable[Exchange], ip_delay_s: float) -> list[str]:
    """Addresses that were asked before `ip_delay_s` had passed since the last answer, whatever the hosts."""
    return _check_gaps(log, lambda exchange: exchange.address, lambda before: ip_delay_s)


def check_politeness(log: Iterable[Exchange], delay_s: float, ip_delay_s: float) -> list[str]:
    """Hosts and addresses that were asked too early, whatever became of the crawl meanwhile."""
    log = list(log)
    return check_pace(log, delay_s) + check_address_pace(log, ip_delay_s)


def check_retry_after(log: Iterable[Exchange]) -> list[str]:
    """Hosts that were asked before the time had passed that their last Retry-After named."""
    return _check_gaps(log, lambda exchange: exchange.host, lambda before: before.retry_after_s)


def check_once(
    log: Iterable[Exchange], kills: Sequence[float] = (), *, most_lost: int = 0, settled_s: float = math.inf
) -> list[str]:
    """Pages that were fetched twice without a reason: no kill came between, one kill cost more than `most_lost` pages, or
    one that had come `settled_s` before the kill, which is time enough to make it durable.

    Only answers that were written count, since a page that did not arrive must be asked for again.
    """
    wrong: list[str] = []
    lost: dict[int, int] = defaultdict(int)
    for url, visits in _group(pages_of(log), lambda exchange: exchange.url).items():
        for before, after in pairwise(visits):
            if before.agent_left or before.status == 0 or before.status >= 429:
                continue
            kill = next(
                (number for number, moment in enumerate(kills) if before.started <= moment + ON_THE_WAY_S), None
            )
            if kill is None or kills[kill] > after.started:
                last_s = min((before.started - moment for moment in kills if moment < before.started), default=math.inf)
                again = f"fetched {last_s:.3f} s after a kill and again {after.started - before.ended:.3f} s later"
                wrong.append(f"{url} was {again} without a reason")
            elif kills[kill] - before.ended > settled_s:
                wrong.append(f"{url} was fetched {kills[kill] - before.ended:.3f} s before a kill, and lost")
            else:
                lost[kill] += 1
    wrong += [
        f"kill {kill} cost {count} pages, more than {most_lost}" for kill, count in lost.items() if count > most_lost
    ]
    return wrong


def pages_of(log: Iterable[Exchange]) -> list[Exchange]:
    """The log without the requests for robots.txt."""
    return [exchange for exchange in log if exchange.path != "/robots.txt"]


def _check_gaps(
    log: Iterable[Exchange], key: Callable[[Exchange], str], gap_s: Callable[[Exchange], float]
) -> list[str]:
    wrong: list[str] = []
    for name, exchanges in _group(log, key).items():
        # An exchange may have ended before an earlier one: each has to keep its distance to all that came before.
        free, before = float("-inf"), None
        for exchange in exchanges:
            early_s = free - exchange.started
            if before is not None and early_s > TOLERANCE_S:
                left = (
                    f", which the crawler left after {before.ended - before.started:.3f} s" if before.agent_left else ""
                )
                wrong.append(f"{name}: {exchange.url} came {early_s:.3f} s too early after {before.url}{left}")
            free_after = exchange.ended + gap_s(exchange)
            if free_after > free:
                free, before = free_after, exchange
    return wrong


def _group(log: Iterable[Exchange], key: Callable[[Exchange], str]) -> dict[str, list[Exchange]]:
    groups: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in sorted(log, key=lambda exchange: exchange.started):
        groups[key(exchange)].append(exchange)
    return groups
