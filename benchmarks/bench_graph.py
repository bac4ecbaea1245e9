"""The link graph: bits a link, bytes a URL, what a question and a page cost, and how memory grows, beside other stores of links.

    python benchmarks/bench_graph.py ../shared/graphs/cnr-2000              # some minutes, with ten million synthetic links
    python benchmarks/bench_graph.py ../shared/graphs/cnr-2000 --links 1000000
    python benchmarks/bench_graph.py --corpus CORPUS                        # also with the URLs of real pages

cnr-2000 is a real graph whose URLs are not known, so its ids get synthetic ones in the same order. The synthetic web has hosts
and pages by a power law, paths as sites make them, and links that mostly stay on their host: `--seed` gives another one.
Latencies are of single calls, in wall-clock time and, since a busy machine is no fault, in processor time, which is judged.
Ranks are computed once here, PageRank alone, and once by the process that an indexer starts, which finds hosts and farms too.
CORPUS is a folder with `index.jsonl` and gzipped pages, of many hosts with few pages each, so its URLs have little in common.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import psutil
import pyoxigraph
import tantivy

import rdfspider
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.archive.outlinks import describe_links
from rdfspider.index.graph import dictionary as dictionaries
from rdfspider.index.graph.csr import Csr, transpose
from rdfspider.index.graph.dictionary import Dictionary, DictionaryWriter, choose_samples
from rdfspider.index.graph.keys import make_key, read_key
from rdfspider.index.graph.pagerank import rank_pages
from rdfspider.index.graph.rating_process import encode_paths
from rdfspider.index.graph.reader import GraphReader
from rdfspider.index.graph.rows import Rows, RowsWriter
from rdfspider.index.graph.sections import Sections, SectionWriter
from rdfspider.index.graph.view import GraphView
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.processes.module_process import start_beside

LOOKUPS = 20_000
PAGES_A_COMMIT = 500
SAMPLE_PAGES = 2_000
LINKS_A_PAGE = 50
DICTIONARY_BLOCKS = (16, 64, 256, 1024)
SEEDS = 10
WORDS = (
    "about news team data paper project event archive images docs download research people contact library item view list"
).split()
RELATED = "<http://example.org/linksTo>"
Page = tuple[str, Sequence[str]]
missed: list[str] = []


def main() -> None:
    options = parse_options()
    folder = Path(tempfile.mkdtemp(prefix="bench-graph-", dir=options.dir))
    try:
        if options.graph:
            print(f"cnr-2000 ({options.graph}), with synthetic URLs in the order of its ids")
            indptr, indices = load_links(options.graph)
            urls = make_cnr_urls(len(indptr) - 1, Random(options.seed))
            pages = ((urls[i], [urls[j] for j in indices[indptr[i] : indptr[i + 1]]]) for i in range(len(indptr) - 1))
            reader = build(folder / "cnr", make_outcomes(pages))
            judge_rows(folder, indptr, indices)
            print("  the same as a generation, without the links of pages to themselves:")
            judge_sizes(reader, 3.5, 3.0)
            measure_reads(reader, options.seed)
            compare(folder, options.graph, indptr, indices, urls)
        if options.corpus:
            print(f"\nReal pages ({options.corpus})")
            reader = build(folder / "corpus", read_corpus(options.corpus))
            judge_sizes(reader, None, None)
            measure_reads(reader, options.seed, is_judged=False)
            compare_dictionaries(folder, reader, options.seed)
        print(f"\nA synthetic web of {options.links:,} links (seed {options.seed})")
        web = Web(options.seed)
        reader = build(folder / "web", make_outcomes(web.list_pages(options.links), Random(1)), judge_flush=True)
        judge_sizes(reader, None, None)
        measure_reads(reader, options.seed)
        measure_ranks(reader)
        compare_dictionaries(folder, reader, options.seed)
    finally:
        shutil.rmtree(folder)
    print(f"\n{len(missed)} missed: {'; '.join(missed)}" if missed else "\nall reached")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", type=Path, nargs="?", help="the folder of cnr-2000 with links.npz")
    parser.add_argument("--corpus", type=Path, help="a folder of real pages")
    parser.add_argument("--links", type=int, default=10_000_000, help="of the synthetic web")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", type=Path, help="where the graphs are made")
    return parser.parse_args()


def judge(name: str, value: float, most: float | None, unit: str) -> None:
    word = "" if most is None else f"   at most {most:g}: {'reached' if value <= most else 'MISSED'}"
    if most is not None and value > most:
        missed.append(name)
    print(f"  {name:58} {value:10.3f} {unit}{word}")


def load_links(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    with np.load(folder / "links.npz") as links:
        return links["indptr"].astype(np.int64), links["indices"].astype(np.int64)


def make_cnr_urls(count: int, chance: Random) -> list[str]:
    """Distinct URLs of some hundred hosts, in the order of their keys."""
    hosts = [f"www.{chance.choice(WORDS)}{number}.cnr.it" for number in range(300)]
    keys: set[bytes] = set()
    while len(keys) < count:
        host = hosts[int(len(hosts) * chance.random() ** 3)]
        keys.add(make_key(f"http://{host}/{make_path(chance, int(chance.paretovariate(0.6)) % 200_000)}"))
    return [read_key(key) for key in sorted(keys)]


def make_path(chance: Random, number: int) -> str:
    kind = number % 5
    word, other = WORDS[number % 17 % len(WORDS)], WORDS[number // 7 % len(WORDS)]
    if kind == 0:
        return f"{word}/{other}/{number:05}.html"
    if kind == 1:
        return f"{word}/20{number % 25:02}/{number % 12 + 1:02}/{other}-{chance.choice(WORDS)}-{number}"
    if kind == 2:
        return f"index.php?page={word}&id={number}"
    if kind == 3:
        return f"~{other}{number % 90}/{word}/{chance.choice(WORDS)}{number}.htm"
    return f"{word}/{number}"


class Web:
    """A web without end: the pages of hosts, and the links of each page."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)

    def list_pages(self, links: int) -> Iterator[Page]:
        """Pages, each once, until they have so many links."""
        chance = self._chance
        hosts: dict[int, int] = {}
        made = 0
        while made < links:
            host = int(chance.paretovariate(0.5)) % 500_000
            number = hosts[host] = hosts.get(host, -1) + 1
            size = max(4, int(chance.lognormvariate(3.6, 0.8)))
            found = {self._choose(host, number) for _ in range(min(size, 600))}
            made += len(found)
            yield self._name(host, number), list(found)

    def _choose(self, host: int, number: int) -> str:
        what = self._chance.random()
        if what < 0.35:
            # The menu of the site.
            return self._name(host, int(self._chance.paretovariate(1.2)) % 40)
        if what < 0.85:
            return self._name(host, max(0, number + int(self._chance.gauss(0, 30))))
        other = int(self._chance.paretovariate(0.5)) % 500_000
        return self._name(other, int(self._chance.paretovariate(1.0)) % 1_000)

    def _name(self, host: int, number: int) -> str:
        own = Random(host * 1_000_003 + number)
        word = WORDS[host % len(WORDS)]
        name = f"{'www.' * (host % 3 > 0)}{word}{host}.{('com', 'org', 'de', 'co.uk', 'fr')[host % 5]}"
        return f"http{'s' * (host % 4 > 0)}://{name}/{make_path(own, number) if number else ''}"


def make_outcomes(pages: Iterator[Page], chance: Random | None = None) -> Iterator[Outcome]:
    """The outcomes of pages; with a source of chance, their links have anchor texts of some twenty characters."""
    for number, (url, links) in enumerate(pages, 1):
        anchors = {link: " ".join(chance.choices(WORDS, k=3)) for link in links} if chance else {}
        fields = {"digest": f"sha1:{number:08}", "outlinks": tuple(links), "anchors": anchors}
        yield Outcome(url, 1.7e9 + number, "log", 0, number, Effect.REPLACE, **fields)


def read_corpus(corpus: Path) -> Iterator[Outcome]:
    """The outcomes of real pages whose URLs are known."""
    for number, line in enumerate((corpus / "index.jsonl").read_text().splitlines(), 1):
        entry = json.loads(line)
        if not entry["url"]:
            continue
        found = rdfspider.extract(gzip.decompress((corpus / entry["file"]).read_bytes()), url=entry["url"])
        links = describe_links(found.links)
        fields = {
            "digest": f"sha1:{number:08}",
            "canonical": found.canonical or "",
            "statements": dict(found.statements),
        }
        fields |= {"outlinks": links.outlinks, "relations": links.relations, "anchors": links.anchors}
        yield Outcome(entry["url"], 1.7e9 + number, "log", 0, number, Effect.REPLACE, **fields)


def build(folder: Path, outcomes: Iterator[Outcome], *, judge_flush: bool = False) -> GraphReader:
    """Index pages as an indexer does, and tell what that costs."""
    paths = IndexPaths(folder)
    paths.index.mkdir(parents=True)
    paths.version.write_text(f"{VERSION}\n")
    view = GraphView(paths)
    process = psutil.Process()
    cpu_s, links, number, waiting, next_look = 0.0, 0, 0, [], 1_000_000
    memory = {}
    before_mb = process.memory_info().rss / 1e6
    for outcome in outcomes:
        number += 1
        links += len(outcome.outlinks)
        waiting.append(outcome)
        if len(waiting) >= PAGES_A_COMMIT:
            started = time.thread_time()
            view.apply(waiting)
            view.commit({"log": number})
            cpu_s += time.thread_time() - started
            waiting = []
        if links >= next_look:
            memory[links] = process.memory_info().rss / 1e6
            next_look += 1_000_000
    started = time.thread_time()
    view.apply(waiting)
    view.commit({"log": number})
    cpu_s += time.thread_time() - started
    all_started = time.process_time()
    while view.has_deferred:
        view.commit({"log": number})
        time.sleep(0.1)
    last_s = time.process_time() - all_started
    print(
        f"  {number:,} pages, {links:,} links with repetitions; {len(view._parts)} generations, {last_s:.1f} s for the rest"
    )
    most = 0.5 if judge_flush else None
    judge(f"a page with {links / number:.0f} links, read, gathered and flushed", cpu_s / number * 1e3, most, "ms")
    judge(f"so for {LINKS_A_PAGE} links", cpu_s / links * LINKS_A_PAGE * 1e3, most, "ms")
    told = ", ".join(
        f"{at / 1e6:.0f} M: {mb - before_mb:,.0f}"
        for at, mb in memory.items()
        if at // 1_000_000 in (1, 2, 3, 5, 8, 10)
    )
    print(f"  MB of memory more than at the start, by links: {told}")
    merge_all(view)
    view.close()
    return GraphReader(paths)


def merge_all(view: GraphView) -> None:
    """Merge all generations into one, for figures that do not depend on where it ended; tell the rate."""
    from rdfspider.index.graph.manifest import Part, save_manifest
    from rdfspider.index.graph.merging import Merge

    if len(view._parts) < 2:
        return
    started, began = time.perf_counter(), time.process_time()
    generation = Merge(view._parts, view._name_next(), lambda: False).run()
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - began
    links = generation.links
    print(
        f"  merging {len(view._parts)} generations: {links / cpu_s / 1e6:.2f} M links/s of processor time, "
        f"{links / wall_s / 1e6:.2f} of time"
    )
    for part in view._parts:
        part.generation.file.path.unlink()
    view._parts = [Part(generation, np.empty(0, np.int64))]
    save_manifest(view._folder, view._durable, view._parts, [])


def judge_rows(folder: Path, indptr: np.ndarray, indices: np.ndarray) -> None:
    """Write all links as they are, in both directions."""
    nodes, links = len(indptr) - 1, len(indices)
    back = transpose(Csr(indptr, indices.astype(np.int32)))
    for name, graph, most in (("forward", Csr(indptr, indices), 3.5), ("transposed", back, 3.0)):
        path = folder / name
        file = SectionWriter(path)
        started = time.process_time()
        writer = RowsWriter(file, name)
        for start in range(0, nodes, 16_384):
            stop = min(start + 16_384, nodes)
            counts = np.diff(graph.indptr[start : stop + 1])
            numbers = graph.indices[graph.indptr[start] : graph.indptr[stop]].astype(np.int64)
            writer.add(np.arange(start, stop), Rows(counts, numbers))
        writer.finish()
        cpu_s = time.process_time() - started
        file.finish({})
        judge(f"{name}, all {links:,} links, the whole file", path.stat().st_size * 8 / links, most, "bits a link")
        print(f"  {'written with':58} {links / cpu_s / 1e6:10.3f} M links/s of processor time")


def judge_sizes(reader: GraphReader, forward: float | None, transposed: float | None) -> None:
    (part,) = reader._state.parts
    generation = part.generation
    sizes = {name: section.size for name, section in generation.file._directory.sections.items()}
    links = generation.links

    def add(*starts: str) -> int:
        return sum(size for name, size in sizes.items() if name.startswith(starts))

    print(
        f"  one generation: {generation.keys:,} URLs, {generation.rows:,} pages, {links:,} links, "
        f"{generation.file.size / 1e6:.1f} MB"
    )
    judge(
        "forward rows, with offsets and the bits of who has a row",
        add("forward", "row_bits", "row_ranks") * 8 / links,
        forward,
        "bits a link",
    )
    judge("transposed rows, with offsets", add("transposed") * 8 / links, transposed, "bits a link")
    judge("dictionary (the faster form)", add("key") / generation.keys, 32.0, "bytes a URL")
    if add("words"):
        print(f"  {'anchor texts':58} {add('words') / links:10.3f} bytes a link")
    raw = sum(len(key) for keys in generation.dictionary.list_keys() for key in keys) / generation.keys
    print(
        f"  a URL has {raw:.1f} bytes; stamps and hashes take "
        f"{add('times', 'ties', 'row_hashes') / generation.rows:.1f} bytes a page"
    )


def measure_reads(reader: GraphReader, seed: int, *, is_judged: bool = True) -> None:
    (part,) = reader._state.parts
    chance = Random(seed)
    sources = part.generation.list_sources()
    pages = [int(sources[chance.randrange(len(sources))]) for _ in range(LOOKUPS)]
    everywhere = [chance.randrange(reader.count_pages()) for _ in range(LOOKUPS)]
    urls = reader.read_urls(sorted(pages))
    chance.shuffle(urls)
    all_urls = reader.read_urls(sorted(everywhere))
    chance.shuffle(all_urls)
    by_id_us, by_url_us = (100.0, 1000.0) if is_judged else (None, None)
    show("neighbours by id, out", reader.list_out, pages, by_id_us)
    show("neighbours by id, in", reader.list_in, everywhere, by_id_us)
    show("URL to URLs", reader.list_targets, urls, by_url_us)
    show("links with kinds and words, all", reader.read_links, urls, None)
    show("backlinks with kinds and words, 50", lambda url: reader.read_backlinks(url, 50), all_urls, None)
    if not part.generation.words.is_empty:
        show("the words for a page", reader.read_anchors, all_urls[: LOOKUPS // 10], None)
    show("URL to id", reader.find, all_urls, None)
    show("id to URL", reader.read_url, everywhere, None)
    lists = ((reader.list_out, pages), (reader.list_in, everywhere))
    sizes = [np.percentile([len(ask(page)) for page in asked], (50, 99)) for ask, asked in lists]
    print(
        "  links of a page p50 {:.0f}, p99 {:.0f}; links to one p50 {:.0f}, p99 {:.0f}".format(*np.concatenate(sizes))
    )


def show(name: str, ask: Callable, questions: Sequence, most_us: float | None) -> None:
    wall, cpu = [], []
    for question in questions:
        began, started = time.thread_time_ns(), time.perf_counter_ns()
        ask(question)
        wall.append(time.perf_counter_ns() - started)
        cpu.append(time.thread_time_ns() - began)
    found = np.percentile(np.array([wall, cpu]) / 1000, [50, 99], axis=1)
    print(
        f"  {name:40} wall p50 {found[0][0]:8.1f} µs, p99 {found[1][0]:8.1f};  processor p50 {found[0][1]:8.1f}", end=""
    )
    judge_line = most_us is not None
    print("" if judge_line else f", p99 {found[1][1]:8.1f} µs")
    if judge_line:
        judge(f"{name}, p99 of processor time", float(found[1][1]), most_us, "µs")


def measure_ranks(reader: GraphReader) -> None:
    """Compute PageRank alone, then all ranks as an indexer does."""
    started = time.process_time()
    csr = reader.load_csr()
    loaded_s = time.process_time() - started
    rounds = rank_pages(csr).rounds
    cpu_s = time.process_time() - started
    judge(f"PageRank of {csr.links:,} links, {rounds} rounds, of processor time", cpu_s, 15.0, "s")
    print(f"  {'of it, reading the links':58} {loaded_s:10.3f} s")
    del csr
    paths = reader._paths
    sources = reader._state.parts[0].generation.list_sources()
    paths.seeds.write_text("".join(f"{url}\n" for url in reader.read_urls(sources[:: len(sources) // SEEDS])))
    process = start_beside("rdfspider.index.graph.rating_process", encode_paths(paths))
    most_bytes, ended = 0, 0
    while not ended:
        most_bytes = max(most_bytes, psutil.Process(process.pid).memory_info().rss)
        time.sleep(0.05)
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    assert not status, process.stdout.read()
    print(f"  all ranks take {used.ru_utime + used.ru_stime:.1f} s of processor time and {most_bytes / 1e6:,.0f} MB")


def compare_dictionaries(folder: Path, reader: GraphReader, seed: int) -> None:
    """The URLs of a graph in blocks of other numbers of keys: what these take, and how long it takes to read those of a page's
    links."""
    (part,) = reader._state.parts
    generation = part.generation
    keys = [key for block in generation.dictionary.list_keys() for key in block]
    chosen = Random(seed).choices(range(generation.rows), k=SAMPLE_PAGES)
    rows = [generation.forward.read(row).tolist() for row in chosen]
    usual = dictionaries.BLOCK_KEYS, dictionaries._CACHED_BLOCKS
    print("  the dictionary by the number of keys in a block, and the URLs of a page's links:")
    for count in DICTIONARY_BLOCKS:
        dictionaries.BLOCK_KEYS, dictionaries._CACHED_BLOCKS = count, usual[0] * usual[1] // count
        path = folder / f"dictionary-{count}"
        file = SectionWriter(path)
        writer = DictionaryWriter(file, choose_samples(keys))
        writer.add(keys)
        writer.finish()
        file.finish({"keys": len(keys)})
        print(f"    {count:5} keys                {path.stat().st_size / len(keys):10.1f} bytes a URL")
        show(f"{count} keys in a block", Dictionary(Sections(path)).read_all, rows, None)
    dictionaries.BLOCK_KEYS, dictionaries._CACHED_BLOCKS = usual


def compare(folder: Path, graph: Path, indptr: np.ndarray, indices: np.ndarray, urls: Sequence[str]) -> None:
    """The same links elsewhere; bits a link, forward only."""
    print("  elsewhere, forward only:")
    links = len(indices)
    for suffix, name in (("", "WebGraph"), ("-t", "WebGraph, transposed")):
        files = [graph / f"{graph.name}{suffix}.{kind}" for kind in ("graph", "offsets")]
        if all(file.exists() for file in files):
            rows, offsets = (file.stat().st_size * 8 / links for file in files)
            print(f"    {name:25} {rows + offsets:8.1f} bits a link, {offsets:.2f} of them for offsets")
    try:
        import scipy.sparse

        matrix = scipy.sparse.csr_array(
            (np.ones(links, np.bool_), indices.astype(np.int32), indptr.astype(np.int32)), shape=(len(indptr) - 1,) * 2
        )
        size = matrix.indptr.nbytes + matrix.indices.nbytes
        print(f"    scipy CSR                 {size * 8 / links:8.1f} bits a link, in memory")
    except ImportError:
        print(f"    CSR (scipy is not here)   {(links + len(indptr)) * 4 * 8 / links:8.1f} bits a link, by arithmetic")
    try:
        import pyroaring

        size = sum(len(pyroaring.BitMap(indices[a:b]).serialize()) for a, b in pairwise(indptr))
        print(f"    pyroaring, a map a row    {size * 8 / links:8.1f} bits a link, without offsets")
    except ImportError:
        print("    pyroaring is not here")
    sample = range(SAMPLE_PAGES)
    count = int(indptr[SAMPLE_PAGES])
    store = pyoxigraph.Store(str(folder / "oxigraph"))
    predicate = pyoxigraph.NamedNode(RELATED[1:-1])
    nodes = [pyoxigraph.NamedNode(url) for url in urls[:]] if len(urls) < 400_000 else []
    store.bulk_extend(
        pyoxigraph.Quad(nodes[i], predicate, nodes[j]) for i in sample for j in indices[indptr[i] : indptr[i + 1]]
    )
    store.optimize()
    print(
        f"    Oxigraph triples          {measure(folder / 'oxigraph') * 8 / count:8.1f} bits a link, of {count:,} links"
    )
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("outlinks", indexed=True)
    (folder / "tantivy").mkdir()
    index = tantivy.Index(builder.build(), path=str(folder / "tantivy"))
    writer = index.writer(50_000_000, 1)
    for i in range(min(len(indptr) - 1, 100_000)):
        document = tantivy.Document()
        for j in indices[indptr[i] : indptr[i + 1]]:
            document.add_unsigned("outlinks", hash(int(j) * 0x9E3779B97F4A7C15) & ((1 << 63) - 1))
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    count = int(indptr[min(len(indptr) - 1, 100_000)])
    print(
        f"    a field of tantivy        {measure(folder / 'tantivy') * 8 / count:8.1f} bits a link, of {count:,} links (hashes)"
    )


def measure(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    sys.exit(main())
