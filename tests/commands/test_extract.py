"""`rdfspider extract` as a person types it."""

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet
import pytest
from tests.conftest import Run

from rdfspider.formats import COLUMNS, to_quads
from rdfspider.linked_documents import KeptDocuments
from waiting import wait_until

BOOK = b'<html><body><p itemscope itemtype="http://schema.org/Book"><b itemprop=name>%s</b><a itemprop=url href=x>x</a></p>'
BROKEN = b'<html><script type="application/ld+json">{"@type": </script>'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pages in folders, one of them compressed, one hidden."""
    (tmp_path / "pages/deep").mkdir(parents=True)
    (tmp_path / "pages/b.html").write_bytes(BOOK % b"B")
    (tmp_path / "pages/a page.html").write_bytes(BOOK % b"A")
    (tmp_path / "pages/deep/c.html.gz").write_bytes(gzip.compress(BOOK % b"C"))
    (tmp_path / "pages/.hidden.html").write_bytes(BOOK % b"H")
    return tmp_path / "pages"


def start(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
    """Starts the command line as a process of its own."""
    command = [sys.executable, "-c", "from rdfspider.cli import main; main()", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload,no-any-return]


def graphs(nquads: str) -> list[str]:
    return list(dict.fromkeys(str(quad.graph_name)[1:-1] for quad in to_quads(nquads)))


def test_a_file_as_nquads(run: Run, folder: Path) -> None:
    code, out, err = run("extract", folder / "b.html", "--base", "http://example.org/b")
    assert (code, err) == (0, "")
    assert '<http://schema.org/name> "B" <http://example.org/b> .\n' in out
    assert "<http://schema.org/url> <http://example.org/x> <http://example.org/b> .\n" in out
    assert len(to_quads(out)) == 3


def test_without_a_base_pages_are_file_urls(run: Run, folder: Path) -> None:
    _, out, _ = run("extract", folder / "a page.html")
    assert graphs(out) == [(folder / "a page.html").as_uri()]


def test_a_folder_is_read_in_order_and_in_depth(run: Run, folder: Path) -> None:
    _, out, _ = run("extract", folder, "--base", "http://example.org/")
    base = "http://example.org/"
    assert graphs(out) == [f"{base}a%20page.html", f"{base}b.html", f"{base}deep/c.html.gz"]


def test_patterns(run: Run, folder: Path) -> None:
    assert len(graphs(run("extract", folder / "*.html")[1])) == 2
    assert len(graphs(run("extract", folder / "**/*.html*")[1])) == 3


def test_stdin(folder: Path) -> None:
    with (folder / "b.html").open("rb") as page, start("extract", "-", stdin=page) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert graphs(out.decode()) == ["file:///dev/stdin"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_archive_and_files_in_the_order_named(
    run: Run, folder: Path, make_record: Callable[..., bytes], jobs: int
) -> None:
    archive = folder.parent / "a.warc.gz"
    archive.write_bytes(b"".join(gzip.compress(make_record(f"http://e.org/{n}", BOOK % b"x")) for n in range(5)))
    code, out, _ = run("extract", folder / "b.html", archive, folder / "a page.html", "--jobs", jobs)
    expected = [
        (folder / "b.html").as_uri(),
        *(f"http://e.org/{n}" for n in range(5)),
        (folder / "a page.html").as_uri(),
    ]
    assert (code, graphs(out)) == (0, expected)


def test_a_damaged_record_is_reported_and_skipped(run: Run, tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    members = [gzip.compress(make_record(f"http://e.org/{n}", BOOK % b"x")) for n in range(3)]
    members[1] = members[1][:60] + b"\xff" * 30 + members[1][90:]
    archive = tmp_path / "a.warc.gz"
    archive.write_bytes(b"".join(members))
    code, out, err = run("extract", archive)
    assert (code, graphs(out)) == (0, ["http://e.org/0", "http://e.org/2"])
    lines = err.splitlines()
    assert lines[0].startswith(f"rdfspider: {archive}: skipped at byte {len(members[0])}: ")
    assert lines[1:] == ["rdfspider: 1 record skipped"]


@pytest.mark.parametrize(("name", "start_text"), [("turtle", "@prefix"), ("trig", "@prefix"), ("jsonld", "[{")])
def test_formats(run: Run, folder: Path, name: str, start_text: str) -> None:
    code, out, _ = run("extract", folder, "--format", name)
    assert code == 0
    assert out.startswith(start_text)
    assert out.count("Book") == 3
    if name == "jsonld":
        assert len(json.loads(out)) == 3


def test_parquet_is_a_table_of_quads(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "quads.parquet"
    assert run("extract", folder, "--output", output) == (0, "", "")
    table = pyarrow.parquet.read_table(output)
    assert tuple(table.column_names) == COLUMNS
    assert table.column("object").to_pylist().count("http://schema.org/Book") == 3
    assert set(table.column("syntax").to_pylist()) == {"microdata"}
    assert pyarrow.parquet.ParquetFile(output).metadata.row_group(0).column(0).compression == "ZSTD"


def test_parquet_into_a_pipe(folder: Path) -> None:
    with start("extract", folder, "--format", "parquet") as process:
        out, _ = process.communicate(timeout=60)
    assert pyarrow.parquet.read_table(pyarrow.BufferReader(out)).num_rows == 9


def test_parquet_is_not_for_a_terminal(folder: Path) -> None:
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-c",
        "from rdfspider.cli import main; main()",
        "extract",
        str(folder),
        "--format=parquet",
    ]
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 2
    assert b"parquet is not for a terminal" in done.stderr


def test_an_output_appears_only_when_it_is_whole(run: Run, folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out" / "quads.nq"
    output.parent.mkdir()
    output.write_text("before")
    rubbish = tmp_path / "not.warc"
    rubbish.write_bytes(b"rubbish")
    assert run("extract", folder, rubbish, "--output", output)[0] == 2
    assert output.read_text() == "before"
    assert run("extract", folder, "--output", output) == (0, "", "")
    assert len(to_quads(output.read_text())) == 9
    assert list(output.parent.iterdir()) == [output]


def test_an_archive_that_is_none_costs_a_folder_nothing_else(run: Run, folder: Path) -> None:
    (folder / "not.warc").write_bytes(b"rubbish")
    code, out, err = run("extract", folder)
    assert (code, len(to_quads(out))) == (0, 9)
    assert err.splitlines()[0].endswith("not.warc: skipped at byte 0: no WARC record in it")


def test_an_output_that_cannot_be_meant_is_refused(run: Run, folder: Path, tmp_path: Path) -> None:
    page = folder / "b.html"
    before = page.read_bytes()
    assert run("extract", page, "--output", page) == (2, "", f"rdfspider: --output {page}: it is one of the sources\n")
    assert page.read_bytes() == before
    assert run("extract", page, "--output", tmp_path / "x.nq.gz")[0] == 2
    code, _, err = run("extract", page, "--output", tmp_path / "x.csv")
    assert (code, "its ending tells no format; name one with --format: nquads, turtle" in err) == (2, True)
    assert not (tmp_path / "x.csv").exists()
    assert run("extract", page, "--output", tmp_path / "x.data", "--format", "nquads")[0] == 0
    assert len(to_quads(run("extract", page, "--output", "-")[1])) == 3


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--syntax", ","], "no syntax is named"),
        (["--base", "http://"], "not an absolute URL"),
        (["--base", "mailto:a@b.org"], "not an absolute URL"),
    ],
)
def test_wrong_values_get_one_line(run: Run, folder: Path, arguments: list[str], complaint: str) -> None:
    code, out, err = run("extract", folder, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert complaint in err


def test_what_is_on_request_can_be_asked_for_by_name(run: Run, folder: Path) -> None:
    named = run("extract", folder, "--syntax", "page")[1]
    assert named == run("extract", folder, "--syntax", "page", "--about-page")[1]
    assert "http://xmlns.com/foaf/0.1/Document" in named
    assert "foaf" in run("extract", folder, "--syntax", "microdata", "--about-page")[1]


def test_closed_stdin_gets_one_line(folder: Path) -> None:
    code = "import sys; sys.stdin = None; from rdfspider.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "extract", "-"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "rdfspider: stdin (-) is closed\n")


def test_an_archive_on_stdin_gets_one_line(folder: Path) -> None:
    with start("extract", "-", stdin=subprocess.PIPE) as process:
        out, err = process.communicate(gzip.compress(b"WARC/1.0"))
    assert (process.returncode, out, err.count(b"\n")) == (2, b"", 1)


def test_sigterm_leaves_nothing_behind(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    archive = tmp_path / "in" / "a.warc"
    archive.parent.mkdir()
    archive.write_bytes(b"".join(make_record(f"http://e.org/{n}", BOOK % b"x" + b"<p>" * 20_000) for n in range(1000)))
    output = tmp_path / "out" / "a.nq"
    output.parent.mkdir()
    with start("extract", archive, "--output", output, "--jobs", "1") as process:
        wait_until(lambda: list(output.parent.iterdir()))
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    assert process.returncode == 128 + signal.SIGTERM
    assert list(output.parent.iterdir()) == []


def test_syntaxes_are_chosen(run: Run, folder: Path) -> None:
    assert run("extract", folder, "--syntax", "rdfa,jsonld")[1] == ""
    assert run("extract", folder, "--syntax", "rdfa", "--syntax", "microdata")[1] != ""


def test_statistics_alone(run: Run, folder: Path) -> None:
    (folder / "broken.html").write_bytes(BROKEN)
    code, out, err = run("extract", folder, "--stats")
    assert (code, err) == (0, "")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line}
    problems = rows["jsonld"][2]
    assert int(problems) > 0
    assert rows["jsonld"] == ["0", "0", problems]
    assert rows["microdata"] == ["3", "9", "0"]
    assert rows["all"] == ["4", "9", problems]
    assert rows["http://schema.org/Book"] == rows["http://schema.org/name"] == ["3"]


def test_statistics_beside_data(run: Run, folder: Path, tmp_path: Path) -> None:
    _, out, err = run("extract", folder, "--stats", "--format", "nquads")
    assert len(to_quads(out)) == 9
    assert "http://schema.org/Book" in err
    _, out, err = run("extract", folder, "--stats", "--output", tmp_path / "out.nq")
    assert "http://schema.org/Book" in out
    assert err == ""


def test_problems_are_listed(run: Run, folder: Path) -> None:
    (folder / "broken.html").write_bytes(BROKEN)
    code, out, err = run("extract", folder, "--problems")
    assert (code, len(to_quads(out))) == (0, 9)
    for line in err.splitlines():
        url, syntax, problem_code, count, message = line.split("\t")
        assert (url, syntax, count) == ((folder / "broken.html").as_uri(), "jsonld", "1")
        assert problem_code
        assert message
    assert err


def test_documents_come_from_a_folder(run: Run, tmp_path: Path) -> None:
    (tmp_path / "documents/example.org").mkdir(parents=True)
    context = {"@context": {"label": "http://example.org/vocabulary#label"}}
    (tmp_path / "documents/example.org/context.jsonld").write_text(json.dumps(context))
    page = tmp_path / "page.html"
    page.write_text(
        '<script type="application/ld+json">{"@context": "https://example.org/context", "label": "x"}</script>'
    )
    assert run("extract", page)[1] == ""
    assert "<http://example.org/vocabulary#label>" in run("extract", page, "--documents", tmp_path / "documents")[1]


def test_documents_come_from_a_crawl(run: Run, tmp_path: Path) -> None:
    context = {"@context": {"label": "http://example.org/vocabulary#label"}}
    KeptDocuments(tmp_path / "documents").keep("https://example.org/context", json.dumps(context).encode())
    page = tmp_path / "page.html"
    page.write_text(
        '<script type="application/ld+json">{"@context": "https://example.org/context", "label": "x"}</script>'
    )
    assert "<http://example.org/vocabulary#label>" in run("extract", page, "--documents", tmp_path / "documents")[1]


def test_a_closed_pipe_ends_it_quietly(folder: Path, make_record: Callable[..., bytes]) -> None:
    archive = folder / "a.warc"
    archive.write_bytes(b"".join(make_record(f"http://e.org/{n}", BOOK % (b"x" * 9000)) for n in range(500)))
    with start("extract", archive) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 128 + signal.SIGPIPE


def test_an_interrupt_ends_it_with_one_line(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    archive = tmp_path / "a.warc"
    archive.write_bytes(b"".join(make_record(f"http://e.org/{n}", BOOK % b"x") for n in range(30_000)))
    output = tmp_path / "out.nq"
    with start("extract", archive, "--output", output, start_new_session=True) as process:
        wait_until(lambda: any(path.stat().st_size for path in tmp_path.glob(".out.nq.*")))
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"rdfspider: interrupted\n")
    assert list(tmp_path.iterdir()) == [archive]
