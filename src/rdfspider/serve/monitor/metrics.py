"""A sample enters, Prometheus's text format 0.0.4 leaves, at `/metrics`: the monitor's values for monitoring systems.

Counters of answers, errors and decisions cover the current run, and restart at 0 with the next, which Prometheus expects of
counters; the others cover the whole crawl.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psutil
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from rdfspider.codes import LeaseKind
from rdfspider.crawl.messages import RunState
from rdfspider.crawl.status import Totals
from rdfspider.frontier.keys import PRIORITIES
from rdfspider.serve.monitor.sections import find_rows
from rdfspider.serve.sampler import MonitorSample
from rdfspider.serve.site import Site

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Those of a crawl, without those of a single shard.
_STATES = tuple(state for state in RunState if state not in (RunState.SLOWED, RunState.SUSPENDED))
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

COUNTER, GAUGE = "counter", "gauge"

Family = tuple[str, str, str, Mapping[str, Mapping[Any, float]] | float]
"""A metric: its name, type, help text, and its value, or its values by one label: `{label: {key: value}}`."""


def make_routes(site: Site) -> Sequence[BaseRoute]:
    """The route of the metrics."""

    async def answer(request: Request) -> Response:
        return Response(await asyncio.to_thread(_measure, site), media_type=MEDIA_TYPE)

    return [Route("/metrics", answer)]


def _measure(site: Site) -> str:
    return write_metrics(site.sampler.take())


def write_metrics(sample: MonitorSample) -> str:
    """Write all metrics."""
    families = (
        *_list_totals(sample.status.totals),
        *_list_crawl(sample),
        *_list_shards(sample),
        *_list_machine(sample),
    )
    return "".join(line for family in families for line in _write_family(*family))


def _list_totals(totals: Totals) -> Iterable[Family]:
    priorities = {number: totals.queued.get(str(number), 0) for number in range(PRIORITIES)}
    visits = {kind: totals.visits.get(kind, 0) for kind in LeaseKind}
    return (
        ("pages_total", COUNTER, "Pages fetched and committed.", totals.pages),
        ("structured_pages_total", COUNTER, "Pages with structured data.", totals.structured),
        ("duplicate_pages_total", COUNTER, "Pages that repeat another page.", totals.duplicates),
        ("body_bytes_total", COUNTER, "Bytes of the bodies of pages.", totals.body_bytes),
        ("wire_bytes_total", COUNTER, "Bytes of bodies on the wire, in this run.", totals.wire_bytes),
        ("responses_total", COUNTER, "Answers by HTTP status, in this run.", {"status": _sort(totals.statuses)}),
        (
            "errors_total",
            COUNTER,
            "Exchanges that gave no answer, by the error, in this run.",
            {"code": _sort(totals.errors)},
        ),
        ("quads_total", COUNTER, "Statements by syntax.", {"syntax": _sort(totals.quads_by_syntax)}),
        (
            "problems_total",
            COUNTER,
            "What was repaired, dropped or cut short on pages.",
            {"code": _sort(totals.problems)},
        ),
        (
            "robots_total",
            COUNTER,
            "Decisions of robots.txt on URLs, and what became of these files, in this run.",
            {"decision": _sort(totals.robots)},
        ),
        (
            "cpu_seconds_total",
            COUNTER,
            "Processor time of shards by stage, in this run; all is that of their processes.",
            {"stage": _sort(totals.cpu_s)},
        ),
        ("known_urls", GAUGE, "URLs ever seen.", totals.known),
        ("failed_urls", GAUGE, "URLs that failed for good.", totals.failed),
        (
            "disallowed_urls",
            GAUGE,
            "URLs that robots.txt, a filter or a trap kept from being fetched.",
            totals.disallowed,
        ),
        ("hosts", GAUGE, "Hosts ever seen.", totals.hosts),
        ("given_up_hosts", GAUGE, "Hosts that do not answer.", totals.given_up_hosts),
        ("sites", GAUGE, "Registrable domains with pages.", totals.sites),
        ("connections", GAUGE, "Open connections.", totals.connections),
        ("archive_bytes", GAUGE, "Length of the WARC files.", totals.archive_bytes),
        ("queue_urls", GAUGE, "URLs to be fetched, by priority: 0 is first.", {"priority": priorities}),
        ("visits", GAUGE, "Leases that are under way, by their kind.", {"kind": visits}),
    )


def _list_crawl(sample: MonitorSample) -> Iterable[Family]:
    status, index = sample.status, sample.status.index
    views = index.views if index else ()
    # A crawl that is over has no current rate.
    pages_s, bytes_s = (0.0, 0.0) if status.is_over else (status.pages_s, status.bytes_s)
    states = {state: state == status.state for state in _STATES}
    lags, behind = ({view.name: getattr(view, field) for view in views} for field in ("lag_s", "behind_bytes"))
    return (
        ("crawl_state", GAUGE, "1 for the state that the crawl is in.", {"state": states}),
        ("pages_per_second", GAUGE, "Pages a second, in the last seconds.", pages_s),
        ("bytes_per_second", GAUGE, "Bytes a second, in the last seconds.", bytes_s),
        ("elapsed_seconds", GAUGE, "Time that the crawl has run, over all runs.", status.elapsed_s),
        ("status_timestamp_seconds", GAUGE, "When the crawl last wrote how it goes.", status.updated),
        ("index_lag_seconds", GAUGE, "How far a view of the index is behind the crawl.", {"view": lags}),
        ("index_behind_bytes", GAUGE, "Bytes of the archive that a view has still to take.", {"view": behind}),
        ("index_pages", GAUGE, "Pages that are found by their words.", index.pages if index else 0),
        ("index_entities", GAUGE, "Things that are found.", index.entities if index else 0),
    )


def _list_shards(sample: MonitorSample) -> Iterable[Family]:
    rows, is_over = find_rows(sample), sample.status.is_over
    up = {row.beat.shard: not (is_over or row.silent_s) for row in rows}
    yield "shard_up", GAUGE, "1 for a shard that beats, 0 for one that is silent or over.", {"shard": up}
    fields = (
        ("shard_beat_timestamp_seconds", "time", "When a shard was last heard."),
        ("shard_memory_bytes", "memory_used_bytes", "Memory of a shard's process."),
        ("shard_cpu_percent", "cpu_percent", "Processor time of a shard's process, in percent of a core."),
        ("shard_disk_free_bytes", "disk_free_bytes", "What is free where a shard writes."),
        ("shard_pages", "pages", "Pages that a shard has."),
    )
    for name, field, about in fields:
        yield name, GAUGE, about, {"shard": {row.beat.shard: getattr(row.beat, field) for row in rows}}


def _list_machine(sample: MonitorSample) -> Iterable[Family]:
    machine, process = sample.machine, psutil.Process()
    free, total = (
        {disk.name: getattr(disk, field) for disk in machine.disks} for field in ("free_bytes", "total_bytes")
    )
    used_s, memory_bytes = sum(process.cpu_times()[:2]), process.memory_info().rss
    return (
        ("machine_cpu_percent", GAUGE, "How busy a core is.", {"core": dict(enumerate(machine.cpu_percent))}),
        ("machine_memory_free_bytes", GAUGE, "Memory that can be had.", machine.memory_free_bytes),
        ("machine_memory_total_bytes", GAUGE, "Memory in all.", machine.memory_total_bytes),
        ("disk_free_bytes", GAUGE, "What is free on a disk that the crawl writes to.", {"disk": free}),
        ("disk_total_bytes", GAUGE, "The size of a disk that the crawl writes to.", {"disk": total}),
        ("site_cpu_seconds_total", COUNTER, "Processor time of the process that serves this.", used_s),
        ("site_memory_bytes", GAUGE, "Memory of the process that serves this.", memory_bytes),
    )


def _sort(counts: Mapping[str, float]) -> Mapping[str, float]:
    return dict(sorted(counts.items()))


def _write_family(name: str, kind: str, about: str, values: Mapping[str, Mapping[Any, float]] | float) -> Iterable[str]:
    yield f"# HELP rdfspider_{name} {about}\n"
    yield f"# TYPE rdfspider_{name} {kind}\n"
    if not isinstance(values, Mapping):
        yield f"rdfspider_{name} {float(values):.17g}\n"
        return
    for label, by_key in values.items():
        for key, value in by_key.items():
            yield f'rdfspider_{name}{{{label}="{str(key).translate(_ESCAPES)}"}} {float(value):.17g}\n'
