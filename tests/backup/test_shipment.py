"""What is sent of a member's state, what stays in the store, and who may write there."""

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from object_stores import place, s3_server
from rdfspider.archive.segments import read_committed
from rdfspider.backup import shipment
from rdfspider.backup.manifests import (
    HEAD,
    Manifest,
    SupersededError,
    begin_epoch,
    find_newest,
    list_epochs,
    list_places,
    manifest_key,
    read_manifest,
    write_manifest,
)
from rdfspider.backup.objects import Objects
from rdfspider.backup.pace import Limits, Pace, StoppedError
from rdfspider.backup.restoration import restore_member
from rdfspider.backup.shipment import PART_BYTES, Shipper, Snapshot, StoredPart, plan_parts
from rdfspider.backup.verification import VerifiedBackup, verify_backup
from rdfspider.errors import AwayError, UnreadableError

__all__ = ["place", "s3_server"]  # fixtures

MEMBER = "shards/000"
SEGMENT = "shard-000-facts-000001.warc.gz"


class Member:
    """A folder that looks like a shard's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "frontier").mkdir(parents=True)
        (folder / "warc").mkdir()
        self.commits = 0

    def write(self, name: str, body: bytes) -> None:
        (self.folder / "frontier" / name).write_bytes(body)

    def grow(self, count: int) -> None:
        with (self.folder / "warc" / SEGMENT).open("ab") as segment:
            segment.write(os.urandom(count))

    def take(self) -> Snapshot:
        self.commits += 1
        return Snapshot(
            taken=1.0,
            generation=(1, self.commits),
            files={f"frontier/{path.name}": path for path in (self.folder / "frontier").iterdir()},
            archive=self.folder / "warc",
            lengths={path.name: path.stat().st_size for path in (self.folder / "warc").iterdir()},
            inbox={3: (1, self.commits)},
        )


@pytest.fixture
def member(tmp_path: Path) -> Member:
    member = Member(tmp_path / "member")
    member.write("000001.sst", os.urandom(1000))
    member.write("CURRENT", b"MANIFEST-1\n")
    member.grow(500)
    return member


def is_restored(objects: Objects, member: Member, folder: Path) -> bool:
    assert restore_member(objects, MEMBER, folder)
    assert read_committed(folder / "warc") == {SEGMENT: (member.folder / "warc" / SEGMENT).stat().st_size}
    (folder / "warc" / "committed").unlink()
    return read_all(folder) == read_all(member.folder)


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def find_faults(objects: Objects) -> list[str]:
    return [fault.key for fault in verify_backup(objects, VerifiedBackup()) if fault.member != HEAD]


def test_only_what_is_new_is_sent(place: str, member: Member, tmp_path: Path) -> None:
    objects = Objects(place)
    shipper = Shipper(objects, MEMBER, 1)
    first = shipper.ship(member.take())
    assert (first.place, first.inbox, shipper.sent_bytes) == ((1, 1), {3: (1, 1)}, 1511)
    member.write("000002.sst", os.urandom(70))
    member.grow(300)
    assert shipper.ship(member.take()).lengths == {SEGMENT: 800}
    assert shipper.sent_bytes == 1511 + 370
    assert is_restored(objects, member, tmp_path / "restored")
    assert find_faults(objects) == []


def test_what_no_manifest_names_is_removed(place: str, member: Member, tmp_path: Path) -> None:
    objects = Objects(place)
    shipper = Shipper(objects, MEMBER, 1)
    gone = shipper.ship(member.take()).files["frontier/000001.sst"].key
    (member.folder / "frontier" / "000001.sst").unlink()
    for number in range(3):
        member.write("CURRENT", b"MANIFEST-%d\n" % number)
        shipper.ship(member.take())
    assert list_places(objects, MEMBER) == [(1, 3), (1, 4)]
    keys = {entry.key for entry in objects.list(f"{MEMBER}/")}
    assert gone not in keys
    assert len([key for key in keys if "/files/" in key]) == 2
    assert is_restored(objects, member, tmp_path / "restored")


def test_what_failed_shipments_have_sent_is_removed(tmp_path: Path, member: Member) -> None:
    """Also where the store fails while it is removed."""
    objects = Flaky(str(tmp_path / "objects"))
    shipper = Shipper(objects, MEMBER, 1)
    for number in range(9):
        member.write("CURRENT", b"MANIFEST-%d\n" % number)
        member.grow(100)
        objects.fails = ("", "create", "delete")[number % 3]
        with suppress(AwayError):
            shipper.ship(member.take())
    objects.fails = ""
    for number in range(2):
        member.write("CURRENT", b"MANIFEST-1%d\n" % number)
        shipper.ship(member.take())
    manifests = [read_manifest(objects, MEMBER, found) for found in list_places(objects, MEMBER)]
    assert len(manifests) == 2
    named = {key for manifest in manifests for key, _, _ in manifest.list_objects()}
    assert {entry.key for kind in ("files", "segments") for entry in objects.list(f"{MEMBER}/{kind}/")} == named
    assert is_restored(objects, member, tmp_path / "restored")


class Flaky(Objects):
    """A store that fails at times."""

    fails = ""

    def create(self, key: str, body: bytes) -> bool:
        if self.fails == "create" and "manifests" in key:
            raise AwayError("away")
        return super().create(key, body)

    def delete(self, keys: Iterable[str]) -> None:
        if self.fails == "delete":
            raise AwayError("away")
        super().delete(keys)


def test_a_later_life_sends_what_it_has_not_got(place: str, member: Member, tmp_path: Path) -> None:
    """Also after a shipment that was interrupted, whose objects are removed."""
    objects = Objects(place)
    Shipper(objects, MEMBER, begin_epoch(objects, MEMBER, 1)).ship(member.take())
    objects.put(f"{MEMBER}/files/1-2/stray", [b"x"])
    # Another file of the same name and length, as after a folder was put back.
    member.write("000001.sst", os.urandom(1000))
    member.grow(100)
    shipper = Shipper(objects, MEMBER, begin_epoch(objects, MEMBER, 1))
    assert shipper.ship(member.take()).place == (2, 1)
    assert shipper.sent_bytes == 1000 + 100
    assert objects.measure(f"{MEMBER}/files/1-2/stray") is None
    assert is_restored(objects, member, tmp_path / "restored")


def test_another_segment_of_the_same_name_is_sent_whole(tmp_path: Path, member: Member) -> None:
    objects = Objects(str(tmp_path / "objects"))
    Shipper(objects, MEMBER, 1).ship(member.take())
    (member.folder / "warc" / SEGMENT).write_bytes(os.urandom(900))
    Shipper(objects, MEMBER, 2).ship(member.take())
    assert is_restored(objects, member, tmp_path / "restored")


def test_an_earlier_life_writes_nothing_that_counts(place: str, member: Member) -> None:
    objects = Objects(place)
    zombie = Shipper(objects, MEMBER, begin_epoch(objects, MEMBER, 1))
    zombie.ship(member.take())
    later = Shipper(objects, MEMBER, begin_epoch(objects, MEMBER, 1))
    member.grow(10)
    with pytest.raises(SupersededError):
        zombie.ship(member.take())
    newest = later.ship(member.take())
    with pytest.raises(SupersededError):
        zombie.ship(member.take())
    assert find_newest(objects, MEMBER) == newest
    assert find_faults(objects) == []
    later.ship(member.take())
    assert [found.epoch for found in list_places(objects, MEMBER)] == [2, 2]


def test_a_folder_where_nothing_is_mounted_is_not_taken_for_the_store(tmp_path: Path, member: Member) -> None:
    store, away = tmp_path / "objects", tmp_path / "away"
    objects = Objects(str(store))
    shipper = Shipper(objects, MEMBER, begin_epoch(objects, MEMBER, 1))
    shipper.ship(member.take())
    store.rename(away)
    member.grow(300)
    for _ in range(2):
        store.mkdir(exist_ok=True)
        with pytest.raises(AwayError, match="is a disk not mounted"):
            shipper.ship(member.take())
        assert not list(store.iterdir())
    store.rmdir()
    with pytest.raises(AwayError):
        shipper.ship(member.take())
    assert not store.exists()
    away.rename(store)
    shipper.ship(member.take())
    assert is_restored(objects, member, tmp_path / "restored")


def test_what_went_to_a_folder_where_nothing_was_mounted_is_sent_again(tmp_path: Path, member: Member) -> None:
    store, away = tmp_path / "objects", tmp_path / "away"
    objects = Objects(str(store))
    unmounts = Unmounting(store, away)
    shipper = Shipper(objects, MEMBER, begin_epoch(objects, MEMBER, 1), unmounts)
    shipper.ship(member.take())
    unmounts.is_due = True
    member.write("000002.sst", os.urandom(1000))
    member.grow(300)
    with pytest.raises(AwayError):
        shipper.ship(member.take())
    shutil.rmtree(store)
    away.rename(store)
    shipper.ship(member.take())
    assert find_faults(objects) == []
    assert is_restored(objects, member, tmp_path / "restored")


class Unmounting(Pace):
    """Takes the store away in the midst of a shipment."""

    def __init__(self, store: Path, away: Path) -> None:
        super().__init__()
        self.store, self.away, self.is_due = store, away, False

    def wait(self, sent_bytes: int) -> None:
        if self.is_due:
            self.is_due = False
            self.store.rename(self.away)
        super().wait(sent_bytes)


def test_a_manifest_is_written_once(place: str, member: Member) -> None:
    objects = Objects(place)
    manifest = Shipper(objects, MEMBER, 1).ship(member.take())
    # An attempt whose answer was lost is made again.
    write_manifest(objects, manifest)
    with pytest.raises(SupersededError, match="later life"):
        write_manifest(objects, msgspec.structs.replace(manifest, taken=0.0))


def test_epochs_are_given_once(place: str) -> None:
    objects = Objects(place)
    assert [begin_epoch(objects, MEMBER, least) for least in (1, 1, 7, 3)] == [1, 2, 7, 8]


def test_names_that_are_no_epochs_are_ignored(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    objects = Objects(str(tmp_path / "objects"))
    for name in ("9" * 30, str(2**32 - 2**24 + 1), "²", "٣", "-1", "x"):
        objects.create(f"{MEMBER}/epochs/{name}", b"")
    assert [begin_epoch(objects, MEMBER, 1) for _ in range(2)] == [1, 2]
    assert sorted(list_epochs(objects, MEMBER)) == [1, 2]
    assert len(caplog.messages) == 6


@pytest.mark.parametrize("damage", ["changed", "cut", "removed"])
def test_damage_is_found_and_named(place: str, member: Member, tmp_path: Path, damage: str) -> None:
    objects = Objects(place)
    manifest = Shipper(objects, MEMBER, 1).ship(member.take())
    (part,) = manifest.segments[SEGMENT]
    body = objects.read(part.key)
    objects.delete([part.key])
    if damage != "removed":
        objects.put(part.key, [body[:-1], b"" if damage == "cut" else bytes((body[-1] ^ 1,))])
    assert find_faults(objects) == [part.key]
    with pytest.raises(UnreadableError, match=SEGMENT):
        restore_member(objects, MEMBER, tmp_path / "restored")
    # The next life sees what is missing or too short, and sends it again.
    if damage != "changed":
        Shipper(objects, MEMBER, 2).ship(member.take())
        assert find_faults(objects) == [part.key]  # of the manifest before
        assert is_restored(objects, member, tmp_path / "restored")


@pytest.mark.parametrize("is_manifest", [False, True])
def test_if_the_last_state_is_not_whole_the_one_before_it_is_restored(
    place: str, member: Member, tmp_path: Path, caplog: pytest.LogCaptureFixture, is_manifest: bool
) -> None:
    objects = Objects(place)
    shipper = Shipper(objects, MEMBER, 1)
    shipper.ship(member.take())
    before = read_all(member.folder)
    member.write("000002.sst", os.urandom(70))
    (member.folder / "warc" / SEGMENT.replace("1.", "2.")).write_bytes(b"x")
    newest = shipper.ship(member.take())
    gone = newest.files["frontier/000002.sst"].key
    if is_manifest:
        gone = manifest_key(MEMBER, newest.place)
        objects.delete([gone])
        objects.put(gone, [b"{"])
    else:
        objects.delete([gone])
    restored = restore_member(objects, MEMBER, tmp_path / "restored")
    assert restored and restored.place == (1, 1)
    (tmp_path / "restored" / "warc" / "committed").unlink()
    assert read_all(tmp_path / "restored") == before
    assert [f"{gone} is " in message for message in caplog.messages] == [True]
    assert find_faults(objects) == [gone]
    # Where only a newer one than that is wanted, nothing is changed.
    with pytest.raises(UnreadableError, match=gone):
        restore_member(objects, MEMBER, tmp_path / "other", newer_than=restored.generation)
    assert not (tmp_path / "other").exists() or not is_manifest


def test_what_a_zombie_writes_hides_no_state_that_is_whole(
    place: str, member: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stopped after its objects, which its successor removes, and before its manifest; or just before it writes that."""
    objects = Objects(place)
    zombie = Shipper(objects, MEMBER, begin_epoch(objects, MEMBER, 5))
    zombie.ship(member.take())
    before = read_all(member.folder)

    def wake_late(objects: Objects, manifest: Manifest) -> None:
        begin_epoch(objects, MEMBER, 1)
        later = Shipper(objects, MEMBER, 6)
        later._begin()
        if is_checked:
            write_manifest(objects, manifest)
        objects.create(manifest_key(MEMBER, manifest.place), msgspec.json.encode(manifest))
        raise SupersededError

    monkeypatch.setattr(shipment, "write_manifest", wake_late)
    member.write("000002.sst", os.urandom(70))
    for is_checked in (True, False):
        with pytest.raises(SupersededError):
            zombie.ship(member.take())
        assert list_places(objects, MEMBER) == [(5, 1)] if is_checked else [(5, 1), (5, 3)]
    assert restore_member(objects, MEMBER, tmp_path / "restored")
    (tmp_path / "restored" / "warc" / "committed").unlink()
    assert read_all(tmp_path / "restored") == before


def test_a_manifest_that_is_damaged_is_named(tmp_path: Path, member: Member) -> None:
    objects = Objects(str(tmp_path / "objects"))
    key = manifest_key(MEMBER, Shipper(objects, MEMBER, 1).ship(member.take()).place)
    (tmp_path / "objects" / key).write_bytes(b"{")
    assert find_faults(objects) == [key]
    Shipper(objects, MEMBER, 2).ship(member.take())
    assert is_restored(objects, member, tmp_path / "restored")


def test_parts_are_joined_as_they_become_many() -> None:
    parts: tuple[StoredPart, ...] = ()
    sent = 0
    length = 0
    for _ in range(3000):
        length += 60_000
        parts, ranges = plan_parts(parts, length)
        assert all(end - start <= PART_BYTES for start, end in ranges)
        sent += sum(end - start for start, end in ranges)
        parts += tuple(StoredPart(start, end, "", "") for start, end in ranges)
        assert [0, *(part.end for part in parts)] == [*(part.start for part in parts), length]
    assert len(parts) < 20
    assert sent < 12 * length


def test_a_shipment_can_be_stopped(tmp_path: Path, member: Member) -> None:
    objects = Objects(str(tmp_path / "objects"))
    pace = Pace(Limits(bytes_s=1))
    pace.stop()
    with pytest.raises(StoppedError):
        Shipper(objects, MEMBER, 1, pace).ship(member.take())
    assert list_places(objects, MEMBER) == []


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "frontier/../../outside"])
def test_a_manifest_that_names_files_elsewhere_is_refused(tmp_path: Path, member: Member, name: str) -> None:
    objects = Objects(str(tmp_path / "objects"))
    manifest = Shipper(objects, MEMBER, 1).ship(member.take())
    objects.delete([manifest_key(MEMBER, manifest.place)])
    files = {name: manifest.files["frontier/CURRENT"]}
    write_manifest(objects, msgspec.structs.replace(manifest, number=2, files=files))
    with pytest.raises(UnreadableError, match="outside of the crawl's folder"):
        restore_member(objects, MEMBER, tmp_path / "restored")
    assert not list(tmp_path.rglob("outside"))
