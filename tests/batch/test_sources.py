import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rdfspider.batch.sources import PART_FILES, ArchivePart, FilesPart, PagePart, plan_parts, read_part
from rdfspider.errors import UsageError
from rdfspider.records import Page

LIMIT = 1000


def write(path: Path, body: bytes = b"<p>") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
    return path


def urls(*sources: Path, base: str | None = None) -> list[str]:
    parts = plan_parts([str(source) for source in sources], base=base, limit=LIMIT)
    return [page.url for part in parts for page in read_part(part, LIMIT) if isinstance(page, Page)]


def test_the_base_is_the_url_of_one_file_and_the_folder_of_several(tmp_path: Path) -> None:
    one, two = write(tmp_path / "f/1.html"), write(tmp_path / "f/g/2 #.html")
    assert urls(one, base="http://e.org/page") == ["http://e.org/page"]
    assert urls(tmp_path / "f", base="http://e.org/d/") == ["http://e.org/d/1.html", "http://e.org/d/g/2%20%23.html"]
    assert urls(two, one, base="http://e.org/d/") == ["http://e.org/d/g/2%20%23.html", "http://e.org/d/1.html"]
    assert urls(one) == [one.as_uri()]


def test_files_of_one_name_have_urls_of_their_own(tmp_path: Path) -> None:
    write(tmp_path / "a/index.html"), write(tmp_path / "b/index.html")
    expected = ["http://e.org/a/index.html", "http://e.org/b/index.html"]
    for sources in (["a/index.html", "b/index.html"], ["a", "b"], ["*/index.html"], [""]):
        assert urls(*(tmp_path / source for source in sources), base="http://e.org/") == expected


def test_names_that_are_no_text_become_urls(tmp_path: Path) -> None:
    write(tmp_path / os.fsdecode(b"bad\xff.html")), write(tmp_path / "z.html")
    assert urls(tmp_path, base="http://e.org/") == ["http://e.org/bad%FF.html", "http://e.org/z.html"]


def test_an_empty_folder_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no files in it"):
        urls(tmp_path)


def test_sources_keep_their_order(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    archive = write(tmp_path / "a.warc", make_record("http://e.org/a", b"<p>"))
    first, last = write(tmp_path / "z.html"), write(tmp_path / "b.html")
    assert urls(first, archive, last) == [first.as_uri(), "http://e.org/a", last.as_uri()]


def test_parts_are_small(tmp_path: Path) -> None:
    for number in range(PART_FILES + 1):
        write(tmp_path / f"small/{number:03}.html")
        write(tmp_path / f"large/{number:03}.html", b"x" * 100)
    sizes = [
        len(part.files) for part in plan_parts([str(tmp_path / "small")], limit=LIMIT) if isinstance(part, FilesPart)
    ]
    assert sizes == [PART_FILES, 1]
    parts = plan_parts([str(tmp_path / "large")], limit=LIMIT, part_bytes=1000)
    assert {part.part_bytes for part in parts} == {1000, 500}


def test_an_archive_is_split_into_ranges(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    records = [gzip.compress(make_record(f"http://e.org/{number}", b"<p>")) for number in range(9)]
    path = write(tmp_path / "a.warc.gz", b"".join(records))
    parts = plan_parts([str(path)], limit=LIMIT, part_bytes=500)
    assert sum(part.part_bytes for part in parts) == path.stat().st_size
    assert [part.exact for part in parts if isinstance(part, ArchivePart)] == [True] + [False] * (len(parts) - 1)
    assert len(parts) > 2


def test_a_pipe_is_read_at_once(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    os.write(theirs, b"<p>")
    os.close(theirs)
    path = Path(f"/dev/fd/{ours}")
    (part,) = plan_parts([str(path)], limit=LIMIT)
    os.close(ours)
    assert part == PagePart(Page(path.as_uri(), b"<p>"), 3)


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    page = write(tmp_path / "f/1.html")
    (tmp_path / "f/loop").symlink_to(tmp_path / "f")
    assert urls(tmp_path / "f") == [page.as_uri()]


def test_stdin_twice() -> None:
    with pytest.raises(UsageError, match="only once"):
        plan_parts(["-", "-"], limit=LIMIT)
