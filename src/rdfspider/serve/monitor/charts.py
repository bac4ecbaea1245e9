"""Points of the history enter, SVG paths leave. Labels stay HTML text: they are not stretched with a line, and can be read
and copied."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import floor, inf, log10

from rdfspider.crawl.history import Point
from rdfspider.serve.rendering import write_bytes, write_duration, write_moment, write_number
from rdfspider.serve.sampler import History

WIDTH, HEIGHT = 600, 100
"""The size of the drawing area."""
_POINTS = 120
# A line breaks where this many steps have no value.
_GAP = 3


@dataclass(frozen=True, slots=True)
class Chart:
    """One line over time."""

    name: str
    title: str
    last: str
    """The last value, formatted."""
    about: str
    """A text alternative to the chart."""
    line: str
    """The line as an SVG path."""
    area: str
    """The area below the line as an SVG path."""
    heights: tuple[str, ...]
    """The labels of the top, the middle and the bottom."""
    times: tuple[str, ...]
    """The labels of the left edge, the middle and the right edge."""


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The time range of the charts."""

    name: str
    words: str
    points: Callable[[History], Sequence[Point]]
    step_s: float
    """The interval between two points."""
    least_s: float
    """The shortest range shown, even if the history is shorter."""
    most_s: float
    reaches_now: bool = True
    """Whether the right edge is the present; otherwise it is the last known point."""


TIME_RANGES = {
    "minutes": TimeRange("minutes", "the last 10 minutes", lambda history: history.seconds, 1.0, 120.0, 600.0),
    "day": TimeRange("day", "the last 24 hours", lambda history: _end_now(history), 60.0, 3600.0, 86_400.0),
    "crawl": TimeRange("crawl", "the whole crawl", lambda history: history.crawl, 1.0, 1.0, inf, reaches_now=False),
}
"""By the word in the URL."""


def _end_now(history: History) -> Sequence[Point]:
    """The crawl's own history up to the present, even if the crawl is over."""
    return (*history.crawl, *history.seconds[-1:])


def _write_percent(value: float) -> str:
    return f"{value:.0f} %"


def _write_lag(value: float) -> str:
    return write_duration(value) if value else "0 s"


def _write_speed(value: float) -> str:
    return f"{write_bytes(value)}/s"


_CHARTS: tuple[tuple[str, str, Callable[[Point], float], Callable[[float], str], float], ...] = (
    ("pages", "Pages a second", lambda point: point.pages_s, lambda value: write_number(round(value, 1)), 1),
    ("bytes", "Bytes of bodies a second", lambda point: point.bytes_s, _write_speed, 1000),
    ("cpu", "CPU, all cores", lambda point: point.cpu_percent, _write_percent, 100),
    ("memory", "Memory in use", lambda point: point.memory_percent, _write_percent, 100),
    ("waiting", "URLs in the queue", lambda point: point.queue, lambda value: write_number(round(value)), 10),
    ("lag", "Index behind the crawl", lambda point: point.lag_s, _write_lag, 10),
)
"""Name, title, getter, formatter, and the smallest value of the top edge: large enough that its half can be formatted, too."""


def draw_charts(history: History, span: TimeRange) -> list[Chart]:
    """Draw all charts."""
    points = span.points(history)
    return [
        _draw(name, title, [(point.time, get(point)) for point in points], write, least, span)
        for name, title, get, write, least in _CHARTS
    ]


def _draw(
    name: str,
    title: str,
    values: Sequence[tuple[float, float]],
    write: Callable[[float], str],
    least: float,
    span: TimeRange,
) -> Chart:
    end = values[-1][0] if values else 0.0
    reach_s = min(span.most_s, max(span.least_s, end - values[0][0])) if values else span.least_s
    shown = _thin([value for value in values if value[0] >= end - reach_s], max(span.step_s, reach_s / _POINTS))
    most = max((value for _, value in shown), default=0.0)
    top = round_up(max(most, least))
    places = [(WIDTH * (1 - (end - time) / reach_s), HEIGHT * (1 - min(value / top, 1.0))) for time, value in shown]
    runs = list(_split(places, _GAP * WIDTH * max(span.step_s, reach_s / _POINTS) / reach_s))
    last = write(values[-1][1]) if values else "not known yet"
    when = "now" if span.reaches_now else "at last"
    about = f"{last} {when}, at most {write(most)} in {span.words}." if values else "Nothing is known yet."
    return Chart(
        name=name,
        title=title,
        last=last,
        about=about,
        line=" ".join(f"M{_join(run)}" for run in runs),
        area=" ".join(f"M{run[0][0]:.0f},{HEIGHT} {_join(run)} {run[-1][0]:.0f},{HEIGHT}Z" for run in runs),
        heights=(write(top), write(top / 2), write(0.0)),
        times=_name_times(end, reach_s, span),
    )


def _name_times(end: float, reach_s: float, span: TimeRange) -> tuple[str, ...]:
    if span.reaches_now:
        return f"{write_duration(reach_s)} ago", f"{write_duration(reach_s / 2)} ago", "now"
    return write_moment(end - reach_s), f"{write_duration(reach_s)} in all", write_moment(end)


def round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50 and so on, for the top edge of a chart."""
    if value <= 1:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)


def _thin(values: Iterable[tuple[float, float]], step_s: float) -> list[tuple[float, float]]:
    """The mean of each step, at the time of its last value. Steps always begin at the same times, so that a line moves
    without jitter."""
    steps: dict[int, list[tuple[float, float]]] = {}
    for value in values:
        steps.setdefault(int(value[0] // step_s), []).append(value)
    return [(step[-1][0], sum(value for _, value in step) / len(step)) for step in steps.values()]


def _split(places: Sequence[tuple[float, float]], gap: float) -> Iterable[Sequence[tuple[float, float]]]:
    start = 0
    for at in range(1, len(places) + 1):
        if at == len(places) or places[at][0] - places[at - 1][0] > gap:
            yield places[start:at]
            start = at


def _join(run: Sequence[tuple[float, float]]) -> str:
    # A single point becomes a line to itself, which is drawn as a dot.
    return " ".join(f"{x:.0f},{y:.0f}" for x, y in (run if len(run) > 1 else (*run, *run)))
