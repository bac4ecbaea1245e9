"""What a place tells of its segments; the copying itself is in `tests/scenarios/test_places.py`."""

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
