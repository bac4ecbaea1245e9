"""Times rdfspider, extruct and turbohtml over real pages, one process each in the same run, and prints ratios.

    python benchmarks/bench_extract.py CORPUS [--pages N] [--rounds N]

CORPUS is a folder with `index.jsonl` and gzipped pages. rdfspider does everything: six syntaxes as checked quads, links,
title, language and main text; extruct its six syntaxes; turbohtml `parse(…).structured_data()`, which makes no triples and reads
no microformats, links or text. The first two take turns, and the best round counts for each, so that a busy machine
disturbs both; extruct, which is slow, has one round.
"""

import argparse
import gzip
import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TURNS = 3
Pages = list[tuple[bytes, str]]


def main() -> None:
    arguments = _arguments()
    if arguments.only:
        print(json.dumps(PEERS[arguments.only](_read(arguments.corpus, arguments.pages), arguments.rounds)))
        return
    results = {name: _run(name, arguments) for name in PEERS}
    for _ in range(TURNS - 1):
        for name in ("rdfspider", "turbohtml"):
            results[name] = min(results[name], _run(name, arguments), key=lambda result: result["ms"])
    ours, turbohtml, extruct = (results[name]["ms"] for name in ("rdfspider", "turbohtml", "extruct"))
    print(f"{results['rdfspider']['pages']} pages, best of {TURNS * arguments.rounds} rounds (extruct: one), ms a page")
    print(f"  rdfspider  {ours:8.3f}")
    print(f"  turbohtml  {turbohtml:8.3f}   rdfspider takes {ours / turbohtml:.2f} times that")
    print(f"  extruct    {extruct:8.3f}   rdfspider is {extruct / ours:.1f} times as fast")
    print(
        f"rdfspider gave {results['rdfspider']['quads']} quads and {results['rdfspider']['links']} links; its time by step:"
    )
    for step, ms in results["rdfspider"]["steps"].items():
        print(f"  {step:14} {ms:7.3f} ms")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--pages", type=int, default=None, help="only the first N pages")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=PEERS, help=argparse.SUPPRESS)
    return parser.parse_args()


def _run(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, str(arguments.corpus), "--only", name, "--rounds", str(arguments.rounds)]
    if arguments.pages:
        command += ["--pages", str(arguments.pages)]
    result: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return result


def _read(corpus: Path, limit: int | None) -> Pages:
    entries = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()]
    return [
        (gzip.decompress((corpus / entry["file"]).read_bytes()), entry["url"] or "http://example.org/")
        for entry in entries[:limit]
    ]


def _best(pages: Pages, rounds: int, read: Callable[[bytes, str], object]) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for body, url in pages:
            read(body, url)
        best = min(best, time.perf_counter() - start)
    return best / len(pages) * 1000


def bench_rdfspider(pages: Pages, rounds: int) -> dict[str, Any]:
    import rdfspider

    ms = _best(pages, rounds, lambda body, url: rdfspider.extract(body, url, "text/html"))
    found = [rdfspider.extract(body, url, "text/html") for body, url in pages]
    return {
        "pages": len(pages),
        "ms": ms,
        "quads": sum(extraction.to_nquads().count("\n") for extraction in found),
        "links": sum(len(extraction.links) for extraction in found),
        "steps": _time_steps(pages),
    }


def _time_steps(pages: Pages) -> dict[str, float]:
    """One round with a clock around each step; the clocks themselves cost a little."""
    import rdfspider
    from rdfspider import pipeline
    from rdfspider.extract import page

    spent: dict[str, float] = {}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - start

        return run

    pipeline.detect_content = timed("detect", pipeline.detect_content)  # type: ignore[assignment]
    for name in ("parse_html", "read_links", "read_metadata", "read_text"):
        setattr(page, name, timed(name, getattr(page, name)))
    page.HTML_SYNTAXES.update({name: timed(name, read) for name, read in page.HTML_SYNTAXES.items()})
    start = time.perf_counter()
    for body, url in pages:
        rdfspider.extract(body, url, "text/html")
    spent["other"] = time.perf_counter() - start - sum(spent.values())
    return {name: seconds / len(pages) * 1000 for name, seconds in spent.items()}


def bench_turbohtml(pages: Pages, rounds: int) -> dict[str, Any]:
    import turbohtml

    return {"ms": _best(pages, rounds, lambda body, url: turbohtml.parse(body).structured_data())}


def bench_extruct(pages: Pages, rounds: int) -> dict[str, Any]:
    import extruct

    logging.disable(logging.CRITICAL)

    def read(body: bytes, url: str) -> object:
        try:
            return extruct.extract(body, base_url=url, errors="ignore")
        except Exception:  # pages that it cannot decode or parse
            return None

    return {"ms": _best(pages, 1, read)}


PEERS = {"rdfspider": bench_rdfspider, "turbohtml": bench_turbohtml, "extruct": bench_extruct}

if __name__ == "__main__":
    main()
