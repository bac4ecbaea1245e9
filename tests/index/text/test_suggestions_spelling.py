"""Misspelt words are corrected by what the index has: in the query if they are unknown, else as a suggestion."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.search.documents import SCHEMA, Thing, write_index

from rdfspider.index.text import ranking
from rdfspider.index.text.searcher import TextIndex
from rdfspider.index.text.suggestions import measure_distance

THINGS = [
    *(
        Thing(f"Herman Melville {number}", {"description": "whales and schooners"}, types=[SCHEMA + "Person"])
        for number in range(60)
    ),
    Thing("Harman"),
    Thing("Толстой"),
    Thing("Zoë Müller"),
]


@pytest.fixture
def make_index(tmp_path: Path) -> Callable[..., TextIndex]:
    return lambda *things: TextIndex(write_index(tmp_path, things))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> TextIndex:
    return TextIndex(write_index(tmp_path_factory.mktemp("crawl"), THINGS))


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("melvile", "melville"),
        ("mellville", "melville"),
        ("melivlle", "melville"),
        ("nelville", "melville"),
        ("melvilel", "melville"),
        # Two edits.
        ("nelvile", "melville"),
        # In values, and with the rest of the question as it was.
        ("type:person  Shooners -tea", "type:person  schooners -tea"),
        ('"herman melvile" OR schoonrs', '"herman melville" OR schooners'),
        # Rare, where a neighbour is not.
        ("harman", "herman"),
        ("толстй", "толстой"),
        ("mullr", "muller"),
        ("Mülller", "muller"),
        ("type:persn", "type:person"),
        ("description:whalse", "description:whales"),
        ("schema:description:whalse", "schema:description:whales"),
        ("ontology:shcema -property:descripton", "ontology:schema -property:descripton"),
        ("property:descripton", "property:description"),
        # Right, or like nothing.
        ("melville", ""),
        ("xylophone", ""),
        ("ab", ""),
        ("12345", ""),
        ("-melvile", ""),
        ("melvil*", ""),
    ],
)
def test_suggestions(index: TextIndex, text: str, suggestion: str) -> None:
    assert index.search(text, exact=True).suggestion == suggestion


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("melvile", "melville"),
        ("Herman  Melvile", "Herman  melville"),
        ("type:person Shooners -tea", "type:person schooners -tea"),
        ("schoonrs OR whalse", "schooners OR whales"),
        # Known, also in another form; like nothing; or strict.
        ("harman", ""),
        ("schooner", ""),
        ("xylophone", ""),
        ('"herman melvile"', ""),
        ("description:whalse", ""),
        ("-melvile", ""),
        ("melvil*", ""),
        ("kind:melvile", ""),
    ],
)
def test_unknown_words_are_corrected_in_the_query(index: TextIndex, text: str, corrected: str) -> None:
    found = index.search(text)
    assert (found.query, found.corrected) == (text, corrected)
    assert [hit.id for hit in found] == [hit.id for hit in index.search(corrected or text, exact=True)]
    assert index.search(text, exact=True).corrected == ""


def test_of_similar_words_the_one_beside_the_others_is_taken(make_index: Callable[..., TextIndex]) -> None:
    index = make_index(*(Thing(f"mist {number}") for number in range(5)), Thing("Facial mask"), Thing("Facial mark"))
    # Alone, the most frequent one.
    assert index.search("misk").corrected == "mist"
    assert index.search("facial misk").corrected == "facial mask"


def test_words_that_are_beside_everything_are_not_taken(make_index: Callable[..., TextIndex]) -> None:
    index = make_index(
        *(Thing(f"Chicken {number}", {"description": "so good, and a top dish"}) for number in range(20)),
        *(Thing(f"Travel {number}", {"description": "so far, and at the top"}) for number in range(20)),
        *(Thing(f"Chicken soup {number}") for number in range(4)),
    )
    assert index.search("chicken sop").corrected == "chicken soup"
    assert index.search("sop").corrected == "soup", "labels have it"
    assert index.search("chicken soo").corrected == "", "never a word of two letters"


def test_a_word_that_decides_nothing_is_never_taken(
    make_index: Callable[..., TextIndex], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "MIN_FREQUENT", 10)
    index = make_index(*(Thing(f"With {number}") for number in range(20)), *(Thing(f"Tea {at}") for at in range(380)))
    assert index.search("witth tea").corrected == "with tea"
    index = make_index(*(Thing(f"With {number}") for number in range(30)), *(Thing(f"Tea {at}") for at in range(380)))
    assert index.search("witth tea").corrected == ""


def test_many_unknown_words_take_no_long_time(index: TextIndex) -> None:
    start = time.process_time()
    index.search(" ".join(f"unheardof{'abcdefghijklmnop'[number % 16] * 5}" for number in range(60)))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("tea", "tea", 0), ("tea", "tee", 1), ("tea", "eta", 1), ("tea", "te", 1), ("tea", "steam", 2), ("", "ab", 2)],
)
def test_distances(one: str, other: str, edits: int) -> None:
    assert measure_distance(one, other) == measure_distance(other, one) == edits
