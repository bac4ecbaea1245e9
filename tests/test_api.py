import tomllib
from pathlib import Path

import pytest

from rdfspider import Config, Crawl, UsageError
from rdfspider.config import CrawlConfig
from rdfspider.crawl.folder import hold_folder, is_in_use
from rdfspider.crawl.status import Status
from rdfspider.run.commits import check_disk
from web import Crawling, Web, make_chain, make_site

SEED = "https://example.org/"


def complain(folder: Path, *arguments: object, **settings: object) -> str:
    with pytest.raises(UsageError) as complaint:
        Crawl.create(folder, *arguments, **settings)  # type: ignore[arg-type]
    return str(complaint.value).replace(str(folder), "D")


def asked(folder: Path) -> dict[str, object]:
    tables = tomllib.loads((folder / "crawl.toml").read_text())
    return {
        f"{section}.{field}": value
        for section, table in tables.items()
        for field, value in table.items()
        if section != "fixed"
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


def test_a_new_crawl(folder: Path) -> None:
    crawl = Crawl.create(folder, ["example.org", SEED], pages=5, shards=2, scope="host")
    assert asked(folder) == {"crawl.pages": 5, "crawl.scope": "host"}
    assert (folder / "seeds.txt").read_text() == f"{SEED}\n"
    assert crawl.config.crawl == CrawlConfig(pages=5, shards=2, scope="host")
    assert crawl.status().state == "new"


def test_the_same_again_changes_nothing(folder: Path) -> None:
    Crawl.create(folder, SEED, pages=5)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    Crawl.create(folder, [SEED], pages=5)
    Crawl.create(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_other_settings_and_more_seeds_become_part_of_it(folder: Path) -> None:
    Crawl.create(folder, [SEED], pages=5, depth=2)
    Crawl.create(folder, ["https://b.example/"], pages="10", delay_s="500s")
    assert asked(folder) == {"crawl.pages": 10, "crawl.depth": 2, "frontier.delay_s": 500.0}
    assert (folder / "seeds.txt").read_text() == f"{SEED}\nhttps://b.example/\n"
    assert Crawl.open(folder).config.crawl.pages == 10


def test_the_environment_counts_but_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDFSPIDER_CRAWL_PAGES", "7")
    monkeypatch.setenv("RDFSPIDER_CRAWL_SHARDS", "3")
    assert Crawl.create(folder, [SEED]).config.crawl.pages == 7
    assert asked(folder) == {}
    # What is fixed stays.
    monkeypatch.delenv("RDFSPIDER_CRAWL_SHARDS")
    assert Crawl.open(folder).config.crawl.shards == 3


def test_a_config_and_keywords(folder: Path) -> None:
    Crawl.create(folder, [SEED], config=Config(crawl=CrawlConfig(pages=5, depth=3)), pages=6)
    assert asked(folder) == {"crawl.pages": 6, "crawl.depth": 3}


def test_mistakes_make_nothing(folder: Path) -> None:
    assert complain(folder) == "D has no seeds yet: name at least one URL to start from"
    assert complain(folder, ["x:y"]) == "x:y: not an http or https URL"
    assert complain(folder, [5]) == "the seed 5: not allowed; it may be the text of a URL"
    assert complain(folder, 5) == "seeds 5: not allowed; they may be a list of URLs"
    assert complain(folder, SEED + "x" * 8192).endswith("characters; it may have 8192 at most")
    assert complain(folder, [SEED], page=1).startswith("page: there is no such setting")
    assert complain(folder, [SEED], scope="site").startswith("scope site: not allowed; it may be one of")
    assert complain(folder, ["http://127.0.0.1/"]).endswith("add --allow-private")
    assert not folder.exists()


def test_mistakes_change_nothing(folder: Path) -> None:
    Crawl.create(folder, [SEED], pages=5, shards=2)
    assert complain(folder, ["x:y"], pages=6).startswith("x:y")
    assert complain(folder, ["https://b.example/"], shards=3).startswith(
        "shards 3: not allowed; the crawl was created with 2"
    )
    assert asked(folder) == {"crawl.pages": 5}
    assert (folder / "seeds.txt").read_text() == f"{SEED}\n"


def test_a_crawl_can_be_written_by_hand(folder: Path) -> None:
    folder.mkdir()
    (folder / "crawl.toml").write_text('# mine\n[crawl]\npages = 3\nscope = "any"\n')
    assert Crawl.create(folder, [SEED], pages=4).config.crawl.scope == "any"
    assert (folder / "crawl.toml").read_text().startswith('# mine\n[crawl]\npages = 4\nscope = "any"\n')


def test_what_is_not_a_crawl_cannot_be_opened(folder: Path) -> None:
    with pytest.raises(UsageError, match="there is no such folder"):
        Crawl.open(folder)
    folder.mkdir()
    with pytest.raises(UsageError, match="is not a crawl: it has no crawl"):
        Crawl.open(folder)
    (folder / "notes").write_text("")
    assert complain(folder, [SEED]).startswith("D is not a crawl: it has notes")


def test_a_crawl_in_use_says_so(folder: Path) -> None:
    crawl = Crawl.create(folder, [SEED])
    with hold_folder(folder):
        assert crawl.status().state == "running"
        assert complain(folder, [SEED]).startswith("D is in use: a crawl runs there (process ")
        with pytest.raises(UsageError, match="is in use"):
            crawl.run()
        with pytest.raises(UsageError, match="the crawl is starting"):
            crawl.pause()


def test_a_path_that_cannot_be_one_is_told(folder: Path) -> None:
    (folder.parent / "file").write_text("")
    (folder.parent / "dangling").symlink_to("/nowhere/at/all")
    assert complain(folder.parent / "file" / "x", [SEED]) == "D cannot be made: Not a directory"
    assert complain(folder.parent / "dangling", [SEED]) == "D cannot be made: File exists"
    assert complain(folder.parent / ("x" * 300), [SEED]) == "D: File name too long"
    assert complain(folder.parent / "\udcff", [SEED]) == "D: not allowed; the path may be any UTF-8"


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (
            b"https://example.org/\nexample.com\n",
            "D/seeds.txt: example.com is not a URL in normal form; give new seeds",
        ),
        (b"http://EXAMPLE.org/", "D/seeds.txt: http://EXAMPLE.org/ is not"),
        (b"\xff", "D/seeds.txt is not UTF-8 at byte 0"),
    ],
)
def test_seeds_that_were_written_by_hand_are_checked(folder: Path, body: bytes, complaint: str) -> None:
    Crawl.create(folder, [SEED])
    (folder / "seeds.txt").write_bytes(body)
    assert complain(folder).startswith(complaint)


@pytest.mark.parametrize("command", ["pause", "resume", "stop"])
def test_who_does_not_run_cannot_be_told(folder: Path, command: str) -> None:
    crawl = Crawl.create(folder, [SEED])
    with pytest.raises(UsageError, match="no crawl runs there"):
        getattr(crawl, command)()


def test_a_crawl_runs_and_goes_on(folder: Path) -> None:
    heard: list[Status] = []
    with Web(make_site(["a.test"], 12)) as web:
        resolve = [f"a.test=127.0.0.1:{web.ports['127.0.0.1']}"]
        crawl = Crawl.create(folder, ["http://a.test/"], resolve=resolve, delay_s=0, shards=1, pages=5, ways=())
        status = crawl.run(heard.append)
        assert (status.state, status.reason, status.totals.pages) == ("ended", "pages", 5)
        assert heard[0].state == "running"
        assert heard[-1] == status and sum(one.is_over for one in heard) == 1
        assert (status.shards[0].state, status.shards[0].connections) == ("ended", 0)
        assert crawl.status() == status
        status = Crawl.create(folder, pages=0).run()
    assert (status.state, status.reason, status.totals.pages) == ("ended", "finished", 12)
    assert status.limits == {}
    assert status.elapsed_s > status.run_s > 0


def test_who_watches_with_an_error_ends_the_crawl(folder: Path) -> None:
    """Nobody would notice otherwise that nothing is told, and no limit of time kept, any more."""

    def watch(status: Status) -> None:
        if status.totals.pages:
            raise ValueError("mine")

    with Web(make_chain("a.test", 10_000)) as web:
        resolve = [f"a.test=127.0.0.1:{web.ports['127.0.0.1']}"]
        crawl = Crawl.create(folder, ["http://a.test/"], resolve=resolve, delay_s=0, shards=1)
        with pytest.raises(ValueError, match="mine"):
            crawl.run(watch)
    assert not is_in_use(folder)
    status = Crawl.open(folder).status()
    assert (status.state, status.reason) == ("stopped", "what watched it failed: mine")
    assert (status.shards[0].state, status.shards[0].connections) == ("stopped", 0)


def test_a_status_that_cannot_be_written_does_not_stop_the_limits(folder: Path) -> None:
    """As on a disk that is full for a while."""

    def watch(status: Status) -> None:
        heard.append(status)
        # A folder of that name is in the way; root can write all else.
        (folder / "status.json.new").mkdir(exist_ok=True)

    heard: list[Status] = []
    with Web(make_chain("a.test", 10_000)) as web:
        resolve = [f"a.test=127.0.0.1:{web.ports['127.0.0.1']}"]
        crawl = Crawl.create(folder, ["http://a.test/"], resolve=resolve, delay_s=0, shards=1, time_s=5)
        status = crawl.run(watch)
    assert (status.state, status.reason) == ("ended", "time")
    assert len(heard) >= 3


def test_a_shard_whose_disk_is_missing_does_not_begin_anew(folder: Path) -> None:
    with Web(make_site(["a.test"], 3)) as web:
        resolve = [f"a.test=127.0.0.1:{web.ports['127.0.0.1']}"]
        crawl = Crawl.create(folder, ["http://a.test/"], resolve=resolve, delay_s=0, shards=1)
        check_disk(folder, 0)
        crawl.run()
    check_disk(folder, 0)
    (folder / "shards/000/frontier").rename(folder / "shards/000/elsewhere")
    for name in ("status.json", "crawl.toml"):
        with pytest.raises(FileNotFoundError, match="its frontier is missing"):
            check_disk(folder, 0)
        # Its life is on record, too.
        (folder / name).unlink()


def test_the_status_says_what_a_command_has_done_when_it_returns(folder: Path) -> None:
    with Web(make_chain("a.test", 10_000)) as web:
        flags = ["--delay", 0.02, "--shards", 2, *web.resolve({"*.test": "127.0.0.1"})]
        with Crawling(folder, "http://a.test/", *flags) as crawling:
            assert crawling.wait_until(lambda: len(web.log) > 5)
            crawl = Crawl.open(folder)
            for _ in range(3):
                crawl.pause()
                assert crawl.status().state == "paused"
                crawl.resume()
                assert crawl.status().state == "running"
            crawl.stop()
            assert crawl.status().state == "stopped"
