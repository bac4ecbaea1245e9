"""What commands tell on stderr: messages, progress and the log; and the exit codes of long-running commands."""

import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import typer

from rdfspider.crawl.budgets import SIGNAL_REASONS

EXIT_CODES: Mapping[str, int] = {reason: 128 + number for number, reason in SIGNAL_REASONS.items()}
"""Exit codes for ends by a signal, as shells expect them, by `Status.reason`; all other ends are a success."""
_LINE_EVERY_S = 5.0
_STDERR = 2


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


def can_display(environment: Mapping[str, str]) -> bool:
    """Whether stderr is a terminal that can be redrawn, and plain lines are not requested."""
    is_dumb = environment.get("TERM", "").lower() in ("", "dumb", "unknown")
    return os.isatty(_STDERR) and not is_dumb and not environment.get("NO_COLOR")
