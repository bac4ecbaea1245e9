"""`rdfspider forget`: a page or a site in, nothing of it in any answer from then on."""

from typing import Annotated

import typer

from rdfspider.commands.options import Folder
from rdfspider.commands.terminal import say, show_log
from rdfspider.run.crawl import Crawl


def forget(
    target: Annotated[
        str, typer.Argument(metavar="URL|SITE", help="A page, with http:// or https://, or a host or domain.")
    ],
    *,
    folder: Folder,
) -> None:
    """Remove a page or a whole site from the index, and keep it out.

    Returns when it is done. WARC files are left as they are; a rebuild passes over what was forgotten. To keep a crawl from
    fetching it, there is `rdfspider filter`.
    """
    with show_log():
        removal = Crawl.open(folder).forget(target)
    say(f"forgotten: {removal.what}; {removal.pages:,} {'page was' if removal.pages == 1 else 'pages were'} indexed")
    if removal.waiting:
        say(f"not yet done in {', '.join(removal.waiting)}: it is done as soon as that goes on")
    if removal.left:
        say(
            f"still in {', '.join(removal.left)}: remove it there; a store that is no part of the crawl any more does so "
            f"after `rdfspider index --dir {folder} --store URL`"
        )
    if removal.waiting or removal.left:
        raise typer.Exit(1)
