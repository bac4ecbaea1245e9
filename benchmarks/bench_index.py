"""Indexes a crawl of real pages and tells how fast, how far behind, how large and in how much memory, beside plain Oxigraph.

    python benchmarks/bench_index.py CORPUS [--hosts N] [--quads N] [--keep DIR]

nginx must be there. The pages of CORPUS are served on hundreds of hosts (`web.py`) and crawled twice: once without the index,
which is then made from the archive alone, and once with it. Plain Oxigraph is `Store.extend` of the same quads, parsed
beforehand, in groups of 32 pages and without the merge of all pages; ours reads the archive, keeps the merge, the facts about
fetches and the snapshots for readers. Then pages are replaced, and the store grows by copies of the crawl (`growth.py`).
`--keep` leaves the large index for `bench_search.py`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import psutil
import pyoxigraph
from growth import change_outcomes, copy_outcomes, make_lists

from rdfspider.archive.log import list_segments, read_outcomes
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.index.layout import IndexPaths
from rdfspider.index.ledger.reader import LedgerReader
from rdfspider.index.quads.view import QuadView
from rdfspider.index.text.view import TextView
from rdfspider.index.view import View
from rdfspider.vocabulary.terms import fold_statements, make_graph_iri
from web import CorpusWeb

BATCH = 128
GROUP = 32
# With so many lists a copy of the corpus, ten million quads speak of a million things.
LISTS = 98
OF_EXTEND_NEW, OF_EXTEND_REPLACED = 1.0, 0.45
MOST_BYTES = 1_500_000_000
MAX_LAG_S = 60.0
_COMMIT_S = 3.0


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="bench-index-") as name:
        folder = Path(name)
        with CorpusWeb(arguments.corpus, folder / "web", arguments.hosts) as web:
            print("A crawl without the index, then the index alone")
            started = time.perf_counter()
            _crawl(web, folder / "alone", "--no-index")
            seconds = time.perf_counter() - started
            outcomes = read_log(folder / "alone")
            print(
                f"  crawl    {seconds:6.1f} s   {len(outcomes) / seconds:7.1f} pages/s (with the start of the processes)"
            )
            alone = _index_alone(folder / "alone", outcomes)
            print("\nA crawl with the index")
            _crawl_indexed(web, folder / "together")
        print("\nThe quad store beside plain Oxigraph, in turns")
        _compare_stores(folder, outcomes, arguments.turns, alone)
        print(f"\nGrowth to {arguments.quads:,} quads")
        large = arguments.keep or folder / "large"
        # A process of its own: this one has used memory that is not the index's.
        growth = multiprocessing.get_context("spawn").Process(
            target=grow, args=(large, folder / "alone", arguments.quads)
        )
        growth.start()
        growth.join()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--quads", type=int, default=10_000_000, help="how far the store grows")
    parser.add_argument("--keep", type=Path, help="a new folder for the large index, which is left there")
    return parser.parse_args()


def _crawl(web: CorpusWeb, folder: Path, *flags: str) -> subprocess.Popen[bytes]:
    process = web.start_crawl(folder, Path(os.devnull), *flags)
    if process.wait():
        sys.exit(f"the crawl ended with {process.returncode}")
    return process


def read_log(folder: Path) -> list[Outcome]:
    """What the crawl has found: pages only, as the views get them."""
    found = []
    for source, segment in list_segments(folder).items():
        found += read_outcomes(segment.path, source, 0, segment.length)
    return [outcome for outcome in found if isinstance(outcome, Outcome) and outcome.effect == Effect.REPLACE]


def _index_alone(folder: Path, outcomes: Sequence[Outcome]) -> float:
    """Make the index from the archive as a person would; returns its quads a second."""
    quads = _count(outcomes)
    seconds = {}
    for name, flags in {"index": (), "rebuild": ("--rebuild",)}.items():
        command = [sys.executable, "-m", "rdfspider", "index", "--dir", str(folder), *flags]
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds[name] = time.perf_counter() - started
        print(
            f"  {name:8} {seconds[name]:6.1f} s   {len(outcomes) / seconds[name]:7.1f} pages/s   "
            f"{quads / seconds[name]:9,.0f} quads/s (with the start of the process)"
        )
    return quads / seconds["index"]


def _crawl_indexed(web: CorpusWeb, folder: Path) -> None:
    """Crawl and index at once; how far is the index behind?"""
    started = time.perf_counter()
    process = web.start_crawl(folder, Path(os.devnull))
    lags, pages = [0.0], 0
    while process.poll() is None:
        time.sleep(0.25)
        try:
            status = json.loads((folder / "index/status.json").read_bytes())
        except (OSError, ValueError):
            continue
        lags.append(max((view["lag_s"] for view in status["views"]), default=0.0))
        pages = status["pages"]
    seconds = time.perf_counter() - started
    print(f"  {pages:,} pages crawled and indexed in {seconds:.1f} s: {pages / seconds:.1f} pages/s in all")
    _judge("s behind at most", max(lags), MAX_LAG_S, is_most=True)


def _compare_stores(folder: Path, outcomes: list[Outcome], turns: int, alone: float) -> None:
    """Our quad store beside `Store.extend`, for new pages and for pages that changed; the best turn counts for each."""
    changed = {every: list(change_outcomes(outcomes, every, 1)) for every in (4, 2, 1)}
    extends, news = [], []
    replaced: dict[int, list[float]] = {every: [] for every in changed}
    for turn in range(turns):
        extends.append(_time_extend(folder / f"extend-{turn}", outcomes))
        paths = IndexPaths(folder / f"view-{turn}")
        view = _open_quads(paths)
        news.append(_time_apply(view, outcomes))
        view.close()
        for every, versions in changed.items():
            # Each begins from the same store.
            shutil.copytree(paths.folder, copy := folder / f"view-{turn}-{every}")
            view = _open_quads(IndexPaths(copy))
            replaced[every].append(_time_apply(view, versions))
            view.close()
            shutil.rmtree(copy)
        shutil.rmtree(paths.folder)
    extend, new = max(extends), max(news)
    print(f"  plain extend   {extend:9,.0f} quads/s")
    print(f"  new pages      {new:9,.0f} quads/s")
    _judge("of plain extend, new pages", new / extend, OF_EXTEND_NEW)
    print(
        f"  {alone / extend:6.2f} of plain extend: the whole indexer, text and entities too, with the start of its process"
    )
    for every, speeds in replaced.items():
        share = f"{100 / every:.0f} % of the statements"
        print(f"  replaced       {max(speeds):9,.0f} quads/s of the pages, of which {share} changed")
        if every == 4:
            _judge("of plain extend, pages replaced", max(speeds) / extend, OF_EXTEND_REPLACED)
        else:
            print(f"  {max(speeds) / extend:6.2f} of plain extend")


def _time_extend(folder: Path, outcomes: Sequence[Outcome]) -> float:
    groups = []
    for start in range(0, len(outcomes), GROUP):
        lines = [line for outcome in outcomes[start : start + GROUP] for line in _write_nquads(outcome)]
        groups.append(list(pyoxigraph.parse("".join(lines), pyoxigraph.RdfFormat.N_QUADS)))
    store = pyoxigraph.Store(folder)
    started = time.perf_counter()
    for group in groups:
        store.extend(group)
    store.flush()
    seconds = time.perf_counter() - started
    del store
    shutil.rmtree(folder)
    return sum(map(len, groups)) / seconds


def _write_nquads(outcome: Outcome) -> Iterable[str]:
    graph = make_graph_iri(outcome.url)
    return (f"{triple} <{graph}> .\n" for triple in fold_statements(outcome.statements, outcome.url))


def _open_quads(paths: IndexPaths) -> QuadView:
    paths.index.mkdir(parents=True, exist_ok=True)
    return QuadView(paths)


def _time_apply(view: View, outcomes: Sequence[Outcome]) -> float:
    """Quads a second of a view that takes outcomes as the indexer gives them."""
    quads = _count(outcomes)
    started = time.perf_counter()
    _apply(view, outcomes, lambda: None)
    return quads / (time.perf_counter() - started)


def _apply(view: View, outcomes: Sequence[Outcome], on_batch: Callable[[], None]) -> None:
    committed = time.monotonic()
    for start in range(0, len(outcomes), BATCH):
        view.apply(outcomes[start : start + BATCH])
        if time.monotonic() - committed > _COMMIT_S:
            view.commit({"growth": start})
            committed = time.monotonic()
        on_batch()
    view.commit({"growth": len(outcomes)})


def open_views(paths: IndexPaths) -> list[View]:
    """The views that answers come from."""
    return [QuadView(paths), TextView(paths)]


def grow(folder: Path, crawl: Path, wanted: int) -> None:
    """Let quads and text grow by copies of the crawl, both at once as in the indexer; memory must not grow with them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("crawl.toml", "suffixes.dat", "seeds.txt"):
        shutil.copyfile(crawl / name, folder / name)
    shutil.copytree(crawl / "shards", folder / "shards")
    paths = IndexPaths(folder)
    paths.index.mkdir()
    paths.version.write_text((crawl / "index/version").read_text())
    # Each page of the corpus once: what the benchmark itself has in memory counts too.
    distinct = list({outcome.url.partition("/corpus/")[2]: outcome for outcome in read_log(crawl)}.values())
    own, _ = _measure_memory()
    views, most, most_mapped = open_views(paths), own, 0
    quads, number, started = 0, 0, time.perf_counter()
    print(f"  ({own / 1e6:,.0f} MB are the benchmark's own before the indexes are opened)")
    print(
        "       quads    entities   quads/s   MB of memory   MB of mapped files   bytes/quad: store   text and ledger"
    )
    while quads < wanted:
        number += 1
        copies = [*copy_outcomes(distinct, number), *make_lists(distinct, number, LISTS)]
        threads = [threading.Thread(target=_apply, args=(view, copies, lambda: None)) for view in views]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.1)
            used, mapped = _measure_memory()
            most, most_mapped = max(most, used), max(most_mapped, mapped)
        before, quads = quads, quads + _count(copies)
        if quads * 10 // wanted > before * 10 // wanted:
            now = time.perf_counter() - started
            entities = LedgerReader(paths).read_totals().entities
            store, rest = _measure(paths.quads), _measure(paths.text) + _measure(paths.index, "ledger.sqlite*")
            figures = f"{quads:10,} {entities:11,} {quads / now:9,.0f} {most / 1e6:14,.0f} {most_mapped / 1e6:20,.0f}"
            print(f"  {figures} {store / quads:19.1f} {rest / quads:17.1f}", flush=True)
    for view in views:
        view.close()
    _judge("GB of memory at most", most / 1e9, MOST_BYTES / 1e9, is_most=True)


def _measure_memory() -> tuple[int, int]:
    """What this process has of its own, and how much of files is mapped, which the system takes back when it needs room: tantivy
    merges its segments so."""
    memory = psutil.Process().memory_info()
    return memory.rss - memory.shared, memory.shared


def _measure(folder: Path, pattern: str = "**/*") -> int:
    """Bytes of the files, as they were a moment ago: some go while we look."""
    total = 0
    for path in folder.glob(pattern):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def _count(outcomes: Iterable[Outcome]) -> int:
    """Statements, each once a page."""
    return sum(len(fold_statements(outcome.statements, outcome.url)) for outcome in outcomes)


def _judge(what: str, value: float, bound: float, *, is_most: bool = False) -> None:
    reached = value <= bound if is_most else value >= bound
    print(
        f"  {value:6.2f} {what}: {'reached' if reached else 'MISSED'}, {'at most' if is_most else 'at least'} {bound:g}"
    )


if __name__ == "__main__":
    main()
