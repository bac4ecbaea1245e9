"""Asks a large index by words and by SPARQL while the indexer writes to it; prints medians and 95th percentiles.

    python benchmarks/bench_search.py DIR [--rounds N]

DIR is what `bench_index.py --keep DIR` has left: ten million quads and a million entities, or fewer. Another process goes on
writing to it while it is asked. Each question is asked many times, in turns with the others. For SPARQL the same query is
answered by pyoxigraph in this process on the same snapshot; the difference is what our workers cost.
"""

from __future__ import annotations

import argparse
import multiprocessing
import multiprocessing.synchronize
import statistics
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pyoxigraph
from bench_index import BATCH, open_views, read_log
from growth import copy_outcomes

from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.quads.snapshots import SnapshotReader
from rdfspider.index.text.searcher import TextIndex
from rdfspider.search.indexes import Indexes
from rdfspider.search.links import Links
from rdfspider.vocabulary.prefixes import QUERY_PREFIXES

MOST_SEARCH_S, MOST_OVERHEAD_S = 0.050, 0.030
SEARCHES = (
    "chocolate",
    "climate change",
    '"olive oil"',
    "choco* cake",
    "type:recipe chicken",
    "type:person smith",
    "ontology:og news",
    "author:smith",
    "lang:de politik",
    "recipe -chicken after:2015",
    "the best chocolate cake of the year",
    "how to make a simple chicken soup with rice",
    "what the new president said about climate change today",
    "choclate cak",
)
QUERIES = {
    "one thing": "SELECT ?p ?o { <%(thing)s> ?p ?o }",
    "what points at it": "SELECT ?s ?p { ?s ?p <%(thing)s> } LIMIT 100",
    "one page": "SELECT * { GRAPH <%(page)s> { ?s ?p ?o } } LIMIT 1000",
    "names of a class": "SELECT ?s ?name { ?s a schema:Recipe ; schema:name ?name } LIMIT 100",
    "join of three": "SELECT ?s ?name ?author { ?s a schema:NewsArticle ; schema:headline ?name ; "
    "schema:author/schema:name ?author } LIMIT 100",
    "who says it": "SELECT ?g ?t { GRAPH ?g { ?s schema:name ?n } "
    "GRAPH <urn:rdfspider:fetches> { ?g prov:generatedAtTime ?t } } LIMIT 100",
    "is there any": "ASK { ?s a schema:Product ; schema:offers ?offer }",
    "filter": 'SELECT ?s ?name { ?s a schema:Recipe ; schema:name ?name FILTER(CONTAINS(LCASE(?name), "cake")) } LIMIT 20',
    "describe": "DESCRIBE <%(thing)s>",
    "construct": "CONSTRUCT { ?s schema:name ?name } WHERE { ?s a schema:Organization ; schema:name ?name } LIMIT 100",
}
TEXT_QUERY = (
    "SELECT ?s ?x ?t { SERVICE <urn:rdfspider:text> { ?s text:query 'chocolate cake' ; text:score ?x } ?s a ?t }"
)


def main() -> None:
    arguments = _arguments()
    totals = LedgerReader(IndexPaths(arguments.folder)).read_totals()
    print(f"{totals.entities:,} entities, {totals.quads:,} quads, {totals.pages:,} pages")
    ready, done = multiprocessing.Event(), multiprocessing.Event()
    writer = multiprocessing.Process(target=_write, args=(arguments.folder, ready, done))
    writer.start()
    try:
        ready.wait()
        _ask_words(arguments.folder, arguments.rounds)
        _ask_sparql(arguments.folder, arguments.rounds)
    finally:
        done.set()
        writer.join()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--rounds", type=int, default=30)
    return parser.parse_args()


def _write(folder: Path, ready: multiprocessing.synchronize.Event, done: multiprocessing.synchronize.Event) -> None:
    """Go on indexing while others ask."""
    outcomes = read_log(folder)
    views = open_views(IndexPaths(folder))
    committed = time.monotonic()
    for number in count(int(time.time()) % 20_000 + 30_000):
        copies = list(copy_outcomes(outcomes, number))
        for start in range(0, len(copies), BATCH):
            for view in views:
                view.apply(copies[start : start + BATCH])
            if time.monotonic() - committed > 3:
                for view in views:
                    view.commit({"growth": number})
                committed = time.monotonic()
            ready.set()
            if done.is_set():
                for view in views:
                    view.commit({"growth": number})
                    view.close()
                return


def _ask_words(folder: Path, rounds: int) -> None:
    index = TextIndex(folder, open_counter=Links(IndexPaths(folder)).open_counter)
    print("\nsearch                                     results    p50 ms    p95 ms   facets: first ms   again ms")
    everything: list[float] = []
    for words in SEARCHES:
        found = index.search(words)
        first, again = (_time(index.search, words, facets=True) for _ in range(2))
        approximate = any(facet.is_approximate for facet in index.search(words, facets=True).facets)
        seconds = [_time(index.search, words) for _ in range(rounds)]
        everything += seconds
        print(
            f"  {words:38} {found.total:9,} {_ms(seconds, 50)} {_ms(seconds, 95)} {first * 1000:18.1f} {again * 1000:10.1f}"
            f"{'  (approximate)' if approximate else ''}"
        )
    p95 = _percentile(everything, 95)
    print(f"  all: p50 {_ms(everything, 50)} ms, p95 {p95 * 1000:.1f} ms: {_judge(p95, MOST_SEARCH_S)}")


def _ask_sparql(folder: Path, rounds: int) -> None:
    indexes = Indexes(folder)
    snapshots = SnapshotReader(IndexPaths(folder).snapshots)
    hit = next(iter(TextIndex(folder).search("type:recipe kind:entity", limit=1)))
    names = {"thing": _find_thing(snapshots.store), "page": hit.pages[0].url}
    print("\nSPARQL                                      p50 ms    p95 ms   in this process: p50    p95")
    overheads: list[float] = []
    for name, query in QUERIES.items():
        text = query % names
        indexes.ask(text)
        ours, theirs = [], []
        for _ in range(rounds):
            theirs.append(_time(_ask_here, snapshots.store, text))
            ours.append(_time(indexes.ask, text))
        overheads += [our - their for our, their in zip(ours, theirs, strict=True)]
        print(f"  {name:38} {_ms(ours, 50)} {_ms(ours, 95)} {_ms(theirs, 50):>21} {_ms(theirs, 95)}")
    seconds = [_time(indexes.ask, TEXT_QUERY) for _ in range(rounds)]
    print(f"  {'words within SPARQL':38} {_ms(seconds, 50)} {_ms(seconds, 95)}")
    p50, p95 = _percentile(overheads, 50), _percentile(overheads, 95)
    print(f"  overhead: p50 {p50 * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms: {_judge(p95, MOST_OVERHEAD_S)}")
    indexes.close()


def _find_thing(store: pyoxigraph.Store) -> str:
    rows = store.query(
        "SELECT ?s { ?s a <http://schema.org/Organization> FILTER(!STRSTARTS(STR(?s), 'genid:')) } LIMIT 1"
    )
    return str(next(iter(rows))["s"].value)  # type: ignore[arg-type, index]


def _ask_here(store: pyoxigraph.Store, text: str) -> None:
    """What our worker does, without the worker."""
    results = store.query(text, prefixes=QUERY_PREFIXES)
    is_triples = isinstance(results, pyoxigraph.QueryTriples)
    results.serialize(format=pyoxigraph.RdfFormat.TURTLE if is_triples else pyoxigraph.QueryResultsFormat.JSON)  # type: ignore[union-attr, arg-type]


def _time(ask: Callable[..., object], *question: object, **options: object) -> float:
    started = time.perf_counter()
    ask(*question, **options)
    return time.perf_counter() - started


def _percentile(seconds: list[float], percent: int) -> float:
    return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1]


def _ms(seconds: list[float], percent: int) -> str:
    return f"{_percentile(seconds, percent) * 1000:9.1f}"


def _judge(value_s: float, most_s: float) -> str:
    return f"{'reached' if value_s <= most_s else 'MISSED'}, at most {most_s * 1000:g} ms"


if __name__ == "__main__":
    main()
