"""A sample enters, Prometheus's text format 0.0.4 leaves, at `/metrics`: the monitor's values for monitoring systems.

Counters of answers, errors and decisions cover the current run, and restart at 0 with the next, which Prometheus expects of
counters; the others cover the whole crawl.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import psutil
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from rdfspider.crawl.status import Totals
from rdfspider.frontier.keys import PRIORITIES
from rdfspider.serve.monitor.sections import find_rows
from rdfspider.serve.sampler import MonitorSample
from rdfspider.serve.site import Site

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_STATES = ("new", "running", "pausing", "paused", "stopping", "ended", "stopped", "died")
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

Labels = Mapping[str, object]
Family = tuple[str, str, str, Iterable[tuple[Labels, float]]]
"""A metric: its name, type, help text, and values by labels."""


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
    counters = (
        ("pages", totals.pages, "Pages fetched and committed."),
        ("structured_pages", totals.structured, "Pages with structured data."),
        ("duplicate_pages", totals.duplicates, "Pages that repeat another page."),
        ("body_bytes", totals.body_bytes, "Bytes of the bodies of pages."),
        ("wire_bytes", totals.wire_bytes, "Bytes of bodies on the wire, in this run."),
    )
    for name, value, about in counters:
        yield f"{name}_total", "counter", about, [({}, value)]
    by_label = (
        ("responses", "status", totals.statuses, "Answers by HTTP status, in this run."),
        ("errors", "code", totals.errors, "Exchanges that gave no answer, by the error, in this run."),
        ("quads", "syntax", totals.quads_by_syntax, "Statements by syntax."),
        ("problems", "code", totals.problems, "What was repaired, dropped or cut short on pages."),
        ("robots", "decision", totals.robots, "Decisions of robots.txt on URLs, and what became of these files, in this run."),
        ("cpu_seconds", "stage", totals.cpu_s, "Processor time of shards by stage, in this run; all is that of their processes."),
    )  # fmt: skip
    for name, label, counts, about in by_label:
        yield f"{name}_total", "counter", about, [({label: key}, value) for key, value in sorted(counts.items())]
    gauges = (
        ("known_urls", totals.known, "URLs ever seen."),
        ("failed_urls", totals.failed, "URLs that failed for good."),
        ("disallowed_urls", totals.disallowed, "URLs that robots.txt, a filter or a trap kept from being fetched."),
        ("hosts", totals.hosts, "Hosts ever seen."),
        ("given_up_hosts", totals.given_up_hosts, "Hosts that do not answer."),
        ("sites", totals.sites, "Registrable domains with pages."),
        ("connections", totals.connections, "Open connections."),
        ("archive_bytes", totals.archive_bytes, "Length of the WARC files."),
    )
    for name, value, about in gauges:
        yield name, "gauge", about, [({}, value)]
    priorities = [({"priority": number}, totals.queued.get(str(number), 0)) for number in range(PRIORITIES)]
    yield "queue_urls", "gauge", "URLs to be fetched, by priority: 0 is first.", priorities
    visits = [({"kind": kind}, totals.visits.get(kind, 0)) for kind in ("name", "robots", "page")]
    yield "visits", "gauge", "Leases that are under way, by their kind.", visits


def _list_crawl(sample: MonitorSample) -> Iterable[Family]:
    status, index = sample.status, sample.status.index
    states = [({"state": state}, int(state == status.state)) for state in _STATES]
    yield "crawl_state", "gauge", "1 for the state that the crawl is in.", states
    yield "pages_per_second", "gauge", "Pages a second, in the last seconds.", [({}, _now(sample, status.pages_s))]
    yield "bytes_per_second", "gauge", "Bytes a second, in the last seconds.", [({}, _now(sample, status.bytes_s))]
    yield "elapsed_seconds", "gauge", "Time that the crawl has run, over all runs.", [({}, status.elapsed_s)]
    yield "status_timestamp_seconds", "gauge", "When the crawl last wrote how it goes.", [({}, status.updated)]
    views = index.views if index else ()
    lags = [({"view": view.name}, view.lag_s) for view in views]
    yield "index_lag_seconds", "gauge", "How far a view of the index is behind the crawl.", lags
    behind = [({"view": view.name}, view.behind_bytes) for view in views]
    yield "index_behind_bytes", "gauge", "Bytes of the archive that a view has still to take.", behind
    yield "index_pages", "gauge", "Pages that are found by their words.", [({}, index.pages if index else 0)]
    yield "index_entities", "gauge", "Things that are found.", [({}, index.entities if index else 0)]


def _list_shards(sample: MonitorSample) -> Iterable[Family]:
    rows = find_rows(sample)
    is_over = sample.status.is_over
    up = [({"shard": row.beat.shard}, int(not (is_over or row.silent_s))) for row in rows]
    yield "shard_up", "gauge", "1 for a shard that beats, 0 for one that is silent or over.", up
    fields = (
        ("shard_beat_timestamp_seconds", "time", "When a shard was last heard."),
        ("shard_memory_bytes", "memory_used_bytes", "Memory of a shard's process."),
        ("shard_cpu_percent", "cpu_percent", "Processor time of a shard's process, in percent of a core."),
        ("shard_disk_free_bytes", "disk_free_bytes", "What is free where a shard writes."),
        ("shard_pages", "pages", "Pages that a shard has."),
    )
    for name, field, about in fields:
        yield name, "gauge", about, [({"shard": row.beat.shard}, getattr(row.beat, field)) for row in rows]


def _list_machine(sample: MonitorSample) -> Iterable[Family]:
    machine, process = sample.machine, psutil.Process()
    cores = [({"core": core}, percent) for core, percent in enumerate(machine.cpu_percent)]
    yield "machine_cpu_percent", "gauge", "How busy a core is.", cores
    yield "machine_memory_free_bytes", "gauge", "Memory that can be had.", [({}, machine.memory_free_bytes)]
    yield "machine_memory_total_bytes", "gauge", "Memory in all.", [({}, machine.memory_total_bytes)]
    free = [({"disk": disk.name}, disk.free_bytes) for disk in machine.disks]
    yield "disk_free_bytes", "gauge", "What is free on a disk that the crawl writes to.", free
    total = [({"disk": disk.name}, disk.total_bytes) for disk in machine.disks]
    yield "disk_total_bytes", "gauge", "The size of a disk that the crawl writes to.", total
    used_s = sum(process.cpu_times()[:2])
    yield "site_cpu_seconds_total", "counter", "Processor time of the process that serves this.", [({}, used_s)]
    yield "site_memory_bytes", "gauge", "Memory of the process that serves this.", [({}, process.memory_info().rss)]


def _now(sample: MonitorSample, value: float) -> float:
    """A current rate; 0 for a crawl that is over."""
    return 0.0 if sample.status.is_over else value


def _write_family(name: str, kind: str, about: str, values: Iterable[tuple[Labels, float]]) -> Iterable[str]:
    yield f"# HELP rdfspider_{name} {about}\n"
    yield f"# TYPE rdfspider_{name} {kind}\n"
    for labels, value in values:
        pairs = ",".join(f'{key}="{str(label).translate(_ESCAPES)}"' for key, label in labels.items())
        yield f"rdfspider_{name}{f'{{{pairs}}}' if pairs else ''} {float(value):.17g}\n"
