"""Records of an archive that only the backup has."""

import gzip
from pathlib import Path

import pytest

from object_stores import place, s3_server
from rdfspider.archive.segments import read_member
from rdfspider.backup.manifests import name_shard
from rdfspider.backup.objects import Objects
from rdfspider.backup.records import read_record
from rdfspider.backup.shipment import Shipper, Snapshot
from rdfspider.errors import UnreadableError, UsageError

__all__ = ["place", "s3_server"]  # fixtures

SEGMENT = "shard-003-pages-000001.warc.gz"


def test_a_record_is_read_from_parts_while_the_crawl_goes_on(place: str, tmp_path: Path) -> None:
    """Also one that a later part ends, and one that is newer than the manifest that was read first."""
    (tmp_path / "warc").mkdir()
    segment = tmp_path / "warc" / SEGMENT
    members = [gzip.compress(f"record {number}".encode() * 50) for number in range(6)]
    starts = [sum(map(len, members[:number])) for number in range(7)]
    shipper = Shipper(Objects(place), name_shard(3), 1)

    def ship(length: int) -> None:
        segment.write_bytes(b"".join(members)[:length])
        shipper.ship(Snapshot(taken=1.0, archive=segment.parent, lengths={SEGMENT: length}))

    # The second part is shorter than the first, which is not sent again therefore.
    ship(starts[4] - 5)
    ship(starts[5])
    for number in range(5):
        assert read_record(place, 3, SEGMENT, starts[number]) == members[number]
    with pytest.raises(UnreadableError, match="does not have shard-003"):
        read_record(place, 3, SEGMENT, starts[5])
    ship(starts[6])
    assert read_record(place, 3, SEGMENT, starts[5]) == members[5]
    with pytest.raises(UnreadableError):
        read_record(place, 3, SEGMENT, 1)


def test_a_backup_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no such folder"):
        read_record(str(tmp_path / "none"), 0, SEGMENT, 0)
    with pytest.raises(UnreadableError, match="does not have"):
        read_record(str(tmp_path), 0, SEGMENT, 0)


def test_what_is_no_whole_record_is_refused() -> None:
    member = gzip.compress(b"record")
    assert read_member([member[:3], member[3:] + b"more"], "it") == member
    for pieces in ([member[:-1]], [b"no gzip"], []):
        with pytest.raises(UnreadableError, match="it "):
            read_member(pieces, "it")
