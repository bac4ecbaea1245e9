"""What is suggested while somebody types."""

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexed import index_pages
from rdfspider import Crawl
from rdfspider.errors import UsageError
from rdfspider.index.analysis import list_starts
from rdfspider.index.text import suggestions
from rdfspider.index.text.searcher import TextIndex
from rdfspider.index.text.suggestions import MAX_LIMIT
from rdfspider.results import Suggestion

NAMES = [
    "Moby Dick",
    "Moby-Dick; or, The Whale",
    "Mobile home",
    "Müller's Café",
    "東京タワー",
    "Москва",
    "Herman Melville",
    "Ωmega",
]


def book(name: str, **more: object) -> dict[str, object]:
    return {"@context": "https://schema.org", "@type": "Book", "name": name, **more}


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    pages: dict[str, object] = {f"https://a.test/{at}": book(name) for at, name in enumerate(NAMES)}
    whale = book("Moby Dick", **{"@id": "https://a.test/#whale", "datePublished": "2025-06-01"})
    pages |= {f"https://{at}.test/": whale for at in range(3)}
    pages["https://a.test/page"] = "<title>Moby Dick at the library</title><p>words"
    pages["https://a.test/other"] = "<title>Mobility</title><p>words"
    pages["https://a.test/image"] = {
        "@context": "https://schema.org",
        "@type": "ImageObject",
        "name": "Moby from above",
    }
    return index_pages(tmp_path_factory.mktemp("suggestions") / "c", pages)


@pytest.fixture(scope="module")
def index(crawl: Crawl) -> TextIndex:
    return TextIndex(crawl.folder)


def labels(index: TextIndex, typed: str, limit: int = 8) -> list[str]:
    return [each.text for each in index.suggest(typed, limit)]


@pytest.mark.parametrize("typed", ["m", "mo", "mob", "moby", "MOBY d", "moby  di", "moby dick"])
def test_the_thing_of_which_most_speak_is_first_however_far_it_is_typed(index: TextIndex, typed: str) -> None:
    assert index.suggest(typed)[0] == Suggestion("Moby Dick", "entity", "schema:Book")


def test_each_label_is_there_once_then_come_pages_that_tell_more(index: TextIndex) -> None:
    assert labels(index, "mob")[:1] == ["Moby Dick"]
    assert sorted(labels(index, "mob")[1:3]) == ["Mobile home", "Moby-Dick; or, The Whale"]
    assert labels(index, "mob")[3:] == ["Mobility", "Moby from above"], (
        "a mere part comes last; a page called as a thing is, not"
    )
    assert index.suggest("mobili")[0] == Suggestion("Mobility", "page", "a.test")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("mull", ["Müller's Café"]),
        ("MÜLLER S CA", ["Müller's Café"]),
        ("東", ["東京タワー"]),
        ("東京タ", ["東京タワー"]),
        ("моск", ["Москва"]),
        ("ω", ["Ωmega"]),
        ("moby dick or the wh", ["Moby-Dick; or, The Whale"]),
        ("melv", ["Herman Melville"]),
        ("herman mel", ["Herman Melville"]),
        ("zzz", []),
        ("", []),
        (" ?*[", []),
    ],
)
def test_case_accents_signs_and_scripts_do_not_matter(index: TextIndex, typed: str, found: list[str]) -> None:
    assert labels(index, typed) == found


def test_classes_are_suggested_for_the_last_word(index: TextIndex) -> None:
    assert index.suggest("boo") == [Suggestion("type:Book", "type", "http://schema.org/Book")]
    assert labels(index, "moby boo") == ["moby type:Book"]
    assert labels(index, "moby type:B") == ["moby type:Book"]
    assert labels(index, "m", 1) == ["Moby Dick"]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("site:a", ["site:a.test"]),
        ("SITE:a", ["SITE:a.test"]),
        ("moby -site:a", ["moby -site:a.test"]),
        ("type:", ["type:Book", "type:ImageObject"]),
        ('type:"bo', ["type:Book"]),
        ("type:schema:Im", ["type:schema:ImageObject"]),
        ("type:http://schema.org/B", ["type:http://schema.org/Book"]),
        ("property:na", ["property:name"]),
        ("ontology:sch", ["ontology:schema"]),
        ("syntax:", ["syntax:jsonld"]),
        ("year:", ["year:2025"]),
        ("moby after:20", ["moby after:2025"]),
        ("kind:p", ["kind:page"]),
        ("lang:", []),
        ("site:nowhere", []),
    ],
)
def test_values_of_a_field_are_suggested_and_what_stands_before_stays(
    index: TextIndex, typed: str, found: list[str]
) -> None:
    assert labels(index, typed) == found


def test_labels_are_suggested_behind_a_field_that_fit_it(index: TextIndex) -> None:
    assert labels(index, "type:ImageObject mob") == ["type:ImageObject Moby from above"]
    assert labels(index, "site:a.test type:Book herm") == ["site:a.test type:Book Herman Melville"]
    assert labels(index, "type:Book boo") == [], "nothing is of two classes"


def test_labels_are_written_as_people_read_them_and_break_no_question(tmp_path: Path) -> None:
    pages = {"https://a.test/1": book("Tea &amp; Tom&#039;s"), "https://a.test/2": book("Re:Zero")}
    index = TextIndex(index_pages(tmp_path / "c", pages).folder)
    assert labels(index, "tea") == ["Tea & Tom's"]
    assert labels(index, "re:z") == ["Re:Zero"]
    assert labels(index, "type:Book re") == ['type:Book "Re:Zero"']


@pytest.mark.parametrize(
    ("label", "suggested"),
    [
        ("Sale -50% today", '"Sale -50% today"'),
        ("type:writer manual", '"type:writer manual"'),
        ("site:nowhere guide", '"site:nowhere guide"'),
        ("Name: a life", "Name: a life"),
        ("name:unknown soldier", '"name:unknown soldier"'),
        ("Win* again", '"Win* again"'),
        ('The "new" tea -5', '"The new tea -5"'),
        ('The "new" tea', 'The "new" tea'),
        ("Tea OR coffee", "Tea OR coffee"),
        ("Well-known: 12:30", "Well-known: 12:30"),
    ],
)
def test_what_is_suggested_finds_what_it_names(tmp_path: Path, label: str, suggested: str) -> None:
    index = TextIndex(index_pages(tmp_path / "c", {"https://a.test/": book(label)}).folder)
    for before in ("", "type:Book "):
        [found] = [one for one in labels(index, before + label[:2]) if not one.endswith("type:Book")]
        assert [hit.label for hit in index.search(found, kind="entity")] == [label], found
    assert suggested in labels(index, label[:2])


def test_where_very_many_begin_so_the_best_are_looked_at(index: TextIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "_MAX_EXPANDED", 1)
    assert labels(index, "moby")[0] == "Moby Dick"
    assert labels(index, "mobi") == ["Mobile home", "Mobility"]


def test_no_more_than_asked_for_and_never_very_many(tmp_path: Path) -> None:
    index = TextIndex(index_pages(tmp_path / "c", {f"https://a.test/{n}": book(f"Tea {n}") for n in range(60)}).folder)
    assert len(index.suggest("tea", 5)) == 5
    assert len(index.suggest("tea", 10**9)) == MAX_LIMIT
    assert len(index.suggest("tea", -1)) == 1


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.text(max_size=60))
def test_whatever_is_typed_is_harmless(index: TextIndex, typed: str) -> None:
    assert all(each.text for each in index.suggest(typed))


@pytest.mark.parametrize(
    "typed", ["a" * 1_000_000, '"' * 10_000, "type:" * 1_000, "\udcff\0\x1b[", "\u202emoby", "* OR -x"]
)
def test_hostile_text_is_harmless_and_quick(index: TextIndex, typed: str) -> None:
    started = time.process_time()
    index.suggest(typed)
    assert time.process_time() - started < 5


def test_what_is_no_text_is_said(index: TextIndex) -> None:
    with pytest.raises(UsageError, match="made for a text, not 7"):
        index.suggest(7)  # type: ignore[arg-type]


def test_beginnings() -> None:
    assert list_starts("Moby-Dick; or") == ["m", "mo", "mob", "moby ", "moby dick or"]
    assert list_starts("Té") == ["t", "te"]
    assert list_starts("ﬁn") == ["f", "fi", "fin"]
    assert list_starts("?") == []
    assert max(map(len, list_starts("word " * 100_000))) == 32
