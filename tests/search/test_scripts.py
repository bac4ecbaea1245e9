"""Questions in all scripts, from what a page says to what is found of it."""

import pytest
from tests.index.pages import make_outcome, person

from rdfspider.index.layout import VERSION, IndexPaths
from rdfspider.index.text.searcher import TextIndex
from rdfspider.index.text.view import TextView

NAMES = (
    "iPhone手机壳",
    "Python入門",
    "茶",
    "책 읽기",
    "Rene\u0301e Dvor\u030ca\u0301k",
    "שָׁלוֹם",
    "مُحَمَّد",
    "हिन्दी",
    "東京大学の歴史",
    "ภาษาไทย",
)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> TextIndex:
    paths = IndexPaths(tmp_path_factory.mktemp("crawl"))
    view = TextView(paths)
    pages = [make_outcome(f"https://a.example/{number}", person(name)) for number, name in enumerate(NAMES)]
    others = [
        make_outcome(f"https://b.example/{number}", person(f"Person {number}", description="東京大学 " * 40))
        for number in range(8)
    ]
    view.apply([*pages, *others])
    view.commit({"log": 1})
    view.close()
    paths.version.write_text(str(VERSION))
    return TextIndex(paths.folder)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("iphone", 0),
        ("iPhone手机", 0),
        ("手机壳", 0),
        ("ｉｐｈｏｎｅ", 0),
        ("python", 1),
        ("python入門", 1),
        ("茶", 2),
        ("책", 3),
        ("책 읽기", 3),
        ("renee", 4),
        ("Renée Dvořák", 4),
        ("Rene\u0301e", 4),
        ("שלום", 5),
        ("שָׁלוֹם", 5),
        ("محمد", 6),
        ("हिन्दी", 7),
        ("ไทย", 9),
    ],
)
def test_what_is_found(index: TextIndex, text: str, number: int) -> None:
    assert {hit.label for hit in index.search(f"{text} kind:entity")} == {NAMES[number]}


def test_a_label_without_spaces_counts_over_other_texts(index: TextIndex) -> None:
    assert index.search("東京大学 kind:entity")[0].label == NAMES[8]


@pytest.mark.parametrize(
    ("text", "marked"), [("python", "Python"), ("renee", "Rene\u0301e"), ("手机", "手机"), ("入門", "入門")]
)
def test_what_is_found_is_shown_as_it_is_and_marked(index: TextIndex, text: str, marked: str) -> None:
    snippet = index.search(f"{text} kind:page")[0].snippet
    assert {snippet.text[start:end] for start, end in snippet.marks} == {marked}
