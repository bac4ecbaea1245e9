import io
import sys
from pathlib import Path
from typing import Any

import pytest

from rdfspider.config import FetchConfig
from rdfspider.crawl.seeds import collect_seeds, normalise_seed
from rdfspider.errors import UsageError
from rdfspider.urls import MAX_URL_CHARS

PUBLIC = FetchConfig()
PRIVATE = FetchConfig(allow_private=True)


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("https://example.org/", "https://example.org/"),
        ("HTTP://Example.ORG:80/a/../b#c", "http://example.org/b"),
        ("example.org", "https://example.org/"),
        ("example.org/a?b", "https://example.org/a?b"),
        ("localhost:8000/x", "https://localhost:8000/x"),
        ("//example.org/x", "https://example.org/x"),
        ("[::1]:80/x", "https://[::1]:80/x"),
        (" bücher.example ", "https://xn--bcher-kva.example/"),
        (f"example.org/{'a' * 5000}", f"https://example.org/{'a' * 5000}"),
        ("mailto:me@example.org", None),
        ("ftp://example.org/", None),
        ("https://", None),
        ("two words", None),
        ("", None),
    ],
)
def test_a_seed(written: str, url: str | None) -> None:
    assert normalise_seed(written) == url


def test_a_file_of_seeds(tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_bytes(
        b"\xef\xbb\xbf# mine\r\nexample.org  # the first\r\n\r\nhttps://example.org/#top\r\nhttp://b.example/\n"
    )
    assert collect_seeds(["a.example"], file, PUBLIC) == [
        "https://a.example/",
        "https://example.org/",
        "http://b.example/",
    ]


def test_seeds_on_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"example.org\n")))
    assert collect_seeds([], Path("-"), PUBLIC) == ["https://example.org/"]


def complain(arguments: list[str], file: Path | None = None, config: FetchConfig = PUBLIC) -> str:
    with pytest.raises(UsageError) as complaint:
        collect_seeds(arguments, file, config)
    return str(complaint.value)


def test_a_bad_seed_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_text("example.org\n\nftp://example.org/\n")
    assert complain([], file) == f"{file}, line 3: ftp://example.org/: not an http or https URL"
    assert complain(["demo"]) == "demo: a word, not a URL; if a host is called so, write https://demo/"
    assert complain(["x:y"]) == "x:y: not an http or https URL"
    assert complain([], tmp_path / "none") == f"--seeds {tmp_path / 'none'}: cannot be read: No such file or directory"
    file.write_bytes(b"a\xff")
    assert complain([], file) == f"--seeds {file}: not UTF-8 at byte 1"


@pytest.mark.parametrize(
    ("seed", "reason"),
    [
        (f"https://a.example/{'x' * 8175}", "the seed has 8193 characters; it may have 8192 at most"),
        # Escapes count: it is the normal URL that is asked for.
        (f"https://a.example/{'é' * 2000}", "the seed has 12018 characters; it may have 8192 at most"),
        (f"https://{'a.' * 127}example/", "the host has 261 characters; it may have 253 at most"),
    ],
)
def test_a_seed_that_is_too_long_is_refused_by_the_name_of_its_start(tmp_path: Path, seed: str, reason: str) -> None:
    assert complain(["example.org", seed]) == f"{seed[:100]}…: {reason}"
    file = tmp_path / "seeds"
    file.write_text(f"example.org\n{seed}\n")
    assert complain([], file) == f"{file}, line 2: {seed[:100]}…: {reason}"


def test_a_seed_may_be_as_long_as_a_link() -> None:
    seed = f"https://a.example/{'x' * (MAX_URL_CHARS - 18)}"
    assert collect_seeds([seed], None, PUBLIC) == [seed]
    seed = f"https://{'a.' * 123}example/"
    assert collect_seeds([seed], None, PUBLIC) == [seed]


@pytest.mark.parametrize(
    ("seeds", "complaint"),
    [
        ([5], "the seed 5: not allowed; it may be the text of a URL"),
        (["example.org", None], "the seed None: not allowed; it may be the text of a URL"),
        ([b"http://example.org/"], "the seed b'http://example.org/': not allowed; it may be the text of a URL"),
        (b"http://example.org/", "seeds b'http://example.org/': not allowed; they may be a list of URLs"),
        (5, "seeds 5: not allowed; they may be a list of URLs"),
        (None, "seeds None: not allowed; they may be a list of URLs"),
    ],
)
def test_seeds_that_are_no_text(seeds: Any, complaint: str) -> None:
    assert complain(seeds) == complaint


def test_a_file_is_not_a_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("seeds.txt").write_text("example.org")
    Path("example.org").mkdir()
    assert complain(["seeds.txt"]) == "seeds.txt: not an http or https URL; to read seeds from it, write --seeds"
    assert collect_seeds(["example.org"], None, PUBLIC) == ["https://example.org/"]


@pytest.mark.parametrize(
    "seed",
    [
        "http://127.0.0.1:8000/",
        "10.0.0.1",
        "http://169.254.169.254/",
        "[::1]",
        "localhost",
        "a.localhost",
        "2130706433",
    ],
)
def test_a_private_address_must_be_allowed(seed: str) -> None:
    assert "private network; to crawl there, add --allow-private" in complain([seed])
    assert collect_seeds([seed], None, PRIVATE)


def test_an_address_given_by_hand_is_vetted() -> None:
    config = FetchConfig(resolve=("localhost=127.0.0.1:8085",))
    assert collect_seeds(["http://localhost/"], None, config) == ["http://localhost/"]
