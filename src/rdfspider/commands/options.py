"""The flags of commands that work on a crawl, with their help texts. Several commands share some of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from rdfspider.crawl.settings import Asked
from rdfspider.serve.limits import QUERY_ROWS, QUERY_TIMEOUT_S

FLAGS = {
    "crawl.pages": "--pages",
    "crawl.time_s": "--time",
    "crawl.depth": "--depth",
    "crawl.scope": "--scope",
    "crawl.include": "--include",
    "crawl.exclude": "--exclude",
    "crawl.ways": "--ontologies",
    "crawl.shards": "--shards",
    "frontier.delay_s": "--delay",
    "fetch.allow_private": "--allow-private",
    "fetch.resolve": "--resolve",
    "fetch.contact": "--contact",
    "archive.keep": "--archive",
    "index.enabled": "--index",
    "index.stores": "--store",
    "run.places": "--place",
    "backup.url": "--backup",
}
"""The settings that have a flag of their own, so that an error names the flag."""
_OF_SITE = "A crawl has a site with --serve."


def name_flags(given: Mapping[str, object]) -> dict[str, Asked]:
    """The settings that were given, with the flags that errors are to name; None means not given."""
    return {name: Asked(value, FLAGS[name]) for name, value in given.items() if value is not None}


def folder_option(about: str) -> Any:
    """The flag for the folder of a crawl."""
    return typer.Option("--dir", metavar="DIR", help=about, show_default=False)


def port_option(about: str) -> Any:
    """A flag for a port."""
    return typer.Option(metavar="N", min=1, max=65_535, help=about)


Folder = Annotated[Path, folder_option("The folder of the crawl.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print all of it as one line of JSON.")]
Seeds = Annotated[
    list[str] | None,
    typer.Argument(metavar="SEED", help="URLs to start from; without a scheme they are https.", show_default=False),
]
SeedsFile = Annotated[
    Path | None,
    typer.Option("--seeds", metavar="FILE", help="A file of seeds, one a line, # begins a comment; - is stdin."),
]
Pages = Annotated[str | None, typer.Option(metavar="N", help="Stop after so many pages, over all runs; 0 is no limit.")]
Time = Annotated[
    str | None,
    typer.Option("--time", metavar="T", help="Stop after so long, over all runs: 90, 10m, 2h; 0 is no limit."),
]
Depth = Annotated[
    str | None, typer.Option(metavar="N", help="Follow at most so many links from a seed; 0 is no limit.")
]
Scope = Annotated[
    str | None,
    typer.Option(
        metavar="host|domain|prefix|any",
        help="How far to go from the seeds and from what they redirect to; by default their registrable domains.",
    ),
]
Include = Annotated[
    list[str] | None, typer.Option(metavar="REGEX", help="Follow only links that match, somewhere; may be repeated.")
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="REGEX", help="Do not follow links that match; may be repeated.")
]
Ontologies = Annotated[
    bool | None,
    typer.Option(
        "--ontologies/--no-ontologies", help="Also fetch the ontologies whose terms are met, wherever they are."
    ),
]
Delay = Annotated[
    str | None,
    typer.Option(
        metavar="S",
        help="Seconds between two requests to a host, at least; 1 by default. 0 turns every pace off, "
        "for servers of your own.",
    ),
]
Shards = Annotated[
    str | None, typer.Option(metavar="N", help="Processes; by default one a core. Fixed when a crawl is created.")
]
AllowPrivate = Annotated[
    bool | None,
    typer.Option("--allow-private/--no-allow-private", help="Also fetch from private and loopback addresses."),
]
Resolve = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN=ADDRESS[:PORT]",
        help="The address of hosts, instead of asking DNS: '*.test=127.0.0.1:8085'; may be repeated.",
    ),
]
Contact = Annotated[
    str | None,
    typer.Option(metavar="URL|EMAIL", help="Where the owner of a site can reach you; it is part of the user agent."),
]
Archive = Annotated[
    str | None,
    typer.Option(
        metavar="structured|all|none",
        help="Which pages to keep as they came; by default those with structured data. "
        "What was extracted is always kept.",
    ),
]
Index = Annotated[
    bool | None,
    typer.Option("--index/--no-index", help="Index what is found; it is by default."),
]
Store = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="Also send all quads to this SPARQL server; may be repeated."),
]
Places = Annotated[
    list[str] | None,
    typer.Option(
        "--place",
        metavar="ADDRESS=FOLDER",
        help="Run shards in this folder, reached at this address of the machine, as if on another one; may be repeated.",
    ),
]
Backup = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="Keep a copy there, from which a crawl goes on: a folder, or an s3, gs or az URL."
    ),
]
Serve = Annotated[bool, typer.Option("--serve", help="Show it in the browser meanwhile, and afterwards until Ctrl-C.")]
SitePort = Annotated[int | None, port_option("The site's port; by default 8321 or the next free one.")]
_TIMEOUT = f"Seconds that a SPARQL query at the site may take; by default {QUERY_TIMEOUT_S:g}. {_OF_SITE}"
QueryTimeout = Annotated[float | None, typer.Option(metavar="S", min=0.1, max=3600, help=_TIMEOUT)]
_ROWS = f"Rows that a SPARQL query at the site may give; by default {QUERY_ROWS:,}. {_OF_SITE}"
QueryRows = Annotated[int | None, typer.Option(metavar="N", min=1, max=1_000_000, help=_ROWS)]
_CORS = (
    f"Let pages of this origin, or with * of any, read what SPARQL answers; by default none may. Repeatable. {_OF_SITE}"
)
Cors = Annotated[list[str] | None, typer.Option("--cors", metavar="ORIGIN", help=_CORS)]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SETTING=VALUE",
        help="Another setting, such as crawl.pages_per_host=100; may be repeated.",
    ),
]
