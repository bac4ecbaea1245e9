"""What can be changed in a crawl's folder at any time."""

import tomllib
from pathlib import Path

import pytest

from rdfspider import Crawl, UsageError
from rdfspider.crawl.folder import read_seeds
from rdfspider.crawl.settings import load_config

SEED = "https://example.org/"


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    return Crawl.create(tmp_path / "crawl", [SEED], exclude=["/old"])


def test_seeds_are_added_once(crawl: Crawl) -> None:
    assert crawl.add_seeds(["example.org", "b.example/x", "https://b.example/x"]) == 1
    assert crawl.add_seeds("https://b.example/x") == 0
    assert read_seeds(crawl.folder) == [SEED, "https://b.example/x"]


def test_seeds_from_a_file(crawl: Crawl, tmp_path: Path) -> None:
    (tmp_path / "more").write_text("# more\nc.example\n")
    assert crawl.add_seeds(seeds_file=tmp_path / "more") == 1
    with pytest.raises(UsageError, match="name at least one URL"):
        crawl.add_seeds()
    with pytest.raises(UsageError, match="private network"):
        crawl.add_seeds("http://127.0.0.1/")


def test_filters_are_kept_in_the_file(crawl: Crawl) -> None:
    assert crawl.add_filter(exclude=["/private", "/old"], include=r"\.html$") == 2
    assert crawl.filters == {"include": (r"\.html$",), "exclude": ("/old", "/private")}
    written = tomllib.loads((crawl.folder / "crawl.toml").read_text())["crawl"]
    assert written == {"exclude": ["/old", "/private"], "include": [r"\.html$"]}
    assert crawl.config.crawl.exclude == ("/old", "/private")
    assert crawl.remove_filter(exclude="/old", include=r"\.html$") == 2
    assert load_config(crawl.folder).crawl.exclude == ("/private",)
    assert crawl.filters["include"] == ()


def test_what_cannot_be_changes_nothing(crawl: Crawl) -> None:
    before = (crawl.folder / "crawl.toml").read_bytes()
    with pytest.raises(UsageError, match="--exclude /new: there is no such filter"):
        crawl.remove_filter(exclude="/new")
    with pytest.raises(UsageError, match=r"--include \(: not allowed; it may be a regular expression of RE2"):
        crawl.add_filter(include="(")
    assert (crawl.folder / "crawl.toml").read_bytes() == before
