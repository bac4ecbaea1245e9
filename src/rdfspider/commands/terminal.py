"""What commands that work for long say on stderr, and how they leave."""

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

EXIT_CODES = {"interrupted": 128 + signal.SIGINT, "terminated": 128 + signal.SIGTERM}
"""How what a person ended leaves, as shells expect it, by `Status.reason`; all other ends are a success."""


def say(line: str) -> None:
    """Something that a person should know."""
    show(f"rdfspider: {line}")


def show(line: str) -> None:
    """A line on stderr; work goes on when nobody reads it any more, as after a terminal was closed."""
    try:
        typer.echo(line, err=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


@contextmanager
def show_log() -> Iterator[None]:
    """What the crawler, or the site, has to say while it runs, such as that a shard died, on stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("rdfspider: %(message)s"))
    loggers = [logging.getLogger(f"rdfspider.{stage}") for stage in ("run", "index", "search", "serve")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
