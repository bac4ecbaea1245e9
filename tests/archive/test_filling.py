"""Filling for damaged places of a segment: a record of exactly the wanted length, and all others stay where they are."""

from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator
from tests.archive.test_recovery import check_sound, commit, open_archive, write_page

from rdfspider.archive.filling import MIN_BYTES, fill_ranges, make_filling
from rdfspider.archive.recovery import find_damages, find_sound_length


@pytest.mark.parametrize("length", [MIN_BYTES, MIN_BYTES + 1, 300, 65_535, 65_553, 65_558, 65_559, 131_098, 1_000_003])
def test_filling_has_any_length_and_is_a_record(tmp_path: Path, length: int) -> None:
    path = tmp_path / "filling.warc.gz"
    path.write_bytes(make_filling(length))
    assert path.stat().st_size == length
    assert find_sound_length(path, length) == length
    with path.open("rb") as file:
        assert [record.headers["WARC-Type"] for record in ArchiveIterator(file)] == ["warcinfo"]


def test_what_is_damaged_is_filled_and_nothing_else_moves(tmp_path: Path) -> None:
    archive = open_archive(tmp_path / "warc")
    written = [write_page(archive, number) for number in range(6)]
    lengths = commit(archive)
    archive.close()
    for name, length in lengths.items():
        path = tmp_path / "warc" / name
        whole = path.read_bytes()
        assert find_damages(path, length) == []
        place = written[2].position.offset if "facts" in name else length // 2
        path.write_bytes(whole[: place + 40] + b"?" * 20 + whole[place + 60 :])
        ((start, stop),) = find_damages(path, length)
        assert start <= place + 40 < stop
        fill_ranges(path, tmp_path / "filled", [(start, stop)])
        filled = (tmp_path / "filled").read_bytes()
        assert (filled[:start], filled[stop:]) == (whole[:start], whole[stop:])
        assert find_damages(tmp_path / "filled", length) == []
        path.write_bytes(whole)
    check_sound(tmp_path / "warc", list(range(6)))


def test_a_segment_that_is_gone_is_filled_as_a_whole(tmp_path: Path) -> None:
    length = 20_000_000
    fill_ranges(tmp_path / "gone", tmp_path / "filled", [(0, length)])
    assert (tmp_path / "filled").stat().st_size == length
    assert find_damages(tmp_path / "filled", length) == []
