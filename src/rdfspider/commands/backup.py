"""`rdfspider backup` and `restore`: a copy of a crawl in a folder or an object store, and the way back."""

from pathlib import Path
from typing import Annotated

import typer

from rdfspider.api import Crawl
from rdfspider.commands.options import Folder, folder_option
from rdfspider.commands.terminal import say, show_log
from rdfspider.run.backups import read_url, restore_crawl

_PLACE = "A folder, or s3://BUCKET/PATH, gs://BUCKET/PATH, az://CONTAINER/PATH. Credentials come from the environment."


def backup(
    *,
    folder: Folder,
    to: Annotated[str, typer.Option("--to", metavar="URL", help=_PLACE, show_default=False)],
) -> None:
    """Send a copy of a crawl to a folder or an object store.

    Only what is new since the last time is sent. If the crawl runs, its shards send it, each between two commits, with the
    credentials of the crawl's environment. The index is not sent, as `rdfspider index` makes it again.
    """
    url = read_url(to, "--to")
    with show_log():
        report = Crawl.open(folder).backup(url, lambda what: say(f"sending {what}"))
    say(
        f"{url} has all of {folder}: {_count(report.shards, 'shard')}, {report.bytes / 1e6:,.1f} MB, of which "
        f"{report.sent_bytes / 1e6:,.1f} MB were new"
    )


def restore(
    url: Annotated[str, typer.Argument(metavar="URL", help=_PLACE, show_default=False)],
    *,
    folder: Annotated[Path, folder_option("A new or empty folder.")],
) -> None:
    """Make a crawl's folder again from its backup.

    Everything is compared with its digest. If it is interrupted, run it again: it goes on. `rdfspider crawl --dir DIR` continues
    the crawl, and `rdfspider index --dir DIR` makes its index.
    """
    place = read_url(url, "URL")
    with show_log():
        report = restore_crawl(place, folder, lambda what: say(f"fetching {what}"))
    say(
        f"{folder} is restored: {_count(report.shards, 'shard')}, {report.bytes / 1e6:,.1f} MB; "
        f"`rdfspider crawl --dir {folder}` goes on"
    )


def _count(number: int, what: str) -> str:
    return f"one {what}" if number == 1 else f"{number:,} {what}s"
