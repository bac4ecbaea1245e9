"""The graph as a view of the log: the answers are the same however it was read, merged, forgotten and killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.index.graph.pages import Model, dump, make_history, make_page, remove_page

from disks import mount_disk
from rdfspider.errors import UnindexedError, UnreadableError
from rdfspider.index.graph import state as state_module
from rdfspider.index.graph import view as view_module
from rdfspider.index.graph.generation import Generation
from rdfspider.index.graph.merging import Merge
from rdfspider.index.graph.reader import GraphReader
from rdfspider.index.graph.view import GraphView, read_graph_cursors
from rdfspider.index.layout import VERSION, IndexPaths
from waiting import PATIENCE_S


def make_paths(folder: Path) -> IndexPaths:
    paths = IndexPaths(folder)
    paths.index.mkdir(parents=True, exist_ok=True)
    paths.version.write_text(f"{VERSION}\n")
    return paths


def rest(view: GraphView, cursors: dict[str, int]) -> None:
    view.commit(cursors)
    while view.has_deferred:
        view.commit(cursors)


@contextmanager
def read(paths: IndexPaths) -> Iterator[GraphReader]:
    with closing(GraphReader(paths)) as reader:
        yield reader


@pytest.fixture(autouse=True)
def _in_haste(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every commit makes a generation, three of them are merged, and samples are taken from four links at a time."""
    monkeypatch.setattr(view_module, "FLUSH_S", 0.0)
    monkeypatch.setattr(view_module, "_DUTY", 1e9)
    monkeypatch.setattr(view_module, "FAN_OUT", 3)
    monkeypatch.setattr(state_module, "_SOURCES_A_STEP", 4)


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("apply"), st.integers(1, 40)),
        st.tuples(st.just("again"), st.integers(1, 40)),
        st.tuples(st.just("commit"), st.just(0)),
        st.tuples(st.just("rest"), st.just(0)),
        st.tuples(st.just("reopen"), st.just(0)),
        st.tuples(st.just("forget"), st.integers(0, 5)),
    ),
    max_size=40,
)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1000), steps=STEPS)
def test_whatever_way_the_log_was_read_the_answers_are_those_of_a_rebuild(
    tmp_path_factory: pytest.TempPathFactory, seed: int, steps: list[tuple[str, int]]
) -> None:
    paths = make_paths(tmp_path_factory.mktemp("graph"))
    history, model, place, done = make_history(seed, 300), Model(), 0, 0
    chance = random.Random(seed)
    forgotten: set[str] = set()
    view = GraphView(paths)
    for step, number in [*steps, ("rest", 0)]:
        if step == "apply":
            place, start = min(place + number, len(history)), place
            some = [each for each in history[start:place] if not any(host in each.url for host in forgotten)]
            view.apply(some)
            model.apply(some)
        elif step == "again":
            again = [each for each in history[:place] if not any(host in each.url for host in forgotten)]
            view.apply(chance.sample(again, min(number, len(again))))
        elif step == "commit":
            view.commit({"log": place})
            done = place
        elif step == "rest":
            rest(view, {"log": place})
            done = place
            with read(paths) as reader:
                pages, links = dump(reader)
            assert set(pages) == model.list_pages()
            assert set(links) == model.list_links()
        elif step == "reopen":
            view.close()
            view = GraphView(paths)
            assert view.load_cursors().get("log", 0) <= done
            missing = [each for each in history[:place] if not any(host in each.url for host in forgotten)]
            view.apply(missing)
        else:
            forgotten.add(f"//www{number}.")
            view.forget(lambda url, host=f"//www{number}.": host in url)  # type: ignore[misc]
            model.forget(lambda url, host=f"//www{number}.": host in url)  # type: ignore[misc]
            view.commit({"log": done})
    view.close()
    assert not list(paths.graph.glob("*.new"))


def test_rebuild_has_the_same_bytes_of_answers_in_any_order(tmp_path: Path) -> None:
    history = make_history(11, 400)
    dumps = []
    for turn in range(3):
        paths = make_paths(tmp_path / str(turn))
        with closing(GraphView(paths)) as view:
            order = list(history)
            random.Random(turn).shuffle(order)
            for start in range(0, len(order), (400, 37, 5)[turn]):
                view.apply(order[start : start + (400, 37, 5)[turn]])
                view.commit({"log": start})
            rest(view, {"log": 400})
        with read(paths) as reader:
            dumps.append(dump(reader))
    assert dumps[0] == dumps[1] == dumps[2]
    assert dumps[0][1]


@pytest.mark.parametrize("has_new", [True, False])
@pytest.mark.parametrize("has_forgotten", [True, False])
def test_what_changes_while_generations_are_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_new: bool, has_forgotten: bool
) -> None:
    merged, may_end, run = threading.Event(), threading.Event(), Merge.run

    def run_slowly(merge: Merge) -> Generation:
        generation = run(merge)
        merged.set()
        assert may_end.wait(PATIENCE_S)
        return generation

    monkeypatch.setattr(Merge, "run", run_slowly)
    paths, history, model = make_paths(tmp_path), make_history(4, 300), Model()
    with closing(GraphView(paths)) as view:
        for start in (0, 60, 120):
            view.apply(history[start : start + 60])
            view.commit({"log": start})
        assert merged.wait(PATIENCE_S)
        model.apply(history[:180])
        if has_new:
            view.apply(history[180:])
            model.apply(history[180:])
            view.commit({"log": 300})
        if has_forgotten:
            view.forget(lambda url: "//www1." in url)
            model.forget(lambda url: "//www1." in url)
            view.commit({"log": 300})
        with read(paths) as reader:
            before = dump(reader)
        assert set(before[1]) == model.list_links()
        may_end.set()
        rest(view, {"log": 300})
    with read(paths) as reader:
        assert dump(reader) == before
        assert len(reader._state.parts) <= 2
        # What was forgotten is in no row, not even in one that does not count.
        for part in reader._state.parts if has_forgotten else ():
            keys = part.generation.dictionary.read_all(part.generation.list_sources().tolist())
            assert not any(b",www1)" in key for key in keys)


def test_an_older_outcome_of_another_source_does_not_bring_back_a_page(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    with closing(GraphView(paths)) as view:
        view.apply([remove_page("http://a.test/", 5.0)])
        rest(view, {"log": 1})
        for number in range(9):
            view.apply([make_page(f"http://b.test/{number}", 1.0, ["http://c.test/"])])
            rest(view, {"log": 2 + number})
        view.apply([make_page("http://a.test/", 4.0, ["http://c.test/"])])
        rest(view, {"log": 20})
        with read(paths) as reader:
            assert not reader.has_page("http://a.test/")
            assert reader.find("http://a.test/") is None
            assert reader.count_in("http://c.test/") == 9
            assert reader.count_pages() == 10
        view.apply([make_page("http://a.test/", 6.0, ["http://c.test/"])])
        rest(view, {"log": 21})
        with read(paths) as reader:
            assert reader.count_in("http://c.test/") == 10


def test_what_is_forgotten_is_in_no_file(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    with closing(GraphView(paths)) as view:
        view.apply([make_page("http://secret.test/hidden", 1.0, ["http://c.test/"], anchors={"http://c.test/": "x"})])
        rest(view, {"log": 1})
        view.apply([make_page("http://b.test/", 1.0, ["http://c.test/"])])
        rest(view, {"log": 2})
        view.forget(lambda url: "secret" in url)
        view.commit({"log": 2, "forgotten.txt": 1})
        with read(paths) as reader:
            assert [link.url for link in reader.read_backlinks("http://c.test/")] == ["http://b.test/"]
            assert reader.find("http://secret.test/hidden") is None
        rest(view, {"log": 2, "forgotten.txt": 1})
    with read(paths) as reader:
        held = [key for part in reader._state.parts for keys in part.generation.dictionary.list_keys() for key in keys]
        assert held == [b"test,b)/", b"test,c)/"]
    assert read_graph_cursors(paths) == {"log": 2, "forgotten.txt": 1}


def test_while_pages_keep_coming_cursors_wait_for_the_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "FLUSH_S", 1e9)
    paths = make_paths(tmp_path)
    view = GraphView(paths)
    for number in range(5):
        view.apply([make_page(f"http://a.test/{number}", 1.0, ["http://b.test/"])])
        view.commit({"log": number + 1})
    # The first is shown at once.
    assert read_graph_cursors(paths) == {"log": 1}
    assert view.has_deferred
    with read(paths) as reader:
        assert reader.count_in("http://b.test/") == 1
        view.commit({"log": 5})
        view.commit({"log": 5})
        # More may come.
        assert view.has_deferred
        view.commit({"log": 5})
        assert not view.has_deferred
        assert reader.count_in("http://b.test/") == 1
        assert reader.refresh()
        assert reader.count_in("http://b.test/") == 5
        assert not reader.refresh()
    assert read_graph_cursors(paths) == {"log": 5}
    view.close()


def test_a_merge_commits_nothing_that_is_in_memory_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths, expires = make_paths(tmp_path), time.time() + 3600
    view = GraphView(paths)
    for number in range(1, 4):
        view.apply([make_page(f"http://a.test/{number}", 1.0, ["http://b.test/"], due=expires)])
        view.commit({"log": number})
    monkeypatch.setattr(view_module, "FLUSH_S", 1e9)
    assert view._merging is not None
    view._merging[0].result(PATIENCE_S)
    view.apply([make_page("http://a.test/4", 1.0, ["http://b.test/"])])
    view.commit({"log": 4})
    assert len(view._parts) == 1
    assert read_graph_cursors(paths) == {"log": 3}
    # As if the process were killed now: what it has written is all that the next one sees.
    after = make_paths(tmp_path / "after")
    shutil.copytree(paths.graph, after.graph)
    view.close()
    with closing(GraphView(after)) as view:
        assert view.load_cursors() == {"log": 3}
        assert len(view._parts) == 1
        assert [due.url for due in view._dues.list_all()] == [f"http://a.test/{number}" for number in range(1, 4)]
    with read(after) as reader:
        assert reader.count_in("http://b.test/") == 3


def test_generations_stay_few(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    with closing(GraphView(paths)) as view:
        for number in range(100):
            view.apply([make_page(f"http://a.test/{number % 30}", float(number), [f"http://b.test/{number}"])])
            rest(view, {"log": number})
            assert len(list(paths.graph.glob("*.graph"))) <= 4


FOLLOW = """
import sys
from pathlib import Path
from tests.index.graph.pages import make_history
from rdfspider.index.graph import view as view_module
from rdfspider.index.graph.view import GraphView
from rdfspider.index.layout import IndexPaths
view_module.FLUSH_S, view_module.FAN_OUT = 0.0, 3
history = make_history(5, 600)
view = GraphView(IndexPaths(Path(sys.argv[1])))
start = view.load_cursors().get("log", 0)
print("ready", flush=True)
for end in range(start + 7, len(history) + 7, 7):
    view.apply(history[end - 7 : end])
    view.commit({"log": min(end, len(history))})
while view.has_deferred:
    view.commit({"log": len(history)})
print("done", flush=True)
"""


def test_killed_at_any_instant_it_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"}
    paths = make_paths(tmp_path)
    chance = random.Random(3)
    cursors = []
    for attempt in range(9):
        command = [sys.executable, "-c", FOLLOW, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            if attempt < 8:
                time.sleep(chance.uniform(0.0, 0.15))
                process.send_signal(signal.SIGKILL)
            last = process.stdout.read()
        assert attempt < 8 or last == "done\n"
        cursors.append(read_graph_cursors(paths).get("log", 0))
    assert cursors == sorted(cursors)
    model = Model()
    model.apply(make_history(5, 600))
    with read(paths) as reader:
        pages, links = dump(reader)
    assert set(pages) == model.list_pages()
    assert set(links) == model.list_links()


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    with mount_disk(tmp_path / "disk", 3_000_000) as disk:
        paths = make_paths(disk)
        view = GraphView(paths)
        view.apply([make_page("http://a.test/", 1.0, ["http://b.test/"])])
        rest(view, {"log": 1})
        (disk / "ballast").write_bytes(bytes(2_000_000))
        chance = random.Random(1)
        many = [
            make_page(
                f"http://c.test/{number}", 1.0, [f"http://d.test/{chance.randbytes(40).hex()}" for _ in range(50)]
            )
            for number in range(500)
        ]
        view.apply(many)
        with pytest.raises(OSError, match="No space left"):
            view.commit({"log": 2})
        view.close()
        with read(paths) as reader:
            assert (reader.count_links(), read_graph_cursors(paths)) == (1, {"log": 1})
        (disk / "ballast").unlink()
        view = GraphView(paths)
        view.apply(many)
        rest(view, {"log": 2})
        view.close()
        with read(paths) as reader:
            assert reader.count_links() == 25_001


def test_an_index_without_a_graph_says_so(tmp_path: Path) -> None:
    paths = make_paths(tmp_path)
    with pytest.raises(UnindexedError, match="has no link graph yet: make it with `rdfspider index"):
        GraphReader(paths)
    with closing(GraphView(paths)) as view:
        assert view.load_cursors() == {}


@pytest.mark.parametrize("kind", ["changed", "cut", "deleted", "empty"])
def test_damage_is_told_and_never_answered(tmp_path: Path, kind: str) -> None:
    paths = make_paths(tmp_path)
    history = make_history(2, 200)
    with closing(GraphView(paths)) as view:
        view.apply(history)
        rest(view, {"log": 1})
    with read(paths) as reader:
        sound = dump(reader)
    chance = random.Random(kind)
    for path in sorted(paths.graph.iterdir()):
        whole = path.read_bytes()
        for _ in range({"changed": 150}.get(kind, 5)):
            if kind == "changed":
                place = chance.randrange(len(whole))
                path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << chance.randrange(8)]) + whole[place + 1 :])
            elif kind == "cut":
                path.write_bytes(whole[: chance.randrange(len(whole))])
            elif kind == "empty":
                path.write_bytes(b"")
            else:
                path.unlink(missing_ok=True)
            try:
                with read(paths) as reader:
                    assert dump(reader) == sound
            except (UnreadableError, UnindexedError) as error:
                assert "rdfspider index" in str(error)
        path.write_bytes(whole)
