"""A sample enters, the HTML of each section of the monitor leaves: the same for the first load and for later updates."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from rdfspider.codes import Reason
from rdfspider.crawl.budgets import estimate_rest
from rdfspider.crawl.messages import Beat, LinksTo, RunState
from rdfspider.crawl.status import Status, find_late_links, list_places
from rdfspider.crawl.summary import REASONS
from rdfspider.frontier.entries import HostEntry
from rdfspider.frontier.keys import PRIORITIES
from rdfspider.serve.monitor.charts import TIME_RANGES, draw_charts
from rdfspider.serve.sampler import History, MonitorSample
from rdfspider.serve.site import Site
from rdfspider.vocabulary.spellings import fold_class_name

SILENT_S = 5.0
"""Shards and the crawl report every second; one that has not for this long is shown as silent."""
COLUMNS = {
    "wide": {
        "totals": "The crawl so far",
        "charts": "Over time",
        "charts-day": "Over time",
        "charts-crawl": "Over time",
        "shards": "Shards",
    },
    "left": {
        "fetching": "Being fetched now",
        "hosts": "Hosts that wait",
        "index": "Index",
        "machine": "Machine",
        "finds": "Found last",
    },
    "right": {
        "answers": "Answers",
        "queue": "Queue by priority",
        "robots": "Decisions of robots.txt",
        "yield": "Statements by syntax",
    },
}
"""The columns and titles of the sections, by id; `news`, which comes before them, has no title."""
_SHOWN = 12
_TYPES_SHOWN = 8
_CLASSES = {
    "2": "2xx: fetched",
    "3": "3xx: redirects, or unchanged",
    "4": "4xx: refused or not there",
    "5": "5xx: errors",
}
_DOCUMENTS: dict[str, str] = {
    Reason.SITEMAP: "Sitemaps",
    Reason.NO_SITEMAP: "Sitemaps that are not there",
    Reason.CONTEXT: "Contexts of JSON-LD",
    Reason.NO_CONTEXT: "Contexts that are not there",
}
_SENTENCES = {
    RunState.NEW: "The crawl has not run yet.",
    RunState.UNKNOWN: "The crawl has lost its status.",
    RunState.RUNNING: "The crawl is running.",
    RunState.PAUSING: "The crawl is pausing: it finishes what is under way.",
    RunState.PAUSED: "The crawl is paused.",
    RunState.STOPPING: "The crawl is stopping: it finishes what is under way.",
    RunState.ENDED: "The crawl has ended.",
    RunState.STOPPED: "The crawl was stopped.",
    RunState.DIED: "The crawl has died: its process is gone. Run it again to go on.",
}


@dataclass(frozen=True, slots=True)
class ShardRow:
    """A shard as shown."""

    beat: Beat
    silent_s: float
    """The time since its last report, if that is too long; otherwise 0."""

    @property
    def sent(self) -> int:
        """Links that it has sent to other shards."""
        return sum(links.sent for links in self.beat.links)

    @property
    def received(self) -> int:
        """Those that the others have committed."""
        return sum(links.received for links in self.beat.links)

    @property
    def durable(self) -> int:
        """Those that the others cannot lose with their disks."""
        return sum(links.durable for links in self.beat.links)

    @property
    def waiting(self) -> list[LinksTo]:
        """The shards whose links wait, the longest first."""
        return [links for links in self.beat.links if links.oldest_s][:_SHOWN]

    @property
    def state(self) -> str:
        """The last known state."""
        return "silent" if self.silent_s else self.beat.state


@dataclass(frozen=True, slots=True)
class Amount:
    """A count, and its share of the total."""

    name: str
    count: int
    share: float


def draw_sections(
    site: Site, sample: MonitorSample, waiting: tuple[HostEntry, ...], history: History, spans: tuple[str, ...]
) -> dict[str, Markup]:
    """Render all sections by id, with charts for the given time ranges."""
    status, totals = sample.status, sample.status.totals
    rows = find_rows(sample)
    robots_disallowed = max(totals.disallowed - totals.filtered - totals.trapped, 0)
    contexts: dict[str, Mapping[str, Any]] = {
        "news": {
            "state": status.state,
            "sentences": write_news(sample.status),
            "warnings": find_warnings(sample, rows),
        },
        "totals": {
            "status": status,
            "totals": totals,
            "robots_disallowed": robots_disallowed,
            "rest": None if status.is_over else estimate_rest(status),
        },
        "shards": {
            "rows": rows,
            "unheard": find_unheard(site, status),
            "is_over": status.is_over,
            "places": list_places(status),
        },
        "fetching": {"requests": totals.fetching[:_SHOWN], "visits": totals.visits, "now": sample.time},
        "answers": {
            "classes": _sort_statuses(totals.statuses),
            "errors": rank(totals.errors),
            "failures": rank(totals.failures, 8),
            "documents": rank({_DOCUMENTS.get(name, name): count for name, count in totals.prerequisites.items()}),
        },
        "robots": {"robots": totals.robots, "visits": totals.visits, "disallowed": robots_disallowed},
        "queue": {"queued": _list_queue(totals.queued), "totals": totals},
        "hosts": {"hosts": waiting},
        "yield": {
            "syntaxes": rank(totals.quads_by_syntax),
            "problems": rank(totals.problems, 5),
            "types": _fold_types(totals.types),
        },
        "finds": {"finds": totals.finds[::-1]},
        "index": {"index": status.index},
        "machine": {"machine": sample.machine},
    }
    sections = {}
    for name, context in contexts.items():
        sections[name] = Markup(site.render(f"monitor_{name}.html", context))
    for span in spans:
        context = {"charts": draw_charts(history, TIME_RANGES[span]), "span": TIME_RANGES[span]}
        sections[locate_charts(span)] = Markup(site.render("monitor_charts.html", context))
    return sections


def locate_charts(span: str) -> str:
    """The id of the section with the charts of a time range."""
    return "charts" if span == "minutes" else f"charts-{span}"


def find_rows(sample: MonitorSample) -> list[ShardRow]:
    """The shards that have reported, with the time since their last report."""
    is_over = sample.status.is_over
    ages = ((beat, sample.time - beat.time) for beat in sample.status.shards)
    return [ShardRow(beat, age_s if age_s > SILENT_S and not is_over else 0.0) for beat, age_s in ages]


def find_unheard(site: Site, status: Status) -> list[int]:
    """The shards that should have reported, but never did."""
    if status.is_over:
        return []
    heard = {beat.shard for beat in status.shards}
    return [number for number in range(site.crawl.config.crawl.shards) if number not in heard]


def write_news(status: Status) -> list[str]:
    """The state in sentences. They change only with the state, so that a screen reader can announce each change."""
    sentences = [_SENTENCES.get(status.state, f"The crawl is {status.state}.")]
    if status.reason and status.state != RunState.DIED:
        reason = REASONS.get(status.reason, status.reason)
        sentences.append(f"{reason[:1].upper()}{reason[1:]}.")
    return sentences


def find_warnings(sample: MonitorSample, rows: list[ShardRow]) -> list[str]:
    """Warnings, one sentence each; like the news, they do not change every second."""
    status = sample.status
    found = [
        f"Shard {row.beat.shard} is silent: it has not been heard for some seconds." for row in rows if row.silent_s
    ]
    if not status.is_over and status.updated and sample.time - status.updated > SILENT_S:
        found.insert(0, "The process that runs the crawl is silent: what is shown is old.")
    for row in rows:
        if row.state in (RunState.SLOWED, RunState.SUSPENDED):
            reason = f": {row.beat.reason}" if row.state == RunState.SUSPENDED else ", so that the index can follow"
            found.append(f"Shard {row.beat.shard} is {row.state}{reason}.")
    # Without the seconds, which would be news each time.
    found += [
        f"Shard {unheard.shard} has not been heard since it was started, more than a minute ago."
        for unheard in status.unheard
    ]
    found += [
        f"Links of shard {shard} for shard {links.shard} have waited for more than a minute."
        for shard, links in find_late_links(status)
    ]
    for row in rows:
        if row.beat.backup is not None and row.beat.backup.problem:
            found.append(f"The backup of shard {row.beat.shard} waits: {row.beat.backup.problem}.")
    index = status.index
    if index and index.problem:
        found.append(f"Index: {index.problem}.")
    return found[:_SHOWN]


def rank(counts: Mapping[str, int], most: int = _SHOWN) -> list[Amount]:
    """Counts, the largest first; the smallest are combined into one."""
    whole = sum(counts.values()) or 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rest = sum(count for _, count in ordered[most:])
    shown = [*ordered[:most], (f"{len(ordered) - most} more", rest)] if rest else ordered
    return [Amount(name, count, count / whole) for name, count in shown]


def _sort_statuses(statuses: Mapping[str, int]) -> list[tuple[Amount, list[Amount]]]:
    """Statuses grouped by class."""
    sums: Counter[str] = Counter()
    for status, count in statuses.items():
        sums[status[0]] += count
    whole = sums.total() or 1
    return [
        (
            Amount(_CLASSES.get(digit, f"{digit}xx"), sums[digit], sums[digit] / whole),
            rank({status: count for status, count in statuses.items() if status[0] == digit}),
        )
        for digit in sorted(sums)
    ]


def _list_queue(queued: Mapping[str, int]) -> list[Amount]:
    whole = sum(queued.values()) or 1
    counts = [queued.get(str(priority), 0) for priority in range(PRIORITIES)]
    return [Amount(str(priority), count, count / whole) for priority, count in enumerate(counts)]


def _fold_types(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The most frequent types; spellings of one IRI count as one, as in the index."""
    folded: Counter[str] = Counter()
    for iri, count in counts.items():
        folded[fold_class_name(iri)] += count
    return folded.most_common(_TYPES_SHOWN)
