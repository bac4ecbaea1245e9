"""Segments on several disks: where they go, whose they are, and what is left of them after a crash or without a disk."""

import errno
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator, WarcRecordType

from disks import Slot, mount_disk, set_read_only
from rdfspider.archive.reader import read_archive
from rdfspider.archive.segments import find_committed_length, read_committed
from rdfspider.archive.volumes import Volumes, check_volumes
from rdfspider.archive.writer import ArchiveWriter
from rdfspider.config import ArchiveConfig
from rdfspider.errors import UsageError
from rdfspider.records import Capture, Finished, Lease, Page, Verdict

MB = 1_000_000
PAGES, FACTS = "x-000-pages-000001.warc.gz", "x-000-facts-000001.warc.gz"
SECOND = PAGES.replace("1.warc", "2.warc")


class Shard:
    """An archive, and what its frontier would know of it."""

    def __init__(self, home: Path, *volumes: Path, segment_bytes: int = MB) -> None:
        self.home = home
        self.segment_bytes = segment_bytes
        self.volumes = volumes
        self.committed: dict[str, int] = {}
        self.numbers: list[int] = []
        """The pages that are committed."""
        self.open()

    def open(self, *volumes: Path) -> None:
        self.volumes = volumes or self.volumes
        config = ArchiveConfig("all", self.segment_bytes, tuple(map(str, self.volumes)))
        self.archive = ArchiveWriter(
            self.home, config, prefix="x-000", info={}, committed=self.committed, name="my crawl/000"
        )

    def write(self, *numbers: int, size_bytes: int = 1000) -> None:
        for number in numbers:
            url = f"http://example.org/{number}"
            body = random.Random(number).randbytes(size_bytes)
            capture = Capture(Page(url, body), 200, "OK", "1.1", (), (), "127.0.0.1", 1.7e9 + number, 0.1, len(body))
            lease = Lease("page", "example.org", 1, url)
            self.archive.write_outcome(Finished(lease, Verdict("done", "fetched", 200), capture))

    def commit(self, *numbers: int, size_bytes: int = 1000) -> None:
        self.write(*numbers, size_bytes=size_bytes)
        self.archive.flush()
        self.archive.sync()
        self.committed = self.archive.positions()
        self.numbers += numbers
        self.archive.publish()

    def reopen(self, *volumes: Path) -> None:
        """As after a crash: what was not committed is gone."""
        self.archive.close()
        self.open(*volumes)

    def file_of(self, name: str) -> Path:
        """Where a segment really is."""
        return (self.home / name).readlink()

    def check(self) -> None:
        """All that was committed is there, as long as it was, and nothing else."""
        found = []
        for path in sorted(self.home.glob("*.warc.gz")):
            assert path.stat().st_size == self.committed[path.name]
            with path.open("rb") as file:
                for record in ArchiveIterator(file, record_types=WarcRecordType.response):
                    assert record.verify_payload_digest()
                    found.append(int(record.headers["WARC-Target-URI"].rpartition("/")[2]))
        assert found == self.numbers
        linked = {path.readlink() for path in self.home.glob("*.warc.gz") if path.is_symlink()}
        assert {file for volume in self.volumes for file in volume.glob("*/*")} == linked


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "warc"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two volumes, on one disk."""
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    return tmp_path / "one", tmp_path / "two"


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Two volumes, the second with more room."""
    with mount_disk(tmp_path / "small", 2 * MB) as small, mount_disk(tmp_path / "large", 3 * MB) as large:
        yield small, large


def test_segments_go_to_the_disk_with_most_room(home: Path, disks: tuple[Path, Path]) -> None:
    small, large = disks
    shard = Shard(home, small, large, segment_bytes=600_000)
    for number in range(6):
        shard.commit(number, size_bytes=300_000)
    # From 3.0 and 2.0 MB: until the larger one has no more room than the other, and by turns from then on.
    places = [shard.file_of(f"x-000-pages-{number:06}.warc.gz").parts[-3] for number in (1, 2, 3)]
    assert places == ["large", "large", "small"]
    shard.archive.close()
    shard.check()
    shard.open()
    shard.check()


def test_a_segment_on_a_disk_that_is_nearly_full_is_ended(home: Path, disks: tuple[Path, Path]) -> None:
    small, large = disks
    shard = Shard(home, small, large, segment_bytes=100 * MB)
    shard.commit(0)
    assert shard.file_of(PAGES).is_relative_to(large)
    filler = large / "filler"
    filler.write_bytes(bytes(2_500_000))
    assert shard.archive.find_full(MB) == []
    shard.commit(1)
    assert shard.file_of(SECOND).is_relative_to(small)
    shard.commit(2)
    assert len(list(home.glob("*-pages-*"))) == 2, "there is room to grow"
    (small / "filler").write_bytes(bytes(1_500_000))
    assert shard.archive.find_full(MB) == [str(small), str(large)]
    filler.unlink()
    assert shard.archive.find_full(MB) == []
    shard.commit(3)
    assert shard.file_of(PAGES.replace("1.warc", "3.warc")).is_relative_to(large)
    (small / "filler").unlink()
    shard.archive.close()
    shard.check()


def test_the_room_is_that_of_all_disks(home: Path, disks: tuple[Path, Path], tmp_path: Path) -> None:
    small, large = disks
    (small / "folder").mkdir()
    volumes = Volumes(home, map(str, (small, small / "folder", large, tmp_path / "nowhere")))
    assert 4.9 * MB < volumes.free_bytes < 5.1 * MB, "a disk with two volumes counts once"
    home.mkdir()
    assert Volumes(home).free_bytes == pytest.approx(shutil.disk_usage(home).free, rel=0.1)


def test_a_disk_that_takes_nothing_has_no_room(home: Path, disks: tuple[Path, Path]) -> None:
    small, large = disks
    shard = Shard(home, small, large)
    set_read_only(large)
    with pytest.raises(UsageError, match="large: it may not be written to"):
        check_volumes(map(str, disks))
    assert shard.archive.find_full(MB) == []
    shard.commit(0)
    assert shard.file_of(PAGES).is_relative_to(small)
    shard.archive.close()
    set_read_only(small)
    assert shard.archive.find_full(0) == [f"{small} (missing or read-only)", f"{large} (missing or read-only)"]


def test_links_lead_to_the_segments(home: Path, folders: tuple[Path, Path]) -> None:
    shard = Shard(home, *folders)
    shard.commit(1, 2)
    shard.write(3)
    shard.archive.flush()
    assert shard.file_of(PAGES).parent.name.startswith("my-crawl-000-")
    # Both folders are on one disk, whose free space others change: segments may be in either.
    assert shard.file_of(FACTS).parent.name == shard.file_of(PAGES).parent.name
    assert find_committed_length(home / PAGES) == shard.committed[PAGES] < (home / PAGES).stat().st_size
    assert [item.url for item in read_archive(home / PAGES) if isinstance(item, Page)] == [
        "http://example.org/1",
        "http://example.org/2",
    ]
    shard.archive.close()


def test_a_new_segment_is_durable_before_it_is_committed(
    home: Path, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file, its folder, the folder that this is in, and the link."""
    shard = Shard(home, *folders)
    synced: set[int] = set()
    for name in ("fsync", "fdatasync"):
        call = getattr(os, name)
        monkeypatch.setattr(os, name, lambda file, call=call: (synced.add(os.fstat(file).st_ino), call(file)))
    shard.write(1)
    shard.archive.flush()
    shard.archive.sync()
    file = shard.file_of(PAGES)
    assert {path.stat().st_ino for path in (file, file.parent, file.parent.parent, home)} <= synced
    shard.archive.close()


def test_without_volumes_all_is_at_home(home: Path) -> None:
    shard = Shard(home)
    shard.commit(1)
    shard.archive.close()
    assert {path.name for path in home.iterdir()} == {PAGES, FACTS, "committed"}
    assert not (home / PAGES).is_symlink()


def test_a_crash_leaves_nothing_that_the_next_start_does_not_clear_up(home: Path, folders: tuple[Path, Path]) -> None:
    shard = Shard(home, *folders, segment_bytes=3000)
    shard.commit(1, 2, 3)
    shard.write(4, 5, 6)
    shard.archive.flush()
    assert len(list(home.glob("*.warc.gz"))) > len(shard.committed)
    assert (home / SECOND).stat().st_size > 0
    shard.reopen()
    assert shard.archive.lost == []
    shard.check()
    shard.commit(4, 5, 6)
    shard.check()
    shard.archive.close()


CALLS = (
    "open",
    "mkdir",
    "symlink",
    "unlink",
    "pwrite",
    "fsync",
    "fdatasync",
    "ftruncate",
    "rename",
    "replace",
    "rmdir",
)


class KilledError(BaseException):
    """The process ended here."""


def kill_at(instant: int, patch: pytest.MonkeyPatch) -> None:
    """Let only so many calls that change a disk be made."""
    left = iter(range(instant))

    def count(call: Callable[..., object]) -> Callable[..., object]:
        def make_call(*arguments: object, **options: object) -> object:
            if next(left, None) is None:
                raise KilledError
            return call(*arguments, **options)

        return make_call

    for name in CALLS:
        patch.setattr(os, name, count(getattr(os, name)))


def test_a_crash_between_any_two_steps_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the first start, of a commit with new segments, and of the recovery from it."""
    instant, is_over = 0, False
    while not is_over:
        folder = tmp_path / str(instant)
        volumes = [folder / "one", folder / "two"]
        for volume in volumes:
            volume.mkdir(parents=True)
        shard = None
        try:
            with monkeypatch.context() as patch:
                kill_at(instant, patch)
                shard = Shard(folder / "warc", *volumes, segment_bytes=3000)
                shard.commit(1, 2)
                shard.commit(3, 4)
                shard.write(5, 6, 7)
                shard.archive.flush()
                shard.reopen()
                is_over = True
        except KilledError:
            shard = shard or find_shard(folder / "warc", *volumes)
        shard.reopen()
        assert shard.archive.lost == []
        shard.check()
        shard.commit(8, 9)
        shard.reopen()
        shard.check()
        assert all(len(list(volume.iterdir())) <= 1 for volume in volumes), "a folder each"
        shard.archive.close()
        instant += 1
    assert instant > 40


def find_shard(home: Path, *volumes: Path) -> Shard:
    """One that was killed before it was open."""
    return Shard(home, *volumes, segment_bytes=3000)


def test_a_file_that_is_gone_is_lost(home: Path, folders: tuple[Path, Path]) -> None:
    shard = Shard(home, *folders)
    shard.commit(1)
    shard.file_of(FACTS).unlink()
    shard.reopen()
    assert [position.segment for position in shard.archive.lost] == [FACTS]
    assert not (home / FACTS).is_symlink()
    shard.archive.close()


def test_a_disk_that_is_missing_is_not_taken_for_a_loss(home: Path, folders: tuple[Path, Path]) -> None:
    shard = Shard(home, *folders)
    shard.commit(1)
    shard.write(2)
    shard.archive.flush()
    before = read_committed(home)
    disk = shard.file_of(PAGES).parent
    disk.rename(disk.with_name("elsewhere"))
    with pytest.raises(FileNotFoundError, match="the disk of a segment is not there"):
        shard.reopen()
    assert read_committed(home) == before
    disk.with_name("elsewhere").rename(disk)
    shard.open()
    assert shard.archive.lost == []
    shard.check()
    shard.archive.close()


def test_a_segment_that_somebody_moved_is_waited_for_too(home: Path, tmp_path: Path) -> None:
    """Its folder may be there without its disk: it is nobody's but the person's who moved it."""
    shard = Shard(home)
    shard.commit(1)
    shard.archive.close()
    moved = (home / PAGES).rename(tmp_path / "moved.warc.gz")
    (home / PAGES).symlink_to("../moved.warc.gz")
    shard.open()
    assert shard.archive.lost == []
    shard.archive.close()
    moved.rename(tmp_path / "gone")
    with pytest.raises(FileNotFoundError, match="the disk of a segment is not there"):
        shard.open()


def test_nothing_is_written_where_a_disk_should_be(home: Path, tmp_path: Path) -> None:
    """A folder on which no disk is mounted is on another disk, which is not the one that was meant."""
    place = tmp_path / "place"
    with mount_disk(tmp_path / "disk", 3 * MB) as disk, Slot(disk, place) as slot:
        shard = Shard(home, place)
        shard.commit(1)
        shard.archive.close()
        slot.take_out()
        with pytest.raises(FileNotFoundError, match="the disk of a segment is not there"):
            shard.open()
        assert list(place.iterdir()) == []
        slot.put_in()
        shard.open()
        assert shard.archive.lost == []
        shard.check()
        shard.archive.close()


def test_nothing_is_begun_where_a_disk_should_be(home: Path, tmp_path: Path) -> None:
    """Not even by a shard that has nothing there yet."""
    place, other = tmp_path / "place", tmp_path / "other"
    other.mkdir()
    with mount_disk(tmp_path / "disk", 3 * MB) as disk, Slot(disk, place) as slot:
        shard = Shard(home, place)
        shard.write(1)
        slot.take_out()
        assert shard.archive.find_full(0) == [f"{place} (missing or read-only)"]
        with pytest.raises(FileNotFoundError, match="no volume is there"):
            shard.archive.flush()
        shard.reopen(place, other)
        shard.commit(1)
        assert shard.file_of(PAGES).is_relative_to(other)
        shard.archive.close()
        assert list(place.iterdir()) == []


def test_files_without_a_link_are_removed_unless_they_were_committed(home: Path, folders: tuple[Path, Path]) -> None:
    shard = Shard(home, *folders, segment_bytes=3000)
    shard.commit(1, 2, 3)
    shard.commit(4)
    folder = shard.file_of(PAGES).parent
    stray = folder / "x-000-pages-000009.warc.gz"
    stray.write_bytes(b"whose link was not on disk when the power failed")
    (folder / "y-001-pages-000009.warc.gz").write_bytes(b"another's")
    first = shard.file_of(PAGES)
    (home / PAGES).unlink()
    shard.reopen()
    assert not stray.exists()
    assert first.exists(), "who has removed the link may want the file"
    assert (folder / "y-001-pages-000009.warc.gz").exists()
    shard.archive.close()


def test_to_begin_anew_takes_nothing_from_what_was_moved_away(home: Path, folders: tuple[Path, Path]) -> None:
    shard = Shard(home, *folders)
    shard.commit(1)
    shard.archive.close()
    shard.committed = {}
    with pytest.raises(UsageError, match="does not know"):
        shard.open()
    away = home.with_name("away")
    away.mkdir()
    for path in home.glob("*.warc.gz"):
        path.rename(away / path.name)
    shard.open()
    shard.commit(7)
    shard.archive.close()
    assert [item.url for item in read_archive(away / PAGES) if isinstance(item, Page)] == ["http://example.org/1"]
    assert [item.url for item in read_archive(home / PAGES) if isinstance(item, Page)] == ["http://example.org/7"]


def test_crawls_of_the_same_name_share_volumes(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    first, second = Shard(tmp_path / "a", *folders), Shard(tmp_path / "b", *folders)
    first.commit(1)
    second.commit(2)
    assert first.file_of(PAGES) != second.file_of(PAGES)
    first.write(3)
    first.archive.flush()
    first.reopen()
    for shard, number in ((first, 1), (second, 2)):
        shard.archive.close()
        pages = [item.url for item in read_archive(shard.home / PAGES) if isinstance(item, Page)]
        assert pages == [f"http://example.org/{number}"]


@pytest.mark.parametrize("keeps_links", [True, False])
def test_a_copy_of_a_crawl_leaves_the_first_alone(
    tmp_path: Path, folders: tuple[Path, Path], keeps_links: bool
) -> None:
    first = Shard(tmp_path / "first", *folders)
    first.commit(1)
    copy = tmp_path / "copy"
    shutil.copytree(first.home, copy, symlinks=keeps_links)
    second = Shard.__new__(Shard)
    second.__dict__ |= {**vars(first), "home": copy, "numbers": [1]}
    first.commit(2)
    first.write(3)
    first.archive.flush()
    second.open()
    assert second.archive.lost == []
    second.commit(4, 5)
    assert second.file_of(SECOND).parent != first.file_of(PAGES).parent
    second.reopen()
    assert second.archive.lost == []
    first.reopen()
    for shard, expected in ((first, {1, 2}), (second, {1, 4, 5})):
        shard.archive.close()
        pages = {
            item.url for path in shard.home.glob("*-pages-*") for item in read_archive(path) if isinstance(item, Page)
        }
        assert pages == {f"http://example.org/{number}" for number in expected}


def test_volumes_may_change_between_runs(home: Path, folders: tuple[Path, Path]) -> None:
    one, two = folders
    shard = Shard(home)
    shard.commit(1)
    shard.reopen(one)
    shard.commit(2)
    assert not (home / PAGES).is_symlink()
    assert shard.file_of(SECOND).is_relative_to(one)
    shard.reopen(two)
    shard.commit(3)
    assert shard.file_of(PAGES.replace("1.warc", "3.warc")).is_relative_to(two)
    shard.write(4)
    shard.archive.flush()
    shard.archive.close()
    shard.volumes = ()
    shard.open()
    shard.commit(5)
    assert not (home / PAGES.replace("1.warc", "4.warc")).is_symlink()
    shard.archive.close()
    shard.volumes = folders
    shard.check()
    shard.open(one)
    shard.commit(6)
    assert len(list(one.iterdir())) == 1, "it goes on in the folder that it had"
    shard.archive.close()


def test_a_flush_that_failed_may_choose_another_disk(home: Path, folders: tuple[Path, Path]) -> None:
    one, two = folders
    shard = Shard(home, one, two)
    room = {one: 2, two: 1}
    shard.archive._volumes._measure = room.__getitem__  # type: ignore[method-assign]
    folder = one / shard.archive._volumes.folders()[0].name
    folder.mkdir()
    (folder / PAGES).write_bytes(b"somebody's")
    shard.write(1)
    with pytest.raises(FileExistsError):
        shard.archive.flush()
    room[one] = 0
    shard.commit()
    shard.numbers = [1]
    assert shard.file_of(PAGES).is_relative_to(two)
    assert (folder / PAGES).read_bytes() == b"somebody's"
    (folder / PAGES).unlink()
    shard.archive.close()
    shard.check()


def test_volumes_are_folders_that_can_be_written_to(tmp_path: Path, folders: tuple[Path, Path]) -> None:
    one, two = map(str, folders)
    check_volumes([one, two])
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(one)
    for volumes, complaint in (
        ([one, f"{tmp_path}/nowhere"], "nowhere: there is no such folder"),
        ([f"{tmp_path}/file"], "file: there is no such folder"),
        ([one, f"{tmp_path}/two/../one"], "two/../one: not allowed; it is the same folder as .*/one"),
        ([one, f"{tmp_path}/link"], "link: not allowed; it is the same folder as .*/one"),
        (["x" * 300], os.strerror(errno.ENAMETOOLONG)),
    ):
        with pytest.raises(UsageError, match=f"^archive.volumes .*{complaint}$"):
            check_volumes(volumes)
