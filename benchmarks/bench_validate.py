"""How much processor time validation takes for a page of the corpus of real pages, beside extraction.

    python benchmarks/bench_validate.py CORPUS [--rounds N]

Pages are extracted first, and then checked by each profile, several times; the best round counts, because other programs disturb.
The first round, which also loads the tables, is printed too. Source lines are measured apart: they are searched for only when
findings are shown.
"""

import argparse
import gzip
import json
import time
from collections.abc import Callable
from pathlib import Path

from rdfspider.config import ExtractConfig
from rdfspider.detect.content import detect_content
from rdfspider.extract.page import extract_page
from rdfspider.records import Extraction, Page
from rdfspider.validate.lines import add_lines
from rdfspider.validate.page import Validator
from rdfspider.validate.profiles import list_profiles, load_profile

MOST_MS = 0.5
"""What a page may take with the profile `schema`."""


def read_corpus(folder: Path) -> list[Page]:
    pages = []
    for number, line in enumerate((folder / "index.jsonl").read_text().splitlines()):
        row = json.loads(line)
        body = gzip.decompress((folder / row["file"]).read_bytes())
        pages.append(Page(row["url"] or f"https://corpus.example/{number}", body))
    return pages


def measure_ms(work: Callable[[], object], pages: int) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000 / pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    pages = read_corpus(given.corpus)
    config = ExtractConfig()
    contents = [detect_content(page, config.max_body_bytes) for page in pages]
    found: list[Extraction] = []
    extraction_ms = measure_ms(
        lambda: found.extend(
            extract_page(page, content, config) for page, content in zip(pages, contents, strict=True)
        ),
        len(pages),
    )
    print(f"{len(pages)} pages, {sum(one.to_nquads().count(chr(10)) for one in found):,} quads")
    print(f"extraction          {extraction_ms:7.3f} ms a page")
    for name in list_profiles():
        validator = Validator(load_profile(name))

        def check_all(validator: Validator = validator) -> int:
            return sum(len(validator.check(one.url, one.statements, one.problems)) for one in found)

        rounds = [measure_ms(check_all, len(pages)) for _ in range(given.rounds)]
        best = min(rounds)
        verdict = f"  (at most {MOST_MS}: {'reached' if best <= MOST_MS else 'MISSED'})" if name == "schema" else ""
        print(
            f"profile {name:<11} {best:7.3f} ms a page, {rounds[0]:.3f} the first time; {check_all():,} findings{verdict}"
        )
    validator = Validator(load_profile("google"))
    findings = [validator.check(one.url, one.statements, one.problems) for one in found]
    lines_ms = measure_ms(
        lambda: [add_lines(some, content.text) for some, content in zip(findings, contents, strict=True)], len(pages)
    )
    lined = [each for some, content in zip(findings, contents, strict=True) for each in add_lines(some, content.text)]
    known = sum(1 for each in lined if each.line)
    print(f"source lines        {lines_ms:7.3f} ms a page; known for {known / len(lined):.0%} of findings")


if __name__ == "__main__":
    main()
