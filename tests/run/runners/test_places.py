"""Which folder a shard enters in its place: its newest state, or one that is nobody else's."""

import shutil
from pathlib import Path

import pytest

from rdfspider.config import Config
from rdfspider.crawl.folder import frontier_folder
from rdfspider.domains import Domains, bundled_suffix_list
from rdfspider.errors import UsageError
from rdfspider.frontier.frontier import Frontier
from rdfspider.frontier.reader import read_generation
from rdfspider.places import records
from rdfspider.places.records import STATE, find_state, mark_state
from rdfspider.run.runners.places import Parcel, enter_place

DOMAINS = Domains(bundled_suffix_list(), 1)


def enter(place: Path, crawl: str, *, must_find: bool = False) -> Path:
    parcel = Parcel(crawl, "x", "crawl-000", b"", b"", {}, {})
    return enter_place(place, parcel, 0, must_find=must_find)


def live(root: Path, crawl: str, epoch: int, commits: int = 0, *, is_marked: bool = True) -> None:
    """Open a shard's frontier, as its process does."""
    frontier = Frontier(frontier_folder(root, 0), Config(), DOMAINS, 0, epoch=epoch)
    for _ in range(commits):
        frontier.commit()
    frontier.close()
    if is_marked:
        mark_state(root, crawl, 0, epoch)


def find(place: Path, crawl: str) -> str:
    root = find_state(place, crawl, 0, read_generation)
    return root.name if root else ""


def test_crawls_whose_folders_have_one_name_share_a_place(tmp_path: Path) -> None:
    for crawl in ("a", "b", "c"):
        live(enter(tmp_path, crawl), crawl, 1)
    assert [find(tmp_path, crawl) for crawl in "abc"] == ["crawl-000", "crawl-000-b", "crawl-000-c"]
    assert {enter(tmp_path, "a").name, enter(tmp_path, "b").name} == {"crawl-000", "crawl-000-b"}
    shutil.rmtree(tmp_path / "crawl-000-c/shards")
    # Emptied, it is still its own; the next one is taken by nobody.
    assert enter(tmp_path, "c").name == "crawl-000-c"


@pytest.mark.parametrize("has_mark", [False, True])
def test_a_folder_with_a_state_of_nobody_knows_whom_is_left_alone(tmp_path: Path, has_mark: bool) -> None:
    for name in ("crawl-000", "crawl-000-a"):
        live(tmp_path / name, "a", 1, is_marked=False)
        if has_mark:
            (tmp_path / name / STATE).write_bytes(b"\0" * 40)
    assert enter(tmp_path, "a").name == "crawl-000-a-2"


def test_a_file_of_that_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "crawl-000").write_text("mine")
    assert enter(tmp_path, "a").name == "crawl-000-a"


@pytest.mark.parametrize("has_opened", [False, True])
def test_a_life_that_was_killed_before_its_mark_is_followed_in_the_same_folder(
    tmp_path: Path, has_opened: bool
) -> None:
    root = enter(tmp_path, "a")
    if has_opened:
        live(root, "a", 1, is_marked=False)
    assert find(tmp_path, "a") == ""
    assert enter(tmp_path, "b").name == "crawl-000-b"
    assert enter(tmp_path, "a") == root
    live(root, "a", 2)
    assert find(tmp_path, "a") == "crawl-000"


def test_lives_that_could_not_begin_do_not_hide_a_disk_that_comes_back(tmp_path: Path) -> None:
    """As those of a shard whose disk is away, and its backup, too."""
    place = tmp_path / "place"
    root = enter(place, "a")
    live(root, "a", 7)
    root.rename(tmp_path / "away")
    for _ in range(2):
        assert enter(place, "a").name == "crawl-000"
    assert len(list(place.iterdir())) == 1
    (tmp_path / "away").rename(place / "crawl-000.back")
    assert enter(place, "a").name == "crawl-000.back"


def test_of_two_copies_the_one_with_more_commits_is_newer(tmp_path: Path) -> None:
    root = enter(tmp_path, "a")
    live(root, "a", 7)
    shutil.copytree(root, tmp_path / "crawl-000.copy")
    # Equal ones are told by name, so that it is always the same.
    assert enter(tmp_path, "a") == root
    for name in ("crawl-000", "crawl-000.copy"):
        live(tmp_path / name, "a", 8, commits=3 if name == "crawl-000" else 2)
    assert enter(tmp_path, "a") == root
    live(tmp_path / "crawl-000.copy", "a", 9)
    assert enter(tmp_path, "a").name == "crawl-000.copy"


def test_of_two_copies_the_one_that_a_process_has_open_is_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        live(tmp_path / name, "a", 7, commits=3 if name == "one" else 0)
    monkeypatch.setattr(records, "is_locked", lambda path: tmp_path / "two" in path.parents)
    assert find(tmp_path, "a") == "two"


def test_a_copy_is_not_chosen_over_one_that_cannot_be_read(tmp_path: Path) -> None:
    for name in ("one", "two"):
        live(tmp_path / name, "a", 7)
    (frontier_folder(tmp_path / "one", 0) / "CURRENT").write_bytes(b"no manifest")
    with pytest.raises(UsageError, match=r"one and .*two may each have the newest state of shard 0"):
        enter(tmp_path, "a")


def test_a_shard_that_has_run_before_does_not_begin_anew_where_only_its_mark_is_left(tmp_path: Path) -> None:
    live(enter(tmp_path, "a"), "a", 7)
    shutil.rmtree(frontier_folder(tmp_path / "crawl-000", 0))
    with pytest.raises(FileNotFoundError, match="its state is not there"):
        enter(tmp_path, "a", must_find=True)
