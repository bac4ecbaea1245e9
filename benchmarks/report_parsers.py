"""Compares the two parsers of HTML on real pages: on how many of them statements, problems, links, metadata and text are equal.

    python benchmarks/report_parsers.py CORPUS [--show N]

Both extract every page of CORPUS, each in a process of its own, because a process has one parser. Prints the processor time of
both, and the first difference of the first N pages (3) whose statements differ.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

PARTS = ("statements", "problems", "links", "metadata", "text")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--extract", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.extract:
        _extract(arguments.corpus)
        return
    (first, first_s), (second, second_s) = (_run(arguments.corpus, parser) for parser in ("turbohtml", "justhtml"))
    equal = Counter(
        part for one, other in zip(first, second, strict=True) for part in PARTS if one[part] == other[part]
    )
    print(f"{len(first)} pages; equal are " + ", ".join(f"{part} of {equal[part]}" for part in PARTS))
    print(f"turbohtml {first_s:.2f} s, justhtml {second_s:.2f} s: {second_s / first_s:.1f} times as long")
    differing = [pair for pair in zip(first, second, strict=True) if pair[0]["statements"] != pair[1]["statements"]]
    for one, other in differing[: arguments.show]:
        lines = (set("".join(page["statements"].values()).splitlines()) for page in (one, other))
        mine, theirs = lines
        print(one["url"], *(f"  turbohtml only: {line[:200]}" for line in sorted(mine - theirs)[:1]), sep="\n")
        print(*(f"  justhtml only:  {line[:200]}" for line in sorted(theirs - mine)[:1]), sep="\n")


def _run(corpus: Path, parser: str) -> tuple[list[dict[str, Any]], float]:
    command = [sys.executable, __file__, str(corpus), "--extract"]
    environment = {**os.environ, "RDFSPIDER_PARSER": parser}
    *pages, seconds = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    return [json.loads(page) for page in pages], float(seconds)


def _extract(corpus: Path) -> None:
    from rdfspider import extract

    seconds = 0.0
    for line in (corpus / "index.jsonl").read_text().splitlines():
        entry = json.loads(line)
        body, url = gzip.decompress((corpus / entry["file"]).read_bytes()), entry["url"] or "http://example.org/"
        started = time.process_time()
        found = extract(body, url)
        seconds += time.process_time() - started
        parts = (
            found.statements,
            found.problems,
            found.links,
            (found.title, found.language, found.canonical),
            found.text,
        )
        print(json.dumps({"url": url, **dict(zip(PARTS, parts, strict=True))}, default=str))
    print(seconds)


if __name__ == "__main__":
    main()
