"""What can be changed in a crawl's folder at any time."""

import fcntl
import subprocess
import sys
import threading
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rdfspider import Crawl, UsageError, __version__
from rdfspider.crawl.folder import (
    add_seeds,
    change_settings,
    check_folder,
    hold_folder,
    identify_crawl,
    is_in_use,
    load_domains,
    make_folder,
    read_seeds,
    restore_settings,
    shard_folder,
)
from rdfspider.crawl.settings import Asked, load_config


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_folder(tmp_path, 2, {"crawl.pages": Asked(5, "pages"), "crawl.depth": Asked(0, "depth")})
    return tmp_path


def complain(folder: Path) -> str:
    with pytest.raises(UsageError) as complaint:
        check_folder(folder)
    return str(complaint.value).replace(str(folder), "D")


def test_a_new_crawl_holds_what_was_asked_and_what_is_fixed(folder: Path) -> None:
    assert check_folder(folder)
    tables = tomllib.loads((folder / "crawl.toml").read_text())
    assert tables["crawl"] == {"pages": 5}
    assert (tables["fixed"]["version"], tables["fixed"]["shards"], tables["fixed"]["hash"]) == (1, 2, "xxh3")
    assert tables["fixed"]["software"] == f"rdfspider {__version__}"
    assert shard_folder(folder, 1).is_dir()
    assert load_domains(folder, 2).domain("www.example.co.uk") == "example.co.uk"


def test_settings_are_changed_in_place(folder: Path) -> None:
    file = folder / "crawl.toml"
    file.write_text("# mine\n" + file.read_text())
    change_settings(folder, {"crawl.pages": Asked("7", "--pages"), "crawl.scope": Asked("any", "--scope")})
    assert file.read_text().startswith("# mine\n")
    assert tomllib.loads(file.read_text())["crawl"] == {"pages": 7, "scope": "any"}
    before = file.stat().st_mtime_ns
    change_settings(folder, {"crawl.pages": Asked("7", "--pages"), "crawl.shards": Asked("2", "--shards")})
    assert file.stat().st_mtime_ns == before


def test_a_setting_can_be_taken_back(folder: Path) -> None:
    change_settings(folder, {"crawl.pages": Asked("0", "--pages"), "crawl.include": Asked([""], "--include")})
    assert tomllib.loads((folder / "crawl.toml").read_text())["crawl"] == {"pages": 0}


def test_what_is_no_crawl_says_so(tmp_path: Path) -> None:
    assert check_folder(tmp_path / "none") is False
    assert check_folder(tmp_path) is False
    (tmp_path / "file").write_text("")
    assert complain(tmp_path) == "D is not a crawl: it has file but no crawl.toml of ours; name another folder"
    assert complain(tmp_path / "file") == "D is not a folder"


def test_an_interrupted_creation_is_begun_again(folder: Path) -> None:
    (folder / "crawl.toml").rename(folder / "crawl.toml.new")
    assert check_folder(folder) is False
    # A crawl.toml that was written by hand is taken into the new crawl.
    (folder / "crawl.toml").write_text("# mine\n[fetch]\ncontact = 'me@example.org'\n")
    assert check_folder(folder) is False
    make_folder(folder, 2, {"crawl.pages": Asked(5, "pages")})
    assert check_folder(folder)
    text = (folder / "crawl.toml").read_text()
    assert text.startswith("# mine\n[fetch]\ncontact = 'me@example.org'\n")
    assert tomllib.loads(text)["crawl"] == {"pages": 5}


def test_the_identity_stays_with_what_is_left_of_the_settings(folder: Path) -> None:
    made, lines = identify_crawl(folder), (folder / "crawl.toml").read_text().splitlines()
    fixed = [line for line in lines if "=" in line and not line.startswith("#")]
    restore_settings(folder, ["[fixed]", *fixed], 1, "", datetime.now(UTC))
    assert identify_crawl(folder) == made
    restore_settings(folder, ["[fixed]", 'id = "no identity"'], 1, "", datetime.now(UTC))
    assert identify_crawl(folder) not in (made, "no identity")


def test_another_version_is_refused(folder: Path) -> None:
    file = folder / "crawl.toml"
    file.write_text(file.read_text().replace("version = 1", "version = 2"))
    assert complain(folder) == "D was made by another version of rdfspider: its layout is 2, this one reads 1"


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("shards = 2", "shards = 3", "D/crawl.toml: fixed.shards 3: not allowed; the crawl was created with 2"),
        ("xxh3", "md5", "D/crawl.toml: fixed.hash md5: not allowed; it may be xxh3"),
        ('suffixes = "', 'suffixes = "x', "D/suffixes.dat is not the list that the crawl was created with"),
    ],
)
def test_what_is_fixed_cannot_be_changed(folder: Path, before: str, after: str, complaint: str) -> None:
    file = folder / "crawl.toml"
    file.write_text(file.read_text().replace(before, after))
    assert complain(folder).startswith(complaint)


def test_seeds_are_added_once(folder: Path) -> None:
    assert add_seeds(folder, ["https://a.example/", "https://b.example/", "https://a.example/"]) == 2
    assert add_seeds(folder, ["https://b.example/", "https://c.example/"]) == 1
    assert read_seeds(folder) == ["https://a.example/", "https://b.example/", "https://c.example/"]


def test_one_process_at_a_time(folder: Path) -> None:
    assert not is_in_use(folder)
    code = (
        "import sys; from pathlib import Path; from rdfspider.crawl.folder import hold_folder\n"
        "with hold_folder(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        assert is_in_use(folder)
        with (
            pytest.raises(UsageError, match=rf"is in use: a crawl runs there \(process {other.pid}\)"),
            hold_folder(folder),
        ):
            pass
        other.kill()
    assert not is_in_use(folder)
    with hold_folder(folder):
        assert is_in_use(folder)


def test_a_look_at_the_lock_is_no_crawl(folder: Path) -> None:
    looks = (folder / "lock").open("w")
    fcntl.flock(looks, fcntl.LOCK_SH)
    # Longer than `status` needs.
    leave = threading.Timer(0.15, looks.close)
    leave.start()
    with hold_folder(folder):
        assert looks.closed
    leave.join()


SEED = "https://example.org/"


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    return Crawl.create(tmp_path / "crawl", [SEED], exclude=["/old"])


def test_seeds_of_a_crawl_are_added_once(crawl: Crawl) -> None:
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
