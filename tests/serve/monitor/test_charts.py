"""Lines over time: they end where nothing is known, keep their scale, and are bounded however long the past is."""

import pytest

from rdfspider.crawl.history import Point, average_points
from rdfspider.serve.monitor.charts import HEIGHT, TIME_RANGES, WIDTH, draw_charts, round_up
from rdfspider.serve.sampler import History


def point(time: float, pages_s: float = 1.0) -> Point:
    return Point(time, pages_s, 2000.0, 50.0, 25.0, 10, 0.0)


def test_a_line_reaches_from_its_first_point_to_now() -> None:
    points = tuple(point(1000.0 + second, 5.0 if second == 60 else 0.0) for second in range(121))
    pages = draw_charts(History(seconds=points), TIME_RANGES["minutes"])[0]
    assert pages.line.startswith(f"M0,{HEIGHT} ")
    assert pages.line.endswith(f" {WIDTH},{HEIGHT}")
    assert f" {WIDTH // 2},0 " in pages.line
    assert pages.heights == ("5", "2.5", "0")
    assert (pages.last, pages.times) == ("0", ("2 min ago", "60 s ago", "now"))


def test_a_line_ends_where_nothing_is_known() -> None:
    points = (*(point(1000.0 + second) for second in range(10)), *(point(1100.0 + second) for second in range(10)))
    assert draw_charts(History(seconds=points), TIME_RANGES["minutes"])[0].line.count("M") == 2


def test_a_long_past_is_a_short_line() -> None:
    points = tuple(point(60.0 * minute, minute % 7) for minute in range(1440))
    for chart in draw_charts(History(crawl=points), TIME_RANGES["day"]):
        assert len(chart.line) < 2000


def test_a_crawl_that_is_over_is_shown_from_its_beginning_to_its_end() -> None:
    history = History(seconds=(point(9_000_000.0, 0.0),), crawl=tuple(point(1000.0 + second) for second in range(61)))
    pages = draw_charts(history, TIME_RANGES["crawl"])[0]
    assert pages.line.startswith("M0,0 ") and pages.line.endswith(f" {WIDTH},0")
    assert pages.times[1] == "60 s in all" and "1970-01-01 00:17:40" in pages.times[2]
    # The last day had nothing of it but the present.
    assert draw_charts(history, TIME_RANGES["day"])[0].line == f"M{WIDTH},{HEIGHT} {WIDTH},{HEIGHT}"


def test_the_middle_of_a_scale_differs_from_its_ends() -> None:
    for chart in draw_charts(History(seconds=(Point(1.0, 0.0, 0.0, 0.0, 0.0, 0, 0.0),)), TIME_RANGES["minutes"]):
        assert len(set(chart.heights)) == 3, chart.heights


def test_without_a_past_nothing_is_drawn() -> None:
    for chart in draw_charts(History(), TIME_RANGES["day"]):
        assert (chart.line, chart.area, chart.last) == ("", "", "not known yet")


@pytest.mark.parametrize(
    ("value", "top"), [(0, 1), (1, 1), (1.1, 2), (3, 5), (7, 10), (12, 20), (1000, 1000), (1001, 2000)]
)
def test_the_top_is_a_round_number(value: float, top: float) -> None:
    assert round_up(value) == pytest.approx(top)


def test_a_minute_is_the_mean_of_its_seconds() -> None:
    assert average_points([point(60.0, 2.0), point(61.0, 4.0)]) == point(61.0, 3.0)
