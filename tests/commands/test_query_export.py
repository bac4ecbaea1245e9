"""`rdfspider export`: which file comes of it, and what it says of mistakes, full disks and interrupts."""

import bz2
import gzip
import json
import lzma
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from pyoxigraph import BlankNode, RdfFormat, parse
from tests.conftest import Run

from disks import mount_disk
from indexed import index_pages
from rdfspider import Crawl
from waiting import PATIENCE_S

PAGES = {
    "https://one.example/": {
        "@context": "https://schema.org",
        "@type": "Person",
        "name": "Ada",
        "address": {"@type": "PostalAddress", "addressLocality": "London"},
    },
    "https://one.example/b": {"@context": "https://schema.org", "@type": "Book", "name": "Notes"},
    "https://www.two.example/": '<p vocab="http://xmlns.com/foaf/0.1/" typeof="Person"><b property="name">Bob</b>',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_pages(tmp_path_factory.mktemp("export") / "crawl", PAGES).folder


def test_stdout_has_all_pages_as_nquads(run: Run, folder: Path) -> None:
    code, out, err = run("export", "--dir", folder)
    assert (code, err) == (0, "")
    quads = list(parse(out.encode(), RdfFormat.N_QUADS))
    assert {quad.graph_name.value for quad in quads} == set(PAGES)
    assert sum(isinstance(quad.subject, BlankNode) for quad in quads) >= 7
    assert "genid:" not in out
    assert set(Crawl.open(folder).quads()) == set(quads)


def test_filters(run: Run, folder: Path) -> None:
    _, out, _ = run("export", "--dir", folder, "--type", "schema:Person", "--format", "jsonl")
    (thing,) = map(json.loads, out.splitlines())
    assert thing["page"] == "https://one.example/"
    (address,) = thing["properties"]["http://schema.org/address"]
    assert address["properties"] == {"http://schema.org/addressLocality": [{"value": "London"}]}
    _, out, _ = run("export", "--dir", folder, "--ontology", "foaf")
    assert out.count("\n") == 2
    _, out, _ = run("export", "--dir", folder, "--site", "one.example", "--type", "Person", "--type", "Book")
    assert {quad.graph_name.value for quad in parse(out.encode(), RdfFormat.N_QUADS)} == set(list(PAGES)[:2])
    code, out, err = run("export", "--dir", folder, "--site", "two.example", "--type", "Book")
    assert (code, out, err) == (0, "", "rdfspider: no page says anything like that\n")


def read_zstd(data: bytes) -> bytes:
    found: bytes = pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd").read()
    return found


@pytest.mark.parametrize(
    ("ending", "read"),
    [
        ("nq", bytes),
        ("nq.gz", gzip.decompress),
        ("nquads.bz2", bz2.decompress),
        ("nq.xz", lzma.decompress),
        ("NQ.ZST", read_zstd),
    ],
)
def test_the_ending_says_format_and_compression(
    run: Run, folder: Path, tmp_path: Path, ending: str, read: Callable[[bytes], bytes]
) -> None:
    _, plain, _ = run("export", "--dir", folder)
    path = tmp_path / f"out.{ending}"
    code, out, err = run("export", "--dir", folder, "--output", path)
    assert (code, out) == (0, "")
    assert err == f"rdfspider: {path}: {plain.count(chr(10))} quads of 3 pages\n"
    assert read(path.read_bytes()).decode() == plain
    assert list(tmp_path.iterdir()) == [path]


def test_other_formats(run: Run, folder: Path, tmp_path: Path) -> None:
    _, plain, _ = run("export", "--dir", folder)
    quads = set(parse(plain.encode(), RdfFormat.N_QUADS))
    for name in ("out.trig", "out.parquet", "out.jsonl.gz"):
        assert run("export", "--dir", folder, "-o", tmp_path / name)[0] == 0
    assert set(parse((tmp_path / "out.trig").read_bytes(), RdfFormat.TRIG)) == quads
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.num_rows == len(quads)
    assert min(table["fetched"].to_pylist()).isoformat() == "2025-06-15T15:06:40+00:00"
    things = [json.loads(line) for line in gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()).splitlines()]
    assert {thing["page"] for thing in things} == set(PAGES)
    assert run("export", "--dir", folder, "--format", "nquads", "-o", tmp_path / "any.name")[0] == 0
    assert (tmp_path / "any.name").read_text() == plain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out.txt"], "its ending tells no format; name one with --format"),
        (["-o", "out.nq.zip"], ".zip cannot be written; compress with one of .gz, .bz2, .xz, .zst"),
        (["-o", "out.parquet.gz"], "parquet is compressed inside; leave .gz out"),
        (["-o", "missing/out.nq"], "it cannot be written (No such file or directory)"),
        (["-o", ".", "--format", "trig"], "it is a folder; name a file"),
        (["--format", "xml"], "--format"),
        (["--type", "Persn"], "did you mean schema:Person"),
        (["--ontology", "foaff"], "did you mean foaf?"),
        (["--site", "a b"], "is no site"),
        (["--site", "nowhere.test"], "no page of nowhere.test is indexed"),
        (["--type", "\udcff"], "no page uses a class that is called '?'"),
    ],
)
def test_mistakes_are_one_line(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run("export", "--dir", folder, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some megabytes that do not compress well."""
    names = [os.urandom(500).hex() for _ in range(60)]
    page = {"@context": "https://schema.org", "@type": "Thing", "name": names}
    pages = {f"https://large.example/{at}": page | {"url": f"https://large.example/{at}"} for at in range(60)}
    return index_pages(tmp_path_factory.mktemp("large") / "crawl", pages).folder


@pytest.mark.parametrize("ending", ["nq", "nq.gz", "nq.bz2", "nq.xz", "nq.zst", "parquet", "jsonl"])
def test_a_full_disk_is_one_line_and_leaves_no_file(run: Run, large: Path, tmp_path: Path, ending: str) -> None:
    with mount_disk(tmp_path / "disk", 16_384) as disk:
        code, out, err = run("export", "--dir", large, "-o", disk / f"out.{ending}")
        assert (code, out) == (1, "")
        assert err == f"rdfspider: {disk / f'out.{ending}'} could not be written: No space left on device\n"
        assert not list(disk.iterdir())


def test_what_was_there_stays_until_the_new_file_is_whole(run: Run, large: Path, tmp_path: Path) -> None:
    with mount_disk(tmp_path / "disk", 65_536) as disk:
        (disk / "out.nq").write_text("old")
        assert run("export", "--dir", large, "-o", disk / "out.nq")[0] == 1
        assert (disk / "out.nq").read_text() == "old"


def test_an_interrupt_leaves_no_half_file(large: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.nq.xz"
    command = [sys.executable, "-m", "rdfspider", "export", "--dir", large, "-o", path]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        while not list(tmp_path.iterdir()) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (130, b"rdfspider: interrupted\n")
    assert not list(tmp_path.iterdir())


def test_a_reader_that_leaves_ends_it(large: Path) -> None:
    command = f"{sys.executable} -m rdfspider export --dir {large} | head -c 100 | wc -c; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert (done.stdout.split(), done.stderr) == (["100", "141"], "")


def test_a_terminal_sees_a_bar_and_refuses_parquet(folder: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    base = [sys.executable, "-m", "rdfspider", "export", "--dir", folder]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    subprocess.run([*base, "-o", tmp_path / "out.nq"], stderr=theirs, env=environment, check=True, timeout=120)
    shown = b""
    # A terminal hands on what was written in pieces.
    while b"3 pages" not in shown:
        assert select.select([ours], [], [], PATIENCE_S)[0], shown
        shown += os.read(ours, 65_536)
    done = subprocess.run(
        [*base, "--format", "parquet"], stdout=theirs, stderr=subprocess.PIPE, env=environment, timeout=120
    )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"parquet is not for a terminal" in done.stderr
    os.close(theirs)
    os.close(ours)
