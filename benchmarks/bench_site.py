"""Lets people use the site of a crawl that runs, and tells how long they wait and what it costs the crawl.

    python benchmarks/bench_site.py CORPUS [--users N] [--seconds S] [--turns N]

nginx must be there. The pages of CORPUS are served on hundreds of hosts as an endless web (`web.py`) and crawled at full speed,
with the index and the site, on all cores: that is as hard as it gets for the site. Users search, choose facets, turn pages, and
look at things and pages, with about two seconds to think after each answer. In turns there are none, and then all of them, for
a minute each, so that the crawl's rate with and without them is known of the same minutes. Whatever is not answered with 200 is
an error: what a result leads to is there, also while the crawl goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from urllib.parse import quote

from web import CorpusWeb

MOST_P95_S = 0.15
LEAST_RATE = 0.5
THINK_S = 2.0
# What people type: words that some pages have, words that many have, names of classes, a misspelling, nothing.
WORDS = "recipe news music price hotel review book film school city health car jobs phone summer garden coffee rezept"
FILTERS = ("", "", "", "type=Product", "type=Person", "type=Article", "lang=en", "syntax=jsonld", "kind=page")
# Without the part behind #, which browsers keep to themselves.
_LINK = re.compile(rb'href="(/(?:entity|page)\?[^"#]{1,500})["#]')
_NEXT = re.compile(rb'rel="next" href="(/search\?[^"]{1,500})"')


@dataclass
class Waits:
    """How long users have waited, by what they asked for, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    missing: Counter[str] = field(default_factory=Counter)
    """How often there was no such thing or page; these are errors, too."""
    errors: list[str] = field(default_factory=list)


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="bench-site-") as name:
        folder = Path(name)
        with CorpusWeb(arguments.corpus, folder / "web", arguments.hosts, deep=True) as web:
            crawl, port = _start(web, folder / "crawl")
            try:
                sys.exit(not asyncio.run(_measure(port, folder / "crawl", arguments)))
            finally:
                crawl.terminate()
                crawl.wait(60)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--hosts", type=int, default=150)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="of a turn, without users and then with all of them"
    )
    parser.add_argument("--turns", type=int, default=2, help="without and with users")
    parser.add_argument("--warm-up", type=float, default=20.0)
    return parser.parse_args()


def _start(web: CorpusWeb, folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """A crawl that does not end by itself, with its site; and the site's port."""
    errors = folder.with_suffix(".errors")
    process = web.start_crawl(folder, errors, "--serve")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if found := re.search(r"the site is at http://127\.0\.0\.1:(\d+)/", errors.read_text()):
            return process, int(found[1])
        time.sleep(0.1)
    sys.exit(f"the crawl does not start: {errors.read_text()}")


async def _measure(port: int, folder: Path, arguments: argparse.Namespace) -> bool:
    """All turns; whether all is as it should be."""
    await asyncio.sleep(arguments.warm_up)
    waits = Waits()
    alone, shared = [], []
    for _ in range(arguments.turns):
        alone.append(await _rate_during(folder, asyncio.sleep(arguments.seconds)))
        shared.append(await _rate_during(folder, _use_site(port, arguments.users, arguments.seconds, waits)))
    return _report(waits, sum(alone) / len(alone), sum(shared) / len(shared), arguments.users)


async def _rate_during(folder: Path, work: object) -> float:
    """Pages a second that the crawl fetches meanwhile."""
    before, started = _count_pages(folder), time.monotonic()
    await work  # type: ignore[misc]
    return (_count_pages(folder) - before) / (time.monotonic() - started)


def _count_pages(folder: Path) -> int:
    return int(json.loads((folder / "status.json").read_bytes())["totals"]["pages"])


async def _use_site(port: int, users: int, seconds: float, waits: Waits) -> None:
    deadline = time.monotonic() + seconds
    await asyncio.gather(*(_be_user(port, number, deadline, waits) for number in range(users)))


async def _be_user(port: int, number: int, deadline: float, waits: Waits) -> None:
    """One person with a browser that keeps its connection: searches, sometimes turns the page or follows a result."""
    choose = random.Random(number)
    await asyncio.sleep(choose.uniform(0, THINK_S))
    client = _Client(port)
    found: Sequence[bytes] = ()
    following: Sequence[bytes] = ()
    try:
        while time.monotonic() < deadline:
            dice = choose.random()
            if found and dice < 0.2:
                path = choose.choice(found).decode().replace("&amp;", "&")
            elif following and dice < 0.3:
                path = following[0].decode().replace("&amp;", "&")
            else:
                words = " ".join(choose.sample(WORDS.split(), choose.choice((1, 1, 2))))
                path = f"/search?q={quote(words)}&{choose.choice(FILTERS)}"
            kind = path.partition("?")[0]
            started = time.monotonic()
            try:
                status, body = await asyncio.wait_for(client.get(path), 30)
            except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
                waits.errors.append(f"{path}: {error!r}")
                continue
            waits.seconds[kind].append(time.monotonic() - started)
            waits.missing[kind] += status == 404
            if status != 200:
                waits.errors.append(f"{path}: {status}")
            found, following = _LINK.findall(body)[:20], _NEXT.findall(body)
            await asyncio.sleep(choose.uniform(0.5, 1.5) * THINK_S)
    finally:
        client.close()


class _Client:
    """Just enough of HTTP/1.1, so that the users cost the machine little."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writer: asyncio.StreamWriter | None = None

    async def get(self, path: str) -> tuple[int, bytes]:
        if self._writer is None or self._writer.is_closing() or self._reader.at_eof():
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nAccept: text/html\r\n\r\n"
        self._writer.write(head.encode())
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        length = next(int(line.partition(":")[2]) for line in lines if line.startswith("content-length:"))
        return int(lines[0].split()[1]), await self._reader.readexactly(length)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _report(waits: Waits, alone: float, shared: float, users: int) -> bool:
    print(f"{users} users with {THINK_S:g} s to think, while a crawl runs at full speed on the same machine")
    print(f"{'':10} {'answers':>8} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'max ms':>8} {'404':>6}")
    for kind, seconds in sorted(waits.seconds.items()):
        p50, p95, p99 = _cut(seconds)
        figures = "".join(f" {1000 * value:8.0f}" for value in (p50, p95, p99, max(seconds)))
        print(f"{kind:10} {len(seconds):8,}{figures} {waits.missing[kind]:6,}")
    p95 = _cut(waits.seconds["/search"])[1]
    checks = {
        f"p95 of search pages {1000 * p95:.0f} ms, at most {1000 * MOST_P95_S:.0f}": p95 <= MOST_P95_S,
        f"errors {len(waits.errors)}{f', the first: {waits.errors[0]}' if waits.errors else ''}": not waits.errors,
        f"crawl {shared:.1f} pages/s with users, {alone:.1f} without: {shared / alone:.2f}, at least {LEAST_RATE}": (
            shared >= LEAST_RATE * alone
        ),
    }
    for line, is_good in checks.items():
        print(f"{'as it should be' if is_good else 'MISSED':16} {line}")
    return all(checks.values())


def _cut(seconds: Sequence[float]) -> tuple[float, float, float]:
    parts = quantiles(seconds if len(seconds) > 1 else [*seconds] * 2, n=100)
    return parts[49], parts[94], parts[98]


if __name__ == "__main__":
    main()
