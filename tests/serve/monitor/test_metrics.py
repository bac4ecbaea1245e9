"""What Prometheus is told is in its text format, and true; and OpenAPI describes what programs get."""

import re
from collections.abc import Iterator

import msgspec
import pytest

from indexed import index_pages
from rdfspider.crawl.messages import Beat
from rdfspider.crawl.status import Status, Totals
from rdfspider.index.status import IndexStatus, ViewStatus
from rdfspider.serve.monitor.metrics import write_metrics
from rdfspider.serve.sampler import Disk, Machine, MonitorSample
from serving import Serving, serve

_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|$)')
_LINE = re.compile(rf"({_NAME})(?:\{{(.*)\}})? (-?[0-9.]+(?:e[+-]?\d+)?)")

Values = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parse_metrics(text: str) -> tuple[dict[str, str], Values]:
    """Types and values, by the letter of the text format 0.0.4."""
    assert text.endswith("\n")
    types: dict[str, str] = {}
    values: Values = {}
    helped: set[str] = set()
    current = ""
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith("# HELP "):
            name = line.split(" ")[2]
            assert re.fullmatch(_NAME, name) and name not in helped
            helped.add(name)
        elif line.startswith("# TYPE "):
            _, _, current, kind = line.split(" ")
            assert kind in ("counter", "gauge") and current not in types and current in helped
            types[current] = kind
        else:
            found = _LINE.fullmatch(line)
            assert found, line
            # All lines of a metric are one group.
            assert found[1] == current
            key = (current, frozenset(parse_labels(found[2] or "")))
            assert key not in values, line
            values[key] = float(found[3])
    return types, values


def parse_labels(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = _LABEL.match(text, at)
        assert found, text
        yield found[1], re.sub(r"\\(.)", lambda one: "\n" if one[1] == "n" else one[1], found[2])
        at = found.end()


SAMPLE = MonitorSample(
    time=1000.0,
    status=Status(
        state="running",
        updated=999.5,
        pages_s=2.5,
        totals=Totals(
            pages=12_345_678,
            queued={"0": 3, "7": 40},
            statuses={"200": 5, "404": 1},
            errors={'a "quoted"\n\\code': 2},
            quads_by_syntax={"jsonld": 7},
            robots={"allowed": 9},
        ),
        shards=(Beat(0, 1, 999.0, 1, (1, 1), False), Beat(1, 1, 900.0, 2, (1, 1), False)),
        index=IndexStatus(
            "indexing", views=(ViewStatus("quads", lag_s=1.5), ViewStatus("http://store.test/x", lag_s=2))
        ),
    ),
    machine=Machine((10.0, 20.0), 5, 10, (Disk("crawl", 1, 2),)),
)


def test_metrics_are_in_the_format_and_true() -> None:
    types, values = parse_metrics(write_metrics(SAMPLE))

    def get(name: str, **labels: str) -> float:
        return values[f"rdfspider_{name}", frozenset(labels.items())]

    assert get("pages_total") == 12_345_678
    assert (get("queue_urls", priority="0"), get("queue_urls", priority="1"), get("queue_urls", priority="7")) == (
        3,
        0,
        40,
    )
    assert get("responses_total", status="404") == 1
    assert get("errors_total", code='a "quoted"\n\\code') == 2
    assert get("quads_total", syntax="jsonld") == 7
    assert get("robots_total", decision="allowed") == 9
    assert (get("shard_up", shard="0"), get("shard_up", shard="1")) == (1, 0)
    assert get("index_lag_seconds", view="quads") == 1.5
    assert (get("crawl_state", state="running"), get("crawl_state", state="paused")) == (1, 0)
    assert get("disk_free_bytes", disk="crawl") == 1
    assert get("machine_cpu_percent", core="1") == 20
    # Counters end with _total, and nothing else does.
    assert {name for name, kind in types.items() if kind == "counter"} == {
        name for name in types if name.endswith("_total")
    }


def test_of_a_crawl_that_is_over_nothing_moves() -> None:
    over = msgspec.structs.replace(SAMPLE, status=msgspec.structs.replace(SAMPLE.status, state="ended"))
    _, values = parse_metrics(write_metrics(over))
    assert values["rdfspider_pages_per_second", frozenset()] == 0
    assert values["rdfspider_shard_up", frozenset({("shard", "0")})] == 0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    tea = {"@context": "https://schema.org", "@id": "#tea", "@type": "Product", "name": "Green tea"}
    with serve(index_pages(tmp_path_factory.mktemp("metrics") / "c", {"https://tea.example/": tea})) as serving:
        yield serving


def test_metrics_are_served(site: Serving) -> None:
    reply = site.get("/metrics")
    assert (reply.status, reply.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    _, values = parse_metrics(reply.text)
    assert values["rdfspider_crawl_state", frozenset({("state", "new")})] == 1
    assert values["rdfspider_machine_memory_total_bytes", frozenset()] > 0
