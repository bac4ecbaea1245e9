"""The command line: which commands exist, and how each ends. Data goes to stdout, everything else to stderr.

Invalid input gets one line and exit code 2, an interrupt 130; never a traceback. A command's module is imported on use:
together they import every library that rdfspider uses, and `rdfspider --version` need not wait for that.
"""

import gc
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from rdfspider import __version__
from rdfspider.errors import USAGE_EXIT, RdfspiderError, UsageError, is_full_disk
from rdfspider.interrupts import end_at_interrupt

COMMANDS = {
    "extract": ("extract:extract", "Write every statement that pages make, as RDF quads."),
    "validate": ("validate:validate", "Tell what is wrong with the structured data of pages."),
    "crawl": ("crawl:crawl", "Crawl from seeds, and keep the structured data of every page."),
    "demo": ("demo:demo", "Crawl a small web that comes with rdfspider; tell what is found."),
    "status": ("control:status", "Tell how a crawl goes, or how it ended."),
    "pause": ("control:pause", "Let a running crawl finish what is under way, and wait."),
    "resume": ("control:resume", "Let a paused crawl go on."),
    "stop": ("control:stop", "End a running crawl within ten seconds; nothing is lost."),
    "add": ("control:add", "Add seeds to a crawl."),
    "why": ("control:why", "Tell why a URL was fetched or not, or what would become of it."),
    "hosts": ("control:hosts", "Tell what was found on each host, and what it waits for."),
    "index": ("index:index", "Bring the index of a crawl up to date."),
    "forget": ("index:forget", "Remove a page or a whole site from the index, and keep it out."),
    "split": ("index:split", "Keep apart what was found to be one thing."),
    "search": ("search:search", "Search what was found."),
    "query": ("query:query", "Ask in SPARQL what was found; the usual prefixes are declared."),
    "entity": ("search:entity", "Tell what pages say of a thing, by whom, and what points at it."),
    "links": ("links:links", "Tell which pages link to a page, and where it leads."),
    "path": ("links:path", "Tell the shortest way from one page to another by links."),
    "stats": ("search:stats", "Count the classes, properties, ontologies and sites of pages."),
    "export": ("query:export", "Write what pages say to a file: quads, or a table of things."),
    "serve": ("serve:serve", "Show a crawl in the browser: search, explore, query, watch."),
    "import": ("index:import_archives", "Take pages of WARC files into a crawl as if it had fetched them."),
    "backup": ("backup:backup", "Send a copy of a crawl to a folder or an object store."),
    "restore": ("backup:restore", "Make a crawl's folder again from its backup."),
    "verify": ("repair:verify", "Tell whether a crawl's files can be read, and agree."),
    "doctor": ("repair:doctor", "Mend what is damaged in a crawl's folder."),
    "filter": ("control:filter_app", "Change or show which links a crawl follows, also while it runs."),
}
"""Command → its location in `rdfspider.commands` (`module:name`), and its line in `rdfspider --help`, which is also the first
sentence of its own help."""

# The base class of typer's errors for invalid flags; it has no public name.
_FLAG_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
_STYLE: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}


class _LazyGroup(TyperGroup):
    """All commands by name and help line; a command is imported when it is invoked."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=line) for name, (_, line) in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, _, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name else None, rest


app = typer.Typer(cls=_LazyGroup, **_STYLE)


def load_command(name: str) -> Any:
    """Import a command, and return the parser that runs it."""
    module, _, attribute = COMMANDS[name][0].partition(":")
    with end_at_interrupt():
        found = getattr(import_module(f"rdfspider.commands.{module}"), attribute)
    if not gc.isenabled():
        # All that `__main__.py` and this have imported stays until the end.
        gc.freeze()
        gc.enable()
    # A command with subcommands, such as `filter`, is already a parser.
    if not isinstance(found, typer.Typer):
        parser = typer.Typer(**_STYLE)
        parser.command(name)(found)
        found = parser
    return typer.main.get_command(found)


def main() -> None:
    """Run `rdfspider`."""
    # Ending by SIGTERM leaves no unfinished file behind.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    code = run_command(sys.argv[1:])
    # Everything is done, but Python takes time to exit, and would print a traceback for an interrupt.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(code)


def run_command(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        command = typer.main.get_command(app)
        with command.make_context("rdfspider", list(arguments)) as context:
            command.invoke(context)
    except UsageError as error:
        return _complain(str(error), USAGE_EXIT)
    except _FLAG_ERROR as error:
        inner = getattr(error, "ctx", None)
        # Some errors name no command; the first argument does.
        known = [name for name in arguments[:1] if name in COMMANDS]
        place = inner.command_path if inner else " ".join(["rdfspider", *known])
        message = str(error.format_message())  # type: ignore[attr-defined]
        # A minus before a word is part of the query.
        hint = "; put -- before words that begin with a minus" if "search" in known and "No such" in message else ""
        return _complain(f"{message}{hint} (see {place} --help)", USAGE_EXIT)
    except typer.Exit as leave:
        return leave.exit_code
    except KeyboardInterrupt:
        # Python dies of a caught interrupt that has passed through eval, as in many imports, unless something else is
        # evaluated after it.
        eval("None")
        return _complain("interrupted", 128 + signal.SIGINT)
    except BrokenPipeError:
        # Nobody reads stdout any more, as in `| head`; discard what Python would still write at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        advice = "; make room, then run the same command again" if is_full_disk(error) else ""
        return _complain(f"{error}{advice}", 1)
    except RdfspiderError as error:
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
