"""The live display of a crawl: a Status enters every second, and a terminal shows it, redrawn in place.

It takes over stderr: what other code and the shards write there appears above the display, which stays in one piece. A
separate thread draws, because a terminal may stop accepting output, as after Ctrl-S, and the crawl must not wait for it.
"""

import os
import select
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from math import ceil
from pathlib import Path
from typing import Self, TextIO

from rich.console import Console, ConsoleDimensions, Group
from rich.live import Live
from rich.text import Text

from rdfspider.crawl.budgets import estimate_rest
from rdfspider.crawl.messages import Beat, Find, RunState
from rdfspider.crawl.status import Status
from rdfspider.crawl.summary import (
    clean_text,
    shorten_name,
    write_backup,
    write_counts,
    write_duration,
    write_index,
    write_names,
    write_state,
)

# Shards inherit it and write to it as well.
_STDERR = 2
# How often to check for a new status; a crawl reports every second.
_LOOK_S = 0.25
# The length of a sparkline in seconds.
_HISTORY_S = 300
_BLOCKS = "▁▂▃▄▅▆▇█"
_SMALLEST = ConsoleDimensions(40, 10)
# The height of a terminal that has room for less important lines.
_TALL = 30
# How long the end of a crawl waits for a terminal that accepts no output.
_PATIENCE_S = 2.0
_READ_BYTES = 65_536


class Display:
    """The display on the terminal at stderr, for the duration of the context."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._history: deque[tuple[float, float]] = deque(maxlen=_HISTORY_S)
        self._seconds = 0
        self._news: Status | None = None
        """The next status to draw; None if it is already drawn."""

    def __enter__(self) -> Self:
        sys.stderr.flush()
        self._terminal = os.dup(_STDERR)
        self._lines, end = os.pipe()
        os.dup2(end, _STDERR)
        os.close(end)
        self._thread = threading.Thread(target=self._run, name="display", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            sys.stderr.flush()
        # That closes the pipe, which tells the thread to end.
        os.dup2(self._terminal, _STDERR)
        self._thread.join(_PATIENCE_S)
        if not self._thread.is_alive():
            os.close(self._terminal)
            os.close(self._lines)

    def show(self, status: Status) -> None:
        """Draw this status soon."""
        self._history.append((status.pages_s, status.bytes_s))
        self._seconds += 1
        self._news = status

    def _run(self) -> None:
        try:
            with os.fdopen(self._terminal, "w", encoding=sys.stderr.encoding, errors="replace", closefd=False) as file:
                self._draw_until_end(file)
        except Exception as error:
            # The terminal is gone, or our code has failed. Neither may block other writers to stderr.
            written = f"rdfspider: the display has failed: {error!r}\n".encode()
            while written:
                with suppress(OSError):
                    os.write(self._terminal, written)
                written = os.read(self._lines, _READ_BYTES)

    def _draw_until_end(self, file: TextIO) -> None:
        console = Console(file=file, force_terminal=True, markup=False, highlight=False, emoji=False)
        console.size = self._measure()
        with Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        ) as live:
            # Keep the cursor visible: a killed process could not restore it.
            console.show_cursor(True)
            rest = b""
            while (written := self._read_lines()) is not None:
                *lines, rest = (rest + written).split(b"\n")
                for line in lines:
                    console.print(Text(clean_text(line.decode("utf-8", "replace"))), soft_wrap=True)
                if (status := self._news) is not None:
                    self._news = None
                    console.size = self._measure()
                    live.update(
                        Group(*draw(status, self._folder, self._history, self._seconds, console.size)), refresh=True
                    )
        if rest:
            console.print(Text(clean_text(rest.decode("utf-8", "replace"))), soft_wrap=True)

    def _read_lines(self) -> bytes | None:
        """What was written to stderr since the last call; None at the end."""
        if not select.select([self._lines], [], [], _LOOK_S)[0]:
            return b""
        return os.read(self._lines, _READ_BYTES) or None

    def _measure(self) -> ConsoleDimensions:
        with suppress(OSError):
            columns, lines = os.get_terminal_size(self._terminal)
            if columns and lines:
                return ConsoleDimensions(max(columns, _SMALLEST.width), max(lines, _SMALLEST.height))
        return ConsoleDimensions(80, 24)


def draw(
    status: Status, folder: Path, history: Sequence[tuple[float, float]], seconds: int, size: ConsoleDimensions
) -> list[Text]:
    """The lines of the display, as many as fit: the most important come first and are never left out.

    `history` contains pages and bytes per second of the last seconds; `seconds` counts all of them since the start.
    """
    lines = [*_draw_head(status, folder, size.width), *_draw_speed(status, history, seconds, size.width)]
    lines += _draw_counts(status, is_tall=size.height >= _TALL)
    # The cursor needs the line below the last one.
    room = size.height - 1 - len(lines)
    finds = status.totals.finds[::-1]
    shards: Sequence[Beat] = status.shards
    if room < len(shards) + 2 * min(3, len(finds)):
        shards = _choose_shards(shards, max(1, room - 2 * min(2, len(finds))))
    lines += [_draw_shard(beat) for beat in shards]
    room = size.height - 1 - len(lines)
    for find in finds[: max(0, room) // 2]:
        lines += _draw_find(find)
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    return lines[: size.height - 1]


def draw_sparkline(values: Sequence[float], seconds: int, width: int) -> str:
    """A sparkline scaled to the highest value; if there are more values than fit, groups of them are averaged.

    The groups depend only on absolute seconds, so that the line moves on without flicker.
    """
    if not values or width < 1:
        return ""
    step = ceil(len(values) / (width - 1)) if len(values) > width > 1 else 1
    groups: dict[int, list[float]] = {}
    for second, value in enumerate(values, seconds - len(values)):
        groups.setdefault(second // step, []).append(value)
    means = [sum(group) / len(group) for group in groups.values()][-width:]
    highest = max(means)
    if not highest:
        return _BLOCKS[0] * len(means)
    return "".join(_BLOCKS[min(len(_BLOCKS) - 1, int(mean / highest * len(_BLOCKS)))] for mean in means)


def _draw_head(status: Status, folder: Path, width: int) -> list[Text]:
    end = ""
    if rest := estimate_rest(status):
        end = f"ETA {write_duration(rest[1])} ({rest[0]})"
    head = Text.assemble(
        ("rdfspider  ", "bold"),
        (write_state(status), "green" if status.state == RunState.RUNNING else "yellow"),
        f"  {write_duration(status.run_s)}  ",
        (clean_text(str(folder)), "dim"),
    )
    head.truncate(max(0, width - len(end) - 2), overflow="ellipsis", pad=bool(end))
    return [Text.assemble(head, "  ", (end, "bold")) if end else head]


def _draw_speed(status: Status, history: Sequence[tuple[float, float]], seconds: int, width: int) -> list[Text]:
    rows = (
        ("pages/s", f"{status.pages_s:,.1f}", [pages for pages, _ in history], "cyan"),
        ("MB/s", f"{status.bytes_s / 1e6:,.2f}", [size for _, size in history], "blue"),
    )
    return [
        Text.assemble((f"{name:<9}", "dim"), f"{number:>8} ", (draw_sparkline(values, seconds, width - 19), color))
        for name, number, values, color in rows
    ]


def _draw_counts(status: Status, *, is_tall: bool) -> list[Text]:
    totals = status.totals
    share = f" ({100 * totals.structured / totals.pages:.0f} %)" if totals.pages else ""
    rows = [
        (
            "pages",
            f"{totals.pages:,}  structured {totals.structured:,}{share}  sites {totals.sites:,}"
            f"{f'  duplicates {totals.duplicates:,}' if totals.duplicates else ''}",
        ),
        (
            "URLs",
            f"queue {totals.scheduled:,}  known {totals.known:,}  failed {totals.failed:,}  disallowed {totals.disallowed:,}",
        ),
        (
            "hosts",
            f"active {totals.active_hosts:,}  known {totals.hosts:,}  connections {totals.connections:,}",
        ),
        ("answers", write_counts({**totals.statuses, **totals.errors})),
        ("quads", f"{totals.quads:,}{f': {write_counts(totals.quads_by_syntax)}' if totals.quads_by_syntax else ''}"),
        *([("index", write_index(status.index).removeprefix("index "))] if status.index else []),
        *([("backup", backup.removeprefix("backup "))] if (backup := write_backup(status)) else []),
        ("types", write_names(totals.types)),
        (
            "slowest",
            ", ".join(f"{clean_text(host)} {seconds:.1f} s" for host, seconds in totals.slowest_hosts.items()),
        ),
    ]
    if is_tall:
        rows += [("property", write_names(totals.properties)), ("problems", write_counts(totals.problems))]
    return [Text.assemble((f"{name:<9} ", "dim"), text) for name, text in rows]


def _choose_shards(shards: Sequence[Beat], most: int) -> Sequence[Beat]:
    """Shards with a reason to report first, then the busiest."""
    chosen = sorted(shards, key=lambda beat: (not beat.reason, -beat.cpu_percent))[:most]
    return sorted(chosen, key=lambda beat: beat.shard)


def _draw_shard(beat: Beat) -> Text:
    return Text.assemble(
        (f"{f'shard {beat.shard}':<9} ", "dim"),
        f"CPU {beat.cpu_percent:3.0f} %  {beat.memory_used_bytes / 1e6:,.0f} MB  {beat.pages:,} pages  {beat.state}",
        (f": {clean_text(beat.reason)}" if beat.reason else "", "yellow"),
    )


def _draw_find(find: Find) -> tuple[Text, Text]:
    """A found page: its title and types, and below its URL. All of it is text from the web, and none of it is markup."""
    types = ", ".join(map(shorten_name, find.types))
    title = clean_text(find.title) or "(without a title)"
    return (
        Text.assemble(("found     ", "dim"), (title, "bold"), f"  {find.quads:,} quads  ", (types, "green")),
        Text.assemble("          ", (clean_text(find.url), "dim")),
    )
