"""What a place tells of its segments; the copying itself is in `tests/scenarios/test_places.py`."""

import threading
from pathlib import Path
from typing import Any

import pytest

from rdfspider import UsageError
from rdfspider.places.keys import make_keys
from rdfspider.run.mirror import Mirror


@pytest.mark.parametrize(
    "segment",
    [
        "../../../x-facts-000001.warc.gz",
        "/tmp/shard-000-facts-000001.warc.gz",
        "shard-001-facts-000001.warc.gz",
        "shard-000-pages-000001.warc.gz",
        "crawl.toml",
    ],
)
def test_nothing_is_written_but_facts_of_the_shard(segment: str, tmp_path: Path) -> None:
    (tmp_path / "shards/000").mkdir(parents=True)
    nobody: Any = None
    mirror = Mirror(tmp_path, make_keys(1).of_coordinator(), lambda: ())
    with pytest.raises(UsageError, match="a segment that is not the shard's"):
        mirror._copy_segments(nobody, 0, {segment: 5})
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_thread_survives_what_it_does_not_expect(tmp_path: Path) -> None:
    calls: list[int] = []
    has_come_back = threading.Event()

    def list_shards() -> tuple[int, ...]:
        calls.append(len(calls))
        if len(calls) == 1:
            raise RuntimeError("dictionary changed size during iteration")
        if len(calls) == 2:
            # The folder of a shard is no folder.
            (tmp_path / "shards").write_text("")
            return (0,)
        has_come_back.set()
        return ()

    mirror = Mirror(tmp_path, make_keys(1).of_coordinator(), list_shards)
    mirror.start()
    assert has_come_back.wait(60)
    mirror.finish(60.0)
