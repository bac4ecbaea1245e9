import gzip
import io
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from fastwarc.stream_io import BrotliWriter, ZstdWriter, zstd_train_dictionary_from_samples

from rdfspider.archive.reader import Mark, is_archive, read_archive, read_file, split_archive
from rdfspider.archive.warc_file import Damage
from rdfspider.errors import UsageError
from rdfspider.records import Page

BODIES = [f"<title>{number}</title>".encode() + bytes(range(32, 127)) * 300 + b"%d" % number for number in range(6)]
URLS = [f"http://example.org/{number}" for number in range(6)]


@pytest.fixture
def records(make_record: Callable[..., bytes]) -> list[bytes]:
    return [make_record(url, body) for url, body in zip(URLS, BODIES, strict=True)]


def compress_gzip(records: list[bytes]) -> list[bytes]:
    return [gzip.compress(record) for record in records]


def compress_zstd(records: list[bytes], dictionary: bytes | None = None) -> list[bytes]:
    """One frame a record; the first also has the dictionary's frame before it."""
    output = io.BytesIO()
    writer = ZstdWriter(output, dictionary=dictionary)
    frames = []
    for record in records:
        start = output.tell()
        writer.write(record)
        writer.finish()
        writer.flush()
        frames.append(output.getvalue()[start:])
    return frames


def read_all(path: Path, **options: int) -> tuple[list[str], list[Damage]]:
    items = list(read_archive(path, **options))
    assert isinstance(items[0], Mark)
    assert isinstance(items[-1], Mark)
    return [item.url for item in items if isinstance(item, Page)], [item for item in items if isinstance(item, Damage)]


def write(path: Path, parts: list[bytes]) -> Path:
    path.write_bytes(b"".join(parts))
    return path


COMPRESSIONS = {".warc": list, ".warc.gz": compress_gzip, ".warc.zst": compress_zstd}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_pages_of_an_archive(tmp_path: Path, records: list[bytes], suffix: str) -> None:
    path = write(tmp_path / f"a{suffix}", COMPRESSIONS[suffix](records))
    pages = [item for item in read_archive(path) if isinstance(item, Page)]
    assert pages == [Page(url, body, "text/html") for url, body in zip(URLS, BODIES, strict=True)]


def test_zstandard_dictionary(tmp_path: Path, records: list[bytes]) -> None:
    samples = [record[start : start + 400] for record in records for start in range(0, 4000, 100)]
    dictionary = zstd_train_dictionary_from_samples(samples, 2000)
    frames = compress_zstd(records, dictionary)
    path = write(tmp_path / "a.warc.zst", frames)
    assert frames[0][:4] == b"\x5d\x2a\x4d\x18"
    assert read_all(path) == (URLS, [])
    assert read_all(path, start=len(b"".join(frames[:4]))) == (URLS[4:], [])


@pytest.mark.parametrize("suffix", [".warc.gz", ".warc.zst"])
@pytest.mark.parametrize("place", ["start", "middle", "end"])
def test_a_damaged_member_costs_one_page(tmp_path: Path, records: list[bytes], suffix: str, place: str) -> None:
    members = COMPRESSIONS[suffix](records)
    at = {"start": 0, "middle": len(members[2]) // 2, "end": len(members[2]) - 6}[place]
    members[2] = members[2][:at] + b"\xff" * 6 + members[2][at + 6 :]
    urls, damages = read_all(write(tmp_path / f"a{suffix}", members))
    assert urls == [*URLS[:2], *URLS[3:]]
    assert [damage.offset for damage in damages] == [len(b"".join(members[:2]))]


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_record_cut_in_the_middle_costs_one_page(tmp_path: Path, records: list[bytes], suffix: str) -> None:
    members = COMPRESSIONS[suffix](records)
    members[2] = members[2][: len(members[2]) // 2]
    urls, damages = read_all(write(tmp_path / f"a{suffix}", members))
    assert urls == [*URLS[:2], *URLS[3:]]
    assert len(damages) == 1


@pytest.mark.parametrize("share", [0.01, 0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_cut_end_is_reported(tmp_path: Path, records: list[bytes], suffix: str, share: float) -> None:
    members = COMPRESSIONS[suffix](records)
    members[5] = members[5][: int(len(members[5]) * share)]
    urls, damages = read_all(write(tmp_path / f"a{suffix}", members))
    assert urls == URLS[:5]
    assert len(damages) == 1


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_length_that_reaches_into_the_next_record(tmp_path: Path, records: list[bytes], suffix: str) -> None:
    length = b"Content-Length: %d" % (len(BODIES[2]) + len(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"))
    assert length in records[2]
    records[2] = records[2].replace(length, length[:-1] + b"999")
    urls, damages = read_all(write(tmp_path / f"a{suffix}", COMPRESSIONS[suffix](records)))
    assert urls == [*URLS[:2], *URLS[3:]]
    assert len(damages) == 1


def test_rubbish_between_records(tmp_path: Path, records: list[bytes]) -> None:
    path = write(tmp_path / "a.warc", [*records[:3], b"rubbish" * 99, *records[3:]])
    urls, damages = read_all(path)
    assert urls == URLS
    assert [damage.offset for damage in damages] == [len(b"".join(records[:3]))]


def test_members_that_are_no_records(tmp_path: Path, records: list[bytes]) -> None:
    whole = b"".join(records)
    blocks = [gzip.compress(whole[start : start + 7000]) for start in range(0, len(whole), 7000)]
    for name, parts in {"one.warc.gz": [gzip.compress(whole)], "blocks.warc.gz": blocks}.items():
        path = write(tmp_path / name, parts)
        assert read_all(path) == (URLS, []), name
        assert len(split_archive(path, 1000)) == 1, name


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("part_bytes", [500, 7000, 40_000])
def test_parts_join_to_the_whole(tmp_path: Path, records: list[bytes], suffix: str, part_bytes: int) -> None:
    path = write(tmp_path / f"a{suffix}", COMPRESSIONS[suffix](records))
    urls: list[str] = []
    for start, stop in split_archive(path, part_bytes):
        urls += read_all(path, start=start, stop=stop, exact=start == 0)[0]
    assert urls == URLS


def test_what_holds_no_page_is_passed_over(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    kinds = [make_record(URLS[0], b"x: y", kind=kind) for kind in ("request", "metadata", "revisit", "conversion")]
    missing = make_record(URLS[1], b"gone", status="404 Not Found")
    resource = make_record("<http://example.org/r>", b"<p>", kind="resource")
    assert read_all(write(tmp_path / "a.warc", [*kinds, missing, resource])) == (["http://example.org/r"], [])


def encode_brotli(body: bytes) -> bytes:
    output = io.BytesIO()
    with BrotliWriter(output) as writer:
        writer.write(body)
    return output.getvalue()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": lambda body: zlib.compress(body)[2:-4],
    "br": encode_brotli,
    "zstd": lambda body: compress_zstd([body])[0],
    "identity": bytes,
}


@pytest.mark.parametrize("encoding", ENCODERS)
def test_content_encodings(tmp_path: Path, make_record: Callable[..., bytes], encoding: str) -> None:
    header = f"Content-Encoding: {encoding}\r\n"
    encoded = make_record(URLS[0], ENCODERS[encoding](BODIES[0]), headers=header)
    wrong = make_record(URLS[1], BODIES[1], headers=header)
    pages = list(read_archive(write(tmp_path / "a.warc", [encoded, wrong])))
    assert [page.body for page in pages if isinstance(page, Page)] == BODIES[:2]


def test_chunks_are_joined(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    chunked = b"5;x=y\r\n<p>ab\r\n3\r\nc\r\n\r\n0\r\n\r\n"
    record = make_record(URLS[0], chunked, headers="Transfer-Encoding: chunked\r\n")
    _, page, _ = read_archive(write(tmp_path / "a.warc", [record]))
    assert isinstance(page, Page)
    assert page.body == b"<p>abc\r\n"


def test_a_compression_bomb_stays_small(tmp_path: Path, make_record: Callable[..., bytes]) -> None:
    bomb = gzip.compress(gzip.compress(b" " * 50_000_000))
    record = make_record(URLS[0], bomb, headers="Content-Encoding: gzip, gzip\r\n")
    _, page, _ = read_archive(write(tmp_path / "a.warc", [record]), limit=100_000)
    assert isinstance(page, Page)
    assert len(page.body) == 100_001


NO_ARCHIVES = {"empty": b"", "text": b"<html>" * 99, "gzip": gzip.compress(b"no"), "magic": b"\x1f\x8b\x08" * 999}


@pytest.mark.parametrize("content", NO_ARCHIVES.values(), ids=NO_ARCHIVES.keys())
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    for name in ("a.warc", "a.warc.gz", "a.warc.zst"):
        with pytest.raises(UsageError, match="no WARC record"):
            split_archive(write(tmp_path / name, [content]), 1000)
    with pytest.raises(UsageError, match="No such file"):
        split_archive(tmp_path / "missing.warc", 1000)


def test_files(tmp_path: Path) -> None:
    plain, packed = write(tmp_path / "a.html", [b"<p>"]), write(tmp_path / "a.html.gz", [gzip.compress(b"<p>")])
    assert read_file(plain, "http://e/") == read_file(packed, "http://e/") == Page("http://e/", b"<p>")
    assert read_file(write(tmp_path / "long.html", [b"x" * 99]), "http://e/", limit=10) == Page("http://e/", b"x" * 11)
    assert read_file(tmp_path / "none", "http://e/") == Damage(str(tmp_path / "none"), 0, "No such file or directory")


@pytest.mark.parametrize(
    ("name", "expected"), [("a.warc", True), ("A.WARC.GZ", True), ("a.warc.txt", False), ("a.gz", False)]
)
def test_archives_are_known_by_name(name: str, expected: bool) -> None:
    assert is_archive(Path(name)) is expected


@pytest.mark.parametrize(
    "head",
    ids=["version 2", "no colon", "no CR", "long"],
    argvalues=[
        "HTTP/2 200\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n",
        "HTTP/1.1 200 OK\n",
        f"HTTP/1.0 200 OK\r\nA: {'x' * 99_999}\r\n",
    ],
)
def test_sloppy_heads_of_responses(tmp_path: Path, head: str) -> None:
    line_end = "\r\n" if "\r\n" in head else "\n"
    block = f"{head}Content-Type: text/html{line_end}{line_end}<p>".encode()
    fields = f"WARC-Type: response\r\nWARC-Target-URI: {URLS[0]}\r\nContent-Type: application/http;msgtype=response\r\n"
    record = f"WARC/1.1\r\n{fields}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"
    _, page, _ = read_archive(write(tmp_path / "a.warc", [record]))
    assert page == Page(URLS[0], b"<p>", "text/html")
