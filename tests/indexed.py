"""A crawl's folder whose indexes hold given pages: extracted, then taken by the real views, as the indexer would."""

import json
from collections.abc import Mapping
from pathlib import Path

import rdfspider
from rdfspider import Crawl
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.archive.outlinks import describe_links
from rdfspider.index.graph.view import GraphView
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.log.statements import choose_statements
from rdfspider.index.quads.view import QuadView
from rdfspider.index.text.view import TextView

TIME = 1_750_000_000.0
"""When the first page was fetched; each later one an hour after the one before: 2025-06-15 15:06:40."""


def index_pages(folder: Path, pages: Mapping[str, object]) -> Crawl:
    """Pages by URL: JSON-LD as an object, anything else as the body of a page."""
    crawl = Crawl.create(folder, ["https://example.org/"], contact="me@example.org")
    outcomes = [
        choose_statements(_make_outcome(url, page, at), mechanics=False) for at, (url, page) in enumerate(pages.items())
    ]
    paths = IndexPaths(folder)
    for view in (QuadView(paths), TextView(paths), GraphView(paths)):
        view.apply(outcomes)
        view.commit({"000/shard-000-facts-000001.warc.gz": len(outcomes)})
        # At rest readers see everything.
        view.commit({"000/shard-000-facts-000001.warc.gz": len(outcomes)})
        view.close()
    paths.version.write_text(f"{VERSION}\n")
    return crawl


def _make_outcome(url: str, page: object, at: int) -> Outcome:
    body = page if isinstance(page, str) else f'<script type="application/ld+json">{json.dumps(page)}</script>'
    found = rdfspider.extract(body.encode(), url=url)
    links = describe_links(found.links)
    return Outcome(
        url=url,
        time=TIME + 3600 * at,
        source="000/shard-000-facts-000001.warc.gz",
        offset=at,
        end=at + 1,
        effect=Effect.REPLACE,
        status=200,
        media_type="text/html",
        digest=f"sha1:{at}",
        title=found.title or "",
        language=found.language or "",
        problems=found.problems,
        statements=found.statements,
        text=found.text,
        canonical=found.canonical or "",
        outlinks=links.outlinks,
        relations=links.relations,
        anchors=links.anchors,
    )
