"""The second parser: the suites beside this file have the same passes with it, and real pages the same quads.

A process has one parser, so that they run in another.
"""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import rdfspider
from rdfspider.html_parser import PARSER_VARIABLE, SECOND_PARSER

SUITES = {
    "test_rdfa.py": 40,
    "test_microdata.py": 1,
    "test_microformats.py": 4,
    "test_jsonld.py::test_scripts_of_pages": 1,
}
# Each twelfth page; benchmarks/report_parsers.py compares all of them.
STEP = 12
EXTRACT = """
import gzip, json, sys
import rdfspider
from rdfspider.html_parser import IS_SECOND_PARSER
assert IS_SECOND_PARSER
for line in sys.stdin:
    file, url = json.loads(line)
    print(json.dumps(rdfspider.extract(gzip.open(file).read(), url).statements))
"""


@pytest.mark.usefixtures("suites")
def test_all_suites_have_the_same_passes(tmp_path: Path) -> None:
    here = Path(__file__).parent
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:xdist", "--override-ini", f"cache_dir={tmp_path}"]
    done = run([*command, *(str(here / suite) for suite in SUITES)])
    assert done.stdout.splitlines()[-1].startswith(f"{sum(SUITES.values())} passed"), done.stdout[-5_000:]


def test_real_pages_have_the_same_quads(corpus: Path) -> None:
    entries = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()][::STEP]
    pages = [(str(corpus / entry["file"]), entry["url"] or "http://example.org/") for entry in entries]
    done = run([sys.executable, "-c", EXTRACT], "".join(json.dumps(page) + "\n" for page in pages))
    found = [json.loads(line) for line in done.stdout.splitlines()]
    expected = [rdfspider.extract(gzip.decompress(Path(file).read_bytes()), url).statements for file, url in pages]
    assert len(pages) == 46
    assert sum(map(bool, expected)) > 30
    assert [url for (_, url), one, other in zip(pages, found, expected, strict=True) if one != other] == []


def run(command: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, PARSER_VARIABLE: SECOND_PARSER}
    return subprocess.run(command, input=text, env=environment, capture_output=True, text=True, timeout=600)
