"""The frontier as it grows: what a link costs, what a URL takes on disk and in memory, how fast one is got back and leased.

    python benchmarks/bench_frontier.py                       # 10 million URLs on 100,000 hosts, some three minutes
    python benchmarks/bench_frontier.py --urls 1000000 --hosts 10000

The process has loaded what a shard loads, and collects garbage as one, so that its memory is a shard's. Beside it are a Python
set, which forgets everything when it ends, and SQLite, each asked "seen? else insert" for the same URLs.
"""

import argparse
import gc
import resource
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import fmean

import psutil

from rdfspider.config import Config
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.frontier.entries import PageFacts, RobotsAnswer
from rdfspider.frontier.frontier import Frontier
from rdfspider.processes.module_process import calm_collector
from rdfspider.records import Addresses, Capture, Discovered, Page, RobotsState

LINKS_A_PAGE = 80
PAGES_A_COMMIT = 25
# Words that one host uses: with these, blocks of 4 to 8 KB compress as the links of real pages do, to 20 to 18 of 63 bytes.
OWN_WORDS = 15
FULL_SIZE = 10_000_000
MB = 1 << 20


def main() -> None:
    options = parse_options()
    folder = Path(tempfile.mkdtemp(prefix="bench-frontier-", dir=options.dir))
    try:
        verdicts = run(options, folder)
    finally:
        shutil.rmtree(folder)
    print()
    for name, value, target, unit in verdicts:
        # A small table has its log and its buffers in the figures.
        mark = "    " if options.urls < FULL_SIZE else "ok  " if value <= target else "MISS"
        print(f"{mark} {name}: {value:.2f} {unit}, at most {target:g} at {FULL_SIZE:,} URLs")


def run(options: argparse.Namespace, folder: Path) -> list[tuple[str, float, float, str]]:
    config = Config()
    config = replace(config, frontier=replace(config.frontier, delay_s=0.0))
    domains = Domains(bundled_suffix_list(), 1)
    frontier = Frontier(folder / "frontier", config, domains, 0)
    calm_collector()
    web = Web(options.hosts)
    raw_bytes, rows = grow(frontier, web, options)
    verdicts = [("seen, else insert, in batches, all of them", fmean(row["wall_us"] for row in rows), 10.0, "µs")]
    at_3, at_end = near(rows, 0.3 * options.urls), rows[-1]
    verdicts.append(("memory, the end against 3/10", at_end["rss_mb"] / at_3["rss_mb"], 1.2, "times"))
    verdicts.append(("memory of a shard at the middle", near(rows, 0.5 * options.urls)["rss_mb"], 400.0, "MB"))
    verdicts += measure_sizes(frontier, raw_bytes)
    verdicts += measure_reads(frontier, options)
    frontier.close()
    verdicts += measure_leases(folder, config, domains)
    measure_peers(folder, min(options.urls, options.peer_urls), options.hosts)
    return verdicts


def grow(frontier: Frontier, web: "Web", options: argparse.Namespace) -> tuple[int, list[dict[str, float]]]:
    """Insert all URLs, as pages bring them; a row of figures for each tenth."""
    print(
        "µs a link: new (time, CPU of the calling thread, CPU of the threads that merge files); seen (CPU): of pages that"
    )
    print("came long ago, from all over the table, each on a host of its own, and the same once more, from the cache")
    print(
        f"{'URLs':>12} {'time':>7} {'CPU':>7} {'merging':>7} {'pages':>7} {'all over':>8} {'cached':>7} {'memory MB':>10}"
        f" {'longest ms':>11}"
    )
    raw_bytes, done, rows = 0, 0, []
    earlier: list[list[list[Discovered]]] = []
    step = options.urls // 10
    while done < options.urls:
        wall_s = thread_s = cpu_s = longest_s = 0.0
        until = done + step
        while done < until:
            pages = web.next_pages(PAGES_A_COMMIT)
            if len(earlier) == len(rows):
                earlier.append(pages)
            raw_bytes += sum(len(link.url) for page in pages for link in page)
            wall, thread, cpu = time.perf_counter(), time.thread_time(), cpu_time()
            for page in pages:
                frontier.add(page)
            frontier.commit()
            took_s = time.perf_counter() - wall
            wall_s += took_s
            longest_s = max(longest_s, took_s)
            thread_s += time.thread_time() - thread
            cpu_s += cpu_time() - cpu
            done = frontier.counts.known
        row = {
            "urls": done,
            "wall_us": wall_s / step * 1e6,
            "thread_us": thread_s / step * 1e6,
            "cpu_us": cpu_s / step * 1e6,
            "rss_mb": rss_mb(),
        }
        rows.append(row)
        again_us = time_seen(frontier, earlier[len(rows) // 2])
        scattered = sample_links(frontier, options, done)
        seen_us, cached_us = time_seen(frontier, [scattered]), time_seen(frontier, [scattered])
        print(
            f"{done:12,} {row['wall_us']:7.2f} {row['thread_us']:7.2f} {row['cpu_us'] - row['thread_us']:7.2f}"
            f" {again_us:7.2f} {seen_us:8.2f} {cached_us:7.2f} {row['rss_mb']:10.0f} {longest_s * 1e3:11.1f}",
            flush=True,
        )
    return raw_bytes, rows


def time_seen(frontier: Frontier, pages: list[list[Discovered]]) -> float:
    """What a link costs whose URL is known."""
    start = time.thread_time()
    for page in pages:
        assert frontier.add(page) == 0
    return (time.thread_time() - start) / sum(map(len, pages)) * 1e6


def sample_links(frontier: Frontier, options: argparse.Namespace, known: int) -> list[Discovered]:
    ids = sample_ids(frontier, options, 5000, known)
    return [Discovered(url) for url in map(frontier.url_of, ids) if url]


def measure_sizes(frontier: Frontier, raw_bytes: int) -> list[tuple[str, float, float, str]]:
    wait_for_merging()
    sizes = frontier._store.table_bytes()
    known = frontier.counts.known
    print(f"\n{known:,} URLs of {raw_bytes / known:.1f} bytes, {frontier.counts.hosts:,} hosts; bytes a URL on disk:")
    print("  " + ", ".join(f"{name} {size / known:.2f}" for name, size in sizes.items() if size))
    whole = sum(sizes.values())
    table = sizes["urls"] + sizes["ledger"]
    return [
        ("URL table, both ways, of the raw URLs", table / raw_bytes, 0.5, "of their bytes"),
        ("whole frontier, with its log, of the raw URLs", whole / raw_bytes, 1.0, "of their bytes"),
    ]


def measure_reads(frontier: Frontier, options: argparse.Namespace) -> list[tuple[str, float, float, str]]:
    """URLs by their ids. Those from all over the table are read from its files: the quickest of five samples, as others on the
    machine only add to what it takes. Those that were asked for lately are answered from a dict in memory."""
    colds = [sample_ids(frontier, options, 20_000, options.urls - number) for number in range(5)]
    cold_us = min(time_reads(frontier, ids) for ids in colds)
    hot_us = min(time_reads(frontier, colds[0][:500] * 20) for _ in range(5))
    return [
        ("getting a URL back", cold_us, 15.0, "µs CPU"),
        ("getting one back that was asked for lately, from memory", hot_us, 6.0, "µs CPU"),
    ]


def time_reads(frontier: Frontier, ids: list[int]) -> float:
    start = time.thread_time()
    for url_id in ids:
        frontier.url_of(url_id)
    return (time.thread_time() - start) / len(ids) * 1e6


def measure_leases(folder: Path, config: Config, domains: Domains) -> list[tuple[str, float, float, str]]:
    """100,000 URLs on one host: leases alone, and the whole life of a page in the frontier, in groups of 32."""
    frontier = Frontier(folder / "one", config, domains, 0)
    urls = [
        Discovered(f"https://www.example.org/section/{number % 97}/page-{number}.html") for number in range(100_000)
    ]
    frontier.add(urls)
    frontier.commit()
    answer = Capture(Page("", b""), 200, "OK", "1.1", (), (), "192.0.2.1", 0.0, 0.01, 0)
    lease_s = cycle_s = 0.0
    pages = 0
    while frontier.counts.scheduled:
        group = []
        start = time.thread_time()
        while len(group) < 32:
            began = time.thread_time()
            lease = frontier.lease()
            lease_s += time.thread_time() - began
            if lease is None:
                break
            now = time.time()
            if lease.kind == "name":
                frontier.release(lease, Addresses(("192.0.2.1",), now + 3600))
            elif lease.kind == "robots":
                frontier.release(lease, RobotsAnswer(RobotsState("allow", now, now + 3600), answer))
            else:
                group.append((lease, frontier.release(lease, answer)))
        for lease, verdict in group:
            frontier.finish(
                lease,
                verdict,
                PageFacts(digest="sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", position=("facts-000001", pages)),
            )
            pages += 1
        frontier.commit()
        cycle_s += time.thread_time() - start
    frontier.close()
    print(
        f"\none host: {pages:,} pages, lease {lease_s / pages * 1e6:.1f} µs, lease to commit {cycle_s / pages * 1e6:.1f} µs"
    )
    return [("leasing, 100,000 URLs on one host", lease_s / pages * 1e6, 15.0, "µs CPU")]


def measure_peers(folder: Path, urls: int, hosts: int) -> None:
    """A set and SQLite, with the same URLs in the same batches."""
    print(f"\nseen, else insert, {urls:,} URLs: µs CPU a URL, bytes a URL in memory or on disk")
    gc.collect()
    before = rss_mb()
    seen: set[str] = set()
    for name, insert in (("set", lambda batch: add_to_set(seen, batch)), ("SQLite", sqlite_inserter(folder))):
        cpu_s, done, web = 0.0, 0, Web(hosts)
        figures = []
        for part in range(1, 5):
            while done < urls * part // 4:
                batch = [link.url for page in web.next_pages(PAGES_A_COMMIT) for link in page]
                start = cpu_time()
                insert(batch)
                cpu_s += cpu_time() - start
                done += len(batch)
            figures.append(f"{cpu_s / done * 1e6:.2f}")
        size = (rss_mb() - before) * MB if name == "set" else (folder / "peer.sqlite").stat().st_size
        print(f"  {name:8} {' '.join(figures)}   {size / done:.0f} bytes")


def add_to_set(seen: set[str], batch: list[str]) -> None:
    for url in batch:
        if url not in seen:
            seen.add(url)


def sqlite_inserter(folder: Path):  # type: ignore[no-untyped-def]
    database = sqlite3.connect(folder / "peer.sqlite")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    database.execute("CREATE TABLE urls (url TEXT PRIMARY KEY, state INTEGER) WITHOUT ROWID")

    def insert(batch: list[str]) -> None:
        database.executemany("INSERT OR IGNORE INTO urls VALUES (?, 0)", ((url,) for url in batch))
        database.commit()

    return insert


class Web:
    """Makes pages of links that were never there before: hosts of very unequal size, paths of words, numbers and dates."""

    def __init__(self, hosts: int) -> None:
        self._random = Random(7)
        syllables = "ba ce di fo gu la me ni po ru sa te vi zo ka le mi no pu ra".split()
        self._words = ["".join(self._random.choices(syllables, k=self._random.randint(2, 4))) for _ in range(20_000)]
        self._hosts = [self._make_host(number) for number in range(hosts)]
        self._next_page = [0] * hosts
        self._next_host = 0

    def next_pages(self, count: int) -> list[list[Discovered]]:
        return [list(self._make_page()) for _ in range(count)]

    def _make_page(self) -> Iterator[Discovered]:
        """Most links stay on the host; each host is met at some time."""
        random = self._random
        home = int(len(self._hosts) * random.random() ** 2.5)
        via = random.getrandbits(54)
        depth = random.randrange(1, 8)
        for _ in range(LINKS_A_PAGE - 8):
            yield Discovered(self._make_url(home), depth, "link", via)
        for _ in range(7):
            yield Discovered(self._make_url(random.randrange(len(self._hosts))), depth, "link", via)
        self._next_host = (self._next_host + 1) % len(self._hosts)
        yield Discovered(self._make_url(self._next_host), depth, "link", via)

    def _make_url(self, host: int) -> str:
        random, words = self._random, self._words
        number = self._next_page[host]
        self._next_page[host] = number + 1
        section = words[(host * 31 + random.randrange(12)) % len(words)]
        own = host * 977
        slug = "-".join(
            words[(own + int(OWN_WORDS * random.random() ** 2)) % len(words)] for _ in range(random.randrange(1, 7))
        )
        form = (host + random.randrange(3)) % 5
        if form == 0:
            return f"{self._hosts[host]}/{section}/20{number % 25:02}/{number % 12 + 1:02}/{slug}-{number}.html"
        if form == 1:
            return f"{self._hosts[host]}/{section}?id={number * 7919 % 1_000_003}&page={number}"
        if form == 2:
            return f"{self._hosts[host]}/products/{section}/{slug}-p{number:07}"
        if form == 3:
            return f"{self._hosts[host]}/{section}/{slug}/{number}/"
        return f"{self._hosts[host]}/tag/{slug}-{number}"

    def _make_host(self, number: int) -> str:
        word = self._words[number * 7 % len(self._words)]
        suffix = ("com", "org", "de", "co.uk", "net", "fr", "com.br")[number % 7]
        return f"https://{'www.' if number % 3 else ''}{word}{number}.{suffix}"


def sample_ids(frontier: Frontier, options: argparse.Namespace, count: int, known: int) -> list[int]:
    """Ids of URLs all over the table."""
    random = Random(known)
    hosts = frontier.counts.hosts
    ids = (
        random.randrange(1, hosts + 1) << 26 | random.randrange(max(known // hosts // 3, 1)) for _ in range(count * 3)
    )
    return [url_id for url_id in ids if frontier.url_of(url_id)][:count]


def near(rows: list[dict[str, float]], urls: float) -> dict[str, float]:
    return min(rows, key=lambda row: abs(row["urls"] - urls))


def cpu_time() -> float:
    """User and system time of all threads: compaction counts."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def wait_for_merging() -> None:
    """Wait until RocksDB's threads have nothing to do: files that are being merged are there twice, and the threads share the
    machine's memory with the reads that follow."""
    for _ in range(60):
        before = cpu_time()
        time.sleep(1)
        if cpu_time() - before < 0.02:
            return


def rss_mb() -> float:
    return psutil.Process().memory_info().rss / MB


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=FULL_SIZE)
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("--peer-urls", type=int, default=2_000_000, help="how many the set and SQLite get")
    parser.add_argument("--dir", help="where to write; the system's temporary folder by default")
    return parser.parse_args()


if __name__ == "__main__":
    main()
