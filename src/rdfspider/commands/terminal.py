"""Output of commands: messages and the log on stderr, tables and text on stdout; and the exit codes of long-running commands."""

import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rdfspider.crawl.budgets import SIGNAL_REASONS
from rdfspider.crawl.summary import clean_text

EXIT_CODES: Mapping[str, int] = {reason: 128 + number for number, reason in SIGNAL_REASONS.items()}
"""Exit codes for ends by a signal, as shells expect them, by `Status.reason`; all other ends are a success."""
# The width of lines that go to a file or another program.
_PLAIN_WIDTH = 160
_LINE_EVERY_S = 5.0


class LineTimer:
    """Tells when the next line of progress is due."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _LINE_EVERY_S

    def is_due(self, has_news: bool = False) -> bool:
        """Whether it is time for a line, as it always is for news; the next one is then due some seconds later."""
        if not has_news and time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + _LINE_EVERY_S
        return True


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Let the command line handle this as for other commands; rich would exit with 1."""
        raise BrokenPipeError


def say(line: str) -> None:
    """Print a message to the user on stderr."""
    show(f"rdfspider: {line}")


def show(line: str) -> None:
    """Print a line on stderr; continue even if stderr is closed, as when its terminal is gone."""
    try:
        typer.echo(line, err=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


@contextmanager
def show_log() -> Iterator[None]:
    """Print log messages of the crawler and the site on stderr, such as that a shard died."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("rdfspider: %(message)s"))
    loggers = [logging.getLogger(f"rdfspider.{stage}") for stage in ("processes", "run", "index", "search", "serve")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


def open_console() -> Console:
    """The console for results."""
    width = None if sys.stdout.isatty() else _PLAIN_WIDTH
    return _Console(file=sys.stdout, width=width, markup=False, highlight=False, emoji=False)


def show_text(console: Console, text: str, style: str = "") -> None:
    """Print a line without wrapping."""
    console.print(clean(text, style), soft_wrap=True)


def show_table(console: Console, heads: Sequence[str], rows: Sequence[Sequence[Text | str]], numbers: int = 0) -> None:
    """Print a table; its last `numbers` columns contain numbers."""
    table = Table(box=None, show_header=any(heads), header_style="dim", pad_edge=False, padding=(0, 2, 0, 0))
    for at, head in enumerate(heads):
        is_number = at >= len(heads) - numbers
        table.add_column(head, overflow="fold", justify="right" if is_number else "left", no_wrap=is_number)
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else clean(cell) for cell in row))
    console.print(table)


def clean(text: str, style: str = "") -> Text:
    """Text from the web, made safe for a terminal."""
    return Text(clean_text(text), style=style)
