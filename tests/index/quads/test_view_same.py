"""The graph of things that are one: it follows what the text view finds, and pages know nothing of it."""

from pathlib import Path

from index.identity.test_components import A, B, page, thing
from rdfspider import Crawl
from rdfspider.archive.outcomes import Outcome
from rdfspider.index.indexer import list_views
from rdfspider.index.layout import VERSION, IndexPaths

QUERY = "SELECT ?one ?other { GRAPH <urn:rdfspider:same> { ?one owl:sameAs ?other } }"
NAMES = (
    "SELECT DISTINCT ?thing ?name { ?member schema:name ?name "
    "OPTIONAL { GRAPH <urn:rdfspider:same> { ?member owl:sameAs ?to } } BIND(COALESCE(?to, ?member) AS ?thing) }"
)


def index(crawl: Crawl, pages: list[Outcome], cursor: int) -> None:
    """The quads are done before the text view has begun, as may be."""
    paths = IndexPaths(crawl.folder)
    openers = list_views(paths, crawl.config)
    for name in ("quads", "text", "quads"):
        view = openers[name]()
        view.apply(pages)
        view.commit({"log": cursor})
        view.commit({"log": cursor})
        view.close()
    paths.version.write_text(f"{VERSION}\n")


def test_the_graph_follows_what_is_found_to_be_one(tmp_path: Path) -> None:
    crawl = Crawl.create(tmp_path / "crawl", ["https://example.org/"], contact="me@example.org")
    same = page("https://a.example/", thing(A, "Ada", sameAs=B))
    other = page("https://b.example/", thing(B, "Ada Lovelace", **{"owl:sameAs": A}))
    index(crawl, [same, other], 1)
    assert [(row.one, row.other) for row in crawl.query(QUERY)] == [(B, A)]
    assert {(row.thing, row.name) for row in crawl.query(NAMES)} == {(A, "Ada"), (A, "Ada Lovelace")}
    (value,) = crawl.entity(A)["owl:sameAs"]
    assert [source.page for source in value.sources] == ["https://b.example/"], "the graph is no page"
    exported = tmp_path / "all.nq"
    crawl.export(exported)
    assert "urn:rdfspider:same" not in exported.read_text()

    crawl.export(exported, canonical=True)
    assert (
        f"<{B}>" not in exported.read_text()
        and f'<{A}> <http://schema.org/name> "Ada Lovelace"' in exported.read_text()
    )

    later = [
        page("https://a.example/", thing(A, "Ada"), time=2.0),
        page("https://b.example/", thing(B, "Bob"), time=2.0),
    ]
    index(crawl, later, 2)
    assert list(Crawl.open(crawl.folder).query(QUERY)) == []
