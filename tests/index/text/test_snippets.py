"""The part of a text that shows what was searched for."""

import time

import pytest
from tests.search.documents import Thing, write_index

from rdfspider.index.text.query_language import parse_question
from rdfspider.index.text.query_plan import Index, build_plan
from rdfspider.index.text.searcher import TextIndex
from rdfspider.index.text.snippets import CHARS, Marker


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return TextIndex(write_index(tmp_path_factory.mktemp("crawl"), [Thing("tea")])).load()


def show(index: Index, question: str, text: str) -> str:
    """The text with brackets around what is marked."""
    marked = Marker(build_plan(parse_question(question), index)).cut(text)
    return "".join(f"[{part}]" if is_marked else part for part, is_marked in marked.split())


@pytest.mark.parametrize(
    ("question", "text", "shown"),
    [
        ("tea", "Tea, teas and TEA_cups", "[Tea], [teas] and [TEA]_cups"),
        ("te*", "Tea, teas", "[Tea], [teas]"),
        ('"green tea"', "green tea", "[green] [tea]"),
        ("cafe", "Das Café dort", "Das [Café] dort"),
        ("strasse oel", "Straße, Œl, öl", "[Straße], [Œl], öl"),
        ("tea", "Straße … und ﬁne, schöne Tea, Tea", "Straße … und ﬁne, schöne [Tea], [Tea]"),
        ("東京", "大東京タワー", "大[東京]タワー"),
        ("tea -green", "green tea", "green [tea]"),
        ("type:tea", "green tea", "green tea"),
        ("c++ a.b", "C++ and a.b", "[C]++ and [a].[b]"),
        ("tea", "", ""),
        ("tea", "a\n\n  tea\tb", "a [tea] b"),
    ],
)
def test_what_is_marked(index: Index, question: str, text: str, shown: str) -> None:
    assert show(index, question, text) == shown


def test_a_long_text_is_cut_where_most_words_are(index: Index) -> None:
    text = "green things " + "filler " * 200 + "a cup of green tea here " + "filler " * 200
    shown = show(index, "green tea", text)
    assert "cup of [green] [tea] here" in shown
    assert shown.startswith("… filler")
    assert shown.endswith("filler …")
    assert len(shown) < CHARS + 20


def test_a_text_without_the_words_is_cut_at_its_beginning(index: Index) -> None:
    shown = show(index, "tea", "Start " + "filler " * 200)
    assert shown.startswith("Start filler")
    assert shown.endswith(" …")


def test_a_huge_text_takes_no_long_time(index: Index) -> None:
    start = time.process_time()
    show(index, "tea te* a b c", "té a b c " * 1_000_000)
    show(index, "tea", "x" * 5_000_000)
    assert time.process_time() - start < 5
