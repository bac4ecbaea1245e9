import functools
import gzip
import importlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rdfspider.archive.warc_file import Damage
from rdfspider.batch.sources import ArchivePart, FilesPart, Part, plan_parts
from rdfspider.batch.workers import PageResult, PartEnd, Work, run_parts
from rdfspider.config import ExtractConfig
from rdfspider.records import Problem
from rdfspider.validate.checks import Checks

URLS = [f"http://example.org/{number}" for number in range(12)]
LIMIT = ExtractConfig().max_body_bytes


def page(name: str) -> bytes:
    return f'<html><body><p itemscope itemtype="http://schema.org/Thing"><b itemprop=name>{name}</b></p>'.encode()


@pytest.fixture
def archive(tmp_path: Path, make_record: Callable[..., bytes]) -> Path:
    path = tmp_path / "pages.warc.gz"
    path.write_bytes(b"".join(gzip.compress(make_record(url, page(url))) for url in URLS))
    return path


def run(parts: list[Part], jobs: int, work: Work | None = None) -> list[PageResult | Damage]:
    items = list(run_parts(parts, work or Work(ExtractConfig()), jobs))
    assert sum(isinstance(item, PartEnd) for item in items) == len(parts)
    return [item for item in items if not isinstance(item, PartEnd)]


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("part_bytes", [100, 1000, 1_000_000])
def test_order_is_that_of_the_input(archive: Path, jobs: int, part_bytes: int) -> None:
    outcomes = run(plan_parts([str(archive)], limit=LIMIT, part_bytes=part_bytes), jobs)
    assert [outcome.url for outcome in outcomes if isinstance(outcome, PageResult)] == URLS
    assert all(isinstance(outcome, PageResult) and outcome.quads == {"microdata": 2} for outcome in outcomes)


def test_a_record_inside_another_is_no_page(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    """Parts begin with the first record that is found; one in the body of another, as it stands there, is not meant."""
    inner = gzip.compress(make_record("http://example.org/inner", page("inner")))
    outer = gzip.compress(make_record("http://example.org/outer", inner * 20), compresslevel=0)
    assert inner in outer
    last = gzip.compress(make_record(URLS[1], page("last")))
    path = tmp_path / "pages.warc.gz"
    path.write_bytes(gzip.compress(make_record(URLS[0], page("first"))) + outer + last)
    outcomes = run(plan_parts([str(path)], limit=LIMIT, part_bytes=700), 2)
    found = [outcome.url for outcome in outcomes if isinstance(outcome, PageResult)]
    assert found == [URLS[0], "http://example.org/outer", URLS[1]]


def test_damage_is_met_once_however_the_archive_is_split(archive: Path) -> None:
    content = bytearray(archive.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 10] = b"\xff" * 10
    archive.write_bytes(content)
    whole = run(plan_parts([str(archive)], limit=LIMIT), 1)
    assert sum(isinstance(item, Damage) for item in whole) == 1
    for part_bytes in (100, 333, 1000):
        assert run(plan_parts([str(archive)], limit=LIMIT, part_bytes=part_bytes), 2) == whole, part_bytes


def test_a_page_that_kills_its_process_costs_only_itself(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    fatal = b'<script type="application/ld+json">{"@context": "http://example.org/c", "a": "b"}</script>'
    bodies = [page(url) if number not in (3, 4) else fatal for number, url in enumerate(URLS)]
    path = tmp_path / "pages.warc"
    path.write_bytes(b"".join(make_record(url, body) for url, body in zip(URLS, bodies, strict=True)))
    # The worker asks for the context, and becomes another program that ends at once.
    config = ExtractConfig(documents=functools.partial(os.execlp, "false"))
    outcomes = run(plan_parts([str(path)], limit=LIMIT), 1, Work(config, checks=Checks("schema")))
    again = "read again by another parser: the process that read it ended with exit status 1"
    died = Problem("process-died", f"the process that read this page died; {again}")
    assert [outcome.url for outcome in outcomes if isinstance(outcome, PageResult)] == URLS
    assert [item.url for item in outcomes if isinstance(item, PageResult) and died in item.problems] == URLS[3:5]
    assert [item.url for item in outcomes if isinstance(item, PageResult) and item.findings] == URLS[3:5], "never good"
    assert sum(isinstance(item, PageResult) and item.quads == {"microdata": 2} for item in outcomes) == 10


def test_a_page_that_kills_its_parser_is_read_by_the_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_record: Callable[..., bytes]
) -> None:
    (tmp_path / "crashing_documents.py").write_text(
        "import os, sys\n"
        "def crash_with_turbohtml(url):\n"
        "    if 'turbohtml' in sys.modules:\n"
        "        os.abort()\n"
        '    return b\'{"@context": {"@vocab": "http://example.org/v/"}}\'\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    config = ExtractConfig(documents=importlib.import_module("crashing_documents").crash_with_turbohtml)
    fatal = b'<script type="application/ld+json">{"@context": "http://example.org/c", "a": "b"}</script>'
    path = tmp_path / "pages.warc"
    path.write_bytes(b"".join(make_record(url, fatal if url == URLS[1] else page(url)) for url in URLS[:3]))
    first, second, third = run(plan_parts([str(path)], limit=LIMIT), 1, Work(config))
    assert isinstance(first, PageResult) and isinstance(second, PageResult) and isinstance(third, PageResult)
    assert second.quads == {"jsonld": 1} and b"<http://example.org/v/a>" in second.fragment
    because = "read by justhtml, because at first the process that read this page died"
    assert second.problems == (Problem("second-parser", because),)
    assert first.problems == third.problems == ()


def test_files_that_vanish_are_damage(tmp_path: Path) -> None:
    files = tuple((str(tmp_path / name), f"http://example.org/{name}") for name in ("a.html", "b.html"))
    (tmp_path / "b.html").write_bytes(page("b"))
    gone = ArchivePart(str(tmp_path / "gone.warc"), 0, 1000, exact=True)
    first, second, third = run([FilesPart(files, None, 100), gone], 2)
    assert first == Damage(files[0][0], 0, "No such file or directory")
    assert isinstance(second, PageResult)
    assert second.url == files[1][1]
    assert isinstance(third, Damage)


def test_fragments_and_counts_are_made_where_pages_are_read(archive: Path) -> None:
    work = Work(ExtractConfig(), file_format="turtle", counts=True)
    outcome = run(plan_parts([str(archive)], limit=LIMIT), 1, work)[0]
    assert isinstance(outcome, PageResult)
    assert b"a schema:Thing" in outcome.fragment
    assert outcome.counts is not None
    assert outcome.counts.types == {"http://schema.org/Thing": 1}
    assert outcome.counts.properties == {"http://schema.org/name": 1}


def test_workers_end_with_the_run(archive: Path) -> None:
    parts = plan_parts([str(archive)], limit=LIMIT, part_bytes=100)
    items = run_parts(parts, Work(ExtractConfig()), 2)
    next(items)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    items.close()  # type: ignore[attr-defined]
    # Only the fork server may be left, which serves the next run.
    if children.exists():
        for child in children.read_text().split():
            assert not Path(f"/proc/{child}/task/{child}/children").read_text().split()
