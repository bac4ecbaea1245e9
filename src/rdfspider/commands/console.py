"""The results of commands on stdout: text and tables for people, by rich."""

import sys
from collections.abc import Sequence
from typing import NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rdfspider.crawl.summary import clean_text

# The width of lines that go to a file or another program.
_PLAIN_WIDTH = 160


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Let the command line handle this as for other commands; rich would exit with 1."""
        raise BrokenPipeError


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
