"""How a crawl has gone is kept over all its runs, in a file that stays small."""

from pathlib import Path

import pytest

from rdfspider.crawl.history import FILE, POINTS_KEPT, Point, Recorder, make_point, read_history
from rdfspider.crawl.status import Status, Totals


def point(time: float, pages_s: float = 1.0) -> Point:
    return Point(time, pages_s, 2000.0, 50.0, 25.0, 10, 0.0)


def test_the_next_run_goes_on_where_the_last_one_ended(tmp_path: Path) -> None:
    assert read_history(tmp_path) == ()
    for start in (1000, 5000):
        recorder = Recorder(tmp_path)
        for second in range(30):
            recorder.add(point(float(start + second)))
        recorder.write()
    assert [one.time for one in read_history(tmp_path)] == [
        *map(float, range(1000, 1030)),
        *map(float, range(5000, 5030)),
    ]


def test_however_long_a_crawl_runs_its_history_is_short_and_reaches_back_to_the_start(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    for second in range(10 * POINTS_KEPT):
        recorder.add(point(float(second), second % 2))
    recorder.write()
    kept = read_history(tmp_path)
    assert POINTS_KEPT // 2 <= len(kept) <= POINTS_KEPT + 1
    assert recorder.step_s == 16
    assert (kept[0].time, kept[-1].time) == (15.0, 10 * POINTS_KEPT - 1)
    # What was measured is neither lost nor invented.
    assert {one.pages_s for one in kept} == {0.5}
    assert len((tmp_path / FILE).read_bytes()) < 100 * POINTS_KEPT
    again = Recorder(tmp_path)
    assert again.step_s == 16


def test_runs_that_are_far_apart_do_not_make_it_long(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    for day in range(3 * POINTS_KEPT):
        recorder.add(point(86_400.0 * day))
    assert len(recorder.points) <= POINTS_KEPT


@pytest.mark.parametrize("text", ["", "{", '{"step_s":0,"points":[]}', '{"step_s":1,"points":[[1,2]]}'])
def test_a_damaged_file_is_begun_anew(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert read_history(tmp_path) == ()
    recorder = Recorder(tmp_path)
    recorder.add(point(1.0))
    recorder.write()
    assert read_history(tmp_path) == (point(1.0),)


def test_a_disk_that_cannot_be_written_to_ends_nothing(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "gone")
    recorder.add(point(1.0))
    recorder.write()


def test_of_a_crawl_that_is_over_nothing_moves() -> None:
    running = Status(state="running", pages_s=3.0, bytes_s=70.0, totals=Totals(scheduled=8))
    moving, over = make_point(running, 12.34), make_point(Status(state="ended", pages_s=3.0, bytes_s=70.0), 12.34)
    assert (moving.pages_s, moving.bytes_s, moving.queue, moving.cpu_percent) == (3.0, 70.0, 8, 12.3)
    assert (over.pages_s, over.bytes_s) == (0.0, 0.0)
