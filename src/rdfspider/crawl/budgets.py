"""What a crawl as a whole may use: pages, bytes and time. Settings and what was used enter, the limit that is reached leaves.

Those of a single host or domain, and how deep links are followed, are the frontier's.
"""

from typing import NamedTuple

from rdfspider.config import CrawlConfig
from rdfspider.crawl.messages import EndReason
from rdfspider.crawl.status import Status


class Budget(NamedTuple):
    """One of the limits."""

    reason: EndReason
    """How a crawl has ended that has reached it."""
    setting: str
    """Of `CrawlConfig`; 0 is no limit."""
    unit: str
    """For people."""


class Used(NamedTuple):
    """What a crawl has used over all its runs, by the names of the settings. Imported pages do not count."""

    pages: int
    bytes: int
    time_s: float


BUDGETS = (
    Budget(EndReason.PAGES, "pages", "page"),
    Budget(EndReason.BYTES, "bytes", "byte"),
    Budget(EndReason.TIME, "time_s", "second"),
)


def list_limits(config: CrawlConfig) -> dict[str, float]:
    """The limits that are set, by setting, as `Status.limits` has them."""
    limits = {name: float(getattr(config, name)) for name in (*(budget.setting for budget in BUDGETS), "depth")}
    return {name: limit for name, limit in limits.items() if limit}


def find_reached(config: CrawlConfig, used: Used) -> Budget | None:
    """The first budget that is used up; None where the crawl may go on."""
    for budget in BUDGETS:
        limit = getattr(config, budget.setting)
        if limit and getattr(used, budget.setting) >= limit:
            return budget
    return None


def explain_reached(config: CrawlConfig, status: Status) -> str:
    """The limit that a crawl has reached, in words; empty where it may go on."""
    reached = find_reached(config, _find_used(status))
    if reached is None:
        # A crawl that ended by a limit may have a little less; one whose limit was raised since then goes on.
        ended_by = next((budget for budget in BUDGETS if budget.reason == status.reason), None)
        if ended_by is not None and status.limits.get(ended_by.setting) == getattr(config, ended_by.setting):
            reached = ended_by
    if reached is None:
        return ""
    limit = getattr(config, reached.setting)
    return f"the crawl has all its {limit:,.15g} {reached.unit}{'s' * (limit != 1)} (crawl.{reached.setting})"


def estimate_rest(status: Status) -> tuple[str, float] | None:
    """The limit that is reached first at the speed of now, and in how many seconds; None where none is in sight."""
    used, totals = _find_used(status), status.totals
    bytes_s = status.pages_s * totals.body_bytes / totals.pages if totals.pages else 0.0
    speeds = Used(pages=status.pages_s, bytes=bytes_s, time_s=1.0)  # type: ignore[arg-type]
    rests = {
        str(budget.reason): (status.limits[budget.setting] - getattr(used, budget.setting)) / speed
        for budget in BUDGETS
        if budget.setting in status.limits and (speed := getattr(speeds, budget.setting))
    }
    if not rests:
        return None
    nearest = min(rests, key=rests.__getitem__)
    return nearest, max(0.0, rests[nearest])


def _find_used(status: Status) -> Used:
    return Used(status.totals.fetched_pages, status.totals.fetched_bytes, status.elapsed_s)
