"""The quad store against a model of it: a dictionary of pages, and the set of all that they state.

Run as a program it is a writer to be killed: `test_quads.py FOLDER SEED`.
"""

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyoxigraph import DefaultGraph, Literal, NamedNode, RdfFormat, Store

from disks import mount_disk
from rdfspider.archive.outcomes import Effect, Outcome, make_stamp
from rdfspider.errors import InUseError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.quads import merge
from rdfspider.index.quads import view as quads
from rdfspider.index.quads.snapshots import find_newest, hold_snapshot, is_behind
from rdfspider.index.quads.view import QuadView
from rdfspider.vocabulary.terms import FETCHES_GRAPH, VOCABULARY, blank_prefix, fold_statements, make_graph_iri
from waiting import ShiftedTime

State = dict[str, set[str]]
"""Lines of N-Triples by graph; the merge is that of the empty name."""


@pytest.fixture
def paths(tmp_path: Path) -> IndexPaths:
    return IndexPaths(tmp_path)


@pytest.fixture(params=["bulk", "update"])
def way(request, monkeypatch) -> str:
    """Both ways to write: tests are too small for the one, and large pages too large for the other."""
    monkeypatch.setattr(merge, "_MIN_BULK_TRIPLES", 0 if request.param == "bulk" else 10**9)
    return request.param


def make_outcome(url: str, triples: Iterable[str], time: float, effect: Effect = Effect.REPLACE, **more) -> Outcome:
    text = "".join(f"{triple} <{make_graph_iri(url)}> .\n" for triple in triples)
    statements = {"jsonld": text} if effect == Effect.REPLACE else {}
    return Outcome(url, time, "s", 0, 1, effect, statements=statements, digest=more.pop("digest", f"d{time}"), **more)


def index(paths: IndexPaths, *batches: Sequence[Outcome]) -> State:
    """Take batches, each with a commit, and leave; what the store holds then."""
    view = QuadView(paths)
    for number, batch in enumerate(batches):
        view.apply(batch)
        view.commit({"s": number})
    view.close()
    return read_state(paths.quads)


def read_state(folder: Path) -> State:
    store = Store.read_only(str(folder))
    state = {"": dump(store, DefaultGraph())}
    for graph in store.named_graphs():
        if lines := {line for line in dump(store, graph) if not line.startswith("<urn:rdfspider:cursor:")}:
            state[graph.value] = lines
    return state


def dump(store: Store, graph: NamedNode | DefaultGraph) -> set[str]:
    return set(store.dump(from_graph=graph, format=RdfFormat.N_TRIPLES).decode().split("\n")[:-1])


def without_facts(state: State) -> State:
    return {graph: lines for graph, lines in state.items() if graph != FETCHES_GRAPH}


def model(outcomes: Iterable[Outcome]) -> State:
    newest: dict[str, Outcome] = {}
    for outcome in outcomes:
        known = newest.get(outcome.url)
        if outcome.effect != Effect.TOUCH and (known is None or make_stamp(outcome) > make_stamp(known)):
            newest[outcome.url] = outcome
    state: State = {"": set()}
    for url, outcome in newest.items():
        if triples := fold_statements(outcome.statements, url):
            state[make_graph_iri(url)] = {f"{triple} ." for triple in triples}
            state[""] |= state[make_graph_iri(url)]
    return state


def make_history(seed: int, pages: int = 6, length: int = 40, size: int = 12) -> list[Outcome]:
    """Outcomes of some pages that state much of the same; times are met twice, digests not."""
    chance = random.Random(seed)
    shared = [f'<http://x/{number % 5}> <http://p/{number % 3}> "{number}"' for number in range(size)]
    history = []
    for number in range(length):
        url = f"http://site{chance.randrange(2)}.example/{chance.randrange(pages)}"
        own = [f"{blank_prefix(url, 'jsonld')}{node} <http://p/0> <http://x/{node}>" for node in range(size // 2)]
        triples = chance.sample(shared, size // 2) + chance.sample(own, size // 4)
        effect = chance.choices([Effect.REPLACE, Effect.TOUCH, Effect.REMOVE], [7, 2, 2])[0]
        history.append(make_outcome(url, triples, chance.randrange(length), effect, digest=f"d{number}", status=number))
    return history


@pytest.mark.parametrize("seed", range(2))
def test_the_merge_is_what_all_pages_state(paths, way, seed):
    history = make_history(seed)
    view = QuadView(paths)
    for end in range(0, len(history), 5):
        view.apply(history[end : end + 5])
        if end % 3 == 0:
            # Replays change nothing.
            view.apply(history[: end + 2])
        view.commit({"s": end})
    view.close()
    state = read_state(paths.quads)
    assert without_facts(state) == model(history)
    assert len(state[""]) < sum(len(lines) for lines in model(history).values())


@pytest.mark.parametrize("seed", range(2))
def test_the_order_does_not_matter(tmp_path, way, seed):
    history = make_history(seed)
    expected = index(IndexPaths(tmp_path / "0"), history)
    assert without_facts(expected) == model(history)
    for number in (1, 2):
        random.Random(number).shuffle(history)
        batches = [history[start : start + 10] for start in range(0, len(history), 10)]
        assert index(IndexPaths(tmp_path / str(number)), *batches) == expected


def test_a_triple_goes_when_the_last_page_that_states_it_does(paths, way):
    one, two, triple = "http://a.example/", "http://b.example/", '<http://x/> <http://p/> "1"'
    first = [make_outcome(one, [triple], 1), make_outcome(two, [triple], 1)]
    assert index(paths, first)[""] == {f"{triple} ."}
    assert index(paths, [make_outcome(one, [], 2, Effect.REMOVE)])[""] == {f"{triple} ."}
    assert index(paths, [make_outcome(two, [], 2)])[""] == set()


def test_pages_that_leave_and_come_in_one_batch(paths, way):
    one, two, three = (f"http://{name}.example/" for name in "abc")
    both, new = '<http://x/> <http://p/> "both"', '<http://x/> <http://p/> "new"'
    index(paths, [make_outcome(one, [both, new], 1), make_outcome(two, [both], 1)])
    changes = [make_outcome(one, [], 2), make_outcome(two, [], 2), make_outcome(three, [new], 2)]
    assert without_facts(index(paths, changes)) == {"": {f"{new} ."}, three: {f"{new} ."}}


def test_what_a_page_says_of_a_page_is_no_fact_about_its_fetch(paths, way):
    """A statement that is a fact as well goes with the page, and the fact stays."""
    url = "http://a.example/"
    fact = f'<{url}> <http://purl.org/dc/terms/title> "T"'
    index(paths, [make_outcome(url, [fact], 1, title="T")])
    state = index(paths, [make_outcome(url, [], 2, title="T")])
    assert state[""] == set()
    assert f"{fact} ." in state[FETCHES_GRAPH]


def test_removed_pages_do_not_come_back_from_an_older_capture(paths):
    url, triple = "http://a.example/", '<http://x/> <http://p/> "1"'
    index(paths, [make_outcome(url, [], 5, Effect.REMOVE, status=410)])
    state = index(paths, [make_outcome(url, [triple], 4, status=200)])
    assert without_facts(state) == {"": set()}
    assert not any('"200"' in fact for fact in state[FETCHES_GRAPH])


def test_a_touch_changes_when_it_was_visited_and_nothing_else(paths):
    url, triple = "http://a.example/", '<http://x/> <http://p/> "1"'
    before = index(paths, [make_outcome(url, [triple], 1, status=200, title="T")])
    state = index(paths, [make_outcome(url, [], 9, Effect.TOUCH, status=304)])
    assert without_facts(state) == without_facts(before)
    changed = {line.split(" ")[1] for line in state[FETCHES_GRAPH] ^ before[FETCHES_GRAPH]}
    assert changed == {
        f"<{VOCABULARY}visit>",
        f"<{VOCABULARY}visited>",
        "<http://www.w3.org/2011/http#statusCodeValue>",
    }


XSD = "http://www.w3.org/2001/XMLSchema#"
ODD = [
    f'"007"^^<{XSD}integer>',
    f'"1.50"^^<{XSD}decimal>',
    f'"2020-01-01T00:00:00.000+00:00"^^<{XSD}dateTime>',
    f'"TRUE"^^<{XSD}boolean>',
    '"a \\\\u0022 } } ; DROP ALL ; \\" \\u0007 # \\n \\\\"',
    '"x"@en-US',
    "<http://x/?a='b'#c>",
    '"\U0010ffff\ufffe\u2028 \u0085 é"',
]


def test_values_that_the_store_writes_in_its_own_way(paths, way):
    url = "http://a.example/"
    triples = [f"<http://x/> <http://p/{number}> {value}" for number, value in enumerate(ODD)]
    state = index(paths, [make_outcome(url, triples, 1)])
    assert len(state[""]) == len(state[url]) == len(ODD)
    more = '<http://x/> <http://p/> "more"'
    changed = index(paths, [make_outcome(url, [*triples, more], 2)])
    assert changed[""] == changed[url] == state[""] | {f"{more} ."}
    assert without_facts(index(paths, [make_outcome(url, [], 3)])) == {"": set()}


def test_lines_that_are_no_quads_are_left_out(paths, way):
    """A log is only as good as its writer; what it says is never run."""
    url, good = "http://a.example/", '<http://x/> <http://p/> "1"'
    bad = [
        '<http://x/> <http://p/> "x" } } ; CLEAR ALL ; INSERT DATA { <a:a> <a:b> "c"',
        '<http://x/> <http://p/> "open',
        "a b c",
    ]
    state = index(paths, [make_outcome(url, [*bad, good], 1), make_outcome("http://b.example/", [good], 1)])
    assert state[""] == state[url] == {f"{good} ."}


REFUSED = [
    '<http://x/> <http://p/> "a\\uD800b"',
    '<http://x/> <http://p/> "\\UFFFFFFFF"',
    '<http://x/> <http://p/> "\\q"',
    '<http://x/> <http://p/> "a" b"',
    '<http://x/> <http://p/> "a\rb"',
    '<http://x/\\uD800> <http://p/> "a"',
    '<http://x/\\UFFFFFFFF> <http://p/> "a"',
    '<http://x/\\U00110000> <http://p/> "a"',
    '<http://x/> <http://p/\\U00110000> "a"',
    '<http://x/\0> <http://p/> "a"',
    '<http://x/\\u0000> <http://p/> "a"',
    '<http://x/ y> <http://p/> "a"',
    '<http://x/\\u0020y> <http://p/> "a"',
    '<http://x/\\u003E\\u0020<http://p/>\\u0020<http://o/>\\u0020<http://g/>\\u0020.\\u000A<http://x/> <http://p/> "a"',
    '<http://x/> <http://p/> "a"@en_US',
    '<http://x/> <http://p/> "a"@toolongsubtag',
    '<http://x/> <http://p/> "a"^^<not an iri>',
    "<http://x/> <http://p/> <http://o/> <http://g/>",
    '<http://x/> <http://p/> "a" } } ; DROP ALL ; INSERT DATA { GRAPH <http://g/> { <http://x/> <http://p/> "a"',
    '<http://x/> _:b "a"',
    '"s" <http://p/> "a"',
]


@pytest.mark.parametrize("line", REFUSED)
def test_a_line_that_the_store_refuses_costs_nothing_but_itself(paths, way, line):
    url, fine = "http://a.example/", '<http://x/> <http://p/> "fine"'
    state = index(paths, [make_outcome(url, [fine, line], 1), make_outcome("http://b.example/", [fine], 1)])
    assert without_facts(state) == {"": {f"{fine} ."}, url: {f"{fine} ."}, "http://b.example/": {f"{fine} ."}}
    changed = [make_outcome(url, [line, fine.replace("fine", "new")], 2)]
    assert index(paths, changed)[url] == {'<http://x/> <http://p/> "new" .'}


def test_odd_texts_that_are_valid_are_kept(paths, way):
    texts = ["a\0b", "x" * 1_000_000, "\u202e"]
    lines = [f'<http://x/{number}> <http://p/> "{text}"' for number, text in enumerate(texts)]
    index(paths, [make_outcome("http://a.example/", lines, 1)])
    found = Store.read_only(str(paths.quads)).quads_for_pattern(None, NamedNode("http://p/"), None, DefaultGraph())
    assert sorted(quad.object.value for quad in found) == sorted(texts)


def test_a_page_of_which_nothing_can_be_said_stops_no_other(paths, way, caplog):
    odd = make_outcome("http://a.example/", ['<http://x/> <http://p/> "1"'], float("nan"))
    half = make_outcome("http://c.example/", ['<http://x/> <http://p/> "\ud800"'], 1, title="\ud800")
    state = index(paths, [odd, make_outcome("http://b.example/", ['<http://x/> <http://p/> "2"'], 1), half])
    assert set(without_facts(state)) == {"", "http://b.example/", "http://c.example/"}
    assert "<http://a.example/> is not indexed" in caplog.text


def test_cursors_are_those_of_the_last_commit(paths):
    view = QuadView(paths)
    assert view.load_cursors() == {}
    cursors = {"000/shard-000-facts-000001.warc.gz": 5, '/tmp/ä b "<>\\%20.warc': 7, "forgotten.txt": 0}
    view.commit(cursors)
    view.commit({**cursors, "forgotten.txt": 2})
    view.apply([make_outcome("http://a.example/", [], 1)])
    view.close()
    view = QuadView(paths)
    assert view.load_cursors() == {**cursors, "forgotten.txt": 2}
    view.close()


def test_forgotten_pages_leave_nothing(paths, way):
    shared, own = '<http://x/> <http://p/> "shared"', '<http://x/> <http://p/> "own"'
    urls = ["http://a.example/1", "http://a.example/ä b", "http://a.example/gone", "http://b.example/"]
    view = QuadView(paths)
    view.apply(
        [make_outcome(url, [shared, own] if "a.example" in url else [shared], 1) for url in urls if "gone" not in url]
    )
    view.apply([make_outcome(urls[2], [], 1, Effect.REMOVE)])
    asked: list[str] = []
    view.forget(lambda url: asked.append(url) or "a.example" in url)
    view.commit({})
    view.close()
    assert sorted(asked) == sorted(urls)
    state = read_state(paths.quads)
    assert without_facts(state) == {"": {f"{shared} ."}, urls[3]: {f"{shared} ."}}
    assert all(line.startswith(f"<{urls[3]}> ") for line in state[FETCHES_GRAPH])


def test_what_waits_may_be_overtaken_after_it_was_folded():
    """A batch that could not be written waits on, and the next outcome of a page may say that it is gone."""
    url = "http://a.example/"
    outcome = make_outcome(url, ['<http://x/> <http://p/> "1"'], 1)
    news = merge.News(outcome)
    news.add(outcome)
    news.fold()
    assert news.triples
    news.add(make_outcome(url, [], 2, Effect.REMOVE))
    news.fold()
    assert not news.triples


def test_a_store_that_is_written_is_refused(paths):
    view = QuadView(paths)
    with pytest.raises(InUseError, match="in use"):
        QuadView(paths)
    view.close()
    QuadView(paths).close()


def test_a_write_that_changed_nothing_leaves_nothing_behind(paths):
    same = [make_outcome("http://a.example/", ['<http://x/> <http://p/> "1"'], 1)]
    index(paths, same, same, [])
    assert not is_behind(paths.snapshots)
    view = QuadView(paths)
    view.apply(same)
    view.commit({"s": 5})
    view.commit({"s": 5})
    assert not is_behind(paths.snapshots)
    view.close()


def test_readers_get_a_snapshot_when_one_is_due(paths, monkeypatch):
    def names() -> list[str]:
        return sorted(path.name for path in paths.snapshots.glob("0*"))

    view = QuadView(paths)
    view.commit({})
    assert names() == ["000001"], "an empty index can be asked"
    view.commit({})
    assert names() == ["000001"], "nothing has changed"
    view.apply([make_outcome("http://a.example/", ['<http://x/> <http://p/> "1"'], 1)])
    view.commit({"s": 1})
    assert names() == ["000001"], "it is too soon"
    view.commit({"s": 1})
    assert names() == ["000002"], "at rest"
    view.commit({"s": 2})
    assert names() == ["000002"]
    view.apply([make_outcome("http://a.example/", ['<http://x/> <http://p/> "2"'], 2)])
    monkeypatch.setattr(quads, "SNAPSHOT_QUADS", 2)
    view.commit({"s": 3})
    assert names() == ["000003"], "after many quads"
    monkeypatch.undo()
    monkeypatch.setattr(quads, "SNAPSHOT_S", 0.0)
    with hold_snapshot(paths.snapshots):
        for number in range(3, 6):
            view.apply([make_outcome("http://a.example/", [f'<http://x/> <http://p/> "{number}"'], number)])
            view.commit({"s": number})
        assert names() == ["000003", "000006"], "after some seconds; what is held stays"
    view.close()
    assert read_state(find_newest(paths.snapshots))[""] == {'<http://x/> <http://p/> "5" .'}


def test_what_a_killed_writer_had_committed_comes_to_readers_without_news(paths):
    view = QuadView(paths)
    view.commit({})
    view.apply([make_outcome("http://a.example/", ['<http://x/> <http://p/> "1"'], 1)])
    view.commit({"s": 1})
    # It ends here, as by `kill -9` or a full disk, before the snapshot.
    del view
    again = QuadView(paths)
    assert again.load_cursors() == {"s": 1}
    again.commit({"s": 1})
    again.close()
    assert read_state(find_newest(paths.snapshots))[""] == {'<http://x/> <http://p/> "1" .'}


def test_the_logs_of_the_store_do_not_pile_up(paths):
    for _ in range(6):
        QuadView(paths).close()
    assert 1 <= len(list(paths.quads.glob("LOG.old.*"))) <= 3


HISTORY = {"pages": 60, "length": 400, "size": 60}


@pytest.mark.parametrize("seed", range(4))
def test_kill_at_any_instant(paths, seed):
    history = make_history(seed, **HISTORY)
    for attempt in range(3):
        command = [sys.executable, __file__, str(paths.folder), str(seed)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
        writer = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        with writer:
            assert writer.stdout.readline() == b"ready\n"
            time.sleep(random.Random(seed * 10 + attempt).uniform(0.0, 0.12))
            writer.kill()
        state = read_state(paths.quads)
        pages = [lines for graph, lines in state.items() if graph not in ("", FETCHES_GRAPH)]
        assert state[""] == set().union(*pages), "the merge is right at every instant"
    # What comes after the crash may be newer than what was being written.
    newer = [
        replace(outcome, time=1000.0 + number) for number, outcome in enumerate(make_history(seed + 50, **HISTORY)[:50])
    ]
    assert without_facts(index(paths, newer, history)) == model([*history, *newer])


def write_until_killed(folder: Path, seed: int) -> None:
    merge._MIN_BULK_TRIPLES = 300
    view = QuadView(IndexPaths(folder))
    start = view.load_cursors().get("s", 0)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    history = make_history(seed, **HISTORY)
    for end in range(start, len(history), 15):
        view.apply(history[end : end + 15])
        view.commit({"s": end + 15})
    time.sleep(60)


def test_a_full_disk_loses_nothing(tmp_path):
    with mount_disk(tmp_path / "disk", 60_000_000) as disk:
        paths = IndexPaths(disk)
        view = QuadView(paths)
        good = make_outcome("http://a.example/", ['<http://x/> <http://p/> "1"'], 1)
        view.apply([good])
        view.commit({"s": 1})
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(40_000_000))
        chance = random.Random(1)
        rest = [
            make_outcome(
                f"http://b.example/{number}",
                [f'<http://x/{number}/{part}> <http://p/> "{chance.randbytes(1000).hex()}"' for part in range(40)],
                1,
            )
            for number in range(300)
        ]
        is_full = False
        try:
            for start in range(0, len(rest), 100):
                view.apply(rest[start : start + 100])
                view.commit({"s": 2 + start})
        except OSError:
            is_full = True
        assert is_full
        assert view.load_cursors()["s"] < 202
        ballast.unlink()
        view.apply(rest[:100])
        view.commit({"s": 999})
        view.close()
        state = read_state(paths.quads)
        assert '<http://x/> <http://p/> "1" .' in state[""]
        assert len(state["http://b.example/99"]) == 40
        assert state[""] == set().union(*(lines for graph, lines in state.items() if graph not in ("", FETCHES_GRAPH)))


def test_every_pattern_is_one_look_up(tmp_path):
    """The time to an answer does not grow with the store, whatever is known of subject, predicate, object and graph."""
    # Both are large enough to be loaded in bulk, so both are read from files.
    small, large = (fill(tmp_path / str(pages), pages) for pages in (60, 1800))
    assert len(large) > 20 * len(small)
    times = {pattern: measure_pattern(pattern, small, large) for pattern in product((False, True), repeat=4)}
    assert not {pattern: medians for pattern, medians in times.items() if medians[1] > 5 * medians[0]}


def fill(folder: Path, pages: int) -> Store:
    paths = IndexPaths(folder)
    view = QuadView(paths)
    view.apply(
        [
            make_outcome(
                f"http://a.example/{page}",
                [f'<http://x/{page}> <http://p/{page}/{part}> "{page} {part}"' for part in range(40)],
                1,
            )
            for page in range(pages)
        ]
    )
    view.commit({})
    view.close()
    return Store.read_only(str(paths.quads))


def measure_pattern(pattern: tuple[bool, ...], *stores: Store) -> list[float]:
    """Seconds of the processor until the first quad in each store, as medians; taken in turns, as others may slow it down."""
    quad = (NamedNode("http://x/7"), NamedNode("http://p/7/3"), Literal("7 3"), NamedNode("http://a.example/7"))
    subject, predicate, obj, graph = (term if is_known else None for term, is_known in zip(quad, pattern, strict=True))
    times: list[list[float]] = [[] for _ in stores]
    for _ in range(60):
        for store, taken in zip(stores, times, strict=True):
            start = time.thread_time()
            found = next(store.quads_for_pattern(subject, predicate, obj, graph), None)
            taken.append(time.thread_time() - start)
            assert found is not None
    return [statistics.median(taken) for taken in times]


def test_a_page_that_asks_to_be_gone_later_is_removed_then_as_if_it_had_been_at_once(tmp_path, way, monkeypatch):
    clock = ShiftedTime()
    monkeypatch.setattr(quads, "time", clock)
    later = time.time() + 1000
    pages = [
        make_outcome(f"http://{name}.example/", ["<http://x> <http://p> <http://y>"], 1.0, reason="fetched")
        for name in "abc"
    ]
    pages = [replace(page, due=due) for page, due in zip(pages, (later, later + 99, 0.0), strict=True)]
    touch = make_outcome("http://c.example/", [], 2.0, Effect.TOUCH, due=later)
    paths = IndexPaths(tmp_path / "late")
    view = QuadView(paths)
    view.apply([*pages, touch])
    view.commit({"s": 1})
    assert not view.has_deferred
    view.close()
    clock.ahead_s = 1001
    view = QuadView(paths)
    assert view.has_deferred, "nobody need bring news"
    view.commit({"s": 1})
    assert not view.has_deferred
    view.close()
    gone = [
        replace(page, effect=Effect.REMOVE, reason="noindex", statements={}, due=0.0) for page in (pages[0], pages[2])
    ]
    plain = replace(touch, due=0.0)
    assert read_state(paths.quads) == index(IndexPaths(tmp_path / "again"), [gone[0], pages[1], gone[1], plain])


def test_when_a_page_is_to_be_gone_is_kept_by_visits_and_not_by_a_new_page(tmp_path):
    url, triples, now = "http://a.example/", ["<http://x> <http://p> <http://y>"], time.time()
    first, touch = make_outcome(url, triples, 1.0, due=now - 1), make_outcome(url, [], 2.0, Effect.TOUCH)
    assert without_facts(index(IndexPaths(tmp_path / "1"), [first], [touch])) == {"": set()}
    newer = make_outcome(url, triples, 3.0)
    assert url in index(IndexPaths(tmp_path / "2"), [newer, first, touch])


@pytest.mark.parametrize("is_reverse", [False, True])
def test_of_the_same_moment_the_same_outcome_counts_in_whatever_order(tmp_path, is_reverse):
    url = "http://a.example/"
    rivals = [make_outcome(url, [f"<http://x> <http://p> <http://{name}>"], 1.0) for name in "abc"]
    rivals.append(make_outcome(url, [], 1.0, Effect.REMOVE))
    one = index(IndexPaths(tmp_path / "one"), rivals)
    other = index(IndexPaths(tmp_path / "other"), *[[each] for each in (reversed(rivals) if is_reverse else rivals)])
    assert one == other and len(one[""]) == 1


if __name__ == "__main__":
    write_until_killed(Path(sys.argv[1]), int(sys.argv[2]))
