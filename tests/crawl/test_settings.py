import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from rdfspider.config import ArchiveConfig, Config, CrawlConfig, ExtractConfig, Stylesheet
from rdfspider.crawl.settings import SETTINGS, Asked, ask_config, count_cores, find_name, load_config, write_settings
from rdfspider.errors import UsageError
from rdfspider.linked_documents import FolderDocuments


def write(folder: Path, text: str) -> Path:
    (folder / "crawl.toml").write_text(text)
    return folder


def complain(folder: Path, flags: dict[str, object] | None = None, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(UsageError) as complaint:
        load_config(folder, flags or {}, environ or {})
    assert "\n" not in str(complaint.value)
    return str(complaint.value).replace(str(folder), "D")


def test_without_anything_there_are_the_defaults(tmp_path: Path) -> None:
    config = load_config(tmp_path, {}, {})
    assert replace(config, crawl=replace(config.crawl, shards=0)) == Config()
    assert config.crawl.shards == count_cores()


def test_who_wins(tmp_path: Path) -> None:
    write(tmp_path, "[crawl]\npages = 1\ndepth = 1\ntime_s = '1m'\n")
    environ = {"RDFSPIDER_CRAWL_DEPTH": "2", "RDFSPIDER_CRAWL_TIME_S": "2m", "HOME": "/"}
    config = load_config(tmp_path, {"crawl.time_s": "3m"}, environ)
    assert (config.crawl.pages, config.crawl.depth, config.crawl.time_s) == (1, 2, 180.0)


def test_folders_are_found_from_where_they_were_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    write(folder, "[archive]\nvolumes = ['near', '/far']\n")
    assert load_config(folder, {}, {}).archive.volumes == (f"{folder}/near", "/far")
    monkeypatch.chdir(tmp_path)
    assert load_config(folder, {"archive.volumes": ["here"]}, {}).archive.volumes == (f"{tmp_path}/here",)
    asked = ask_config(Config(archive=ArchiveConfig(volumes=("here",))))
    assert asked["archive.volumes"].value == [f"{tmp_path}/here"]


def test_every_setting_can_be_in_the_file_and_in_the_environment(tmp_path: Path) -> None:
    for name, setting in SETTINGS.items():
        if setting.kind in ("folder", "file", "syntaxes"):
            continue
        section, _, field = name.partition(".")
        default = setting.default
        text = " ".join(default) if isinstance(default, tuple) else str(default)
        config = load_config(tmp_path, {}, {f"RDFSPIDER_{section}_{field}".upper(): text})
        assert name == "crawl.shards" or getattr(getattr(config, section), field) == default


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "[crawl]\nscope = 'site'\n",
            "D/crawl.toml: crawl.scope site: not allowed; it may be one of host, domain, prefix, any",
        ),
        ("[crawl]\npages = -1\n", "D/crawl.toml: crawl.pages -1: not allowed; it may be a whole number of 0 or more"),
        ("[crawl]\npgaes = 1\n", "D/crawl.toml: there is no setting crawl.pgaes; did you mean crawl.pages?"),
        (
            "[crwal]\n",
            "D/crawl.toml: there is no section [crwal]; there are crawl, frontier, fetch, extract, archive, index, run",
        ),
        ("pages = 1\n", "D/crawl.toml: there is no section [pages]; there are"),
        ("crawl = 1\n", "D/crawl.toml: [crawl] is a section and must hold settings, not a value of its own"),
        ("[[crawl]]\npages = 1\n", "D/crawl.toml: [crawl] is a section and must hold settings, not a value of its own"),
        ("[crawl\n", "D/crawl.toml is not TOML: "),
        ("[extract]\ndocuments = 'none'\n", "D/crawl.toml: extract.documents none: there is no such folder"),
        (
            "[fetch]\nmax_flight_bytes = 1000\n",
            "D/crawl.toml: fetch.max_flight_bytes 1000: not allowed; fetch.max_body_bytes may be at most "
            "fetch.max_flight_bytes, and fetch.max_body_bytes is 16777216",
        ),
        (
            "[frontier]\nbackoff_s = '2h'\n",
            "D/crawl.toml: frontier.backoff_s 7200: not allowed; frontier.backoff_s may be at most "
            "frontier.max_backoff_s, and frontier.max_backoff_s is 3600",
        ),
    ],
)
def test_mistakes_in_the_file(tmp_path: Path, text: str, complaint: str) -> None:
    assert complain(write(tmp_path, text)).startswith(complaint)


def test_mistakes_elsewhere(tmp_path: Path) -> None:
    assert complain(tmp_path, {"crawl.scope": Asked("site", "--scope")}).startswith(
        "--scope site: not allowed; it may be"
    )
    assert complain(tmp_path, {"scope": 3}).startswith("scope 3: not allowed; it may be one of")
    assert complain(tmp_path, environ={"RDFSPIDER_FETCH_CONNECTIONS": "0"}) == (
        "RDFSPIDER_FETCH_CONNECTIONS 0: not allowed; it may be a whole number from 1 to 10,000"
    )
    assert complain(tmp_path, environ={"RDFSPIDER_FETCH_CONECTIONS": "1"}) == (
        "RDFSPIDER_FETCH_CONECTIONS: there is no such setting; did you mean RDFSPIDER_FETCH_CONNECTIONS?"
    )


def test_a_complaint_shows_the_value_that_is_to_blame(tmp_path: Path) -> None:
    assert complain(tmp_path, {"include": ["fine", "("]}) == (
        "include (: not allowed; it may be a regular expression of RE2, which has no lookaround and no backreferences; "
        "what is wrong with this one: missing ): ("
    )
    assert complain(tmp_path, {"resolve": ["a.test=::1", "foo"]}) == (
        "resolve foo: not allowed; it may be PATTERN=ADDRESS[:PORT], such as *.test=127.0.0.1:8085"
    )
    # What cannot be seen is written as Python writes it.
    assert complain(tmp_path, {"contact": "me@a\nb"}) == (
        "contact 'me@a\\nb': not allowed; it may be a URL or an e-mail address, such as https://example.org/bot or "
        "you@example.org"
    )
    assert complain(tmp_path, {"pages": ""}) == "pages '': not allowed; it may be a whole number of 0 or more"


def test_the_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").mkdir()
    assert complain(tmp_path) == "D/crawl.toml cannot be read: Is a directory"


def test_shards_are_fixed(tmp_path: Path) -> None:
    write(tmp_path, "[fixed]\nversion = 1\nshards = 3\n")
    assert load_config(tmp_path, {}, {}).crawl.shards == 3
    assert load_config(tmp_path, {"shards": 3}, {}).crawl.shards == 3
    assert complain(tmp_path, {"crawl.shards": Asked("4", "--shards")}) == (
        "--shards 4: not allowed; the crawl was created with 3, and a host must keep its shard"
    )
    write(tmp_path, "[fixed]\nversion = 1\nshards = 3\n[crawl]\nshards = 5\n")
    assert complain(tmp_path).startswith("D/crawl.toml: crawl.shards 5: not allowed")


def test_names_of_python(tmp_path: Path) -> None:
    assert find_name("pages") == find_name("crawl_pages") == find_name("crawl.pages") == "crawl.pages"
    assert complain(tmp_path, {"max_body_bytes": 1}) == (
        "max_body_bytes: two settings have that name: fetch.max_body_bytes and extract.max_body_bytes"
    )
    assert complain(tmp_path, {"delay": 1}) == "delay: there is no such setting; did you mean delay_s?"
    assert complain(tmp_path, {"xyz": 1}) == "xyz: there is no such setting"


def test_what_extraction_needs_is_named_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "contexts").mkdir()
    (tmp_path / "transforms.toml").write_text('[csv]\nmedia_type = "text/csv"\ncommand = ["cat"]\n')
    write(tmp_path, "[extract]\ndocuments = 'contexts'\ntransforms = 'transforms.toml'\nsyntaxes = ['rdfa']\n")
    extract = load_config(tmp_path, {}, {}).extract
    assert extract.documents == FolderDocuments(tmp_path / "contexts")
    assert [transform.name for transform in extract.transforms] == ["csv"]
    assert extract.syntaxes == {"rdfa"}
    # A flag is relative to where it is typed.
    (tmp_path / "here/own").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert load_config(tmp_path, {"documents": "own"}, {}).extract.documents == FolderDocuments(tmp_path / "here/own")
    assert load_config(tmp_path, {"documents": "", "syntaxes": ""}, {}).extract.documents is None


def test_a_config_of_python_is_what_it_changes(tmp_path: Path) -> None:
    config = Config(
        crawl=CrawlConfig(pages=3, include=("x",)), extract=ExtractConfig(documents=FolderDocuments(tmp_path))
    )
    asked = ask_config(config)
    assert {name: one.value for name, one in asked.items()} == {
        "crawl.pages": 3,
        "crawl.include": ("x",),
        "extract.documents": str(tmp_path),
    }
    found = load_config(tmp_path, asked, {"RDFSPIDER_CRAWL_SHARDS": "1"})
    assert found == replace(config, crawl=replace(config.crawl, shards=1))


def test_a_config_that_cannot_be_kept_is_refused() -> None:
    sheet = Stylesheet("x.xsl", b"", "x")
    with pytest.raises(UsageError, match=r"extract.stylesheets: a crawl must find it again, so give the path"):
        ask_config(Config(extract=ExtractConfig(stylesheets=(sheet,))))
    with pytest.raises(UsageError, match=r"extract.documents: a crawl must find it again"):
        ask_config(Config(extract=ExtractConfig(documents=lambda url: None)))


WRITTEN_BY_HAND = """\
# mine
[crawl]   # what
pages = 10  # enough
include = [
    "a",  # first
    "b",
]

[fetch]
contact = "me@example.org"
"""


def change(text: str, **values: object) -> str:
    """The text with some settings set, named as in Python."""
    return write_settings(text, None, {find_name(name): Asked(value, name) for name, value in values.items()})


def test_what_is_written_can_be_read_again() -> None:
    include = ['a"\\b', "é\x7f"]
    fixed = {"version": 1, "shards": 2, "hash": "xxh3"}
    asked = {"crawl.pages": Asked(5, ""), "crawl.time_s": Asked(1.5, ""), "crawl.include": Asked(include, "")}
    text = write_settings("", fixed, asked | {"fetch.allow_private": Asked(True, "")})
    assert tomllib.loads(text) == {
        "fixed": fixed,
        "crawl": {"pages": 5, "time_s": 1.5, "include": include},
        "fetch": {"allow_private": True},
    }


def test_a_change_leaves_the_rest_as_it_was_written() -> None:
    assert change(WRITTEN_BY_HAND, pages=20) == WRITTEN_BY_HAND.replace("pages = 10", "pages = 20")


def test_a_list_over_several_lines_is_replaced_whole() -> None:
    text = change(WRITTEN_BY_HAND, include=["c"])
    assert tomllib.loads(text)["crawl"] == {"pages": 10, "include": ["c"]}
    assert "# mine" in text and "# enough" in text


def test_what_is_new_goes_to_its_table_or_a_new_one() -> None:
    text = change(WRITTEN_BY_HAND, depth=3, keep="all")
    assert tomllib.loads(text)["crawl"]["depth"] == 3
    assert tomllib.loads(text)["archive"] == {"keep": "all"}
    assert text.startswith("# mine\n")


def test_an_unusual_layout_stays() -> None:
    text = change("crawl.pages = 1\nfetch = { contact = 'x' }  # me\r\n", pages=2)
    assert text == "crawl.pages = 2\nfetch = { contact = 'x' }  # me\r\n"


def test_a_default_is_not_written() -> None:
    assert change(WRITTEN_BY_HAND, depth=SETTINGS["crawl.depth"].default) == WRITTEN_BY_HAND
