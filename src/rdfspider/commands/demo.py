"""`rdfspider demo`: serves a small invented web on this machine, crawls it, and reports what was found."""

import gzip
import re
import shlex
import shutil
import threading
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rdfspider.api import Crawl
from rdfspider.commands.crawl import run_crawl
from rdfspider.commands.options import port_option
from rdfspider.commands.query import TABLE, query
from rdfspider.commands.search import search
from rdfspider.commands.serve import SiteBeside
from rdfspider.crawl import history, status
from rdfspider.crawl.folder import CONTROL, DOCUMENTS, check_folder, hold_folder, is_in_use, read_seeds
from rdfspider.crawl.settings import FILE, load_config
from rdfspider.disk import NEW
from rdfspider.errors import UsageError

if TYPE_CHECKING:
    from rdfspider.demo.server import DemoServer

FOLDER = Path("demo-crawl")
SHARDS = 2
DELAY_S = 0.05
# All hosts share one address, so the address gets no delay of its own.
_OTHER_SETTINGS: dict[str, Any] = {"frontier.ip_delay_s": 0, "frontier.duration_factor": 1}
_HOST = ".localhost"
_RESOLVE = f"*{_HOST}=127.0.0.1"
# What a crawl of the demo leaves in its folder.
_MADE = frozenset(
    {
        FILE,
        "suffixes.dat",
        "seeds.txt",
        "shards",
        "lock",
        CONTROL,
        DOCUMENTS,
        status.FILE,
        history.FILE,
        f"{FILE}{NEW}",
        f"{status.FILE}{NEW}",
        f"{history.FILE}{NEW}",
        "index",
    }
)
_START = re.compile(r"http://www\.localhost:\d+/")


def demo(
    *,
    folder: Annotated[
        Path,
        typer.Option("--dir", metavar="DIR", help="The folder of the crawl. A crawl of the demo in it is made anew."),
    ] = FOLDER,
    port: Annotated[int | None, port_option("The port to serve at; 8585 or the next free one by default.")] = None,
    has_site: Annotated[
        bool, typer.Option("--site/--no-site", help="Show the crawl in the browser, and stay until Ctrl-C.")
    ] = True,
    site_port: Annotated[int | None, port_option("The site's port; 8321 or the next free one.")] = None,
    serve_only: Annotated[
        bool, typer.Option("--serve-only", help="Only serve the sites, until Ctrl-C, to look at them or try commands.")
    ] = False,
) -> None:
    """Crawl a small web that comes with rdfspider; tell what is found.

    A dozen invented sites are served on this machine alone (a shop, a museum, a library …), with the faults that real ones have.
    Nothing else is asked. The crawl can be watched and searched in the browser meanwhile, and afterwards until Ctrl-C.
    """
    # Not at the top: no other command needs the sites.
    from rdfspider.demo.expectations import list_hidden, list_published, tell_findings
    from rdfspider.demo.server import DemoServer

    if not serve_only:
        _check_folder(folder)
    with DemoServer(port or 0) as server:
        if serve_only:
            _serve(server)
            return
        with ExitStack() as context:
            site = context.enter_context(SiteBeside(folder, site_port)) if has_site else None
            # Only when everything else is known to work.
            _remove(folder)
            typer.echo(f"rdfspider: the demo's sites are at {server.web.start} while it runs", err=True)
            try:
                found = _create(server, folder)
            except OSError:
                # As on a full disk: what is there is no crawl yet, and would be nobody's for the next demo.
                _remove(folder)
                raise
            if site:
                site.start()
            code = run_crawl(found)
            if not code:
                at = server.web.at
                kept = read_statements(folder), read_everything(folder)
                for line in tell_findings(*kept, list_published(at), list_hidden(at)):
                    typer.echo(line)
                _ask_questions(folder)
                if site:
                    # Links to the demo's sites work as long as the crawl is shown.
                    site.wait()
    raise typer.Exit(code)


def read_statements(folder: Path) -> dict[str, str]:
    """The statements of a crawl, from its archive: N-Quads by the URL of the page."""
    from fastwarc.warc import WarcRecordType

    from rdfspider.archive.warc_file import WarcFile

    found: dict[str, str] = defaultdict(str)
    for path in sorted(folder.glob("shards/*/warc/*-facts-*.warc.gz")):
        with WarcFile(path) as archive:
            _, records = archive.open_at(0)
            for record in records:
                is_statements = record.headers.get("Content-Type") == "application/n-quads"
                if record.record_type == WarcRecordType.conversion and is_statements:
                    found[record.headers["WARC-Target-URI"]] += record.reader.read().decode()
    return dict(found)


def read_everything(folder: Path) -> str:
    """All records of a crawl's archive with their headers; bodies are stored without content encoding."""
    paths = sorted(folder.glob("shards/*/warc/*.warc.gz"))
    return "\n".join(gzip.decompress(path.read_bytes()).decode("utf-8", "replace") for path in paths)


def _ask_questions(folder: Path) -> None:
    """Run the example questions, as a person would on the command line."""
    from rdfspider.demo.expectations import QUESTIONS, RESULTS_SHOWN

    for question in QUESTIONS:
        typer.echo(f"\n{question.why}:\n$ rdfspider {shlex.join([*question.arguments, '--dir', str(folder)])}\n")
        if question.sparql:
            query(question.sparql, folder=folder, file_format=TABLE)
        else:
            search(
                [question.words],
                folder=folder,
                types=[question.type] if question.type else None,
                ontologies=[question.ontology] if question.ontology else None,
                limit=RESULTS_SHOWN,
            )


def _create(server: "DemoServer", folder: Path) -> Crawl:
    """Create the crawl of the demo, as a person would with `rdfspider crawl`."""
    start = server.web.start
    return Crawl.create(
        folder,
        [start],
        crawl_shards=SHARDS,
        frontier_delay_s=DELAY_S,
        crawl_scope="any",
        crawl_include=[rf"^http://[a-z]+\{_HOST}:{server.port}/"],
        fetch_resolve=[_RESOLVE],
        fetch_contact=start,
        **_OTHER_SETTINGS,
    )


def _serve(server: "DemoServer") -> None:
    """Serve until Ctrl-C, which is not an error here."""
    start = server.web.start
    scope = f"--scope any --include '{_HOST}:{server.port}/' --resolve '{_RESOLVE}'"
    pace = " ".join([f"--delay {DELAY_S}", *(f"--set {name}={value}" for name, value in _OTHER_SETTINGS.items())])
    try:
        typer.echo(f"{start} leads to all sites; Ctrl-C ends them. To crawl them from another terminal:")
        typer.echo(f"rdfspider crawl {start} --dir mycrawl {scope} {pace}")
        threading.Event().wait()
    except KeyboardInterrupt:
        return


def _check_folder(folder: Path) -> None:
    """Raise UsageError if the folder contains anything that no earlier demo made."""
    if not check_folder(folder):
        if folder.is_dir() and any(folder.iterdir()):
            raise UsageError(f"{folder} is not a crawl of the demo; name another folder by --dir")
        return
    if is_in_use(folder):
        raise UsageError(f"{folder} is in use by another demo; name another folder by --dir")
    # A demo has one seed, its own start page, which is also its contact.
    seeds, contact = read_seeds(folder), load_config(folder).fetch.contact
    if seeds != [contact] or not _START.fullmatch(contact):
        whose = f"a crawl of {seeds[0]}" if seeds else "a crawl without seeds"
        raise UsageError(f"{folder} is {whose}, not of the demo; name another folder by --dir")
    if others := sorted({path.name for path in folder.iterdir()} - _MADE):
        raise UsageError(f"{folder} also holds {others[0]}, which no demo has made; name another folder by --dir")


def _remove(folder: Path) -> None:
    """Remove the crawl of an earlier demo, holding its lock."""
    if folder.is_dir() and any(folder.iterdir()):
        with hold_folder(folder):
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
