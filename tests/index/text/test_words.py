"""Plain words: not all of them need to match, other forms count less, very frequent ones decide nothing; all else is strict."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.search.documents import SCHEMA, Thing, write_index

from rdfspider.index.text import ranking
from rdfspider.index.text.facets import ENOUGH
from rdfspider.index.text.searcher import TextIndex

THINGS = [
    Thing("Oreo Brownies", {"description": "cocoa"}, types=[SCHEMA + "Recipe"]),
    Thing("Brownie", {"description": "a camera"}, types=[SCHEMA + "Product"]),
    Thing("Lemon cake", {"description": "zest of a lemon"}, types=[SCHEMA + "Recipe"]),
    Thing("Running a bakery", {"description": "ovens and flour"}),
    Thing("Hunde und Katzen", {"description": "Haustiere"}, lang="de"),
    Thing("Ein Hund", {"description": "bellt"}, lang="de"),
    Thing("Crème brûlée", {"description": "caramélisée"}, lang="fr"),
    Thing("node.js in practice"),
    Thing("js for a node"),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> TextIndex:
    return TextIndex(write_index(tmp_path_factory.mktemp("crawl"), THINGS))


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., TextIndex]:
    return lambda *things: TextIndex(write_index(tmp_path, things))


def labels(index: TextIndex, text: str) -> list[str]:
    return [hit.label for hit in index.search(text, exact=True)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # The other form, in both directions, after the same form.
        ("brownie", ["Brownie", "Oreo Brownies"]),
        ("brownies", ["Oreo Brownies", "Brownie"]),
        ("oven", ["Running a bakery"]),
        ("run", ["Running a bakery"]),
        ("hunde", ["Hunde und Katzen", "Ein Hund"]),
        ("katze", ["Hunde und Katzen"]),
        ("cremes brulees", ["Crème brûlée"]),
        # All words first; then some.
        ("oreo brownie", ["Oreo Brownies", "Brownie"]),
        ("brownie cocoa", ["Oreo Brownies", "Brownie"]),
        ("lemon cake xyzzy", ["Lemon cake"]),
        # What is strict: phrases, fields, beginnings, exclusions.
        ('"brownie"', ["Brownie"]),
        ('"oreo brownie"', []),
        ('lemon "oreo brownies"', ["Oreo Brownies"]),
        ("description:oven", []),
        ("brownies -oreo", ["Brownie"]),
        ("brownie -brownies", ["Brownie"]),
        ("lemon type:product brownies", ["Brownie"]),
        ("oreo* lemon", ["Oreo Brownies"]),
        ("brownie OR lemon cake", ["Lemon cake", "Brownie", "Oreo Brownies"]),
        # Words without a space between them stand beside each other in what comes first.
        ("node.js", ["node.js in practice", "js for a node"]),
        ("xyzzy plugh", []),
    ],
)
def test_what_words_find(index: TextIndex, text: str, found: list[str]) -> None:
    assert labels(index, text) == found


def test_how_many_have_only_some_of_the_words_is_counted(index: TextIndex) -> None:
    found = index.search("oreo brownie", facets=True)
    assert (found.total, found.with_some_words, found.kind_counts["entity"]) == (2, 1, 2)
    types = next(facet for facet in found.facets if facet.field == "type")
    assert {one.name for one in types.counts} == {"schema:Recipe", "schema:Product"}
    assert index.search("brownie").with_some_words == 0


def test_words_that_nothing_has_are_named(index: TextIndex) -> None:
    found = index.search("lemon xyzzy", exact=True)
    assert found.note == "nothing here has 'xyzzy'"
    assert (found.total, found.with_some_words) == (1, 1)


def test_words_that_only_parts_have_find_the_parts(make: Callable[..., TextIndex]) -> None:
    index = make(Thing("Herman Melville", role="part"), Thing("Herman"), Thing("Moby Dick"))
    assert labels(index, "herman melville") == ["Herman"]
    found = index.search("melville")
    assert ([hit.label for hit in found], found.kind_counts["entity"]) == (["Herman Melville"], 1)


def test_results_that_lack_a_word_are_left_out_if_enough_have_all(make: Callable[..., TextIndex]) -> None:
    both = [Thing(f"green tea {number}") for number in range(ENOUGH - 1)]
    index = make(*both, Thing("black tea"))
    found = index.search("green tea", limit=50, facets=True)
    assert (found.total, found.with_some_words, found[-1].label) == (ENOUGH, 1, "black tea")
    pages = [index.search("green tea", limit=7, offset=offset).hits for offset in range(0, ENOUGH, 7)]
    assert [hit.id for page in pages for hit in page] == [hit.id for hit in found]
    index = make(Thing("a green tea"))
    found = index.search("green tea", limit=50, facets=True)
    assert (found.total, found.with_some_words) == (ENOUGH, 0)
    assert found.kind_counts == {"entity": ENOUGH, "page": 0}


def test_a_word_that_very_many_have_does_not_decide(
    make: Callable[..., TextIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "MIN_FREQUENT", 10)
    index = make(*(Thing(f"the {number}") for number in range(30)), Thing("whale"), Thing("the whale"))
    found = index.search("the whale")
    assert {hit.label for hit in found} == {"the whale", "whale"}
    # Both have all words that count.
    assert found.with_some_words == 0
    # Alone, it is searched for like any other.
    assert index.search("the").total == 31


def test_the_parts_of_a_score_are_told_and_give_the_score(index: TextIndex) -> None:
    for text in ("oreo brownie", "brownie", "lemon xyzzy"):
        for hit in index.search(text, explain=True, exact=True):
            score = 1.0
            for part in hit.explanation:
                score = score + part.value if part.sign == "+" else score * part.value
            assert hit.score == pytest.approx(score)
            assert hit.explanation[0].reason.startswith("words: ")
    best, other = index.search("oreo brownie", explain=True)
    assert [part.reason for part in best.explanation[2:]] == [
        "the label is the query",
        "1 page describes it, 0 pages link to it",
        "it has all words of the query",
    ]
    assert "oreo 0.00" in other.explanation[0].reason
    assert other.explanation[-1].reason == "it lacks a word of the query"
    assert index.search("brownie")[0].explanation == ()


def test_the_rank_of_a_page_decides_between_equals_alone(tmp_path: Path) -> None:
    urls = [f"https://a.test/{number}" for number in range(5)]
    better = Thing("green tea leaves", url="https://a.test/better")
    folder = write_index(tmp_path, [*(Thing("green tea cups", url=url) for url in urls), better])
    for known in urls:
        index = TextIndex(folder, find_rank=lambda url, known=known: 16.0 if url == known else 1.0)  # type: ignore[misc]
        first, second, *_ = index.search("green tea cups", explain=True)
        assert first.id == known
        parts = [hit.score - ranking.ALL_WORDS for hit in (first, second)]
        assert parts[0] == pytest.approx(1.04 * parts[1], rel=0.01)
        assert first.explanation[3].reason == (
            "1 page describes it, 0 pages link to it, and the links of all pages give its page 16 times the rank of a mean page"
        )
        assert second.explanation[3].reason == "1 page describes it, 0 pages link to it"
        # It is no reason to come before what fits better.
        index = TextIndex(folder, find_rank=lambda url, known=known: 1e6 if url == known else 1.0)  # type: ignore[misc]
        assert index.search("green tea leaves")[0].id == "https://a.test/better"
