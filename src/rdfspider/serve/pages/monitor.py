"""The monitor page: the current sections, the event stream for updates, and controls for authenticated users."""

from collections.abc import Iterable
from typing import Any

import msgspec

from rdfspider.crawl.history import Point
from rdfspider.crawl.status import Status, describe_status
from rdfspider.frontier.entries import HostEntry
from rdfspider.serve.monitor.charts import TIME_RANGES
from rdfspider.serve.monitor.sections import COLUMNS, draw_sections, find_rows, locate_charts
from rdfspider.serve.pages.actions import tell_said
from rdfspider.serve.replies import CsvTable, PageReply, PageRequest, Parameter, SitePage
from rdfspider.serve.sampler import History, Machine

_SHARD_FIELDS = (
    "shard", "state", "reason", "time", "pid", "pages", "body_bytes", "wire_bytes", "archive_bytes", "connections",
    "cpu_percent", "memory_used_bytes", "disk_free_bytes",
)  # fmt: skip
_SHARD_COUNTS = ("known", "scheduled", "done", "failed", "disallowed", "hosts", "quads")
_SHARD_HEADS = (*_SHARD_FIELDS, *_SHARD_COUNTS)


class MonitorData(msgspec.Struct, frozen=True):
    """What the monitor is as JSON."""

    status: Status
    """The same as `rdfspider status --json`."""
    machine: Machine
    silent_shards: tuple[int, ...]
    """Shards that should have reported within the last seconds, but did not."""
    waiting_hosts: tuple[HostEntry, ...]
    """The hosts with the longest waits, and why they wait."""
    history: History


def show_monitor(request: PageRequest) -> PageReply:
    """Show the monitor."""
    sampler = request.site.sampler
    sample, history = sampler.take(), sampler.copy_history()
    waiting = sampler.waiting.find(sample.status)
    # For a crawl that is over, the last minutes say nothing.
    usual = "crawl" if sample.status.is_over and history.crawl else "minutes"
    span = request.get("span") if request.get("span") in TIME_RANGES else usual
    context: dict[str, Any] = {}
    if request.format == "html":
        drawn = draw_sections(request.site, sample, waiting, history, (span,))
        charts = locate_charts(span)
        context = {
            "news": drawn.pop("news"),
            "columns": {
                column: [(name, title, drawn[name]) for name, title in titles.items() if name in drawn]
                for column, titles in COLUMNS.items()
            },
            "charts": charts,
            "span": span,
            "state": sample.status.state,
            "is_over": sample.status.is_over,
            "said": tell_said(request),
            "filters": request.site.crawl.filters if request.is_trusted else {},
        }

    def make_data() -> dict[str, Any]:
        silent = tuple(row.beat.shard for row in find_rows(sample) if row.silent_s)
        data = MonitorData(sample.status, sample.machine, silent, waiting, history)
        return msgspec.structs.asdict(data) | {"status": describe_status(sample.status)}

    def make_table() -> CsvTable:
        if request.get("table") in ("seconds", "crawl"):
            points = history.seconds if request.get("table") == "seconds" else history.crawl
            return CsvTable(Point.__struct_fields__, map(msgspec.structs.astuple, points))
        return CsvTable(_SHARD_HEADS, _list_shards(sample.status))

    return PageReply("monitor.html", context, make_data, make_table)


def _list_shards(status: Status) -> Iterable[tuple[object, ...]]:
    for beat in status.shards:
        counts = (beat.counts.get(name, 0) for name in _SHARD_COUNTS)
        yield (*(getattr(beat, name) for name in _SHARD_FIELDS), *counts)


PAGES = (
    SitePage(
        "/monitor",
        show_monitor,
        "How the crawl goes and has gone: totals, shards, the machine, the hosts that wait, and a history.",
        (
            Parameter("span", "How far back charts reach: minutes (the last ten), day, or crawl (all its runs)."),
            Parameter(
                "table", "For CSV: shards, a row each; or seconds (the last ten minutes), or crawl (all its runs)."
            ),
        ),
        formats=("html", "json", "csv"),
        answer=MonitorData,
    ),
)
