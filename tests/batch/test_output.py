import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pyoxigraph
import pytest
from pyoxigraph import RdfFormat

from rdfspider import formats
from rdfspider.batch.output import open_output, open_stream
from rdfspider.formats import FRAMES, page_fragment

RDF_FORMATS = {"turtle": RdfFormat.TURTLE, "trig": RdfFormat.TRIG, "jsonld": RdfFormat.JSON_LD}
LINE = '<http://e.org/s> <http://e.org/p> "o" <http://e.org/> .\n'


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.nq"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), open_output(path, "nquads") as write:
        write(b"half")
        _ = 1 / 0
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_what_killed_processes_have_left_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "out[1].nq"
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom rdfspider.batch.output import open_stream\n"
        "with open_stream(Path(sys.argv[1])) as stream:\n    stream.write(b'half')\n    stream.flush()\n"
        "    print('ready', flush=True)\n    time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        (partial,) = tmp_path.iterdir()
        other_file = tmp_path / ".other.nq.5.partial"
        other_file.write_text("of another file")
        # What is being written stays.
        with open_stream(path) as stream:
            stream.write(b"whole")
        assert sorted(tmp_path.iterdir()) == sorted([path, partial, other_file])
        other.kill()
        other.wait()
        with open_stream(path) as stream:
            stream.write(b"again")
    assert sorted(tmp_path.iterdir()) == sorted([path, other_file])
    assert path.read_bytes() == b"again"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link.nq").symlink_to(tmp_path / "out.nq")
    with open_output(tmp_path / "link.nq", "nquads") as write:
        write(b"line\n")
    assert (tmp_path / "link.nq").is_symlink()
    assert (tmp_path / "out.nq").read_bytes() == b"line\n"


def test_a_device_is_written_as_it_is() -> None:
    with open_output(Path("/dev/null"), "nquads") as write:
        write(b"line\n")
    assert not Path("/dev/null").is_file()


@pytest.mark.parametrize("name", RDF_FORMATS)
def test_a_document_without_pages_is_valid(tmp_path: Path, name: str) -> None:
    with open_output(tmp_path / "out", name) as write:
        write(b"")
    assert (tmp_path / "out").read_text() == FRAMES[name].start + FRAMES[name].end
    assert list(pyoxigraph.parse(path=tmp_path / "out", format=RDF_FORMATS[name])) == []


def test_row_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_GROUP_ROWS", 4)
    with open_output(tmp_path / "out.parquet", "parquet") as write:
        for _ in range(10):
            write(page_fragment({"rdfa": LINE}, "parquet"))
        write(b"")
    metadata = pyarrow.parquet.ParquetFile(tmp_path / "out.parquet").metadata
    assert [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)] == [4, 4, 2]
