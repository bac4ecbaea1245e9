"""The command line: which commands there are, and how each ends. Data goes to stdout, everything else to stderr.

What was typed wrong gets one line and exit code 2, an interrupt 130; never a traceback.
"""

import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from rdfspider import __version__
from rdfspider.commands import filter as filters
from rdfspider.commands.control import add, pause, resume, status, stop
from rdfspider.commands.crawl import crawl
from rdfspider.commands.demo import demo
from rdfspider.commands.entity import entity
from rdfspider.commands.export import export
from rdfspider.commands.extract import extract
from rdfspider.commands.imports import import_archives
from rdfspider.commands.index import forget, index
from rdfspider.commands.query import query
from rdfspider.commands.reports import hosts, why
from rdfspider.commands.search import search
from rdfspider.commands.serve import serve
from rdfspider.commands.stats import stats
from rdfspider.errors import RdfspiderError, UsageError

# What typer raises for flags that are wrong in any way; it has no public name for the class.
_FLAG_ERROR: type[Exception] = typer.BadParameter.__mro__[1]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
_COMMANDS = {
    command.__name__: command
    for command in (
        *(extract, crawl, demo, status, pause, resume, stop, add, why, hosts, index, forget),
        *(search, query, entity, stats, export, serve),
    )
}
for command in _COMMANDS.values():
    app.command()(command)
app.command("import")(import_archives)
app.add_typer(filters.app)


def main() -> None:
    """The command `rdfspider`."""
    # An end by SIGTERM leaves no unfinished file behind.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    code = run_command(sys.argv[1:])
    # All is done; Python takes its time to leave, and would show where an interrupt has found it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def run_command(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        command = typer.main.get_command(app)
        with command.make_context("rdfspider", list(arguments)) as context:
            command.invoke(context)
    except UsageError as error:
        return _complain(str(error), 2)
    except _FLAG_ERROR as error:
        inner = getattr(error, "ctx", None)
        # Some complaints know of no command; the first word that was typed does.
        known = [name for name in arguments[:1] if name in _COMMANDS]
        place = inner.command_path if inner else " ".join(["rdfspider", *known])
        message = str(error.format_message())  # type: ignore[attr-defined]
        # A minus before a word is part of the question.
        hint = "; put -- before words that begin with a minus" if "search" in known and "No such" in message else ""
        return _complain(f"{message}{hint} (see {place} --help)", 2)
    except typer.Exit as leave:
        return leave.exit_code
    except KeyboardInterrupt:
        # Python dies of an interrupt that has passed through eval, as in many imports, although it was caught; unless
        # something else is evaluated after it.
        eval("None")
        return _complain("interrupted", 128 + signal.SIGINT)
    except BrokenPipeError:
        # Nobody reads stdout any more, as in `| head`; what Python would still write at its exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (RdfspiderError, OSError) as error:
        return _complain(str(error), 1)
    return 0


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Take the structured data out of the web, and ask for it."""
    if version:
        typer.echo(f"rdfspider {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _complain(message: str, code: int) -> int:
    typer.echo(f"rdfspider: {' '.join(message.split())}", err=True)
    return code
