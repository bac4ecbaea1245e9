"""Compares the answers of two checkouts about one crawl: searches with facets, SPARQL, entities, tables of things and exports.

    python benchmarks/compare_answers.py CRAWL BEFORE AFTER [--questions N] [--seed N]

CRAWL is the folder of a crawl; each checkout makes the index of it again, in a copy. Both run with this interpreter and its
libraries. The questions are made from the names in the crawl by a seed: whole names, some of their words, beginnings, misspelt
words, with and without filters. It says how many answers of each kind are equal, and shows the first that differ; then it exits
with 1. Searches that find the same, with the same facets, but whose first ten results are others or in another order are counted
apart: documents that were replaced count in scores until they are merged away, so two indexes of the same pages differ a little.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from bench_pair import make_environment

_SHOWN = 5
_NAMES = "SELECT DISTINCT ?name ?class { ?s schema:name ?name ; a ?class } ORDER BY ?name ?class"
_QUERIES = (
    "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n) ?p",
    "SELECT ?c (COUNT(DISTINCT ?s) AS ?n) { ?s a ?c } GROUP BY ?c ORDER BY DESC(?n) ?c",
    "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } FILTER(!STRSTARTS(STR(?g), 'urn:rdfspider:')) } GROUP BY ?g ORDER BY ?g",
    "SELECT ?name ?price { ?s schema:name ?name ; schema:offers/schema:price ?price } ORDER BY ?name ?price",
    "SELECT ?a ?b { GRAPH <urn:rdfspider:same> { ?a owl:sameAs ?b } } ORDER BY ?a ?b",
)
# A process that answers the questions that it reads, a line each.
_ANSWER = """
import hashlib, json, sys
from dataclasses import asdict
from rdfspider import Crawl
crawl = Crawl.open(sys.argv[1])
for line in sys.stdin:
    kind, text, flags = json.loads(line)
    if kind == "search":
        hits = crawl.search(text, facets=True, **flags)
        found = [[hit.id, hit.label, hit.role, hit.sources, str(hit.snippet), hit.facts, hit.in_links] for hit in hits]
        answer = [hits.total, found, [asdict(facet) for facet in hits.facets]]
    elif kind == "query":
        answer = [list(map(str, row)) for row in crawl.query(text)]
    elif kind == "entity":
        answer = repr(crawl.entity(text))
    elif kind == "things":
        answer = crawl.things(text).rows
    elif kind == "export":
        answer = hashlib.sha256("\\n".join(sorted(map(str, crawl.quads()))).encode()).hexdigest()
    print(json.dumps(answer, default=str, sort_keys=True), flush=True)
"""
Question = tuple[str, str, dict[str, Any]]


class Side:
    """A checkout, with an index of its own, that answers questions."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        words = [sys.executable, "-m", "rdfspider", "index", "--dir", str(folder), "--rebuild"]
        subprocess.run(words, env=make_environment(checkout), check=True, capture_output=True)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _ANSWER, str(folder)],
            env=make_environment(checkout),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, question: Question) -> Any:
        """Answer one question."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{question}: no answer")
        return json.loads(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("crawl", type=Path)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="compare-answers-") as name:
        sides = []
        for side, checkout in (("before", arguments.before), ("after", arguments.after)):
            folder = Path(name) / side
            shutil.copytree(arguments.crawl, folder, ignore=lambda path, names: {"index"} & {*names})
            sides.append(Side(checkout.resolve(), folder))
        names = sides[0].ask(("query", _NAMES, {}))
        questions = make_questions(names, arguments.questions, Random(arguments.seed))
        questions += [("query", text, {}) for text in _QUERIES] + [("export", "", {})]
        equal, asked, moved = Counter[str](), Counter[str](), Counter[str]()
        for question in questions:
            before, after = (side.ask(question) for side in sides)
            if question[0] == "search" and before[1] and before[1][0][2] != "page":
                # What comes first is looked at, too.
                questions.append(("entity", before[1][0][0], {}))
            kind = question[0]
            asked[kind] += 1
            if before == after:
                equal[kind] += 1
            elif kind == "search" and before[::2] == after[::2]:
                moved[kind] += 1
            elif asked[kind] - equal[kind] - moved[kind] <= _SHOWN:
                _show(question, str(before), str(after))
    for kind, count in asked.items():
        print(f"{kind:8} {equal[kind]:4} of {count} equal, {moved[kind]} found the same in another order")
    sys.exit(equal + moved != asked)


def _show(question: Question, before: str, after: str) -> None:
    """Print two answers where they begin to differ."""
    start = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
    print(f"differs: {question}")
    for name, answer in (("before", before), ("after", after)):
        print(f"  {name:6} …{answer[max(0, start - 200) : start + 200]}…")


def make_questions(names: list[list[str]], count: int, chance: Random) -> list[Question]:
    """Questions of all kinds, made from names with their classes."""
    found: list[Question] = []
    for name, type_ in (chance.choice(names) for _ in range(count)):
        words = name.strip('"').split() or ["tea"]
        word = chance.choice(words)
        some = " ".join(chance.sample(words, min(len(words), 2)))
        cut = chance.randrange(len(word))
        texts = (" ".join(words), some, word, f"{word[:4]}*", f"name:{word}", word[:cut] + word[cut + 1 :])
        class_name = type_.strip("<>")
        filters = chance.choice(({}, {}, {"type": class_name}, {"kind": "page"}, {"kind": "entity"}))
        found.append(("search", chance.choice(texts).replace('"', ""), filters))
    for name, _ in chance.sample(names, min(len(names), count // 4)):
        found.append(("search", name.strip('"').replace('"', ""), {"explain": False}))
    for _, type_ in chance.sample(names, min(len(names), 5)):
        found.append(("things", type_.strip("<>"), {}))
    return found


if __name__ == "__main__":
    main()
