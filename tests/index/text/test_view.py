"""The text index as a view of the log: replaced, removed, forgotten, killed, made again; always the same answers."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from index.ledger.test_writer import dump_rows
from index.pages import dump_index, find_cards, make_outcome, make_removal, person
from rdfspider.archive.outcomes import Effect, Outcome
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.ledger.writer import MAX_MENTIONS
from rdfspider.index.text import view as text_view
from rdfspider.index.text.searcher import TextIndex
from rdfspider.index.text.view import TextView
from rdfspider.results import Role
from waiting import ShiftedTime

ADA = "http://x.example/ada"


def ada(url: str, job: str = "Analyst", moment: float = 1.0) -> Outcome:
    return make_outcome(url, person("Ada", **{"@id": ADA, "jobTitle": job}), moment, digest=job)


def index(folder: Path, *batches: Iterable[Outcome]) -> None:
    view = TextView(IndexPaths(folder))
    for number, batch in enumerate(batches):
        view.apply(list(batch))
        view.commit({"log": number + 1})
    rest(view)
    view.close()


def rest(view: TextView) -> None:
    while view.has_deferred:
        view.commit(view.load_cursors())


def dump(folder: Path) -> object:
    return dump_index(folder), dump_rows(IndexPaths(folder).ledger)


def die(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_thing_on_two_pages_is_one_result_with_its_sources(tmp_path: Path) -> None:
    index(tmp_path, [ada("https://a.example/")], [ada("https://b.example/", "Poet")])
    (card,) = find_cards(tmp_path, "kind:entity AND types:person")
    assert card.id == ADA and card.sources == 2
    assert card.sites == ("a.example", "b.example")
    assert {page.url for page in card.pages} == {"https://a.example/", "https://b.example/"}
    assert [found.id for found in find_cards(tmp_path, "properties.jobtitle:poet")] == [ADA]
    pages = find_cards(tmp_path, "kind:page AND text:ada")
    assert {page.id for page in pages} == {"https://a.example/", "https://b.example/"}


def test_what_is_older_does_not_replace_what_is_newer(tmp_path: Path) -> None:
    view = TextView(IndexPaths(tmp_path))
    view.apply([ada("https://a.example/", "New", 5.0)])
    view.commit({"log": 1})
    view.apply([ada("https://a.example/", "Old", 4.0), make_removal("https://a.example/", 3.0)])
    view.commit({"log": 2})
    view.apply([ada("https://a.example/", "Ann", 5.0), Outcome("https://a.example/", 9.0, "log", 0, 1, Effect.TOUCH)])
    view.commit({"log": 3})
    view.close()
    assert len(find_cards(tmp_path, "properties.jobtitle:new")) == 1
    assert find_cards(tmp_path, "properties.jobtitle:old OR properties.jobtitle:ann") == []


def test_a_page_that_is_gone_is_not_found_and_older_captures_do_not_bring_it_back(tmp_path: Path) -> None:
    index(tmp_path, [ada("https://a.example/")], [make_removal("https://a.example/", 2.0)])
    assert dump_index(tmp_path) == {}
    index(tmp_path, [ada("https://a.example/")])
    assert dump_index(tmp_path) == {}


def test_forgotten_pages_are_gone(tmp_path: Path) -> None:
    view = TextView(IndexPaths(tmp_path))
    view.apply([ada("https://a.example/"), ada("https://b.example/")])
    view.commit({"log": 1})
    view.forget(lambda url: "//a." in url)
    view.commit({"log": 1, "forgotten.txt": 1})
    view.close()
    (card,) = find_cards(tmp_path, "kind:entity")
    assert card.sources == 1 and card.sites == ("b.example",)
    assert len(dump_index(tmp_path)) == 2


def test_cursors_are_those_of_the_last_commit(tmp_path: Path) -> None:
    view = TextView(IndexPaths(tmp_path))
    assert view.load_cursors() == {}
    view.apply([ada("https://a.example/")])
    view.commit({"log": 7})
    view.apply([ada("https://b.example/")])
    view.close()
    view = TextView(IndexPaths(tmp_path))
    assert view.load_cursors() == {"log": 7}
    view.close()
    assert len(dump_index(tmp_path)) == 2


def make_history(seed: int, length: int = 150) -> list[Outcome]:
    """Pages of some sites, most of them fetched several times, with things that many of them speak of."""
    chance = random.Random(seed)
    history = []
    for number in range(length):
        url = f"https://www.{number % 5}.example/{number % 60}"
        moment = 1_000.0 + number
        if chance.random() < 0.1:
            history.append(make_removal(url, moment))
        elif chance.random() < 0.5:
            history.append(ada(url, chance.choice(["Analyst", "Poet", "Countess"]), moment))
        elif chance.random() < 0.5:
            # The same people under several IRIs, and some who only say so.
            claims = {
                "@id": f"https://www.{number % 5}.example/{number % 7}#me",
                "sameAs": chance.choice(
                    [ADA, "https://www.wikidata.org/wiki/Q7259", "https://x.com/ada", "https://x.com/"]
                ),
                "email": chance.choice(["ada@x.example", "dan@x.example"]),
                "url": chance.choice(["https://ada.example/", url]),
            }
            name = chance.choice(["Ada", "Ada Byron", "Dan"])
            history.append(make_outcome(url, person(name, **claims), moment, digest=str(number)))
        else:
            name = chance.choice(["Bob", "Cleo", "東京"])
            more = "".join(person(f"{name} {n}") for n in range(chance.randrange(3)))
            history.append(make_outcome(url, person(name) + more, moment, digest=str(number)))
    return history


def test_a_rebuild_from_the_newest_and_any_order_give_the_same(tmp_path: Path) -> None:
    history = make_history(1)
    index(tmp_path / "grown", *(history[start : start + 30] for start in range(0, len(history), 30)))
    newest = {outcome.url: outcome for outcome in history}
    index(tmp_path / "rebuilt", newest.values())
    random.Random(2).shuffle(history)
    index(tmp_path / "shuffled", *(history[start : start + 30] for start in range(0, len(history), 30)))
    expected = dump(tmp_path / "rebuilt")
    assert len(dump_index(tmp_path / "rebuilt")) > 60
    assert dump(tmp_path / "grown") == expected
    assert dump(tmp_path / "shuffled") == expected


def test_an_outcome_that_is_taken_again_changes_nothing(tmp_path: Path) -> None:
    history = make_history(3)
    index(tmp_path / "once", history)
    index(tmp_path / "twice", history, history[50:], history)
    assert dump(tmp_path / "twice") == dump(tmp_path / "once")


@pytest.mark.parametrize("point", ["before the ledger", "after the ledger", "after the index"])
def test_a_commit_that_ends_halfway_is_made_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    history = make_history(4)
    index(tmp_path / "whole", history[:100], history[100:])
    view = TextView(IndexPaths(tmp_path / "broken"))
    view.apply(history[:100])
    view.commit({"log": 100})
    view.apply(history[100:])
    step = {
        "before the ledger": (view._ledger, "commit"),
        "after the ledger": (view, "_build"),
        "after the index": (view._ledger, "note_built"),
    }[point]
    monkeypatch.setattr(*step, die)
    with pytest.raises(KeyboardInterrupt):
        view.commit({"log": 150})
    view.close()
    view = TextView(IndexPaths(tmp_path / "broken"))
    start = view.load_cursors()["log"]
    assert start == (150 if point == "after the index" else 100)
    view.apply(history[start:])
    view.commit({"log": 150})
    rest(view)
    view.close()
    assert dump(tmp_path / "broken") == dump(tmp_path / "whole")


def test_pages_that_were_forgotten_in_a_commit_that_ends_halfway_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = TextView(IndexPaths(tmp_path))
    view.apply([ada("https://a.example/"), ada("https://b.example/")])
    view.commit({"log": 1})
    view.forget(lambda url: "//a." in url)
    monkeypatch.setattr(view, "_build", die)
    with pytest.raises(KeyboardInterrupt):
        view.commit({"log": 1, "forgotten.txt": 1})
    view.close()
    view = TextView(IndexPaths(tmp_path))
    view.forget(lambda url: "//a." in url)
    view.commit({"log": 1, "forgotten.txt": 1})
    view.close()
    assert len(dump_index(tmp_path)) == 2
    assert find_cards(tmp_path, "kind:entity")[0].sources == 1


FOLLOW = """
import sys, time
from pathlib import Path
from index.text.test_view import make_history
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.text.searcher import TextIndex
from rdfspider.index.text.view import TextView
from rdfspider.results import Role
history = make_history(5, 200)
view = TextView(IndexPaths(Path(sys.argv[1])))
start = view.load_cursors().get("log", 0)
print("reading from", start, flush=True)
last = start + 10 * int(sys.argv[2])
for end in range(start + 10, len(history) + 10, 10):
    view.apply(history[end - 10 : end])
    print("applied", flush=True)
    view.commit({"log": min(end, len(history))})
    if end == last:
        time.sleep(600)
while view.has_deferred:
    view.commit(view.load_cursors())
print("done", flush=True)
"""


def test_killed_at_any_instant_it_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    chance = random.Random(6)
    # Each time it comes a little further, and is killed at some moment of a commit, after which it would do nothing more.
    for steps in (1, 2, 2, 3, 0):
        process = subprocess.Popen(
            [sys.executable, "-c", FOLLOW, tmp_path / "killed", str(steps)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert process.stdout is not None
        with process:
            assert process.stdout.readline().startswith("reading from")
            for _ in range(steps):
                assert process.stdout.readline() == "applied\n"
            if steps:
                time.sleep(chance.uniform(0.0, 0.04))
                process.send_signal(signal.SIGKILL)
            last = process.stdout.read().splitlines()[-1:]
        assert (last == ["done"]) == (steps == 0)
    history = make_history(5, 200)
    index(tmp_path / "whole", {outcome.url: outcome for outcome in history}.values())
    assert dump(tmp_path / "killed") == dump(tmp_path / "whole")


def test_an_entity_is_put_off_while_pages_of_its_site_say_nothing_new_of_it(tmp_path: Path) -> None:
    view = TextView(IndexPaths(tmp_path))

    def apply(*outcomes: Outcome) -> int:
        view.apply(outcomes)
        view.commit({"log": 1})
        return find_cards(tmp_path, "kind:entity")[0].sources

    assert apply(ada("https://a.example/1")) == 1
    assert apply(ada("https://a.example/2"), ada("https://a.example/3")) == 1
    assert view.has_deferred
    assert apply(ada("https://a.example/4")) == 4, "four times as many"
    assert apply(ada("https://a.example/5")) == 4
    assert apply(ada("https://b.example/1")) == 6, "another site"
    assert apply(ada("https://b.example/2", "Poet")) == 7, "another statement"
    assert apply(ada("https://b.example/3", "Poet")) == 7
    assert apply(ada("https://b.example/3", "Poet", 2.0)) == 8, "a page that is replaced may have said more"
    assert apply(ada("https://b.example/4", "Poet")) == 8
    view.forget(lambda url: url == "https://a.example/1")
    assert apply() == 8, "nothing of a forgotten page stays"
    assert "https://a.example/1" not in {page.url for page in find_cards(tmp_path, "kind:entity")[0].pages}
    assert apply(ada("https://b.example/5", "Poet")) == 8
    rest(view)
    assert find_cards(tmp_path, "kind:entity")[0].sources == 9
    view.close()


def test_a_thing_is_found_by_the_text_of_a_further_page_that_is_about_it(tmp_path: Path) -> None:
    view = TextView(IndexPaths(tmp_path))
    for number, word in enumerate(("engine", "bridge")):
        view.apply([replace(ada(f"https://a.example/{number}"), title="Ada", text=f"Ada and the {word}")])
        view.commit({"log": number})
        assert [card.id for card in find_cards(tmp_path, f"kind:entity AND text:{word}")] == [ADA]
    view.close()


def test_a_page_that_cannot_be_read_stops_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = ada("https://fine.example/")
    nquads = next(iter(whole.statements.values()))
    pages = [
        replace(whole, url="https://time.example/", time=float("nan")),
        replace(whole, url="https://syntax.example/", statements={"\ud800": nquads}),
        replace(whole, url="https://half.example/\ud800", title="\ud800 half", statements={"rdf": nquads + "\ud800"}),
        whole,
    ]
    view = TextView(IndexPaths(tmp_path))
    view.apply(pages)
    view.commit({"log": 1})
    view.close()
    found = {card.id for card in find_cards(tmp_path, "kind:page")}
    assert found == {"https://fine.example/", "https://syntax.example/", "https://half.example/?"}
    assert view.failed > 0
    assert "https://time.example/ is not in the text index" in caplog.text
    assert "https://syntax.example/ is in the text index without its statements" in caplog.text
    (card,) = find_cards(tmp_path, "kind:entity")
    assert card.id == ADA


def test_an_entity_of_many_sources_is_put_off_until_there_is_nothing_else_to_do(tmp_path: Path) -> None:
    view = TextView(IndexPaths(tmp_path))
    many = [ada(f"https://a.example/{number}") for number in range(MAX_MENTIONS * 2)]
    view.apply(many)
    view.commit({"log": 1})
    assert not view.has_deferred
    view.apply([ada("https://b.example/")])
    view.commit({"log": 2})
    assert view.has_deferred
    assert find_cards(tmp_path, "kind:entity")[0].sources == len(many)
    view.close()

    view = TextView(IndexPaths(tmp_path))
    assert view.has_deferred, "that is remembered"
    view.commit({"log": 2})
    assert not view.has_deferred
    (card,) = find_cards(tmp_path, "kind:entity AND sites:b.example")
    assert card.sources == len(many) + 1
    view.apply([ada(f"https://c.example/{number}") for number in range(20)])
    view.commit({"log": 3})
    assert not view.has_deferred, "a fifth more is not put off"
    view.close()
    assert find_cards(tmp_path, "kind:entity")[0].sources == len(many) + 21


@pytest.mark.parametrize("lost", ["text", "ledger"])
def test_when_one_of_the_two_is_lost_all_is_made_again(tmp_path: Path, lost: str) -> None:
    history = make_history(7)
    paths = IndexPaths(tmp_path / "damaged")
    index(tmp_path / "whole", history)
    index(paths.folder, history)
    if lost == "text":
        shutil.rmtree(paths.text)
    else:
        paths.ledger.unlink()
    view = TextView(paths)
    assert view.load_cursors() == {}
    view.close()
    index(paths.folder, history)
    assert dump(paths.folder) == dump(tmp_path / "whole")


FILL = """
import random, resource, sys
from pathlib import Path
from index.pages import make_outcome
from rdfspider.index.log.follower import is_passing
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.text.searcher import TextIndex
from rdfspider.index.text.view import TextView
from rdfspider.results import Role
view = TextView(IndexPaths(Path(sys.argv[1])))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
chance = random.Random(1)
try:
    for number in range(40):
        words = " ".join(f"w{chance.getrandbits(40):x}" for _ in range(2000))
        view.apply([make_outcome(f"https://a.example/{number}", "<title>Words</title>", text=words)])
    view.commit({"log": 40})
except Exception as error:
    print(is_passing(error), error)
else:
    print("done")
"""


def test_a_full_disk_is_an_error_that_may_pass_and_nothing_is_lost(tmp_path: Path) -> None:
    def fill(max_file_bytes: int) -> str:
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        command = [sys.executable, "-c", FILL, tmp_path, str(max_file_bytes)]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout

    assert fill(300_000).startswith("True the text index cannot be written")
    assert dump_index(tmp_path) == {}
    assert fill(100_000_000) == "done\n"
    assert len(dump_index(tmp_path)) == 40


SPARE = """
import gc, os, resource, sys
from pathlib import Path
from rdfspider.index.layout import IndexPaths, check_index
from rdfspider.index.log.follower import is_passing
from rdfspider.index.text.view import TextView
paths = IndexPaths(Path(sys.argv[1]))
while (last := os.open(os.devnull, os.O_RDONLY)) < 100:
    pass
for spare in range(40):
    gc.collect()
    resource.setrlimit(resource.RLIMIT_NOFILE, (last + 1 + spare, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    try:
        check_index(paths)
        TextView(paths).close()
    except Exception as error:
        print(is_passing(error), type(error).__name__, error)
    else:
        print("opened")
        break
"""


def test_a_lack_of_descriptors_is_no_damage(tmp_path: Path) -> None:
    """Whichever file cannot be opened for that."""
    index(tmp_path, [ada("https://a.example/")], [ada("https://b.example/", "Poet")])
    IndexPaths(tmp_path).version.write_text(f"{VERSION}\n")
    command = [sys.executable, "-c", SPARE, tmp_path]
    *failures, last = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert last == "opened"
    assert any("text" in line for line in failures)
    assert all(line.startswith("True ") for line in failures), failures


def test_words_are_found_in_timestamps_scripts_without_spaces_and_nested_names(tmp_path: Path) -> None:
    html = (
        '<title>東京タワーの本</title><script type="application/ld+json">{"@context": "https://schema.org", "@type": "Book",'
        ' "name": "Notes", "datePublished": "1843-09-01T00:00:00Z",'
        ' "author": {"@type": "Person", "name": "Ada Lovelace"}}</script>'
    )
    index(tmp_path, [make_outcome("https://a.example/", html)])
    assert [card.label for card in find_cards(tmp_path, "kind:entity AND properties.datepublished:1843")] == ["Notes"]
    assert [card.label for card in find_cards(tmp_path, "properties.author:lovelace")] == ["Notes"]
    assert [card.kind for card in find_cards(tmp_path, "label_bigrams:タワ")] == ["page"]
    assert len(find_cards(tmp_path, "date:[1843-01-01T00:00:00Z TO 1844-01-01T00:00:00Z]")) == 2


def test_nothing_that_a_page_or_an_archive_has_stops_the_index(tmp_path: Path) -> None:
    strange = "\0\u200b\U0010ffff\ufffe"
    typed = f"<urn:{strange}> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:{strange}> <http://a.example/> .\n"
    said = f'<urn:{strange}> <urn:{strange}:{"p" * 70_000}> "{strange}{"v" * 70_000}"@en <http://a.example/> .\n'
    outcomes = [
        make_outcome("http://a.example/", statements={"jsonld": typed + said}, title=strange, text=strange * 50_000),
        make_outcome("urn:x", language="x" * 70_000, title="t" * 70_000, outlinks=("", strange, "#")),
        make_outcome("", time=-1e12),
        make_outcome("http://b.example/", person("Ada"), time=1e12, duplicate_of="d" * 70_000, last_modified=strange),
        make_outcome("http://c.example/", statements={"": "\n", strange: "no statement\n"}),
    ]
    index(tmp_path, outcomes)
    assert {card.id for card in find_cards(tmp_path, "kind:page")} == {outcome.url for outcome in outcomes}
    assert [card.label for card in find_cards(tmp_path, "kind:entity AND types:person")] == ["Ada"]


def test_a_page_that_asks_to_be_gone_later_is_removed_then_as_if_it_had_been_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ShiftedTime()
    monkeypatch.setattr(text_view, "time", clock)
    later = time.time() + 1000
    pages = [
        replace(ada(f"https://{name}.example/"), due=due) for name, due in (("a", later), ("b", later + 99), ("c", 0.0))
    ]
    touch = Outcome("https://c.example/", 2.0, "log", 0, 1, Effect.TOUCH, due=later)
    view = TextView(IndexPaths(tmp_path / "late"))
    view.apply([*pages, touch])
    view.commit({"log": 1})
    assert not view.has_deferred
    assert find_cards(tmp_path / "late", "kind:entity")[0].sources == 3
    clock.ahead_s = 1001
    assert view.has_deferred, "nobody need bring news"
    rest(view)
    view.close()
    (card,) = find_cards(tmp_path / "late", "kind:entity")
    assert card.sources == 1 and [page.url for page in find_cards(tmp_path / "late", "kind:page")] == [
        "https://b.example/"
    ]
    gone = [replace(page, effect=Effect.REMOVE, statements={}, due=0.0) for page in (pages[0], pages[2])]
    index(tmp_path / "again", [gone[0], pages[1], gone[1]])
    assert dump(tmp_path / "late") == dump(tmp_path / "again")


def test_a_page_that_comes_anew_stays_longer(tmp_path: Path) -> None:
    now = time.time()
    old, new = (
        replace(ada("https://a.example/"), due=now - 1),
        replace(ada("https://a.example/", moment=2.0), due=now + 99),
    )
    index(tmp_path, [old, new, old])
    assert find_cards(tmp_path, "kind:page")


@pytest.mark.parametrize("is_reverse", [False, True])
def test_of_the_same_moment_the_same_outcome_counts_in_whatever_order(tmp_path: Path, is_reverse: bool) -> None:
    url = "https://a.example/"
    rivals = [
        make_outcome(url, person("Ada"), 1.0),
        replace(make_removal(url, 1.0), digest="d"),
        make_outcome(url, person("Bob"), 1.0),
    ]
    index(tmp_path / "one", rivals)
    index(tmp_path / "other", *[[each] for each in (reversed(rivals) if is_reverse else rivals)])
    assert dump(tmp_path / "one") == dump(tmp_path / "other")
    (thing,), (page,) = find_cards(tmp_path / "one", "kind:entity"), find_cards(tmp_path / "one", "kind:page")
    assert thing.label == page.label


def test_a_language_is_one_however_it_is_written(tmp_path: Path) -> None:
    index(tmp_path, [make_outcome("https://a.example/", person("Ada"), language="pt_BR")])
    for query in ("langs:pt", 'langs:"pt-br"', "lang:pt"):
        assert [card.kind for card in find_cards(tmp_path, f"{query} AND kind:page")] == ["page"], query


RECIPE = "https://kitchen.example/wings"


def wings(url: str = RECIPE, words: str = "peppery", moment: float = 1.0, **more: str) -> Outcome:
    """A page that is about a recipe with the IRI of the first such page."""
    recipe = {"@context": "https://schema.org", "@type": "Recipe", "@id": f"{RECIPE}#it", "name": "Wings", "url": url}
    step = {"@type": "HowToStep", "name": "Fry", "text": "until golden"}
    script = json.dumps(recipe | {"recipeInstructions": step})
    html = f'<title>Wings</title><script type="application/ld+json">{script}</script><p>All of it is {words}.</p>'
    return make_outcome(url, html, moment, digest=words, **more)


def find(folder: Path, text: str) -> list[tuple[str, str]]:
    """Label and role of what is found, as people search."""
    (folder / "index" / "version").write_text(f"{VERSION}\n")
    return [(hit.label, hit.role) for hit in TextIndex(folder).search(text)]


def test_the_words_of_a_page_are_found_with_what_it_is_about(tmp_path: Path) -> None:
    index(tmp_path, [wings()])
    assert find(tmp_path, "peppery") == [("Wings", Role.MAIN)]
    assert find(tmp_path, "peppery kind:page") == [("Wings", Role.COVERED)]
    assert find(tmp_path, "golden") == [("Wings", Role.MAIN)]
    assert find(tmp_path, RECIPE)[0] == ("Wings", Role.MAIN)
    assert find(tmp_path, "fry type:HowToStep") == [("Fry", Role.PART)]
    assert find(tmp_path, "role:part") == [("Fry", Role.PART)]


def test_who_asks_for_people_does_not_mean_those_who_comment(tmp_path: Path) -> None:
    author = {"@type": "Person", "name": "Ada"}
    comments = [
        {"@type": "Comment", "text": f"Nice {at}", "author": {"@type": "Person", "name": f"Guest {at}"}}
        for at in range(2)
    ]
    recipe = {
        "@context": "https://schema.org",
        "@type": "Recipe",
        "name": "Wings",
        "author": author,
        "comment": comments,
    }
    script = f'<title>Wings</title><script type="application/ld+json">{json.dumps(recipe)}</script>'
    index(tmp_path, [make_outcome(RECIPE, script)])
    assert find(tmp_path, "type:Person") == [("Ada", Role.THING)]
    assert find(tmp_path, "guest") == [("Wings", Role.MAIN)]


def test_a_page_that_its_main_thing_stands_for_is_found_in_other_forms_too(tmp_path: Path) -> None:
    index(tmp_path, [wings(words="crusted drumsticks")])
    assert find(tmp_path, "drumstick kind:page") == find(tmp_path, "drumsticks kind:page") != []


def test_what_is_read_from_the_ledger_has_the_words_of_its_pages_too(tmp_path: Path) -> None:
    index(tmp_path / "a", [wings()], [wings(f"{RECIPE}?print", "crunchy")])
    assert find(tmp_path / "a", "peppery crunchy") == [("Wings", Role.MAIN)]
    index(tmp_path / "b", [wings(f"{RECIPE}?print", "crunchy"), wings()])
    assert dump_index(tmp_path / "a") == dump_index(tmp_path / "b")


def test_words_of_a_replaced_or_removed_page_are_gone_from_its_main_thing(tmp_path: Path) -> None:
    index(tmp_path, [wings()], [wings(words="mild", moment=2.0)])
    assert find(tmp_path, "peppery") == []
    assert find(tmp_path, "mild") == [("Wings", Role.MAIN)]
    index(tmp_path, [make_removal(RECIPE, 3.0)])
    assert find(tmp_path, "mild") == []


def test_what_only_a_copy_of_a_page_describes_is_no_result_beside_the_original(tmp_path: Path) -> None:
    first, second = "https://kitchen.example/ada", "https://kitchen.example/print/ada"
    original = make_outcome(first, person("Ada", **{"@id": f"{first}#ada"}))
    copy = make_outcome(second, person("Ada", **{"@id": f"{second}#ada"}), duplicate="near", duplicate_of=first)
    index(tmp_path, [original, copy])
    assert find(tmp_path, "ada") == [("Ada", Role.MAIN)]
    assert find(tmp_path, "type:person") == [("Ada", Role.MAIN)]
    assert find(tmp_path, "ada kind:page") == [("Ada", Role.COVERED)] * 2
    # A canonical URL may never have been fetched.
    index(tmp_path, [replace(copy, duplicate="canonical", time=2_000_000_000.0)])
    assert find(tmp_path, "ada") == [("Ada", Role.MAIN)] * 2


def test_a_page_that_is_read_again_after_a_kill_is_found_with_its_main_thing(tmp_path: Path) -> None:
    view = TextView(IndexPaths(tmp_path))
    view.apply([wings()])
    # The ledger is committed, and tantivy is not.
    view._hand_over = die  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        view.commit({"log": 1})
    view.close()
    index(tmp_path, [], [wings()])
    assert find(tmp_path, "peppery") == [("Wings", Role.MAIN)]
