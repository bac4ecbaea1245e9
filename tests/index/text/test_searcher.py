"""Questions to a small index: what is found, in which order, and what is said of it."""

import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.disks import mount_read_only
from tests.search.documents import SCHEMA, Thing, write_index

from rdfspider.errors import UsageError
from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.text import facets as facets_module
from rdfspider.index.text import searcher as text_module
from rdfspider.index.text.searcher import MAX_LIMIT, TextIndex
from rdfspider.results import MAX_RESULTS

FOAF = "http://xmlns.com/foaf/0.1/"
THINGS = [
    Thing(
        "Moby Dick",
        {"author": "Herman Melville", "isbn": "978-0142437247", "description": "A whale, and tea on board"},
        types=[SCHEMA + "Book"],
        date="2020-02-29",
    ),
    Thing("Herman Melville", {"jobTitle": "writer"}, types=[SCHEMA + "Person"], syntax="rdfa", site="library.test"),
    Thing("Melville Island", {"description": "Snow"}, types=[SCHEMA + "Place"], lang="fr"),
    Thing("Ada Lovelace", {"birth-date": "1815"}, types=[FOAF + "Person"], date="2023-12-31"),
    Thing("Café Müller", {"servesCuisine": "Straße"}, types=[SCHEMA + "Restaurant"], lang="de"),
    Thing("東京タワー", {"description": "東京都港区"}, bigrams="東京タワー\n東京都港区", lang="ja"),
    Thing("All about whales", text="Whales swim. " * 40 + "Herman Melville wrote of one. " + "They sing. " * 40),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> TextIndex:
    return TextIndex(write_index(tmp_path_factory.mktemp("crawl"), THINGS))


Make = Callable[..., TextIndex]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    return lambda *things: TextIndex(write_index(tmp_path, things))


def labels(index: TextIndex, text: str, **filters: str) -> set[str]:
    return {hit.label for hit in index.search(text, **filters)}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("melville", {"Moby Dick", "Herman Melville", "Melville Island", "All about whales"}),
        ("MELVILLE whale", {"Moby Dick", "All about whales", "Herman Melville", "Melville Island"}),
        ('MELVILLE "whale"', {"Moby Dick"}),
        ('"herman melville"', {"Moby Dick", "Herman Melville", "All about whales"}),
        ('"melville herman"', set()),
        ("melv* isl*", {"Melville Island"}),
        ("whal*", {"Moby Dick", "All about whales"}),
        ("melville -herman", {"Melville Island"}),
        ("-melville", {"Ada Lovelace", "Café Müller", "東京タワー"}),
        ("type:person", {"Herman Melville", "Ada Lovelace"}),
        ("type:foaf:Person", {"Ada Lovelace"}),
        ("type:https://schema.org/Person", {"Herman Melville"}),
        ("type:<http://schema.org/person>", {"Herman Melville"}),
        ("melville -type:person -kind:page", {"Moby Dick", "Melville Island"}),
        ("ontology:foaf", {"Ada Lovelace"}),
        ("ontology:http://xmlns.com/foaf/0.1", {"Ada Lovelace"}),
        ("ontology:foaf:", {"Ada Lovelace"}),
        ("ontology:https://schema.org lang:fr", {"Melville Island"}),
        ("author:melville", {"Moby Dick"}),
        ('author:"herman melville"', {"Moby Dick"}),
        ('author:"melville herman"', set()),
        ("author:melv*", {"Moby Dick"}),
        ("schema:author:melville", {"Moby Dick"}),
        ('-schema:author:"herman melville" melville -kind:page', {"Herman Melville", "Melville Island"}),
        ('foaf:author:"melville"', set()),
        ("author:herman:melville", {"Moby Dick"}),
        ("birth-date:1815", {"Ada Lovelace"}),
        ("property:isbn", {"Moby Dick"}),
        ("property:schema:jobTitle", {"Herman Melville"}),
        ("site:library.test", {"Herman Melville"}),
        ("site:https://Library.test/page", {"Herman Melville"}),
        ("lang:DE", {"Café Müller"}),
        ("syntax:RDFa", {"Herman Melville"}),
        ("before:2020-03", {"Moby Dick"}),
        ("after:2023-12-31 before:2024", {"Ada Lovelace"}),
        ("after:9999", set()),
        ("before:0001", set()),
        ("kind:page", {"All about whales"}),
        ("cafe muller", {"Café Müller"}),
        ("strasse", {"Café Müller"}),
        ("東京", {"東京タワー"}),
        ("港", {"東京タワー"}),
        ("description:東京", {"東京タワー"}),
        ("京東", set()),
        ("island OR moby", {"Moby Dick", "Melville Island"}),
        ("melville island OR moby", {"Moby Dick", "Melville Island"}),
    ],
)
def test_what_is_found(index: TextIndex, text: str, found: set[str]) -> None:
    assert labels(index, text) == found


def test_filters_are_clauses_and_several_values_mean_any(index: TextIndex) -> None:
    assert labels(index, "melville", type="Person") == {"Herman Melville"}
    assert {hit.label for hit in index.search(type=["schema:Person", "Book"])} == {"Herman Melville", "Moby Dick"}
    assert labels(index, "", ontology="foaf") == {"Ada Lovelace"}
    assert labels(index, "", site="library.test", lang="en", syntax="rdfa") == {"Herman Melville"}
    assert labels(index, "", syntax="RDF-a") == {"Herman Melville"}


def test_no_question_is_all_there_is_and_signs_are_nothing(index: TextIndex) -> None:
    assert index.search("").total == len(THINGS)
    assert index.search("?!").total == 0


def test_a_name_that_no_property_has_is_searched_as_words(make: Make) -> None:
    found = make(Thing("Alien: Covenant"), Thing("Alien"), Thing("Tea")).search("alien:covenant")
    assert [hit.label for hit in found] == ["Alien: Covenant", "Alien"]
    assert found.note == "no property is called 'alien' here: searched for it as words"


def test_a_question_that_breaks_a_rule_is_searched_as_words_and_says_so(index: TextIndex) -> None:
    found = index.search('"herman melville')
    assert {hit.label for hit in found[:3]} == {"Moby Dick", "Herman Melville", "All about whales"}
    assert found.note == "searched as plain words: a quotation mark has no partner"


def test_what_nothing_has_is_said(index: TextIndex) -> None:
    assert index.search("melville type:wizard").note == "nothing here has the type 'wizard'"
    assert index.search("melville", site="nowhere.test").note == "nothing here has the site 'nowhere.test'"
    assert index.search("melville -type:wizard").note == ""


def test_a_beginning_that_is_too_short_is_a_word_and_said(index: TextIndex) -> None:
    found = index.search("m*")
    assert (found.total, found.note) == (0, "'m*' is too short a beginning: searched for it as a word")


def test_a_question_is_text_and_comes_back_clean(index: TextIndex) -> None:
    assert index.search("\udcff tea").query == "? tea"
    for other in (None, 7):
        with pytest.raises(UsageError, match="takes words as one text, not"):
            index.search(other)  # type: ignore[arg-type]


def test_pages_are_of_no_type_unless_asked_for(make: Make) -> None:
    index = make(
        Thing("A recipe", types=[SCHEMA + "Recipe"]), Thing("A page", text="of a recipe", types=[SCHEMA + "Recipe"])
    )
    assert labels(index, "type:recipe") == labels(index, "recipe", type="Recipe") == {"A recipe"}
    assert labels(index, "type:recipe kind:page") == {"A page"}
    assert labels(index, "-type:recipe") == set()
    (types, *_) = index.search("recipe", facets=True).facets
    assert [(one.name, one.count) for one in types.counts] == [("schema:Recipe", 1)]


def test_label_counts_over_values_over_text(make: Make) -> None:
    index = make(
        Thing("A page", text="tea and some more words"),
        Thing("A thing", {"description": "tea and some more words"}),
        Thing("Tea"),
        *(Thing(f"Other {number}", {"description": "something else"}) for number in range(20)),
    )
    assert [hit.label for hit in index.search("tea")] == ["Tea", "A thing", "A page"]


def test_what_is_only_named_within_another_thing_comes_after_its_equals(make: Make) -> None:
    index = make(
        Thing("tea", url="https://a.test/named", weight=0.3),
        Thing("tea", url="https://a.test/own"),
        Thing("tea cup", url="https://a.test/cup"),
    )
    assert [hit.id for hit in index.search("tea")] == [f"https://a.test/{name}" for name in ("own", "named", "cup")]


def test_where_equal_more_sources_and_more_links_come_first(tmp_path: Path) -> None:
    things = [
        Thing("tea", url="https://a.test/1"),
        Thing("tea", url="https://a.test/2", sources=5),
        Thing("tea", url="https://a.test/3"),
        Thing("tea", url="https://a.test/1#of-a-page"),
    ]
    counts = {"https://a.test/3": 2, "https://a.test/1#of-a-page": 9}
    index = TextIndex(write_index(tmp_path, things), open_counter=lambda: lambda url: counts.get(url, 0))
    found = index.search("tea")
    assert [hit.id[-1] for hit in found[:2]] == ["2", "3"]
    assert [hit.in_links for hit in found] == [0, 2, 0, 0]
    counts.clear()
    assert [hit.in_links for hit in index.search("tea")] == [0, 0, 0, 0]


def test_equals_are_in_the_same_order_whenever_they_were_written(tmp_path: Path) -> None:
    found = []
    for name, numbers in {"one": range(700), "other": reversed(range(700))}.items():
        write_index(tmp_path / name, [Thing("tea", url=f"https://a.test/{number}") for number in numbers])
        found.append([hit.id for hit in TextIndex(tmp_path / name).search("tea", limit=100)])
    assert found[0] == found[1]


def test_a_label_that_has_the_words_in_their_order_comes_first(make: Make) -> None:
    index = make(Thing("cup tea"), Thing("tea cup"))
    assert [hit.label for hit in index.search("tea cup")] == ["tea cup", "cup tea"]
    assert [hit.label for hit in index.search("cup tea")] == ["cup tea", "tea cup"]


def test_pages_of_results_have_everything_once(make: Make) -> None:
    index = make(*(Thing(f"tea {number}", sources=1 + number % 7) for number in range(1_230)))
    ids = [hit.id for offset in range(0, 1_230, 30) for hit in index.search("tea", limit=30, offset=offset)]
    assert len(ids) == len(set(ids)) == 1_230
    assert [hit.id for hit in index.search("tea", limit=1_000, offset=90)] == ids[90:1_090]
    assert index.search("tea", limit=30, offset=1_210).total == 1_230
    assert len(index.search("tea", limit=30, offset=1_300)) == 0


@pytest.mark.parametrize(
    ("limit", "offset"), [(0, 0), (MAX_LIMIT + 1, 0), (10, -1), (10, MAX_RESULTS), (10, 10**30), (10**30, 0)]
)
def test_a_window_that_is_too_large_is_refused(index: TextIndex, limit: int, offset: int) -> None:
    with pytest.raises(UsageError, match="results"):
        index.search("tea", limit=limit, offset=offset)


def test_snippets_show_what_was_searched_for(index: TextIndex) -> None:
    (hit,) = index.search("melville kind:page")
    text = hit.snippet.text
    assert [text[start:end] for start, end in hit.snippet.marks] == ["Melville"]
    assert text.startswith("… ")
    assert text.endswith(" …")
    (moby,) = index.search("author:melville")
    assert "<mark>Melville</mark>" in moby.snippet.to_html()
    assert index.search("moby")[0].marked_label.to_html() == "<mark>Moby</mark> Dick"


def test_snippets_prefer_what_people_read(make: Make) -> None:
    values = {
        "dateModified": "2025-11-18T19:14:36+00:00",
        "width": "1200",
        "encodingFormat": "image/jpeg",
        "brand": "Leaf",
        "slogan": "As good as leaves get",
    }
    index = make(Thing("Pot & cup", values, description='It\'s tea "for two"'), Thing("Cup", values))
    (pot,), (cup,) = index.search("cup pot")[:1], index.search("cup -pot")
    assert (pot.marked_label.to_html(), pot.snippet.text) == (
        "<mark>Pot</mark> &amp; <mark>cup</mark>",
        'It\'s tea "for two"',
    )
    assert cup.snippet.text == "As good as leaves get", "a word by itself does not tell of what it is the value"
    assert "<mark>Leaf</mark>" in index.search("leaf -pot")[0].snippet.to_html()
    assert "<mark>1200</mark>" in index.search("1200 -pot")[0].snippet.to_html()


def test_a_hit_by_another_label_shows_it(tmp_path: Path) -> None:
    index = TextIndex(write_index(tmp_path, [Thing("Munich", other_labels=["München"], description="A city")]))
    (hit,) = index.search("münchen")
    assert (hit.label, hit.snippet.to_html()) == ("Munich", "<mark>München</mark>")


def test_facets_have_the_most_frequent_values_of_many(tmp_path: Path) -> None:
    # Each part of the index has the value less often than hundreds of others.
    for part in range(2):
        rare = [Thing(f"tea {part} {n}", lang=f"x{part}{n // 3}") for n in range(450)]
        write_index(tmp_path, [*rare, *(Thing(f"tea {part} {n}", lang="en") for n in range(900, 902))])
    facet = next(one for one in TextIndex(tmp_path).search("tea", facets=True).facets if one.field == "lang")
    assert ((facet.counts[0].value, facet.counts[0].count), facet.is_approximate) == (("en", 4), False)
    assert [one.value for one in facet.counts[1:]] == sorted(f"x0{n}" for n in range(150))[:9]


def test_facets_that_may_be_wrong_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facets_module, "_CANDIDATES_A_SEGMENT", 200)
    write_index(tmp_path, [Thing(f"tea {n}", lang=f"x{n // 2}") for n in range(800)])
    facets = {facet.field: facet.is_approximate for facet in TextIndex(tmp_path).search("tea", facets=True).facets}
    assert (facets["lang"], facets["site"]) == (True, False)


def test_facets_count_all_results(index: TextIndex) -> None:
    found = index.search("melville", limit=1, facets=True)
    facets = {facet.field: {one.value: one.count for one in facet.counts} for facet in found.facets}
    assert facets["type"] == {SCHEMA + "Book": 1, SCHEMA + "Person": 1, SCHEMA + "Place": 1}
    assert facets["ontology"] == {SCHEMA: 3}
    assert facets["property"][SCHEMA + "description"] == 2
    assert facets["site"] == {"example.org": 3, "library.test": 1}
    assert facets["lang"] == {"en": 3, "fr": 1}
    assert facets["syntax"] == {"jsonld": 3, "rdfa": 1}
    assert found.facets[0].counts[0].name == "schema:Book"
    assert found.facets[1].counts[0].name == "schema"
    assert not any(facet.is_approximate for facet in found.facets)


def test_facets_of_very_many_results_are_estimated_and_say_so(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facets_module, "_COUNTED", 500)
    index = make(*(Thing(f"tea {number}", lang="en" if number % 2 else "fr") for number in range(4_000)))
    facet = next(one for one in index.search("tea", facets=True).facets if one.field == "lang")
    assert facet.is_approximate
    assert {one.value for one in facet.counts} == {"en", "fr"}
    assert 3_000 < sum(one.count for one in facet.counts) < 5_000


def test_facets_are_counted_once_a_question_and_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = TextIndex(write_index(tmp_path, [Thing("tea")]))
    counted = []
    count = text_module.count_facets
    monkeypatch.setattr(text_module, "count_facets", lambda *given, **more: counted.append(1) or count(*given, **more))
    for _ in range(3):
        index.search("tea", facets=True)
    assert len(counted) == 1
    write_index(tmp_path, [Thing("green tea", lang="fr")])
    facets = index.search("tea", facets=True).facets
    assert len(counted) == 2
    assert {one.value for facet in facets if facet.field == "lang" for one in facet.counts} == {"en", "fr"}


def test_a_commit_is_seen_by_the_next_question(tmp_path: Path) -> None:
    index = TextIndex(write_index(tmp_path, [Thing("tea")]))
    assert index.search("tea").total == 1
    write_index(tmp_path, [Thing("green tea")])
    assert index.search("tea").total == 2


def test_questions_are_answered_while_another_writes(tmp_path: Path) -> None:
    index = TextIndex(write_index(tmp_path, [Thing("tea 0")]))
    writer = threading.Thread(target=lambda: [write_index(tmp_path, [Thing(f"tea {n}")]) for n in range(1, 8)])
    writer.start()
    totals = []
    while writer.is_alive():
        totals.append(index.search("tea", facets=True).total)
    writer.join()
    assert totals == sorted(totals)
    assert index.search("tea").total == 8


def test_an_index_that_is_replaced_by_another_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = TextIndex(write_index(tmp_path / "mycrawl", [Thing("tea")]))
    assert index.search("tea").total == 1
    folder = tmp_path / "mycrawl" / "index"

    def end_swap(_: float) -> None:
        """What happens while the index waits for what is not there."""
        (tmp_path / "new" / "index").rename(folder)

    monkeypatch.setattr(text_module, "time", SimpleNamespace(sleep=end_swap, perf_counter=time.perf_counter))
    for number in range(2, 12):
        write_index(tmp_path / "new", [Thing(f"tea {at}") for at in range(number)])
        folder.rename(tmp_path / "old")
        assert index.search("tea").total == number
        assert index.search("tea").total == number
        shutil.rmtree(tmp_path / "old")


def test_no_index_one_of_another_version_and_one_without_a_commit_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no index yet"):
        TextIndex(tmp_path)
    paths = IndexPaths(tmp_path)
    paths.index.mkdir()
    paths.version.write_text(f"{VERSION}\n")
    with pytest.raises(UsageError, match="nothing in its text index yet"):
        TextIndex(tmp_path)
    write_index(tmp_path, [], is_committed=False)
    with pytest.raises(UsageError, match="nothing in its text index yet"):
        TextIndex(tmp_path).search("tea")
    (paths.text / "meta.json").write_text("{")
    with pytest.raises(UsageError, match="index --rebuild"):
        TextIndex(tmp_path)
    paths.version.write_text("99\n")
    with pytest.raises(UsageError, match="another version"):
        TextIndex(tmp_path)


@pytest.mark.parametrize("ending", ["store", "term", "idx", "pos", "fast"])
def test_a_damaged_index_is_said_to_be(tmp_path: Path, ending: str) -> None:
    write_index(tmp_path, [Thing("tea")])
    for file in IndexPaths(tmp_path).text.glob(f"*.{ending}"):
        os.truncate(file, file.stat().st_size // 2)
    with pytest.raises(UsageError, match="index --rebuild"):
        TextIndex(tmp_path).search("tea")


@pytest.mark.parametrize("ending", ["fast", "idx", "store", "term"])
def test_an_index_that_is_overwritten_is_said_to_be(tmp_path: Path, ending: str) -> None:
    write_index(tmp_path, [Thing(f"tea {number}") for number in range(300)])
    (file,) = IndexPaths(tmp_path).text.glob(f"*.{ending}")
    half = file.stat().st_size // 2
    file.write_bytes(bytes(half) + file.read_bytes()[half:])
    with pytest.raises(UsageError, match="index --rebuild") as told:
        TextIndex(tmp_path).search("tea", facets=True)
    assert "\n" not in str(told.value)


def test_documents_without_what_every_commit_writes_are_damage(tmp_path: Path) -> None:
    write_index(tmp_path, [Thing("tea")], is_committed=False)
    with pytest.raises(UsageError, match="index --rebuild"):
        TextIndex(tmp_path).search("tea")


def test_a_folder_that_is_read_only_is_said_to_be(tmp_path: Path) -> None:
    write_index(tmp_path, [Thing("tea")])
    with mount_read_only(tmp_path), pytest.raises(UsageError, match=r"is read-only for you, .* search a copy of"):
        TextIndex(tmp_path)


def test_an_index_that_is_removed_meanwhile_is_said_to_be(tmp_path: Path) -> None:
    index = TextIndex(write_index(tmp_path, [Thing("tea")]))
    (IndexPaths(tmp_path).text / "meta.json").unlink()
    with pytest.raises(UsageError, match="nothing in its text index yet"):
        index.search("tea")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.text(alphabet=st.one_of(st.sampled_from('":-*OR| <>ab2type東京.()[]\\/+~^'), st.characters()), max_size=80))
def test_any_text_gets_an_answer(index: TextIndex, text: str) -> None:
    found = index.search(text, facets=True)
    assert len(found) <= found.total
    found._repr_html_()


def test_a_label_without_spaces_that_is_the_query_is_told_and_counts(index: TextIndex) -> None:
    (hit, *_) = index.search("東京タワー", explain=True)
    assert "the label is the query" in [part.reason for part in hit.explanation]
