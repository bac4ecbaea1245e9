"""Heartbeats of shards and the status that they add up to. For tests only."""

from rdfspider.crawl.messages import Beat
from rdfspider.crawl.status import Status, sum_beats


def make_beat(shard: int, **facts: object) -> Beat:
    """A heartbeat with these facts."""
    return Beat(shard, 1, 1000.0, 77 + shard, (1, 2), False, **facts)  # type: ignore[arg-type]


def make_status(*beats: Beat) -> Status:
    """The status of a crawl that runs with these shards."""
    return Status(
        state="running",
        started=1.0,
        updated=2.0,
        run_s=65.0,
        elapsed_s=3665.0,
        pages_s=10.25,
        bytes_s=1_500_000.0,
        limits={"pages": 1000.0},
        totals=sum_beats(beats),
        shards=beats,
    )
