"""The budgets of a whole crawl, and why crawls end: settings and usage enter, the limit that is reached leaves.

The budgets of single hosts and domains, and the limit of depth, are not decided here.
"""

import signal
from enum import StrEnum
from typing import NamedTuple

from rdfspider.config import CrawlConfig
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.status import Status


class EndReason(StrEnum):
    """Why a run ends: the `Status.reason` of one that no error ended."""

    FINISHED = "finished"
    """Nothing is left to fetch."""
    PAGES = "pages"
    BYTES = "bytes"
    TIME = "time"
    """A budget is used up."""
    ASKED = "asked"
    """A user or an error stopped it; requests in flight have a moment to end."""
    HALTED = "halted"
    """A user stopped it at once."""
    INTERRUPTED = "interrupted"
    TERMINATED = "terminated"
    """A signal stopped it."""

    __repr__ = str.__repr__

    @property
    def state(self) -> RunState:
        """The state after the end: STOPPED if something else than the crawl itself or its limits ended it."""
        return RunState.STOPPED if self in _STOPS else RunState.ENDED


SIGNAL_REASONS = {signal.SIGINT: EndReason.INTERRUPTED, signal.SIGTERM: EndReason.TERMINATED}
"""The reasons of runs that were ended by `processes.signals.END_SIGNALS`."""
_STOPS = frozenset({EndReason.ASKED, EndReason.HALTED, *SIGNAL_REASONS.values()})


class Budget(NamedTuple):
    """A limit of the whole crawl."""

    reason: EndReason
    """The end reason of a crawl that has reached it."""
    setting: str
    """The field of `CrawlConfig`, in which 0 means no limit."""
    unit: str
    """The unit, for display."""


class Used(NamedTuple):
    """What a crawl has used over all its runs, under the names of the settings. Imported pages do not count."""

    pages: int
    bytes: int
    time_s: float


BUDGETS = (
    Budget(EndReason.PAGES, "pages", "page"),
    Budget(EndReason.BYTES, "bytes", "byte"),
    Budget(EndReason.TIME, "time_s", "second"),
)


def list_limits(config: CrawlConfig) -> dict[str, float]:
    """Return the limits that are set, by setting, for `Status.limits`."""
    limits = {name: float(getattr(config, name)) for name in (*(budget.setting for budget in BUDGETS), "depth")}
    return {name: limit for name, limit in limits.items() if limit}


def find_reached(config: CrawlConfig, used: Used) -> Budget | None:
    """Return the first budget that is used up; None if the crawl may continue."""
    for budget in BUDGETS:
        limit = getattr(config, budget.setting)
        if limit and getattr(used, budget.setting) >= limit:
            return budget
    return None


def explain_reached(config: CrawlConfig, status: Status) -> str:
    """Describe the limit that a crawl has reached; empty if it may continue."""
    reached = find_reached(config, _find_used(status))
    if reached is None:
        # A crawl that ended by a limit may have used slightly less; if the limit has changed since then, it may continue.
        ended_by = next((budget for budget in BUDGETS if budget.reason == status.reason), None)
        if ended_by is not None and status.limits.get(ended_by.setting) == getattr(config, ended_by.setting):
            reached = ended_by
    if reached is None:
        return ""
    limit = getattr(config, reached.setting)
    return f"the crawl has all its {limit:,.15g} {reached.unit}{'s' * (limit != 1)} (crawl.{reached.setting})"


def estimate_rest(status: Status) -> tuple[str, float] | None:
    """Estimate which limit is reached first at the current speed, and in how many seconds; None if none will be."""
    used, totals = _find_used(status), status.totals
    bytes_s = status.pages_s * totals.body_bytes / totals.pages if totals.pages else 0.0
    speeds = {"pages": status.pages_s, "bytes": bytes_s, "time_s": 1.0}
    rests = {
        str(budget.reason): (status.limits[budget.setting] - getattr(used, budget.setting)) / speed
        for budget in BUDGETS
        if budget.setting in status.limits and (speed := speeds.get(budget.setting))
    }
    if not rests:
        return None
    nearest = min(rests, key=rests.__getitem__)
    return nearest, max(0.0, rests[nearest])


def _find_used(status: Status) -> Used:
    return Used(status.totals.fetched_pages, status.totals.fetched_bytes, status.elapsed_s)
